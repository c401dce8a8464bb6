package tiers

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// tierRow is one row of the overview, ready to be drawn.
type tierRow struct {
	at     desk.ScopeOf
	depth  int // 0 store, 1 scope or tier, 2 tier below a scope
	name   safetext.Text
	note   safetext.Text // in words, after the numbers
	items  int64
	bytes  int64
	spec   model.TierSpec
	isTier bool
	failed bool
	over   int    // one-item tiers over their cap, here or below
	guide  string // lines to the rows above
	branch bool   // it has rows below it
}

// tallied is one store's counts, or why there are none.
type tallied struct {
	store  string
	Counts []model.TierCount
	err    error
}

// overview is the first level of the Tiers pane: every store with its scopes and tiers.
type overview struct {
	list.Inputs
	d       *desk.Desk
	ask     func(func(context.Context) any) tea.Cmd
	Tallies map[string]tallied
	running map[string]bool
	quiet   map[string]bool // automatic counts: the screen does not show that it counts
	pulses  map[string]*desk.Pulse
	rows    []tierRow
	folded  map[desk.ScopeOf]bool // the stores and scopes that are folded
	items   int                   // the width of the column of counts
	table   list.Table
	hidden  bool         // tiers hidden from lists are shown too
	order   int          // of treeOrders
	wanted  desk.ScopeOf // the cursor goes there as soon as such a row exists
	last    desk.ScopeOf // the row of the cursor before
	before  *treePlace   // its place before the filter; nil once the operator has moved
	detail  *text.Pager
	shown   struct { // in the detail
		at   desk.ScopeOf
		head []text.Line
	}
	rest list.Rest
}

func newOverview(d *desk.Desk, pane int) *overview {
	o := &overview{d: d, ask: d.Asker(pane), Tallies: map[string]tallied{}, running: map[string]bool{}, quiet: map[string]bool{}, pulses: map[string]*desk.Pulse{}, folded: map[desk.ScopeOf]bool{}}
	o.detail = text.New(d.St, o.ask)
	o.rest = list.NewRest(&d.Loop, pane)
	o.table.Moved = func() tea.Cmd {
		o.wanted, o.before = desk.ScopeOf{}, nil
		return o.rest.Moved()
	}
	o.build()
	return o
}

// counted is the tree's count at a place; ok: it is known.
func (o *overview) counted(at desk.ScopeOf) (n int64, ok bool) {
	t, known := o.Tallies[at.Store]
	s, err := o.d.Fleet.Store(at.Store)
	if !known || t.err != nil || err != nil {
		return 0, false
	}
	for _, c := range t.Counts {
		spec, _ := s.Tier(c.Tier)
		switch {
		case at.Scope != "" && c.Scope != at.Scope, at.Tier != "" && c.Tier != at.Tier, at.Tier == "" && spec.Hidden:
		default:
			n += c.Items
		}
	}
	return n, true
}

// Refresh counts all stores again, each by itself; old counts stay until then.
func (o *overview) Refresh() tea.Cmd {
	clear(o.quiet) // somebody asks
	var cmds []tea.Cmd
	for _, m := range o.d.Fleet.Members() {
		cmds = append(cmds, o.count(m))
	}
	return tea.Batch(cmds...)
}

func (o *overview) countStore(name string) tea.Cmd {
	for _, m := range o.d.Fleet.Members() {
		if m.Name == name {
			return o.count(m)
		}
	}
	return nil
}

func (o *overview) count(m backends.Member) tea.Cmd {
	if o.running[m.Name] {
		return nil
	}
	o.running[m.Name] = true
	if u := o.pulse(m.Name); u.Asked.IsZero() {
		u.Asked = o.d.Time.Clock.Now()
	}
	return o.ask(func(ctx context.Context) any {
		out := tallied{store: m.Name, err: m.Err}
		switch {
		case m.Err != nil:
		case m.Store.Browser == nil:
			out.err = model.Errorf(model.Unsupported, "tiers", "this store cannot list its items; 3 Recall searches it")
		default:
			out.Counts, out.err = m.Store.Browser.Tiers(ctx)
		}
		return out
	})
}

