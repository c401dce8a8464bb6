package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/tui/kit/keys"
	"memdesk/ui/tui/kit/paint"
)

// The keys of the Tiers pane by its levels, and what they do to the item at the
// cursor or to what is marked.

func (p *tiers) bindings() []keys.Binding {
	switch {
	case p.typing() != nil:
		return p.inputBindings()
	case p.level == levelOverview:
		return append(append([]keys.Binding{
			{Keys: []string{"enter", "right", "l"}, Show: "enter", Hint: "items", Description: "the items of this store, scope or tier", Disabled: p.noList, Handler: p.openHere},
			{Keys: []string{"/"}, Hint: "filter", Description: "show the stores, scopes and tiers that have these words; ! in front shows the others", Disabled: p.noTree, Handler: p.overview.startFilter},
			{Keys: []string{"f"}, Description: "jump to a store, scope or tier by its first letters; :go takes a reference", Disabled: p.noTree, Handler: p.overview.startJump},
			{Keys: []string{"o"}, Description: "the next order: as the stores have it, most items, most bytes, by name", Handler: p.overview.nextOrder},
			{Keys: []string{"c"}, Hint: "create", Description: "create an item here, in $EDITOR", Disabled: p.noCreate, Handler: p.createHere},
			{Keys: []string{"a"}, Hint: "hidden", Description: "show or leave out hidden tiers and archived items", Handler: p.toggleHidden},
			{Keys: []string{"x"}, Description: "export the tree as it is shown to a file, CSV or JSON lines", Disabled: keys.Unless(p.noList, p.d.noTable), Handler: p.overview.exportTree},
		}, keys.Aside(p.overview.detail, "description")...), keys.Movement(&p.overview.table, "row")...)
	case p.level == levelItems && p.items.marks.walk != nil:
		return append(p.items.marks.bindings(p.noItem, p.items.Move), keys.Movement(p.items, "item")...)
	case p.level == levelItems:
		return append(append(append(append(p.items.list.stopLooking(p.d, p.items.preview), []keys.Binding{
			{Keys: []string{"enter", "right", "l"}, Show: "enter", Hint: "read", Description: "read this item on the whole screen", Disabled: p.noItem, Handler: p.readHere},
			{Keys: []string{"/"}, Hint: "filter", Description: "filter the list; the store searches ids, titles and bodies. ! in front leaves out what has the words in its title or id", Handler: p.items.startFilter},
			{Keys: []string{"f"}, Description: "jump to a row by the first letters of its title or id; :go takes a reference", Disabled: p.noItem, Handler: p.items.startJump},
			{Keys: []string{"e"}, Hint: "edit", Description: editWords, Disabled: p.noEdit, Handler: func() tea.Cmd { return p.d.edits.editItem(p.items.wanted().ref) }},
			{Keys: []string{"d"}, Hint: "forget", Description: "forget this item, or all that are marked, after a question", Disabled: p.noForget, Handler: p.forgetHere},
			{Keys: []string{"c"}, Hint: "create", Description: "create an item here, in $EDITOR", Disabled: p.noCreate, Handler: p.createHere},
			{Keys: []string{"A"}, Description: "append to this item, in $EDITOR", Disabled: p.noEdit, Handler: func() tea.Cmd { return p.d.edits.appendItem(p.items.wanted().ref) }},
			{Keys: []string{"a"}, Hint: "hidden", Description: "show or leave out archived and bookkeeping items and hidden tiers", Handler: p.toggleHidden},
			{Keys: []string{"o"}, Hint: "order", Description: "the next order that the store has", Disabled: p.items.oneOrder, Handler: p.items.nextOrder},
			{Keys: []string{"y"}, Hint: "copy ref", Description: "copy the item's reference to the clipboard of the terminal", Disabled: p.noItem, Handler: p.copyRef},
			{Keys: []string{"Y"}, Description: "copy the row as one line of JSON", Disabled: p.noItem, Handler: p.copyRow},
			{Keys: []string{"x"}, Hint: "export", Description: "export the table as it is filtered to a file, CSV or JSON lines", Disabled: keys.Unless(p.noItem, p.d.noExport), Handler: p.exportTable},
			{Keys: []string{"m"}, Description: "markdown rendered, or the text as it is stored", Handler: p.reader.toggleMarkdown},
			{Keys: []string{"H"}, Hint: "history", Description: "the recorded versions of this item, to read and to compare", Disabled: p.noHistory, Handler: func() tea.Cmd { return p.d.revisions.openHistory(p.items.wanted().ref) }},
			{Keys: []string{"left", "h"}, Show: "left", Description: "back to the stores", Handler: p.back},
		}...), keys.Aside(p.reader.pager, "preview")...), p.items.marks.bindings(p.noItem, p.items.Move)...), keys.Movement(p.items, "item")...)
	}
	return p.page().bindings()
}

