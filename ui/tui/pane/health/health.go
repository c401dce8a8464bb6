package health

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
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

// Pane watches every store, open or not.
type Pane struct {
	desk.Fixed
	d       *pane.Bench
	at      int                                  // its address
	counts  func(store string) []model.TierCount // of items; nil: not counted
	ask     func(func(context.Context) any) tea.Cmd
	table   list.Table
	moved   bool // the operator has chosen a row, or acted on one; else the first is selected
	Reports map[string]backends.HealthReport
	past    map[string]*checks
	running map[string]bool // one outstanding check per store
	// indexing are the stores whose index is being built.
	indexing map[string]bool
	ticking  bool
	looks    int
	present  presence
	detail   *text.Pager
	shown    string // the state that the detail was made from
	rest     list.Rest
	Log      anchored
	width    int
	height   int
}

func New(d *pane.Bench, at int, counts func(store string) []model.TierCount) *Pane {
	p := &Pane{
		d: d, at: at, counts: counts, ask: d.Asker(at),
		Reports: map[string]backends.HealthReport{}, running: map[string]bool{}, indexing: map[string]bool{}, present: presence{}, past: map[string]*checks{},
	}
	p.detail = text.New(d.St, p.ask)
	p.rest = list.NewRest(&d.Loop, at)
	p.table.Moved = func() tea.Cmd {
		p.moved = true
		return p.rest.Moved()
	}
	p.table.Set(len(d.Fleet.Members()))
	return p
}

func (p *Pane) Enter() tea.Cmd {
	if p.ticking {
		return p.show()
	}
	p.ticking = true
	return tea.Batch(p.Round(), p.tick(), p.show(), p.AskLog())
}

// AskLog asks how much of the audit log is anchored.
func (p *Pane) AskLog() tea.Cmd {
	ask := p.d.Anchored
	if ask == nil {
		return nil
	}
	return p.ask(func(ctx context.Context) any {
		words, state := ask(ctx)
		return anchored{words, state}
	})
}

// footing is the line below the stores, about the audit log.
func (p *Pane) footing() []string {
	if p.Log.Words == "" {
		return nil
	}
	st, tone, kind := p.d.St, paint.ToneWarn, text.Warn
	switch p.Log.state {
	case model.HealthOK:
		tone, kind = paint.ToneGood, text.Note
	case model.HealthDown:
		tone, kind = paint.ToneBad, text.Bad
	}
	words := st.Badge(tone, st.Esc.Sprintf("audit log: %s", st.Esc.LineMax(p.Log.Words, prose.MaxReason)))
	if p.height < 16 { // the stores come first
		words = st.Esc.Trunc(words, p.width-2)
	}
	return text.Paragraph(st, text.Line{Value: words, Kind: kind}, p.width)
}

func (p *Pane) tick() tea.Cmd {
	return tea.Tick(lookEvery, func(time.Time) tea.Msg { return loop.Reply{Pane: p.at, Msg: healthTick{}} })
}

// look checks the stores that are due, and the presence of the others.
func (p *Pane) look() tea.Cmd {
	p.looks++
	members := p.d.Fleet.Members()
	var cmds []tea.Cmd
	paths := map[string]string{}
	for _, m := range members {
		local := filepath.IsAbs(m.Location)
		switch {
		case p.looks%healthEvery == 0, !local && p.looks%remoteEvery == 0:
			cmds = append(cmds, p.Check(m.Name))
		case local:
			paths[m.Name] = m.Location
		}
	}
	if p.looks%healthEvery == 0 {
		cmds = append(cmds, p.AskLog())
	}
	return tea.Batch(append(cmds, p.ask(func(context.Context) any { return seen(paths) }))...)
}

// seen checks which paths exist.
func seen(paths map[string]string) presence {
	out := presence{}
	for name, path := range paths {
		_, err := os.Stat(path)
		out[name] = err == nil
	}
	return out
}

// arrived checks the stores that went away or came back since the look before.
func (p *Pane) arrived(now presence) tea.Cmd {
	var cmds []tea.Cmd
	for name, here := range now {
		if was, looked := p.present[name]; looked && was != here {
			cmds = append(cmds, p.Check(name))
		}
		p.present[name] = here
	}
	return tea.Batch(cmds...)
}

// Down names the failing stores, by the newest check or, before the first, by the opening.
func (p *Pane) Down() []safetext.Text {
	var names []safetext.Text
	for _, m := range p.d.Fleet.Members() {
		if rep, known := p.Reports[m.Name]; known && !rep.Status.OK || !known && m.Err != nil {
			names = append(names, p.d.St.Esc.Line(m.Name))
		}
	}
	return names
}

