package tiers

import (
	"cmp"
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/pane"
)

// The keys of the Tiers pane by its levels, and their acts on the item at the cursor or on marked ones.

func (p *Pane) Bindings() []act.Act {
	noEdit := p.item(func(store string) string { return edit.NoEdit(p.d.Desk, store) })
	switch {
	case p.Level == levelOverview:
		out := p.Overview.Bindings()
		if i := slices.IndexFunc(out, func(b act.Act) bool { return b.Verb == act.Export.Verb }); i >= 0 {
			out[i].Name = "" // the hints have no room for it
		}
		return out
	case p.Typing() != nil:
		return p.Items.FilterKeys("items", p.Items.Apply)
	case p.Level == LevelItems:
		return slices.Concat(p.Items.Window.StopLooking(&p.d.Loop, p.Items.preview), []act.Act{
			act.Open.Called("read this item on the whole screen").With(p.noItem, p.readHere),
			act.Filter.Called("filter the list; the store searches ids, titles and bodies. ! in front leaves out what has the words in its title or id. These terms select by a field: "+operator.QueryTerms).Taking(p.Items.Apply).With(nil, p.Items.StartFilter),
			act.Edit.With(noEdit, func() tea.Cmd { return p.d.Edits.EditItem(p.Items.wanted().Ref) }),
			act.Forget.With(p.item(p.d.Locked), p.forgetHere),
			act.Create.Whole().With(p.noCreate, p.createHere),
			act.Append.With(noEdit, func() tea.Cmd { return p.d.Edits.AppendItem(p.Items.wanted().Ref) }),
			act.Hidden.With(nil, p.toggleHidden),
			act.Order.Taking(p.Items.orderBy).With(p.Items.oneOrder, p.Items.nextOrder(1)),
			{Keys: []string{"y"}, Name: "copy ref", Doc: "copy the item's reference to the clipboard of the terminal", Why: p.noItem, Do: func() tea.Cmd { return p.d.Copy(p.Items.wanted().Ref) }},
			{Keys: []string{"Y"}, Doc: "copy the row as one line of JSON", Why: p.noItem, Do: func() tea.Cmd {
				row, _ := p.Items.Window.Current()
				return p.d.CopyRow(desk.HeaderDatum(p.Items.At.Store, row.Header).Object())
			}},
			act.Export.Whole().With(act.Unless(p.noItem, p.d.NoExport), p.exportTable),
			{Keys: []string{"m"}, Doc: "markdown rendered, or the text as it is stored", Do: p.reader.ToggleMarkdown},
			act.History.With(p.item(func(store string) string { return pane.NoHistory(p.d.Desk, store) }), func() tea.Cmd { return change.Versions(p.d.Desk, p.Items.wanted().Ref) }),
			act.Log.With(act.Unless(p.noItem, p.d.NoLog), func() tea.Cmd { return p.d.Log(p.Items.wanted().Ref) }),
			{Keys: []string{"left", "h"}, Show: "left", Doc: "back to the stores", Do: p.Back},
		}, p.Items.sortKeys(), act.Aside(p.reader.Pager, "preview"), p.Items.Marks.Bindings(p.noItem, p.Items.Move), act.Movement(p.Items, "item"))
	}
	return p.page().Bindings()
}

func (p *Pane) treeKeys() []act.Act {
	return []act.Act{
		act.Items.Called("the items of this store, scope or tier").With(p.noList, func() tea.Cmd { return p.d.Open(p.place()) }),
		act.Filter.Called("show the stores, scopes and tiers that have these words; ! in front shows the others").Taking(p.Overview.Apply).With(p.noTree, p.Overview.StartFilter),
		{Keys: []string{"space"}, Name: "fold", Doc: "list what lies below this store or scope, or only its sums", Why: p.noRow, Do: p.Overview.fold},
		{Keys: []string{"F"}, Doc: "fold every store, or unfold all", Why: p.noTree, Do: p.Overview.foldAll},
		{Keys: []string{"o", ">"}, Show: "o >", Doc: "the next order: as the stores have it, most items, most bytes, by name", Do: func() tea.Cmd { return p.Overview.nextOrder(1) }},
		{Keys: []string{"<"}, Doc: "the order before", Do: func() tea.Cmd { return p.Overview.nextOrder(-1) }},
		act.Create.Whole().With(p.noCreate, p.createHere),
		{Keys: act.Hidden.Keys, Verb: act.Hidden.Verb, Doc: "show or leave out hidden tiers and archived items", Do: p.toggleHidden},
	}
}

