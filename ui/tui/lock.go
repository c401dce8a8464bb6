package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// curtain hides the screen, on demand or when nobody presses a key.
type curtain struct {
	down    bool
	lastKey time.Time
}

// lockDue asks whether nobody has pressed a key for long enough.
type lockDue struct{}

// unlockKey is one that nobody presses by leaning on the keyboard.
const unlockKey = "U"

// lock hides what is shown. It is a curtain against a look over the shoulder and
// against keys that are meant for another window, and no lock on a door: whoever
// sits at the terminal may lift it, since the session was authenticated by SSH and
// memdesk knows no password that could be asked again.
func (a *App) lock() {
	a.curtain.down, a.said.text = true, safetext.Text{}
	a.closeCommand()
}

// watchIdle is called at the start and by itself; 0 is never.
func (a *App) watchIdle(in time.Duration) tea.Cmd {
	if a.o.IdleLock <= 0 {
		return nil
	}
	return a.d.later(overlayPane)(in, lockDue{})
}

func (a *App) lockDue() tea.Cmd {
	idle := a.o.Clock.Now().Sub(a.curtain.lastKey)
	if idle < a.o.IdleLock {
		return a.watchIdle(a.o.IdleLock - idle)
	}
	if !a.curtain.down {
		a.lock()
	}
	return a.watchIdle(a.o.IdleLock)
}

// lockKey takes the key that lifts the curtain, and no other.
func (a *App) lockKey(name string) tea.Cmd {
	switch strings.TrimPrefix(name, "alt+") { // escape and the key in one piece, as over a slow line
	case unlockKey, "shift+" + strings.ToLower(unlockKey):
	default:
		return nil
	}
	a.curtain.down = false
	if d := a.dialog; d != nil && !d.busy { // keys that were meant for the curtain are no answer
		d.armed = false
		return a.d.later(overlayPane)(inFlight, armed{d.gen})
	}
	return nil
}

func (a *App) lockFrame() []string {
	st := a.d.st
	text := st.Esc.Sprintf("memdesk is locked. %s shows it again, ctrl+c leaves.", unlockKey)
	var lines []string
	for range max((a.height-1)/2, 0) {
		lines = append(lines, st.Row(a.width).End())
	}
	for _, part := range st.Wrap(text, max(a.width-2, 1)) {
		lines = append(lines, st.Row(a.width).Blank(max((a.width-st.Width(part))/2, 0)).Put(st.Plain, part).End())
	}
	if a.work.leaving {
		lines = append(lines, a.leavingLines()...)
	}
	return st.FillTo(lines, a.width, a.height)
}

// leavingLines stand where there is no status line.
func (a *App) leavingLines() []string {
	return append([]string{a.d.st.Row(a.width).End()}, a.d.st.Paragraph(a.d.st.Warn, a.leaveWarning(), a.width)...)
}

// proposeWritable asks before a session that was made read-only is writable again.
func (a *App) proposeWritable(from int) func(context.Context) any {
	esc := a.d.esc
	lines := []text.Line{
		{Value: esc.Const("Make this session writable again?"), Kind: text.Title},
		{Value: esc.Const("Keys that change memory work again, in every store that is not read-only itself.")},
	}
	if env, production := a.environment(); production {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! The environment: %s", env), Kind: text.Warn})
	}
	d := &dialog{title: esc.Const("Writable"), lines: lines, noReason: true, choices: []choice{{verb: "Make writable", run: func() tea.Cmd {
		a.d.readOnly = ""
		a.say(paint.ToneInfo, esc.Const("this session is writable"))
		return nil
	}}}}
	return func(context.Context) any { return proposal{from: from, dialog: d} }
}
