package record

import (
	"context"
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
)

// A list whose source has a stamp is checked every liveEvery. Any other is fetched again every
// Options.Poll, and hiddenPoll times less often while it is off the screen. A check never takes
// more than a share of the time: the pause after it is at least desk.Restful times its duration.
const (
	liveEvery  = 2 * time.Second
	hiddenPoll = 5
)

// liveTick asks whether a list has changed.
type liveTick struct{}

// liveStamp is the state of a list's source.
type liveStamp struct{ stamp string }

// follows reports whether the list is checked automatically.
func (p *List[T]) follows() bool {
	return p.Kind.Live != nil || p.Kind.Poll && p.Kind.Missing == "" && p.D.AutoRefresh.Every > 0
}

// Watch schedules the next check of a list that changes by itself.
func (p *List[T]) Watch() tea.Cmd {
	if p.Pulse.Ticks || !p.follows() {
		return nil
	}
	pause := liveEvery
	if p.Kind.Live == nil {
		pause = max(p.D.AutoRefresh.Every, desk.Restful*p.Pulse.Took)
		if p.Entered && !p.Visible() {
			pause *= hiddenPoll
		}
	}
	p.Pulse.Ticks = true
	return p.D.Later(p.Kind.Pane)(pause, liveTick{})
}

// ticked checks again, unless that would disturb running work: a source may keep one walk only.
func (p *List[T]) ticked() tea.Cmd {
	p.Pulse.Ticks = false
	switch {
	case p.Kind.Live != nil && !p.Visible():
		return nil
	case p.D.AutoRefresh.Frozen:
	case p.Kind.Live != nil:
		live := p.Kind.Live
		return tea.Batch(p.Window.Ask(func(ctx context.Context) any { return liveStamp{live(ctx)} }), p.Watch())
	case !p.Entered:
		return p.Enter()
	case p.Settled() && len(p.D.Exports.Files) == 0:
		p.Pulse.Ask("", p.D.Time.Clock.Now())
		p.Window.Quiet = true
		return tea.Batch(p.Window.Refresh(), p.Watch())
	}
	return p.Watch()
}

// grown fetches the list again when its stamp has changed.
func (p *List[T]) grown(m liveStamp) tea.Cmd {
	now := p.D.Time.Clock.Now()
	if m.stamp != "" && !p.Pulse.Due(m.stamp, now, 0) { // the first stamp is due: the list may be older
		return nil
	}
	p.Pulse.Ask(m.stamp, now)
	return p.Window.Refresh()
}

// arrived takes a page into the list. A changed row's detail is fetched again.
func (p *List[T]) arrived(page list.Fetched[Row[T]]) tea.Cmd {
	was, _ := p.Window.Current()
	// A cursor on the newest row stays on the newest row.
	newest := p.Kind.Live != nil && page.How == list.ArriveRefresh && p.Window.Sel == 0
	if p.Window.Renews(page) {
		p.Pulse.Answered(p.D.Time.Clock.Now(), page.Took, page.Err)
	}
	cmd := p.Window.Arrive(page)
	if newest {
		p.Window.Sel, p.Window.Top = 0, 0
	}
	if now, ok := p.Window.Current(); ok && now.Key == was.Key && p.Detail.Wants(now.Key) && !reflect.DeepEqual(now.Raw, was.Raw) {
		p.Detail.Outdate(true)
	}
	if p.Query == "" && p.Window.Err == nil {
		p.size = p.Window.Total()
		p.size.AtLeast = p.size.AtLeast || !p.Window.Trouble(p.D.Esc).IsEmpty()
	}
	return cmd
}

// Badge counts the rows of a polled list, ? until known, with + where not everything could be looked at.
func (p *List[T]) Badge() (safetext.Text, paint.Tone) {
	switch {
	case p.Kind.Live != nil || !p.follows():
		return safetext.Text{}, paint.ToneInfo
	case !p.Pulse.Known() || p.size.Unknown:
		return safetext.Const("?"), paint.ToneInfo
	case p.size.N == 0 && !p.size.AtLeast:
		return safetext.Text{}, paint.ToneInfo
	case p.size.N == 0:
		return safetext.Const("0+"), paint.ToneInfo
	case p.size.AtLeast:
		return safetext.Sprintf("%d+", p.size.N), paint.ToneWarn
	}
	return safetext.Sprintf("%d", p.size.N), paint.ToneWarn
}
