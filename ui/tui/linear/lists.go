package linear

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui"
)

// list begins the list of a store, a tier, a scope of it.
func (l *linear) list(words string) tea.Cmd {
	at, why := l.a.Line.Place(words)
	if why != "" {
		l.sentence(l.esc.Line(why))
		return nil
	}
	return l.a.D.Open(at)
}

// brings reads a list of the console, under a filter.
func (l *linear) brings(n int) func(string) tea.Cmd {
	return func(filter string) tea.Cmd { return l.enter(&board{list: l.a.Readout(n), query: filter}) }
}

// health checks every store.
func (l *linear) health(string) tea.Cmd {
	l.drain(l.a.Tiers.Overview.Refresh()) // how full the tiers are
	return l.brings(tui.PaneHealth)("")
}
