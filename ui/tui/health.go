package tui

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// A store is checked every healthEvery looks, so every five seconds, and every
// remoteEvery looks where nothing on this machine tells of it. In between, a look at
// whether its file or directory is there costs one system call: what went away or came
// back is checked at once, and is on the tab within three seconds.
const (
	lookEvery   = time.Second
	healthEvery = 5
	remoteEvery = 2
)

// checked is one observation of one store.
type checked struct{ report backends.HealthReport }

// reindexed is what became of building an index.
type reindexed struct {
	store string
	items int64
	err   error
}

// healthTick asks for the next look.
type healthTick struct{}

// presence tells which stores' files and directories are there.
type presence map[string]bool

// anchored is how far the audit log is kept outside.
type anchored struct {
	words string
	state model.HealthState
}

// health watches every store, open or not.
type health struct {
	d       *bench
	at      int                                  // its address
	counts  func(store string) []model.TierCount // of items; nil: nobody counts
	ask     func(func(context.Context) any) tea.Cmd
	table   table
	reports map[string]backends.HealthReport
	past    map[string]*checks
	running map[string]bool // one outstanding check per store
	// indexing are the stores whose index is being built.
	indexing map[string]bool
	ticking  bool
	looks    int
	present  presence
	detail   *text.Pager
	shown    string // what the detail was made from
	rest     rest
	log      anchored
	width    int
	height   int
}

func newHealth(d *bench, at int, counts func(store string) []model.TierCount) *health {
	p := &health{
		d: d, at: at, counts: counts, ask: d.asker(at),
		reports: map[string]backends.HealthReport{}, running: map[string]bool{}, indexing: map[string]bool{}, present: presence{}, past: map[string]*checks{},
	}
	p.detail = text.New(d.st, p.ask)
	p.rest = newRest(&d.loop, at)
	p.table.moved = p.rest.moved
	p.table.set(len(d.fleet.Members()))
	return p
}

func (p *health) enter() tea.Cmd {
	if p.ticking {
		return p.show()
	}
	p.ticking = true
	return tea.Batch(p.round(), p.tick(), p.show(), p.askLog())
}

// askLog looks how far the audit log is anchored.
func (p *health) askLog() tea.Cmd {
	ask := p.d.anchored
	if ask == nil {
		return nil
	}
	return p.ask(func(ctx context.Context) any {
		words, state := ask(ctx)
		return anchored{words, state}
	})
}

// footing is what stands below the stores: the audit log is none of them.
func (p *health) footing() []string {
	if p.log.words == "" {
		return nil
	}
	st, sign := p.d.st, ""
	paint := st.Dim
	switch p.log.state {
	case model.HealthOK:
	case model.HealthDown:
		sign, paint = "!! ", st.Bad
	default:
		sign, paint = "! ", st.Warn
	}
	words := st.Esc.Sprintf("%saudit log: %s", st.Esc.Const(sign), st.Esc.LineMax(p.log.words, prose.MaxReason))
	if p.height < 16 { // the stores come first
		return []string{st.Row(p.width).Blank(1).Cell(paint, words, p.width-2).End()}
	}
	return st.Paragraph(paint, words, p.width)
}

func (p *health) tick() tea.Cmd {
	return tea.Tick(lookEvery, func(time.Time) tea.Msg { return reply{p.at, healthTick{}} })
}

// look checks the stores whose turn it is, and looks whether the others are there.
func (p *health) look() tea.Cmd {
	p.looks++
	members := p.d.fleet.Members()
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
	return tea.Batch(append(cmds, p.ask(func(context.Context) any { return seen(paths) }))...)
}

// seen looks whether paths are there.
func seen(paths map[string]string) presence {
	out := presence{}
	for name, path := range paths {
		_, err := os.Stat(path)
		out[name] = err == nil
	}
	return out
}

// arrived checks the stores that went away or came back since the look before.
func (p *health) arrived(now presence) tea.Cmd {
	var cmds []tea.Cmd
	for name, here := range now {
		if was, looked := p.present[name]; looked && was != here {
			cmds = append(cmds, p.check(name))
		}
		p.present[name] = here
	}
	return tea.Batch(cmds...)
}

