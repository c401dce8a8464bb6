package tiers

import (
	"testing"

	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

// TestUnknownCountsAreNoZeros: the export of a store that nobody has counted must not say that it is empty.
func TestUnknownCountsAreNoZeros(t *testing.T) {
	o := newOverview(desktest.New(), 0)
	o.Tallies = map[string]tallied{"counted": {}, "stale": {}}
	for _, c := range []struct {
		row   tierRow
		items any
	}{
		{tierRow{at: desk.ScopeOf{Store: "counted"}}, int64(0)},
		{tierRow{at: desk.ScopeOf{Store: "counting"}}, nil},
		{tierRow{at: desk.ScopeOf{Store: "closed"}, failed: true}, nil},
		{tierRow{at: desk.ScopeOf{Store: "stale"}, failed: true, items: 7}, int64(7)},
	} {
		got := o.datum(c.row).Object()
		if got["items"] != c.items || (got["bytes"] == nil) != (c.items == nil) {
			t.Errorf("%s: %v items, %v bytes, want %v", c.row.at.Store, got["items"], got["bytes"], c.items)
		}
	}
}

// TestOneLookAtATime: a store on a hanging mount never answers, and each question to it holds a thread.
func TestOneLookAtATime(t *testing.T) {
	p := New(pane.NewBench(desktest.New()), 0)
	if p.Update(lookDue{}) == nil {
		t.Fatal("it does not look")
	}
	if p.Update(lookDue{}) != nil {
		t.Error("it looks while a look is under way")
	}
	p.Update(stamped{})
	if p.Update(lookDue{}) == nil {
		t.Error("it does not look after the first was answered")
	}
}
