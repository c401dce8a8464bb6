package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// found is an item that a reference names, or why there is none.
type found struct {
	ref  model.Ref
	head model.Header
	err  error
}

// runGo goes to the item that a reference names; without a store it is of the
// store at the cursor.
func (l *commandLine) runGo(words string) tea.Cmd {
	esc := l.d.st.Esc
	if words == "" {
		l.d.say(paint.ToneWarn, esc.Const("give a reference, store:id, as lists show it and y copies it; tab completes"))
		return nil
	}
	ref, err := model.ParseRef(words)
	if _, serr := l.d.fleet.Store(ref.Store); err != nil || serr != nil {
		here := l.a.tiers.storeHere()
		id, derr := model.DecodeID(words)
		switch store, _, named := strings.Cut(words, ":"); {
		case named && slices.Contains(l.storeNames(), store), derr != nil, here == "":
			if err == nil {
				err = serr
			}
			l.d.say(paint.ToneWarn, prose.Reason(esc, err))
			return nil
		}
		ref = model.Ref{Store: here, ID: id}
	}
	if here := l.a.active; l.a.panes[here].typing() == nil {
		return l.d.ask(func(ctx context.Context) any {
			_, it, err := l.d.readable(ctx, ref)
			return found{ref, it.Header, err}
		})
	}
	return nil
}

// found opens an item on the whole screen, with the list of its tier under it.
func (l *commandLine) found(m found) tea.Cmd {
	esc := l.d.st.Esc
	if m.err != nil {
		l.d.say(paint.ToneWarn, esc.Sprintf("%s: %s", esc.LineMax(m.ref.String(), prose.MaxTitle), prose.Reason(esc, m.err)))
		return nil
	}
	if l.d.modal.dialog != nil || l.d.edits.editing != nil || l.a.pages.overlay != nil {
		return l.d.modal.gone()
	}
	return tea.Batch(l.a.enter(paneTiers), l.a.tiers.goTo(m.ref, m.head))
}

// goTo shows one item and looks for its row in the list of its tier.
func (p *tiers) goTo(ref model.Ref, h model.Header) tea.Cmd {
	s, err := p.d.fleet.Store(ref.Store)
	if err != nil {
		p.d.say(paint.ToneWarn, prose.Reason(p.d.esc, err))
		return nil
	}
	spec, _ := s.Tier(h.Tier)
	hidden := p.overview.hidden || spec.Hidden || h.Has(model.FlagArchived) || h.Has(model.FlagBookkeeping)
	p.items.open(scopeOf{ref.Store, h.Scope, h.Tier}, hidden) // its answer is not waited for: the list begins where the item is
	p.items.query, p.items.whole = "", nil
	p.items.list.fetch = p.items.fetcher()
	p.items.pinned = true
	p.level = levelItem
	list := p.items.list.restart(from{})
	find := p.items.seek(func(r itemRow) bool { return r.header.ID == h.ID }, p.d.esc.LineMax(h.ID, prose.MaxTitle))
	return tea.Batch(list, find, p.layout(), p.reader.open(reading{ref: ref}, false), p.reader.whole())
}

// references are what a reference can be completed to from what is on the screen.
func (l *commandLine) references() []string {
	var out []string
	add := func(ref model.Ref) {
		if s := ref.String(); ref.ID != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	t := l.a.tiers
	for _, r := range t.items.list.rows {
		add(model.Ref{Store: t.items.at.store, ID: r.header.ID})
	}
	for _, h := range l.a.recall.rows {
		if !h.heading && !h.withheld {
			add(model.Ref{Store: h.store, ID: h.hit.ID})
		}
	}
	for _, name := range l.storeNames() {
		out = append(out, name+":")
	}
	return out
}

// completions is what a store knows about a word that is being typed.
type completions struct {
	line    string // what stood on the command line
	choices []string
}

// moreReferences asks the store of a reference for ids that begin so.
func (l *commandLine) moreReferences(line, word string) tea.Cmd {
	store, typed, ok := strings.Cut(word, ":")
	s, err := l.d.fleet.Store(store)
	if !ok || err != nil || s.Browser == nil {
		return nil
	}
	known := l.possible(line)
	return l.d.ask(func(ctx context.Context) any {
		out := completions{line: line, choices: known}
		last := typed[strings.LastIndexByte(typed, '/')+1:]
		for _, query := range slices.Compact([]string{typed, last, ""}) {
			page, err := s.Browser.List(ctx, model.PageRequest{Query: query, Limit: model.MaxPage, Hidden: true})
			if err != nil {
				continue // a completion that cannot be had is none
			}
			for _, h := range page.Items {
				choice := "go " + model.Ref{Store: store, ID: h.ID}.String()
				if strings.HasPrefix(choice, "go "+word) && !slices.Contains(out.choices, choice) {
					out.choices = append(out.choices, choice)
				}
			}
			if len(out.choices) > len(known) {
				break
			}
		}
		return out
	})
}
