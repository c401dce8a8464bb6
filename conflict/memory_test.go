package conflict_test

import (
	"context"
	"sync/atomic"
	"testing"

	"memdesk/conflict"
	"memdesk/model"
)

// reads counts opened items.
type reads struct {
	model.Browser
	n atomic.Int64
}

func (r *reads) Read(ctx context.Context, id string) (model.Item, error) {
	r.n.Add(1)
	return r.Browser.Read(ctx, id)
}

// TestAnotherLookReadsOnlyWhatChanged lists twice: the second time it may read a set only if a change
// of one of its items was reported.
func TestAnotherLookReadsOnlyWhatChanged(t *testing.T) {
	const second = "b (Mira's conflicted copy 2026-05-27).md"
	d := newDesk(t, map[string]string{baseID: "one\n", copyID: "two\n", "b.md": "same\n", second: "same\n"})
	r := &reads{Browser: d.store.Browser}
	d.store.Browser = r
	m := conflict.NewMemory()
	look := func(reads int64) map[string]conflict.Copy {
		t.Helper()
		r.n.Store(0)
		out := map[string]conflict.Copy{}
		for c, err := range conflict.List(t.Context(), d.store, conflict.Options{Memory: m, Markers: conflict.LookNone}) {
			if err != nil {
				t.Fatal(err)
			}
			out[c.ID] = c
		}
		if r.n.Load() != reads {
			t.Errorf("%d items were read, want %d", r.n.Load(), reads)
		}
		return out
	}
	look(4)
	if all := look(0); len(all) != 2 || !all[second].Redundant {
		t.Errorf("what is remembered: %v", all)
	}
	write(t, d.root, map[string]string{"b.md": "other\n"})
	m.Changed(model.Change{ID: "b.md"})
	if all := look(2); all[second].Redundant {
		t.Error("a base that changed is taken for what it was")
	}
	write(t, d.root, map[string]string{"b.sync-conflict-20260527-083015-K3ZQ7AB.md": "third\n"}) // a new name needs no report
	if all := look(3); len(all) != 3 {
		t.Errorf("%d copies, want 3", len(all))
	}
	m.Changed(model.Change{Lost: true})
	look(5)
}
