package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

func (p *records[T]) noticeLines() []safetext.Text {
	if p.notice.text.IsEmpty() {
		return nil
	}
	lines := p.d.st.Esc.Wrap(p.notice.text, p.width-2)
	return lines[:min(len(lines), 3)]
}

func (p *records[T]) render(width, height int) ([]string, *tea.Position) {
	st := p.d.st
	if p.full {
		return p.detail.Framed(st, width, height), nil
	}
	var out []string
	for _, n := range p.noticeLines() {
		pt := st.Bad
		if p.notice.calm {
			pt = st.Dim
		}
		out = append(out, st.Row(width).Blank(1).Put(pt, n).End())
	}
	var cursor *tea.Position
	f := p.d.split(width, height-len(out))
	h := st.Row(f.listWidth).Blank(p.indent())
	widths := p.kind.widths(f.listWidth - p.indent())
	if p.jump.in.Focus {
		col := p.jump.in.Render(h, st.Esc.Const("jump to: "), st.Esc.Const("the first letters of a cell"))
		cursor = &tea.Position{X: col + 1, Y: len(out)}
	} else if p.filter.Focus {
		col := p.filter.Render(h, st.Esc.Const("/"), st.Esc.Const(p.kind.hint))
		cursor = &tea.Position{X: col + 1, Y: len(out)}
	} else {
		for i, c := range p.kind.columns {
			p.cell(h, i, widths[i], st.Heading, p.heading(i, c))
		}
	}
	list := []string{h.End()}
	for i := p.list.top; i < min(len(p.list.rows), p.list.top+p.list.height); i++ {
		list = append(list, p.drawRow(p.list.rows[i], i == p.list.sel, f.listWidth, widths))
	}
	list = append(list, p.emptiness(f.listWidth)...)
	return append(out, p.d.join(f, list, p.detail, safetext.Const(p.kind.noun))...), cursor
}

// heading is the title of a column, with a sign where the list is sorted by it.
func (p *records[T]) heading(i int, c column) safetext.Text {
	g := p.d.st.Glyphs
	switch by := p.sorted; {
	case by.column != i+1:
		return safetext.Const(c.title)
	case by.down:
		return p.d.st.Esc.Sprintf("%s%s", safetext.Const(c.title), g.Down)
	}
	return p.d.st.Esc.Sprintf("%s%s", safetext.Const(c.title), g.Up)
}

// indent is what stands before the first column: the cursor, and the marks.
func (p *records[T]) indent() int {
	if p.kind.marking {
		return 2
	}
	return 1
}

// widths are the columns of the list in a width: those that tell least go where there
// is no room, then others give way, so that the last one can be read.
func (k *recordKind[T]) widths(room int) []int {
	out, last := make([]int, len(k.columns)), len(k.columns)-1
	for i, c := range k.columns[:last] {
		out[i] = c.width
		room -= c.width
	}
	if len(k.least) != len(out) {
		return out
	}
	for i, least := range k.least[:last] {
		if least == 0 && room < k.least[last] {
			room, out[i] = room+out[i], 0
		}
	}
	for i, least := range k.least[:last] {
		if by := min(k.least[last]-room, out[i]-least); by > 0 && out[i] > 0 {
			room, out[i] = room+by, out[i]-by
		}
	}
	return out
}

func (p *records[T]) cell(r *paint.Row, i, width int, paint paint.Paint, t safetext.Text) {
	switch c := p.kind.columns[i]; {
	case i == len(p.kind.columns)-1:
		r.Put(paint, t)
	case width == 0: // there is no room for it
	case c.right:
		r.Number(paint, t, width-1).Blank(1)
	default:
		r.Cell(paint, t, width-1).Blank(1)
	}
}

func (p *records[T]) drawRow(rec record[T], at bool, width int, widths []int) string {
	st := p.d.st
	r := st.Highlighted(width, at, !p.filter.Focus)
	if p.kind.marking {
		st.Mark(r, p.marks.has(rec.key))
	}
	r.Find = p.d.found(p.query)
	for i, t := range rec.cells {
		tone := paint.ToneInfo
		if i < len(rec.tones) {
			tone = rec.tones[i]
		}
		pt := st.Toned(tone)
		if i+1 == p.kind.badge {
			t = st.Badge(tone, t)
		}
		p.cell(r, i, widths[i], pt, t)
	}
	return r.End()
}

func (p *records[T]) emptiness(width int) []string {
	st := p.d.st
	var text safetext.Text
	pt := st.Dim
	switch {
	case p.list.err != nil:
		pt = st.Bad
		text = st.Esc.Sprintf("!! %s. ctrl+r asks again.", prose.Reason(st.Esc, p.list.err))
	case len(p.list.rows) > 0 || !p.list.loaded:
		return nil
	case p.query != "":
		text = st.Esc.Sprintf("Nothing matches %q. esc shows everything.", p.query)
	default:
		text = st.Esc.Const(p.kind.empty)
	}
	return st.Paragraph(pt, text, width)
}