// down names the stores that do not answer, the newest check or, before the first, the opening says.
func (p *health) down() []safetext.Text {
	var names []safetext.Text
	for _, m := range p.d.fleet.Members() {
		if rep, known := p.reports[m.Name]; known && !rep.Status.OK || !known && m.Err != nil {
			names = append(names, p.d.st.Esc.Line(m.Name))
		}
	}
	return names
}

func (p *health) badge() (safetext.Text, paint.Tone) {
	n := len(p.down())
	if p.log.state == model.HealthDown {
		n++
	}
	if n == 0 {
		return safetext.Text{}, paint.ToneInfo
	}
	return safetext.Sprintf("!%d", n), paint.ToneBad
}

// round checks every store that is not being checked already. A store that did
// not open is tried again first, so one that comes back shows up.
func (p *health) round() tea.Cmd {
	var cmds []tea.Cmd
	for _, m := range p.d.fleet.Members() {
		cmds = append(cmds, p.check(m.Name))
	}
	return tea.Batch(cmds...)
}

func (p *health) check(name string) tea.Cmd {
	if p.running[name] {
		return nil
	}
	p.running[name] = true
	fleet := p.d.fleet
	return p.ask(func(ctx context.Context) any {
		fleet.Reopen(ctx, name)
		for r := range fleet.Health(ctx, name) {
			return checked{r}
		}
		return checked{backends.HealthReport{Store: name, Status: model.NewHealth(p.d.time.Clock.Now(), model.HealthFinding{Kind: model.FindingTimeout, Message: "the check was stopped", State: model.HealthUnknown})}}
	})
}

func (p *health) update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case healthTick:
		return tea.Batch(p.look(), p.tick())
	case presence:
		return p.arrived(msg)
	case anchored:
		if msg == p.log {
			return nil
		}
		p.log = msg
		return p.resize(p.width, p.height)
	case checked:
		p.running[msg.report.Store] = false
		p.reports[msg.report.Store] = msg.report
		if p.past[msg.report.Store] == nil {
			p.past[msg.report.Store] = &checks{}
		}
		p.past[msg.report.Store].add(msg.report)
		p.table.set(len(p.d.fleet.Members()))
		return p.show()
	case reindexed:
		delete(p.indexing, msg.store)
		if msg.err != nil {
			p.d.say(paint.ToneWarn, p.d.st.Esc.Sprintf("%s: %s", msg.store, p.d.st.Esc.LineMax(msg.err.Error(), prose.MaxReason)))
			return nil
		}
		p.d.say(paint.ToneInfo, p.d.st.Esc.Sprintf("%s: %s in the new index", msg.store, prose.Plural(msg.items, "item")))
		return p.check(msg.store)
	case restDue:
		if p.rest.over(msg) {
			return p.show()
		}
	case text.LaidOut:
		p.detail.Arrive(msg)
	}
	return nil
}

// noIndex says why no index can be built here and now.
func (p *health) noIndex() string {
	members := p.d.fleet.Members()
	switch {
	case p.table.sel >= len(members):
		return "no store is open"
	case members[p.table.sel].Err != nil:
		return "the store is not open: r tries again"
	case members[p.table.sel].Store.Reindexer == nil:
		return "this store keeps no index of its own"
	case p.indexing[members[p.table.sel].Name]:
		return "its index is being built"
	}
	return p.d.locked(members[p.table.sel].Name)
}

// reindex builds the index of the store at the cursor anew; the old one stands until
// then.
func (p *health) reindex() tea.Cmd {
	s := p.d.fleet.Members()[p.table.sel].Store
	p.indexing[s.Name] = true
	p.d.say(paint.ToneInfo, p.d.st.Esc.Sprintf("building the index of %s", s.Name))
	return p.ask(func(ctx context.Context) any {
		n, err := p.d.Acts.Reindex(ctx, s.Name, "")
		return reindexed{s.Name, n, err}
	})
}

