package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
)

func (p *records) noticeLines() []safetext.Text {
	if p.notice.text.IsEmpty() {
		return nil
	}
	lines := p.d.st.esc.Wrap(p.notice.text, p.width-2)
	return lines[:min(len(lines), 3)]
}

func (p *records) render(width, height int) ([]string, *tea.Position) {
	st := p.d.st
	if p.full {
		return p.detail.framed(st, width, height), nil
	}
	var out []string
	for _, n := range p.noticeLines() {
		pt := st.bad
		if p.notice.calm {
			pt = st.dim
		}
		out = append(out, st.row(width).blank(1).put(pt, n).end())
	}
	var cursor *tea.Position
	f := p.d.split(width, height-len(out))
	h := st.row(f.listWidth).blank(p.indent())
	widths := p.kind.widths(f.listWidth - p.indent())
	if p.jump.in.focus {
		col := p.jump.in.render(h, st.esc.Const("jump to: "), st.esc.Const("the first letters of a cell"))
		cursor = &tea.Position{X: col + 1, Y: len(out)}
	} else if p.filter.focus {
		col := p.filter.render(h, st.esc.Const("/"), st.esc.Const(p.kind.hint))
		cursor = &tea.Position{X: col + 1, Y: len(out)}
	} else {
		for i, c := range p.kind.columns {
			p.cell(h, i, widths[i], st.heading, safetext.Const(c.title))
		}
	}
	list := []string{h.end()}
	for i := p.list.top; i < min(len(p.list.rows), p.list.top+p.list.height); i++ {
		list = append(list, p.row(p.list.rows[i], i == p.list.sel, f.listWidth, widths))
	}
	list = append(list, p.emptiness(f.listWidth)...)
	return append(out, p.d.join(f, list, p.detail, safetext.Const(p.kind.noun))...), cursor
}

// indent is what stands before the first column: the cursor, and the marks.
func (p *records) indent() int {
	if p.kind.marking {
		return 2
	}
	return 1
}

// widths are the columns of the list in a width: those that tell least go where there
// is no room, then others give way, so that the last one can be read.
func (k *recordKind) widths(room int) []int {
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

func (p *records) cell(r *row, i, width int, paint paint, t safetext.Text) {
	switch c := p.kind.columns[i]; {
	case i == len(p.kind.columns)-1:
		r.put(paint, t)
	case width == 0: // there is no room for it
	case c.right:
		r.number(paint, t, width-1).blank(1)
	default:
		r.cell(paint, t, width-1).blank(1)
	}
}

func (p *records) row(rec record, at bool, width int, widths []int) string {
	st := p.d.st
	r := st.highlighted(width, at, !p.filter.focus)
	if p.kind.marking {
		st.mark(r, p.marks.has(rec.key))
	}
	for i, t := range rec.cells {
		pt := st.plain
		if i < len(rec.tones) {
			switch rec.tones[i] {
			case toneWarn:
				pt = st.warn
			case toneBad:
				pt = st.bad
			}
		}
		p.cell(r, i, widths[i], pt, t)
	}
	return r.end()
}

func (p *records) emptiness(width int) []string {
	st := p.d.st
	var text safetext.Text
	pt := st.dim
	switch {
	case p.list.err != nil:
		pt = st.bad
		text = st.esc.Sprintf("!! %s. ctrl+r asks again.", reason(st.esc, p.list.err))
	case len(p.list.rows) > 0 || !p.list.loaded:
		return nil
	case p.query != "":
		text = st.esc.Sprintf("Nothing matches %q. esc shows everything.", p.query)
	default:
		text = st.esc.Const(p.kind.empty)
	}
	return st.paragraph(pt, text, width)
}
