package undo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/seam/claude"
	"memdesk/backends/seam/crewship"
	"memdesk/backends/seam/openclaw"
	"memdesk/backends/seam/vault"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// TestAPrivateNoteStaysPrivate: an undone forget must not show a file to those who could not read it before, nor
// may one that came from elsewhere open a file to more than the store does. A name that a new file may not have comes back.
func TestAPrivateNoteStaysPrivate(t *testing.T) {
	for kind, c := range map[string]struct {
		below string
		open  func(dir string) (model.Store, error)
		file  os.FileMode
	}{
		"vault": {"", func(dir string) (model.Store, error) {
			return vault.Open(t.Context(), vault.Config{Name: "s", Path: dir, LockRoot: filepath.Join(t.TempDir(), "locks")})
		}, 0o644},
		"claude": {"projects/p/memory/", func(dir string) (model.Store, error) {
			return claude.Open(t.Context(), claude.Config{Name: "s", Path: dir})
		}, 0o644},
		"openclaw": {"memory/", func(dir string) (model.Store, error) {
			return openclaw.Open(t.Context(), openclaw.Config{Name: "s", Path: dir})
		}, 0o644},
		"crewship": {"daily/", func(dir string) (model.Store, error) {
			return crewship.Open(t.Context(), crewship.Config{Name: "s", Path: dir})
		}, 0o664},
	} {
		dir := filepath.Join(t.TempDir(), ".memory")
		if err := os.MkdirAll(filepath.Join(dir, c.below), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, sign := range []string{"AGENTS.md", "SOUL.md"} { // of a workspace of OpenClaw
			if err := os.WriteFile(filepath.Join(dir, sign), []byte("text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := c.open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		k := undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, nil)
		for _, tt := range []struct {
			name      string
			was, want os.FileMode
		}{{"private.md", 0o600, 0o600}, {"open.md", c.file, c.file}, {"wide.md", 0o777, c.file}, {"closed.md", 0, 0}, {strings.Repeat("n", 240) + ".md", 0o640, 0o640}, {strings.Repeat("n", 252) + ".md", 0o640, 0o640}} {
			if tt.was == 0 && os.Geteuid() != 0 {
				continue // only root can read it
			}
			id := c.below + tt.name
			path := filepath.Join(dir, id)
			if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.was); err != nil {
				t.Fatal(err)
			}
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: id})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, e.ID); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != tt.want {
				t.Errorf("%s: %s comes back as %v, %v; want %o", kind, tt.name, fi.Mode(), err, tt.want)
			}
		}
	}
}
