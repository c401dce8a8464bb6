package model_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/model"
)

func TestTheWorstFindingIsTheState(t *testing.T) {
	at := time.Date(2026, 5, 21, 9, 0, 0, 0, time.FixedZone("x", 3600))
	found := func(states ...model.HealthState) (out []model.HealthFinding) {
		for _, s := range states {
			out = append(out, model.HealthFinding{Kind: "k", Message: "m-" + string(s), State: s})
		}
		return out
	}
	for _, tt := range []struct {
		findings []model.HealthFinding
		state    model.HealthState
		ok       bool
		message  string
	}{
		{nil, model.HealthOK, true, ""},
		{found(model.HealthDegraded), model.HealthDegraded, true, ""},
		{found(model.HealthUnknown, model.HealthDegraded), model.HealthUnknown, false, "m-unknown"},
		{found(model.HealthDegraded, model.HealthDown, model.HealthUnknown), model.HealthDown, false, "m-down; m-unknown"},
		{[]model.HealthFinding{{Kind: "disk"}}, model.HealthDown, false, "disk"},
	} {
		st := model.NewHealth(at, tt.findings...)
		if st.State != tt.state || st.OK != tt.ok || st.Message != tt.message || st.CheckedAt.Location() != time.UTC {
			t.Errorf("%v: %+v", tt.findings, st)
		}
		for _, f := range st.Findings {
			if !f.CheckedAt.Equal(at) {
				t.Errorf("finding stamped %v", f.CheckedAt)
			}
		}
		if diff := cmp.Diff(st, st.Whole()); diff != "" {
			t.Errorf("Whole changes a whole status:\n%s", diff)
		}
	}
}

// TestAProviderOfFourFields must be completed without a change to its own values.
func TestAProviderOfFourFields(t *testing.T) {
	at := time.Now().UTC()
	if st := (model.HealthStatus{OK: true, CheckedAt: at}).Whole(); st.State != model.HealthOK || len(st.Findings) != 0 {
		t.Errorf("%+v", st)
	}
	st := (model.HealthStatus{Message: "gone", CheckedAt: at, State: model.HealthOK}).Whole()
	want := []model.HealthFinding{{Kind: model.FindingUnreachable, Message: "gone", CheckedAt: at, State: model.HealthDown}}
	if st.OK || st.State != model.HealthDown || !cmp.Equal(st.Findings, want) {
		t.Errorf("%+v", st)
	}
}
