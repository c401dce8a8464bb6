package gdpr

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/gdpr/suppress"
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

// TestAHoldElsewhereNeedsNoKey: a hold in a store that is not on this machine has no hashes, so the key of the hashes is not
// read.
func TestAHoldElsewhereNeedsNoKey(t *testing.T) {
	all := newHolds()
	all.add(&Request{ID: "er-1", Holds: []Hold{{Store: "far", ID: "f1"}}})
	s := &model.Store{Name: "parts", Kind: "beads", Location: "/v", Files: []string{"/v/issues.jsonl"}}
	if in := all.in(s); in.any.exists() || in.by("w-1") != "" {
		t.Errorf("%+v; want nothing on hold", in)
	}
}

// TestAHoldKeepsADirectoryBothWays: a tracker that names no file of its directory may write each of them.
func TestAHoldKeepsADirectoryBothWays(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, ".knots")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := suppress.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	knots := &model.Store{Name: "knots", Kind: "knots", Location: root, Place: dir, Files: []string{dir}}
	vault := &model.Store{Name: "vault", Kind: "vault", Location: root}
	for _, tt := range []struct {
		on, in   *model.Store
		held, id string
	}{{vault, knots, ".knots/deps.jsonl", "k-1"}, {knots, vault, "k-1", ".knots/deps.jsonl"}} {
		h := Hold{Store: tt.on.Name, ID: tt.held}
		h.locate(key, tt.on, files(tt.on))
		all := newHolds()
		all.key = key
		all.add(&Request{ID: "er-1", Holds: []Hold{h}})
		if in := all.in(tt.in); !in.any.exists() || in.by(tt.id) == "" || in.by("other.md") != "" && tt.in == vault {
			t.Errorf("%s of %s on hold: any %q, %s %q", tt.held, tt.on.Name, in.any, tt.id, in.by(tt.id))
		}
	}
}
