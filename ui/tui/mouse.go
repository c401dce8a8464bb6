package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/keys"
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

// mouse takes what the mouse does: a click on a tab opens its pane, on a row selects it,
// on the selected row does what enter does; the wheel scrolls what is under it; the
// line between list and detail can be dragged. Over a question only the wheel counts:
// no answer is given by a slip of the hand.
func (a *App) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if a.width == 0 || a.curtain.down || a.tooSmall() || a.editing != nil {
		return nil
	}
	a.curtain.lastKey = a.o.Clock.Now()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return a.wheel(m)
	case tea.MouseReleaseMsg:
		a.d.dragging = false
	case tea.MouseMotionMsg:
		return a.drag(m.X)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft && a.dialog == nil && !a.line.typing {
			return a.click(m.X, m.Y)
		}
	}
	return nil
}

func (a *App) click(x, y int) tea.Cmd {
	if y == 0 {
		if n := a.tabAt(x); n >= 0 {
			return a.press(a.paneBindings(), string(rune('1'+n)))
		}
		return nil
	}
	p, ok := a.pane().(pointable)
	if a.overlay != nil || !ok || a.pane().typing() != nil {
		return nil
	}
	list, ok := p.listed()
	if !ok {
		return nil
	}
	if a.width >= wideFrom && !a.d.plain && (x == list.width || x == list.width+1) {
		a.d.dragging = true
		return nil
	}
	row := list.top + y - bodyTop - list.first
	switch line := y - bodyTop - list.first; {
	case x >= list.width, line < 0, line >= list.height, row >= list.n:
		return nil
	case row == list.sel:
		return a.press(a.here(), "enter")
	}
	return list.move(row - list.sel)
}

// tabAt is the pane whose tab is at a column of the first line; -1: none.
func (a *App) tabAt(x int) int {
	tabs, margin := a.tabs()
	at := 0
	for i, t := range tabs {
		end := at + margin + t.label.Width() + t.badge.Width() + 1
		if i == a.active {
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
func (a *App) wheel(m tea.Mouse) tea.Cmd {
	up, down := "up", "down"
	if p, ok := a.pane().(pointable); ok && a.overlay == nil && a.dialog == nil {
		list, lists := p.listed()
		beside := a.width >= wideFrom && !a.d.plain
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
	b, ok := keys.Find(a.here(), name)
	if !ok || b.Reason() != "" {
		return nil
	}
	var cmds []tea.Cmd
	for range wheelLines {
		cmds = append(cmds, b.Handler())
	}
	return tea.Batch(cmds...)
}

// Smallest parts of the screen that the line between list and detail leaves.
const leastList, leastDetail = 40, 30

// drag moves the line between list and detail.
func (a *App) drag(x int) tea.Cmd {
	if !a.d.dragging || a.width < wideFrom {
		return nil
	}
	share := max(min(x, a.width-leastDetail), leastList) * 1000 / a.width
	if share == a.d.share {
		return nil
	}
	a.d.share = share
	return a.resize(a.width, a.height)
}