// show lays out the detail of the store at the cursor, when it has changed.
func (p *health) show() tea.Cmd {
	members := p.d.fleet.Members()
	if p.table.sel >= len(members) {
		return nil
	}
	m := members[p.table.sel]
	head := p.describe(m)
	key := fingerprint(m.Name, head)
	if key == p.shown {
		return nil
	}
	same := strings.HasPrefix(p.shown, m.Name+"\x00")
	p.shown = key
	return p.detail.Update(text.NewPage(head, ""), same)
}

// fingerprint tells whether a page has changed.
func fingerprint(name string, head []text.Line) string {
	var b strings.Builder
	b.WriteString(name)
	for _, h := range head {
		b.WriteString("\x00")
		b.WriteString(h.Name.String())
		b.WriteString("\x00")
		b.WriteString(h.Value.String())
	}
	return b.String()
}

// describe is everything known about a store, in words.
func (p *health) describe(m backends.Member) []text.Line {
	esc := p.d.st.Esc
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	head := []text.Line{{Value: esc.Line(m.Name), Kind: text.Title}}
	r, known := p.reports[m.Name]
	switch {
	case !known:
		head = append(head, field("health", esc.Const("not checked yet")))
	case r.Status.OK && len(r.Status.Findings) == 0:
		head = append(head, field("health", esc.Const("OK, it answers")))
	case r.Status.OK:
		head = append(head, field("health", esc.Line(string(r.Status.State))))
	default:
		head = append(head, text.Line{Name: esc.Const("health"), Value: esc.Sprintf("!! %s", esc.LineMax(r.Status.Message, prose.MaxReason)), Kind: text.Warn})
	}
	for _, f := range r.Status.Findings {
		if !f.State.Serves() && f.Message == r.Status.Message {
			continue
		}
		head = append(head, text.Line{Name: esc.Line(f.Kind), Value: esc.Sprintf("%s (%s)", esc.LineMax(f.Message, prose.MaxReason), esc.Const(prose.Moment(f.CheckedAt))), Kind: text.Warn})
	}
	if past := p.past[m.Name]; past != nil {
		course := past.words
		if p.d.spoken {
			course = past.counted
		}
		head = append(head, field("checks", course(esc)))
		if !past.down.IsZero() {
			head = append(head, text.Line{Name: esc.Const("down since"), Value: esc.Sprintf("%s, %s", esc.Const(prose.Moment(past.down)), esc.Const(p.d.time.Age(past.down))), Kind: text.Warn})
		} else if !past.failed.IsZero() {
			head = append(head, field("last error", esc.Sprintf("%s, %s", esc.Const(prose.Moment(past.failed)), esc.LineMax(past.wrong, prose.MaxReason))))
		}
		last := esc.Const("not since this console was opened")
		if !past.lastOK.IsZero() {
			last = esc.Const(prose.Moment(past.lastOK))
		}
		head = append(head, field("last success", last))
	}
	if known && !r.Status.OK {
		head = append(head, text.Line{Name: esc.Const("what to do"), Value: esc.Const(advice(model.KindOf(m.Err)))})
	}
	head = append(head,
		field("kind", esc.Line(m.Kind)),
		field("location", esc.Line(m.Location)),
		field("environment", orElse(esc.Line(m.Environment), esc.Const("not named"))),
		field("source", orElse(esc.Line(m.Origin), esc.Const("not said"))),
	)
	if m.Err != nil {
		return append(head, text.Line{Kind: text.Blank},
			text.Line{Value: esc.Const("It could not be opened. It is tried again every 5 seconds, and when you press r."), Kind: text.Note})
	}
	return append(head, p.describeStore(m.Store)...)
}

