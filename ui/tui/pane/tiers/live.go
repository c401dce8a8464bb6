package tiers

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
)

// lookEvery is the pause between two checks for changed stores: most stores tell without I/O.
const lookEvery = 2 * time.Second

// lookDue asks for the next look.
type lookDue struct{}

// stamped holds the stamps of stores, empty for a store without one.
type stamped map[string]string

// Watch waits for the next look.
func (p *Pane) Watch() tea.Cmd {
	if p.ticking || p.d.Changes == nil {
		return nil
	}
	p.ticking = true
	return p.d.Later(p.at)(lookEvery, lookDue{})
}

// look asks the stores that are shown for their stamps.
func (p *Pane) look() tea.Cmd {
	p.ticking = false
	changes := p.d.Changes
	if p.looking || p.d.Glances.Frozen || p.d.Frame != nil && !p.d.Frame.Shows(p.at) {
		return p.Watch()
	}
	var stores []model.Store
	for _, m := range p.d.Fleet.Members() {
		if m.Err == nil && m.Store.Browser != nil && (p.Level == levelOverview || m.Name == p.Items.At.Store) {
			stores = append(stores, m.Store)
		}
	}
	p.looking = true
	return tea.Batch(p.Watch(), p.d.Asker(p.at)(func(context.Context) any {
		out := stamped{}
		for _, s := range stores {
			out[s.Name] = changes.Stamp(s)
		}
		return out
	}))
}

// looked fetches again what has changed. The cursor stays on its row.
func (p *Pane) looked(now stamped) tea.Cmd {
	p.looking = false
	at, every := p.d.Time.Clock.Now(), p.d.Glances.Every
	var cmds []tea.Cmd
	for store, stamp := range now {
		if u := p.Overview.pulse(store); !p.Overview.running[store] && u.Due(stamp, at, every) {
			u.Ask(stamp, at)
			p.Overview.quiet[store] = true
			cmds = append(cmds, p.Overview.countStore(store))
		}
	}
	stamp, shown := now[p.Items.At.Store]
	if p.Level == levelOverview || !shown || !p.Items.Settled() || len(p.d.Exports.Files) > 0 {
		return tea.Batch(cmds...)
	}
	if u := &p.Items.pulse; u.Due(stamp, at, every) {
		u.Ask(stamp, at)
		p.Items.Window.Quiet = true
		cmds = append(cmds, p.Items.Window.Refresh())
		if p.reader.Shown == p.reader.Want.Ref {
			cmds = append(cmds, p.reader.Open(p.reader.Want, true))
		}
	}
	return tea.Batch(cmds...)
}