func (p *Pane) Badge() (safetext.Text, paint.Tone) {
	n := len(p.Down())
	if p.Log.state == model.HealthDown {
		n++
	}
	if n == 0 {
		return safetext.Text{}, paint.ToneInfo
	}
	return safetext.Sprintf("!%d", n), paint.ToneBad
}

// Round checks every store that is not being checked already. It reopens a store that did not open
// first, so one that comes back shows up.
func (p *Pane) Round() tea.Cmd {
	var cmds []tea.Cmd
	for _, m := range p.d.Fleet.Members() {
		cmds = append(cmds, p.Check(m.Name))
	}
	return tea.Batch(cmds...)
}

func (p *Pane) Check(name string) tea.Cmd {
	if p.running[name] {
		return nil
	}
	p.running[name] = true
	fleet := p.d.Fleet
	return p.ask(func(ctx context.Context) any {
		fleet.Reopen(ctx, name)
		for r := range fleet.Health(ctx, name) {
			return Checked{r}
		}
		return Checked{backends.HealthReport{Store: name, Status: model.NewHealth(p.d.Time.Clock.Now(), model.HealthFinding{Kind: model.FindingTimeout, Message: "the check was stopped", State: model.HealthUnknown})}}
	})
}

func (p *Pane) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case healthTick:
		return tea.Batch(p.look(), p.tick())
	case presence:
		return p.arrived(msg)
	case anchored:
		if msg == p.Log {
			return nil
		}
		p.Log = msg
		return p.Resize(p.width, p.height)
	case Checked:
		at := p.StoreHere()
		p.running[msg.report.Store] = false
		p.tell(msg.report)
		p.Reports[msg.report.Store] = msg.report
		if p.past[msg.report.Store] == nil {
			p.past[msg.report.Store] = &checks{}
		}
		p.past[msg.report.Store].add(msg.report)
		p.table.Set(len(p.d.Fleet.Members()))
		if p.moved {
			p.choose(at)
		}
		return p.show()
	case reindexed:
		delete(p.indexing, msg.store)
		if msg.err != nil {
			p.d.Say(paint.ToneWarn, p.d.St.Esc.Sprintf("%s: %s", msg.store, p.d.St.Esc.LineMax(msg.err.Error(), prose.MaxReason)))
			return nil
		}
		p.d.Say(paint.ToneInfo, p.d.St.Esc.Sprintf("%s: %s in the new index", msg.store, prose.Plural(msg.items, "item")))
		return p.Check(msg.store)
	case list.RestDue:
		if p.rest.Over(msg) {
			return p.show()
		}
	case text.LaidOut:
		p.detail.Arrive(msg)
	}
	return nil
}

// tell says that a store went down or is back since the check before.
func (p *Pane) tell(now backends.HealthReport) {
	was, known := p.Reports[now.Store]
	esc := p.d.St.Esc
	switch {
	case !known || was.Status.OK == now.Status.OK:
	case now.Status.OK:
		p.d.Frame.News(paint.ToneInfo, esc.Sprintf("%s is up again", now.Store))
	default:
		p.d.Frame.News(paint.ToneBad, esc.Sprintf("%s is down: %s", now.Store, esc.LineMax(now.Status.Message, prose.MaxReason)))
	}
}

// members are the stores, the worst first; those that are equally well keep the order of the fleet.
func (p *Pane) members() []backends.Member {
	out := p.d.Fleet.Members()
	slices.SortStableFunc(out, func(a, b backends.Member) int { return p.tone(a).Urgency() - p.tone(b).Urgency() })
	return out
}

// tone is how a store was at its last check; an unchecked store is not worse than a good one.
func (p *Pane) tone(m backends.Member) paint.Tone {
	rep, known := p.Reports[m.Name]
	switch {
	case rep.Status.State == model.HealthDegraded:
		return paint.ToneWarn
	case !known || rep.Status.OK:
		return paint.ToneGood
	}
	return paint.ToneBad
}

// choose selects a store.
func (p *Pane) choose(store string) {
	if i := slices.IndexFunc(p.members(), func(m backends.Member) bool { return m.Name == store }); i >= 0 {
		p.table.Sel, p.moved = i, true
		p.table.Clamp(1)
	}
}

// here is the store at the cursor; its name is empty where there is none.
func (p *Pane) here() backends.Member {
	if members := p.members(); p.table.Sel < len(members) {
		return members[p.table.Sel]
	}
	return backends.Member{}
}

