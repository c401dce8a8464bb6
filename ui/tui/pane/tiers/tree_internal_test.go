package tiers

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/pane"
)

// TestUnknownCountsAreNoZeros: the export of a store that nobody has counted must not say that it is empty.
func TestUnknownCountsAreNoZeros(t *testing.T) {
	o := New(pane.NewBench(desktest.New()), 0).Overview
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

// TestAReturnAwaitsTheCounts: whoever leaves a list before its store is counted must be on that store, then on the
// tier as soon as it has a row, unless the cursor was moved.
func TestAReturnAwaitsTheCounts(t *testing.T) {
	store := func(name string) backends.Member {
		return backends.Member{Name: name, Store: model.Store{Name: name, Tiers: []model.TierSpec{{Name: "first"}, {Name: "last"}}}}
	}
	for _, moved := range []bool{false, true} {
		p := New(pane.NewBench(desktest.New(store("a"), store("b"))), 0)
		var run func(tea.Cmd)
		run = func(cmd tea.Cmd) {
			if cmd == nil {
				return
			}
			switch msg := cmd().(type) {
			case tea.BatchMsg:
				for _, c := range msg {
					run(c)
				}
			case loop.Reply:
				run(p.Update(msg.Msg))
			}
		}
		at := func(want desk.ScopeOf) {
			t.Helper()
			if got := p.Overview.Here().at; got != want {
				t.Errorf("the cursor is at %v, want %v", got, want)
			}
		}
		run(p.Resize(100, 30))
		run(p.Overview.Enter())
		at(desk.ScopeOf{Store: "a"})
		run(p.Overview.goTo(desk.ScopeOf{Store: "b", Tier: "last"}))
		at(desk.ScopeOf{Store: "b"})
		want := desk.ScopeOf{Store: "b", Tier: "last"}
		if moved {
			run(p.Overview.Move(-1))
			want = desk.ScopeOf{Store: "a"}
		}
		counts := []model.TierCount{{Tier: "first", Items: 1}, {Tier: "last", Items: 2}}
		run(p.Update(tallied{store: "a", Counts: counts}))
		run(p.Update(tallied{store: "b", Counts: counts}))
		at(want)
	}
}

// TestAVanishedRow: a row that was read out must be refused once its store counts it no more, and else be read again.
func TestAVanishedRow(t *testing.T) {
	o := New(pane.NewBench(desktest.New(backends.Member{Name: "a", Store: model.Store{Name: "a"}})), 0).Overview
	o.Tallies["a"] = tallied{store: "a", Counts: []model.TierCount{{Tier: "first", Items: 1}, {Tier: "last", Items: 2}}}
	_ = o.changed()
	if page, err := o.ReadPage(t.Context(), "", 10); err != nil || page.Rows != 3 {
		t.Fatalf("%+v, %v", page, err)
	}
	o.folded[desk.ScopeOf{Store: "a"}] = true
	o.Tallies["a"] = tallied{store: "a", Counts: []model.TierCount{{Tier: "first", Items: 7}}}
	_ = o.changed()
	if err := o.Renew(t.Context(), 2); model.KindOf(err) != model.NotFound {
		t.Errorf("the vanished row: %v", err)
	}
	if err := o.Renew(t.Context(), 1); err != nil || !strings.Contains(o.Row(1).String(), "7 items") {
		t.Errorf("the row that is there: %v, %q", err, o.Row(1))
	}
}

// TestALoadingTreeIsNotEmpty: before the first rows nobody knows whether a store is open, and a filter that leaves
// nothing closes none.
func TestALoadingTreeIsNotEmpty(t *testing.T) {
	p := New(pane.NewBench(desktest.New()), 0)
	why := func(want string) {
		t.Helper()
		for _, got := range []string{p.noRow(), p.noCreate()} {
			if !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	why("still loading")
	p.Overview.Window.Loaded = true
	why("no store is open")
	p.Overview.Query = "nothing has this"
	why("the filter leaves nothing")
}
