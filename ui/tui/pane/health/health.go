package health

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// A store is checked every healthEvery looks, which is every five seconds, or every remoteEvery
// looks if nothing of it is on this machine. In between, a look at the presence of its file or
// directory costs one system call: a store that went away or came back is checked at once, and is
// on the tab within three seconds.
const (
	lookEvery   = time.Second
	healthEvery = 5
	remoteEvery = 2
)

// Checked is one observation of one store.
type Checked struct{ report backends.HealthReport }

// reindexed is the outcome of building an index.
type reindexed struct {
	store string
	items int64
	err   error
}

// healthTick asks for the next look.
type healthTick struct{}

// presence says which stores' files and directories exist.
type presence map[string]bool

// anchored says how much of the audit log is anchored.
type anchored struct {
	Words string
	state model.HealthState
}

// watch is the pane of every store, open or not. Its list shows what was observed last, the worst store first.
type watch struct {
	*record.List[observed]
	d       *pane.Bench
	counts  func(store string) []model.TierCount // of items; nil: not counted
	moved   bool                                 // the operator has chosen a row, or acted on one; else the worst store is selected
	reports map[string]backends.HealthReport
	past    map[string]*checks
	running map[string]bool // one outstanding check per store
	late    backends.Late
	// indexing are the stores whose index is being built.
	indexing map[string]bool
	ticking  bool
	looks    int
	present  presence
	looking  bool                       // asks for presence: on a hanging mount each question holds a thread of the system
	latest   atomic.Pointer[[]observed] // for the list, which is read in a command
	pulse    desk.Pulse                 // of the list
	log      anchored
	width    int
	height   int
}

// New returns the pane, and what names the failing stores.
func New(d *pane.Bench, at int, counts func(store string) []model.TierCount) (desk.Listing, func() []safetext.Text) {
	p := newWatch(d, at, counts)
	return p, p.down
}

func newWatch(d *pane.Bench, at int, counts func(store string) []model.TierCount) *watch {
	p := &watch{
		d: d, counts: counts,
		reports: map[string]backends.HealthReport{}, running: map[string]bool{}, late: backends.Late{}, indexing: map[string]bool{}, present: presence{}, past: map[string]*checks{},
	}
	p.latest.Store(&[]observed{})
	p.List = record.New(d.Desk, p.kind(at))
	follow := p.Moved
	p.Moved = func() tea.Cmd {
		p.moved, p.Pick = true, ""
		return follow()
	}
	return p
}

// Enter begins the checks with the first visit.
func (p *watch) Enter() tea.Cmd {
	shown := tea.Batch(p.observe(), p.List.Enter())
	if p.ticking {
		return shown
	}
	p.ticking = true
	return tea.Batch(p.round(), p.tick(), shown, p.askLog())
}

// askLog asks how much of the audit log is anchored.
func (p *watch) askLog() tea.Cmd {
	ask := p.d.Anchored
	if ask == nil {
		return nil
	}
	return p.Window.Ask(func(ctx context.Context) any {
		words, state := ask(ctx)
		return anchored{words, state}
	})
}

// footing is the line below the stores, about the audit log.
func (p *watch) footing() []string {
	if p.log.Words == "" {
		return nil
	}
	st, tone, kind := p.d.St, paint.ToneWarn, text.Warn
	switch p.log.state {
	case model.HealthOK:
		tone, kind = paint.ToneGood, text.Note
	case model.HealthDown:
		tone, kind = paint.ToneBad, text.Bad
	}
	words := st.Badge(tone, st.Esc.Sprintf("audit log: %s", st.Esc.LineMax(p.log.Words, prose.MaxReason)))
	if p.height < 16 { // the stores come first
		words = st.Esc.Trunc(words, p.width-2)
	}
	return text.Paragraph(st, text.Line{Value: words, Kind: kind}, p.width)
}

func (p *watch) tick() tea.Cmd {
	return p.d.Later(p.Kind.Pane)(lookEvery, healthTick{})
}

// look checks the stores that are due, and the presence of the others.
func (p *watch) look() tea.Cmd {
	p.looks++
	members := p.d.Fleet.Members()
	var cmds []tea.Cmd
	paths := map[string]string{}
	for _, m := range members {
		local := filepath.IsAbs(m.Location)
		switch {
		case p.looks%healthEvery == 0, !local && p.looks%remoteEvery == 0:
			cmds = append(cmds, p.check(m.Name))
		case local:
			paths[m.Name] = m.Location
		}
	}
	if p.looks%healthEvery == 0 {
		cmds = append(cmds, p.askLog())
	}
	if !p.looking {
		p.looking = true
		cmds = append(cmds, p.Window.Ask(func(context.Context) any { return seen(paths) }))
	}
	return tea.Batch(cmds...)
}

