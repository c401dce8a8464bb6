package claude_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOpenedByALink: `~/.claude` is a link where a manager of dotfiles made it. Changes in it are
// told, as of a directory.
func TestOpenedByALink(t *testing.T) {
	dir := plant(t, t.TempDir(), "memories/a.md", "a")
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
}
