package gdpr

import (
	"os"
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/model"
)

// TestWithoutHoldsNoStoreIsLookedAt: every write asks what is on hold, under one lock. Where nothing is, a store whose mount
// hangs must not stop the writes to all others.
func TestWithoutHoldsNoStoreIsLookedAt(t *testing.T) {
	d := &Desk{State: t.TempDir(), Clock: clock.System{}}
	if err := os.MkdirAll(d.dir("requests"), 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(d.dir("requests"), old, old); err != nil {
		t.Fatal(err)
	}
	s := &model.Store{Name: "db", Kind: "sqlite", Location: t.TempDir()}
	allocs := func(ask func() error) float64 {
		return testing.AllocsPerRun(10, func() {
			if err := ask(); err != nil {
				t.Error(err)
			}
		})
	}
	least := allocs(func() error { _, err := d.allHolds(); return err })
	if got := allocs(func() error { _, err := d.holdsIn(s); return err }); got > least+2 {
		t.Errorf("holdsIn allocates %v times, and the cache alone %v times: it looks at the store", got, least)
	}
}
