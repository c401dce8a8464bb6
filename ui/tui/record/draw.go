package record

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

func (p *List[T]) noticeLines() []safetext.Text {
	if p.notice.Text.IsEmpty() {
		return nil
	}
	lines := p.D.Esc.Wrap(p.notice.Text, p.width-2)
	return lines[:min(len(lines), 3)]
}

func (p *List[T]) Render(width, height int) ([]string, *tea.Position) {
	st := p.D.St
	if p.Full {
		return p.Detail.Framed(width, height), nil
	}
	var out []string
	for _, n := range p.noticeLines() {
		pt := st.Bad
		if p.notice.Calm {
			pt = st.Dim
		}
		out = append(out, st.Row(width).Blank(1).Put(pt, n).End())
	}
	f := p.D.Split(width, height-len(out), p.Steady())
	h := st.Row(f.ListWidth).Blank(p.indent())
	widths := p.Kind.widths(f.ListWidth-p.indent(), p.fit)
	cursor := p.Browser.Render(h)
	if cursor != nil {
		cursor.Y = len(out)
	} else {
		for i, c := range p.Kind.Columns {
			by := p.sorted.column == i+1
			p.cell(h, i, widths[i], st.Heading, st.Sorted(c.Title, by && !p.sorted.down, by && p.sorted.down), nil)
		}
	}
	list := []string{h.End()}
	for i := p.Window.Top; i < min(len(p.Window.Rows), p.Window.Top+p.Window.Height); i++ {
		list = append(list, p.drawRow(p.Window.Rows[i], i == p.Window.Sel, f.ListWidth, widths))
	}
	list = append(list, p.emptiness(f.ListWidth)...)
	return append(out, p.D.Join(f, list, p.Detail, safetext.Const(p.Kind.Noun))...), cursor
}

// indent is the width before the first column: the cursor, and the marks.
func (p *List[T]) indent() int {
	if p.Kind.Marking {
		return 2
	}
	return 1
}

// fitted notes the widths of the rows that have arrived, and of the titles with their sign.
func (k *Kind[T]) fitted(fit *list.Fit, rows []Row[T]) {
	for i, c := range k.Columns {
		fit.See(i, len(c.Title)+1)
	}
	for _, r := range rows {
		for i, t := range r.Cells {
			width := t.Width()
			if i+1 == k.Badge {
				width += paint.BadgeSign
			}
			fit.See(i, width)
		}
	}
}

// shortest is the width below which a column that may go is not worth its room.
const shortest = 14

// widths are the columns for a width: as wide as their cells, up to the width of the column, and
// wider where the last column leaves room. For lack of room the least important shrink and go first,
// then others shrink, so that the last one stays readable.
func (k *Kind[T]) widths(room int, fit list.Fit) []int {
	out, last := make([]int, len(k.Columns)), len(k.Columns)-1
	for i, c := range k.Columns[:last] {
		out[i] = fit.Width(i, c.Width)
		room -= out[i]
	}
	for i := range k.Columns[:last] {
		if by := min(room-fit.Width(last, room), fit.Width(i, out[i]+room)-out[i]); by > 0 {
			room, out[i] = room-by, out[i]+by
		}
	}
	if len(k.Least) != len(out) {
		return out
	}
	for i, least := range k.Least[:last] {
		if least == 0 && room < k.Least[last] {
			room += out[i]
			if out[i] = room - k.Least[last]; out[i] < shortest {
				out[i] = 0
			}
			room -= out[i]
		}
	}
	for i, least := range k.Least[:last] {
		if by := min(k.Least[last]-room, out[i]-least); by > 0 && out[i] > 0 {
			room, out[i] = room+by, out[i]-by
		}
	}
	return out
}

func (p *List[T]) cell(r *paint.Row, i, width int, pt paint.Paint, t safetext.Text, runs []paint.Stretch) {
	switch c := p.Kind.Columns[i]; {
	case i == len(p.Kind.Columns)-1:
		r.Rich(pt, t, nil, runs)
	case c.Right && width > 0:
		r.Number(pt, t, width-1).Blank(1)
	default:
		r.Col(pt, t, width, runs...)
	}
}

func (p *List[T]) drawRow(rec Row[T], at bool, width int, widths []int) string {
	st := p.D.St
	r := st.Highlighted(width, at, !p.Filter.Focus)
	if p.Kind.Marking {
		st.Mark(r, p.Marks.Has(rec.Key))
	}
	r.Find = p.D.Found(p.Query)
	for i, t := range rec.Cells {
		tone := rec.tone(i)
		pt := st.Toned(tone)
		if tone == paint.ToneInfo && p.Kind.Columns[i].Dim {
			pt = st.Dim
		}
		if i+1 == p.Kind.Badge {
			t = st.Badge(tone, t)
		}
		p.cell(r, i, widths[i], pt, t, rec.Runs[i])
	}
	return r.End()
}

func (p *List[T]) emptiness(width int) []string {
	st := p.D.St
	line := text.Advice(st.Esc, p.Kind.Empty)
	switch {
	case p.Window.Err != nil:
		line = text.Advice(st.Esc, "%s. `ctrl+r` asks again.", st.Badge(paint.ToneBad, prose.Reason(st.Esc, p.Window.Err))).As(text.Bad)
	case len(p.Window.Rows) > 0 || !p.Window.Loaded:
		return nil
	case !p.Window.Trouble(st.Esc).IsEmpty():
		line = text.Advice(st.Esc, "Nothing was found, but not everything could be looked at. `ctrl+r` asks again.").As(text.Warn)
	case p.Query != "":
		line = text.Advice(st.Esc, "Nothing matches %q. `esc` shows everything.", p.Query)
	}
	return text.Paragraph(st, line, width)
}
