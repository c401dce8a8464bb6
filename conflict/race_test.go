package conflict_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/internal/clock"
	"memdesk/undo"
)

// TestNothingIsLostInRaces lets an editor without locks rewrite the base or the copy during a resolve.
// Its text, and all text that it did not overwrite itself, must exist somewhere afterwards.
func TestNothingIsLostInRaces(t *testing.T) {
	rounds := 200
	if os.Getenv("MEMDESK_SOAK") != "" {
		rounds = 10_000
	}
	root := t.TempDir()
	write(t, root, map[string]string{"notes/other.md": "x\n"})
	fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{{Name: "s", Kind: "vault", Path: root}}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
	defer fleet.Close()
	s, err := fleet.Store("s")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "undo")
	keeper := undo.New(dir, 0, clock.System{}, nil)
	takes := []conflict.Take{conflict.TakeBase, conflict.TakeCopy, conflict.TakeMerged, conflict.TakeBoth}
	done, stopped := 0, 0
	for n := range rounds {
		given := map[string]string{baseID: fmt.Sprintf("base %d\n", n), copyID: fmt.Sprintf("copy %d\n", n)}
		write(t, root, given)
		c, err := conflict.Find(t.Context(), s, copyID, conflict.Options{})
		if err != nil {
			t.Fatal(err)
		}
		edited, text := baseID, fmt.Sprintf("edited %d\n", n)
		if n%2 == 1 {
			edited = copyID
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // spreads the writes over the act; nothing waits for it
			p := filepath.Join(root, edited)
			if err := os.WriteFile(p+".editor", []byte(text), 0o644); err != nil {
				t.Error(err)
			}
			if err := os.Rename(p+".editor", p); err != nil {
				t.Error(err)
			}
		})
		_, rerr := conflict.Resolve(t.Context(), keeper, s, c, conflict.Choice{Take: takes[n/2%len(takes)], Merged: fmt.Sprintf("merged %d\n", n)})
		wg.Wait()
		if rerr == nil {
			done++
		} else {
			stopped++
		}
		d := &desk{t: t, keeper: keeper}
		everywhere := slices.Concat(slices.Collect(maps.Values(files(t, root))), d.kept())
		must := []string{text}
		for id, old := range given {
			// The editor itself loses a text that it overwrites, unless the resolve already kept it.
			if id != edited || rerr == nil && (id == copyID || takes[n/2%len(takes)] == conflict.TakeCopy || takes[n/2%len(takes)] == conflict.TakeMerged) {
				must = append(must, old)
			}
		}
		for _, m := range must {
			if !slices.Contains(everywhere, m) {
				t.Fatalf("round %d, %s of %s, resolve %v: %q is lost; there are %q", n, takes[n/2%len(takes)], edited, rerr, m, everywhere)
			}
		}
		if err := os.RemoveAll(filepath.Join(root, "notes")); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		write(t, root, map[string]string{"notes/other.md": "x\n"})
	}
	t.Logf("%d resolved, %d stopped", done, stopped)
	if done == 0 || stopped == 0 {
		t.Errorf("%d resolved, %d stopped: the race was none", done, stopped)
	}
}
