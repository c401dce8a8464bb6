package gdpr_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// A receipt covers the whole life of a request: work under earlier plans and by earlier runs, and the
// start of the first run.
func TestCountsAddUpOverPlansAndRuns(t *testing.T) {
	w := newWorld(t)
	down, steps := false, 0
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op.Mutates() && c.Store.Name == "agent" && down {
			return model.Errorf(model.Unavailable, "forget", "no route to host")
		}
		return next(ctx)
	}}
	w.fill()
	r := w.file()
	first := w.plan(r.ID)
	var want struct{ forgotten, redacted int64 }
	for _, s := range first.Stores {
		for _, st := range s.Steps {
			switch st.Action {
			case gdpr.Forget:
				want.forgotten++
			case gdpr.Redact:
				want.redacted++
			}
		}
	}
	down = true
	begun := w.clock.Now()
	// The first run ends after two steps, the second with an unreachable store, the third under a new
	// plan, the fourth after an interruption in the scrub.
	ctx, cancel := context.WithCancel(t.Context())
	_, _ = w.desk.Erase(ctx, order(first), w.fleet, func(context.Context, gdpr.Progress) error {
		if steps++; steps == 2 {
			cancel()
		}
		return ctx.Err()
	})
	w.clock.Advance(time.Hour)
	if out, err := w.erase(first); err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%v %v", out.Status, err)
	}
	w.clock.Advance(time.Hour)
	down = false
	second := w.plan(r.ID)
	if second.Hash == first.Hash {
		t.Fatal("nothing was done")
	}
	ctx, cancel = context.WithCancel(t.Context())
	_, err := w.desk.Erase(ctx, order(second), w.fleet, func(_ context.Context, p gdpr.Progress) error {
		if p.Store == "agent" && p.What == "verify" {
			cancel()
		}
		return ctx.Err()
	})
	if err == nil {
		t.Fatal("it was not cut off")
	}
	w.clock.Advance(time.Hour)
	w.complete(second)
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Forgotten != want.forgotten || rec.Redacted != want.redacted || rec.Begun != begun.UTC().Format(time.RFC3339) {
		t.Errorf("the receipt says %d forgotten, %d redacted, begun %s; want %d, %d, %s", rec.Forgotten, rec.Redacted, rec.Begun, want.forgotten, want.redacted, begun)
	}
	var sum receipt.Store
	for _, s := range rec.Stores {
		sum.Forgotten, sum.Redacted, sum.Rows = sum.Forgotten+s.Forgotten, sum.Redacted+s.Redacted, sum.Rows+s.Rows
	}
	if sum.Forgotten != want.forgotten || sum.Redacted != want.redacted {
		t.Errorf("the stores add up to %d and %d", sum.Forgotten, sum.Redacted)
	}
	if sum.Rows < 2 { // a temporary file and a snapshot, by the interrupted run
		t.Errorf("%d rows scrubbed", sum.Rows)
	}
	if len(rec.Stores) != 2 {
		t.Errorf("stores: %+v", rec.Stores)
	}
}

// An item that returned unchanged leads to the same plan, which must be carried out again.
func TestTheSamePlanAgain(t *testing.T) {
	w := newWorld(t)
	hers := "- " + name + " called\n"
	w.agent(map[string]string{"AGENT.md": "likes tea\n", "daily/2026-02-01.md": hers, "daily/2026-02-02.md": "- quiet\n"})
	r := w.file()
	p := w.plan(r.ID)
	back := false
	out, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(_ context.Context, pr gdpr.Progress) error {
		if pr.What == "verify" && !back {
			back = true
			path := filepath.Join(w.path("agent"), "daily", "2026-02-01.md")
			if err := os.WriteFile(path, []byte(hers), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%v %v", out.Status, err)
	}
	again := w.plan(r.ID)
	if again.Hash != p.Hash {
		t.Log("another plan") // the stamps differ: no harm
	}
	w.complete(again)
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("%q", left)
	}
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || rec.Forgotten+rec.Redacted != 1 {
		t.Errorf("one item is gone: %d forgotten, %d redacted, %v", rec.Forgotten, rec.Redacted, err)
	}
}

// No plan is made while a run carries out the current one.
func TestNoPlanDuringARun(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	tried := false
	out, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(ctx context.Context, pr gdpr.Progress) error {
		if tried {
			return nil
		}
		tried = true
		if _, err := w.desk.MakePlan(ctx, r.ID, w.fleet, nil); model.KindOf(err) != model.Conflict {
			t.Errorf("a plan during a run: %v", err)
		}
		return nil
	})
	if err != nil || out.Status != gdpr.StateComplete {
		t.Errorf("%v %v", out.Status, err)
	}
}

// TestAPlanCountsItsWrites: the promised time grows with the items that are written one by one, not only with the search.
func TestAPlanCountsItsWrites(t *testing.T) {
	w := newWorld(t)
	w.fill()
	p := w.plan(w.file().ID)
	items, _ := p.Count()
	if w.clock.Now().Sub(p.Made) != 0 || p.Estimate < time.Second+time.Duration(items)*10*time.Millisecond {
		t.Errorf("%s for %d items", p.Estimate, items)
	}
}
