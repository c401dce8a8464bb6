package dialog

import (
	"image"
	"math"
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

// Boxed draws the question over the screen, beside what it is about; in plain mode or without room it takes all.
func (md *Modal) Boxed(w, h int) ([]string, *tea.Position) {
	st, d := md.St, md.Dialog
	if md.Plain {
		return d.render(st, w, h)
	}
	under, row, about := md.Host.Underneath(w, h)
	inner, room := md.BoxWidth(d), h
	if d.Pager != nil && h >= tallBody { // a long text scrolls, and leaves the row in sight
		room = h - 5
	}
	draw := func(inner int) ([]string, *tea.Position) {
		body, at := d.render(st, inner, room)
		for len(body) > 0 && strings.TrimSpace(body[len(body)-1]) == "" {
			body = body[:len(body)-1]
		}
		return body, at
	}
	var body []string
	var at *tea.Position
	if half := min(about.Min.X-2*BoxMargin, WidestBox) - BoxPad; d.Pager == nil && half >= d.least(st) { // over the list alone
		body, at = draw(half)
		if len(body)+2 <= max(row.Min.Y, h-row.Max.Y) {
			inner = half
		} else {
			body = nil
		}
	}
	if body == nil {
		body, at = draw(inner)
	}
	if len(body)+2 > h {
		return d.render(st, w, h)
	}
	corner := place(image.Pt(w, h), image.Pt(inner+BoxPad, len(body)+2), row, about)
	PutBox(st, under, body, corner.X, corner.Y, inner, row)
	if at != nil {
		at = &tea.Position{X: at.X + corner.X + 1, Y: at.Y + corner.Y}
	}
	return under, at
}

// place is the corner of a box. Where the text in question stands beside the list, a box with room there is over the list,
// else in the middle. It does not cover the row, covers as little of the text as it can, and stands as near below the row,
// or without one below the text, as that allows.
func place(screen, box image.Point, row, about image.Rectangle) image.Point {
	at := image.Pt((screen.X-box.X)/2, 0)
	if box.X <= about.Min.X {
		at.X = (about.Min.X - box.X) / 2
	}
	anchor, least := row.Max.Y, math.MaxInt
	if row.Empty() {
		anchor = about.Max.Y
	}
	for y := range screen.Y - box.Y + 1 {
		covers := func(r image.Rectangle) int {
			i := r.Intersect(image.Rectangle{Max: box}.Add(image.Pt(at.X, y)))
			return i.Dx() * i.Dy()
		}
		below := y - anchor
		if below < 0 { // above is the second best
			below = screen.Y - below
		}
		if cost := (covers(row)*screen.Y*screen.X+covers(about))*2*screen.Y + below; cost < least {
			least, at.Y = cost, y
		}
	}
	return at
}

// PutBox draws lines of inner columns in a border at x and y, and shades the screen behind, except the line of row;
// empty: all of it.
func PutBox(st *paint.Styles, under, body []string, x, y, inner int, row image.Rectangle) {
	for i, line := range under {
		if row.Empty() || i != row.Min.Y {
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

// sliver is the width below which what is left of a line beside a box is no text, and is blank.
const sliver = 12

// laidOver puts a piece of width columns over a line of the screen, at column x.
func laidOver(line, piece string, x, width int) string {
	left, right := "", ansi.TruncateLeft(line, x+width, "")
	if x >= sliver {
		left = ansi.Truncate(line, x, "")
	}
	left += strings.Repeat(" ", max(x-ansi.StringWidth(left), 0))
	if rest := ansi.StringWidth(right); rest < sliver {
		right = strings.Repeat(" ", rest)
	}
	return left + piece + right
}
