package rootdir_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

func open(t *testing.T, path string) *rootdir.Dir {
	t.Helper()
	d, err := rootdir.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "a/b": true, "..a": true, "a..b/c": true, "\xff": true, "a\nb": true, `a\b`: true,
		"": false, "/": false, "/a": false, "a/": false, "a//b": false, ".": false, "./a": false, "a/./b": false, "..": false, "a/..": false, "a\x00": false,
	} {
		if err := rootdir.CheckName(name); (err == nil) != ok || err != nil && !errors.Is(err, model.InvalidInput) {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func FuzzCheckName(f *testing.F) {
	f.Add("a/../b")
	f.Fuzz(func(t *testing.T, name string) {
		if rootdir.CheckName(name) == nil && !filepath.IsLocal(name) {
			t.Fatalf("%q leaves its directory", name)
		}
	})
}

// TestTheLockExcludesThoughItsFileIsRemoved counts under the lock while every second holder unlinks the
// lock file, as an eraser does. A lock on an unlinked file would lose a count.
func TestTheLockExcludesThoughItsFileIsRemoved(t *testing.T) {
	d := open(t, t.TempDir())
	must(t, d.Write("n", []byte("0"), rootdir.New{Mode: 0o644}))
	const workers, rounds = 8, 25
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range rounds {
				lock, err := d.Lock(t.Context(), "n.lock", 0o600)
				if err != nil {
					t.Error(err)
					return
				}
				data, _, err := d.Read("n", 0)
				if err != nil {
					t.Error(err)
				}
				n, _ := strconv.Atoi(string(data))
				if err := d.Write("n", []byte(strconv.Itoa(n+1)), rootdir.New{Mode: 0o644}); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					if err := d.Remove("n.lock"); err != nil {
						t.Error(err)
					}
				}
				lock.Unlock()
			}
		})
	}
	wg.Wait()
	if data, _, err := d.Read("n", 0); err != nil || string(data) != strconv.Itoa(workers*rounds) {
		t.Errorf("counted %s of %d, %v", data, workers*rounds, err)
	}
}

func TestLockWaitsForItsContextOnly(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	held, err := a.Lock(t.Context(), "x.lock", 0o600)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5_000_000)
	defer cancel()
	if _, err := b.Lock(ctx, "x.lock", 0o600); !errors.Is(err, model.Locked) {
		t.Errorf("at the deadline: %v", err)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if _, err := b.Lock(cancelled, "x.lock", 0o600); !errors.Is(err, model.Timeout) {
		t.Errorf("when cancelled: %v", err)
	}
	held.Unlock()
	free, err := b.Lock(t.Context(), "x.lock", 0o600)
	must(t, err)
	free.Unlock()
}

func TestSubFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "a", "real"), 0o755))
	must(t, os.Symlink("real", filepath.Join(dir, "a", "link")))
	must(t, os.Symlink("a", filepath.Join(dir, "b")))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	d := open(t, dir)
	sub, err := d.Sub("a/real")
	must(t, err)
	must(t, sub.Close())
	for name, want := range map[string]model.Kind{
		"a/link": model.PermissionDenied, "b/real": model.PermissionDenied, "file": model.PermissionDenied, "none": model.NotFound, "../x": model.InvalidInput,
	} {
		if _, err := d.Sub(name); !errors.Is(err, want) || strings.Contains(err.Error(), dir) {
			t.Errorf("Sub(%q): %v, want %s", name, err, want)
		}
	}
}

func TestReadHasALimit(t *testing.T) {
	d := open(t, t.TempDir())
	must(t, d.Write("f", []byte("12345"), rootdir.New{Mode: 0o600}))
	if data, m, err := d.Read("f", 5); err != nil || string(data) != "12345" || m.Size != 5 {
		t.Errorf("%q, %+v, %v", data, m, err)
	}
	if _, m, err := d.Read("f", 4); !errors.Is(err, rootdir.ErrTooLarge) || !errors.Is(err, model.Unsupported) || m.Size != 5 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestMkdirAllIsDurable: the name of each new directory is synced in its parent, before anything is written there.
func TestMkdirAllIsDurable(t *testing.T) {
	broken, steps := errors.New("the disk is broken"), 0
	d, err := rootdir.Open(t.TempDir(), func(s rootdir.Step) error {
		if s != rootdir.StepMakeDir {
			return nil
		}
		if steps++; steps == 3 {
			return broken
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 { // the second time nothing is made
		if err := d.MkdirAll("a/b", 0o755); err != nil || steps != 2 {
			t.Errorf("%v after %d steps", err, steps)
		}
	}
	if err := d.MkdirAll("a/c", 0o755); !errors.Is(err, broken) {
		t.Errorf("%v; want the failure of the sync", err)
	}
}

func TestMkdirAllKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	d := open(t, dir)
	must(t, d.MkdirAll("a/b/c", fs.ModeSetgid|0o775))
	for name, want := range map[string]fs.FileMode{"a": fs.ModeDir | 0o700, "a/b": fs.ModeDir | fs.ModeSetgid | 0o775, "a/b/c": fs.ModeDir | fs.ModeSetgid | 0o775} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode() != want {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	if err := d.MkdirAll("file/x", 0o755); err == nil {
		t.Error("a directory was made below a file")
	}
}

func TestOpenAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o644))
	if _, err := rootdir.Open(path, nil); !errors.Is(err, rootdir.ErrNotDirectory) || !errors.Is(err, model.InvalidInput) || strings.Contains(err.Error(), path) {
		t.Errorf("err = %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReach says a cause in words, without an inner operation or a path.
func TestReach(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 300))
	if err := rootdir.Reach("store's directory", long, "."); err == nil || err.Error() != "the store's directory cannot be read: file name too long" {
		t.Error(err)
	}
}
