package gdpr_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

func stateRow(t *testing.T, layers []receipt.Layer) receipt.Layer {
	t.Helper()
	i := slices.IndexFunc(layers, func(l receipt.Layer) bool { return l.Store == "memdesk" && l.Layer == "state" })
	if i < 0 {
		t.Fatal("no row about memdesk's own state")
	}
	return layers[i]
}

// TestTwoRequestsOfOnePerson: the second request is accepted and names the first. The end of one also
// ends the other where the other asks for no more; else the other stays open, and the receipt says that
// it keeps the subject's identifiers.
func TestTwoRequestsOfOnePerson(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	tests := []struct {
		name    string
		in      gdpr.Intake
		to      func(*testing.T, *world, gdpr.Due)
		note    string // of filing
		closed  bool
		verdict model.Verdict
		says    string // of the state row
	}{
		{name: "the same", in: gdpr.Intake{Subject: ana}, note: "the same person has a request that is open: ", closed: true, verdict: model.VerdictClean, says: "closed with this one"},
		{name: "written otherwise", in: gdpr.Intake{Subject: strings.ToUpper(ana), Aliases: []string{strings.ToUpper(name)}}, note: "the same person", closed: true, verdict: model.VerdictClean, says: "closed with this one"},
		{name: "under an alias", in: gdpr.Intake{Subject: name, Aliases: []string{mail}}, note: "has an identifier of this one: ", closed: true, verdict: model.VerdictClean, says: "closed with this one"},
		{name: "approved", in: gdpr.Intake{Subject: ana}, note: "the same person", closed: true, verdict: model.VerdictClean, says: "closed with this one",
			to: func(t *testing.T, w *world, r gdpr.Due) {
				s, _ := newSigner(t)
				if _, err := w.desk.Approve(t.Context(), r.ID, w.plan(r.ID).Hash, s); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "another alias", in: gdpr.Intake{Subject: ana, Aliases: []string{"zx-passport-4711"}}, note: "the same person", verdict: model.VerdictOutOfScope, says: "of the same person is still open"},
		{name: "somebody else with her address", in: gdpr.Intake{Subject: "subj-eve-1", Aliases: []string{mail}}, note: "has an identifier of this one: ", verdict: model.VerdictOutOfScope, says: "which is still open, keeps an identifier"},
		{name: "a hold", in: gdpr.Intake{Subject: ana}, note: "the same person", verdict: model.VerdictOutOfScope, says: "of the same person is still open",
			to: func(_ *testing.T, w *world, r gdpr.Due) { w.hold(r.ID, "db", "n2") }},
		{name: "begun", in: gdpr.Intake{Subject: ana}, note: "the same person", verdict: model.VerdictOutOfScope, says: "of the same person is still open",
			to: func(t *testing.T, w *world, r gdpr.Due) {
				_, err := w.desk.Erase(t.Context(), order(w.plan(r.ID)), w.fleet, func(context.Context, gdpr.Progress) error { return stop })
				if !errors.Is(err, stop) {
					t.Fatalf("%v; want the interruption", err)
				}
			}},
		{name: "nobody she is", in: gdpr.Intake{Subject: "subj-eve-1"}, verdict: model.VerdictClean},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fill()
			first := w.file()
			if first.Note != "" {
				t.Errorf("the first says %q", first.Note)
			}
			tt.in.Received, tt.in.Ground = "2026-02-21", "asked again"
			before := w.desk.OtherRequests(tt.in)
			second, err := w.desk.File(t.Context(), tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if before != second.Note {
				t.Errorf("before the filing it says %q, after it %q", before, second.Note)
			}
			if tt.note == "" && second.Note != "" || tt.note != "" && (!strings.Contains(second.Note, tt.note) || !strings.Contains(second.Note, first.ID)) {
				t.Errorf("note %q; want %q and %s", second.Note, tt.note, first.ID)
			}
			if tt.to != nil {
				tt.to(t, w, second)
			}
			end := w.complete
			if tt.name == "a hold" {
				end = w.inScope
			}
			out := end(w.plan(first.ID))
			row := stateRow(t, out.Layers)
			if row.Verdict != tt.verdict || !strings.Contains(row.Reason, tt.says) || tt.says != "" && !strings.Contains(row.Reason, second.ID) {
				t.Errorf("state: %+v; want %s, %q of %s", row, tt.verdict, tt.says, second.ID)
			}
			got, err := w.desk.Get(second.ID)
			if err != nil {
				t.Fatal(err)
			}
			if tt.closed != (got.State == gdpr.StateWithdrawn && got.Reason == "completed by "+first.ID && got.Subject == "" && got.Aliases == nil) || !tt.closed && got.Done() {
				t.Errorf("the second is %s, %q; want it closed: %v", got.State, got.Reason, tt.closed)
			}
			if !tt.closed {
				return
			}
			if left := w.leaks(true, false); len(left) > 0 {
				t.Errorf("she is found in %q", left)
			}
			page, err := w.desk.Log.List(t.Context(), audit.Filter{}, 500, "")
			if err != nil || !slices.ContainsFunc(page.Rows, func(r audit.Row) bool { return r.Action == "gdpr-withdraw" && r.Scope == second.ID }) {
				t.Errorf("no record of it: %v", err)
			}
			if ix, err := w.desk.Suppressed().Now(); err != nil || len(ix.Find(true, "of "+name)) == 0 {
				t.Errorf("she may come back: %v", err)
			}
			again, err := w.desk.Verify(t.Context(), first.ID, ana, w.fleet)
			if row := stateRow(t, again); err != nil || row.Verdict != model.VerdictClean {
				t.Errorf("verified: %+v, %v", row, err)
			}
		})
	}
}

