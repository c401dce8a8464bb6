package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
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
	d        *desk
	level    int
	overview *overview
	items    *items
	reader   *reader
	entered  bool
	width    int
	height   int
}

func newTiers(d *desk) *tiers {
	p := &tiers{d: d, overview: newOverview(d, paneTiers), reader: newReader(d, paneTiers)}
	p.items = newItems(d, paneTiers, p.reader)
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
	case sought:
		return p.items.sought(msg)
	case fetched[itemRow]:
		return tea.Batch(p.items.list.arrive(msg), p.items.preview())
	case walked[itemRow]:
		return p.items.marks.walked(p.d, msg)
	case readDue:
		return p.reader.due(msg)
	case restDue:
		if p.overview.rest.over(msg) {
			return p.overview.show()
		}
	case readDone:
		return p.reader.done(msg)
	case laidOut:
		// Generations are counted by each pager; the text tells whose answer it is.
		if msg.text == p.reader.pager.text {
			p.reader.pager.arrive(msg)
		}
		if msg.text == p.overview.detail.text {
			p.overview.detail.arrive(msg)
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
		p.d.say(toneWarn, reason(p.d.st.esc, err))
		return nil
	case s.Browser == nil:
		p.d.say(toneWarn, p.d.st.esc.Sprintf("%s cannot list its items: 3 Recall searches it", at.store))
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
	p.reader.pager.brief = p.level == levelItems && f.detailHeight < briefBelow
	if p.level == levelItem {
		return p.reader.pager.resize(p.width-2, p.height)
	}
	return p.reader.pager.resize(f.detailWidth, f.detailHeight)
}

func (p *tiers) render(width, height int) ([]string, *tea.Position) {
	switch p.level {
	case levelOverview:
		return p.overview.render(width, height)
	case levelItems:
		return p.items.render(width, height)
	}
	lines := p.reader.pager.render(p.d.st, width-2, height)
	for i := range lines {
		lines[i] = " " + lines[i] + " "
	}
	return lines, nil
}

func (p *tiers) crumbs() []safetext.Text {
	if p.level == levelOverview {
		return p.overview.crumbs()
	}
	out := p.items.crumbs()
	if p.level == levelItem {
		out = append(out, p.d.st.esc.Line(p.reader.want.ref.ID))
	}
	return out
}

func (p *tiers) position() (safetext.Text, bool) {
	switch p.level {
	case levelOverview:
		return p.overview.position()
	case levelItems:
		return p.items.list.position(), p.items.list.busy()
	}
	return p.reader.pager.position(), p.reader.loading()
}

func (p *tiers) typing() *input {
	switch {
	case p.level == levelItems && p.items.jump.in.focus:
		return &p.items.jump.in
	case p.level == levelItems && p.items.filter.focus:
		return &p.items.filter
	case p.level == levelOverview && p.overview.jump.in.focus:
		return &p.overview.jump.in
	case p.level == levelOverview && p.overview.filter.focus:
		return &p.overview.filter
	}
	return nil
}

// typed: a filter is applied with enter, a jump follows the letters.
func (p *tiers) typed() tea.Cmd {
	switch {
	case p.level == levelItems && p.items.jump.in.focus:
		return p.items.jumped()
	case p.level == levelOverview && p.overview.jump.in.focus:
		return p.overview.jumped()
	}
	return nil
}

// inputBindings are the keys of the input that has the focus.
func (p *tiers) inputBindings() []Binding {
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
		return tea.Batch(p.layout(), p.items.preview())
	case p.level == levelItem:
		p.level = levelItems
		return p.layout()
	case p.level == levelItems && p.items.query != "":
		return p.items.apply("")
	case p.level == levelItems:
		p.level = levelOverview
		return p.overview.refresh()
	}
	return nil
}

