package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/pane/audit"
	"memdesk/ui/tui/pane/conflicts"
	"memdesk/ui/tui/pane/erasure"
	"memdesk/ui/tui/pane/health"
	"memdesk/ui/tui/pane/quarantine"
	"memdesk/ui/tui/pane/recall"
	"memdesk/ui/tui/pane/tiers"
)

// registered is a pane with its names: short for a bar without room.
type registered struct {
	name, short string
	open        func(s *screens, d *pane.Bench, at int) desk.Pane
}

// registry are the panes in the order of their numbers. A new pane is a file and one line here.
var registry = []registered{
	PaneHealth: {"Health", "Health", func(s *screens, d *pane.Bench, at int) desk.Pane {
		p, down := health.New(d, at, s.counts)
		s.down = down
		return s.record(at, p)
	}},
	PaneTiers:  {"Tiers", "Tiers", func(s *screens, d *pane.Bench, at int) desk.Pane { s.Tiers = tiers.New(d, at); return s.Tiers }},
	PaneRecall: {"Recall", "Recall", func(s *screens, d *pane.Bench, at int) desk.Pane { s.Recall = recall.New(d, at); return s.Recall }},
	PaneQuarantine: {"Quarantine", "Quar", func(s *screens, d *pane.Bench, at int) desk.Pane {
		s.stories = &quarantine.Stories{D: d}
		return s.record(at, quarantine.New(d, at, s.stories))
	}},
	PaneConflicts: {"Conflicts", "Conf", func(s *screens, d *pane.Bench, at int) desk.Pane {
		p, find := conflicts.New(d, at)
		s.conflict = find
		return s.record(at, p)
	}},
	PaneErasure: {"Erasure", "Erase", func(s *screens, d *pane.Bench, at int) desk.Pane { return s.record(at, erasure.New(d, at)) }},
	PaneAudit:   {"Audit", "Audit", func(s *screens, d *pane.Bench, at int) desk.Pane { return s.record(at, audit.New(d, at)) }},
}

// screens are the panes that others use: an act on an item shows in the tiers.
type screens struct {
	Tiers    *tiers.Pane
	Recall   *recall.Pane
	down     func() []safetext.Text  // the failing stores
	conflict func(model.Ref) tea.Cmd // shows the conflict of an item
	stories  *quarantine.Stories
	Records  map[int]desk.Listing // those that list records
}

func (s *screens) record(at int, p desk.Listing) desk.Pane {
	if s.Records == nil {
		s.Records = map[int]desk.Listing{}
	}
	s.Records[at] = p
	return p
}

// counts are a store's counts from the tree of tiers.
func (s *screens) counts(store string) []model.TierCount {
	return s.Tiers.Overview.Tallies[store].Counts
}
