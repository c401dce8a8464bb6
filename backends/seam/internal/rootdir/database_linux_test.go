package rootdir_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/seam/internal/rootdir"
)

// TestReadingADatabaseKeepsItsLocks: a tree may hold a database that this process has open. Without its locks another
// program that closes the database removes the log under it, and committed writes are lost.
func TestReadingADatabaseKeepsItsLocks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := litefile.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Direct(t.Context(), "test", `PRAGMA journal_mode = WAL`, `CREATE TABLE t (a)`); err != nil {
		t.Fatal(err)
	}
	probes := map[string]*os.File{}
	for _, name := range []string{"s.db", "s.db-shm"} {
		if probes[name], err = os.Open(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		defer probes[name].Close()
	}
	d, err := rootdir.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for how, read := range map[string]func(name string) error{
		"Read": func(name string) error { _, _, err := d.Read(name, 0); return err },
		"Head": func(name string) error { _, _, err := d.Head(name, 9); return err },
		"Reader": func(name string) error {
			r, _, err := d.Reader(name)
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = io.Copy(io.Discard, r)
			return err
		},
		"Files.Read": func(name string) error {
			return rootdir.InParallel(t.Context(), "test", d, 1, func(files *rootdir.Files, _ int) error {
				_, _, err := files.Read(rootdir.PlaceOf(name), 0)
				return err
			})
		},
	} {
		for name, probe := range probes {
			for range 3 {
				if err := read(name); err != nil {
					t.Fatalf("%s of %s: %v", how, name, err)
				}
			}
			// A lock of the open file description meets the locks of its own process too.
			lock := unix.Flock_t{Type: unix.F_WRLCK}
			if err := unix.FcntlFlock(probe.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
				t.Fatal(err)
			}
			if lock.Type == unix.F_UNLCK {
				t.Fatalf("%s of %s dropped this process's locks on it", how, name)
			}
		}
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fd := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == path {
			n++
		}
	}
	if n > 12 { // SQLite's own, the probe and one for all readers
		t.Errorf("%d descriptors of the database are open", n)
	}
}
