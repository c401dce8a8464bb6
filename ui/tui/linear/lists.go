package linear

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// placeNamed is the place that words name: a store, a tier and a scope of it; an only store needs
// no name. verb is the command.
func (l *linear) placeNamed(verb, argument string) (desk.ScopeOf, bool) {
	words := append(strings.Fields(argument), "", "", "")
	at := desk.ScopeOf{Store: words[0], Tier: words[1], Scope: words[2]}
	members := l.a.D.Fleet.Members()
	if at.Store == "" && len(members) == 1 {
		at.Store = members[0].Name
	}
	if at.Store == "" {
		if len(members) > 0 {
			l.say("Say which store after the word, as in %s %s. These are the stores:", verb, members[0].Name)
		}
		l.stores("")
	}
	return at, at.Store != ""
}

func (l *linear) stores(string) tea.Cmd {
	members := l.a.D.Fleet.Members()
	if len(members) == 0 {
		l.say("%s", desk.NoStores)
	}
	for _, m := range members {
		switch {
		case m.Err != nil:
			l.say("Store %s, %s: NOT OPEN: %s.", m.Name, m.Kind, prose.Reason(l.esc, m.Err))
		case m.Store.ReadOnly:
			l.say("Store %s, %s: open, read-only: %s.", m.Name, m.Kind, m.Store.ReadOnlyReason)
		default:
			l.say("Store %s, %s: open.", m.Name, m.Kind)
		}
	}
	return nil
}

func (l *linear) tiers(argument string) tea.Cmd {
	at, ok := l.placeNamed("tiers", argument)
	if !ok {
		return nil
	}
	s, err := l.a.D.Fleet.Store(at.Store)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "list", "this store cannot list its items; recall searches it")
	}
	var counts []model.TierCount
	if err == nil {
		counts, err = s.Browser.Tiers(l.ctx)
	}
	if err != nil {
		return l.failed(err)
	}
	for _, c := range counts {
		spec, _ := s.Tier(c.Tier)
		scope, limit := "", ""
		if c.Scope != "" {
			scope = " of " + c.Scope
		}
		if spec.Cap > 0 {
			limit = ", cap " + prose.Capacity(spec) + " per item"
		}
		l.say("Tier %s%s: %s, %s%s. %s", c.Tier, scope, prose.Plural(c.Items, "item"), prose.Size(c.Bytes), limit, spec.Title)
	}
	return l.say("%s in all.", prose.Plural(int64(len(counts)), "row"))
}

// list begins the list of a store, a tier, a scope of it.
func (l *linear) list(argument string) tea.Cmd {
	at, ok := l.placeNamed("list", argument)
	if !ok {
		return nil
	}
	items := l.a.Tiers.Readout(at)
	return l.enter(&board{list: items, items: items})
}

// order lists the items again in another order of the store.
func (l *linear) order(name string) tea.Cmd {
	if l.board == nil || l.board.items == nil {
		return l.say("There is no list of items yet: list, with the name of a store, reads one.")
	}
	items := l.board.items
	if slices.Contains(items.Orders(), model.Order(name)) {
		items.Order = model.Order(name)
		return l.filter(l.board.query)
	}
	var known []string
	for _, o := range items.Orders() {
		known = append(known, string(o))
	}
	return l.say("The orders of this store: %s.", desk.OrElse(l.esc.Line(strings.Join(known, ", ")), safetext.Const("its own only")))
}

// hidden shows hidden, archived and bookkeeping items, or hides them again.
func (l *linear) hidden(string) tea.Cmd {
	if l.board == nil || l.board.items == nil {
		return l.say("There is no list of items yet: list, with the name of a store, reads one.")
	}
	items, words := l.board.items, "listed too"
	if items.Hidden = !items.Hidden; !items.Hidden {
		words = "left out"
	}
	l.say("Hidden, archived and bookkeeping items are %s.", words)
	return l.filter(l.board.query)
}

// brings reads a list of the console, under a filter.
func (l *linear) brings(n int) func(string) tea.Cmd {
	return func(filter string) tea.Cmd { return l.enter(&board{list: l.a.Records[n], query: filter}) }
}

func (l *linear) recall(words string) tea.Cmd {
	return l.enter(&board{list: l.a.Recall, query: words})
}

// intents lists the acts without an outcome.
func (l *linear) intents(string) tea.Cmd {
	l.say("An open intent is an act that began and has no outcome: it is under way in another session, or its program was cut off. Whether the change was made is not known: look at the item, at its history and at undos.")
	return l.brings(tui.PaneAudit)("outcome:open")
}

// health checks every store, or says everything about one.
func (l *linear) health(name string) tea.Cmd {
	p := l.a.Health
	if name == "" {
		l.drain(p.Round())
		for _, m := range l.a.D.Fleet.Members() {
			switch h := p.Reports[m.Name]; {
			case h.Status.State == model.HealthDegraded:
				l.say("%s: serves, and needs a look: %s.", m.Name, l.esc.LineMax(h.Status.Findings[0].Message, prose.MaxReason))
			case h.Status.OK:
				l.say("%s: well, answered in %s. %s", m.Name, prose.Latency(h.Latency), h.Status.Message)
			default:
				l.say("%s: NOT WELL: %s.", m.Name, l.esc.LineMax(h.Status.Message, prose.MaxReason))
			}
		}
		l.drain(p.AskLog())
		if p.Log.Words != "" {
			l.say("Audit log: %s.", l.esc.LineMax(p.Log.Words, prose.MaxReason))
		}
		return l.say("health, with the name of a store, tells all that is known of it.")
	}
	l.drain(p.Check(name))
	l.drain(l.a.Tiers.Overview.Refresh()) // how full the tiers are
	for _, m := range l.a.D.Fleet.Members() {
		if m.Name == name {
			l.read(text.NewPage(p.Describe(m), ""))
			return nil
		}
	}
	_, err := l.a.D.Fleet.Store(name)
	return l.failed(err)
}
