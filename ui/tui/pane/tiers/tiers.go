// Package tiers is the pane that browses: stores with their tiers, items, one item.
package tiers

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

const (
	levelOverview = iota
	LevelItems
	LevelItem
)

// briefBelow is the height of a preview that has no room for metadata.
const briefBelow = 16

// Pane browses: stores with their tiers, the items of one with a preview, one item on the whole screen.
type Pane struct {
	d        *pane.Bench
	at       int // its address
	Level    int
	Overview *overview
	Items    *items
	reader   *pane.Reader
	ticking  bool            // the next check for changes is scheduled
	looking  map[string]bool // by store, a check is under way: on a hanging mount each holds a thread of the system
	width    int
	height   int
}

func New(d *pane.Bench, at int) *Pane {
	p := &Pane{d: d, at: at, looking: map[string]bool{}, reader: pane.NewReader(d.Desk, at)}
	p.Items, p.Overview = newItems(d.Desk, at, p.reader), newOverview(p)
	return p
}

func (p *Pane) Enter() tea.Cmd {
	if p.Overview.Entered {
		return nil
	}
	return tea.Batch(p.Overview.Enter(), p.Overview.Refresh())
}

func (p *Pane) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case tallied:
		return p.Overview.tallied(msg)
	case lookDue:
		return p.look()
	case stamped:
		return p.looked(msg)
	case list.Trailed[ItemRow]:
		return tea.Batch(p.Items.trailed(msg), p.layout())
	case list.Fetched[ItemRow]:
		if p.d.Glances.Frozen && p.Items.Window.Drop(msg) {
			p.Items.pulse.Failed(p.d.Time.Clock.Now())
			return nil
		}
		p.Items.read(msg)
		cmd := p.Items.Window.Arrive(msg)
		p.Items.fitted() // the widths of the cells decide the layout
		cmd = tea.Batch(cmd, p.layout())
		if p.Level == LevelItem { // an item that leaves the list does not turn the page
			return tea.Batch(cmd, p.Items.named())
		}
		return tea.Batch(cmd, p.Items.preview())
	case list.Walked[ItemRow]:
		return p.Items.Marks.Walked(&p.d.Loop, msg)
	case pane.WritersCame:
		p.Items.who.Take(msg)
		p.Items.fitted()
		return p.Items.named()
	case pane.ReadDue:
		return p.reader.Due(msg)
	case list.FilterDue:
		return tea.Batch(p.Items.Due(msg), p.Overview.Due(msg))
	case pane.ReadDone:
		return p.reader.Done(msg)
	case text.LaidOut:
		p.reader.Pager.Arrive(msg)
		p.Overview.Detail.Arrive(msg)
	default:
		return p.Overview.Update(msg)
	}
	return nil
}

func (p *Pane) StoreHere() string { return p.place().Store }

// ItemHere is the item at the cursor, or on the whole screen.
func (p *Pane) ItemHere() model.Ref {
	switch p.Level {
	case LevelItems:
		return p.Items.wanted().Ref
	case LevelItem:
		return p.reader.Want.Ref
	}
	return model.Ref{}
}

// Narrow shows the stores, scopes and tiers with these words; without words the pane stays as it is.
func (p *Pane) Narrow(words string) tea.Cmd {
	if words == "" {
		return nil
	}
	p.Level = levelOverview
	return p.Overview.Apply(words)
}

// OpenList goes to the items of a place; where it cannot, it says why.
func (p *Pane) OpenList(at desk.ScopeOf) (cmd tea.Cmd, ok bool) {
	s, err := p.d.Fleet.Store(at.Store)
	switch {
	case err != nil:
		return p.d.Warn("%s", prose.Reason(p.d.Esc, err)), false
	case s.Browser == nil:
		return p.d.Warn("%s cannot list its items: 3 Recall searches it", at.Store), false
	}
	p.Level = LevelItems
	spec, _ := s.Tier(at.Tier)
	p.reader.Clear()
	cmd = p.Items.Open(at, p.Overview.hidden || spec.Hidden)
	return tea.Batch(cmd, p.layout()), true
}

func (p *Pane) Resize(width, height int) tea.Cmd {
	first := p.height == 0
	p.width, p.height = width, height
	var counted tea.Cmd
	if first && len(p.Overview.Tallies) > 0 { // they came before the size
		p.Overview.foldToFit()
		counted = p.Overview.changed()
	}
	return tea.Batch(counted, p.Overview.Resize(width, height), p.layout())
}

