package undo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// acts is the number of racing changes: some hundreds in CI, all of them in `make soak`.
func acts() int {
	if os.Getenv("MEMDESK_SOAK") != "" {
		return 10_000
	}
	return 240
}

// TestNothingIsLostInRaces lets operators replace, append and forget while agents append to the same item:
// every text ever written must be in the item or in an undo entry afterwards.
func TestNothingIsLostInRaces(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (backends.StoreConfig, string){
		"crewship": func(t *testing.T) (backends.StoreConfig, string) {
			dir := filepath.Join(t.TempDir(), ".memory")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "AGENT.md"), []byte("start\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			return backends.StoreConfig{Name: "s", Kind: "crewship", Path: dir}, "AGENT.md"
		},
		"sqlite": func(t *testing.T) (backends.StoreConfig, string) {
			c := backends.StoreConfig{Name: "s", Kind: "sqlite", Path: filepath.Join(t.TempDir(), "s.db")}
			kind, _ := backends.Builtin().Kind("sqlite")
			if err := kind.Create(t.Context(), c, backends.Env{}); err != nil {
				t.Fatal(err)
			}
			return c, "the-node"
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, id := open(t)
			// Two fleets act as two processes: they share only the files.
			a := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{config}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
			b := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{config}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
			defer a.Close()
			defer b.Close()
			dir := filepath.Join(t.TempDir(), "undo")
			r := &race{t: t, id: id, fleets: []*backends.Fleet{a, b}, dir: dir, written: map[string]bool{}}
			r.run(acts())
		})
	}
}

type race struct {
	t      *testing.T
	id     string
	fleets []*backends.Fleet
	dir    string

	mu      sync.Mutex
	written map[string]bool
}

func (r *race) run(n int) {
	const hands = 4
	var wg sync.WaitGroup
	for hand := range hands {
		s, err := r.fleets[hand%len(r.fleets)].Store("s")
		if err != nil {
			r.t.Fatal(err)
		}
		keeper := undo.New(r.dir, 0, clock.System{}, nil)
		wg.Go(func() {
			for i := range n / hands {
				r.act(keeper, s, hand, i)
			}
		})
	}
	wg.Wait()
	r.check()
}

// act makes one change. A conflict is no loss: nothing was written.
func (r *race) act(k *undo.Keeper, s model.Store, hand, i int) {
	ctx := context.Background()
	token := fmt.Sprintf("token-%d-%d\n", hand, i)
	var err error
	switch (hand + i) % 4 {
	case 0: // an agent, which keeps no undo
		_, err = s.Provider.Retain(ctx, model.RetainRequest{ID: r.id, Content: token, Mode: model.Append})
	case 1:
		_, _, err = k.Retain(ctx, s, model.RetainRequest{ID: r.id, Content: token, Mode: model.Append})
	case 2:
		_, _, err = k.Retain(ctx, s, model.RetainRequest{ID: r.id, Content: token, Mode: model.Replace})
	case 3:
		token = ""
		_, _, err = k.Forget(ctx, s, model.ForgetRequest{ID: r.id})
	}
	switch {
	case err == nil && token != "":
		r.mu.Lock()
		r.written[strings.TrimSpace(token)] = true
		r.mu.Unlock()
	case err != nil && !errors.Is(err, model.Conflict) && !errors.Is(err, model.InvalidInput): // over the cap
		r.t.Error(err)
	}
}

func (r *race) check() {
	k := undo.New(r.dir, 0, clock.System{}, nil)
	entries, damaged, err := k.List()
	if err != nil || len(damaged) > 0 {
		r.t.Fatalf("%v damaged, %v", damaged, err)
	}
	var kept strings.Builder
	for _, e := range entries {
		_, body, err := k.Read(e.ID)
		if err != nil {
			r.t.Fatal(err)
		}
		kept.WriteString(body + "\n")
	}
	s, err := r.fleets[0].Store("s")
	if err != nil {
		r.t.Fatal(err)
	}
	if it, err := s.Browser.Read(r.t.Context(), r.id); err == nil {
		kept.WriteString(it.Body)
	} else if !errors.Is(err, model.NotFound) {
		r.t.Fatal(err)
	}
	there := map[string]bool{}
	for _, w := range strings.Fields(kept.String()) {
		there[w] = true
	}
	lost := 0
	for token := range r.written {
		if !there[token] {
			lost++
			r.t.Errorf("%s is nowhere", token)
		}
	}
	if len(r.written) == 0 {
		r.t.Error("nothing was written: the race tries nothing")
	}
	r.t.Logf("%d texts written, %d lost, %d undo entries", len(r.written), lost, len(entries))
}
