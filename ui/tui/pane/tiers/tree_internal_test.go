package tiers

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/model"
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

// TestOneLookAtATime: a store on a hanging mount never answers; each question to it holds a thread, and none may hold
// up another store.
func TestOneLookAtATime(t *testing.T) {
	store := func(name string) backends.Member {
		return backends.Member{Name: name, Store: model.Store{Name: name, Browser: struct{ model.Browser }{}}}
	}
	p := New(pane.NewBench(desktest.New(store("hangs"), store("well"))), 0)
	cmd := p.Update(lookDue{})
	if cmd == nil {
		t.Fatal("it does not look")
	}
	if all, ok := cmd().(tea.BatchMsg); !ok || len(all) != 2 {
		t.Fatalf("%d questions to two stores", len(all))
	}
	if p.Update(lookDue{}) != nil {
		t.Error("it looks at stores whose looks are under way")
	}
	p.Update(stamped{store: "well"})
	if p.Update(lookDue{}) == nil {
		t.Error("it does not look at the store that has answered")
	}
	if p.Update(lookDue{}) != nil {
		t.Error("it looks again while both looks are under way")
	}
}