func (o *overview) tallied(m tallied) tea.Cmd {
	unasked := o.quiet[m.store]
	o.running[m.store], o.quiet[m.store] = false, false
	now := o.d.Time.Clock.Now()
	if unasked && o.d.Glances.Frozen { // frozen since it was counted
		o.pulse(m.store).Failed(now)
		return nil
	}
	if m.err == nil {
		o.pulse(m.store).Read(now)
	} else {
		o.pulse(m.store).Failed(now)
	}
	if old, ok := o.Tallies[m.store]; ok && m.err != nil && old.Counts != nil {
		m.Counts = old.Counts // old counts stay, with the reason
	}
	o.Tallies[m.store] = m
	o.build()
	return o.show()
}

// pulse is the age of a store's counts.
func (o *overview) pulse(store string) *desk.Pulse {
	if o.pulses[store] == nil {
		o.pulses[store] = &desk.Pulse{}
	}
	return o.pulses[store]
}

// oldest is the pulse of the oldest counts shown.
func (o *overview) oldest() (u desk.Pulse) {
	first := true
	for store, t := range o.Tallies {
		if p := o.pulse(store); t.err == nil && (first || p.Older(&u)) {
			u, first = *p, false
		}
	}
	return u
}

// build makes the rows anew and keeps the selection on its row.
func (o *overview) build() {
	old, sel := o.rows, o.table.Sel
	if r, ok := o.current(); ok {
		o.last = r.at
	}
	at := o.last
	o.rows = o.rows[:0:0]
	for _, m := range o.d.Fleet.Members() {
		o.rows = append(o.rows, o.storeRows(m)...)
	}
	o.rows = o.drawn(o.filtered(o.ordered(o.rows, 0)))
	row := func(at desk.ScopeOf) int { return slices.IndexFunc(o.rows, func(r tierRow) bool { return r.at == at }) }
	i := row(at)
	for n := 1; i < 0 && n < len(old); n++ { // the nearest that is still there
		if sel-n >= 0 && sel-n < len(old) {
			i = row(old[sel-n].at)
		}
		if i < 0 && sel+n < len(old) {
			i = row(old[sel+n].at)
		}
	}
	if i >= 0 {
		o.table.Top += i - o.table.Sel // rows inserted above move nothing on the screen
		o.table.Sel = i
	}
	o.table.Set(len(o.rows))
	o.reach()
}

// goTo puts the cursor on the row of a place: a return from a list ends at that list's row.
func (o *overview) goTo(at desk.ScopeOf) tea.Cmd {
	o.wanted, o.before = at, nil
	delete(o.folded, desk.ScopeOf{Store: at.Store})
	delete(o.folded, desk.ScopeOf{Store: at.Store, Scope: at.Scope})
	o.build()
	return o.show()
}

// reach moves as near to the wanted row as the counts allow; reaching it, or a movement, ends that.
func (o *overview) reach() {
	if o.wanted.Store == "" {
		return
	}
	near := func(r tierRow) int {
		switch at, w := r.at, o.wanted; {
		case at == w:
			return 4
		case at.Store != w.Store:
			return 0
		case at.Tier == w.Tier && (at.Scope == w.Scope || w.Scope == ""):
			return 3
		case at.Scope == w.Scope && at.Tier == "":
			return 2
		case at.Scope == "" && at.Tier == "":
			return 1
		}
		return 0
	}
	best, most := -1, 0
	for i, r := range o.rows {
		if n := near(r); n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		return
	}
	o.table.Top += best - o.table.Sel
	o.table.Sel = best
	o.table.Clamp(1)
	if most == 4 {
		o.wanted = desk.ScopeOf{}
	}
}

func (o *overview) storeRows(m backends.Member) []tierRow {
	esc := o.d.Esc
	top := tierRow{at: desk.ScopeOf{Store: m.Name}, name: esc.Line(m.Name)}
	t, known := o.Tallies[m.Name]
	switch {
	case m.Err != nil:
		top.failed = true
		top.note = esc.Sprintf("not open: %s", prose.Reason(esc, m.Err))
		return []tierRow{top}
	case !known:
		top.note = esc.Const("counting")
		return []tierRow{top}
	case t.err != nil && t.Counts == nil:
		top.failed = true
		top.note = prose.Reason(esc, t.err)
		return []tierRow{top}
	case t.err != nil:
		top.failed = true
		top.note = esc.Sprintf("old counts: %s", prose.Reason(esc, t.err))
	default:
		top.note = esc.Line(m.Kind)
	}
	below := o.tierRows(m.Store, t.Counts)
	for _, r := range below {
		if r.isTier {
			top.items += r.items
			top.bytes += r.bytes
			top.over += r.over
		}
	}
	return append([]tierRow{top}, below...)
}

