package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"memdesk/internal/safetext"
)

func TestDiff(t *testing.T) {
	var c Comparison
	c.Compare(safetext.Escaper{}, "a", "b", "one\ntwo words here\nthree\n", "one\ntwo other here\nthree\nfour")
	want := "--- a\n+++ b\n@@ line 1\n  one\n- two words here\n+ two other here\n  three\n+ four\n\\ no newline at the end\n"
	if d := cmp.Diff(want, c.body.String()); d != "" {
		t.Error(d)
	}
	var marked []string
	for _, m := range c.marks {
		marked = append(marked, c.body.String()[m.Start:m.End])
	}
	if d := cmp.Diff([]string{"words", "other"}, marked); d != "" || c.Added != 2 || c.Removed != 1 {
		t.Errorf("%s %+v", d, c.Change)
	}
}

// A line with another in its place differs; only the rest is more or lacks.
func TestCopyWords(t *testing.T) {
	const base = "one\ntwo\nthree\nfour\n"
	for copied, want := range map[string]string{
		"one\nTWO\nthree\nfour\n":            "+1 -1: 1 line differs.",
		"ONE\ntwo\nTHREE\nfour\n":            "+2 -2: 2 lines differ.",
		"one\nTWO\nand\nthree\nfour\n":       "+2 -1: 1 line differs, the copy has 1 line more.",
		"one\nfour\n":                        "+0 -2: the copy lacks 2 lines.",
		"zero\none\ntwo\nthree\n":            "+1 -1: the copy has 1 line more and lacks 1 line.",
		"one\ntwo\nthree\nfour\nfive\nsix\n": "+2 -0: the copy has 2 lines more.",
	} {
		var c Comparison
		c.Compare(safetext.Escaper{}, "base", "copy", base, copied)
		if got := c.CopyWords(safetext.Escaper{}).String(); got != want {
			t.Errorf("%q: %q, want %q", copied, got, want)
		}
	}
}

// TestALongLineTakesNoMarksFromOthers: lines too long for a comparison by words take no time.
func TestALongLineTakesNoMarksFromOthers(t *testing.T) {
	long := strings.Repeat("x", maxWords+10)
	var c Comparison
	c.Compare(safetext.Escaper{}, "a", "b", long+"1\ntwo words here\n", long+"2\ntwo other here\n")
	var marked []string
	for _, m := range c.marks {
		marked = append(marked, c.body.String()[m.Start:m.End])
	}
	if d := cmp.Diff([]string{"words", "other"}, marked); d != "" {
		t.Error(d)
	}
}

func TestMerge(t *testing.T) {
	base := "one\ntwo\nthree\nfour\nfive\n"
	theirs, yours := strings.Replace(base, "one", "ONE", 1), strings.Replace(base, "five", "FIVE", 1)
	if got := Merge(base, theirs, yours); got != "ONE\ntwo\nthree\nfour\nFIVE\n" {
		t.Errorf("%q", got)
	}
	got := Merge(base, strings.Replace(base, "two", "theirs", 1), strings.Replace(base, "two", "mine", 1))
	if !Marked(got) || !strings.Contains(got, "theirs") || !strings.Contains(got, "mine") {
		t.Errorf("%q", got)
	}
}

// Both sides must survive a merge, for any texts.
func TestMergeLosesNoLine(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n"}), 0, 8).Draw(t, "lines"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		base, theirs, yours := text.Draw(t, "base"), text.Draw(t, "theirs"), text.Draw(t, "yours")
		got := Merge(base, theirs+"THEIRS\n", "YOURS\n"+yours)
		if !strings.Contains(got, "THEIRS\n") || !strings.Contains(got, "YOURS\n") {
			t.Fatalf("%q", got)
		}
	})
}
