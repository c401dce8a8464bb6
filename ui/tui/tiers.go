package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// The levels of the Tiers pane.
const (
	levelOverview = iota
	levelItems
	levelItem
)

// briefBelow is the height of a preview that has no room for metadata.
const briefBelow = 16

// tiers is the pane that browses: stores with their tiers, the items of one of
// them with a preview, one item on the whole screen.
type tiers struct {
	d        *bench
	at       int // its address
	level    int
	overview *overview
	items    *items
	reader   *reader
	entered  bool
	width    int
	height   int
}

func newTiers(d *bench, at int) *tiers {
	p := &tiers{d: d, at: at, overview: newOverview(d.desk, at), reader: newReader(d.desk, at)}
	p.items = newItems(d.desk, at, p.reader)
	return p
}

func (p *tiers) enter() tea.Cmd {
	if p.entered {
		return nil
	}
	p.entered = true
	return p.overview.refresh()
}

func (p *tiers) update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case tallied:
		return p.overview.tallied(msg)
	case trailed[itemRow]:
		return p.items.trailed(msg)
	case fetched[itemRow]:
		return tea.Batch(p.items.list.arrive(msg), p.items.preview())
	case peeked[itemRow]:
		return p.items.marks.peeked(msg)
	case walked[itemRow]:
		return p.items.marks.walked(&p.d.loop, msg)
	case writersCame:
		p.items.who.take(msg)
		return p.items.named()
	case readDue:
		return p.reader.due(msg)
	case filterDue:
		query, now := p.items.live.due(msg, &p.items.filter, p.items.query)
		if now && p.items.list.loading[arriveReset] { // one question at a time
			return p.items.live.typed(p.d.later(p.at))
		}
		if now && p.level == levelItems {
			return p.items.narrow(query)
		}
	case restDue:
		if p.overview.rest.over(msg) {
			return p.overview.show()
		}
	case readDone:
		return p.reader.done(msg)
	case text.LaidOut:
		// Generations are counted by each pager; the text tells whose answer it is.
		if msg.Text == p.reader.pager.Text {
			p.reader.pager.Arrive(msg)
		}
		if msg.Text == p.overview.detail.Text {
			p.overview.detail.Arrive(msg)
		}
	}
	return nil
}

// storeHere is the store at the cursor.
func (p *tiers) storeHere() string {
	if p.level != levelOverview {
		return p.items.at.store
	}
	r, _ := p.overview.current()
	return r.at.store
}

// openList goes to the items of a place.
func (p *tiers) openList(at scopeOf) tea.Cmd {
	s, err := p.d.fleet.Store(at.store)
	switch {
	case err != nil:
		p.d.say(paint.ToneWarn, prose.Reason(p.d.st.Esc, err))
		return nil
	case s.Browser == nil:
		p.d.say(paint.ToneWarn, p.d.st.Esc.Sprintf("%s cannot list its items: 3 Recall searches it", at.store))
		return nil
	}
	p.level = levelItems
	spec, _ := s.Tier(at.tier)
	p.reader.clear()
	cmd := p.items.open(at, p.overview.hidden || spec.Hidden)
	return tea.Batch(cmd, p.layout())
}

func (p *tiers) resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	return tea.Batch(p.overview.resize(width, height), p.layout())
}

// layout gives the reader the room of the level that it is on.
func (p *tiers) layout() tea.Cmd {
	f := p.d.split(p.width, p.height)
	p.items.list.resize(f.listHeight-1, f.beside)
	p.reader.pager.Brief = p.level == levelItems && f.detailHeight < briefBelow
	if p.level == levelItem {
		return p.reader.pager.Resize(p.width-2, p.height)
	}
	return p.reader.pager.Resize(f.detailWidth, f.detailHeight)
}

func (p *tiers) render(width, height int) ([]string, *tea.Position) {
	switch p.level {
	case levelOverview:
		return p.overview.render(width, height)
	case levelItems:
		return p.items.render(width, height)
	}
	return p.reader.pager.Framed(p.d.st, width, height), nil
}

func (p *tiers) onScreen() *text.Pager {
	if p.level == levelItem {
		return p.reader.pager
	}
	return nil
}

func (p *tiers) crumbs() []safetext.Text {
	if p.level == levelOverview {
		return p.overview.crumbs()
	}
	out := p.items.crumbs()
	if p.level == levelItem {
		out = append(out, p.d.st.Esc.Line(p.reader.want.ref.ID))
	}
	return out
}

func (p *tiers) position() (safetext.Text, bool) {
	switch p.level {
	case levelOverview:
		return p.overview.position()
	case levelItems:
		return p.listPosition(), p.items.list.busy()
	}
	return p.reader.pager.Position(), p.reader.loading()
}

// listPosition is the place in the list, and what the list leaves out of what the tree
// has counted: archived and bookkeeping items.
func (p *tiers) listPosition() safetext.Text {
	l := p.items.list
	at := l.position()
	total := l.total()
	if p.items.hidden || p.items.query != "" || !l.loaded || l.err != nil || total.Unknown || total.AtLeast {
		return at
	}
	if n, ok := p.overview.counted(p.items.at); ok && n > total.N {
		return p.d.st.Esc.Sprintf("%s, a shows %s more", at, prose.Group(n-total.N))
	}
	return at
}