// tierRows are the counts by scope and the store's order of tiers; an only scope has no row.
func (o *overview) tierRows(s model.Store, counts []model.TierCount) []tierRow {
	esc := o.d.Esc
	order := map[string]int{}
	for i, t := range s.Tiers {
		order[t.Name] = i
	}
	counts = slices.Clone(counts)
	slices.SortStableFunc(counts, func(a, b model.TierCount) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(order[a.Tier], order[b.Tier]), cmp.Compare(a.Tier, b.Tier))
	})
	scopes := map[string]bool{}
	for _, c := range counts {
		scopes[c.Scope] = true
	}
	var out []tierRow
	group := -1 // the scope row that the tiers belong to
	for _, c := range counts {
		spec, _ := s.Tier(c.Tier)
		if spec.Hidden && !o.hidden {
			continue
		}
		depth := 1
		if len(scopes) > 1 {
			depth = 2
			if group < 0 || out[group].at.Scope != c.Scope {
				group = len(out)
				out = append(out, tierRow{
					at: desk.ScopeOf{Store: s.Name, Scope: c.Scope}, depth: 1,
					name: desk.OrElse(esc.Line(c.Scope), esc.Const("(no scope)")), note: esc.Line(c.ScopeTitle),
				})
			}
			out[group].items += c.Items
			out[group].bytes += c.Bytes
		}
		note := esc.Line(spec.Title)
		if spec.Hidden {
			note = esc.Sprintf("hidden: %s", note)
		}
		over := 0
		if pane.CapKnown(spec, c) && c.Bytes > spec.Cap {
			over = 1
		}
		if depth == 2 {
			out[group].over += over
		}
		out = append(out, tierRow{
			over: over, at: desk.ScopeOf{Store: s.Name, Scope: c.Scope, Tier: c.Tier}, depth: depth, name: esc.Line(c.Tier), note: note,
			items: c.Items, bytes: c.Bytes, spec: spec, isTier: true,
		})
	}
	return out
}

func (o *overview) current() (tierRow, bool) {
	if o.table.Sel < len(o.rows) {
		return o.rows[o.table.Sel], true
	}
	return tierRow{}, false
}

// show lays out the facts about the row at the cursor.
func (o *overview) show() tea.Cmd {
	r, ok := o.current()
	if !ok {
		o.shown.head = nil
		o.detail.Clear()
		return nil
	}
	head := o.describe(r)
	if r.at == o.shown.at && reflect.DeepEqual(head, o.shown.head) {
		return nil
	}
	o.shown.at, o.shown.head = r.at, head
	return o.detail.Show(text.NewPage(head, ""), 0, nil)
}

func (o *overview) describe(r tierRow) []text.Line {
	esc := o.d.Esc
	head := []text.Line{{Value: r.name, Kind: text.Title}}
	if r.failed {
		head = append(head, text.Line{Value: r.note, Kind: text.Alert}, text.Advice(esc, "`1` Health tries it again; `ctrl+r` counts again."))
	}
	s, err := o.d.Fleet.Store(r.at.Store)
	if err != nil {
		return head
	}
	holds := prose.Plural(r.items, "item") + ", " + prose.Size(r.bytes)
	if t, known := o.Tallies[r.at.Store]; !known {
		holds = "not counted yet"
	} else if t.err != nil && t.Counts == nil {
		holds = "not counted"
	}
	head = append(head, desk.Field("items", esc.Const(holds)))
	switch {
	case r.isTier:
		head = append(head, tierLines(esc, r.spec)...)
	case r.depth == 1:
		head = append(head, desk.Field("scope", r.name), desk.Field("belongs to", desk.OrElse(r.note, esc.Const("not named by the store"))))
	default:
		head = append(head, desk.Field("kind", esc.Line(s.Kind)), desk.Field("location", esc.Line(s.Location)))
		if n := hiddenTiers(s); n > 0 && !o.hidden {
			head = append(head, text.Advice(esc, "%s; `a` shows them", prose.Plural(n, "tier")).Named(esc.Const("hidden")).As(text.Field))
		}
		for _, note := range s.Notes {
			head = append(head, desk.Field("note", esc.Line(note)))
		}
	}
	if !r.isTier {
		head = append(head, o.tierSums(s, r)...)
	}
	return append(head, text.Line{Kind: text.Blank}, text.Advice(esc, "`enter` lists the items."))
}

