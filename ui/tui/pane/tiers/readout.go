package tiers

import (
	"context"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// Readout is the list of a place for reading out. The pane shows that place while the list is
// current.
type Readout struct {
	p      *Pane
	at     desk.ScopeOf
	query  string
	Order  model.Order
	Hidden bool
	read   []ItemRow // of the page that was read last
}

func (p *Pane) Readout(at desk.ScopeOf) *Readout { return &Readout{p: p, at: at} }

func (r *Readout) Address() int { return r.p.at }

func (r *Readout) Facts() desk.ListFacts {
	return desk.ListFacts{Name: "the items of " + r.at.Store, Noun: "item"}
}

func (r *Readout) Begin(query string) error {
	s, err := r.p.d.Fleet.Store(r.at.Store)
	if err != nil {
		return err
	}
	spec, known := s.Tier(r.at.Tier)
	switch {
	case s.Browser == nil:
		return model.Errorf(model.Unsupported, "list", "this store cannot list its items; recall searches it")
	case r.at.Tier != "" && !known:
		return model.Errorf(model.InvalidInput, "list", "%s has no tier %q", s.Name, r.at.Tier)
	}
	r.query, r.Hidden = query, r.Hidden || spec.Hidden
	r.show()
	r.p.Items.Marks.Clear()
	return nil
}

// show brings the pane to the list, without a question of its own.
func (r *Readout) show() {
	it := r.p.Items
	r.p.Level = LevelItems
	_ = it.Open(r.at, r.Hidden)
	it.Query, it.Order = r.query, r.Order
	_ = it.Restart(nil, false)
}

func (r *Readout) ReadPage(ctx context.Context, cursor string, limit int) (desk.PageRead, error) {
	page, err := r.p.Items.List.Fetch(ctx, list.From{Cursor: cursor}, limit)
	if err != nil {
		return desk.PageRead{}, err
	}
	r.read = page.Rows
	out := desk.PageRead{Rows: len(page.Rows), Next: page.Next, Total: page.Total}
	for _, p := range page.Problems {
		out.Notices = append(out.Notices, desk.Said{Text: r.p.d.Esc.LineMax(p, prose.MaxReason)}.Words(r.p.d.Esc))
	}
	return out, nil
}

func (r *Readout) Row(n int) safetext.Text {
	esc, h := r.p.d.Esc, r.read[n].Header
	text := esc.LineMax(h.ID, prose.MaxTitle)
	if h.Title != "" && h.Title != h.ID {
		text = esc.Sprintf("%s, id %s", esc.LineMax(h.Title, prose.MaxTitle), text)
	}
	text = esc.Sprintf("%s, tier %s, %s", text, esc.Line(h.Tier), prose.Size(h.Bytes))
	for _, f := range h.Flags {
		text = esc.Sprintf("%s, %s", text, esc.Line(string(f)))
	}
	return text
}

func (r *Readout) Place(n int) {
	r.show()
	w := r.p.Items.List
	w.Rows, w.Sel, w.Loaded = r.read, n, true
}

func (r *Readout) Renew(context.Context, int) error { return nil }

func (r *Readout) Item(n int) model.Ref {
	return model.Ref{Store: r.at.Store, ID: r.read[n].Header.ID}
}

func (r *Readout) DetailOf(ctx context.Context, n int) (*text.Page, model.Revision) {
	return pane.Read(ctx, r.p.d.Desk, pane.Reading{Ref: r.Item(n)})
}

func (r *Readout) Marked() list.Marked { return r.p.Items.Marks }
func (r *Readout) Mark(n int)          { r.p.Items.Marks.Add(r.read[n]) }

// Acts are those of the whole list and of the marked items: one item has a page of its own. Order
// and hidden items are commands of the linear mode alone.
func (r *Readout) Acts() []act.Act {
	p, table, create := r.p, act.Export, act.Create
	table.Args, create.Args = "", ""
	return []act.Act{
		create.With(p.noCreate, p.createHere),
		act.Forget.With(p.noForget, p.forgetMarked),
		table.With(act.Unless(p.noItem, p.d.NoExport), p.exportTable),
		{Keys: []string{"o"}, Verb: "order"}, {Keys: []string{"a"}, Verb: "hidden"},
	}
}

// Orders are those that the store has.
func (r *Readout) Orders() []model.Order { return r.p.Items.Orders }
