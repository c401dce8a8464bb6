package beads_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/tracker/beads"
	"memdesk/model"
)

// large is a file of more than 8 MB: with a header, broken lines and twins at its beginning and its end.
func large(entries int) string {
	var b strings.Builder
	pad := strings.Repeat("some text ", 160)
	b.WriteString("{\"_schema\":\"beads-jsonl/1\"}\nbroken\n\n")
	for i := range entries {
		id := i
		if i%7 == 3 {
			id = i - 1
		}
		fmt.Fprintf(&b, `{"id":"x-%d","title":"item %d","status":"%s","description":"%s"}`+"\n", id, i, []string{"open", "tombstone", "closed"}[i%3], pad)
	}
	b.WriteString("broken at the end\n" + `{"id":"late","status":"in_review","description":"` + pad + `"}`)
	return b.String()
}

// TestFirstPageOfALargeFile compares a list that begins before the whole file is read with that of a file
// small enough to be read whole.
func TestFirstPageOfALargeFile(t *testing.T) {
	const entries = 6000
	text := large(entries)
	for _, hidden := range []bool{false, true} {
		s, _ := repo(t, map[string]string{"issues.jsonl": text})
		known, _ := repo(t, map[string]string{"issues.jsonl": text})
		if _, err := known.Browser.Tiers(t.Context()); err != nil { // reads the whole file
			t.Fatal(err)
		}
		got, want := pages(t, s, hidden), pages(t, known, hidden)
		if first := got[0].Total; !first.AtLeast || first.N <= int64(len(got[0].Items)) || first.N > want[0].Total.N {
			t.Errorf("the first page says %+v of %d", first, want[0].Total.N)
		}
		if want[0].Total.AtLeast || len(got) != len(want) {
			t.Fatalf("%d pages, want %d; the whole says %+v", len(got), len(want), want[0].Total)
		}
		for n := range got {
			if diff := cmp.Diff(want[n].Items, got[n].Items); diff != "" {
				t.Fatalf("page %d: %s", n, diff)
			}
			if n > 0 && got[n].Total != want[n].Total {
				t.Errorf("page %d says %+v, want %+v", n, got[n].Total, want[n].Total)
			}
		}
		if !hidden && (len(got[0].Problems) != 1 || len(got[1].Problems) != 2) {
			t.Errorf("problems: %q, then %q", got[0].Problems, got[1].Problems)
		}
	}
}

func pages(t *testing.T, s model.Store, hidden bool) []model.Page {
	t.Helper()
	var out []model.Page
	req := model.PageRequest{Hidden: hidden, Limit: 200}
	for {
		p, err := s.Browser.List(t.Context(), req)
		must(t, err)
		out = append(out, p)
		if req.Cursor = p.Next; req.Cursor == "" {
			return out
		}
	}
}

// TestLateStatus: a status that appears only at the end of a large file is a tier for reading and
// editing items, but not for new ones.
func TestLateStatus(t *testing.T) {
	s, _ := repo(t, map[string]string{"issues.jsonl": large(6000)})
	if !strings.Contains(strings.Join(s.Notes, "\n"), "the file is large") {
		t.Errorf("notes: %q", s.Notes)
	}
	p, err := s.Browser.List(t.Context(), model.PageRequest{Tier: "in_review"})
	if err != nil || len(p.Items) != 1 || p.Items[0].ID != "late" {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "late", Tier: "in_review", Mode: model.Replace, Content: "text"}); err != nil {
		t.Errorf("a write to what is there: %v", err)
	}
	for _, req := range []model.RetainRequest{{ID: "fresh", Tier: "in_review"}, {Tier: "in_review"}, {ID: "late", Tier: "open"}, {ID: "late", Tier: "no tier"}} {
		req.Mode, req.Content = model.Replace, "text"
		if _, err := s.Provider.Retain(t.Context(), req); model.KindOf(err) != model.InvalidInput {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// TestBeginningOfLongLines must read the whole file where its beginning has too few lines.
func TestBeginningOfLongLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".beads")
	must(t, os.Mkdir(dir, 0o755))
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, `{"id":"x-%d","title":"t","description":"%s"}`+"\n", i, strings.Repeat("x", 2<<20))
	}
	must(t, os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(b.String()), 0o644))
	s, err := beads.Open(t.Context(), beads.Config{Path: dir})
	must(t, err)
	p, err := s.Browser.List(t.Context(), model.PageRequest{Limit: 2})
	if err != nil || len(p.Items) != 2 || p.Total != (model.Count{N: 5}) {
		t.Errorf("%d items, %+v, %v", len(p.Items), p.Total, err)
	}
}
