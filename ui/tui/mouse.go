package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/paint"
)

// pointable is a pane whose rows can be pointed at; ok is false while it shows no list.
type pointable interface{ Listed() (desk.Visible, bool) }

// bodyTop is the line of the screen where a pane begins.
const bodyTop = 3

// wheelLines is how far one notch goes.
const wheelLines = 3

// mouse handles the mouse: a click on a tab opens its pane, on a row selects it, on the selected
// row acts like enter; the wheel scrolls the part under it; the line between list and detail can be
// dragged. Over a question only the wheel works: a slip of the hand must not answer.
func mouse(a *App, msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if a.width == 0 || a.Curtain.down || tooSmall(a) || a.D.Edits.Editing != nil {
		return nil
	}
	a.Curtain.lastKey = a.O.Clock.Now()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return wheel(a, m)
	case tea.MouseReleaseMsg:
		a.D.Dragging = false
	case tea.MouseMotionMsg:
		return drag(a, m.X)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft && a.D.Modal.Dialog == nil && !a.Line.typing {
			return click(a, m.X, m.Y)
		}
	}
	return nil
}

func click(a *App, x, y int) tea.Cmd {
	if y == 0 {
		if n := tabAt(a, x); n >= 0 {
			return a.Press(a.paneBindings(), string(rune('1'+n)))
		}
		return nil
	}
	p, ok := a.pane().(pointable)
	if a.Pages.Overlay != nil || !ok || a.pane().Typing() != nil {
		return nil
	}
	list, ok := p.Listed()
	if !ok {
		return nil
	}
	if list.Width < a.width && (x == list.Width || x == list.Width+1) {
		a.D.Dragging = true
		return nil
	}
	row := list.Top + y - bodyTop - list.First
	switch line := y - bodyTop - list.First; {
	case x >= list.Width, line < 0, line >= list.Height, row >= list.N:
		return nil
	case row == list.Sel:
		return a.Press(a.Keys(), "enter")
	}
	return list.Move(row - list.Sel)
}

// tabAt is the pane whose tab is at a column of the first line; -1: none.
func tabAt(a *App, x int) int {
	tabs, margin := a.tabs()
	at := 0
	for i, t := range tabs {
		end := at + margin + t.label.Width() + t.badge.Width() + 1
		if i == a.Active {
			end += 1 - margin
		}
		if x < end {
			return i
		}
		at = end
	}
	return -1
}

// wheel scrolls the part under it: a question's text, the detail of a list, else whatever the movement keys move.
func wheel(a *App, m tea.Mouse) tea.Cmd {
	up, down, times := "up", "down", wheelLines
	if a.D.Modal.Dialog != nil {
		up, down, times = "pgup", "pgdown", 1
	} else if p, ok := a.pane().(pointable); ok && a.Pages.Overlay == nil {
		list, lists := p.Listed()
		beside := list.Width < a.width
		if lists && (beside && m.X > list.Width || !beside && m.Y-bodyTop >= list.First+list.Height) {
			up, down = "K", "J"
		}
	}
	name := down
	switch m.Button {
	case tea.MouseWheelUp:
		name = up
	case tea.MouseWheelDown:
	default:
		return nil
	}
	b, ok := act.Find(a.Keys(), name)
	if !ok || b.Reason() != "" {
		return nil
	}
	var cmds []tea.Cmd
	for range times {
		cmds = append(cmds, b.Do())
	}
	return tea.Batch(cmds...)
}

// Smallest list and detail that dragging leaves, in columns.
const leastList, leastDetail = 40, 30

// drag moves the line between list and detail.
func drag(a *App, x int) tea.Cmd {
	if !a.D.Dragging || a.width < paint.WideFrom {
		return nil
	}
	share := max(min(x, a.width-leastDetail), leastList) * 1000 / a.width
	if share == a.D.Share {
		return nil
	}
	a.D.Share = share
	return a.resize(a.width, a.height)
}
