package gdpr_test

import (
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
)

// TestTombstones erases a subject who deleted work items, or whose work items were deleted: one run
// must do everything that the plan says about tombstones.
func TestTombstones(t *testing.T) {
	w := newWorld(t)
	hers := `{"id":"x-2","title":"tea","status":"tombstone","issue_type":"task","priority":2,"deleted_at":"2026-02-01T10:00:00Z","deleted_by":"` + ana + `","delete_reason":"said ` + name + `","original_type":"task"}`
	named := `{"id":"x-3","title":"call ` + name + `","status":"tombstone","issue_type":"task","priority":2,"deleted_at":"2026-02-01T10:00:00Z","deleted_by":"` + other + `"}`
	his := `{"id":"x-4","title":"milk","status":"tombstone","issue_type":"task","priority":2,"deleted_at":"2026-02-01T10:00:00Z","deleted_by":"` + other + `"}`
	live := `{"id":"x-1","title":"tea","status":"open","issue_type":"task","priority":2,"created_at":"2026-01-01T10:00:00Z"}`
	plant(t, w.dir, map[string]string{"w/.beads/issues.jsonl": strings.Join([]string{live, hers, named, his, ""}, "\n")})
	w.more = []backends.StoreConfig{{Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if st.Layer == "item" && (st.Action != gdpr.Forget || !strings.Contains(st.Reason, "it cannot be edited")) {
				t.Errorf("the plan for %s is to %s: %s", st.ID, st.Action, st.Reason)
			}
		}
	}
	w.complete(p)
	got := tree(t, filepath.Join(w.dir, "w"))[".beads/issues.jsonl"]
	for _, line := range []string{live, his} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("a line that is none of hers changed: %s", got)
		}
	}
	if strings.Contains(got, ana) || strings.Contains(got, name) {
		t.Errorf("she is still there: %s", got)
	}

}
