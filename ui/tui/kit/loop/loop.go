package loop

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// Loop is how a part of the console works on the update loop: it runs questions in
// commands, says things on the status line, and draws in the session's styles.
type Loop struct {
	Ctx   context.Context  // of the session: commands end with it
	St    *paint.Styles    // of the update loop, which may change them
	Esc   safetext.Escaper // the same escaping, for commands: it never changes
	Time  prose.Clock
	Say   func(paint.Tone, safetext.Text)                 // a message on the status line until the next key
	Later func(pane int) func(time.Duration, any) tea.Cmd // delivers a message after a pause
}

// Warn says a warning on the status line; arguments are escaped. There is no more to do.
func (l *Loop) Warn(format string, args ...any) tea.Cmd {
	l.Say(paint.ToneWarn, l.Esc.Sprintf(format, args...))
	return nil
}

// Tell says the same without a warning.
func (l *Loop) Tell(format string, args ...any) tea.Cmd {
	l.Say(paint.ToneInfo, l.Esc.Sprintf(format, args...))
	return nil
}

// Reply carries the answer of a command to the pane that asked.
type Reply struct {
	Pane int
	Msg  any
}

// Over is the address of answers for what lies over the panes.
const Over = -1

// Then is an answer for what lies over the panes that is carried out on the update loop.
type Then func() tea.Cmd

// Someday is the same of a question that is asked after a pause whether or not there is a screen.
type Someday func() tea.Cmd

// Asker runs a question in a command and delivers its answer to one pane. A nil
// answer is dropped.
func (l *Loop) Asker(pane int) func(func(context.Context) any) tea.Cmd {
	return func(f func(context.Context) any) tea.Cmd {
		return guarded(func() tea.Msg {
			msg := f(l.Ctx)
			if msg == nil {
				return nil
			}
			return Reply{pane, msg}
		})
	}
}

// Ask runs a question whose answer is for what lies over the panes.
func (l *Loop) Ask(f func(context.Context) any) tea.Cmd { return l.Asker(Over)(f) }

// Ticking delivers messages to one pane by the clock.
func Ticking(pane int) func(time.Duration, any) tea.Cmd {
	return func(pause time.Duration, msg any) tea.Cmd {
		return tea.Tick(pause, func(time.Time) tea.Msg { return Reply{pane, msg} })
	}
}
