package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/desk"
)

// Side is a list without a number that replaces the pane it was opened from; esc goes back there.
type Side struct {
	Title string
	List  desk.Listing
	under *Side // the list it was opened from; nil: the pane
}

// enterSide shows a list in place of the pane.
func (a *App) enterSide(s *Side) tea.Cmd {
	a.Side = s
	w, h := a.Room()
	return tea.Batch(s.List.Resize(w, h), s.List.Enter())
}

// CloseSide goes back to the list or pane before.
func (a *App) CloseSide() tea.Cmd {
	if a.Side.under != nil {
		return a.enterSide(a.Side.under)
	}
	a.Side = nil
	if p, ok := a.pane().(desk.Watched); ok {
		return p.Watch() // its ticks end while a list covers it
	}
	return nil
}

// sideAt is the list with an address, when it is still open, or when esc brings it back.
func (a *App) sideAt(pane int) desk.Listing {
	open := []*Side{a.Side}
	if a.from != nil {
		open = append(open, a.from.side)
	}
	for _, s := range open {
		for ; s != nil; s = s.under {
			if s.List.Address() == pane {
				return s.List
			}
		}
	}
	return nil
}
