package tiers

import (
	"cmp"
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/pane"
)

// The keys of the tree, and those of the list of items with their acts on the item at the cursor or on marked ones.

// Bindings has hints without the export: there is no room for it.
func (o *overview) Bindings() []act.Act {
	out := o.List.Bindings()
	if i := slices.IndexFunc(out, func(b act.Act) bool { return b.Verb == act.Export.Verb }); i >= 0 {
		out[i].Name = ""
	}
	return out
}

func (p *Pane) treeKeys() []act.Act {
	return []act.Act{
		act.Items.Called("the items of this store, scope or tier").With(p.noList, func() tea.Cmd { return p.d.Open(p.place()) }),
		act.Filter.Called("show the stores, scopes and tiers that have these words; ! in front shows the others").Taking(p.Overview.Apply).With(p.noTree, p.Overview.StartFilter),
		{Keys: []string{"space"}, Name: "fold", Verb: act.Unfold.Verb, Args: act.Unfold.Args, Doc: "list what lies below this store or scope, or only its sums", Why: p.noFold, Do: p.Overview.fold},
		{Keys: []string{"F"}, Verb: act.UnfoldAll.Verb, Doc: "fold every store, or unfold all", Why: p.noTree, Do: p.Overview.foldAll},
		{Keys: []string{"o", ">"}, Show: "o >", Doc: "the next order: as the stores have it, most items, most bytes, by name", Do: func() tea.Cmd { return p.Overview.nextOrder(1) }},
		{Keys: []string{"<"}, Doc: "the order before", Do: func() tea.Cmd { return p.Overview.nextOrder(-1) }},
		act.Create.Whole().With(p.noCreate, p.createHere),
		{Keys: act.Hidden.Keys, Verb: act.Hidden.Verb, Doc: "show or leave out hidden tiers and archived items", Do: p.toggleHidden},
	}
}

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

// noFold says why a row is not folded. On a screen one without rows below folds the row above it, and the cursor shows that.
func (p *Pane) noFold() string {
	return cmp.Or(p.noRow(), act.When(p.d.Spoken && !p.Overview.Here().branch, "nothing lies below this row"))
}

func (p *Pane) noCreate() string {
	if p.level == p.Overview && p.noRow() != "" {
		return p.noRow()
	}
	return NoCreateIn(p.d.Desk, p.place().Store)
}

func (p *Pane) createHere() tea.Cmd { return p.d.Edits.CreateIn(p.place()) }

func (p *Pane) toggleHidden() tea.Cmd {
	p.Overview.hidden = !p.Overview.hidden
	word := "left out"
	if p.Overview.hidden {
		word = "shown"
	}
	p.d.Tell("hidden tiers, archived and bookkeeping items are %s", word)
	cmd := p.Overview.changed()
	if p.level == p.Items {
		p.Items.hide(p.Overview.hidden)
		p.Items.Unfiltered = nil
		cmd = tea.Batch(cmd, p.Items.Restart(false))
	}
	return cmd
}

// NoCreateIn says why a store takes no new item.
func NoCreateIn(d *desk.Desk, store string) string {
	s, err := d.Fleet.Store(store)
	return cmp.Or(edit.NoEdit(d, store, ""), act.When(err == nil && !s.Capabilities()["retain"], "this store takes no new items"))
}

