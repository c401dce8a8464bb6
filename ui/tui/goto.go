package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
)

// found is the item of a reference, or why there is none.
type found struct {
	ref  model.Ref
	head model.Header
	err  error
}

// runGo goes to the item of a reference; without a store the store at the cursor is meant.
func (l *commandLine) runGo(words string) tea.Cmd {
	esc := l.d.St.Esc
	if words == "" {
		return l.d.Warn("give a reference, store:id, as lists show it and y copies it; tab completes")
	}
	ref, err := model.ParseRef(words)
	if _, serr := l.d.Fleet.Store(ref.Store); err != nil || serr != nil {
		here := l.a.Tiers.StoreHere()
		id, derr := model.DecodeID(words)
		switch store, _, named := strings.Cut(words, ":"); {
		case named && slices.Contains(l.storeNames(), store), derr != nil, here == "":
			if err == nil {
				err = serr
			}
			return l.d.Warn("%s", prose.Reason(esc, err))
		}
		ref = model.Ref{Store: here, ID: id}
	}
	if here := l.a.Active; l.a.Panes[here].Typing() == nil {
		return l.d.Ask(func(ctx context.Context) any {
			_, it, err := l.d.Readable(ctx, ref)
			return found{ref, it.Header, err}
		})
	}
	return nil
}

// found opens an item on the whole screen, with the list of its tier under it.
func (l *commandLine) found(m found) tea.Cmd {
	esc := l.d.St.Esc
	if m.err != nil {
		return l.d.Warn("%s: %s", esc.LineMax(m.ref.String(), prose.MaxTitle), prose.Reason(esc, m.err))
	}
	if l.d.Modal.Dialog != nil || l.d.Edits.Editing != nil || l.a.Pages.Overlay != nil {
		return l.d.Modal.Gone()
	}
	return tea.Batch(l.a.Enter(PaneTiers), l.a.Tiers.GoTo(m.ref, m.head))
}

// references are the references on the screen, for completion.
func (l *commandLine) references() []string {
	var out []string
	add := func(ref model.Ref) {
		if s := ref.String(); ref.ID != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, ref := range slices.Concat(l.a.Tiers.Refs(), l.a.Recall.Refs()) {
		add(ref)
	}
	for _, name := range l.storeNames() {
		out = append(out, name+":")
	}
	return out
}

// completions are a store's completions of the word being typed.
type completions struct {
	line    string // the command line then
	choices []string
}

// moreReferences asks the store of a reference for ids with this beginning.
func (l *commandLine) moreReferences(line, word string) tea.Cmd {
	store, typed, ok := strings.Cut(word, ":")
	s, err := l.d.Fleet.Store(store)
	if !ok || err != nil || s.Browser == nil {
		return nil
	}
	known := l.possible(line)
	return l.d.Ask(func(ctx context.Context) any {
		out := completions{line: line, choices: known}
		last := typed[strings.LastIndexByte(typed, '/')+1:]
		for _, query := range slices.Compact([]string{typed, last, ""}) {
			page, err := s.Browser.List(ctx, model.PageRequest{Query: query, Limit: model.MaxPage, Hidden: true})
			if err != nil {
				continue // a failed completion offers nothing
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
