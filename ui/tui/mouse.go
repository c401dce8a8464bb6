package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
)

// visible is a list on the screen, as the mouse and a question over it see it.
type visible struct {
	first       int // line of the pane with the first visible row
	top, sel, n int
	height      int
	width       int // columns of the list; what is right of them is the detail
	move        func(by int) tea.Cmd
}

// pointable is a pane whose rows can be pointed at; ok is false while it shows no list.
type pointable interface{ listed() (visible, bool) }

func (t *table) listed(d *desk, width, height, first int) (visible, bool) {
	f := d.split(width, height-first+1)
	return visible{first: first, top: t.top, sel: t.sel, n: t.n, height: t.height, width: f.listWidth, move: t.Move}, true
}

func windowListed[T any](w *window[T], d *desk, width, height, first int, move func(int) tea.Cmd) (visible, bool) {
	f := d.split(width, height-first+1)
	return visible{first: first, top: w.top, sel: w.sel, n: len(w.rows), height: w.height, width: f.listWidth, move: move}, true
}

func (p *health) listed() (visible, bool) {
	w, h := p.d.app.room()
	return p.table.listed(p.d, w, h, 1)
}

func (p *tiers) listed() (visible, bool) {
	switch p.level {
	case levelOverview:
		return p.overview.table.listed(p.d, p.width, p.height, 1)
	case levelItems:
		return windowListed(p.items.list, p.d, p.width, p.height, 1, p.items.Move)
	}
	return visible{}, false
}

func (p *recall) listed() (visible, bool) {
	if p.reading {
		return visible{}, false
	}
	w, h := p.d.app.room()
	return p.table.listed(p.d, w, h, 2+len(p.renderStatus(w)))
}

func (p *records[T]) listed() (visible, bool) {
	if p.full {
		return visible{}, false
	}
	return windowListed(p.list, p.d, p.width, p.height, 1+len(p.noticeLines()), p.Move)
}

// bodyTop is the line of the screen where a pane begins.
const bodyTop = 3

// wheelLines is how far one notch goes.
const wheelLines = 3

// pointer is the mouse.
type pointer struct{ d *desk }

// mouse takes what the mouse does: a click on a tab opens its pane, on a row selects it,
// on the selected row does what enter does; the wheel scrolls what is under it; the
// line between list and detail can be dragged. Over a question only the wheel counts:
// no answer is given by a slip of the hand.
func (pt *pointer) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if pt.d.app.width == 0 || pt.d.app.curtain.down || pt.d.app.tooSmall() || pt.d.edits.editing != nil {
		return nil
	}
	pt.d.app.curtain.lastKey = pt.d.app.o.Clock.Now()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return pt.wheel(m)
	case tea.MouseReleaseMsg:
		pt.d.dragging = false
	case tea.MouseMotionMsg:
		return pt.drag(m.X)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft && pt.d.modal.dialog == nil && !pt.d.app.line.typing {
			return pt.click(m.X, m.Y)
		}
	}
	return nil
}

func (pt *pointer) click(x, y int) tea.Cmd {
	if y == 0 {
		if n := pt.tabAt(x); n >= 0 {
			return pt.d.app.press(pt.d.app.paneBindings(), string(rune('1'+n)))
		}
		return nil
	}
	p, ok := pt.d.app.pane().(pointable)
	if pt.d.app.pages.overlay != nil || !ok || pt.d.app.pane().typing() != nil {
		return nil
	}
	list, ok := p.listed()
	if !ok {
		return nil
	}
	if pt.d.app.width >= wideFrom && !pt.d.plain && (x == list.width || x == list.width+1) {
		pt.d.dragging = true
		return nil
	}
	row := list.top + y - bodyTop - list.first
	switch line := y - bodyTop - list.first; {
	case x >= list.width, line < 0, line >= list.height, row >= list.n:
		return nil
	case row == list.sel:
		return pt.d.app.press(pt.d.app.here(), "enter")
	}
	return list.move(row - list.sel)
}

// tabAt is the pane whose tab is at a column of the first line; -1: none.
func (pt *pointer) tabAt(x int) int {
	tabs, margin := pt.d.app.tabs()
	at := 0
	for i, t := range tabs {
		end := at + margin + t.label.Width() + t.badge.Width() + 1
		if i == pt.d.app.active {
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
	if p, ok := pt.d.app.pane().(pointable); ok && pt.d.app.pages.overlay == nil && pt.d.modal.dialog == nil {
		list, lists := p.listed()
		beside := pt.d.app.width >= wideFrom && !pt.d.plain
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
	b, ok := act.Find(pt.d.app.here(), name)
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
	if !pt.d.dragging || pt.d.app.width < wideFrom {
		return nil
	}
	share := max(min(x, pt.d.app.width-leastDetail), leastList) * 1000 / pt.d.app.width
	if share == pt.d.share {
		return nil
	}
	pt.d.share = share
	return pt.d.app.resize(pt.d.app.width, pt.d.app.height)
}
