package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
)

// The keys of the Tiers pane by its levels, and what they do to the item at the
// cursor or to what is marked.

func (p *tiers) bindings() []act.Act {
	switch {
	case p.typing() != nil:
		return p.inputBindings()
	case p.level == levelOverview:
		return append(append([]act.Act{
			{Keys: []string{"enter", "right", "l"}, Show: "enter", Name: "items", Doc: "the items of this store, scope or tier", Why: p.noList, Do: p.openHere},
			{Keys: []string{"/"}, Name: "filter", Doc: "show the stores, scopes and tiers that have these words; ! in front shows the others", Why: p.noTree, Do: p.overview.startFilter},
			{Keys: []string{"f"}, Doc: "jump to a store, scope or tier by its first letters; :go takes a reference", Why: p.noTree, Do: p.overview.startJump},
			{Keys: []string{"o"}, Doc: "the next order: as the stores have it, most items, most bytes, by name", Do: p.overview.nextOrder},
			act.Create.With(p.noCreate, p.createHere),
			{Keys: []string{"a"}, Name: "hidden", Doc: "show or leave out hidden tiers and archived items", Do: p.toggleHidden},
			{Keys: []string{"x"}, Doc: "export the tree as it is shown to a file, CSV or JSON lines", Why: act.Unless(p.noList, p.d.noTable), Do: p.overview.exportTree},
		}, act.Aside(p.overview.detail, "description")...), act.Movement(&p.overview.table, "row")...)
	case p.level == levelItems && p.items.marks.walk != nil:
		return append(p.items.marks.bindings(p.noItem, p.items.Move), act.Movement(p.items, "item")...)
	case p.level == levelItems:
		return append(append(append(append(p.items.list.stopLooking(&p.d.loop, p.items.preview), []act.Act{
			{Keys: []string{"enter", "right", "l"}, Show: "enter", Name: "read", Doc: "read this item on the whole screen", Why: p.noItem, Do: p.readHere},
			{Keys: []string{"/"}, Name: "filter", Doc: "filter the list; the store searches ids, titles and bodies. ! in front leaves out what has the words in its title or id", Do: p.items.startFilter},
			{Keys: []string{"f"}, Doc: "jump to a row by the first letters of its title or id; :go takes a reference", Why: p.noItem, Do: p.items.startJump},
			act.Edit.With(p.noEdit, func() tea.Cmd { return p.d.edits.editItem(p.items.wanted().ref) }),
			act.Forget.With(p.noForget, p.forgetHere),
			act.Create.With(p.noCreate, p.createHere),
			act.Append.With(p.noEdit, func() tea.Cmd { return p.d.edits.appendItem(p.items.wanted().ref) }),
			{Keys: []string{"a"}, Name: "hidden", Doc: "show or leave out archived and bookkeeping items and hidden tiers", Do: p.toggleHidden},
			{Keys: []string{"o"}, Name: "order", Doc: "the next order that the store has", Why: p.items.oneOrder, Do: p.items.nextOrder},
			{Keys: []string{"y"}, Name: "copy ref", Doc: "copy the item's reference to the clipboard of the terminal", Why: p.noItem, Do: p.copyRef},
			{Keys: []string{"Y"}, Doc: "copy the row as one line of JSON", Why: p.noItem, Do: p.copyRow},
			act.Export.With(act.Unless(p.noItem, p.d.noExport), p.exportTable),
			{Keys: []string{"m"}, Doc: "markdown rendered, or the text as it is stored", Do: p.reader.toggleMarkdown},
			act.History.With(p.noHistory, func() tea.Cmd { return p.d.revisions.openHistory(p.items.wanted().ref) }),
			{Keys: []string{"left", "h"}, Show: "left", Doc: "back to the stores", Do: p.back},
		}...), act.Aside(p.reader.pager, "preview")...), p.items.marks.bindings(p.noItem, p.items.Move)...), act.Movement(p.items, "item")...)
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
