package gdpr_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
)

// TestASweepNeedsAnApprovalThatWasGiven: where the first erasure had no approval, the sweep's request
// needs one like any other.
func TestASweepNeedsAnApprovalThatWasGiven(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	w.complete(w.plan(r.ID))
	w.desk.Policy.RequireApproval = true
	if err := os.WriteFile(filepath.Join(w.path("agent"), "daily", "2026-02-21.md"), []byte("- "+mail+" wrote\n- quiet\n"), 0o644); err != nil {
		t.Fatal(err) // a sync peer passes no gate
	}
	w.open()
	if swept, _, err := w.desk.Sweep(t.Context(), w.fleet, nil); !model.IsRefusal(err) {
		t.Errorf("Sweep = %+v, %v; want a refusal", swept, err)
	}
	if left := w.traces(w.dir); len(left) == 0 {
		t.Error("it was erased all the same")
	}
}

// TestACascadeSparesNobodysHold: a cascade names no item, so a store with an item on hold must refuse
// it, and the erasure must remove single items.
func TestACascadeSparesNobodysHold(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "one", DataSubjectID: ana})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "two", DataSubjectID: ana})
	for range 20 {
		w.put("db", model.RetainRequest{Tier: "session", Key: "x" + string(rune('a'+len(w.contents()))), Content: "tides"})
	}
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	id := ""
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if st.Action == gdpr.Forget {
				id = st.ID
			}
		}
	}
	if id == "" {
		t.Fatal("nothing is to be forgotten")
	}
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: id, Ground: "a claim"}); err != nil {
		t.Fatal(err)
	}
	n := len(w.contents())
	if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: ana}); !model.IsRefusal(err) {
		t.Errorf("%v; want a refusal", err)
	}
	if got := len(w.contents()); got != n {
		t.Errorf("%d items of %d are left", got, n)
	}
}
