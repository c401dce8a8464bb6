package conflict_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/seam/vault"
	"memdesk/conflict"
	"memdesk/internal/clock"
	"memdesk/undo"
)

// TestAKeptCopyStaysPrivate: the copy of a note that only its owner may read is kept so under its new name.
func TestAKeptCopyStaysPrivate(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"plan.md": "base\n", "plan (conflicting copy).md": "copy\n"})
	if err := os.Chmod(filepath.Join(dir, "plan (conflicting copy).md"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := vault.Open(t.Context(), vault.Config{Name: "notes", Path: dir, LockRoot: filepath.Join(t.TempDir(), "locks")})
	if err != nil {
		t.Fatal(err)
	}
	c, err := conflict.Find(t.Context(), s, "plan (conflicting copy).md", conflict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, nil)
	out, err := conflict.Resolve(t.Context(), k, s, c, conflict.Choice{Take: conflict.TakeBoth})
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(dir, out.Kept)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%s is %v, %v", out.Kept, fi.Mode(), err)
	}
}
