package health

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/pane"
)

func TestHealthHasOneCheckUnderWay(t *testing.T) {
	p := newWatch(pane.NewBench(desktest.New(backends.Member{Name: "a", Err: model.E(model.Unavailable, "open", nil)})), 0, nil)
	asked := 0
	p.Window.Ask = func(func(context.Context) any) tea.Cmd {
		asked++
		return nil
	}
	p.round()
	p.round()
	if asked != 1 {
		t.Errorf("%d checks under way", asked)
	}
	p.Update(Checked{backends.HealthReport{Store: "a"}})
	if p.round(); asked != 2 {
		t.Errorf("%d checks after the first has ended", asked)
	}
}

// TestOneLateAnswerIsNotDown: a busy machine is late too. Only a store on this machine is asked again: a remote
// one has to be on the tab within three seconds.
func TestOneLateAnswerIsNotDown(t *testing.T) {
	late := model.NewHealth(time.Now(), model.HealthFinding{Kind: model.FindingTimeout, State: model.HealthUnknown})
	for location, looks := range map[string]int{"/srv/notes": 2, "https://notes.example": 1} {
		d := desktest.New(backends.Member{Name: "a", Location: location})
		d.Frame = frame{}
		p := newWatch(pane.NewBench(d), 0, nil)
		for range 2 { // well in between, it is late for the first time again
			p.Update(Checked{backends.HealthReport{Store: "a", Status: model.NewHealth(time.Now())}})
			for n := range looks {
				if len(p.down()) > 0 || p.running["a"] != (n > 0) {
					t.Errorf("%s: down are %v, asked again: %t, after %d late answers", location, p.down(), p.running["a"], n)
				}
				p.Update(Checked{backends.HealthReport{Store: "a", Status: late}})
			}
			for range 2 { // a store that stays late is asked no second time
				if len(p.down()) != 1 || p.running["a"] {
					t.Errorf("%s: down are %v, asked again: %t", location, p.down(), p.running["a"])
				}
				p.Update(Checked{backends.HealthReport{Store: "a", Status: late}})
			}
		}
	}
}

// frame is a screen that shows the pane, and nothing else.
type frame struct{ desk.Frame }

func (frame) News(paint.Tone, safetext.Text) {}
func (frame) Shows(int) bool                 { return true }

// TestWorstStoreFirst: the cursor is on the worst store until the operator moves, and stays on its store
// afterwards. A frozen list stands still.
func TestWorstStoreFirst(t *testing.T) {
	names := []string{"a", "b", "c"}
	var members []backends.Member
	for _, n := range names {
		members = append(members, backends.Member{Name: n, Store: model.Store{Name: n}})
	}
	d := desktest.New(members...)
	d.Frame = frame{}
	d.Later = func(int) func(time.Duration, any) tea.Cmd { // the test checks by itself
		return func(time.Duration, any) tea.Cmd { return nil }
	}
	p := newWatch(pane.NewBench(d), 0, nil)
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
	p.ticking = true // checks come from the test
	run(p.Resize(120, 20))
	run(p.Enter())
	check := func(store string, ok bool, want string) {
		t.Helper()
		status := model.HealthStatus{OK: ok, CheckedAt: d.Time.Clock.Now()}
		if !ok {
			status.Message = strings.Repeat("the directory is gone; ", 9)
		}
		run(p.Update(Checked{backends.HealthReport{Store: store, Status: status}}))
		if got := p.StoreHere(); got != want {
			t.Errorf("after the check of %s the cursor is on %q, want %q", store, got, want)
		}
	}
	for _, n := range names {
		check(n, true, "a")
	}
	run(p.Resize(80, 20))
	well, _ := p.Render(80, 20)
	check("c", false, "c")
	lines, _ := p.Render(80, 20)
	if well[0] != lines[0] {
		t.Errorf("the headings move when a store is down:\n%s\n%s", well[0], lines[0])
	}
	if told := p.describe((*p.latest.Load())[0]); told[2].Name.String() != "what to do" {
		t.Errorf("after what is wrong stands %q", told[2].Name)
	}
	run(p.Resize(120, 20))
	lines, _ = p.Render(120, 20)
	if !strings.Contains(lines[1], "c") || !strings.Contains(lines[1], "down") {
		t.Errorf("the first row is %q", lines[1])
	}
	check("c", true, "a")
	move, _ := act.Find(p.Bindings(), "j")
	run(move.Do())
	check("c", false, "b")
	d.AutoRefresh.Frozen = true
	check("b", false, "b")
	if at, _ := p.Position(); !strings.Contains(at.String(), "frozen, as of") {
		t.Errorf("the position of a frozen list is %q", at)
	}
	check("b", true, "b")
	d.AutoRefresh.Frozen = false
	run(p.Refresh())
	run(p.Apply("down"))
	if got := p.StoreHere(); got != "c" {
		t.Errorf("filtered by down, the cursor is on %q", got)
	}
}

