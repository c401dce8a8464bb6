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
	a       *App
	d       *bench
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
func (c *curtain) lock() {
	c.down, c.a.said.text = true, safetext.Text{}
	c.a.line.closeCommand()
}

// watchIdle is called at the start and by itself; 0 is never.
func (c *curtain) watchIdle(in time.Duration) tea.Cmd {
	if c.a.o.IdleLock <= 0 {
		return nil
	}
	return c.d.later(overlayPane)(in, lockDue{})
}

func (c *curtain) lockDue() tea.Cmd {
	idle := c.a.o.Clock.Now().Sub(c.lastKey)
	if idle < c.a.o.IdleLock {
		return c.watchIdle(c.a.o.IdleLock - idle)
	}
	if !c.down {
		c.lock()
	}
	return c.watchIdle(c.a.o.IdleLock)
}

// lockKey takes the key that lifts the curtain, and no other.
func (c *curtain) lockKey(name string) tea.Cmd {
	switch strings.TrimPrefix(name, "alt+") { // escape and the key in one piece, as over a slow line
	case unlockKey, "shift+" + strings.ToLower(unlockKey):
	default:
		return nil
	}
	c.down = false
	if d := c.d.modal.dialog; d != nil && !d.busy { // keys that were meant for the curtain are no answer
		d.armed = false
		return c.d.later(overlayPane)(inFlight, armed{d.gen})
	}
	return nil
}

func (c *curtain) lockFrame() []string {
	st := c.d.st
	text := st.Esc.Sprintf("memdesk is locked. %s shows it again, ctrl+c leaves.", unlockKey)
	var lines []string
	for range max((c.a.height-1)/2, 0) {
		lines = append(lines, st.Row(c.a.width).End())
	}
	for _, part := range st.Wrap(text, max(c.a.width-2, 1)) {
		lines = append(lines, st.Row(c.a.width).Blank(max((c.a.width-st.Width(part))/2, 0)).Put(st.Plain, part).End())
	}
	if c.a.leave.warned {
		lines = append(lines, c.a.leavingLines()...)
	}
	return st.FillTo(lines, c.a.width, c.a.height)
}

// leavingLines stand where there is no status line.
func (a *App) leavingLines() []string {
	return append([]string{a.d.st.Row(a.width).End()}, a.d.st.Paragraph(a.d.st.Warn, a.leave.leaveWarning(), a.width)...)
}

// proposeWritable asks before a session that was made read-only is writable again.
func (l *commandLine) proposeWritable(from int) func(context.Context) any {
	esc := l.d.esc
	lines := []text.Line{
		{Value: esc.Const("Make this session writable again?"), Kind: text.Title},
		{Value: esc.Const("Keys that change memory work again, in every store that is not read-only itself.")},
	}
	if env, production := l.a.environment(); production {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! The environment: %s", env), Kind: text.Warn})
	}
	d := &dialog{title: esc.Const("Writable"), lines: lines, noReason: true, choices: []choice{{verb: "Make writable", run: func() tea.Cmd {
		l.d.readOnly = ""
		l.d.say(paint.ToneInfo, esc.Const("this session is writable"))
		return nil
	}}}}
	return func(context.Context) any { return proposal{from: from, dialog: d} }
}
