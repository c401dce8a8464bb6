package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// registered is a pane with its names; the short one stands in the bar below the width
// that the full ones need.
type registered struct {
	name, short string
	open        func(s *screens, d *bench, at int) pane
}

// registry are the panes in the order of their numbers. A new pane is a file of its own
// and one line here.
var registry = []registered{
	paneHealth: {"Health", "Health", func(s *screens, d *bench, at int) pane { s.health = newHealth(d, at, s.counts); return s.health }},
	paneTiers:  {"Tiers", "Tiers", func(s *screens, d *bench, at int) pane { s.tiers = newTiers(d, at); return s.tiers }},
	paneRecall: {"Recall", "Recall", func(s *screens, d *bench, at int) pane { s.recall = newRecall(d, at); return s.recall }},
	paneQuarantine: {"Quarantine", "Quar", func(s *screens, d *bench, at int) pane {
		s.stories = &storyActs{d}
		return newQuarantine(d, at, s.stories)
	}},
	paneConflicts: {"Conflicts", "Conf", func(_ *screens, d *bench, at int) pane { return newConflicts(d, at) }},
	paneErasure:   {"Erasure", "Erase", func(s *screens, d *bench, at int) pane { s.erasures = newErasures(d, at); return s.erasures }},
	paneAudit:     {"Audit", "Audit", func(_ *screens, d *bench, at int) pane { return newAudit(d, at) }},
}

// screens are the panes that others work with: an act on an item shows in the tiers.
type screens struct {
	health   *health
	tiers    *tiers
	recall   *recall
	erasures *erasures
	stories  *storyActs
}

// counts are what the tree of the tiers has counted of a store.
func (s *screens) counts(store string) []model.TierCount {
	return s.tiers.overview.tallies[store].counts
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
