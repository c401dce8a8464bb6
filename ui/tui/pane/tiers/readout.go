package tiers

import (
	"slices"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/prose"
)

func (o *overview) Notices() []safetext.Text {
	if len(o.folded) == 0 || o.Query != "" {
		return nil
	}
	return []safetext.Text{o.d.Esc.Const("unfold NUMBER lists the scopes and tiers of a store, unfold all those of every store")}
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

func (l *items) Facts() desk.ListFacts {
	return desk.ListFacts{Name: "the items of " + l.At.Store, Noun: "item", Query: l.Query}
}

func (l *items) Shape() any { return [...]any{l.At, l.Query, l.Order, l.Hidden} }

func (l *items) Row() safetext.Text {
	r, _ := l.Window.Current()
	esc, h := l.d.Esc, r.Raw.Header
	text := esc.LineMax(h.ID, prose.MaxTitle)
	if h.Title != "" && h.Title != h.ID {
		text = esc.Sprintf("%s, id %s", esc.LineMax(desk.FirstWords(h.Title), prose.MaxTitle), text)
	}
	text = esc.Sprintf("%s, tier %s, %s", text, esc.Line(h.Tier), prose.Size(h.Bytes))
	if part := l.d.Part(l.Item()); part != "" {
		text = esc.Sprintf("%s, %s", text, esc.Const(string(part)))
	}
	for _, f := range h.Flags {
		text = esc.Sprintf("%s, %s", text, esc.Line(string(f)))
	}
	return text
}

func (l *items) Item() model.Ref { return l.refHere() }
