package tiers

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

func (o *overview) Begin(query string) (tea.Cmd, error) {
	o.p.show(o)
	_, err := o.List.Begin(query)
	return o.Refresh(), err
}

func (o *overview) ReadPage(ctx context.Context, cursor string, limit int) (desk.PageRead, error) {
	page, err := o.List.ReadPage(ctx, cursor, limit)
	if len(o.folded) > 0 && o.Query == "" && cursor == "" {
		page.Notices = append(page.Notices, o.d.Esc.Const("unfold NUMBER lists the scopes and tiers of a store, unfold all those of every store"))
	}
	return page, err
}

func (o *overview) Place(n int) {
	o.p.show(o)
	o.List.Place(n)
}

func (o *tree) tell(r tierRow) safetext.Text {
	esc := o.d.Esc
	holds := esc.Sprintf("%s, %s", prose.Plural(r.items, "item"), prose.Size(r.bytes))
	switch {
	case r.isTier && r.spec.Cap > 0:
		holds = esc.Sprintf("%s, cap %s per item", holds, prose.Capacity(r.spec))
		fallthrough
	case r.isTier:
		return noted(esc, esc.Sprintf("Tier %s of %s: %s", r.name, desk.OrElse(esc.Line(r.at.Scope), esc.Line(r.at.Store)), holds), r.note)
	case r.depth > 0:
		return noted(esc, esc.Sprintf("Scope %s: %s", r.name, holds), r.note)
	}
	members := o.d.Fleet.Members()
	m := members[slices.IndexFunc(members, func(m backends.Member) bool { return m.Name == r.at.Store })]
	out := esc.Sprintf("Store %s, %s: open", r.name, esc.Line(m.Kind))
	if m.Store.ReadOnly {
		out = esc.Sprintf("%s, read-only: %s", out, esc.Line(m.Store.ReadOnlyReason))
	}
	switch _, counted := o.Tallies[m.Name]; {
	case m.Err != nil:
		return esc.Sprintf("Store %s, %s: NOT OPEN: %s", r.name, esc.Line(m.Kind), prose.Reason(esc, m.Err))
	case r.failed:
		return noted(esc, out, r.note)
	case counted:
		return esc.Sprintf("%s. It holds %s", out, holds)
	}
	return out
}

// noted is a sentence and the note behind it, if there is one.
func noted(esc safetext.Escaper, said, note safetext.Text) safetext.Text {
	if note.IsEmpty() {
		return said
	}
	return esc.Sprintf("%s. %s", said, note)
}

// listed is the list of a place for reading out. The pane shows that place while the list is current.
type listed struct {
	desk.Fixed
	p      *Pane
	at     desk.ScopeOf
	query  string
	read   []itemRow   // of the page that was read last
	order  model.Order // of that page, as hidden
	hidden bool
}

func (r *listed) Address() int        { return r.p.at }
func (r *listed) Bindings() []act.Act { return r.p.Bindings() }

func (p *Pane) Readout(at desk.ScopeOf) desk.Readout {
	s, _ := p.d.Fleet.Store(at.Store)
	spec, _ := s.Tier(at.Tier)
	r := &listed{p: p, hidden: p.Overview.hidden || spec.Hidden, at: at}
	if p.level == p.Items && p.Items.At == at {
		r.order = p.Items.Order
	}
	return r
}

func (r *listed) Facts() desk.ListFacts {
	return desk.ListFacts{Name: "the items of " + r.at.Store, Noun: "item"}
}

func (r *listed) Begin(query string) (tea.Cmd, error) {
	s, err := r.p.d.Fleet.Store(r.at.Store)
	_, known := s.Tier(r.at.Tier)
	switch {
	case err != nil:
		return nil, err
	case r.at.Tier != "" && !known:
		return nil, model.Errorf(model.InvalidInput, "list", "%s has no tier %q", s.Name, r.at.Tier)
	case s.Browser == nil:
		return nil, model.Errorf(model.Unsupported, "list", "this store cannot list its items; recall searches it")
	}
	if err := r.p.Items.Check(query); err != nil {
		return nil, err
	}
	r.query = query
	r.show()
	r.p.Items.Marks.Clear()
	return nil, nil
}

// show brings the pane to the list, without a question of its own.
func (r *listed) show() {
	it := r.p.Items
	r.p.show(it)
	_ = it.open(r.at, r.hidden)
	it.Query, it.Order = r.query, r.order
	_ = it.Window.Reset(it.fetcher())
}

func (r *listed) Changed() bool {
	order, hidden, it := r.order, r.hidden, r.p.Items
	if r.p.level == it && it.At == r.at {
		r.order, r.hidden = it.Order, it.Hidden
	}
	return r.order != order || r.hidden != hidden
}

func (r *listed) ReadPage(ctx context.Context, cursor string, limit int) (desk.PageRead, error) {
	page, err := r.p.Items.Window.Fetch(ctx, list.From{Cursor: cursor}, limit)
	if err != nil {
		return desk.PageRead{}, err
	}
	r.read = page.Rows
	return desk.PageRead{Rows: len(page.Rows), Next: page.Next, Total: page.Total, Problems: page.Problems}, nil
}

func (r *listed) Row(n int) safetext.Text {
	esc, h := r.p.d.Esc, r.read[n].Raw
	text := esc.LineMax(h.ID, prose.MaxTitle)
	if h.Title != "" && h.Title != h.ID {
		text = esc.Sprintf("%s, id %s", esc.LineMax(desk.FirstWords(h.Title), prose.MaxTitle), text)
	}
	text = esc.Sprintf("%s, tier %s, %s", text, esc.Line(h.Tier), prose.Size(h.Bytes))
	if part := r.p.d.Part(r.Item(n)); part != "" {
		text = esc.Sprintf("%s, %s", text, esc.Const(string(part)))
	}
	for _, f := range h.Flags {
		text = esc.Sprintf("%s, %s", text, esc.Line(string(f)))
	}
	return text
}

func (r *listed) Place(n int) {
	r.show()
	w := r.p.Items.Window
	w.Rows, w.Sel, w.Loaded = r.read, n, true
}

func (r *listed) Item(n int) model.Ref {
	return r.read[n].Raw.ref()
}

func (r *listed) DetailOf(ctx context.Context, n int) *text.Page {
	return pane.Read(ctx, r.p.d.Desk, r.Item(n), nil)
}

func (r *listed) Marked() list.Marked { return r.p.Items.Marks }
func (r *listed) Mark(n int)          { r.p.Items.Marks.Add(r.read[n]) }