// page is the item on the whole screen.
func (p *Pane) page() pane.ItemPage {
	return pane.ItemPage{D: p.d, Reader: p.reader, Of: "item of the list", Place: "list", Step: p.neighbour, Alone: p.Items.Window.Alone, Back: p.Back, Row: func() (desk.Datum, string) {
		row, ok := p.Items.Window.Current()
		if !ok || row.Header.ID != p.reader.Want.Ref.ID {
			return desk.Datum{}, "this item has no row in the list that is loaded"
		}
		return desk.HeaderDatum(p.Items.At.Store, row.Header), ""
	}}
}

// item joins the reasons why an act cannot be done on the item at the cursor.
func (p *Pane) item(no func(store string) string) func() string {
	return act.Unless(p.noItem, func() string { return no(p.Items.At.Store) })
}

func (p *Pane) noItem() string {
	_, ok := p.Items.Window.Current()
	return act.When(!ok, "there is no item here")
}

// place is where a new item would go.
func (p *Pane) place() desk.ScopeOf {
	if p.Level != levelOverview {
		return p.Items.At
	}
	return p.Overview.Here().at
}

func (p *Pane) noCreate() string {
	if p.Level == levelOverview && p.noRow() != "" {
		return p.noRow()
	}
	return NoCreateIn(p.d.Desk, p.place().Store)
}

func (p *Pane) createHere() tea.Cmd { return p.d.Edits.CreateIn(p.place()) }

func (p *Pane) forgetHere() tea.Cmd {
	if p.Level == LevelItems && p.Items.Marks.N() > 0 {
		return p.forgetMarked()
	}
	ref := p.Items.wanted().Ref
	return p.d.Removals.Forget(ref, p.reader.Seen(ref), "")
}

// forgetMarked asks about the marked items, in the order of marking.
func (p *Pane) forgetMarked() tea.Cmd {
	m := p.Items.Marks
	if why := p.d.NoBulk(); why != "" && m.N() > 1 {
		return p.d.Warn("%s", why)
	}
	if why := m.Uncounted(); why != "" {
		return p.d.Warn("%s", why)
	}
	items := make([]change.Target, 0, m.N())
	for _, id := range m.Order {
		it := m.Kept[id]
		items = append(items, change.Target{Ref: model.Ref{Store: p.Items.At.Store, ID: id}, Name: id, Title: it.title, Seen: it.revision, Stamp: it.stamp, Bytes: it.bytes, Hidden: !m.Shown(id)})
	}
	if len(items) == 1 {
		return p.d.Removals.Forget(items[0].Ref, items[0].Seen, items[0].Stamp)
	}
	return p.d.Removals.ForgetMany(change.Question{Items: items, Verb: "Forget", What: "item", Filter: p.Items.Query})
}

// exportTable writes the list with its filter and order, all pages.
func (p *Pane) exportTable() tea.Cmd {
	fetch, store := p.Items.Window.Fetch, p.Items.At.Store
	name := store
	if p.Items.At.Tier != "" {
		name += "-" + p.Items.At.Tier
	}
	return p.d.Exports.ExportTable(name, func(ctx context.Context, write func(desk.Datum) error) ([]safetext.Text, error) {
		return list.EachRow(ctx, p.d.Esc, fetch, func(r ItemRow) error { return write(desk.HeaderDatum(store, r.Header)) })
	})
}

func (p *Pane) toggleHidden() tea.Cmd {
	p.Overview.hidden = !p.Overview.hidden
	word := "left out"
	if p.Overview.hidden {
		word = "shown"
	}
	p.d.Tell("hidden tiers, archived and bookkeeping items are %s", word)
	cmd := p.Overview.changed()
	if p.Level == LevelItems {
		p.Items.Hidden, p.Items.Whole = p.Overview.hidden, nil
		cmd = tea.Batch(cmd, p.Items.Restart(false))
	}
	return cmd
}

// NoCreateIn says why a store takes no new item.
func NoCreateIn(d *desk.Desk, store string) string {
	s, err := d.Fleet.Store(store)
	return cmp.Or(edit.NoEdit(d, store), act.When(err == nil && !s.Capabilities()["retain"], "this store takes no new items"))
}