// page is the item on the whole screen.
func (p *tiers) page() itemPage {
	return itemPage{d: p.d, reader: p.reader, of: "item of the list", place: "list", step: p.neighbour, back: p.back, row: func() (datum, string) {
		row, ok := p.items.list.current()
		if !ok || row.header.ID != p.reader.want.ref.ID {
			return datum{}, "this item has no row in the list that is loaded"
		}
		return headerDatum(p.items.at.store, row.header), ""
	}}
}

// noEdit says why the item at the cursor cannot be edited.
func (p *tiers) noEdit() string {
	if why := p.noItem(); why != "" {
		return why
	}
	return p.d.noEdit(p.items.at.store)
}

func (p *tiers) noHistory() string {
	if why := p.noItem(); why != "" {
		return why
	}
	return p.d.noHistory(p.items.at.store)
}

// seen is the revision of the item at the cursor that the operator has looked at.
func (p *tiers) seen() model.Revision {
	if p.reader.shown == p.items.wanted().ref {
		return p.reader.rev
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

func (p *tiers) createHere() tea.Cmd { return p.d.edits.createIn(p.place()) }

func (p *tiers) forgetHere() tea.Cmd {
	if p.level == levelItems && p.items.marks.n() > 0 {
		return p.forgetMarked()
	}
	return p.d.removals.forget(p.items.wanted().ref, p.seen())
}

// forgetMarked asks about the marked items, in the order of marking.
func (p *tiers) forgetMarked() tea.Cmd {
	m := p.items.marks
	if why := p.d.noBulk(); why != "" && m.n() > 1 {
		p.d.say(paint.ToneWarn, p.d.esc.Const(why))
		return nil
	}
	if why := m.uncounted(); why != "" {
		p.d.say(paint.ToneWarn, p.d.esc.Const(why))
		return nil
	}
	items := make([]target, 0, m.n())
	for _, id := range m.order {
		it := m.kept[id]
		items = append(items, target{ref: model.Ref{Store: p.items.at.store, ID: id}, name: id, seen: it.revision, stamp: it.stamp, bytes: it.bytes, hidden: !m.shown(id)})
	}
	if len(items) == 1 {
		return p.d.removals.forget(items[0].ref, items[0].seen)
	}
	return p.d.removals.forgetMany(bulkQuestion{items: items, verb: "Forget", what: "item", filter: p.items.query})
}

func (p *tiers) copyRef() tea.Cmd { return p.d.copy(p.items.wanted().ref) }

func (p *tiers) copyRow() tea.Cmd {
	row, _ := p.items.list.current()
	return p.d.copyRow(headerDatum(p.items.at.store, row.header).object())
}

// exportTable writes the list with its filter and order, all pages.
func (p *tiers) exportTable() tea.Cmd {
	fetch, store := p.items.list.fetch, p.items.at.store
	name := store
	if p.items.at.tier != "" {
		name += "-" + p.items.at.tier
	}
	return p.d.exports.exportTable(name, func(ctx context.Context, write func(datum) error) error {
		return eachRow(ctx, fetch, func(r itemRow) error { return write(headerDatum(store, r.header)) })
	})
}

func (p *tiers) toggleHidden() tea.Cmd {
	p.overview.hidden = !p.overview.hidden
	word := "left out"
	if p.overview.hidden {
		word = "shown"
	}
	p.d.say(paint.ToneInfo, p.d.st.Esc.Sprintf("hidden tiers, archived and bookkeeping items are %s", word))
	p.overview.build()
	if p.level == levelItems {
		return p.items.showHidden(p.overview.hidden)
	}
	return p.overview.show()
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