func seen(paths map[string]string) presence {
	out := presence{}
	for name, path := range paths {
		_, err := os.Stat(path)
		out[name] = err == nil
	}
	return out
}

// arrived checks the stores that went away or came back since the look before.
func (p *watch) arrived(now presence) tea.Cmd {
	p.looking = false
	var cmds []tea.Cmd
	for name, here := range now {
		if was, looked := p.present[name]; looked && was != here {
			cmds = append(cmds, p.check(name))
		}
		p.present[name] = here
	}
	return tea.Batch(cmds...)
}

// down names the failing stores, by the newest check or, before the first, by the opening; those in production first.
func (p *watch) down() []safetext.Text {
	var production, others []safetext.Text
	for _, m := range p.d.Fleet.Members() {
		rep, known := p.reports[m.Name]
		switch name := p.d.Esc.Line(m.Name); {
		case known && rep.Status.OK || !known && m.Err == nil:
		case desk.IsProduction(m.Environment):
			production = append(production, name)
		default:
			others = append(others, name)
		}
	}
	return append(production, others...)
}

func (p *watch) Badge() (safetext.Text, paint.Tone) {
	n := len(p.down())
	if p.log.state == model.HealthDown {
		n++
	}
	if n == 0 {
		return safetext.Text{}, paint.ToneInfo
	}
	return safetext.Sprintf("!%d", n), paint.ToneBad
}

// round checks every store that is not being checked, and opens again those that did not open.
func (p *watch) round() tea.Cmd {
	var cmds []tea.Cmd
	for _, m := range p.d.Fleet.Members() {
		cmds = append(cmds, p.check(m.Name))
	}
	return tea.Batch(cmds...)
}

func (p *watch) check(name string) tea.Cmd {
	if p.running[name] {
		return nil
	}
	p.running[name] = true
	fleet := p.d.Fleet
	return p.Window.Ask(func(ctx context.Context) any {
		fleet.Reopen(ctx, name)
		for r := range fleet.Health(ctx, name) {
			return Checked{r}
		}
		return Checked{backends.HealthReport{Store: name, Status: model.NewHealth(p.d.Time.Clock.Now(), model.HealthFinding{Kind: model.FindingTimeout, Message: "the check was stopped", State: model.HealthUnknown})}}
	})
}

func (p *watch) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case healthTick:
		return tea.Batch(p.look(), p.tick(), p.observe())
	case presence:
		return p.arrived(msg)
	case anchored:
		if msg == p.log {
			return nil
		}
		p.log = msg
		return p.Resize(p.width, p.height)
	case Checked:
		p.running[msg.report.Store] = false
		if p.late.Once(p.member(msg.report.Store), msg.report) {
			return p.check(msg.report.Store)
		}
		p.tell(msg.report)
		p.reports[msg.report.Store] = msg.report
		if p.past[msg.report.Store] == nil {
			p.past[msg.report.Store] = &checks{}
		}
		p.past[msg.report.Store].add(msg.report)
		return p.observe()
	case reindexed:
		delete(p.indexing, msg.store)
		if msg.err != nil {
			return p.d.Warn("%s: %s", msg.store, p.d.Esc.LineMax(msg.err.Error(), prose.MaxReason))
		}
		p.d.Tell("%s: %s in the new index", msg.store, prose.Plural(msg.items, "item"))
		return p.check(msg.store)
	}
	return p.List.Update(msg)
}

// tell says that a store went down or is back since the check before.
func (p *watch) tell(now backends.HealthReport) {
	was, known := p.reports[now.Store]
	esc := p.d.Esc
	switch {
	case !known || was.Status.OK == now.Status.OK:
	case now.Status.OK:
		p.d.Frame.News(paint.ToneInfo, esc.Sprintf("%s is up again", now.Store))
	default:
		p.d.Frame.News(paint.ToneBad, esc.Sprintf("%s is down: %s", now.Store, esc.LineMax(now.Status.Message, prose.MaxReason)))
	}
}