// layout gives the reader the room of its level.
func (p *Pane) layout() tea.Cmd {
	p.Items.split(p.width, p.height)
	f := p.Items.halves
	p.Items.Window.Resize(f.ListHeight-1, f.Beside)
	p.reader.Pager.Brief = p.Level == LevelItems && f.DetailHeight < briefBelow
	if p.Level == LevelItem {
		return p.reader.Pager.Resize(p.width-2, p.height)
	}
	return p.reader.Pager.Resize(f.DetailWidth, f.DetailHeight)
}

func (p *Pane) Render(width, height int) ([]string, *tea.Position) {
	switch p.Level {
	case levelOverview:
		return p.Overview.Render(width, height)
	case LevelItems:
		return p.Items.render(width, height)
	}
	return p.reader.Pager.Framed(width, height), nil
}

func (p *Pane) OnScreen() *text.Pager {
	if p.Level == LevelItem {
		return p.reader.Pager
	}
	return nil
}

func (p *Pane) Crumbs() []safetext.Text {
	switch p.Level {
	case LevelItems:
		return p.Items.crumbs(p.Items.Hidden)
	case LevelItem:
		return append(p.Items.crumbs(false), p.d.Esc.Line(p.reader.Want.Ref.ID))
	}
	out := p.Overview.Crumbs()
	if p.Overview.hidden {
		out = slices.Insert(out, 0, withHidden)
	}
	if p.Overview.order > 0 {
		out = slices.Insert(out, 0, p.d.Esc.Const(treeOrders[p.Overview.order]))
	}
	return out
}

func (p *Pane) Position() (safetext.Text, bool) {
	switch p.Level {
	case levelOverview:
		return p.Overview.Position()
	case LevelItems:
		return p.d.Aged(p.listPosition(), p.Items.pulse), p.Items.Window.Busy()
	}
	return p.reader.Pager.Position(), p.reader.Loading()
}

// listPosition is the place in the list, and how many more items the tree counts: hidden ones.
func (p *Pane) listPosition() safetext.Text {
	l := p.Items.Window
	at := l.Position()
	total := l.Total()
	if p.Items.Hidden || p.Items.Query != "" || !l.Loaded || l.Err != nil || total.Unknown || total.AtLeast {
		return at
	}
	if n, ok := p.Overview.counted(p.Items.At); ok && n > total.N {
		return p.d.Esc.Sprintf("%s, a shows %s more", at, prose.Group(n-total.N))
	}
	return at
}

func (p *Pane) Typing() *text.Input {
	switch p.Level {
	case levelOverview:
		return p.Overview.Typing()
	case LevelItems:
		return p.Items.Typing()
	}
	return nil
}

func (p *Pane) Typed() tea.Cmd {
	if p.Level == LevelItems {
		return p.Items.Typed()
	}
	return p.Overview.Typed()
}

func (p *Pane) Outermost() bool { return p.Level == levelOverview && p.Overview.Outermost() }

// Filtered reports whether the list of items has a filter, which esc takes off first.
func (p *Pane) Filtered() bool { return p.Level == LevelItems && p.Items.Query != "" }

func (p *Pane) Back() tea.Cmd {
	switch {
	case p.Level == levelOverview:
		return p.Overview.Back()
	case p.Level == LevelItem: // the list is at the item, if it is there
		p.Level, p.Items.pinned = LevelItems, false
		return tea.Batch(p.reader.Pager.EndSearch(), p.layout(), p.Items.preview())
	case p.Filtered():
		return p.Items.Apply("")
	case p.Level == LevelItems:
		p.Level = levelOverview
		return tea.Batch(p.Overview.goTo(p.Items.At), p.Overview.Refresh())
	}
	return nil
}

func (p *Pane) Refresh() tea.Cmd {
	switch p.Level {
	case levelOverview:
		return p.Overview.Refresh()
	case LevelItems:
		p.Items.who.Anew()
		return tea.Batch(p.Overview.countStore(p.Items.At.Store), p.Items.Window.Refresh(), p.Items.Marks.Filtered(p.Items.Query), p.reader.Open(p.reader.Want, true))
	}
	return p.reader.Open(p.reader.Want, true)
}

func (p *Pane) Trouble() safetext.Text {
	if p.Level == LevelItems {
		return p.Items.Window.Trouble(p.d.Esc)
	}
	return safetext.Text{}
}

