package gdpr_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// A server answers "removed" but removes nothing: the item must not be counted, even if a second
// request removed it.
func TestOnlyWhatIsVerifiedGoneIsCounted(t *testing.T) {
	w := newWorld(t)
	far := serve(t, w)
	r := w.file()
	p := w.plan(r.ID)
	items, _ := p.Count()
	lies := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/forget" {
			_, _ = io.WriteString(rw, `{"removed":1}`)
			return
		}
		_, _ = io.WriteString(rw, `{"id":"f3","bytes":1,"revision":"x"}`)
	})
	far.fault.Store(&lies)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || out.Forgotten != 0 || out.Redacted != 0 {
		t.Errorf("%s, %d forgotten, %d redacted, %v; nothing went", out.Status, out.Forgotten, out.Redacted, err)
	}
	far.fault.Store(nil)
	w.complete(w.plan(r.ID))
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || rec.Forgotten+rec.Redacted != items {
		t.Errorf("the receipt counts %d and %d of %d, %v", rec.Forgotten, rec.Redacted, items, err)
	}
}

// A store removes more than requested: the run and the receipt must say so.
func TestAStoreThatRemovesTooMuchIsNoticed(t *testing.T) {
	w := newWorld(t)
	for _, key := range []string{"b1", "b2", "b3"} {
		w.put("db", model.RetainRequest{Tier: "longterm", Key: key, Content: "rain over " + key})
	}
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	var once atomic.Bool
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		err := next(ctx)
		if c.Op == model.OpForget && c.Store.Name == "db" && once.CompareAndSwap(false, true) {
			for _, id := range []string{"b1", "b2", "b3"} {
				if _, err := c.Store.Provider.Forget(ctx, model.ForgetRequest{ID: id}); err != nil {
					t.Error(err)
				}
			}
		}
		return err
	}}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || !strings.Contains(fmt.Sprint(out.Problems), "3 more items are gone than the plan removes (longterm 3 to 0, session 1 to 0)") {
		t.Fatalf("%s %q %v; want it said", out.Status, out.Problems, err)
	}
	w.complete(p)
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || !strings.Contains(strings.Join(rec.Notes, "\n"), "3 more items") {
		t.Errorf("the receipt does not say it: %q %v", rec.Notes, err)
	}
}

// A run waits once for a locked store; the store's other steps are left to the next run.
func TestALockedStoreIsWaitedForOnce(t *testing.T) {
	w := newWorld(t)
	for _, key := range strings.Fields("n1 n2 n3 n4 n5 n6 n7 n8") {
		w.put("db", model.RetainRequest{Tier: "session", Key: key, Content: "prefers " + key, DataSubjectID: ana})
	}
	var asked, open atomic.Int64
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpForget && c.Store.Name == "db" && open.Load() == 0 {
			asked.Add(1)
			return model.Errorf(model.Locked, "forget", "the database is locked")
		}
		return next(ctx)
	}}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePending || asked.Load() > 3 { // the cascade, the first step, and one probe of the lock
		t.Fatalf("%s after %d tries, %q, %v; want pending", out.Status, asked.Load(), out.Problems, err)
	}
	open.Store(1)
	w.complete(p)
}

// TestABlockedEntryIsRemovedOnce: an entry that the scanner blocks is an item and a quarantine entry. Its removal is
// the plan's own.
func TestABlockedEntryIsRemovedOnce(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"cur/MEMORY.md": "tea\n§\n" + name + " likes\u200b rye\n§\nboats\n§\nsun\n§\nrain"})
	w.more = []backends.StoreConfig{{Name: "cur", Kind: "curated", Path: filepath.Join(w.dir, "cur")}}
	w.open()
	p := w.plan(w.file().ID)
	if i := slices.IndexFunc(p.Stores, func(sp gdpr.StorePlan) bool { return sp.Store == "cur" }); p.Stores[i].Items != 5 {
		t.Errorf("%d items; want 5", p.Stores[i].Items)
	}
	w.complete(p)
}

// TestVerifyOfAnotherStore: a store that stands under a planned name and is another one says nothing about the planned one.
func TestVerifyOfAnotherStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"a/memory/idea/m.md": "by " + name + "\n", "b/memory/idea/n.md": "rye\n"})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "vault", Path: filepath.Join(w.dir, "a")}}
	w.open()
	r := w.file()
	w.hold(r.ID, "s", "memory/idea/m.md")
	if out, err := w.erase(w.plan(r.ID)); err != nil || out.Status != gdpr.StateInScope {
		t.Fatalf("%s, %v", out.Status, err)
	}
	w.more[0].Path = filepath.Join(w.dir, "b")
	w.open()
	layers, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		if l.Store == "s" && (l.Verdict != model.VerdictUnaudited || !strings.Contains(l.Reason, "another store")) {
			t.Errorf("%+v", l)
		}
	}
}
