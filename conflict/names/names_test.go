package names_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"memdesk/conflict/names"
)

func find(row names.Row, got []names.Match) (names.Match, bool) {
	for _, m := range got {
		if m.Row.Number == row.Number && m.Row.What == row.What {
			return m, true
		}
	}
	return names.Match{}, false
}

// TestEveryRow tests each row on its own examples, hits and misses.
func TestEveryRow(t *testing.T) {
	for _, row := range names.Rows() {
		if len(row.Hits) == 0 || len(row.Misses) == 0 {
			t.Errorf("row %d %q: a row needs hits and near misses", row.Number, row.What)
		}
		for _, h := range row.Hits {
			m, ok := find(row, names.Classify(h.Name, nil))
			if !ok {
				t.Errorf("row %d %q does not read %q: %v", row.Number, row.What, h.Name, said(names.Classify(h.Name, nil)))
				continue
			}
			if m.Base() != h.Base || m.Who != h.Who {
				t.Errorf("row %d: %q has base %q by %q, want %q by %q", row.Number, h.Name, m.Base(), m.Who, h.Base, h.Who)
			}
			if m.Confidence != row.Confidence || m.Need != row.Need {
				t.Errorf("row %d: %q is %s, want %s", row.Number, h.Name, m.Confidence, row.Confidence)
			}
		}
		for _, n := range row.Misses {
			if m, ok := find(row, names.Classify(n, nil)); ok {
				t.Errorf("row %d %q reads %q, base %q", row.Number, row.What, n, m.Base())
			}
		}
	}
}

func said(all []names.Match) []string {
	out := []string{}
	for _, m := range all {
		out = append(out, m.Row.What+" → "+strings.Join(m.Bases, " | "))
	}
	return out
}

// TestAnUnderscoreBelongsToTheName: only a host of Synology's form may contain the separator.
func TestAnUnderscoreBelongsToTheName(t *testing.T) {
	for _, n := range []string{"my_note-conflict-20260527.md", "my_note-conflict-LAPTOP.md"} {
		for _, m := range names.Classify(n, nil) {
			if !slices.Equal(m.Bases, []string{"my_note.md"}) {
				t.Errorf("%q has the bases %q by %q", n, m.Bases, m.Row.What)
			}
		}
	}
}

// TestTraps: ordinary names must match nothing, or only forms that the texts must confirm.
func TestTraps(t *testing.T) {
	for _, n := range []string{
		"report (2026).md", "budget (3).md", "Chapter 2.md", "2026-05-27 2.md", "state-DESKTOP.md", "a-b.md", "notes[conflict resolution].md",
		"note (conflicted copy 2026) - v1.2.md", "Copy of contract.md", "design-conflict-policy.md", "CHANGELOG", "conflict resolution.md", "note (conflicted feelings).md",
		"notes on sync-conflict-files.md", "release (1.2.3).md", "x.sync-conflict-notes.md", "(1).md", "Kopie.md", "meeting (Berlin 2026-05-27).md", "note (2026-05-27).md",
	} {
		for _, m := range names.Classify(n, nil) {
			if m.Need != names.BaseAndContent {
				t.Errorf("%q is read as %s (row %d) without its text", n, m.Row.What, m.Row.Number)
			}
		}
	}
}

func TestSkippedNamesAreNoCopies(t *testing.T) {
	for _, n := range []string{
		".note (1).md.icloud", "note.sync-conflict-20260527-083015-K3ZQ7AB.md.tmp", ".agentmd-12 (1).tmp", "note copy.md.tmp.0a1b2c3d", "~syncthing~note (1).md.tmp",
		".syncthing.note (1).md.tmp", ".note 2.md.swp", "note (1).md~", ".#note (1).md", "#note (1).md#",
	} {
		if got := names.Classify(n, nil); len(got) > 0 {
			t.Errorf("%q is read as %v", n, said(got))
		}
	}
}

func TestKnownHostsAndUsers(t *testing.T) {
	known := names.Known{"build01": true, "mira": true, "sam's-box": true}
	for name, base := range map[string]string{"note-build01.md": "note.md", "note-BUILD01-2.md": "note.md", "note (Mira).md": "note.md", "a-b-sam's-box.md": "a-b.md"} {
		got := names.Classify(name, known)
		if len(got) != 1 || got[0].Base() != base || got[0].Need != names.BaseAndContent {
			t.Errorf("%q: %v", name, said(got))
		}
		if got := names.Classify(name, nil); len(got) > 0 {
			t.Errorf("%q is read without knowing the host: %v", name, said(got))
		}
	}
	if got := names.Classify("a-c.md", known); len(got) > 0 {
		t.Errorf("a-c.md: %v", said(got))
	}
}

func TestNormalForms(t *testing.T) {
	nfd := norm.NFD.String("übung.sync-conflict-20260527-101010-NFDNFD2.md")
	got := names.Classify(nfd, nil)
	if len(got) == 0 || got[0].Base() != "übung.md" || got[0].Name == "" {
		t.Errorf("%v", said(got))
	}
}

func TestTheMiddleGroupNeedsTheTexts(t *testing.T) {
	got := names.Classify("note (Mira's conflicted copy 2026-05-27) final.md", nil)
	if len(got) != 1 || got[0].Base() != "note final.md" || got[0].Need != names.BaseAndContent {
		t.Errorf("%v", said(got))
	}
}

func FuzzClassify(f *testing.F) {
	for _, row := range names.Rows() {
		for _, h := range row.Hits {
			f.Add(h.Name)
		}
		for _, n := range row.Misses {
			f.Add(n)
		}
	}
	known := names.Known{"build01": true}
	f.Fuzz(func(t *testing.T, name string) {
		for _, m := range names.Classify(name, known) {
			for _, b := range m.Bases {
				if b == "" || b == name || b == "." || b == ".." || len(b) > 4*len(name)+4 {
					t.Errorf("%q has base %q", name, b)
				}
				if !strings.Contains(name, "/") && strings.Contains(b, "/") {
					t.Errorf("%q leads out of its folder: %q", name, b)
				}
			}
		}
	})
}

// BenchmarkClassify classifies one name of a tree in which two in a hundred are copies.
func BenchmarkClassify(b *testing.B) {
	var tree []string
	for i, row := range names.Rows() {
		tree = append(tree, row.Hits[0].Name)
		for _, n := range []string{"harbor-idea-10.md", "2026-05-27.md", "AGENT.md", "meeting notes (draft).md", "Quarterly report.pdf", "index.db", "design-of-the-cache.md"} {
			for j := range 7 {
				tree = append(tree, strings.Repeat("x", (i+j)%20)+n)
			}
		}
	}
	found, n := 0, 0
	start := time.Now()
	for b.Loop() {
		found += len(names.Classify(tree[n%len(tree)], nil))
		n++
	}
	b.ReportMetric(float64(n)/time.Since(start).Seconds()/1e6, "Mnames/s")
	if found == 0 {
		b.Fatal("nothing was found")
	}
}
