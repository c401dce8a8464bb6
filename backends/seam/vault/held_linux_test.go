package vault

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/model"
)

// TestALockThatIsHeldForMinutes is a finding; a dead holder's lock, or a short one, is none.
func TestALockThatIsHeldForMinutes(t *testing.T) {
	base := t.TempDir()
	c := clock.NewFake(time.Now())
	m := mutex{base: base, keys: []string{"k"}, clock: c, pace: protocol}
	if f := m.heldLong(); f != nil {
		t.Errorf("no lock: %+v", f)
	}
	lock := filepath.Join(base, "k", "lock")
	if err := os.MkdirAll(lock, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, told := madeAt(lock); !told {
		t.Skip("the file system does not tell when a directory was made")
	}
	if f := m.heldLong(); f != nil {
		t.Errorf("a lock of this moment: %+v", f)
	}
	c.Advance(heldTooLong + time.Minute)
	if f := m.heldLong(); f != nil {
		t.Errorf("a lock that nobody touches: %+v", f)
	}
	if err := os.Chtimes(lock, c.Now(), c.Now()); err != nil {
		t.Fatal(err)
	}
	if f := m.heldLong(); len(f) != 1 || f[0].Kind != model.FindingLock || f[0].State != model.HealthDown {
		t.Errorf("a lock held for minutes: %+v", f)
	}
}
