package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/pane"
)

// pointable is a pane whose rows can be pointed at; ok is false while it shows no list.
type pointable interface{ Listed() (desk.Visible, bool) }

// bodyTop is the line of the screen where a pane begins.
const bodyTop = 3

// wheelLines is how far one notch goes.
const wheelLines = 3

// pointer is the mouse.
type pointer struct {
	a *App
	d *pane.Bench
}

// mouse handles the mouse: a click on a tab opens its pane, on a row selects it, on the selected
// row acts like enter; the wheel scrolls the part under it; the line between list and detail can be
// dragged. Over a question only the wheel works: a slip of the hand must not answer.
func (pt *pointer) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if pt.a.width == 0 || pt.a.Curtain.down || pt.a.tooSmall() || pt.d.Edits.Editing != nil {
		return nil
	}
	pt.a.Curtain.lastKey = pt.a.O.Clock.Now()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return pt.wheel(m)
	case tea.MouseReleaseMsg:
		pt.d.Dragging = false
	case tea.MouseMotionMsg:
		return pt.drag(m.X)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft && pt.d.Modal.Dialog == nil && !pt.a.Line.typing {
			return pt.click(m.X, m.Y)
		}
	}
	return nil
}

func (pt *pointer) click(x, y int) tea.Cmd {
	if y == 0 {
		if n := pt.tabAt(x); n >= 0 {
			return pt.a.Press(pt.a.paneBindings(), string(rune('1'+n)))
		}
		return nil
	}
	p, ok := pt.a.pane().(pointable)
	if pt.a.Pages.Overlay != nil || !ok || pt.a.pane().Typing() != nil {
		return nil
	}
	list, ok := p.Listed()
	if !ok {
		return nil
	}
	if pt.a.width >= paint.WideFrom && !pt.d.Plain && (x == list.Width || x == list.Width+1) {
		pt.d.Dragging = true
		return nil
	}
	row := list.Top + y - bodyTop - list.First
	switch line := y - bodyTop - list.First; {
	case x >= list.Width, line < 0, line >= list.Height, row >= list.N:
		return nil
	case row == list.Sel:
		return pt.a.Press(pt.a.Keys(), "enter")
	}
	return list.Move(row - list.Sel)
}

// tabAt is the pane whose tab is at a column of the first line; -1: none.
func (pt *pointer) tabAt(x int) int {
	tabs, margin := pt.a.tabs()
	at := 0
	for i, t := range tabs {
		end := at + margin + t.label.Width() + t.badge.Width() + 1
		if i == pt.a.Active {
			end += 1 - margin
		}
		if x < end {
			return i
		}
		at = end
	}
	return -1
}

// wheel scrolls the part under it: the detail of a list, else whatever the movement keys move.
func (pt *pointer) wheel(m tea.Mouse) tea.Cmd {
	up, down := "up", "down"
	if p, ok := pt.a.pane().(pointable); ok && pt.a.Pages.Overlay == nil && pt.d.Modal.Dialog == nil {
		list, lists := p.Listed()
		beside := pt.a.width >= paint.WideFrom && !pt.d.Plain
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
	b, ok := act.Find(pt.a.Keys(), name)
	if !ok || b.Reason() != "" {
		return nil
	}
	var cmds []tea.Cmd
	for range wheelLines {
		cmds = append(cmds, b.Do())
	}
	return tea.Batch(cmds...)
}

// Smallest list and detail that dragging leaves, in columns.
const leastList, leastDetail = 40, 30

// drag moves the line between list and detail.
func (pt *pointer) drag(x int) tea.Cmd {
	if !pt.d.Dragging || pt.a.width < paint.WideFrom {
		return nil
	}
	share := max(min(x, pt.a.width-leastDetail), leastList) * 1000 / pt.a.width
	if share == pt.d.Share {
		return nil
	}
	pt.d.Share = share
	return pt.a.resize(pt.a.width, pt.a.height)
}
