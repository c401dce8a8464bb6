package undo_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/seam/vault"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// TestAPrivateNoteStaysPrivate: an undone forget must not show a file to those who could not read it before, nor
// may one that came from elsewhere open a file to more than the store does.
func TestAPrivateNoteStaysPrivate(t *testing.T) {
	dir := t.TempDir()
	s, err := vault.Open(t.Context(), vault.Config{Name: "notes", Path: dir, LockRoot: filepath.Join(t.TempDir(), "locks")})
	if err != nil {
		t.Fatal(err)
	}
	k := undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, nil)
	for _, tt := range []struct {
		name      string
		was, want os.FileMode
	}{{"private.md", 0o600, 0o600}, {"open.md", 0o644, 0o644}, {"wide.md", 0o777, 0o644}, {"closed.md", 0, 0}} {
		if tt.was == 0 && os.Geteuid() != 0 {
			continue // only root can read it
		}
		path := filepath.Join(dir, tt.name)
		if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, tt.was); err != nil {
			t.Fatal(err)
		}
		_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: tt.name})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, e.ID); err != nil {
			t.Fatal(err)
		}
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != tt.want {
			t.Errorf("%s comes back as %v, %v; want %o", tt.name, fi.Mode(), err, tt.want)
		}
	}
}
