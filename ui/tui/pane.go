package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// registered is a pane with its names; the short one stands in the bar below the width
// that the full ones need.
type registered struct {
	name, short string
	open        func(d *desk) pane
}

// registry are the panes in the order of their numbers. A new pane is a file of its own
// and one line here.
var registry = []registered{
	paneHealth:     {"Health", "Health", func(d *desk) pane { d.health = newHealth(d); return d.health }},
	paneTiers:      {"Tiers", "Tiers", func(d *desk) pane { d.tiers = newTiers(d); return d.tiers }},
	paneRecall:     {"Recall", "Recall", func(d *desk) pane { d.recall = newRecall(d); return d.recall }},
	paneQuarantine: {"Quarantine", "Quar", func(d *desk) pane { return newQuarantine(d) }},
	paneConflicts:  {"Conflicts", "Conf", func(d *desk) pane { return newConflicts(d) }},
	paneErasure:    {"Erasure", "Erase", func(d *desk) pane { d.erasures = newErasures(d); return d.erasures }},
	paneAudit:      {"Audit", "Audit", func(d *desk) pane { return newAudit(d) }},
}

// screens are the panes that others work with: an act on an item shows in the tiers.
type screens struct {
	health   *health
	tiers    *tiers
	recall   *recall
	erasures *erasures
}

// pane is one screen of the console. Its methods run on the update loop and do
// no I/O.
type pane interface {
	// enter is called each time the pane becomes visible.
	enter() tea.Cmd
	// update takes the answer of a command that the pane has asked for.
	update(msg any) tea.Cmd
	// resize gives the room that render will have.
	resize(width, height int) tea.Cmd
	// render draws exactly height lines of width columns; cursor is where typed
	// text goes, nil when nothing is typed.
	render(width, height int) (lines []string, cursor *tea.Position)
	// bindings are the keys of the place where the operator is.
	bindings() []act.Act
	// crumbs name the place, outermost first, without the pane's own name.
	crumbs() []safetext.Text
	// position says where the cursor stands in what is shown, and whether
	// something is being loaded.
	position() (at safetext.Text, busy bool)
	// trouble is what the operator must know about what is shown: that it is old and
	// why. Empty: nothing.
	trouble() safetext.Text
	// typing is the input that has the focus, or nil.
	typing() *text.Input
	// typed is called when the text of the focused input has changed.
	typed() tea.Cmd
	// outermost reports whether there is no level further out.
	outermost() bool
	// back goes one level out; it does nothing at the outermost.
	back() tea.Cmd
	// refresh asks again for what is shown.
	refresh() tea.Cmd
	// unavailable says why the pane cannot be opened in this version, or nothing.
	unavailable() string
}