// tierSums are the tiers of a store, summed over its scopes, or those of one scope.
func (o *overview) tierSums(s model.Store, of tierRow) []text.Line {
	esc := o.d.Esc
	var order []string
	sums := map[string]tierRow{}
	for _, r := range o.tierRows(s, o.Tallies[s.Name].Counts) {
		if !r.isTier || of.depth == 1 && r.at.Scope != of.at.Scope {
			continue
		}
		sum, known := sums[r.at.Tier]
		if !known {
			order = append(order, r.at.Tier)
		}
		sum.items, sum.bytes, sum.over = sum.items+r.items, sum.bytes+r.bytes, sum.over+r.over
		sums[r.at.Tier] = sum
	}
	var out []text.Line
	for _, tier := range order {
		sum := sums[tier]
		l := text.Line{Name: esc.LineMax(tier, prose.MaxTitle), Value: esc.Const(prose.Plural(sum.items, "item") + ", " + prose.Size(sum.bytes))}
		if sum.over > 0 {
			l.Value, l.Kind = esc.Sprintf("%s, %d over the cap", l.Value, sum.over), text.Warn
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil
	}
	return append([]text.Line{{Kind: text.Blank}, {Value: esc.Const("tiers"), Kind: text.Title}}, out...)
}

func hiddenTiers(s model.Store) int {
	n := 0
	for _, t := range s.Tiers {
		if t.Hidden {
			n++
		}
	}
	return n
}

// tierLines says in words what a store declares about a tier.
func tierLines(esc safetext.Escaper, t model.TierSpec) []text.Line {
	key := "one item per key"
	switch t.KeyRule {
	case model.KeyIgnored:
		key = "one item per scope, without a key"
	case model.KeyOptional:
		key = "one item per key; the store makes one when none is given"
	}
	keyText := esc.Const(key)
	if t.KeyHint != "" {
		keyText = esc.Sprintf("%s: %s", key, esc.Line(t.KeyHint))
	}
	writable := "yes"
	if !t.Writable {
		writable = "no: only its own writer fills it"
	}
	document := "text as stored"
	if t.Document == model.Structured {
		document = "metadata fields and a body"
	}
	return []text.Line{
		desk.Field("holds", desk.OrElse(esc.Line(t.Title), esc.Const("not described by the store"))),
		desk.Field("keys", keyText), desk.Field("cap", esc.Const(prose.Capacity(t)+" per item")),
		desk.Field("writable", esc.Const(writable)), desk.Field("documents", esc.Const(document)),
	}
}

func (o *overview) resize(width, height int) tea.Cmd {
	f := o.d.Split(width, height, 0)
	o.table.Resize(f.ListHeight-1, f.Beside)
	return o.detail.Resize(f.DetailWidth, f.DetailHeight)
}

// sizes is the width of the size column, leastNote that of a readable note.
const sizes, leastNote = 9, 14

// capWidth is the width of the caps: a gauge of a one-item tier (no bar in a narrow list), else each item's cap.
func capWidth(width int) int {
	if width < gaugeFrom {
		return 9
	}
	return paint.GaugeWidth + 2
}

// gaugeFrom is the width of a list from which gauges have a bar.
const gaugeFrom = 60

// nameColumn is the width of the names, and whether notes follow: names take the room of unreadable notes.
func (o *overview) nameColumn(width int) (name int, noted bool) {
	name = min(max((width-14)*2/5, 26), 48)
	if rest := width - 3 - o.items - sizes - capWidth(width); rest-name < leastNote {
		return max(name, rest), false
	}
	return name, true
}

func (o *overview) render(width, height int) ([]string, *tea.Position) {
	f := o.d.Split(width, height, 0)
	st := o.d.St
	list := make([]string, 0, f.ListHeight)
	h := st.Row(f.ListWidth).Blank(1)
	cursor := o.Render(h)
	if cursor == nil {
		name, noted := o.nameColumn(f.ListWidth)
		h.Cell(st.Heading, safetext.Const("STORE, SCOPE, TIER"), name).
			Number(st.Heading, safetext.Const("ITEMS"), o.items).Number(st.Heading, safetext.Const("SIZE"), sizes).
			Number(st.Heading, safetext.Const("CAP"), capWidth(f.ListWidth))
		if noted {
			h.Blank(2).Lit(st.Heading, "WHAT")
		}
	}
	list = append(list, h.End())
	for i := o.table.Top; i < min(len(o.rows), o.table.Top+o.table.Height); i++ {
		list = append(list, o.row(o.rows[i], i == o.table.Sel, f.ListWidth))
	}
	switch {
	case len(o.rows) == 0 && o.Query != "":
		list = append(list, text.Paragraph(st, text.Advice(st.Esc, "No store, scope or tier has %q. `esc` shows all of them, `/` changes the filter.", o.Query), f.ListWidth)...)
	case len(o.rows) == 0:
		list = append(list, text.Paragraph(st, text.Line{Value: st.Esc.Const(desk.NoStores), Kind: text.Note}, f.ListWidth)...)
	}
	return o.d.Join(f, list, o.detail, safetext.Const(desk.PlaceAside)), cursor
}

// known reports whether a row has counts, perhaps old ones.
func (o *overview) known(t tierRow) bool {
	_, counted := o.Tallies[t.at.Store]
	return t.items > 0 || !t.failed && counted
}

func (o *overview) row(t tierRow, at bool, width int) string {
	st := o.d.St
	r := st.Highlighted(width, at, true).Lit(st.Dim, t.guide)
	column, noted := o.nameColumn(width)
	room := column - 2*t.depth
	switch {
	case t.branch:
		r.Put(st.Dim, st.Glyphs.Fold[!o.folded[t.at]])
		room -= 2
	case t.depth == 0:
		r.Blank(2)
		room -= 2
	}
	r.Find = o.d.Found(o.Query)
	name := st.Plain
	switch {
	case t.depth == 0:
		name = st.Strong
	case t.spec.Hidden:
		name = st.Dim
	}
	shown := t.name
	if !t.isTier && t.depth == 1 { // the end of a scope names the agent
		shown = st.Tail(t.name, t.at.Scope, "", room-1)
	}
	r.Cell(name, shown, room)
	if o.known(t) {
		r.Number(st.Plain, safetext.Const(prose.Group(t.items)), o.items)
		if !t.failed || noted { // without a note column, a failure takes the size column
			r.Number(st.Plain, safetext.Const(prose.Size(t.bytes)), sizes)
		}
		if !t.failed {
			used, p := o.used(t, width)
			r.Number(p, used, capWidth(width))
		}
		r.Blank(2)
	}
	switch {
	case t.failed:
		r.Put(st.Bad, st.Badge(paint.ToneBad, t.note))
	case noted:
		r.Put(st.Dim, t.note)
	}
	return r.End()
}

// used is the fill of a one-item tier, or the cap of each item of others.
func (o *overview) used(t tierRow, width int) (safetext.Text, paint.Paint) {
	st := o.d.St
	switch {
	case !t.isTier && t.over > 0:
		return st.Esc.Sprintf("%d over", t.over), st.Bad
	case !t.isTier || t.spec.Cap == 0:
		return safetext.Text{}, st.Dim
	case t.items == 1 && t.spec.CapUnit == model.CapBytes:
		gauge, p := st.Gauge(100 * t.bytes / t.spec.Cap)
		if _, n, bar := strings.Cut(gauge.String(), " "); width < gaugeFrom && bar {
			gauge = st.Esc.Const(strings.TrimSpace(n))
		}
		return gauge, p
	}
	words := prose.ShortCapacity(t.spec)
	if width >= gaugeFrom {
		words = "max " + words
	}
	return st.Esc.Const(words), st.Dim
}

func (o *overview) position() (safetext.Text, bool) {
	busy := false
	for store, b := range o.running {
		busy = busy || b && !o.quiet[store]
	}
	if len(o.rows) == 0 {
		return safetext.Text{}, busy
	}
	return o.d.Aged(safetext.Sprintf("%d of %d", o.table.Sel+1, len(o.rows)), o.oldest()), busy
}
