package record

import (
	"cmp"
	"errors"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// head are the lines above the list.
func (p *List[T]) head() (out []string) {
	esc, pt := p.D.Esc, p.D.St.Dim
	var lines []safetext.Text
	switch notice := p.notice.Text; {
	case p.Kind.Head != nil:
		return p.Kind.Head(p.width, p.height)
	case notice.IsEmpty():
	case p.notice.Calm:
		lines = []safetext.Text{esc.Trunc(notice, p.width-2)}
	default:
		lines, pt = esc.Wrap(notice, p.width-2), p.D.St.Bad
	}
	for _, l := range lines[:min(len(lines), 3)] {
		out = append(out, p.D.St.Row(p.width).Blank(1).Put(pt, l).End())
	}
	return out
}

// split shares the pane between list and detail anew.
func (p *List[T]) split() {
	asks := desk.Asks{Width: p.width, Height: p.height - len(p.head()), Rows: p.Steady(), Two: p.Kind.Lay != nil, Beside: p.Kind.Beside, Empty: p.Window.Bare()}
	if !p.Kind.Tree {
		asks.Cuts = func(room int) bool {
			_, cuts := p.share(room)
			return cuts
		}
	}
	p.halves = p.D.Split(p.halves, asks)
}

func (p *List[T]) Render(width, height int) ([]string, *tea.Position) {
	st := p.D.St
	if p.Full {
		return p.Detail.Framed(width, height), nil
	}
	out, f := p.head(), p.halves
	h := st.Row(f.ListWidth).Blank(1)
	widths, _ := p.share(f.ListWidth)
	var cursor *tea.Position
	if p.Kind.Head == nil {
		cursor = p.Browser.Render(h)
	}
	heads := cursor != nil || !p.Window.Bare() || p.Window.Err != nil || p.Query != ""
	if cursor != nil {
		cursor.Y = len(out)
	} else if heads {
		h.Blank(p.Kind.indent() - 1)
		for i, c := range p.Kind.Columns {
			by := p.sorted.column == i+1
			p.cell(h, i, widths[i], i == len(widths)-1, st.Heading, st.Sorted(c.Title, by && !p.sorted.down, by && p.sorted.down), nil)
		}
	}
	p.found = p.D.Found(p.Kind.words(p.Query))
	var list []string
	if heads {
		list = append(list, h.End())
	}
	for i := p.Window.Top; i < min(len(p.Window.Rows), p.Window.Top+p.Window.Height); i++ {
		list = append(list, p.drawRow(p.Window.Rows[i], i == p.Window.Sel, f.ListWidth, widths))
	}
	list = append(list, p.emptiness(f.ListWidth)...)
	return append(out, p.D.Join(f, list, p.Detail.Pager, safetext.Const(cmp.Or(p.Kind.Aside, p.Kind.Noun)))...), cursor
}

// indent is the width before the first column: the cursor, and the marks.
func (k *Kind[T]) indent() int {
	if k.Marking {
		return 2
	}
	return 1
}

// share gives the widths of the columns of a list, and reports whether a cell is cut.
func (p *List[T]) share(width int) (widths []int, cuts bool) {
	room := width - p.Kind.indent()
	if p.Kind.Share != nil {
		return p.Kind.Share(p.fit, room)
	}
	columns := p.Kind.columns()
	return p.fit.Widths(room, columns), p.fit.Cuts(room, columns)
}

// Fitted notes the widths of the rows as they are now.
func (p *List[T]) Fitted() {
	k, fit, rows := &p.Kind, &p.fit, p.Window.Rows
	for n := range rows {
		r := &rows[n]
		if k.Cells != nil {
			k.Cells(r)
		}
		for i, t := range r.Cells {
			if i == len(r.Cells)-1 && i < len(k.Columns)-1 {
				break // it takes what is left
			}
			width := t.Width()
			switch {
			case k.Columns[i].Age && !r.At.IsZero():
				width = prose.MaxAge
			case t.String() == desk.Nobody: // it tells as much as an empty cell
				width = 0
			}
			if i+1 == k.Badge {
				width += paint.BadgeSign
			}
			fit.See(i, width, len(k.Columns[i].Title)+1) // and the sign of an order
		}
	}
}

func (k *Kind[T]) columns() []list.Column {
	columns := make([]list.Column, len(k.Columns))
	for i, c := range k.Columns {
		columns[i] = list.Column{Most: c.Width, Least: c.Least, Support: c.Dim && (k.Tree || i < len(k.Columns)-1)}
	}
	return columns
}

func (p *List[T]) cell(r *paint.Row, i, width int, last bool, pt paint.Paint, t safetext.Text, runs []paint.Stretch) {
	switch c := p.Kind.Columns[i]; {
	case last:
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
	r.Find = p.found
	for i := range rec.Cells {
		t, tone := p.text(rec, i), rec.tone(i)
		pt := st.Toned(tone)
		if tone == paint.ToneInfo && p.Kind.Columns[i].Dim {
			pt = st.Dim
		}
		if i+1 == p.Kind.Badge {
			t = st.Badge(tone, t)
		}
		last := i == len(rec.Cells)-1
		if p.Kind.Cut != nil && !last && t.Width() >= widths[i] && widths[i] > 0 {
			t = p.Kind.Cut(rec.Raw, i, t, widths[i])
		}
		if last && p.Kind.Last != nil {
			p.Kind.Last(r, rec.Raw)
			continue
		}
		p.cell(r, i, widths[i], last, pt, t, rec.Runs[i])
	}
	return r.End()
}

func (p *List[T]) emptiness(width int) []string {
	st := p.D.St
	line := text.Advice(st.Esc, p.Kind.Empty)
	switch {
	case p.Kind.Bare != nil && len(p.Window.Rows) == 0:
		line = p.Kind.Bare()
	case errors.Is(p.Window.Err, model.InvalidInput) && p.Query != "" && len(p.Window.Rows) == 0:
		line = text.Advice(st.Esc, "%s. `esc` shows everything, `/` changes the filter.", prose.Reason(st.Esc, p.Window.Err)).As(text.Warn)
	case p.Window.Err != nil:
		why := st.Badge(paint.ToneBad, st.Esc.Sprintf("%s%s", st.Esc.Const(p.Kind.NoList), prose.Reason(st.Esc, p.Window.Err)))
		line = text.Advice(st.Esc, "%s. `ctrl+r` asks again.", why).As(text.Bad)
	case len(p.Window.Rows) > 0 || !p.Window.Loaded:
		return nil
	case !p.Window.Trouble(st.Esc).IsEmpty():
		line = text.Advice(st.Esc, "Nothing was found, but not everything could be looked at. `ctrl+r` asks again.").As(text.Warn)
	case p.Query != "":
		line = text.Advice(st.Esc, cmp.Or(p.Kind.NoMatch, "Nothing matches %q. `esc` shows everything."), p.Query)
	}
	return text.Paragraph(st, line, width)
}
