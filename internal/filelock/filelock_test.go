package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"memdesk/internal/filelock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestTry: shared holders may coexist, an exclusive one must keep out all others.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, c := range []struct{ first, second, got bool }{
		{first: true, second: true}, {first: true}, {second: true}, {got: true},
	} {
		a, b := open(t, path), open(t, path)
		if ok, err := filelock.Try(a, c.first); !ok || err != nil {
			t.Fatalf("%+v: the first: %v %v", c, ok, err)
		}
		if ok, err := filelock.Try(b, c.second); ok != c.got || err != nil {
			t.Errorf("%+v: the second: %v %v", c, ok, err)
		}
		if err := filelock.Close(a); err != nil {
			t.Error(err)
		}
		if err := filelock.Wait(t.Context(), b, true); err != nil {
			t.Errorf("%+v: after the first: %v", c, err)
		}
		if err := filelock.Close(b); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseUnlocksCopies: a child before its exec holds a copy of the descriptor. Close must release
// the lock all the same.
func TestCloseUnlocksCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f := open(t, path)
	if ok, err := filelock.Try(f, true); !ok || err != nil {
		t.Fatal(ok, err)
	}
	child, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if err := filelock.Close(f); err != nil {
		t.Fatal(err)
	}
	if ok, err := filelock.Try(open(t, path), true); !ok || err != nil {
		t.Errorf("the copy keeps the lock: %v %v", ok, err)
	}
}

// TestHoldRefusesAPipe: whoever can put one in the place of the lock file must not make the lock mean nothing.
func TestHoldRefusesAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Hold(t.Context(), path, true); err == nil {
		t.Error("a pipe was taken for the lock file")
	}
}

// TestWaitGivesUp: a stopped process may hold a lock for good.
func TestWaitGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release, err := filelock.Hold(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, path)
	synctest.Test(t, func(t *testing.T) {
		if _, err := filelock.Hold(t.Context(), path, false); err == nil {
			t.Error("the lock was taken twice")
		}
		if err := filelock.Wait(t.Context(), other, true); !errors.Is(err, filelock.ErrHeld) {
			t.Errorf("the lock was taken twice: %v", err)
		}
	})
	release()
	if release, err = filelock.Hold(t.Context(), path, true); err != nil {
		t.Fatal(err)
	}
	release()
}
