package gdpr_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	w.desk.Operator.Key = "SHA256:asker"
	if err := os.WriteFile(filepath.Join(w.path("agent"), "daily", "2026-02-21.md"), []byte("- "+mail+" wrote\n- quiet\n"), 0o644); err != nil {
		t.Fatal(err) // a sync peer passes no gate
	}
	w.open()
	if swept, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); !model.IsRefusal(err) {
		t.Errorf("Sweep = %+v, %v; want a refusal", swept, err)
	}
	if left := w.traces(w.dir); len(left) == 0 {
		t.Error("it was erased all the same")
	}
	all, err := w.desk.List()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d requests, %v; want the first and the sweep's", len(all), err)
	}
	filed := all[0]
	if filed.Of == "" {
		filed = all[1]
	}
	path := filepath.Join(w.desk.State, "gdpr", "requests", filed.ID+".json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(w.desk.Operator.Key), []byte("SHA256:nobody")), 0o600); err != nil {
		t.Fatal(err)
	}
	signer, _ := newSigner(t)
	if _, err := w.desk.Approve(t.Context(), filed.ID, filed.PlanHash, signer); !model.IsRefusal(err) || !strings.Contains(err.Error(), "another key than the audit log") {
		t.Errorf("another requester in the file of a sweep: %v; want a refusal", err)
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

// TestACascadeThatDoesNotAnswer: what it removed all the same is what the plan removes, and no more.
func TestACascadeThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		err := next(ctx)
		if err == nil && c.Forget != nil && c.Forget.DataSubjectID != "" {
			err = model.Errorf(model.Timeout, "forget", "no answer")
		}
		return err
	}}
	w.open()
	for i := range 3 {
		w.put("db", model.RetainRequest{Tier: "session", Key: fmt.Sprintf("t%d", i), Content: "tea", DataSubjectID: ana})
		w.put("db", model.RetainRequest{Tier: "session", Key: fmt.Sprintf("b%d", i), Content: "coffee", DataSubjectID: other})
	}
	r := w.file()
	w.complete(w.plan(r.ID))
}