func (p *health) describeStore(s model.Store) []text.Line {
	esc := p.d.st.Esc
	var head []text.Line
	access := esc.Const("can be changed")
	if s.ReadOnly {
		access = esc.Sprintf("read-only: %s", orElse(esc.Line(s.ReadOnlyReason), esc.Const("opened so")))
	}
	head = append(head, text.Line{Name: esc.Const("access"), Value: access})
	var can, cannot []string
	caps := s.Capabilities()
	for name, ok := range caps {
		if ok {
			can = append(can, name)
		}
	}
	for _, name := range coreFacets {
		if !caps[name] {
			cannot = append(cannot, name)
		}
	}
	slices.Sort(can)
	head = append(head,
		text.Line{Name: esc.Const("can"), Value: orElse(esc.Line(strings.Join(can, ", ")), esc.Const("nothing"))},
		text.Line{Name: esc.Const("cannot"), Value: orElse(esc.Line(strings.Join(cannot, ", ")), esc.Const("nothing is missing"))},
	)
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		head = append(head, text.Line{Name: esc.Line(name), Value: esc.Sprintf("%d", s.Limits[name])})
	}
	if p.counts != nil {
		head = append(head, fillLines(esc, s, p.counts(s.Name))...)
	}
	head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("deviations from the contract"), Kind: text.Title})
	for _, d := range s.Deviations {
		head = append(head, text.Line{Name: esc.Line(d.Rule), Value: esc.Line(d.Reason)})
	}
	if len(s.Deviations) == 0 {
		head = append(head, text.Line{Value: esc.Const("none declared"), Kind: text.Note})
	}
	if len(s.Notes) > 0 {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("notes"), Kind: text.Title})
		for _, n := range s.Notes {
			head = append(head, text.Line{Value: esc.Line(n)})
		}
	}
	return head
}

func orElse(t, other safetext.Text) safetext.Text {
	if t.IsEmpty() {
		return other
	}
	return t
}

func (p *health) resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	f := p.d.split(width, height-len(p.footing()))
	p.table.resize(f.listHeight-1, f.beside)
	return p.detail.Resize(f.detailWidth, f.detailHeight)
}

func (p *health) render(width, height int) ([]string, *tea.Position) {
	below := p.footing()
	f := p.d.split(width, height-len(below))
	st := p.d.st
	list := make([]string, 0, f.listHeight)
	h := st.Row(f.listWidth).Blank(1)
	h.Lit(st.Heading, pad("STORE", 16)).Lit(st.Heading, pad("HEALTH", 8)).Lit(st.Heading, "LATENCY  CHECKED  MESSAGE")
	list = append(list, h.End())
	members := p.d.fleet.Members()
	for i := p.table.top; i < min(len(members), p.table.top+p.table.height); i++ {
		list = append(list, p.row(members[i], i == p.table.sel, f.listWidth))
	}
	if len(members) == 0 {
		list = append(list, st.Paragraph(st.Dim, st.Esc.Const(noStores), f.listWidth)...)
	}
	return append(p.d.join(f, list, p.detail, safetext.Const(storeAside)), below...), nil
}

// noStores says what to do when there is nothing to look at.
const noStores = "No store is open. Leave with q and give --open KIND=LOCATION, or try memdesk demo."

// storeHere is the store at the cursor.
func (p *health) storeHere() string {
	if members := p.d.fleet.Members(); p.table.sel < len(members) {
		return members[p.table.sel].Name
	}
	return ""
}

func (p *health) row(m backends.Member, at bool, width int) string {
	st := p.d.st
	r := st.Highlighted(width, at, true)
	r.Cell(st.Plain, st.Esc.Line(m.Name), 15).Blank(1)
	rep, known := p.reports[m.Name]
	switch {
	case !known:
		r.Lit(st.Dim, pad("..", 8)).Number(st.Dim, safetext.Text{}, 7).Blank(2).Cell(st.Dim, safetext.Text{}, 9).Lit(st.Dim, "checking")
		return r.End()
	case rep.Status.State == model.HealthDegraded:
		r.Cell(st.Warn, st.Badge(paint.ToneWarn, st.Esc.Const("look")), 8)
	case rep.Status.OK:
		r.Cell(st.Good, st.Badge(paint.ToneGood, st.Esc.Const("OK")), 8)
	default:
		r.Cell(st.Bad, st.Badge(paint.ToneBad, st.Esc.Const("down")), 8)
	}
	r.Number(st.Dim, safetext.Const(strconv.FormatInt(rep.Latency.Milliseconds(), 10)+" ms"), 7).Blank(2)
	r.Cell(st.Dim, safetext.Const(p.d.time.Age(rep.Status.CheckedAt)), 9)
	switch {
	case len(rep.Status.Findings) > 0 && rep.Status.OK:
		r.Put(st.Warn, st.Esc.LineMax(rep.Status.Findings[0].Message, prose.MaxReason))
	case rep.Status.OK:
		r.Lit(st.Dim, "answers")
	default:
		r.Put(st.Warn, st.Esc.LineMax(rep.Status.Message, prose.MaxReason))
	}
	return r.End()
}

