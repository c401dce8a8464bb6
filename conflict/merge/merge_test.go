package merge_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"memdesk/conflict/merge"
)

func apply(a, b []string, edits []merge.Edit) []string {
	var out []string
	at := 0
	for _, e := range edits {
		out = append(append(out, a[at:e.A0]...), b[e.B0:e.B1]...)
		at = e.A1
	}
	return append(out, a[at:]...)
}

func texts(t *rapid.T, label string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n", "e f g\n"}), 0, 30).Draw(t, label)
	s := strings.Join(lines, "")
	if rapid.Bool().Draw(t, label+" end") {
		s += "last"
	}
	return s
}

// TestAnEditTurnsOneIntoTheOther for all texts, and equal stretches must be equal.
func TestAnEditTurnsOneIntoTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := merge.Lines(texts(t, "a")), merge.Lines(texts(t, "b"))
		edits := merge.Diff(a, b)
		if !slices.Equal(apply(a, b, edits), b) {
			t.Fatalf("%q to %q: %v", a, b, edits)
		}
		i, j := 0, 0
		for _, e := range edits {
			if !slices.Equal(a[i:e.A0], b[j:e.B0]) || e.A0 == e.A1 && e.B0 == e.B1 {
				t.Fatalf("%q to %q: %v", a, b, edits)
			}
			i, j = e.A1, e.B1
		}
	})
}

// TestAMergeKeepsEverySide: all left must give the left text, all right the right one; if one side is
// unchanged, the result must be the other.
func TestAMergeKeepsEverySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, a, b := texts(t, "o"), texts(t, "a"), texts(t, "b")
		hunks := merge.Three(o, a, b)
		for side, want := range map[merge.Side]string{merge.TakeLeft: a, merge.TakeRight: b, merge.TakeAncestor: o} {
			var got []string
			for _, h := range hunks {
				got = append(got, h.Lines(side)...)
			}
			if strings.Join(got, "") != want {
				t.Fatalf("side %d of %q %q %q: %q", side, o, a, b, got)
			}
		}
		if got, open := merge.Text(merge.Three(o, o, b), nil); open != 0 || got != b {
			t.Fatalf("only the right side changed: %q, want %q", got, b)
		}
		if got, open := merge.Text(merge.Three(o, a, o), nil); open != 0 || got != a {
			t.Fatalf("only the left side changed: %q, want %q", got, a)
		}
		var left []string
		for _, h := range merge.Two(a, b) {
			left = append(left, h.Lines(merge.TakeLeft)...)
		}
		if strings.Join(left, "") != a {
			t.Fatalf("two: %q", left)
		}
	})
}

func TestChoices(t *testing.T) {
	hunks := merge.Three("1\n2\n3\n4\n5\n", "1\nleft\n3\n4\n5 l\n", "1\nright\n3\n4\n5 l\n")
	if text, open := merge.Text(hunks, nil); open != 1 || text != "1\n3\n4\n5 l\n" {
		t.Errorf("%q, %d open", text, open)
	}
	at := slices.IndexFunc(hunks, merge.Hunk.Open)
	for side, want := range map[merge.Side]string{merge.TakeLeft: "left\n", merge.TakeRight: "right\n", merge.TakeBoth: "left\nright\n", merge.TakeAncestor: "2\n"} {
		if text, open := merge.Text(hunks, map[int]merge.Side{at: side}); open != 0 || text != "1\n"+want+"3\n4\n5 l\n" {
			t.Errorf("%d: %q", side, text)
		}
	}
	want := "1\n<<<<<<< base\nleft\n||||||| ancestor\n2\n=======\nright\n>>>>>>> copy\n3\n4\n5 l\n"
	if diff := cmp.Diff(want, merge.Marked(hunks, nil, merge.Named("base", "copy"))); diff != "" {
		t.Error(diff)
	}
}

func TestWords(t *testing.T) {
	l, r := merge.Words("the quick brown fox", "the slow brown foxes, two")
	if diff := cmp.Diff([]merge.Span{{4, 9}, {16, 19}}, l); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]merge.Span{{4, 8}, {15, 25}}, r); diff != "" {
		t.Error(diff)
	}
}

// documents returns three versions of a document of about a megabyte.
func documents() (o, a, b string) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var lo, la, lb strings.Builder
	for i := range 20_000 {
		line := fmt.Sprintf("line %d of the plan, with some words %d\n", i, rnd.IntN(50))
		lo.WriteString(line)
		switch {
		case i%97 == 0:
			la.WriteString("changed by the left side\n")
			lb.WriteString(line)
		case i%89 == 0 && i%97 > 2 && i%97 < 95: // adjacent changes would conflict
			la.WriteString(line)
			lb.WriteString("changed by the right side\n" + line)
		default:
			la.WriteString(line)
			lb.WriteString(line)
		}
	}
	return lo.String(), la.String(), lb.String()
}

// BenchmarkThree is measured against git merge-file on the same texts.
func BenchmarkThree(b *testing.B) {
	o, l, r := documents()
	var text string
	open := 0
	for b.Loop() {
		text, open = merge.Text(merge.Three(o, l, r), nil)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip("git is not here to compare with")
	}
	dir := b.TempDir()
	for name, s := range map[string]string{"o": o, "l": l, "r": r} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	const times = 5
	start := time.Now()
	var out []byte
	for range times {
		cmd := exec.Command(git, "merge-file", "-p", "l", "o", "r")
		cmd.Dir = dir
		out, _ = cmd.Output()
	}
	peer := time.Since(start) / times
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(peer), "x-git-merge-file")
	b.ReportMetric(float64(peer)/1e6, "git-ms")
	if open > 0 || string(out) != text {
		b.Errorf("%d open; the answers differ: %d and %d bytes", open, len(text), len(out))
	}
}

func FuzzThree(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n", "b\n")
	f.Fuzz(func(t *testing.T, o, a, b string) {
		var left []string
		for _, h := range merge.Three(o, a, b) {
			left = append(left, h.Lines(merge.TakeLeft)...)
		}
		if strings.Join(left, "") != a {
			t.Errorf("%q %q %q: %q", o, a, b, left)
		}
	})
}