// Awaiting: the items of another place, filter or order are being loaded.
func (p *Pane) Awaiting() bool {
	return p.Level == LevelItems && p.Items.Awaiting() || p.Level == levelOverview && p.Overview.Awaiting()
}

func (p *Pane) Beneath() []act.Act {
	if p.Level != LevelItem {
		return nil
	}
	p.Level = LevelItems
	defer func() { p.Level = LevelItem }()
	return p.Bindings()
}

func (p *Pane) Unavailable() string { return "" }

func (p *Pane) noList() string {
	s, err := p.d.Fleet.Store(p.StoreHere())
	return cmp.Or(p.noRow(), act.When(err != nil, "the store is not open: 1 Health tries it again"), act.When(s.Browser == nil, "this store cannot list its items: 3 Recall searches it"))
}

func (p *Pane) noTree() string {
	switch w := p.Overview.Window; {
	case len(w.Rows) > 0 || p.Overview.Query != "":
		return ""
	case !w.Loaded:
		return w.Nothing()
	}
	return "no store is open"
}

// noRow says why the tree has no row to act on.
func (p *Pane) noRow() string {
	if p.Overview.Query != "" {
		return act.When(len(p.Overview.Window.Rows) == 0, "the filter leaves nothing: esc shows all again")
	}
	return p.noTree()
}

// Changed shows the memory after an act, and keeps the place.
func (p *Pane) Changed() tea.Cmd {
	switch {
	case p.Level == levelOverview && !p.Overview.Entered: // nothing is shown yet
		return nil
	case p.Level == levelOverview:
		return p.Overview.Refresh()
	}
	p.Items.Marks.Clear()
	p.Items.who.Anew()
	count := p.Overview.countStore(p.Items.At.Store)
	if p.Level == LevelItem {
		return tea.Batch(count, p.reader.Open(p.reader.Want, true), p.Items.Window.Refresh())
	}
	p.reader.Clear()
	return tea.Batch(count, p.layout(), p.Items.Window.Refresh())
}

func (p *Pane) readHere() tea.Cmd {
	p.Level = LevelItem
	return tea.Batch(p.layout(), p.reader.Open(p.Items.wanted(), false), p.reader.Whole())
}

func (p *Pane) neighbour(by int) tea.Cmd {
	p.Items.pinned = false
	return tea.Batch(p.Items.Window.Move(by), p.reader.Open(p.Items.wanted(), false))
}

func (p *Pane) Listed() (desk.Visible, bool) {
	switch p.Level {
	case levelOverview:
		return p.Overview.Listed()
	case LevelItems:
		return desk.WindowListed(p.Items.Window, p.Items.halves, 1, desk.ItemAside, p.Items.Move)
	}
	return desk.Visible{}, false
}

// Refs are the items of the list, as far as it is loaded.
func (p *Pane) Refs() []model.Ref {
	var out []model.Ref
	for _, r := range p.Items.Window.Rows {
		out = append(out, model.Ref{Store: p.Items.At.Store, ID: r.Header.ID})
	}
	return out
}

// GoTo shows one item and looks for its row in the list of its tier.
func (p *Pane) GoTo(ref model.Ref, h model.Header) tea.Cmd {
	s, err := p.d.Fleet.Store(ref.Store)
	if err != nil {
		return p.d.Warn("%s", prose.Reason(p.d.Esc, err))
	}
	spec, _ := s.Tier(h.Tier)
	hidden := p.Overview.hidden || spec.Hidden || h.Has(model.FlagArchived) || h.Has(model.FlagBookkeeping)
	p.Items.Open(desk.ScopeOf{Store: ref.Store, Scope: h.Scope, Tier: h.Tier}, hidden) // its answer is not awaited: the list begins at the item
	p.Items.Query, p.Items.Whole = "", nil
	_ = p.Items.Marks.Filtered("") // all are shown: there is nothing to count
	p.Items.Window.Fetch = p.Items.fetcher()
	p.Items.pinned = true
	p.Level = LevelItem
	list := p.Items.Window.Restart(list.From{})
	find := p.Items.Seek(func(r ItemRow) bool { return r.Header.ID == h.ID }, p.d.Esc.LineMax(h.ID, prose.MaxTitle))
	return tea.Batch(list, find, p.layout(), p.reader.Open(pane.Reading{Ref: ref}, false), p.reader.Whole())
}
