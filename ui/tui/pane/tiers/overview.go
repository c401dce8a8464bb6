package tiers

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
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

// tree is what the rows are made of. Commands read a copy, which never changes.
type tree struct {
	d       *desk.Desk
	Tallies map[string]tallied
	folded  map[desk.ScopeOf]bool // the stores and scopes that are folded
	hidden  bool                  // tiers hidden from lists are shown too
	order   int                   // of treeOrders
}

// overview is the first level of the Tiers pane: every store with its scopes and tiers.
type overview struct {
	*record.List[tierRow]
	tree
	read    atomic.Pointer[tree]
	running map[string]bool
	quiet   map[string]bool // automatic counts: the screen does not show that it counts
	pulses  map[string]*desk.Pulse
	wanted  desk.ScopeOf // the cursor goes there as soon as such a row exists
	p       *Pane
	begun   bool // the tree was moved in, folded or filtered: it folds by itself no more
	width   int
	height  int
}

func newOverview(p *Pane) *overview {
	o := &overview{p: p, tree: tree{d: p.d.Desk, Tallies: map[string]tallied{}, folded: map[desk.ScopeOf]bool{}}, running: map[string]bool{}, quiet: map[string]bool{}, pulses: map[string]*desk.Pulse{}}
	o.List = record.New(p.d.Desk, record.Kind[tierRow]{
		Pane: p.at, Name: "tiers", Noun: "row", Empty: desk.NoStores,
		Columns: []record.Column{{Title: "STORE, SCOPE, TIER", Width: 48, Least: 26}, {Title: "ITEMS", Width: 15, Least: 15, Right: true}, {Title: "SIZE", Width: 10, Least: 10, Right: true}, {Title: "CAP", Width: paint.GaugeWidth + 3, Least: 10, Right: true, Dim: true}, {Title: "WHAT", Least: 14, Dim: true}},
		Fetch: func(_ context.Context, q operator.PageQuery) (record.Page[tierRow], error) {
			t := o.read.Load()
			rows := t.drawn(t.filtered(t.ordered(t.stored(), 0), q), q.Filter != "")
			return record.OnePage(rows, func(_ int, r tierRow) (record.Row[tierRow], bool) { return t.record(r), true }), nil
		},
		Detail: func(_ context.Context, r tierRow) *text.Page { return text.NewPage(o.read.Load().describe(r), "") },
		Tell:   func(_ safetext.Escaper, r tierRow) safetext.Text { return o.read.Load().tell(r) },
		Datum:  func(r tierRow) desk.Datum { return o.read.Load().datum(r) },
		Keys:   func(*record.List[tierRow]) []act.Act { return p.treeKeys() },
		Traits: record.Traits[tierRow]{Tree: true, Shape: func() any { return [...]any{o.hidden, o.order, len(o.folded)} }, Cut: o.cut, Aside: desk.PlaceAside,
			NoMatch: "No store, scope or tier has %q. `esc` shows all of them, `/` changes the filter."},
	})
	moved := o.Moved
	o.Moved = func() tea.Cmd {
		o.wanted, o.begun = desk.ScopeOf{}, true
		return moved()
	}
	o.Returns = true
	_ = o.changed()
	return o
}

// counted is the tree's count at a place; ok: it is known.
func (o *tree) counted(at desk.ScopeOf) (n int64, ok bool) {
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
	return o.countStore("")
}

// countStore counts one store again; without a name, all.
func (o *overview) countStore(name string) tea.Cmd {
	var cmds []tea.Cmd
	for _, m := range o.d.Fleet.Members() {
		if name == "" || m.Name == name {
			cmds = append(cmds, o.count(m))
		}
	}
	return tea.Batch(cmds...)
}

