package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/text"
)

// curtain hides the screen, on request or when no key is pressed for long.
type curtain struct {
	a       *App
	down    bool
	lastKey time.Time
}

// UnlockKey is a key that is not pressed by leaning on the keyboard.
const UnlockKey = "U"

// lock hides the screen. It guards against a look over the shoulder and against keys meant for
// another window; it is no access control: anyone at the terminal may lift it, since SSH
// authenticated the session and memdesk knows no password to ask again.
func (c *curtain) lock() {
	c.down, c.a.said.text = true, safetext.Text{}
	c.a.Line.closeCommand()
}

// watchIdle is called at the start and by its own timer; 0 is never.
func (c *curtain) watchIdle(in time.Duration) tea.Cmd {
	if c.a.O.IdleLock <= 0 {
		return nil
	}
	return c.a.D.Later(loop.Over)(in, loop.Then(c.lockDue))
}

// lockDue falls when no key was pressed for long enough.
func (c *curtain) lockDue() tea.Cmd {
	idle := c.a.O.Clock.Now().Sub(c.lastKey)
	if idle < c.a.O.IdleLock {
		return c.watchIdle(c.a.O.IdleLock - idle)
	}
	if !c.down {
		c.lock()
	}
	return c.watchIdle(c.a.O.IdleLock)
}

// lockKey accepts only the key that lifts the curtain.
func (c *curtain) lockKey(name string) tea.Cmd {
	switch strings.TrimPrefix(name, "alt+") { // escape and the key in one piece, as over a slow line
	case UnlockKey, "shift+" + strings.ToLower(UnlockKey):
	default:
		return nil
	}
	c.down = false
	if d := c.a.D.Modal.Dialog; d != nil && !d.Busy { // keys meant for the curtain answer nothing
		d.Armed = false
		return c.a.D.Later(loop.Over)(dialog.InFlight, dialog.Armed{Gen: d.Gen})
	}
	return nil
}

func (c *curtain) lockFrame() []string {
	st := c.a.D.St
	text := st.Esc.Sprintf("memdesk is locked. %s shows it again, ctrl+c leaves.", UnlockKey)
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

// leavingLines replace the status line where there is none.
func (a *App) leavingLines() []string {
	return append([]string{a.D.St.Row(a.width).End()}, text.Paragraph(a.D.St, text.Line{Value: a.leave.leaveWarning(), Kind: text.Warn}, a.width)...)
}

// askWritable asks before a session that was made read-only is writable again.
func (l *commandLine) askWritable() tea.Cmd {
	esc := l.a.D.Esc
	lines := []text.Line{
		{Value: esc.Const("Make this session writable again?"), Kind: text.Title},
		{Value: esc.Const("Keys that change memory work again, in every store that is not read-only itself.")},
	}
	if env, production := l.a.Environment(); production {
		lines = append(lines, text.Line{Value: esc.Sprintf("The environment: %s", env), Kind: text.Alert})
	}
	return l.a.D.Modal.Show(&dialog.Dialog{Title: esc.Const("Writable"), Lines: lines, NoReason: true, Choices: []dialog.Choice{{Verb: "Make writable", Run: func() tea.Cmd {
		l.a.D.ReadOnly = ""
		return l.a.D.Tell("this session is writable")
	}}}})
}

// Idle reports whether the operator was away for longer than the lock allows, and resets the time.
func (c *curtain) Idle() bool {
	now := c.a.O.Clock.Now()
	away := now.Sub(c.lastKey)
	c.lastKey = now
	return c.a.O.IdleLock > 0 && away >= c.a.O.IdleLock
}