// pad fills the program's own words up to a column.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-len(s), 0))
}

func (p *health) bindings() []act.Act {
	again := func() tea.Cmd {
		members := p.d.fleet.Members()
		if p.table.sel < len(members) {
			p.d.say(paint.ToneInfo, p.d.st.Esc.Sprintf("asking %s", members[p.table.sel].Name))
			return p.check(members[p.table.sel].Name)
		}
		return nil
	}
	none := func() string {
		if p.table.n == 0 {
			return "no store is open"
		}
		return ""
	}
	return append(append([]act.Act{
		{Keys: []string{"r"}, Name: "ask again", Doc: "check this store now; one that is not open is tried again", Why: none, Do: again},
		{Keys: []string{"enter", "right", "l"}, Show: "enter", Name: "items", Doc: "the items of this store", Why: p.noItems, Do: p.items},
		{Keys: []string{"i"}, Doc: "build this store's search index anew; no item changes", Why: p.noIndex, Do: p.reindex},
		{Keys: []string{"x"}, Doc: "export how every store is to a file, CSV or JSON lines", Why: act.Unless(none, p.d.noTable), Do: p.export},
	}, act.Aside(p.detail, "detail")...), act.Movement(&p.table, "store")...)
}

// export writes what the last checks have found, a row for each store. What was not
// checked yet is unknown, not unwell.
func (p *health) export() tea.Cmd {
	members, reports := p.d.fleet.Members(), maps.Clone(p.reports)
	return p.d.exports.exportTable("health", func(_ context.Context, write func(datum) error) error {
		for _, m := range members {
			var r datum
			r.add("store", m.Name)
			r.add("kind", m.Kind)
			r.add("location", m.Location)
			var ok, took any
			h, known := reports[m.Name]
			if known {
				ok, took = h.Status.OK, h.Latency.Milliseconds()
			}
			r.add("ok", ok)
			r.add("state", string(h.Status.State))
			r.add("message", h.Status.Message)
			r.add("latency_ms", took)
			r.add("checked_at", stampOf(h.Status.CheckedAt))
			if err := write(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *health) noItems() string {
	members := p.d.fleet.Members()
	switch {
	case p.table.sel >= len(members):
		return "no store is open"
	case members[p.table.sel].Err != nil:
		return "the store is not open: r tries again"
	case members[p.table.sel].Store.Browser == nil:
		return "this store cannot list its items: 3 Recall searches it"
	}
	return ""
}

func (p *health) items() tea.Cmd {
	return p.d.open(visit{store: p.d.fleet.Members()[p.table.sel].Name})
}

func (p *health) position() (safetext.Text, bool) {
	ok := 0
	for _, m := range p.d.fleet.Members() {
		if p.reports[m.Name].Status.OK {
			ok++
		}
	}
	return safetext.Sprintf("%d of %d answer", ok, p.table.n), false
}

func (p *health) crumbs() []safetext.Text { return nil }
func (p *health) typing() *text.Input     { return nil }
func (p *health) typed() tea.Cmd          { return nil }
func (p *health) outermost() bool         { return true }
func (p *health) back() tea.Cmd           { return nil }
func (p *health) refresh() tea.Cmd        { return p.round() }
func (p *health) trouble() safetext.Text  { return safetext.Text{} }
func (p *health) unavailable() string     { return "" }

func (p *health) listed() (visible, bool) {
	w, h := p.d.frame.room()
	return p.table.listed(p.d.desk, w, h, 1, storeAside)
}
