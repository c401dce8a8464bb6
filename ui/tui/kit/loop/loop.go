// Package loop connects a part of the console with the update loop: it runs questions in commands,
// returns their answers, and writes on the status line. A panic in a command ends the program in
// good order.
package loop

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// Loop runs questions in commands, writes on the status line, and draws in the session's styles.
type Loop struct {
	Ctx   context.Context  // of the session: commands end with it
	St    *paint.Styles    // owned by the update loop, which may change them
	Esc   safetext.Escaper // the same escaping, for commands: it never changes
	Time  prose.Clock
	Say   func(paint.Tone, safetext.Text)                 // a message on the status line until the next key
	Later func(pane int) func(time.Duration, any) tea.Cmd // delivers a message after a pause
}

// Warn shows a warning on the status line; arguments are escaped. It returns nil.
func (l *Loop) Warn(format string, args ...any) tea.Cmd {
	l.Say(paint.ToneWarn, l.Esc.Sprintf(format, args...))
	return nil
}

// Tell is Warn without the tone of a warning.
func (l *Loop) Tell(format string, args ...any) tea.Cmd {
	l.Say(paint.ToneInfo, l.Esc.Sprintf(format, args...))
	return nil
}

// Reply carries the answer of a command to the pane that asked.
type Reply struct {
	Pane int
	Msg  any
}

// Over is the address of answers for overlays.
const Over = -1

// Then is an answer for overlays that runs on the update loop.
type Then func() tea.Cmd

// Someday is a Then that runs after a pause, with or without a screen.
type Someday func() tea.Cmd

// Asker runs a question in a command and delivers its answer, unless it is nil, to one pane.
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

// Ask runs a question whose answer is for overlays.
func (l *Loop) Ask(f func(context.Context) any) tea.Cmd { return l.Asker(Over)(f) }

// Ticking delivers messages to one pane after a time.
func Ticking(pane int) func(time.Duration, any) tea.Cmd {
	return func(pause time.Duration, msg any) tea.Cmd {
		return tea.Tick(pause, func(time.Time) tea.Msg { return Reply{pane, msg} })
	}
}
