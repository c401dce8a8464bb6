package tui

import (
	"context"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// known is the store of that name, or the only one there is; verb is what it is for.
func (l *linear) known(ctx context.Context, verb, name string) (string, bool) {
	members := l.a.d.fleet.Members()
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
	s, err := l.a.d.fleet.Store(name)
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
	l.place(ctx, scopeOf{store: name, tier: words[1], scope: words[2]}, "", "", false)
}

func (l *linear) place(ctx context.Context, at scopeOf, query string, order model.Order, hidden bool) {
	s, ok := l.browsable(at.store)
	if !ok {
		return
	}
	spec, known := s.Tier(at.tier)
	if at.tier != "" && !known {
		l.failed(model.Errorf(model.InvalidInput, "list", "%s has no tier %q", s.Name, at.tier))
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
		it := b.items.items
		l.place(ctx, it.at, words, it.order, it.hidden)
	default:
		again := *b
		again.query, again.from, again.next, again.number = words, from{}, "", 0
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
	it := b.items.items
	var known []string
	for _, o := range it.orders {
		if known = append(known, string(o)); string(o) == name {
			l.place(ctx, it.at, it.query, o, it.hidden)
			return
		}
	}
	l.say("The orders of this store: %s.", orElse(l.a.d.esc.Line(strings.Join(known, ", ")), safetext.Const("its own only")))
}

// hidden lists hidden, archived and bookkeeping items too, or no more.
func (l *linear) hidden(ctx context.Context, _ string) {
	b := l.board
	if b == nil || b.items == nil {
		l.say("There is no list of items yet: list, with the name of a store, reads one.")
		return
	}
	it := b.items.items
	if it.hidden {
		l.say("Hidden, archived and bookkeeping items are left out.")
	} else {
		l.say("Hidden, archived and bookkeeping items are listed too.")
	}
	l.place(ctx, it.at, it.query, it.order, !it.hidden)
}

func (l *linear) headline(h model.Header) safetext.Text {
	esc := l.a.d.esc
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
	var answers []answered
	for a := range l.a.d.fleet.Recall(ctx, model.RecallRequest{Query: query, Limit: model.RecallLimit}) {
		one := newAnswered(l.a.d.esc, 0, a, text.SearchWords(query))
		answers = append(answers, one)
		l.say("Store %s: %s.", a.Store, one.status)
	}
	refs := []model.Ref{}
	for _, h := range arrange(l.a.d.esc, answers) {
		switch {
		case h.heading:
		case h.withheld:
			l.say("Quarantined, agents do not get it: %s in %s.", h.where, h.name)
		default:
			refs = append(refs, model.Ref{Store: h.store, ID: h.hit.ID})
			l.say("%d. %s, %s, rank %d there: %s", len(refs), h.name, h.where, h.rank, h.snippet)
		}
	}
	if l.board != nil && l.board.name != boardHits {
		l.under = append(l.under, l.board)
	}
	l.board, l.a.side = &board{name: boardHits, refs: refs}, nil
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
	brings(boardAudit, paneAudit)(l, ctx, "outcome:open")
}

func (l *linear) stores(context.Context, string) {
	members := l.a.d.fleet.Members()
	if len(members) == 0 {
		l.say("%s", noStores)
	}
	for _, m := range members {
		switch {
		case m.Err != nil:
			l.say("Store %s, %s: NOT OPEN: %s.", m.Name, m.Kind, prose.Reason(l.a.d.esc, m.Err))
		case m.Store.ReadOnly:
			l.say("Store %s, %s: open, read-only: %s.", m.Name, m.Kind, m.Store.ReadOnlyReason)
		default:
			l.say("Store %s, %s: open.", m.Name, m.Kind)
		}
	}
}

// health asks every store how it is, or tells all that is known of one.
func (l *linear) health(_ context.Context, name string) {
	p := l.a.health
	if name == "" {
		l.drain(p.round())
		for _, m := range l.a.d.fleet.Members() {
			switch h := p.reports[m.Name]; {
			case h.Status.State == model.HealthDegraded:
				l.say("%s: serves, and needs a look: %s.", m.Name, l.a.d.esc.LineMax(h.Status.Findings[0].Message, prose.MaxReason))
			case h.Status.OK:
				l.say("%s: well, answered in %d ms. %s", m.Name, h.Latency.Milliseconds(), h.Status.Message)
			default:
				l.say("%s: NOT WELL: %s.", m.Name, l.a.d.esc.LineMax(h.Status.Message, prose.MaxReason))
			}
		}
		l.drain(p.askLog())
		if p.log.words != "" {
			l.say("Audit log: %s.", l.a.d.esc.LineMax(p.log.words, prose.MaxReason))
		}
		l.say("health, with the name of a store, tells all that is known of it.")
		return
	}
	l.drain(p.check(name))
	l.drain(l.a.tiers.overview.refresh()) // how full the tiers are
	for _, m := range l.a.d.fleet.Members() {
		if m.Name == name {
			l.read(text.NewPage(p.describe(m), ""))
			return
		}
	}
	_, err := l.a.d.fleet.Store(name)
	l.failed(err)
}
