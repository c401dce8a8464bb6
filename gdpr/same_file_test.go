package gdpr_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memdesk/gdpr"
)

// TestTheOtherRequestIsWorkedOn: the erasure is done but the request is still open; continuing it must
// close both.
func TestTheOtherRequestIsWorkedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	first, second := w.file(), w.file()
	p := w.plan(first.ID)
	lock, err := os.OpenFile(filepath.Join(w.desk.State, "gdpr", "runs", second.ID+".jsonl"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	if _, err := w.erase(p); !errors.Is(err, gdpr.ErrBusy) || !strings.Contains(err.Error(), second.ID) {
		t.Fatalf("beside it: %v; want it busy, naming %s", err, second.ID)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if out := w.complete(p); out.Status != gdpr.StateComplete {
		t.Error(out.Status)
	}
	if got, err := w.desk.Get(second.ID); err != nil || got.State != gdpr.StateWithdrawn {
		t.Errorf("the second: %+v, %v", got, err)
	}
	if left := w.leaks(true, false); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
}
