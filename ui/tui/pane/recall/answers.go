package recall

import (
	"strconv"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/pane"
)

// renderStatus shows each store's answer: failures first, then bounded answers; those without room
// are counted.
func (p *Pane) renderStatus(width int) []string {
	st := p.d.St
	type entry struct {
		name, text safetext.Text
		mark       string
		p          paint.Paint
	}
	var list []entry
	for _, a := range p.answers {
		if a.failed {
			list = append(list, entry{st.Esc.Line(a.answer.Store), a.Status, "!!", st.Bad})
		}
	}
	for _, name := range p.waiting {
		text, mark, colour := safetext.Const("asking"), "..", st.Dim
		if !p.running {
			text, mark, colour = safetext.Const("no answer: the question was withdrawn"), "!!", st.Bad
		}
		list = append(list, entry{st.Esc.Line(name), text, mark, colour})
	}
	for _, bounded := range []bool{true, false} {
		for _, a := range p.answers {
			if !a.failed && a.answer.Result.Bounded == bounded {
				list = append(list, entry{st.Esc.Line(a.answer.Store), a.Status, "OK", st.Good})
			}
		}
	}
	room := p.statusLines()
	var out []string
	for i, e := range list {
		if i == room-1 && len(list) > room {
			out = append(out, st.Row(width).Blank(1).Lit(st.Dim, "and "+prose.Plural(int64(len(list)-i), "more store")+" answered; a taller window shows them").End())
			break
		}
		out = append(out, st.Row(width).Blank(1).Cell(st.Plain, e.name, 15).Blank(1).Lit(e.p, e.mark+" ").Put(st.Dim, e.text).End())
	}
	return out
}

func (p *Pane) renderList(width int) []string {
	st := p.d.St
	c := p.columns(width)
	h := st.Row(width).Blank(1).Cell(st.Heading, safetext.Const("STORE"), 12)
	if c.numbers {
		h.Number(st.Heading, safetext.Const("RANK"), 4).Number(st.Heading, safetext.Const("SCORE"), 6).Blank(2)
	}
	h.Cell(st.Heading, safetext.Const("WHERE"), c.where).Blank(1)
	if c.writer > 0 {
		h.Cell(st.Heading, safetext.Const("ORIGIN"), c.writer)
	}
	h.Lit(st.Heading, "SNIPPET")
	out := []string{h.End()}
	for i := p.table.Top; i < min(len(p.rows), p.table.Top+p.table.Height); i++ {
		out = append(out, p.row(p.rows[i], i == p.table.Sel, width, c))
	}
	if len(p.rows) == 0 {
		out = append(out, p.emptiness(width)...)
	}
	return out
}

// hitColumns are the columns of the hits; the snippet takes the rest.
type hitColumns struct {
	numbers       bool // rank and score
	where, writer int
}

// columns drops the rank before the writer for lack of room: the detail has the rank.
func (p *Pane) columns(width int) hitColumns {
	switch {
	case p.d.Origins == nil:
		return hitColumns{numbers: true, where: max((width-30)*2/5, 16)}
	case width < 76:
		return hitColumns{where: max((width-28)*2/5, 16), writer: 10}
	}
	return hitColumns{numbers: true, where: max((width-30-pane.OriginWidth)*2/5, 16), writer: pane.OriginWidth}
}

func (p *Pane) row(h hitRow, at bool, width int, c hitColumns) string {
	st := p.d.St
	if h.Heading {
		return st.Row(width).Blank(1).Put(st.Warn, h.Where).End()
	}
	r := st.Highlighted(width, at, !p.Input.Focus)
	r.Cell(st.Plain, h.Name, 11).Blank(1)
	if h.Withheld {
		if c.numbers {
			r.Number(st.Bad, safetext.Const("!!"), 4).Blank(8)
		} else {
			r.Lit(st.Bad, "!! ")
		}
		return r.Put(st.Warn, h.Where).End()
	}
	if c.numbers {
		r.Number(st.Dim, safetext.Const(strconv.Itoa(h.Rank)), 4).Number(st.Dim, h.score, 6).Blank(2)
	}
	r.Cell(st.Plain, st.Tail(h.Where, h.Hit.Source, h.suffix(), c.where), c.where).Blank(1)
	if c.writer > 0 {
		who, pt := p.who.Cell(p.refOf(h))
		r.Cell(pt, who, c.writer-1).Blank(1)
	}
	return r.Hits(st.Dim, h.Snippet, h.matches).End()
}

func (p *Pane) emptiness(width int) []string {
	st := p.d.St
	var text safetext.Text
	switch {
	case len(p.d.Fleet.Members()) == 0:
		text = safetext.Const(desk.NoStores)
	case p.query == "":
		text = st.Esc.Const("Every open store is asked at once, as an agent would ask it. Hits are ordered by their rank in each store; scores of different stores are never compared.")
	case p.running:
		text = st.Esc.Const("asking")
	default:
		text = st.Esc.Sprintf("No store has anything for %q. Stores that did not answer are marked !! above.", p.query)
	}
	return st.Paragraph(st.Dim, text, width)
}