func (o *overview) count(m backends.Member) tea.Cmd {
	if o.running[m.Name] {
		return nil
	}
	o.running[m.Name] = true
	if u := o.pulse(m.Name); u.Asked.IsZero() {
		u.Asked = o.d.Time.Clock.Now()
	}
	return o.Window.Ask(func(ctx context.Context) any {
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
	if unasked && o.d.AutoRefresh.Frozen { // frozen since it was counted
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
	o.foldToFit()
	return o.changed()
}

// foldToFit begins with the overview of all stores where the tree has no room, while nobody has begun to read.
func (o *overview) foldToFit() {
	if !o.begun && len(o.d.Fleet.Members()) > 1 && (o.d.Spoken || o.height > 0) {
		room := desk.SpokenRows
		if !o.d.Spoken {
			room = o.d.Split(desk.Halves{}, desk.Asks{Width: o.width, Height: o.height}).ListHeight - 1
		}
		if len(o.drawn(o.stored(), false)) > room {
			o.foldStores()
			o.unfoldTo(o.wanted)
			o.Refit()
		}
	}
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

// stored are all rows, as the stores have them.
func (o *tree) stored() (rows []tierRow) {
	for _, m := range o.d.Fleet.Members() {
		rows = append(rows, o.storeRows(m)...)
	}
	return rows
}

// changed shows the tree as it is now.
func (o *overview) changed() tea.Cmd {
	now := o.tree
	now.Tallies, now.folded = maps.Clone(o.Tallies), maps.Clone(o.folded)
	o.read.Store(&now)
	if o.wanted.Store == "" || o.Window.Fetch == nil {
		return o.List.Refresh()
	}
	o.Outdate()   // the counts in its detail are old
	w := o.wanted // it is cleared once the cursor is there, which may be before the answer
	return o.Window.Follow(&list.Trail[record.Row[tierRow]]{Anew: true, Near: func(r record.Row[tierRow]) (int, bool) { return near(r.Raw, w) }})
}

// goTo puts the cursor on the row of a place: a return from a list ends at that list's row.
func (o *overview) goTo(at desk.ScopeOf) tea.Cmd {
	o.wanted = at
	o.begun = o.begun || len(o.Tallies) > 0 // nobody has read what was not counted yet
	o.unfoldTo(at)
	o.Window.Fetch = o.Fetcher()
	return o.changed()
}

// unfoldTo unfolds the rows above a place.
func (o *overview) unfoldTo(at desk.ScopeOf) {
	for _, above := range []desk.ScopeOf{{Store: at.Store}, {Store: at.Store, Scope: at.Scope}} {
		if above != at {
			delete(o.folded, above)
		}
	}
}

// near is the distance of a row from the wanted one, as near as the counts allow.
func near(r tierRow, w desk.ScopeOf) (distance int, ok bool) {
	switch at := r.at; {
	case at == w:
		return 0, true
	case at.Store != w.Store:
		return 0, false
	case at.Tier == w.Tier && (at.Scope == w.Scope || w.Scope == ""):
		return 1, true
	case at.Scope == w.Scope && at.Tier == "":
		return 2, true
	}
	return 3, r.depth == 0
}

func (o *overview) Update(msg any) tea.Cmd {
	if counts, ok := msg.(tallied); ok {
		return o.tallied(counts)
	}
	cmd := o.List.Update(msg)
	if _, ok := msg.(list.Trailed[record.Row[tierRow]]); ok {
		cmd = tea.Batch(cmd, o.toName())
	}
	if o.Here().at == o.wanted {
		o.wanted = desk.ScopeOf{}
	}
	return cmd
}

func (o *tree) storeRows(m backends.Member) []tierRow {
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
		top.note = esc.Sprintf("%s; the counts are old", prose.Reason(esc, t.err))
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
func (o *tree) tierRows(s model.Store, counts []model.TierCount) []tierRow {
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
		if operator.CapKnown(spec, c) && c.Bytes > spec.Cap {
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

func (o *tree) describe(r tierRow) []text.Line {
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
		head = append(append(head, o.tierSums(s, r)...), desk.Field("scope", r.name), desk.Field("belongs to", desk.OrElse(r.note, esc.Const("not named by the store"))))
	default:
		head = append(append(head, o.tierSums(s, r)...), desk.Field("kind", esc.Line(s.Kind)), desk.Field("location", esc.Line(s.Location)))
		if n := hiddenTiers(s); n > 0 && !o.hidden {
			head = append(head, text.Advice(esc, "%s; `a` shows them", prose.Plural(n, "tier")).Named(esc.Const("hidden")).As(text.Field))
		}
	}
	if r.depth == 0 {
		for i, note := range s.Notes {
			if i == 0 {
				head = append(head, text.Line{Kind: text.Blank})
			}
			head = append(head, desk.Field("note", esc.Line(note)))
		}
	}
	return append(head, text.Line{Kind: text.Blank}, text.Advice(esc, "`enter` lists the items."))
}

// tierSums are the tiers of a store, summed over its scopes, or those of one scope.
func (o *tree) tierSums(s model.Store, of tierRow) []text.Line {
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
	return append(out, text.Line{Kind: text.Blank})
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

// known reports whether a row has counts, perhaps old ones.
func (o *tree) known(t tierRow) bool {
	_, counted := o.Tallies[t.at.Store]
	return t.items > 0 || !t.failed && counted
}

func (o *tree) record(t tierRow) record.Row[tierRow] {
	st, esc := o.d.St, o.d.Esc
	fold := ""
	switch {
	case t.branch:
		fold = st.Glyphs.Fold[!o.folded[t.at]].String()
	case t.depth == 0:
		fold = "  "
	}
	name, look := esc.Sprintf("%s%s%s", esc.Const(t.guide), esc.Const(fold), t.name), paint.LookPlain
	switch {
	case t.depth == 0:
		look = paint.LookStrong
	case t.spec.Hidden:
		look = paint.LookDim
	}
	at := len(t.guide) + len(fold)
	r := record.Row[tierRow]{Key: t.at.Store + "\x00" + t.at.Scope + "\x00" + t.at.Tier, Raw: t, Runs: map[int][]paint.Stretch{0: {{End: at, Look: paint.LookDim}, {Start: at, End: name.Len(), Look: look}}}}
	if r.Cells = []safetext.Text{name}; o.known(t) {
		r.Cells = append(r.Cells, safetext.Const(prose.Group(t.items)), safetext.Const(prose.Size(t.bytes)))
	} else if !t.failed {
		r.Cells = append(r.Cells, safetext.Text{}, safetext.Text{})
	}
	r.Tones = make([]paint.Tone, len(r.Cells)+1)
	if last := &r.Tones[len(r.Cells)]; t.failed {
		r.Cells, *last = append(r.Cells, st.Badge(paint.ToneBad, t.note)), paint.ToneBad
	} else {
		used, tone := o.used(t)
		r.Cells, *last = append(r.Cells, used, t.note), tone
	}
	return r
}

// cut shortens a scope, whose end names the agent, and leaves out the bar of a gauge or the word behind a cap.
func (o *overview) cut(r tierRow, column int, t safetext.Text, width int) safetext.Text {
	switch {
	case column == 0 && !r.isTier && r.depth == 1:
		lead := strings.TrimSuffix(t.String(), r.name.String())
		return o.d.Esc.Sprintf("%s%s", o.d.Esc.Const(lead), o.d.St.Tail(r.name, r.at.Scope, "", width-len([]rune(lead))-1))
	case column == 3: // CAP
		n, each := strings.CutSuffix(t.String(), " each")
		if !each {
			_, n, _ = strings.Cut(n, " ")
		}
		return o.d.Esc.Const(strings.TrimSpace(n))
	}
	return o.d.Esc.Trunc(t, width-1)
}

// used is the fill of a one-item tier, or the cap of each item of others.
func (o *tree) used(t tierRow) (safetext.Text, paint.Tone) {
	switch {
	case !t.isTier && t.over > 0:
		return o.d.Esc.Sprintf("%d over", t.over), paint.ToneBad
	case !t.isTier || t.spec.Cap == 0:
		return safetext.Text{}, paint.ToneInfo
	case t.items == 1 && t.spec.CapUnit == model.CapBytes:
		return o.d.St.Gauge(100 * t.bytes / t.spec.Cap)
	}
	return o.d.Esc.Sprintf("%s each", prose.ShortCapacity(t.spec)), paint.ToneInfo
}

// Resize gives the tree its first size: counts that came before it could not fold it.
func (o *overview) Resize(width, height int) tea.Cmd {
	first := o.height == 0
	o.width, o.height = width, height
	var counted tea.Cmd
	if first && len(o.Tallies) > 0 {
		o.foldToFit()
		counted = o.changed()
	}
	return tea.Batch(counted, o.List.Resize(width, height))
}

func (o *overview) Crumbs() []safetext.Text {
	var out []safetext.Text
	if o.order > 0 {
		out = append(out, o.d.Esc.Const(treeOrders[o.order]))
	}
	if o.hidden {
		out = append(out, withHidden)
	}
	return append(out, o.List.Crumbs()...)
}

func (o *overview) Position() (safetext.Text, bool) {
	at, busy := o.List.Position()
	for store, b := range o.running {
		busy = busy || b && !o.quiet[store]
	}
	if len(o.Window.Rows) == 0 {
		return safetext.Text{}, busy
	}
	return o.d.Aged(at, o.oldest()), busy
}
