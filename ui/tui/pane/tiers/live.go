package tiers

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// lookEvery is the pause between two checks for changed stores: most stores tell without I/O.
const lookEvery = 2 * time.Second

// lookDue asks for the next look.
type lookDue struct{}

// stamped is the stamp of a store, empty for a store without one.
type stamped struct{ store, stamp string }

// Watch waits for the next look.
func (p *Pane) Watch() tea.Cmd {
	if p.ticking || p.d.Changes == nil {
		return nil
	}
	p.ticking = true
	return p.d.Later(p.at)(lookEvery, lookDue{})
}

// look asks the stores that are shown for their stamps, each by itself: one that hangs holds up no other.
func (p *Pane) look() tea.Cmd {
	p.ticking = false
	changes := p.d.Changes
	if p.d.AutoRefresh.Frozen || p.d.Frame != nil && !p.d.Frame.Shows(p.at) {
		return p.Watch()
	}
	cmds := []tea.Cmd{p.Watch()}
	for _, m := range p.d.Fleet.Members() {
		s := m.Store
		if m.Err == nil && s.Browser != nil && (p.level == p.Overview || m.Name == p.Items.At.Store) && !p.looking[m.Name] {
			p.looking[m.Name] = true
			cmds = append(cmds, p.d.Asker(p.at)(func(context.Context) any { return stamped{m.Name, changes.Stamp(s)} }))
		}
	}
	return tea.Batch(cmds...)
}

// looked fetches again what has changed. The cursor stays on its row.
func (p *Pane) looked(now stamped) tea.Cmd {
	delete(p.looking, now.store)
	at, every := p.d.Time.Clock.Now(), p.d.AutoRefresh.Every
	var cmds []tea.Cmd
	if u := p.Overview.pulse(now.store); !p.Overview.running[now.store] && u.Due(now.stamp, at, every) {
		u.Ask(now.stamp, at)
		p.Overview.quiet[now.store] = true
		cmds = append(cmds, p.Overview.countStore(now.store))
	}
	if p.level == p.Overview || now.store != p.Items.At.Store || !p.Items.Settled() || len(p.d.Exports.Files) > 0 {
		return tea.Batch(cmds...)
	}
	if u := &p.Items.Pulse; u.Due(now.stamp, at, every) {
		u.Ask(now.stamp, at)
		p.Items.Window.Quiet = true
		cmds = append(cmds, p.Items.Window.Refresh())
		if p.Items.Detail.Settled() {
			cmds = append(cmds, p.Items.Detail.Again())
		}
	}
	return tea.Batch(cmds...)
}
