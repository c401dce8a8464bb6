package gdpr_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// An incomplete request must have a report in place of a receipt: the work done and not done, by store
// and layer, the work left, and until when backups may contain the subject.
func TestAReportOfPartialWork(t *testing.T) {
	w := newWorld(t)
	w.desk.Policy.Backups = []gdpr.Backup{{Store: "db", Where: "tape", ExpiresAfter: 30 * 24 * time.Hour, RestoreGuard: "a guard"}}
	down := true
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if down && c.Op.Mutates() && c.Store.Name == "agent" {
			return model.Errorf(model.Unavailable, "forget", "no route to host")
		}
		return next(ctx)
	}}
	down = false
	w.fill()
	r := w.file()
	if rep, err := w.desk.StatusReport(t.Context(), r.ID); err != nil || len(rep.Left) != 1 || rep.Left[0].Do != "memdesk gdpr plan "+r.ID {
		t.Errorf("before the plan: %+v %v", rep.Left, err)
	}
	p := w.plan(r.ID)
	if rep, err := w.desk.StatusReport(t.Context(), r.ID); err != nil || len(rep.Left) != 1 || !strings.Contains(rep.Left[0].Do, "gdpr erase "+r.ID+" --plan-hash "+p.Hash) {
		t.Errorf("before the run: %+v %v", rep.Left, err)
	}
	down = true
	if _, err := w.erase(p); err != nil {
		t.Fatal(err)
	}
	rep, err := w.desk.StatusReport(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	file, err := rep.JSON()
	if err != nil {
		t.Fatal(err)
	}
	page := rep.Markdown(false)
	for _, text := range []string{page, string(file)} {
		for _, want := range []string{r.ID, r.Pseudonym, p.Hash, "partial", "2026-03-31", "not known to memdesk: ask", "memdesk gdpr plan " + r.ID, "residue", "gdpr sweep"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		for what, n := range needles() {
			if strings.Contains(text, string(n)) {
				t.Errorf("it holds %s", what)
			}
		}
	}
	left := func(store string, v model.Verdict) bool {
		return slices.ContainsFunc(rep.Left, func(l receipt.Left) bool { return l.Store == store && l.Verdict == v && l.Do != "" && l.Reason != "" })
	}
	if !left("agent", "") || !left("agent", model.VerdictResidue) || left("db", model.VerdictResidue) {
		t.Errorf("left: %+v", rep.Left)
	}
	for _, l := range rep.Layers {
		if !receipt.Passes(l.Verdict) && !slices.ContainsFunc(rep.Left, func(o receipt.Left) bool { return o.Store == l.Store && o.Layer == l.Layer }) {
			t.Errorf("%s %s is not among what is left", l.Store, l.Layer)
		}
	}
	down = false
	w.complete(w.plan(r.ID))
	if _, err := w.desk.StatusReport(t.Context(), r.ID); model.KindOf(err) != model.NotFound {
		t.Errorf("a report of what is complete: %v", err)
	}
	_, rec, key, err := w.desk.Receipt(r.ID)
	if err != nil || !strings.Contains(rec.Markdown(key, false), "may hold the person until 2026-03-31") {
		t.Errorf("the receipt says nothing of backups: %v\n%s", err, rec.Markdown(key, false))
	}
	if len(rec.Backups) != 2 || rec.Backups[0].Until != "2026-03-31" || rec.Backups[0].Where != "tape" || rec.Backups[0].Guard != "a guard" || rec.Backups[1].Until != "" {
		t.Errorf("backups: %+v", rec.Backups)
	}
}

// TestTheReportOfAChangedItem: the same plan never carries out a step whose item has changed, so the report
// advises a new one.
func TestTheReportOfAChangedItem(t *testing.T) {
	w := newWorld(t)
	w.fill()
	p := w.plan(w.file().ID)
	w.put("db", model.RetainRequest{ID: "n2", Content: name + " asked for two copies"})
	if _, err := w.erase(p); err != nil {
		t.Fatal(err)
	}
	rep, err := w.desk.StatusReport(t.Context(), p.Request)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range rep.Left {
		if strings.HasPrefix(l.Reason, "n2 ") {
			n++
			if !strings.Contains(l.Reason, "plan again") || !strings.HasPrefix(l.Do, "memdesk gdpr plan ") {
				t.Errorf("it says %q and advises %q", l.Reason, l.Do)
			}
		}
	}
	if n != 1 {
		t.Errorf("left: %+v", rep.Left)
	}
}

// TestTheReportOfAClosedStore: what is left of a store that is not open, or is another one now, must be said once.
func TestTheReportOfAClosedStore(t *testing.T) {
	w := newWorld(t)
	w.fill()
	p := w.plan(w.file().ID)
	members := w.fleet.Members()
	for i := range members {
		switch members[i].Name {
		case "db":
			members[i].Err = model.Errorf(model.Unavailable, "open", "no such disk")
		case "agent":
			members[i].Store.Place, members[i].Store.Location = "elsewhere", "elsewhere"
		}
	}
	w.fleet = backends.NewFleet(members, nil)
	if _, err := w.erase(p); err != nil {
		t.Fatal(err)
	}
	rep, err := w.desk.StatusReport(t.Context(), p.Request)
	if err != nil {
		t.Fatal(err)
	}
	for store, do := range map[string]string{"db": "put the store right", "agent": "memdesk gdpr plan "} {
		var said []receipt.Left
		for _, l := range rep.Left {
			if l.Store == store {
				said = append(said, l)
			}
		}
		if len(said) != 1 || said[0].Layer != "items" || !strings.HasPrefix(said[0].Do, do) {
			t.Errorf("%s: %+v, want one layer and the advice %q", store, said, do)
		}
	}
}
