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

// TestRestoreOfAnOddName: other programs give names that no new item may have. A removed item must come back
// under its own.
func TestRestoreOfAnOddName(t *testing.T) {
	for id, line := range map[string]string{
		"memory/door/k":          `{"_type":"memory","key":"door/k","value":"v1"}`,
		"memory/ops/deploy rule": `{"_type":"memory","key":"ops/deploy rule","value":"v1"}`,
		"a/b":                    `{"id":"a/b","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
		"bd 2":                   `{"id":"bd 2","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
		"x#2":                    `{"id":"x#2","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
		"-z":                     `{"id":"-z","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
	} {
		s, _ := repo(t, map[string]string{"issues.jsonl": line + "\n"})
		was := read(t, s, id)
		if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		req := model.RetainRequest{ID: id, Content: was.Body, Meta: was.Meta, Mode: model.Replace, IfMatch: model.Absent}
		if _, err := s.Provider.Retain(t.Context(), req); err == nil {
			t.Errorf("%s is made anew", id)
		}
		req.Restore = true
		if _, err := s.Provider.Retain(t.Context(), req); err != nil {
			t.Errorf("%s: %v", id, err)
		} else if got := read(t, s, id); got.Revision != was.Revision || got.Body != was.Body {
			t.Errorf("restored: %+v, want %+v", got, was)
		}
	}
}
