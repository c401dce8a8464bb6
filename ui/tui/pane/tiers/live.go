package tiers

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/tui/desk"
)

// Whether stores have changed is looked at every lookEvery: most can tell without being asked. What
// is counted or read again for it takes at most one part in restful of the time.
const (
	lookEvery = 2 * time.Second
	restful   = 20
)

// lookDue asks for the next look.
type lookDue struct{}

// stamped is the state of stores, empty where one cannot tell it.
type stamped map[string]string

// freshness is how old what is shown of a store is.
type freshness struct {
	stamp string    // of the store when it was asked
	asked time.Time // the question that is not answered yet; zero: there is none
	seen  time.Time // when it was so
	rest  time.Time // until when the store is left in peace
}

// due reports whether the store has to be asked again; every is the pause between two questions
// to one that cannot tell, 0 for never.
func (f *freshness) due(stamp string, now time.Time, every time.Duration) bool {
	switch {
	case stamp != "" && stamp == f.stamp:
		f.seen = now
		return false
	case now.Before(f.rest):
		return false
	case stamp == "":
		return every > 0 && now.Sub(f.seen) >= every
	}
	return true
}

func (f *freshness) ask(stamp string, now time.Time) { f.stamp, f.asked = stamp, now }

// answered notes that what is shown is as the store is now.
func (f *freshness) answered(now time.Time) {
	if !f.asked.IsZero() {
		f.rest = now.Add(restful * now.Sub(f.asked))
	}
	f.seen, f.asked = now, time.Time{}
}

// pulse is the age in the words of every list.
func (f *freshness) pulse() (u desk.Pulse) {
	u.Read(f.seen)
	return u
}

// Watch waits for the next look.
func (p *Pane) Watch() tea.Cmd {
	if p.ticking {
		return nil
	}
	p.ticking = true
	return p.d.Later(p.at)(lookEvery, lookDue{})
}

// look asks the stores that are shown for their stamps.
func (p *Pane) look() tea.Cmd {
	p.ticking = false
	changes := p.d.Changes
	if changes == nil || p.d.Glances.Frozen || p.d.Frame != nil && !p.d.Frame.Shows(p.at) {
		return p.Watch()
	}
	var stores []model.Store
	for _, m := range p.d.Fleet.Members() {
		if m.Err == nil && m.Store.Browser != nil && (p.Level == levelOverview || m.Name == p.Items.At.Store) {
			stores = append(stores, m.Store)
		}
	}
	return tea.Batch(p.Watch(), p.d.Asker(p.at)(func(context.Context) any {
		out := stamped{}
		for _, s := range stores {
			out[s.Name] = changes.Stamp(s)
		}
		return out
	}))
}

// looked asks again for what has changed. The cursor stays on its row.
func (p *Pane) looked(now stamped) tea.Cmd {
	at, every := p.d.Time.Clock.Now(), p.d.Glances.Every
	var cmds []tea.Cmd
	for store, stamp := range now {
		if f := p.Overview.age(store); f.due(stamp, at, every) {
			f.ask(stamp, at)
			p.Overview.quiet[store] = true
			cmds = append(cmds, p.Overview.countStore(store))
		}
	}
	stamp, shown := now[p.Items.At.Store]
	if p.Level == levelOverview || !shown || !p.Items.settled() {
		return tea.Batch(cmds...)
	}
	if f := &p.Items.age; f.due(stamp, at, every) {
		f.ask(stamp, at)
		p.Items.List.Quiet = true
		cmds = append(cmds, p.Items.List.Refresh())
		if p.reader.Shown == p.reader.Want.Ref {
			cmds = append(cmds, p.reader.Open(p.reader.Want, true))
		}
	}
	return tea.Batch(cmds...)
}

// settled reports whether a refresh would break nothing that is under way.
func (l *items) settled() bool {
	for _, loading := range l.List.Loading {
		if loading {
			return false
		}
	}
	return l.List.Trail == nil && l.Marks.Walk == nil && l.Marks.Uncounted() == "" && len(l.d.Exports.Files) == 0
}
