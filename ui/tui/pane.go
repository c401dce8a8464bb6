package tui

import (
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

// registered is a pane with its names; the short one stands in the bar below the width
// that the full ones need.
type registered struct {
	name, short string
	open        func(s *screens, d *pane.Bench, at int) desk.Pane
}

// registry are the panes in the order of their numbers. A new pane is a file of its own
// and one line here.
var registry = []registered{
	paneHealth: {"Health", "Health", func(s *screens, d *pane.Bench, at int) desk.Pane {
		s.Health = health.New(d, at, s.counts)
		return s.Health
	}},
	PaneTiers:  {"Tiers", "Tiers", func(s *screens, d *pane.Bench, at int) desk.Pane { s.Tiers = tiers.New(d, at); return s.Tiers }},
	paneRecall: {"Recall", "Recall", func(s *screens, d *pane.Bench, at int) desk.Pane { s.recall = recall.New(d, at); return s.recall }},
	PaneQuarantine: {"Quarantine", "Quar", func(s *screens, d *pane.Bench, at int) desk.Pane {
		s.stories = &quarantine.Stories{D: d}
		return quarantine.New(d, at, s.stories)
	}},
	PaneConflicts: {"Conflicts", "Conf", func(_ *screens, d *pane.Bench, at int) desk.Pane { return conflicts.New(d, at) }},
	PaneErasure:   {"Erasure", "Erase", func(s *screens, d *pane.Bench, at int) desk.Pane { s.erasures = erasure.New(d, at); return s.erasures }},
	PaneAudit:     {"Audit", "Audit", func(_ *screens, d *pane.Bench, at int) desk.Pane { return audit.New(d, at) }},
}

// screens are the panes that others work with: an act on an item shows in the tiers.
type screens struct {
	Health   *health.Pane
	Tiers    *tiers.Pane
	recall   *recall.Pane
	erasures *erasure.Pane
	stories  *quarantine.Stories
}

// counts are a store's counts from the tree of tiers.
func (s *screens) counts(store string) []model.TierCount {
	return s.Tiers.Overview.Tallies[store].Counts
}
