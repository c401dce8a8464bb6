package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
)

// origin is where an act opened a place in the Tiers pane: esc there leads back.
type origin struct {
	pane  int
	side  *Side
	depth int // of the place
}

// jump opens a place in the Tiers pane.
func (a *App) jump(open func() tea.Cmd) tea.Cmd {
	from := &origin{pane: a.Active, side: a.Side}
	cmd := tea.Batch(a.Enter(PaneTiers), open())
	if from.depth = a.Tiers.Depth(); from.pane != PaneTiers {
		a.from = from
	}
	return cmd
}

// runGo goes to the item of a reference; without a store the store at the cursor is meant.
func (l *commandLine) runGo(words string) tea.Cmd {
	esc := l.a.D.Esc
	if words == "" {
		return l.a.D.Warn("give a reference, store:id, as lists show it and y copies it; tab completes")
	}
	ref, err := model.ParseRef(words)
	if _, serr := l.a.D.Fleet.Store(ref.Store); err != nil || serr != nil {
		here := l.a.Tiers.StoreHere()
		id, derr := model.DecodeID(words)
		switch store, _, named := strings.Cut(words, ":"); {
		case named && slices.Contains(l.storeNames(), store), derr != nil, here == "":
			if err == nil {
				err = serr
			}
			return l.a.D.Warn("%s", prose.Reason(esc, err))
		}
		ref = model.Ref{Store: here, ID: id}
	}
	return l.a.D.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		_, it, err := l.a.D.Readable(ctx, ref)
		if errors.Is(err, model.NotFound) {
			return dialog.Proposal{No: esc.Sprintf("%s has no item %s", ref.Store, esc.LineMax(ref.ID, prose.MaxTitle))}
		}
		if err != nil {
			return dialog.Proposal{No: esc.Sprintf("%s: %s", esc.LineMax(ref.String(), prose.MaxTitle), prose.Reason(esc, err))}
		}
		return dialog.Proposal{Open: func() tea.Cmd {
			return l.a.jump(func() tea.Cmd { return l.a.Tiers.GoTo(ref, it.Header) })
		}}
	})
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

// moreReferences asks the store of a reference for ids with this beginning.
func (l *commandLine) moreReferences(line, word string) tea.Cmd {
	store, typed, ok := strings.Cut(word, ":")
	s, err := l.a.D.Fleet.Store(store)
	if !ok || err != nil || s.Browser == nil {
		return nil
	}
	var known []string
	for _, c := range l.rows {
		known = append(known, c.line)
	}
	return l.a.D.Ask(func(ctx context.Context) any {
		choices := known
		last := typed[strings.LastIndexByte(typed, '/')+1:]
		for _, query := range slices.Compact([]string{typed, last, ""}) {
			page, err := s.Browser.List(ctx, model.PageRequest{Query: query, Limit: model.MaxPage, Hidden: true})
			if err != nil {
				continue // a failed completion offers nothing
			}
			for _, h := range page.Items {
				choice := "go " + model.Ref{Store: store, ID: h.ID}.String()
				if strings.HasPrefix(choice, "go "+word) && !slices.Contains(choices, choice) {
					choices = append(choices, choice)
				}
			}
			if len(choices) > len(known) {
				break
			}
		}
		return loop.Then(func() tea.Cmd { l.completed(line, choices); return nil })
	})
}
