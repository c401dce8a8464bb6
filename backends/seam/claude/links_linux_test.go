package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"memdesk/model"
)

// TestOpenedByALink: `~/.claude` is a link where a manager of dotfiles made it. The store is followed, and a
// removed note that is held open is found, as in a directory.
func TestOpenedByALink(t *testing.T) {
	dir := plant(t, t.TempDir(), "memories/a.md", "a", "memories/b.md", "b")
	link := filepath.Join(t.TempDir(), "claude")
	must(t, os.Symlink(dir, link))
	s := open(t, link)
	if s.Location != link {
		t.Errorf("the location is %s", s.Location)
	}
	changes, err := s.Watcher.Watch(t.Context())
	must(t, err)
	plant(t, dir, "memories/a.md", "other")
	select {
	case c := <-changes:
		if c.ID != "memories/a.md" {
			t.Errorf("%+v", c)
		}
	case <-time.After(20 * time.Second):
		t.Error("no change is told")
	}
	f, err := os.Open(filepath.Join(dir, "memories", "b.md"))
	must(t, err)
	defer f.Close()
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "memories/b.md"})
	must(t, err)
	res, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"memories/b.md"}})
	must(t, err)
	if !slices.ContainsFunc(res, func(r model.LayerResult) bool {
		return r.Layer == "(open handles)" && r.Verdict == model.VerdictPending
	}) {
		t.Errorf("the open file is not told: %+v", res)
	}
}
