package tui

import tea "charm.land/bubbletea/v2"

// side is a list without a number that stands in place of the pane it was opened
// from; esc goes back there.
type side struct {
	title string
	list  *records
	bulk  *bulk // what the list is about, when it is long work
}

// openSide shows a list of its own. Each has an address of its own, so that an
// answer for one that was closed reaches no other.
func (a *App) openSide(title string, kind recordKind) tea.Cmd {
	a.sides++
	kind.pane = overlayPane - a.sides
	a.side = &side{title: title, list: newRecords(a.d, kind)}
	w, h := a.room()
	return tea.Batch(a.side.list.resize(w, h), a.side.list.enter())
}
