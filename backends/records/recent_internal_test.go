package records

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/internal/clock"
)

// TestReleaseReadsNoOtherWrites: the watch of some items ends without reading the writes of all others.
func TestReleaseReadsNoOtherWrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	r := NewRecent(dir, "place", clock.Fixed(time.Date(2026, 5, 21, 9, 30, 0, 0, time.UTC)))
	for _, id := range []string{"a", "b", "stays"} {
		of := short(r.where + id)
		if err := r.drafts.Hold(of, id, `{"where":"`+r.where+`","of":"`+of+`"}`, ""); err != nil {
			t.Fatal(err)
		}
	}
	unreadable := filepath.Join(dir, "edit", "written", short(r.where+"c")+"-2.note")
	if err := os.Mkdir(unreadable, 0o700); err != nil {
		t.Fatal(err)
	}
	if warnings := r.release([]string{"a", "b"}); len(warnings) > 0 {
		t.Errorf("%q; want only the writes of a and b read", warnings)
	}
	if err := os.Remove(unreadable); err != nil {
		t.Fatal(err)
	}
	left, err := r.held()
	if err != nil || len(left) != 1 || left[0].watched.Of != short(r.where+"stays") {
		t.Errorf("left %+v, %v", left, err)
	}
}