// shut says why the store at the cursor cannot be asked.
func (p *Pane) shut() string {
	switch m := p.here(); {
	case m.Name == "":
		return "no store is open"
	case m.Err != nil:
		return "the store is not open: r tries again"
	}
	return ""
}

// noIndex says why no index can be built of an open store here and now.
func (p *Pane) noIndex() string {
	switch m := p.here(); {
	case m.Store.Reindexer == nil:
		return "this store keeps no index of its own"
	case p.indexing[m.Name]:
		return "its index is being built"
	default:
		return p.d.Locked(m.Name)
	}
}

// reindex rebuilds the index of the store at the cursor; the old one stays in use until then.
func (p *Pane) reindex() tea.Cmd {
	p.moved = true
	s := p.here().Store
	p.indexing[s.Name] = true
	p.d.Say(paint.ToneInfo, p.d.St.Esc.Sprintf("building the index of %s", s.Name))
	return p.ask(func(ctx context.Context) any {
		n, err := p.d.Acts.Reindex(ctx, s.Name, "")
		return reindexed{s.Name, n, err}
	})
}

// show lays out the detail of the store at the cursor, when it has changed.
func (p *Pane) show() tea.Cmd {
	m := p.here()
	if m.Name == "" {
		return nil
	}
	head := p.Describe(m)
	key := desk.Fingerprint(m.Name, head)
	if key == p.shown {
		return nil
	}
	same := strings.HasPrefix(p.shown, m.Name+"\x00")
	p.shown = key
	return p.detail.Update(text.NewPage(head, ""), same)
}

// Describe is everything known about a store, in words.
func (p *Pane) Describe(m backends.Member) []text.Line {
	esc := p.d.St.Esc
	head := []text.Line{{Value: esc.Line(m.Name), Kind: text.Title}}
	r, known := p.Reports[m.Name]
	switch {
	case !known:
		head = append(head, desk.Field("health", esc.Const("not checked yet")))
	case r.Status.OK && len(r.Status.Findings) == 0:
		head = append(head, text.State(p.d.St, paint.ToneGood, esc.Const("OK, it answers")).Named(esc.Const("health")))
	case r.Status.OK:
		head = append(head, text.State(p.d.St, paint.ToneWarn, esc.Line(string(r.Status.State))).Named(esc.Const("health")))
	default:
		head = append(head, text.State(p.d.St, paint.ToneBad, esc.LineMax(r.Status.Message, prose.MaxReason)).Named(esc.Const("health")).As(text.Bad))
	}
	for _, f := range r.Status.Findings {
		if !f.State.Serves() && f.Message == r.Status.Message {
			continue
		}
		head = append(head, text.Line{Name: esc.Line(f.Kind), Value: esc.Sprintf("%s (%s)", esc.LineMax(f.Message, prose.MaxReason), esc.Const(prose.Moment(f.CheckedAt))), Kind: text.Warn})
	}
	if past := p.past[m.Name]; past != nil {
		course := past.words
		if p.d.Spoken {
			course = past.counted
		}
		head = append(head, desk.Field("checks", course(esc)))
		if !past.down.IsZero() {
			head = append(head, text.Line{Name: esc.Const("down since"), Value: esc.Sprintf("%s, %s", esc.Const(prose.Moment(past.down)), esc.Const(p.d.Time.Age(past.down))), Kind: text.Bad})
		} else if !past.failed.IsZero() {
			head = append(head, desk.Field("last error", esc.Sprintf("%s, %s", esc.Const(prose.Moment(past.failed)), esc.LineMax(past.wrong, prose.MaxReason))))
		}
		last := esc.Const("not since this console was opened")
		if !past.lastOK.IsZero() {
			last = esc.Const(prose.Moment(past.lastOK))
		}
		head = append(head, desk.Field("last success", last))
	}
	if known && !r.Status.OK {
		head = append(head, text.Advice(esc, advice(model.KindOf(m.Err))).Named(esc.Const("what to do")).As(text.Field))
	}
	head = append(head,
		desk.Field("kind", esc.Line(m.Kind)),
		desk.Field("location", esc.Line(m.Location)),
		desk.Field("environment", desk.OrElse(esc.Line(m.Environment), esc.Const("not named"))),
		desk.Field("source", desk.OrElse(esc.Line(m.Origin), esc.Const("not said"))),
	)
	if m.Err != nil {
		return append(head, text.Line{Kind: text.Blank},
			text.Advice(esc, "It could not be opened. It is tried again every 5 seconds, and when you press `r`."))
	}
	return append(head, p.describeStore(m.Store)...)
}