func (p *tiers) refresh() tea.Cmd {
	switch p.level {
	case levelOverview:
		return p.overview.refresh()
	case levelItems:
		return tea.Batch(p.items.list.refresh(), p.reader.open(p.reader.want, true))
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

func (p *tiers) unavailable() string { return "" }

func (p *tiers) bindings() []Binding {
	switch {
	case p.typing() != nil:
		return p.inputBindings()
	case p.level == levelOverview:
		return append(append([]Binding{
			{Keys: []string{"enter", "right", "l"}, Show: "enter", Hint: "items", Description: "the items of this store, scope or tier", Disabled: p.noList, Handler: p.openHere},
			{Keys: []string{"/"}, Hint: "filter", Description: "show the stores, scopes and tiers that have these words; ! in front shows the others", Disabled: p.noTree, Handler: p.overview.startFilter},
			{Keys: []string{"f"}, Description: "jump to a store, scope or tier by its first letters; :go takes a reference", Disabled: p.noTree, Handler: p.overview.startJump},
			{Keys: []string{"o"}, Description: "the next order: as the stores have it, most items, most bytes, by name", Handler: p.overview.nextOrder},
			{Keys: []string{"c"}, Hint: "create", Description: "create an item here, in $EDITOR", Disabled: p.noCreate, Handler: p.createHere},
			{Keys: []string{"a"}, Hint: "hidden", Description: "show or leave out hidden tiers and archived items", Handler: p.toggleHidden},
			{Keys: []string{"x"}, Description: "export the tree as it is shown to a file, CSV or JSON lines", Disabled: unless(p.noList, p.d.noExport), Handler: p.overview.exportTree},
		}, aside(p.overview.detail, "description")...), movement(&p.overview.table, "row")...)
	case p.level == levelItems && p.items.marks.walk != nil:
		return append(p.items.marks.bindings(p.noItem, p.items.move), movement(p.items, "item")...)
	case p.level == levelItems:
		return append(append(append([]Binding{
			{Keys: []string{"enter", "right", "l"}, Show: "enter", Hint: "read", Description: "read this item on the whole screen", Disabled: p.noItem, Handler: p.readHere},
			{Keys: []string{"/"}, Hint: "filter", Description: "filter the list; the store searches ids, titles and bodies. ! in front leaves out what has the words in its title or id", Handler: p.items.startFilter},
			{Keys: []string{"f"}, Description: "jump to a row by the first letters of its title or id; :go takes a reference", Disabled: p.noItem, Handler: p.items.startJump},
			{Keys: []string{"e"}, Hint: "edit", Description: "edit this item in $EDITOR; nothing is written before you have seen the difference", Disabled: p.noEdit, Handler: p.editHere},
			{Keys: []string{"d"}, Hint: "forget", Description: "forget this item, or all that are marked, after a question", Disabled: p.noForget, Handler: p.forgetHere},
			{Keys: []string{"c"}, Hint: "create", Description: "create an item here, in $EDITOR", Disabled: p.noCreate, Handler: p.createHere},
			{Keys: []string{"A"}, Description: "append to this item, in $EDITOR", Disabled: p.noEdit, Handler: p.appendHere},
			{Keys: []string{"a"}, Hint: "hidden", Description: "show or leave out archived and bookkeeping items and hidden tiers", Handler: p.toggleHidden},
			{Keys: []string{"o"}, Hint: "order", Description: "the next order that the store has", Disabled: p.items.oneOrder, Handler: p.items.nextOrder},
			{Keys: []string{"y"}, Hint: "copy ref", Description: "copy the item's reference to the clipboard of the terminal", Disabled: p.noItem, Handler: p.copyRef},
			{Keys: []string{"Y"}, Description: "copy the row as one line of JSON", Disabled: p.noItem, Handler: p.copyRow},
			{Keys: []string{"x"}, Hint: "export", Description: "export the table as it is filtered to a file, CSV or JSON lines", Disabled: unless(p.noItem, p.d.noExport), Handler: p.exportTable},
			{Keys: []string{"m"}, Description: "markdown rendered, or the text as it is stored", Handler: p.toggleMarkdown},
			{Keys: []string{"H"}, Hint: "history", Description: "the recorded versions of this item, to read and to compare", Disabled: p.noHistory, Handler: p.historyHere},
			{Keys: []string{"left", "h"}, Show: "left", Description: "back to the stores", Handler: p.back},
		}, aside(p.reader.pager, "preview")...), p.items.marks.bindings(p.noItem, p.items.move)...), movement(p.items, "item")...)
	}
	return append([]Binding{
		{Keys: []string{"n"}, Hint: "next", Description: "the next item of the list", Handler: func() tea.Cmd { return p.neighbour(1) }},
		{Keys: []string{"p"}, Hint: "previous", Description: "the item before", Handler: func() tea.Cmd { return p.neighbour(-1) }},
		{Keys: []string{"e"}, Hint: "edit", Description: "edit this item in $EDITOR; nothing is written before you have seen the difference", Disabled: p.noEdit, Handler: p.editHere},
		{Keys: []string{"A"}, Hint: "append", Description: "append to this item, in $EDITOR", Disabled: p.noEdit, Handler: p.appendHere},
		{Keys: []string{"d"}, Hint: "forget", Description: "forget this item, after a question", Disabled: p.noForget, Handler: p.forgetHere},
		{Keys: []string{"m"}, Hint: "markdown", Description: "markdown rendered, or the text as it is stored", Handler: p.toggleMarkdown},
		{Keys: []string{"y"}, Hint: "copy text", Description: "copy the item's text to the clipboard of the terminal", Handler: p.copyBody},
		{Keys: []string{"Y"}, Description: "copy the row as one line of JSON", Handler: p.copyRow},
		{Keys: []string{"x"}, Hint: "export", Description: "export the item to a file, as it is stored", Disabled: p.d.noExport, Handler: func() tea.Cmd { return p.d.app.exportItem(p.reader.want.ref) }},
		{Keys: []string{"H"}, Hint: "history", Description: "the recorded versions of this item, to read and to compare", Disabled: p.noHistory, Handler: p.historyHere},
		{Keys: []string{"left", "h"}, Show: "left", Description: "back to the list", Handler: p.back},
	}, movement(p.reader.pager, "line")...)
}

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

func (p *tiers) noItem() string {
	if _, ok := p.items.list.current(); !ok {
		return "there is no item here"
	}
	return ""
}

func (p *tiers) noForget() string {
	if why := p.noItem(); why != "" {
		return why
	}
	return p.d.locked(p.items.at.store)
}

// here is the item that keys act on, with the revision that was shown.
func (p *tiers) here() (model.Ref, model.Revision) {
	ref := p.items.wanted().ref
	if p.level == levelItem {
		ref = p.reader.want.ref
	}
	if p.reader.shown == ref {
		return ref, p.reader.rev
	}
	return ref, ""
}

func (p *tiers) noEdit() string {
	if why := p.noItem(); why != "" {
		return why
	}
	return p.d.noEdit(p.items.at.store)
}

func (p *tiers) editHere() tea.Cmd {
	ref, _ := p.here()
	return p.d.app.editItem(ref)
}

func (p *tiers) appendHere() tea.Cmd {
	ref, _ := p.here()
	return p.d.app.appendItem(ref)
}

// place is where a new item would go.
func (p *tiers) place() scopeOf {
	if p.level != levelOverview {
		return p.items.at
	}
	r, _ := p.overview.current()
	return r.at
}

func (p *tiers) noCreate() string {
	at := p.place()
	if at.store == "" {
		return "no store is open"
	}
	return p.d.noCreateIn(at.store)
}

// noCreateIn says why a store takes no new item.
func (d *desk) noCreateIn(store string) string {
	if why := d.noEdit(store); why != "" {
		return why
	}
	s, err := d.fleet.Store(store)
	if err == nil && !s.Capabilities()["retain"] {
		return "this store takes no new items"
	}
	return ""
}

func (p *tiers) createHere() tea.Cmd { return p.d.app.createIn(p.place()) }

func (p *tiers) forgetHere() tea.Cmd {
	if p.level == levelItems && p.items.marks.n() > 0 {
		return p.forgetMarked()
	}
	return p.d.forget(p.here())
}

// forgetMarked asks about the marked items, in the order of marking.
func (p *tiers) forgetMarked() tea.Cmd {
	m := p.items.marks
	if why := p.d.noBulk(); why != "" && m.n() > 1 {
		p.d.say(toneWarn, p.d.esc.Const(why))
		return nil
	}
	items := make([]target, 0, m.n())
	for _, id := range m.order {
		it := m.kept[id]
		items = append(items, target{ref: model.Ref{Store: p.items.at.store, ID: id}, name: id, seen: it.revision, stamp: it.stamp, bytes: it.bytes})
	}
	if len(items) == 1 {
		return p.d.forget(items[0].ref, items[0].seen)
	}
	return p.d.app.forgetMany(p.items.at.store, items, "Forget", "item")
}

func (p *tiers) noHistory() string {
	if why := p.noItem(); why != "" {
		return why
	}
	s, err := p.d.fleet.Store(p.items.at.store)
	switch {
	case err != nil:
		return "the store is not open: 1 Health tries it again"
	case s.History == nil:
		return "this store keeps no earlier versions"
	}
	return ""
}

func (p *tiers) historyHere() tea.Cmd {
	ref, _ := p.here()
	return p.d.history(ref)
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
	if p.level == levelItem {
		return tea.Batch(p.reader.open(p.reader.want, true), p.items.list.refresh())
	}
	p.reader.clear()
	return tea.Batch(p.layout(), p.items.list.refresh())
}

func (p *tiers) openHere() tea.Cmd {
	r, _ := p.overview.current()
	return p.openList(r.at)
}

func (p *tiers) toggleHidden() tea.Cmd {
	p.overview.hidden = !p.overview.hidden
	word := "left out"
	if p.overview.hidden {
		word = "shown"
	}
	p.d.say(toneInfo, p.d.st.esc.Sprintf("hidden tiers, archived and bookkeeping items are %s", word))
	p.overview.build()
	if p.level == levelItems {
		return p.items.showHidden(p.overview.hidden)
	}
	return p.overview.show()
}

func (p *tiers) readHere() tea.Cmd {
	p.level = levelItem
	return tea.Batch(p.layout(), p.reader.open(p.items.wanted(), false), p.reader.whole())
}

func (p *tiers) neighbour(by int) tea.Cmd {
	p.items.pinned = false
	return tea.Batch(p.items.list.move(by), p.reader.open(p.items.wanted(), false))
}

func (p *tiers) copyRef() tea.Cmd { return p.d.copy(p.items.wanted().ref) }

// copyBody copies what is on the screen, not what the store holds by now.
func (p *tiers) copyBody() tea.Cmd {
	if p.reader.pager.text == nil || p.reader.shown != p.reader.want.ref {
		p.d.say(toneInfo, p.d.esc.Const("it is still being read"))
		return nil
	}
	return p.d.copyText(p.d.esc.LineMax(p.reader.shown.ID, maxTitle), p.reader.pager.text.body)
}

func (p *tiers) copyRow() tea.Cmd {
	row, ok := p.items.list.current()
	if p.level == levelItem && row.header.ID != p.reader.want.ref.ID {
		p.d.say(toneInfo, p.d.esc.Const("this item has no row in the list that is loaded; y copies its text"))
		return nil
	}
	if !ok {
		return nil
	}
	return p.d.copyRow(headerDatum(p.items.at.store, row.header).object())
}

func (p *tiers) toggleMarkdown() tea.Cmd {
	on := !p.reader.pager.markdown
	word := "the text is shown as it is stored"
	if on {
		word = "markdown is rendered; m shows the text as it is stored"
	}
	p.d.say(toneInfo, p.d.esc.Const(word))
	return p.reader.pager.asMarkdown(on)
}

// exportTable writes the list with its filter and order, all pages.
func (p *tiers) exportTable() tea.Cmd {
	fetch, store := p.items.list.fetch, p.items.at.store
	name := store
	if p.items.at.tier != "" {
		name += "-" + p.items.at.tier
	}
	return p.d.app.exportTable(name, func(ctx context.Context, write func(datum) error) error {
		return eachRow(ctx, fetch, func(r itemRow) error { return write(headerDatum(store, r.header)) })
	})
}

// eachRow goes through all pages of a list.
func eachRow[T any](ctx context.Context, fetch fetcher[T], do func(T) error) error {
	for at := (from{}); ; {
		page, err := fetch(ctx, at, model.MaxPage)
		if err != nil {
			return err
		}
		for _, r := range page.rows {
			if err := do(r); err != nil {
				return err
			}
		}
		if page.next == "" {
			return nil
		}
		at = from{cursor: page.next}
	}
}
