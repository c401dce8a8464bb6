package gdpr_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
)

// TestCascadeIsNotedAtOnce interrupts an erasure right after the store's own cascade: the next run must know
// that all its steps are done.
func TestCascadeIsNotedAtOnce(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		req := model.RetainRequest{Tier: "session", Key: fmt.Sprintf("k%02d", i), Content: "prefers tea"}
		if i%2 == 0 {
			req.DataSubjectID = ana
		}
		w.put("db", req)
	}
	var forgets atomic.Int64
	w.extra = append(w.extra, func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpForget {
			forgets.Add(1)
		}
		return next(ctx)
	})
	w.open()
	p := w.plan(w.file().ID)
	if !p.Stores[0].Cascade {
		t.Fatal("the store's own cascade is not planned")
	}
	stop := errors.New("stop")
	_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(_ context.Context, p gdpr.Progress) error {
		if p.What == string(gdpr.Scrub) {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatalf("erase = %v, want the interruption", err)
	}
	w.open()
	if out := w.complete(p); out.Forgotten != 15 || forgets.Load() != 1 {
		t.Errorf("%d forgotten by %d calls of Forget; want 15 by 1", out.Forgotten, forgets.Load())
	}
}

// TestManyLayersAreOneRow: the receipt of a store with thousands of versions must stay readable, so
// equal verdicts become one row with their number.
func TestManyLayersAreOneRow(t *testing.T) {
	const versions = 1200
	w := newWorld(t)
	w.fill()
	files := map[string]string{}
	for i := range versions {
		files[fmt.Sprintf(".snapshots/r%d/AGENT.md", i+2)] = "quiet\n"
	}
	w.agent(files)
	out := w.complete(w.plan(w.file().ID))
	var count, rows int64
	for _, l := range out.Layers {
		if strings.HasPrefix(l.Layer, ".snapshots") {
			rows++
			count += max(l.Count, 1)
		}
	}
	if rows > 2 || count < versions {
		t.Errorf("%d snapshots stand in %d rows", count, rows)
	}
	if _, rec, _, err := w.desk.Receipt(only(t, w)); err != nil || len(rec.Layers) > 100 {
		t.Errorf("the receipt has %d rows, %v", len(rec.Layers), err)
	}
}

// only is the id of the only request.
func only(t *testing.T, w *world) string {
	t.Helper()
	all, err := w.desk.List()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0].ID
}

// TestNewIDIsFree redacts an id where the id without the subject is already taken.
func TestNewIDIsFree(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "notes-of-" + ana, Content: "Summary:\n- she likes tea\n- the printer is broken\n- rain\n- " + name + "\n"})
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "notes-of-erased", Content: "somebody else's"})
	for i := range 10 {
		w.put("db", model.RetainRequest{Tier: "longterm", Key: fmt.Sprintf("x%d", i), Content: "about routers"})
	}
	p := w.plan(w.file().ID)
	if st := p.Stores[0].Steps[0]; st.NewID != "notes-of-erased-2" {
		t.Errorf("the new id is %q, want one that is nobody's", st.NewID)
	}
	w.complete(p)
	if got := w.contents()["db:notes-of-erased"]; !strings.HasSuffix(got, "somebody else's") {
		t.Errorf("the other item: %q", got)
	}
}
