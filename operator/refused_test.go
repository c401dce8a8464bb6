package operator

import (
	"context"
	"errors"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
)

// TestARefusedCallNamesItsStore: the record of a refusal must not blame a store that the call did not name.
func TestARefusedCallNamesItsStore(t *testing.T) {
	for _, c := range []struct{ open, called, want string }{
		{"", "", ""}, {"a", "", "a"}, {"ab", "", ""}, {"ab", "b", "b"},
	} {
		s := newSession(t, func(*Options) {})
		var members []backends.Member
		for _, name := range c.open {
			members = append(members, backends.Member{Name: string(name)})
		}
		s.Fleet = backends.NewFleet(members, nil)
		s.Refused(t.Context(), c.called, "retain", "memory:retain")
		got, err := s.Log.List(t.Context(), audit.Filter{Action: "retain", Result: audit.Refused}, 1, "")
		if err != nil || len(got.Rows) != 1 || got.Rows[0].Store != c.want {
			t.Errorf("stores %q, call to %q: %+v, %v; want a record of store %q", c.open, c.called, got.Rows, err, c.want)
		}
	}
}

// full is a Repairer whose disk is full.
type full struct{ model.Repairer }

func (full) SetAside(context.Context, []string) (string, error) { return "", errors.New("no space") }

// TestAFailedRepairRemovesNothing: what was not done must not be counted.
func TestAFailedRepairRemovesNothing(t *testing.T) {
	s := newSession(t, func(*Options) {})
	s.Fleet = backends.NewFleet([]backends.Member{{Name: "a", Store: model.Store{Name: "a", Repairer: full{}}}}, nil)
	if _, done, err := s.Repair(t.Context(), "a", []string{"x", "y"}); err == nil || done.Removed != 0 {
		t.Errorf("%d removed, %v", done.Removed, err)
	}
}