// TestEnterLeadsToWhatIsOverItsCap: where one tier is, enter must open its item; else it opens all items of the store.
func TestEnterLeadsToWhatIsOverItsCap(t *testing.T) {
	s := model.Store{Name: "a", Tiers: []model.TierSpec{{Name: "pins", Cap: 1000, CapUnit: model.CapBytes}}}
	counts := []model.TierCount{{Tier: "pins", Scope: "ada", Items: 1, Bytes: 2000}, {Tier: "pins", Scope: "bo", Items: 1, Bytes: 10}}
	d := desktest.New(backends.Member{Name: "a", Store: s})
	var opened desk.ScopeOf
	d.Open = func(at desk.ScopeOf) tea.Cmd { opened = at; return nil }
	p := newWatch(pane.NewBench(d), 0, func(string) []model.TierCount { return counts })
	p.ticking = true
	enter := func(name string, want desk.ScopeOf) {
		t.Helper()
		for cmds := []tea.Cmd{p.Resize(120, 20), p.Enter()}; len(cmds) > 0; cmds = cmds[1:] {
			if cmds[0] == nil {
				continue
			}
			switch msg := cmds[0]().(type) {
			case tea.BatchMsg:
				cmds = append(cmds, msg...)
			case loop.Reply:
				cmds = append(cmds, p.Update(msg.Msg))
			}
		}
		key, _ := act.Find(p.Bindings(), "enter")
		if key.Do(); key.Name != name || opened != want {
			t.Errorf("%q opens %+v, want %q and %+v", key.Name, opened, name, want)
		}
	}
	enter("list over cap", desk.ScopeOf{Store: "a", Scope: "ada", Tier: "pins"})
	counts[1].Bytes = 3000
	enter("items", desk.ScopeOf{Store: "a"})
}

// TestRunningProbesAreSaid: a store is not called well before its slow checks have ended.
func TestRunningProbesAreSaid(t *testing.T) {
	p := newWatch(pane.NewBench(desktest.New(backends.Member{Name: "a", Location: "/a"})), 0, nil)
	o := observed{name: "a", known: true, report: backends.HealthReport{Store: "a", Status: model.NewHealth(time.Now())}}
	for _, o.report.Status.Probing = range []bool{false, true} {
		row := p.row(o)
		for what, words := range map[string]string{
			"row": row.Cells[len(row.Cells)-1].String(), "detail": p.describe(o)[1].Value.String(), "linear": tellStore(p.d.Esc, o).String(),
		} {
			if strings.Contains(words, probing) != o.report.Status.Probing {
				t.Errorf("probing %t: the %s says %q", o.report.Status.Probing, what, words)
			}
		}
	}
	o.counted, o.shown, o.over = true, 1204, 1
	for _, got := range []string{p.row(o).Cells[5].String(), tellStore(p.d.Esc, o).String()} { // the counts are there already
		if !strings.Contains(got, "1,204 items, 1 over cap; "+probing) {
			t.Errorf("counted, a row says %q", got)
		}
	}
}

// TestProductionIsDownFirst: the line of the frame may have room for one name.
func TestProductionIsDownFirst(t *testing.T) {
	gone := model.E(model.Unavailable, "open", nil)
	d := desktest.New(backends.Member{Name: "a", Err: gone}, backends.Member{Name: "b", Err: gone, Environment: "production"}, backends.Member{Name: "c"})
	if got := d.Esc.Join(newWatch(pane.NewBench(d), 0, nil).down(), " ").String(); got != "b a" {
		t.Errorf("down are %q", got)
	}
}
