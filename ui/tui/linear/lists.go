package linear

import (
	"context"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane/recall"
)

// known is the store of that name, or the only one there is; verb is what it is for.
func (l *linear) known(ctx context.Context, verb, name string) (string, bool) {
	members := l.a.D.Fleet.Members()
	if name == "" && len(members) == 1 {
		name = members[0].Name
	}
	switch {
	case name != "":
		return name, true
	case len(members) > 0:
		l.say("Say which store after the word, as in %s %s. These are the stores:", verb, members[0].Name)
	}
	l.stores(ctx, "")
	return "", false
}

// browsable is a store that lists its items.
func (l *linear) browsable(name string) (model.Store, bool) {
	s, err := l.a.D.Fleet.Store(name)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "list", "this store cannot list its items; recall searches it")
	}
	if err != nil {
		l.failed(err)
	}
	return s, err == nil
}

func (l *linear) tiers(ctx context.Context, argument string) {
	name, ok := l.known(ctx, "tiers", argument)
	if !ok {
		return
	}
	s, ok := l.browsable(name)
	if !ok {
		return
	}
	counts, err := s.Browser.Tiers(ctx)
	if err != nil {
		l.failed(err)
		return
	}
	for _, c := range counts {
		spec, _ := s.Tier(c.Tier)
		scope := ""
		if c.Scope != "" {
			scope = " of " + c.Scope
		}
		limit := ""
		if spec.Cap > 0 {
			limit = ", cap " + prose.Capacity(spec) + " per item"
		}
		l.say("Tier %s%s: %s, %s%s. %s", c.Tier, scope, prose.Plural(c.Items, "item"), prose.Size(c.Bytes), limit, spec.Title)
	}
	l.say("%s in all.", prose.Plural(int64(len(counts)), "row"))
}

// listItems begins the list of a store, a tier, a scope of it.
func (l *linear) listItems(ctx context.Context, argument string) {
	words := append(strings.Fields(argument), "", "", "")
	name, ok := l.known(ctx, "list", words[0])
	if !ok {
		return
	}
	l.place(ctx, desk.ScopeOf{Store: name, Tier: words[1], Scope: words[2]}, "", "", false)
}

func (l *linear) place(ctx context.Context, at desk.ScopeOf, query string, order model.Order, hidden bool) {
	s, ok := l.browsable(at.Store)
	if !ok {
		return
	}
	spec, known := s.Tier(at.Tier)
	if at.Tier != "" && !known {
		l.failed(model.Errorf(model.InvalidInput, "list", "%s has no tier %q", s.Name, at.Tier))
		return
	}
	l.enter(ctx, newItemsBoard(l, at, query, order, hidden || spec.Hidden))
}

// filter narrows the list in hand.
func (l *linear) filter(ctx context.Context, words string) {
	b := l.board
	switch {
	case b == nil || b.refs != nil:
		l.say("There is no list of items yet: list, with the name of a store, reads one.")
	case b.items != nil:
		it := b.items.Items
		l.place(ctx, it.At, words, it.Order, it.Hidden)
	default:
		again := *b
		again.query, again.from, again.next, again.number = words, list.From{}, "", 0
		l.enter(ctx, &again)
	}
}

// order lists the items anew in another order of the store.
func (l *linear) order(ctx context.Context, name string) {
	b := l.board
	if b == nil || b.items == nil {
		l.say("There is no list of items yet: list, with the name of a store, reads one.")
		return
	}
	it := b.items.Items
	var known []string
	for _, o := range it.Orders {
		if known = append(known, string(o)); string(o) == name {
			l.place(ctx, it.At, it.Query, o, it.Hidden)
			return
		}
	}
	l.say("The orders of this store: %s.", desk.OrElse(l.a.D.Esc.Line(strings.Join(known, ", ")), safetext.Const("its own only")))
}

// hidden lists hidden, archived and bookkeeping items too, or no more.
func (l *linear) hidden(ctx context.Context, _ string) {
	b := l.board
	if b == nil || b.items == nil {
		l.say("There is no list of items yet: list, with the name of a store, reads one.")
		return
	}
	it := b.items.Items
	if it.Hidden {
		l.say("Hidden, archived and bookkeeping items are left out.")
	} else {
		l.say("Hidden, archived and bookkeeping items are listed too.")
	}
	l.place(ctx, it.At, it.Query, it.Order, !it.Hidden)
}

