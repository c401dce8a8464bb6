// Package tiers is the pane that browses: stores with their tiers, items, one item.
package tiers

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// Pane browses: stores with their tiers, the items of one with a preview, one item on the whole screen.
type Pane struct {
	level    // on the screen
	d        *pane.Bench
	at       int // its address
	Overview *overview
	Items    *items
	ticking  bool            // the next check for changes is scheduled
	looking  map[string]bool // by store, a check is under way: on a hanging mount each holds a thread of the system
}

// level is one of the pane's two lists: the tree of stores, or the items of one place in it.
type level interface {
	desk.Pane
	desk.Readout
	Awaiting() bool
	Beneath() []act.Act
	Keep() backends.ViewConfig
	Listed() (desk.Visible, bool)
	OnScreen() *text.Pager
}

func New(d *pane.Bench, at int) *Pane {
	p := &Pane{d: d, at: at, looking: map[string]bool{}}
	p.Items, p.Overview = newItems(p), newOverview(p)
	p.level = p.Overview
	return p
}

// Depth is how far the operator is below the tree: 1 in a list of items, 2 on the page of one.
func (p *Pane) Depth() int {
	switch {
	case p.level != p.Items:
		return 0
	case p.Items.Full:
		return 2
	}
	return 1
}

func (p *Pane) Enter() tea.Cmd {
	if p.Overview.Entered {
		return nil
	}
	return tea.Batch(p.Overview.Enter(), p.Overview.Refresh())
}

func (p *Pane) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case lookDue:
		return p.look()
	case stamped:
		return p.looked(msg)
	}
	return tea.Batch(p.Items.Update(msg), p.Overview.Update(msg))
}

func (p *Pane) Resize(width, height int) tea.Cmd {
	return tea.Batch(p.Overview.Resize(width, height), p.Items.Resize(width, height))
}

// show brings a level to the screen, without a page over it.
func (p *Pane) show(l level) { p.level, p.Items.Full = l, false }

// place is that of the cursor in the tree, or of the list of items.
func (p *Pane) place() desk.ScopeOf {
	if p.level == p.Items {
		return p.Items.At
	}
	return p.Overview.Here().at
}

func (p *Pane) StoreHere() string { return p.place().Store }

// ItemHere is the item at the cursor, or on the whole screen.
func (p *Pane) ItemHere() model.Ref {
	if p.Depth() == 0 {
		return model.Ref{}
	}
	return p.Items.refHere()
}

// Filtered reports whether the list of items has a filter, which esc takes off first.
func (p *Pane) Filtered() bool { return p.Depth() == 1 && p.Items.Query != "" }

// Narrow shows the stores, scopes and tiers with these words.
func (p *Pane) Narrow(words string) tea.Cmd {
	p.show(p.Overview)
	return p.Overview.Apply(words)
}

// OpenList goes to the items of a place; where it cannot, it says why.
func (p *Pane) OpenList(at desk.ScopeOf) (cmd tea.Cmd, ok bool) {
	s, err := p.d.Fleet.Store(at.Store)
	switch {
	case err != nil:
		return p.d.Warn("%s", prose.Reason(p.d.Esc, err)), false
	case s.Browser == nil:
		return p.d.Warn("%s cannot list its items: 3 Recall searches it", at.Store), false
	}
	p.show(p.Items)
	spec, _ := s.Tier(at.Tier)
	p.Items.Detail.Clear()
	cmd = p.Items.open(at, p.Overview.hidden || spec.Hidden)
	return tea.Batch(cmd, p.Items.Layout()), true
}

// Changed shows the memory after an act, and keeps the place.
func (p *Pane) Changed() tea.Cmd {
	switch {
	case p.level == p.Items:
		return p.Items.changed()
	case p.Overview.Entered:
		return p.Overview.Refresh()
	}
	return nil // nothing is shown yet
}

// Refs are the items of the list, as far as it is loaded.
func (p *Pane) Refs() []model.Ref {
	var out []model.Ref
	for _, r := range p.Items.Window.Rows {
		out = append(out, r.Raw.ref())
	}
	return out
}

// GoTo shows one item and looks for its row in the list of its tier.
func (p *Pane) GoTo(ref model.Ref, h model.Header) tea.Cmd {
	s, err := p.d.Fleet.Store(ref.Store)
	if err != nil {
		return p.d.Warn("%s", prose.Reason(p.d.Esc, err))
	}
	spec, _ := s.Tier(h.Tier)
	hidden := p.Overview.hidden || spec.Hidden || h.Has(model.FlagArchived) || h.Has(model.FlagBookkeeping)
	p.show(p.Items)
	return p.Items.goTo(desk.ScopeOf{Store: ref.Store, Scope: h.Scope, Tier: h.Tier}, hidden, h)
}
