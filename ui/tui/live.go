package tui

import (
	"context"
	"reflect"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
)

// A list whose source tells cheaply that it has changed is looked at every liveEvery. Any
// other is asked for again every Options.Poll; hiddenPoll times less often while it is not
// on the screen. A look never takes more than a share of the time: the pause after it is
// at least restful times as long as it took.
const (
	liveEvery  = 2 * time.Second
	hiddenPoll = 5
	restful    = 20
)

// oldAfter is the age from which a list says how old it is.
const oldAfter = 10 * time.Second

// liveTick asks whether a list has changed.
type liveTick struct{}

// liveStamp is the state of a list's source.
type liveStamp struct{ stamp string }

// glances are the looks at lists that change by themselves.
type glances struct {
	every  time.Duration // pause between two looks at a source that tells no changes; 0: there are none
	frozen bool          // lists stand still
}

// pulse is when a list was read.
type pulse struct {
	asked, at time.Time // the look under way, the newest one that was answered
	took      time.Duration
	ticks     bool
}

// read notes an answer that has the list from its start.
func (u *pulse) read(now time.Time) {
	if !u.asked.IsZero() {
		u.took, u.asked = now.Sub(u.asked), time.Time{}
	}
	u.at = now
}

// aged is a position with how old the list is, where that matters.
func (d *desk) aged(at safetext.Text, u pulse) safetext.Text {
	switch now := d.time.Clock.Now(); {
	case u.at.IsZero():
		return at
	case d.glances.frozen:
		return d.esc.Sprintf("%s, frozen, as of %s", at, u.at.UTC().Format("15:04:05Z"))
	case now.Sub(u.at) >= oldAfter:
		return d.esc.Sprintf("%s, seen %s", at, d.time.Ago(u.at))
	}
	return at
}

// freeze makes all lists stand still, or lets them go on.
func (a *App) freeze() tea.Cmd {
	f := &a.d.glances.frozen
	if *f = !*f; *f {
		a.say(paint.ToneInfo, a.d.esc.Const("lists stand still until the same key is pressed again"))
		return nil
	}
	a.say(paint.ToneInfo, a.d.esc.Const("lists are live again"))
	return a.pane().refresh()
}

// follows reports whether the list is looked at by itself.
func (p *records[T]) follows() bool {
	return p.kind.live != nil || p.kind.poll && p.kind.missing == "" && p.d.glances.every > 0
}

// watched is a pane that is looked at by itself, also while another one is on the screen.
type watched interface{ watch() tea.Cmd }

// watch waits for the next look at a list that changes by itself.
func (p *records[T]) watch() tea.Cmd {
	if p.pulse.ticks || !p.follows() {
		return nil
	}
	pause := liveEvery
	if p.kind.live == nil {
		pause = max(p.d.glances.every, restful*p.pulse.took)
		if p.open && !p.visible() {
			pause *= hiddenPoll
		}
	}
	p.pulse.ticks = true
	return p.d.later(p.kind.pane)(pause, liveTick{})
}

// ticked looks again, where nothing is under way that another look would break: a source
// may keep one walk only.
func (p *records[T]) ticked() tea.Cmd {
	p.pulse.ticks = false
	switch {
	case p.kind.live != nil && !p.visible():
		return nil
	case p.d.glances.frozen:
	case p.kind.live != nil:
		live := p.kind.live
		return tea.Batch(p.ask(func(ctx context.Context) any { return liveStamp{live(ctx)} }), p.watch())
	case !p.open:
		return p.enter()
	case p.marks.walk == nil && p.marks.uncounted() == "" && !slices.Contains(p.list.loading[:], true) && p.list.trail == nil && len(p.d.exports.files) == 0:
		p.pulse.asked, p.list.quiet = p.d.time.Clock.Now(), true
		return tea.Batch(p.list.refresh(), p.watch())
	}
	return p.watch()
}

// grown asks for the list again when its source has another state.
func (p *records[T]) grown(m liveStamp) tea.Cmd {
	was := p.stamp
	p.stamp = m.stamp
	if was == m.stamp { // the first one tells too: the list may be older than it
		p.pulse.read(p.d.time.Clock.Now())
		return nil
	}
	return p.list.refresh()
}

// arrived takes a page into the list. The detail is asked for again when its row is not
// as it was.
func (p *records[T]) arrived(page fetched[record[T]]) tea.Cmd {
	was, _ := p.list.current()
	// Whoever looks at the newest row goes on looking at the newest row.
	newest := p.kind.live != nil && page.how == arriveRefresh && p.list.sel == 0
	if page.gen == p.list.gen && page.err == nil && len(page.pages) > 0 && page.pages[0].at == (from{limit: page.pages[0].at.limit}) {
		p.pulse.read(p.d.time.Clock.Now())
	}
	cmd := p.list.arrive(page)
	if newest {
		p.list.sel, p.list.top = 0, 0
	}
	if now, ok := p.list.current(); ok && now.key == was.key && p.shown == now.key && !reflect.DeepEqual(now.raw, was.raw) {
		p.asked, p.again = "", true
	}
	if p.query == "" && p.list.err == nil {
		p.waiting = p.list.total()
	}
	return cmd
}

// badge is how many rows wait in a list that is looked at by the clock.
func (p *records[T]) badge() (safetext.Text, paint.Tone) {
	if p.kind.live != nil || !p.follows() || p.waiting.N == 0 || p.waiting.Unknown {
		return safetext.Text{}, paint.ToneInfo
	}
	if p.waiting.AtLeast {
		return safetext.Sprintf("%d+", p.waiting.N), paint.ToneWarn
	}
	return safetext.Sprintf("%d", p.waiting.N), paint.ToneWarn
}