func (l *linear) headline(h model.Header) safetext.Text {
	esc := l.a.D.Esc
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

func (l *linear) recall(ctx context.Context, query string) {
	if query == "" {
		l.say("Say what to look for: recall WORDS.")
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var answers []recall.Answered
	for a := range l.a.D.Fleet.Recall(ctx, model.RecallRequest{Query: query, Limit: model.RecallLimit}) {
		one := recall.NewAnswered(l.a.D.Esc, 0, a, text.SearchWords(query))
		answers = append(answers, one)
		l.say("Store %s: %s.", a.Store, one.Status)
	}
	refs := []model.Ref{}
	for _, h := range recall.Arrange(l.a.D.Esc, answers) {
		switch {
		case h.Heading:
		case h.Withheld:
			l.say("Quarantined, agents do not get it: %s in %s.", h.Where, h.Name)
		default:
			refs = append(refs, model.Ref{Store: h.Store, ID: h.Hit.ID})
			l.say("%d. %s, %s, rank %d there: %s", len(refs), h.Name, h.Where, h.Rank, h.Snippet)
		}
	}
	if l.board != nil && l.board.name != boardHits {
		l.under = append(l.under, l.board)
	}
	l.board, l.a.Side = &board{name: boardHits, refs: refs}, nil
	l.say("%s in all.", prose.Plural(int64(len(refs)), "hit"))
}

// brings reads a list of the console, under a filter.
func brings(name string, n int) func(*linear, context.Context, string) {
	return func(l *linear, ctx context.Context, filter string) {
		l.enter(ctx, newPaneBoard(l, name, n, filter))
	}
}

// intents lists the acts that began and have no outcome.
func (l *linear) intents(ctx context.Context, _ string) {
	l.say("An open intent is an act that began and has no outcome: it is under way in another session, or its program was cut off. Whether the change was made is not known: look at the item, at its history and at undos.")
	brings(boardAudit, tui.PaneAudit)(l, ctx, "outcome:open")
}

func (l *linear) stores(context.Context, string) {
	members := l.a.D.Fleet.Members()
	if len(members) == 0 {
		l.say("%s", desk.NoStores)
	}
	for _, m := range members {
		switch {
		case m.Err != nil:
			l.say("Store %s, %s: NOT OPEN: %s.", m.Name, m.Kind, prose.Reason(l.a.D.Esc, m.Err))
		case m.Store.ReadOnly:
			l.say("Store %s, %s: open, read-only: %s.", m.Name, m.Kind, m.Store.ReadOnlyReason)
		default:
			l.say("Store %s, %s: open.", m.Name, m.Kind)
		}
	}
}

// health asks every store how it is, or tells all that is known of one.
func (l *linear) health(_ context.Context, name string) {
	p := l.a.Health
	if name == "" {
		l.drain(p.Round())
		for _, m := range l.a.D.Fleet.Members() {
			switch h := p.Reports[m.Name]; {
			case h.Status.State == model.HealthDegraded:
				l.say("%s: serves, and needs a look: %s.", m.Name, l.a.D.Esc.LineMax(h.Status.Findings[0].Message, prose.MaxReason))
			case h.Status.OK:
				l.say("%s: well, answered in %d ms. %s", m.Name, h.Latency.Milliseconds(), h.Status.Message)
			default:
				l.say("%s: NOT WELL: %s.", m.Name, l.a.D.Esc.LineMax(h.Status.Message, prose.MaxReason))
			}
		}
		l.drain(p.AskLog())
		if p.Log.Words != "" {
			l.say("Audit log: %s.", l.a.D.Esc.LineMax(p.Log.Words, prose.MaxReason))
		}
		l.say("health, with the name of a store, tells all that is known of it.")
		return
	}
	l.drain(p.Check(name))
	l.drain(l.a.Tiers.Overview.Refresh()) // how full the tiers are
	for _, m := range l.a.D.Fleet.Members() {
		if m.Name == name {
			l.read(text.NewPage(p.Describe(m), ""))
			return
		}
	}
	_, err := l.a.D.Fleet.Store(name)
	l.failed(err)
}
