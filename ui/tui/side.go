package tui

import tea "charm.land/bubbletea/v2"

// side is a list without a number that stands in place of the pane it was opened
// from; esc goes back there.
type side struct {
	title string
	list  listing
	under *side // the list that it was opened from; nil: the pane
}

// closeSide goes back to what the list was opened from.
func (a *App) closeSide() tea.Cmd {
	if a.side = a.side.under; a.side != nil {
		w, h := a.room()
		return tea.Batch(a.side.list.resize(w, h), a.side.list.enter())
	}
	return a.pane().refresh() // what was looked at or done beside it is of what stands there
}

// sideAt is the list with an address, when it is still open.
func (a *App) sideAt(pane int) listing {
	for s := a.side; s != nil; s = s.under {
		if s.list.address() == pane {
			return s.list
		}
	}
	return nil
}
