package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// loop is how a part of the console works on the update loop: it runs questions in
// commands, says things on the status line, and draws in the session's styles.
type loop struct {
	ctx   context.Context  // of the session: commands end with it
	st    *paint.Styles    // of the update loop, which may change them
	esc   safetext.Escaper // the same escaping, for commands: it never changes
	time  prose.Clock
	say   func(paint.Tone, safetext.Text)                 // a message on the status line until the next key
	later func(pane int) func(time.Duration, any) tea.Cmd // delivers a message after a pause
}

// reply carries the answer of a command to the pane that asked.
type reply struct {
	pane int
	msg  any
}

// overlayPane is the address of answers for what lies over the panes.
const overlayPane = -1

// onLoop is an answer for what lies over the panes that is carried out on the update loop.
type onLoop func() tea.Cmd

// someday is the same of a question that is asked after a pause whether or not there is a screen.
type someday func() tea.Cmd

// asker runs a question in a command and delivers its answer to one pane. A nil
// answer is dropped.
func (l *loop) asker(pane int) func(func(context.Context) any) tea.Cmd {
	return func(f func(context.Context) any) tea.Cmd {
		return guarded(func() tea.Msg {
			msg := f(l.ctx)
			if msg == nil {
				return nil
			}
			return reply{pane, msg}
		})
	}
}

// ask runs a question whose answer is for what lies over the panes.
func (l *loop) ask(f func(context.Context) any) tea.Cmd { return l.asker(overlayPane)(f) }

// ticking delivers messages to one pane by the clock.
func ticking(pane int) func(time.Duration, any) tea.Cmd {
	return func(pause time.Duration, msg any) tea.Cmd {
		return tea.Tick(pause, func(time.Time) tea.Msg { return reply{pane, msg} })
	}
}
