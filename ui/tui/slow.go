package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/loop"
)

// slowAfter is the wait before the frame says that it is loading: words that go within a blink flicker.
const slowAfter = 200 * time.Millisecond

// slow decides when a wait is worth a word.
type slow struct {
	gen     int
	waiting bool
	said    bool
	after   time.Duration // of waiting
}

// watchBusy is called after each message.
func (a *App) watchBusy() tea.Cmd {
	s := &a.slow
	_, busy := a.pane().Position() // the screen will change without a key
	if a.Pages.Overlay != nil {
		busy = a.Pages.Overlay.Pager.Busy
	}
	switch {
	case !busy && s.waiting:
		s.gen++
		s.waiting, s.said = false, false
	case busy && !s.waiting:
		s.waiting = true
		gen := s.gen
		return a.D.Later(loop.Over)(s.after, loop.Then(func() tea.Cmd { s.said = s.said || s.waiting && gen == s.gen; return nil }))
	}
	return nil
}
