package beads_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"memdesk/model"
)

// TestRestoreOfAnOddStatus: an edit of an item with a status and a priority that the store would not take is
// undone, and so is its removal.
func TestRestoreOfAnOddStatus(t *testing.T) {
	const line = `{"id":"odd-1","title":"Tea","status":"Open","priority":9,"issue_type":"task"}` + "\n"
	s, dir := repo(t, map[string]string{"issues.jsonl": line})
	was := read(t, s, "odd-1")
	set := func(req model.RetainRequest) {
		t.Helper()
		req.ID, req.Mode = "odd-1", model.Replace
		if _, err := s.Provider.Retain(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	meta := slices.Clone(was.Meta)
	for i, f := range meta {
		switch f.Name {
		case "status":
			meta[i].Value = "open"
		case "priority":
			meta[i].Value = "1"
		}
	}
	back := model.RetainRequest{Content: was.Body, Meta: was.Meta, Restore: true}
	set(model.RetainRequest{Content: was.Body, Meta: meta, IfMatch: was.Revision})
	set(back)
	if got := read(t, s, "odd-1"); got.Revision != was.Revision || got.Tier != was.Tier {
		t.Errorf("undone: %+v, want %+v", got, was)
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "odd-1"}); err != nil {
		t.Fatal(err)
	}
	back.IfMatch = model.Absent
	set(back)
	if got := read(t, s, "odd-1"); got.Revision != was.Revision || got.Tier != was.Tier {
		b, _ := os.ReadFile(filepath.Join(dir, "issues.jsonl"))
		t.Errorf("restored: %+v, want %+v\n%s", got, was, b)
	}
}
