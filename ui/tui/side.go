package tui

import tea "charm.land/bubbletea/v2"

// side is a list without a number that stands in place of the pane it was opened
// from; esc goes back there.
type side struct {
	title string
	list  listing
	bulk  *bulk // what the list is about, when it is long work
	under *side // the list that it was opened from; nil: the pane
}

// openSide shows a list of its own. Each has an address of its own, so that an
// answer for one that was closed reaches no other.
func openSide[T any](a *App, title string, kind recordKind[T]) tea.Cmd {
	a.sides++
	kind.pane = overlayPane - a.sides
	a.side = &side{title: title, list: newRecords(a.d, kind)}
	w, h := a.room()
	return tea.Batch(a.side.list.resize(w, h), a.side.list.enter())
}

// openAbove shows a list over another one; esc goes back to that one.
func openAbove[T any](a *App, title string, kind recordKind[T]) tea.Cmd {
	under := a.side
	cmd := openSide(a, title, kind)
	a.side.under = under
	return cmd
}

// closeSide goes back to what the list was opened from.
func (a *App) closeSide() tea.Cmd {
	if a.side = a.side.under; a.side != nil {
		w, h := a.room()
		return tea.Batch(a.side.list.resize(w, h), a.side.list.enter())
	}
	return a.pane().refresh() // what was looked at or done beside it is of what stands there
}

// refreshSide asks again for the list that stands in place of the pane, if one does: the
// texts that were put aside are others after an editor.
func (a *App) refreshSide() tea.Cmd {
	if a.side == nil {
		return nil
	}
	return a.pane().refresh()
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
