package rootdir_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"memdesk/backends/seam/internal/rootdir"
)

// TestALockIsOwnedAsItsFile: a file's writers must be able to open its lock, even in another user's
// directory.
func TestALockIsOwnedAsItsFile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := t.TempDir()
	file := filepath.Join(path, "pins.md")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, ids := range map[string][2]int{path: {1001, 1002}, file: {1002, 1002}} {
		if err := os.Chown(name, ids[0], ids[1]); err != nil {
			t.Fatal(err)
		}
	}
	d, err := rootdir.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, uid := range map[string]uint32{"pins.md.lock": 1002, "new.md.lock": 1001} {
		l, err := d.Lock(t.Context(), name, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		l.Unlock()
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != uid || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is owned by %d with mode %v, want %d and 0600", name, st.Uid, info.Mode(), uid)
		}
	}
}