func (p *tiers) typing() *text.Input {
	switch {
	case p.level == levelItems && p.items.jump.in.Focus:
		return &p.items.jump.in
	case p.level == levelItems && p.items.filter.Focus:
		return &p.items.filter
	case p.level == levelOverview && p.overview.jump.in.Focus:
		return &p.overview.jump.in
	case p.level == levelOverview && p.overview.filter.Focus:
		return &p.overview.filter
	}
	return nil
}

// typed: filter and jump follow the letters.
func (p *tiers) typed() tea.Cmd {
	switch {
	case p.level == levelItems && p.items.filter.Focus:
		return p.items.live.typed(p.d.later(p.at))
	case p.level == levelOverview && p.overview.filter.Focus: // the tree is in memory
		return p.overview.narrow(strings.TrimSpace(p.overview.filter.Value()))
	case p.level == levelItems && p.items.jump.in.Focus:
		return p.items.jumped()
	case p.level == levelOverview && p.overview.jump.in.Focus:
		return p.overview.jumped()
	}
	return nil
}

// inputBindings are the keys of the input that has the focus.
func (p *tiers) inputBindings() []act.Act {
	switch p.typing() {
	case &p.items.jump.in:
		return p.items.jumpBindings()
	case &p.overview.jump.in:
		return p.overview.jumpBindings()
	case &p.overview.filter:
		return p.overview.filterBindings()
	}
	return p.items.filterBindings()
}

func (p *tiers) outermost() bool { return p.level == levelOverview && p.overview.query == "" }

func (p *tiers) back() tea.Cmd {
	switch {
	case p.level == levelOverview:
		return p.overview.apply("")
	case p.level == levelItem && p.items.pinned: // the list stands where it could be led to
		p.level, p.items.pinned = levelItems, false
		return tea.Batch(p.reader.pager.EndSearch(), p.layout(), p.items.preview())
	case p.level == levelItem:
		p.level = levelItems
		return tea.Batch(p.reader.pager.EndSearch(), p.layout())
	case p.level == levelItems && p.items.query != "":
		return p.items.apply("")
	case p.level == levelItems:
		p.level = levelOverview
		return tea.Batch(p.overview.goTo(p.items.at), p.overview.refresh())
	}
	return nil
}

func (p *tiers) refresh() tea.Cmd {
	switch p.level {
	case levelOverview:
		return p.overview.refresh()
	case levelItems:
		p.items.who.anew()
		return tea.Batch(p.overview.countStore(p.items.at.store), p.items.list.refresh(), p.items.marks.filtered(p.items.query), p.reader.open(p.reader.want, true))
	}
	return p.reader.open(p.reader.want, true)
}

func (p *tiers) trouble() safetext.Text {
	if p.level == levelItems {
		return p.items.list.trouble(p.d.esc)
	}
	return safetext.Text{}
}

// awaiting: the items of another place, filter or order are being loaded.
func (p *tiers) awaiting() bool { return p.level == levelItems && p.items.list.loading[arriveReset] }

func (p *tiers) beneath() []act.Act {
	if p.level != levelItem {
		return nil
	}
	p.level = levelItems
	defer func() { p.level = levelItem }()
	return p.bindings()
}

func (p *tiers) unavailable() string { return "" }

func (p *tiers) noList() string {
	r, ok := p.overview.current()
	if !ok {
		return "no store is open"
	}
	s, err := p.d.fleet.Store(r.at.store)
	switch {
	case err != nil:
		return "the store is not open: 1 Health tries it again"
	case s.Browser == nil:
		return "this store cannot list its items: 3 Recall searches it"
	}
	return ""
}

func (p *tiers) noTree() string {
	if len(p.overview.rows) == 0 && p.overview.query == "" {
		return "no store is open"
	}
	return ""
}

// changed shows the memory as it is after an act, keeping the place.
func (p *tiers) changed() tea.Cmd {
	if !p.entered && p.level == levelOverview {
		return nil // nothing is shown yet
	}
	if p.level == levelOverview {
		return p.overview.refresh()
	}
	p.items.marks.clear()
	p.items.who.anew()
	count := p.overview.countStore(p.items.at.store)
	if p.level == levelItem {
		return tea.Batch(count, p.reader.open(p.reader.want, true), p.items.list.refresh())
	}
	p.reader.clear()
	return tea.Batch(count, p.layout(), p.items.list.refresh())
}

func (p *tiers) openHere() tea.Cmd {
	r, _ := p.overview.current()
	return p.openList(r.at)
}

func (p *tiers) readHere() tea.Cmd {
	p.level = levelItem
	return tea.Batch(p.layout(), p.reader.open(p.items.wanted(), false), p.reader.whole())
}

func (p *tiers) neighbour(by int) tea.Cmd {
	p.items.pinned = false
	return tea.Batch(p.items.list.Move(by), p.reader.open(p.items.wanted(), false))
}

func (p *tiers) listed() (visible, bool) {
	switch p.level {
	case levelOverview:
		return p.overview.table.listed(p.d.desk, p.width, p.height, 1, placeAside)
	case levelItems:
		return windowListed(p.items.list, p.d.desk, p.width, p.height, 1, itemAside, p.items.Move)
	}
	return visible{}, false
}