// Bindings are the keys of the list of items, or of the page of one.
func (l *items) Bindings() []act.Act {
	noEdit := l.noItemOr(func(store string) string { return edit.NoEdit(l.d.Desk, store, l.tierHere()) })
	noAppend := l.noItemOr(func(store string) string { return edit.NoAppend(l.d.Desk, store, l.tierHere()) })
	switch {
	case l.Full:
		return l.ItemPage.Bindings()
	case l.Typing() != nil:
		return l.FilterKeys("items", l.Apply)
	}
	return slices.Concat(l.Window.StopLooking(&l.d.Loop, l.Moved), []act.Act{
		act.Open.Called("read this item on the whole screen").With(l.noItem, l.readHere),
		act.Filter.Called("filter the list; the store searches ids, titles and bodies. ! in front leaves out what has the words in its title or id. These terms select by a field: "+operator.QueryTerms).Taking(l.Apply).With(nil, l.StartFilter),
		act.Edit.With(noEdit, func() tea.Cmd { return l.d.Edits.EditItem(l.refHere()) }),
		act.Forget.With(l.noItemOr(l.d.Locked), l.forget),
		act.Create.Whole().With(l.p.noCreate, l.p.createHere),
		act.Append.With(noAppend, func() tea.Cmd { return l.d.Edits.AppendItem(l.refHere()) }),
		act.Hidden.With(nil, l.p.toggleHidden),
		act.Order.Taking(l.orderBy).With(l.oneOrder, l.nextOrder(1)),
		{Keys: []string{"y"}, Name: "copy ref", Doc: "copy the item's reference to the clipboard of the terminal", Why: l.noItem, Do: func() tea.Cmd { return l.d.Copy(l.refHere()) }},
		{Keys: []string{"Y"}, Doc: "copy the row as one line of JSON", Why: l.noItem, Do: func() tea.Cmd {
			row, _ := l.Window.Current()
			return l.d.CopyRow(desk.HeaderDatum(l.At.Store, row.Raw.Header).Object())
		}},
		act.Export.Whole().With(act.Unless(l.noItem, l.d.NoExport), l.exportTable),
		{Keys: []string{"m"}, Doc: "markdown rendered, or the text as it is stored", Do: func() tea.Cmd { return pane.ToggleMarkdown(l.d.Desk, l.Detail.Pager) }},
		act.History.With(l.noItemOr(func(store string) string { return pane.NoHistory(l.d.Desk, store) }), func() tea.Cmd { return change.Versions(l.d.Desk, l.refHere()) }),
		act.Log.With(act.Unless(l.noItem, l.d.NoLog), func() tea.Cmd { return l.d.Log(l.refHere()) }),
		{Keys: []string{"left", "h"}, Show: "left", Doc: "back to the stores", Do: l.Back},
	}, l.sortKeys(), act.Aside(l.Detail, "preview"), l.Marks.Bindings(l.noItem, l.Move), act.Movement(l, "item"))
}

// Beneath are the keys of the list under the page.
func (l *items) Beneath() []act.Act {
	if !l.Full {
		return nil
	}
	l.Full = false
	defer func() { l.Full = true }()
	return l.Bindings()
}

// rowOfPage is the row of the item on the page.
func (l *items) rowOfPage() (desk.Datum, string) {
	row, ok := l.Window.Current()
	if !ok || row.Raw.ref() != l.refHere() {
		return desk.Datum{}, "this item has no row in the list that is loaded"
	}
	return desk.HeaderDatum(l.At.Store, row.Raw.Header), ""
}

// tierHere is the tier of the item at the cursor, or of the one on the page; empty: unknown.
func (l *items) tierHere() string { return l.Here().Tier }

func (l *items) noItem() string {
	_, ok := l.Window.Current()
	return act.When(!ok, "there is no item here")
}

// noItemOr joins the reasons why an act cannot be done on the item at the cursor.
func (l *items) noItemOr(no func(store string) string) func() string {
	return act.Unless(l.noItem, func() string { return no(l.At.Store) })
}

func (l *items) readHere() tea.Cmd {
	row, _ := l.Window.Current()
	return l.OpenPage(row)
}

// forget asks about the marked items, or about the one at the cursor.
func (l *items) forget() tea.Cmd {
	if l.Marks.N() > 0 {
		return l.forgetMarked()
	}
	ref := l.refHere()
	return change.Forget(l.d.Desk, ref, pane.Seen(l.Detail.Pager, ref), "")
}

// forgetMarked asks about the marked items, in the order of marking.
func (l *items) forgetMarked() tea.Cmd {
	m := l.Marks
	if why := l.d.NoBulk(); why != "" && m.N() > 1 {
		return l.d.Warn("%s", why)
	}
	if why := m.Uncounted(); why != "" {
		return l.d.Warn("%s", why)
	}
	items := make([]change.Target, 0, m.N())
	for _, r := range m.Rows() {
		it := r.Raw
		items = append(items, change.Target{Ref: it.ref(), Name: it.ID, Title: it.Title, Seen: it.Revision, Stamp: it.Stamp, Bytes: it.Bytes, Hidden: !m.Shown(r.Key)})
	}
	if len(items) == 1 {
		return change.Forget(l.d.Desk, items[0].Ref, items[0].Seen, items[0].Stamp)
	}
	return change.ForgetMany(l.d.Work, change.Question{Items: items, Verb: "Forget", What: "item", Filter: l.Query})
}

// exportTable writes the list with its filter and order, all pages.
func (l *items) exportTable() tea.Cmd {
	fetch, store := l.Window.Fetch, l.At.Store
	name := store
	if l.At.Tier != "" {
		name += "-" + l.At.Tier
	}
	return l.d.Exports.ExportTable(name, func(ctx context.Context, write func(desk.Datum) error) ([]safetext.Text, error) {
		return list.EachRow(ctx, l.d.Esc, fetch, func(r itemRow) error { return write(desk.HeaderDatum(store, r.Raw.Header)) })
	})
}
