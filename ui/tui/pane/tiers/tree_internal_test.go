package tiers

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
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

// TestTheTreeBeginsWithTheStores: a tree without room must begin with folded stores, unless the operator has begun to read.
func TestTheTreeBeginsWithTheStores(t *testing.T) {
	store := func(name string) backends.Member {
		return backends.Member{Name: name, Store: model.Store{Name: name}}
	}
	counts := []model.TierCount{{Tier: "1", Items: 1}, {Tier: "2", Items: 1}, {Tier: "3", Items: 1}}
	a, b := store("a"), store("b")
	for _, c := range []struct {
		why    string
		height int // of the pane; a list beside its detail has one row less
		stores []backends.Member
		begin  func(o *overview)
		want   int
	}{
		{"there is room", 9, []backends.Member{a, b}, nil, 8},
		{"there is none", 8, []backends.Member{a, b}, nil, 2},
		{"one store has no overview", 3, []backends.Member{a}, nil, 4},
		{"the cursor was moved", 8, []backends.Member{a, b}, func(o *overview) { o.Move(1) }, 8},
		{"everything was unfolded", 8, []backends.Member{a, b}, func(o *overview) { o.foldAll(); o.foldAll() }, 8},
		{"a list was left: its store stays open", 8, []backends.Member{a, b}, func(o *overview) { o.goTo(desk.ScopeOf{Store: "b", Tier: "3"}) }, 5},
		{"words were looked for: that counts nothing anew", 8, []backends.Member{a}, func(o *overview) {
			if o.p.Narrow("1"); len(o.running) > 0 {
				t.Error("a filter counts the stores")
			}
		}, 4},
	} {
		p := New(pane.NewBench(desktest.New(c.stores...)), 0)
		p.Resize(100, c.height)
		if c.begin != nil {
			c.begin(p.Overview)
		}
		for _, m := range c.stores {
			p.Update(tallied{store: m.Name, Counts: counts})
		}
		if got := len(p.Overview.drawn(p.Overview.stored(), false)); got != c.want {
			t.Errorf("%s: %d rows, want %d", c.why, got, c.want)
		}
	}
	p := New(pane.NewBench(desktest.New(a, b)), 0)
	p.Update(tallied{store: "a", Counts: counts})
	p.Update(tallied{store: "b", Counts: counts})
	p.Resize(100, 8)
	if got := len(p.Overview.drawn(p.Overview.stored(), false)); got != 2 {
		t.Errorf("counted before the size is known: %d rows, want 2", got)
	}
}

// TestAReturnUnfolds what hides the row of a place, not the row itself.
func TestAReturnUnfolds(t *testing.T) {
	o := New(pane.NewBench(desktest.New()), 0).Overview
	for _, c := range []struct {
		at   desk.ScopeOf
		want int // rows that stay folded
	}{{desk.ScopeOf{Store: "a"}, 2}, {desk.ScopeOf{Store: "a", Scope: "s"}, 1}, {desk.ScopeOf{Store: "a", Scope: "s", Tier: "t"}, 0}} {
		o.folded = map[desk.ScopeOf]bool{{Store: "a"}: true, {Store: "a", Scope: "s"}: true}
		if o.goTo(c.at); len(o.folded) != c.want {
			t.Errorf("a return to %v leaves %v folded, want %d rows", c.at, o.folded, c.want)
		}
	}
}

// TestAVanishedRow: a row that was read out must be refused once its store counts it no more, and else be read again.
func TestAVanishedRow(t *testing.T) {
	o := New(pane.NewBench(desktest.New(backends.Member{Name: "a", Store: model.Store{Name: "a"}})), 0).Overview
	counted := func(counts ...model.TierCount) []string {
		o.Tallies["a"] = tallied{store: "a", Counts: counts}
		_ = o.changed()
		o.Update(o.Window.Reset(o.Fetcher())().(loop.Reply).Msg)
		return o.Ahead(10).Keys
	}
	keys := counted(model.TierCount{Tier: "first", Items: 1}, model.TierCount{Tier: "last", Items: 2})
	counted(model.TierCount{Tier: "first", Items: 7})
	if len(keys) != 3 || o.Place(keys[2]) {
		t.Errorf("the vanished row of %q is there", keys)
	}
	if !o.Place(keys[1]) || !strings.Contains(o.Row().String(), "7 items") {
		t.Errorf("the row that is there: %q", o.Row())
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

// TestASizeIsWhole: a size that is cut has lost its unit.
func TestASizeIsWhole(t *testing.T) {
	l := &items{d: pane.NewBench(desktest.New())}
	size := prose.Size(361_800)
	if widths, _ := l.share(list.Fit{80, 40, 9, 0, len(size), 4, 5}, 44); len(size) >= widths[colSize] {
		t.Errorf("%q has %d columns", size, widths[colSize]-1)
	}
}
