package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/ui/tui/kit/paint"
)

// boxMargin is what a box leaves of a wide screen at each side, and boxPad what its
// border takes of it.
const (
	boxMargin = 2
	boxPad    = 2
	widestBox = 88 // columns: longer lines are hard to read
	tallBody  = 24 // lines of the body from which a long text leaves some to the list
)

// boxWidth is the columns of a question; one with a text under it takes what there is.
func (md *modal) boxWidth(d *dialog) int {
	w, _ := md.host.room()
	if md.plain {
		return w
	}
	if w >= wideFrom {
		w -= 2 * boxMargin
	}
	if d.pager == nil {
		w = min(w, widestBox)
	}
	return w - boxPad
}

// boxed draws the question as a box over what it is about. The row that is decided on
// stays visible where there is room. In plain mode, and where the question needs the
// whole screen, it takes all of it.
func (md *modal) boxed(w, h int) ([]string, *tea.Position) {
	st, d := md.st, md.dialog
	inner, room := md.boxWidth(d), h
	if d.pager != nil && h >= tallBody { // a long text scrolls, and leaves the row in sight
		room = h - 5
	}
	body, at := d.render(st, inner, room)
	for len(body) > 0 && strings.TrimSpace(body[len(body)-1]) == "" {
		body = body[:len(body)-1]
	}
	if md.plain || len(body)+2 > h {
		return d.render(st, w, h)
	}
	under, row := md.host.underneath(w, h)
	x := (w - inner - boxPad) / 2
	y := row + 1
	if y+len(body)+2 > h { // below the row is no room
		y = row - len(body) - 2
	}
	if y < 0 {
		y = h - len(body) - 2
	}
	putBox(st, under, body, x, y, inner)
	if at != nil {
		at = &tea.Position{X: at.X + x + 1, Y: at.Y + y}
	}
	return under, at
}

// putBox draws lines of inner columns in a border over the screen, its corner at x and y.
func putBox(st *paint.Styles, under, body []string, x, y, inner int) {
	side := st.Row(1).Put(st.Key, st.Glyphs.Vertical).End()
	rule := strings.Repeat(st.Glyphs.Horizontal.String(), inner)
	edge := func(left, right string) string {
		return st.Row(inner+boxPad).Put(st.Key, st.Esc.Const(left+rule+right)).End()
	}
	box := []string{edge(st.Glyphs.Corners[0], st.Glyphs.Corners[1])}
	for _, line := range body {
		box = append(box, side+line+side)
	}
	box = append(box, edge(st.Glyphs.Corners[2], st.Glyphs.Corners[3]))
	for i, line := range box {
		under[y+i] = laidOver(under[y+i], line, x, inner+boxPad)
	}
}

// laidOver puts a piece of width columns over a line of the screen, at column x.
func laidOver(line, piece string, x, width int) string {
	left := ansi.Truncate(line, x, "")
	left += strings.Repeat(" ", max(x-ansi.StringWidth(left), 0))
	return left + piece + ansi.TruncateLeft(line, x+width, "")
}