// shut says why the store at the cursor cannot be asked.
func (p *watch) shut() string {
	_, err := p.d.Fleet.Store(p.StoreHere())
	return act.When(err != nil, "the store is not open: r tries again")
}

// noIndex says why no index can be built of an open store here and now.
func (p *watch) noIndex() string {
	switch s, _ := p.d.Fleet.Store(p.StoreHere()); {
	case s.Reindexer == nil:
		return "this store keeps no index of its own"
	case p.indexing[s.Name]:
		return "its index is being built"
	default:
		return p.d.Locked(s.Name)
	}
}

// reindex asks whether to rebuild the index of the store at the cursor: programs that write there wait for it.
func (p *watch) reindex() tea.Cmd {
	p.moved = true
	store, esc := p.StoreHere(), p.d.Esc
	return p.d.Modal.Show(&dialog.Dialog{Title: esc.Const("Reindex"), NoReason: true, Lines: append([]text.Line{
		{Value: esc.Sprintf("Build the index of %s anew?", store), Kind: text.Title},
		{Value: esc.Const("No item changes. Until it is built, programs that write to this store wait or are refused; those that read go on.")},
	}, p.d.Environments(store)...), Choices: []dialog.Choice{{Verb: "Build", Run: func() tea.Cmd { return p.build(store) }}}})
}

// build rebuilds a store's index.
func (p *watch) build(store string) tea.Cmd {
	p.indexing[store] = true
	p.d.Tell("building the index of %s", store)
	return p.Window.Ask(func(ctx context.Context) any {
		n, err := p.d.Acts.Reindex(ctx, store, "")
		return reindexed{store, n, err}
	})
}

func (p *watch) Resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	return p.List.Resize(width, height-len(p.footing()))
}

func (p *watch) Render(width, height int) ([]string, *tea.Position) {
	below := p.footing()
	lines, cursor := p.List.Render(width, height-len(below))
	return append(lines, below...), cursor
}

// keys are the keys of this pane beside those of every list.
func (p *watch) keys(l *record.List[observed]) []act.Act {
	items := act.Items
	items.Keys = []string{"enter"}
	if l.Browser != nil && p.alone() != (desk.ScopeOf{Store: p.StoreHere()}) {
		items.Name = "list over cap"
	}
	return []act.Act{
		{Keys: []string{"r"}, Name: "ask again", Verb: "check", Args: "NUMBER", Doc: "check this store now; one that is not open is tried again", Why: l.None, Do: func() tea.Cmd {
			p.moved = true
			p.d.Frame.News(paint.ToneInfo, p.d.Esc.Sprintf("asking %s", p.StoreHere())) // the answer takes its place
			return p.check(p.StoreHere())
		}},
		items.Called("the items of this store, or of its one tier over the cap").With(act.Unless(l.None, p.shut, p.noItems), p.items),
		{Keys: []string{"I"}, Verb: "reindex", Args: "NUMBER", Doc: "build this store's search index anew; asks first, and no item changes", Why: act.Unless(l.None, p.shut, p.noIndex), Do: p.reindex},
	}
}

func (p *watch) noItems() string {
	s, _ := p.d.Fleet.Store(p.StoreHere())
	return act.When(s.Browser == nil, "this store cannot list its items: 3 Recall searches it")
}

func (p *watch) items() tea.Cmd {
	p.moved = true
	return p.d.Open(p.alone())
}

// alone is the one tier of the store at the cursor that is over its cap, and else the whole store. A word of the linear
// mode means what it says.
func (p *watch) alone() desk.ScopeOf {
	o := p.Here()
	if o.over != 1 || p.d.Spoken {
		return desk.ScopeOf{Store: p.StoreHere()}
	}
	return desk.ScopeOf{Store: o.name, Scope: o.full.Scope, Tier: o.full.Tier}
}

func (p *watch) Refresh() tea.Cmd { return tea.Batch(p.round(), p.observe()) }

func (p *watch) Position() (safetext.Text, bool) {
	at, _ := p.List.Position() // a refresh reads the memory alone
	return p.d.Aged(at, p.pulse), false
}

// Notices have a word about the audit log, which stands below the list on a screen.
func (p *watch) Notices() []safetext.Text {
	said := p.List.Notices()
	if p.log.Words != "" {
		said = append(said, p.d.Esc.Sprintf("Audit log: %s", p.d.Esc.LineMax(p.log.Words, prose.MaxReason)))
	}
	return said
}