func (p *Pane) describeStore(s model.Store) []text.Line {
	esc := p.d.St.Esc
	var head []text.Line
	access := esc.Const("read and write")
	if s.ReadOnly {
		access = esc.Sprintf("read-only: %s", desk.OrElse(esc.Line(s.ReadOnlyReason), esc.Const("opened so")))
	}
	head = append(head, desk.Field("access", access))
	if h := p.holds(s); h.hidden > 0 {
		head = append(head, desk.Field("items", esc.Sprintf("%s, and %s in hidden tiers", prose.Plural(h.shown, "item"), prose.Group(h.hidden))))
	}
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
		desk.Field("can", desk.OrElse(esc.Line(strings.Join(can, ", ")), esc.Const("nothing"))),
		desk.Field("cannot", desk.OrElse(esc.Line(strings.Join(cannot, ", ")), esc.Const("nothing is missing"))),
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

func (p *Pane) Resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	f := p.d.Split(width, height-len(p.footing()))
	p.table.Resize(f.ListHeight-1, f.Beside)
	return p.detail.Resize(f.DetailWidth, f.DetailHeight)
}

func (p *Pane) Render(width, height int) ([]string, *tea.Position) {
	below := p.footing()
	f := p.d.Split(width, height-len(below))
	st := p.d.St
	rows := make([]string, 0, f.ListHeight)
	h := st.Row(f.ListWidth).Blank(1)
	members := p.members()
	var fit list.Fit
	fit.See(0, len("STORE"))
	fit.See(1, len("KIND"))
	for _, m := range members {
		fit.See(0, st.Esc.Line(m.Name).Width())
		fit.See(1, st.Esc.Line(m.Kind).Width())
	}
	name, kind := fit.Width(0, 16), fit.Width(1, 12)
	h.Lit(st.Heading, pad("STORE", name)).Lit(st.Heading, pad("HEALTH", 8)).Lit(st.Heading, "LATENCY  CHECKED  ").Lit(st.Heading, pad("KIND", kind)).Lit(st.Heading, "MESSAGE")
	rows = append(rows, h.End())
	for i := p.table.Top; i < min(len(members), p.table.Top+p.table.Height); i++ {
		rows = append(rows, p.row(members[i], i == p.table.Sel, f.ListWidth, name, kind))
	}
	if len(members) == 0 {
		rows = append(rows, text.Paragraph(st, text.Line{Value: st.Esc.Const(desk.NoStores), Kind: text.Note}, f.ListWidth)...)
	}
	return append(p.d.Join(f, rows, p.detail, safetext.Const(desk.StoreAside)), below...), nil
}

// StoreHere is the store at the cursor.
func (p *Pane) StoreHere() string { return p.here().Name }

func (p *Pane) row(m backends.Member, at bool, width, nameWidth, kindWidth int) string {
	st := p.d.St
	r := st.Highlighted(width, at, true)
	r.Cell(st.Plain, st.Esc.Line(m.Name), nameWidth-1).Blank(1)
	kind := st.Esc.Line(m.Kind)
	rep, known := p.Reports[m.Name]
	switch {
	case !known:
		return r.Lit(st.Dim, pad("..", 8)).Blank(7+2+9).Cell(st.Dim, kind, kindWidth-1).Blank(1).Lit(st.Dim, "checking").End()
	case p.tone(m) == paint.ToneWarn:
		r.Cell(st.Warn, st.Badge(paint.ToneWarn, st.Esc.Const("look")), 8)
	case rep.Status.OK:
		r.Cell(st.Good, st.Badge(paint.ToneGood, st.Esc.Const("OK")), 8)
	default:
		r.Cell(st.Bad, st.Badge(paint.ToneBad, st.Esc.Const("down")), 8)
	}
	r.Number(st.Dim, safetext.Const(prose.Latency(rep.Latency)), 7).Blank(2)
	r.Cell(st.Dim, safetext.Const(p.d.Time.Age(rep.Status.CheckedAt)), 9).Cell(st.Dim, kind, kindWidth-1).Blank(1)
	switch {
	case len(rep.Status.Findings) > 0 && rep.Status.OK:
		r.Put(st.Warn, st.Esc.LineMax(rep.Status.Findings[0].Message, prose.MaxReason))
	case rep.Status.OK:
		if h := p.holds(m.Store); h.known {
			r.Lit(st.Dim, prose.Plural(h.shown, "item"))
			if h.over > 0 {
				r.Lit(st.Dim, ", ").Lit(st.Warn, prose.Group(h.over)+" over")
			}
		}
	default:
		r.Put(st.Warn, st.Esc.LineMax(rep.Status.Message, prose.MaxReason))
	}
	return r.End()
}

