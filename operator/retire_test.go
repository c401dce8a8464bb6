package operator

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/internal/clock"
	"memdesk/model"
)

// TestRetiredLogKeepsWhatErasuresNeed: the requester of an open request must stay on record, whatever the
// retention, and a policy that demands approval must still be the one against which a change is accepted.
func TestRetiredLogKeepsWhatErasuresNeed(t *testing.T) {
	state := t.TempDir()
	clk := clock.NewFake(time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC))
	session := func(approval bool) *Session {
		return newSession(t, func(o *Options) {
			o.Clock, o.Config.Audit.SegmentBytes, o.Config.GDPR.RequireApproval = clk, 3000, approval
			o.Env = func(k string) string {
				return map[string]string{"XDG_STATE_HOME": filepath.Join(state, "state")}[k]
			}
		})
	}
	s := session(true)
	acts := func(n int) {
		for i := range n {
			clk.Advance(time.Hour)
			if _, err := s.Retain(t.Context(), "inmem", model.RetainRequest{ID: fmt.Sprint("n", i), Mode: model.Replace, Content: "tide"}, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	acts(10)
	filed := clk.Now()
	e, err := s.Erasures(nil, Away{})
	if err != nil {
		t.Fatal(err)
	}
	due, err := e.File(t.Context(), gdpr.Intake{Subject: "usr_ida9931", Received: "2026-01-05", Ground: "asked"}, "")
	if err != nil {
		t.Fatal(err)
	}
	acts(10)
	clk.Advance(100 * 24 * time.Hour)
	acts(10)
	first := func() audit.Row { // the oldest remaining record
		page, err := s.Log.List(t.Context(), audit.Filter{}, 1000, "")
		if err != nil {
			t.Fatal(err)
		}
		return page.Rows[len(page.Rows)-1]
	}
	cut := clk.Now().AddDate(0, 0, -30)
	n, upTo, err := s.RetireLog(t.Context(), cut, "kept long enough")
	if err != nil || n == 0 || !upTo.Equal(filed) || first().TS.After(filed) {
		t.Fatalf("%d records up to %s, the first left is of %s, %v; the request was filed on %s", n, upTo, first().TS, err, filed)
	}
	if err := e.Withdraw(t.Context(), due.ID, "a mistake"); err != nil {
		t.Fatal(err)
	}
	n, upTo, err = s.RetireLog(t.Context(), cut, "kept long enough")
	if err != nil || n == 0 || !upTo.Equal(cut) || !first().TS.After(filed) {
		t.Fatalf("with no request open: %d records up to %s, the first left is of %s, %v", n, upTo, first().TS, err)
	}
	for approval, want := range map[bool]bool{true: true, false: false} {
		e, err := session(approval).Erasures(nil, Away{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.PolicyNow(t.Context())
		if err != nil || p.InForce != want || p.Record == 0 {
			t.Errorf("configured approval %v: %+v, %v; want in force %v, and a record", approval, p, err, want)
		}
	}
}
