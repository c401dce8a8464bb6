package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
)

// pointable is a pane whose rows can be pointed at; ok is false while it shows no list.
type pointable interface{ listed() (visible, bool) }

// bodyTop is the line of the screen where a pane begins.
const bodyTop = 3

// wheelLines is how far one notch goes.
const wheelLines = 3

// pointer is the mouse.
type pointer struct {
	a *App
	d *bench
}

// mouse takes what the mouse does: a click on a tab opens its pane, on a row selects it,
// on the selected row does what enter does; the wheel scrolls what is under it; the
// line between list and detail can be dragged. Over a question only the wheel counts:
// no answer is given by a slip of the hand.
func (pt *pointer) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if pt.a.width == 0 || pt.a.curtain.down || pt.a.tooSmall() || pt.d.edits.editing != nil {
		return nil
	}
	pt.a.curtain.lastKey = pt.a.o.Clock.Now()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return pt.wheel(m)
	case tea.MouseReleaseMsg:
		pt.d.dragging = false
	case tea.MouseMotionMsg:
		return pt.drag(m.X)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft && pt.d.modal.dialog == nil && !pt.a.line.typing {
			return pt.click(m.X, m.Y)
		}
	}
	return nil
}

func (pt *pointer) click(x, y int) tea.Cmd {
	if y == 0 {
		if n := pt.tabAt(x); n >= 0 {
			return pt.a.press(pt.a.paneBindings(), string(rune('1'+n)))
		}
		return nil
	}
	p, ok := pt.a.pane().(pointable)
	if pt.a.pages.overlay != nil || !ok || pt.a.pane().typing() != nil {
		return nil
	}
	list, ok := p.listed()
	if !ok {
		return nil
	}
	if pt.a.width >= wideFrom && !pt.d.plain && (x == list.width || x == list.width+1) {
		pt.d.dragging = true
		return nil
	}
	row := list.top + y - bodyTop - list.first
	switch line := y - bodyTop - list.first; {
	case x >= list.width, line < 0, line >= list.height, row >= list.n:
		return nil
	case row == list.sel:
		return pt.a.press(pt.a.here(), "enter")
	}
	return list.move(row - list.sel)
}

// tabAt is the pane whose tab is at a column of the first line; -1: none.
func (pt *pointer) tabAt(x int) int {
	tabs, margin := pt.a.tabs()
	at := 0
	for i, t := range tabs {
		end := at + margin + t.label.Width() + t.badge.Width() + 1
		if i == pt.a.active {
			end += 1 - margin
		}
		if x < end {
			return i
		}
		at = end
	}
	return -1
}

// wheel scrolls what is under it: the detail beside or below a list, else what the keys
// of movement are for.
func (pt *pointer) wheel(m tea.Mouse) tea.Cmd {
	up, down := "up", "down"
	if p, ok := pt.a.pane().(pointable); ok && pt.a.pages.overlay == nil && pt.d.modal.dialog == nil {
		list, lists := p.listed()
		beside := pt.a.width >= wideFrom && !pt.d.plain
		if lists && (beside && m.X > list.width || !beside && m.Y-bodyTop >= list.first+list.height) {
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
	b, ok := act.Find(pt.a.here(), name)
	if !ok || b.Reason() != "" {
		return nil
	}
	var cmds []tea.Cmd
	for range wheelLines {
		cmds = append(cmds, b.Do())
	}
	return tea.Batch(cmds...)
}

// Smallest parts of the screen that the line between list and detail leaves.
const leastList, leastDetail = 40, 30

// drag moves the line between list and detail.
func (pt *pointer) drag(x int) tea.Cmd {
	if !pt.d.dragging || pt.a.width < wideFrom {
		return nil
	}
	share := max(min(x, pt.a.width-leastDetail), leastList) * 1000 / pt.a.width
	if share == pt.d.share {
		return nil
	}
	pt.d.share = share
	return pt.a.resize(pt.a.width, pt.a.height)
}
