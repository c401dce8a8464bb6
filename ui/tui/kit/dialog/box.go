package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/ui/tui/kit/paint"
)

// BoxMargin is the blank columns beside a box on a wide screen, BoxPad the columns of its border.
const (
	BoxMargin = 2
	BoxPad    = 2
	WidestBox = 88 // columns: longer lines are hard to read
	tallBody  = 24 // body height from which a long text leaves lines to the list
)

// BoxWidth is the columns of a question; one with a text under it takes all there are.
func (md *Modal) BoxWidth(d *Dialog) int {
	w, _ := md.Host.Room()
	if md.Plain {
		return w
	}
	if w >= paint.WideFrom {
		w -= 2 * BoxMargin
	}
	if d.Pager == nil {
		w = min(w, WidestBox)
	}
	return w - BoxPad
}

// Boxed draws the question over the screen and leaves its row in sight; in plain mode or without room it takes all.
func (md *Modal) Boxed(w, h int) ([]string, *tea.Position) {
	st, d := md.St, md.Dialog
	inner, room := md.BoxWidth(d), h
	if d.Pager != nil && h >= tallBody { // a long text scrolls, and leaves the row in sight
		room = h - 5
	}
	body, at := d.render(st, inner, room)
	for len(body) > 0 && strings.TrimSpace(body[len(body)-1]) == "" {
		body = body[:len(body)-1]
	}
	if md.Plain || len(body)+2 > h {
		return d.render(st, w, h)
	}
	under, row := md.Host.Underneath(w, h)
	x := (w - inner - BoxPad) / 2
	y := row + 1
	if y+len(body)+2 > h { // no room below the row
		y = row - len(body) - 2
	}
	if y < 0 {
		y = h - len(body) - 2
	}
	PutBox(st, under, body, x, y, inner, row)
	if at != nil {
		at = &tea.Position{X: at.X + x + 1, Y: at.Y + y}
	}
	return under, at
}

// PutBox draws lines of inner columns in a border at x and y, and shades the screen behind, except row; -1: all of it.
func PutBox(st *paint.Styles, under, body []string, x, y, inner, row int) {
	for i, line := range under {
		if i != row {
			under[i] = st.Shaded(line)
		}
	}
	side := st.Row(1).Put(st.Key, st.Glyphs.Vertical).End()
	rule := strings.Repeat(st.Glyphs.Horizontal.String(), inner)
	edge := func(left, right string) string {
		return st.Row(inner+BoxPad).Put(st.Key, st.Esc.Const(left+rule+right)).End()
	}
	box := []string{edge(st.Glyphs.Corners[0], st.Glyphs.Corners[1])}
	for _, line := range body {
		box = append(box, side+line+side)
	}
	box = append(box, edge(st.Glyphs.Corners[2], st.Glyphs.Corners[3]))
	for i, line := range box {
		under[y+i] = laidOver(under[y+i], line, x, inner+BoxPad)
	}
}

// laidOver puts a piece of width columns over a line of the screen, at column x.
func laidOver(line, piece string, x, width int) string {
	left := ansi.Truncate(line, x, "")
	left += strings.Repeat(" ", max(x-ansi.StringWidth(left), 0))
	return left + piece + ansi.TruncateLeft(line, x+width, "")
}