// TestARequestAfterTheEnd: verification of a complete request must name a request filed since, and
// close nothing.
func TestARequestAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	first := w.file()
	w.complete(w.plan(first.ID))
	second := w.file()
	if second.Note != "" {
		t.Errorf("filed after the end of the first it says %q", second.Note)
	}
	layers, err := w.desk.Verify(t.Context(), first.ID, ana, w.fleet)
	if row := stateRow(t, layers); err != nil || row.Verdict != model.VerdictOutOfScope || !strings.Contains(row.Reason, second.ID) {
		t.Errorf("verified: %+v, %v", row, err)
	}
	if got, err := w.desk.Get(second.ID); err != nil || got.State != gdpr.StateOpen {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAPlanNamesTheOtherRequest: one request's plan must name the subject's other open request, and
// none that has ended.
func TestAPlanNamesTheOtherRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	first := w.file()
	alone := w.plan(first.ID)
	if alone.Note != "" {
		t.Errorf("one request: the plan says %q", alone.Note)
	}
	second := w.file()
	both := w.plan(first.ID)
	if !strings.Contains(both.Note, "the same person has a request that is open: "+second.ID) || both.Hash != alone.Hash {
		t.Errorf("two requests: the plan says %q, and its hash was %s and is %s", both.Note, alone.Hash, both.Hash)
	}
	if read, err := w.desk.Plan(first.ID); err != nil || read.Note != both.Note {
		t.Errorf("the plan read again says %q, %v; want %q", read.Note, err, both.Note)
	}
	if _, err := w.desk.Withdraw(t.Context(), second.ID, "filed twice"); err != nil {
		t.Fatal(err)
	}
	if p := w.plan(first.ID); p.Note != "" {
		t.Errorf("one is withdrawn: the plan says %q", p.Note)
	}
}

// TestTheSecondRequestEndsWithNothingFound: the second request's erasure must not count items that the first
// has erased. An older plan lists erased items: the first erasure cleared it, and a new plan is required.
func TestTheSecondRequestEndsWithNothingFound(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"planned before": true, "planned after": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fill()
			first := w.file()
			// One more alias, so the end of the first request does not close this one.
			second, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, "zx-passport-4711"}, Received: "2026-02-21", Ground: "asked again"})
			if err != nil {
				t.Fatal(err)
			}
			var stale gdpr.Plan
			if before {
				stale = w.plan(second.ID)
			}
			if out := w.complete(w.plan(first.ID)); out.Forgotten+out.Redacted == 0 {
				t.Fatalf("the first erased nothing: %+v", out)
			}
			if before {
				if out, err := w.erase(stale); model.KindOf(err) != model.NotFound || !strings.Contains(err.Error(), "memdesk gdpr plan "+second.ID) {
					t.Errorf("the plan from before: %+v, %v", out, err)
				}
			}
			p := w.plan(second.ID)
			if items, _ := p.Count(); items != 0 || p.Note != "" {
				t.Errorf("%d items are planned once more; %q", items, p.Note)
			}
			out := w.complete(p)
			if out.Forgotten != 0 || out.Redacted != 0 {
				t.Errorf("counted twice: %+v", out)
			}
			if left := w.leaks(true, false); len(left) > 0 {
				t.Errorf("she is found in %q", left)
			}
		})
	}
}