// holding is what a store holds, as far as it was counted.
type holding struct {
	shown, hidden int64 // items in the tiers that lists show, and in hidden ones
	over          int64 // shown tiers over their cap
	known         bool  // they were counted
}

func (p *Pane) holds(s model.Store) (h holding) {
	if p.counts == nil {
		return h
	}
	for _, t := range p.counts(s.Name) {
		h.known = true
		spec, _ := s.Tier(t.Tier)
		if spec.Hidden {
			h.hidden += t.Items
			continue
		}
		h.shown += t.Items
		if pane.CapKnown(spec, t) && t.Bytes > spec.Cap {
			h.over++
		}
	}
	return h
}

// pad fills the program's own words up to a column.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-len(s), 0))
}

func (p *Pane) Bindings() []act.Act {
	again := func() tea.Cmd {
		p.moved = true
		p.d.Frame.News(paint.ToneInfo, p.d.Esc.Sprintf("asking %s", p.StoreHere())) // the answer takes its place
		return p.Check(p.StoreHere())
	}
	none := func() string {
		if p.table.N == 0 {
			return "no store is open"
		}
		return ""
	}
	return append(append([]act.Act{
		{Keys: []string{"r"}, Name: "ask again", Verb: "check", Args: "NUMBER", Doc: "check this store now; one that is not open is tried again", Why: none, Do: again},
		act.Items.Called("the items of this store").With(act.Unless(p.shut, p.noItems), p.items),
		{Keys: []string{"I"}, Verb: "reindex", Args: "NUMBER", Doc: "build this store's search index anew; no item changes", Why: act.Unless(p.shut, p.noIndex), Do: p.reindex},
		{Keys: []string{"x"}, Verb: act.Export.Verb, Doc: "export how every store is to a file, CSV or JSON lines", Why: act.Unless(none, p.d.NoTable), Do: p.export},
	}, act.Aside(p.detail, "detail")...), act.Movement(&p.table, "store")...)
}

// export writes the results of the last checks, a row for each store. An unchecked store is
// unknown, not failed.
func (p *Pane) export() tea.Cmd {
	members, reports := p.d.Fleet.Members(), maps.Clone(p.Reports)
	return p.d.Exports.ExportTable("health", func(_ context.Context, write func(desk.Datum) error) error {
		for _, m := range members {
			var r desk.Datum
			r.Add("store", m.Name)
			r.Add("kind", m.Kind)
			r.Add("location", m.Location)
			var ok, took any
			h, known := reports[m.Name]
			if known {
				ok, took = h.Status.OK, h.Latency.Milliseconds()
			}
			r.Add("ok", ok)
			r.Add("state", string(h.Status.State))
			r.Add("message", h.Status.Message)
			r.Add("latency_ms", took)
			r.Add("checked_at", desk.StampOf(h.Status.CheckedAt))
			if err := write(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *Pane) noItems() string {
	if p.here().Store.Browser == nil {
		return "this store cannot list its items: 3 Recall searches it"
	}
	return ""
}

func (p *Pane) items() tea.Cmd {
	p.moved = true
	return p.d.Open(desk.ScopeOf{Store: p.StoreHere()})
}

func (p *Pane) Position() (safetext.Text, bool) {
	ok := 0
	for _, m := range p.d.Fleet.Members() {
		if p.Reports[m.Name].Status.OK {
			ok++
		}
	}
	return safetext.Sprintf("%d of %d answer", ok, p.table.N), false
}

func (p *Pane) Crumbs() []safetext.Text { return nil }
func (p *Pane) Typing() *text.Input     { return nil }
func (p *Pane) Typed() tea.Cmd          { return nil }
func (p *Pane) Outermost() bool         { return true }
func (p *Pane) Back() tea.Cmd           { return nil }
func (p *Pane) Refresh() tea.Cmd        { return p.Round() }
func (p *Pane) Trouble() safetext.Text  { return safetext.Text{} }
func (p *Pane) Unavailable() string     { return "" }

func (p *Pane) Listed() (desk.Visible, bool) {
	w, h := p.d.Frame.Room()
	return desk.TableListed(&p.table, p.d.Desk, w, h, 1, desk.StoreAside)
}
