package text

import (
	"strings"

	"memdesk/ui/tui/kit/paint"
)

// grid is the part of a markdown table inside one block of the index, drawn with aligned columns.
// The block bounds it, so that the drawing does not depend on the start of the window and costs no
// more in a long text.
type grid struct {
	from, to int   // in the body
	widths   []int // of the columns; nil: no room, so it is shown as stored
}

// tableLine reports whether a line can be a row of a table.
func tableLine(raw string) bool {
	body := strings.TrimSpace(raw)
	return len(body) > 2 && body[0] == '|' && body[len(body)-1] == '|'
}

// tableRule reports whether a line is the rule under a table's head: dashes and colons only.
func tableRule(raw string) bool {
	return tableLine(raw) && strings.Contains(raw, "-") && strings.Trim(raw, "|-: \t") == ""
}

// tableCells splits a row; a bar after a backslash or inside code is text.
func tableCells(raw string) []string {
	body := strings.TrimSpace(raw)
	body = body[1 : len(body)-1]
	var out []string
	start, code := 0, false
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '\\':
			i++
		case body[i] == '`':
			code = !code
		case body[i] == '|' && !code:
			out = append(out, strings.TrimSpace(body[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(body[start:]))
}

// gridAt is the table around the line at off.
func (l Layout) gridAt(t *Page, off int) grid {
	if l.grid != nil && off >= l.grid.from && off < l.grid.to {
		return *l.grid
	}
	low := off / blockBytes * blockBytes
	high := min(low+blockBytes, len(t.Body))
	g := grid{from: off, to: off}
	line := func(at int) (raw string, next int) {
		end := strings.IndexByte(t.Body[at:high], '\n')
		if end < 0 {
			return t.Body[at:high], high
		}
		return t.Body[at : at+end], at + end + 1
	}
	goesOn := g.from == low && low > 0 // the table begins, or may begin, in the block before
	for g.from > low {
		prev := strings.LastIndexByte(t.Body[low:g.from-1], '\n') + 1 + low
		if prev == low && low > 0 { // perhaps not the start of its line
			goesOn = true
			break
		}
		if raw, _ := line(prev); !tableLine(raw) {
			break
		}
		g.from = prev
	}
	ruled := goesOn
	for at := g.from; at < high; {
		raw, next := line(at)
		if !tableLine(raw) {
			break
		}
		g.to = next
		at = next
		if tableRule(raw) {
			ruled = true
			continue
		}
		for i, c := range tableCells(raw) {
			if i == len(g.widths) {
				g.widths = append(g.widths, 1)
			}
			g.widths[i] = max(g.widths[i], l.cellWidth(c))
		}
	}
	room := l.Width - gutter(t)
	for _, w := range g.widths {
		room -= w + len(barSign)
	}
	if room < -len(barSign) || !ruled { // a single row, or one without room: shown as stored
		g.widths = nil
	}
	if l.grid != nil {
		*l.grid = g
	}
	return g
}

// cellWidth is the columns of a drawn cell, escapes included.
func (l Layout) cellWidth(c string) int {
	text, _ := inline(c)
	return l.St.Width(l.St.Esc.EscapeLine([]byte(text), 8))
}

const barSign = " | "

func (l Layout) tableRow(raw string, g grid) (string, paint.Look, []paint.Stretch) {
	var b strings.Builder
	var runs []paint.Stretch
	bar := barSign
	if !l.St.Esc.ASCII {
		bar = " │ "
	}
	if tableRule(raw) {
		line, cross := "─", "─┼─"
		if l.St.Esc.ASCII {
			line, cross = "-", "-+-"
		}
		for i, w := range g.widths {
			if i > 0 {
				b.WriteString(cross)
			}
			b.WriteString(strings.Repeat(line, w))
		}
		return b.String(), paint.LookDim, nil
	}
	cells := tableCells(raw)
	for i, w := range g.widths {
		if i > 0 {
			runs = append(runs, paint.Stretch{Start: b.Len(), End: b.Len() + len(bar), Look: paint.LookDim})
			b.WriteString(bar)
		}
		if i >= len(cells) {
			b.WriteString(strings.Repeat(" ", w))
			continue
		}
		text, parts := inline(cells[i])
		for _, p := range parts {
			runs = append(runs, paint.Stretch{Start: b.Len() + p.Start, End: b.Len() + p.End, Look: p.Look})
		}
		b.WriteString(text)
		b.WriteString(strings.Repeat(" ", max(w-l.cellWidth(cells[i]), 0)))
	}
	return strings.TrimRight(b.String(), " "), paint.LookPlain, runs
}
