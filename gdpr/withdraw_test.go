package gdpr_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestWithdraw closes a request at every stage: the state must keep nothing that names the subject, the
// act must be on record, and the request must be found by the typed id and refuse further acts.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	tests := []struct {
		stage string
		to    func(t *testing.T, w *world, r gdpr.Due)
	}{
		{"open", func(*testing.T, *world, gdpr.Due) {}},
		{"held and planned", func(t *testing.T, w *world, r gdpr.Due) {
			if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n2", Ground: "a claim of " + name}); err != nil {
				t.Fatal(err)
			}
			w.plan(r.ID)
		}},
		{"approved", func(t *testing.T, w *world, r gdpr.Due) {
			s, _ := newSigner(t)
			if _, err := w.desk.Approve(t.Context(), r.ID, w.plan(r.ID).Hash, s); err != nil {
				t.Fatal(err)
			}
		}},
		{"begun", func(t *testing.T, w *world, r gdpr.Due) {
			_, err := w.desk.Erase(t.Context(), order(w.plan(r.ID)), w.fleet, func(context.Context, gdpr.Progress) error { return stop })
			if !errors.Is(err, stop) {
				t.Fatalf("%v; want the interruption", err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.stage, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fill()
			if _, err := w.desk.Log.EraseNames(t.Context(), nil, func(text string) bool { return strings.Contains(text, ana) }); err != nil { // of items that stay, under an id that names the subject
				t.Fatal(err)
			}
			r := w.file()
			tt.to(t, w, r)
			if _, err := w.desk.Withdraw(t.Context(), r.ID, " "); !errors.Is(err, model.InvalidInput) {
				t.Errorf("without a reason: %v; want InvalidInput", err)
			}
			got, err := w.desk.Withdraw(t.Context(), r.ID, name+" wants to stay")
			if err != nil || got.State != gdpr.StateWithdrawn || got.Words != "withdrawn" || got.Overdue || !strings.Contains(got.Reason, "wants to stay") {
				t.Fatalf("Withdraw = %+v, %v", got, err)
			}
			if left := w.leaks(true, false); len(left) > 0 {
				t.Errorf("she is found in %q", left)
			}
			if found, err := w.desk.Get(ana); err != nil || found.ID != r.ID {
				t.Errorf("by the typed id: %q, %v", found.ID, err)
			}
			for what, err := range map[string]error{
				"plan": func() error { _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); return err }(),
				"hold": func() error {
					_, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "x", Ground: "x"})
					return err
				}(),
				"erase":    func() error { _, err := w.desk.Erase(t.Context(), gdpr.Order{Request: r.ID}, w.fleet, nil); return err }(),
				"verify":   func() error { _, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet); return err }(),
				"withdraw": func() error { _, err := w.desk.Withdraw(t.Context(), r.ID, "again"); return err }(),
			} {
				if !errors.Is(err, model.Conflict) || !strings.Contains(err.Error(), "withdrawn") {
					t.Errorf("%s after it: %v; want Conflict", what, err)
				}
			}
			if _, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "back", Content: "of " + name, Mode: model.Replace}); err != nil {
				t.Errorf("she is kept away: %v", err)
			}
			if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: "n2"}); err != nil && !errors.Is(err, model.NotFound) {
				t.Errorf("what it held is still held: %v", err)
			}
			page, err := w.desk.Log.List(t.Context(), audit.Filter{}, 500, "")
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, row := range page.Rows {
				if row.Action == "gdpr-withdraw" {
					n++
				}
			}
			if n == 0 {
				t.Error("it is not in the audit log")
			}
			if again := w.file(); again.State != gdpr.StateOpen {
				t.Errorf("filed again: %s", again.State)
			}
		})
	}
}

// TestWithdrawKeepsWhatAnotherNeeds: the subject must stay suppressed as long as another request has
// erased it, and an open request of the same subject must keep its identifiers.
func TestWithdrawKeepsWhatAnotherNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	first := w.file()
	w.complete(w.plan(first.ID))
	second := w.file()
	if _, err := w.desk.Withdraw(t.Context(), second.ID, "filed twice"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "back", Content: "of " + name, Mode: model.Replace}); !model.IsRefusal(err) {
		t.Errorf("she comes back: %v; want a refusal", err)
	}
	if got, err := w.desk.Get(ana); err != nil || got.ID != first.ID {
		t.Errorf("by the typed id: %q, %v; want the one that was carried out", got.ID, err)
	}
	if _, err := w.desk.Withdraw(t.Context(), first.ID, "x"); !errors.Is(err, model.Conflict) {
		t.Errorf("a complete one: %v; want Conflict", err)
	}
}

// TestWithdrawOneAfterTheOther: the request that began the suppression is withdrawn first, while
// another erasure of the subject is running; when that one is withdrawn too, the suppression must end.
func TestWithdrawOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	begin := func() gdpr.Due {
		t.Helper()
		r := w.file()
		stop := errors.New("stop")
		if _, err := w.desk.Erase(t.Context(), order(w.plan(r.ID)), w.fleet, func(context.Context, gdpr.Progress) error { return stop }); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		return r
	}
	first, second := begin(), begin()
	third := w.file() // not begun, so it suppresses no subject
	for i, id := range []string{first.ID, second.ID} {
		if _, err := w.desk.Withdraw(t.Context(), id, "taken back"); err != nil {
			t.Fatal(err)
		}
		_, err := w.store("db").Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "back", Content: "of " + name, Mode: model.Replace})
		if model.IsRefusal(err) != (i == 0) {
			t.Errorf("after withdrawal %d, with %s open: %v", i+1, third.ID, err)
		}
	}
}

// TestWithdrawWhileItRuns is refused: another process works on the request.
func TestWithdrawWhileItRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	tried := false
	_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(context.Context, gdpr.Progress) error {
		if !tried {
			tried = true
			if _, err := w.desk.Withdraw(t.Context(), r.ID, "x"); !errors.Is(err, gdpr.ErrBusy) {
				t.Errorf("while it runs: %v; want ErrBusy", err)
			}
		}
		return nil
	})
	if err != nil || !tried {
		t.Fatalf("tried %v, %v", tried, err)
	}
}

// TestADeclinedSweepLeavesNoNames closes the request that it filed.
func TestADeclinedSweepLeavesNoNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	w.complete(w.plan(r.ID))
	plant(t, w.path("agent"), map[string]string{"daily/2026-02-28.md": "- " + name + " and " + ana + "\n- quiet\n"})
	w.open()
	no := errors.New("no")
	if _, _, err := w.desk.Sweep(t.Context(), w.fleet, "", func(gdpr.Plan) error { return no }); !errors.Is(err, no) {
		t.Fatalf("Sweep: %v", err)
	}
	if left := w.leaks(true, false); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
	if got, err := w.desk.Get(ana); err != nil || got.ID != r.ID {
		t.Errorf("by the typed id: %q, %v", got.ID, err)
	}
}

// TestWithdrawnWhileTheClockStands: the days of a pause that a withdrawal ends do not count, as after a resume.
func TestWithdrawnWhileTheClockStands(t *testing.T) {
	w := newWorld(t)
	r := w.file()
	if _, err := w.desk.Pause(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(60 * 24 * time.Hour)
	if _, err := w.desk.Withdraw(t.Context(), r.ID, "never proved who asks"); err != nil {
		t.Fatal(err)
	}
	reg, err := w.desk.Register(t.Context(), w.clock.Now().Year())
	if err != nil || len(reg.Entries) != 1 || reg.Entries[0].Late {
		t.Errorf("%+v, %v; want one that is not late", reg, err)
	}
}
