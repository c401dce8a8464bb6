package recall

import (
	"slices"
	"strconv"
	"strings"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// status is a line about the answers: of all stores, or of one.
type status struct {
	name, text safetext.Text
	mark       string
	paint      paint.Paint
}

// statuses are a line about all stores, one of each that failed or was withdrawn, and one about those that have more.
func (p *Pane) statuses() []status {
	st := p.d.St
	if p.wrong != nil || len(p.answers)+len(p.waiting) == 0 {
		return nil
	}
	out := []status{{text: p.summary(), paint: st.Dim}}
	for _, s := range p.unanswered() {
		if !s.waits { // the first line names those that are still asked
			out = append(out, s.status)
		}
	}
	var more []safetext.Text
	for _, a := range p.answers {
		if !a.beyond.IsEmpty() {
			more = append(more, st.Esc.Sprintf("%s %s", a.answer.Store, a.beyond))
		}
	}
	if len(more) > 0 {
		out = append(out, status{text: st.Esc.Join(more, st.Glyphs.Dot.String()), paint: st.Dim})
	}
	return out
}

// unanswered is a store without an answer, and why; waits: it is still asked.
type unanswered struct {
	status
	waits bool
}

// unanswered are the stores that failed, did not answer before the question was withdrawn, or are still asked.
func (p *Pane) unanswered() (out []unanswered) {
	st := p.d.St
	add := func(store string, words safetext.Text, waits bool) {
		out = append(out, unanswered{status{st.Esc.Line(store), words, st.Glyphs.State[paint.ToneBad], st.Bad}, waits})
	}
	for _, a := range p.answers {
		if a.failed {
			add(a.answer.Store, a.Status, false)
		}
	}
	for _, name := range p.waiting {
		if p.running {
			add(name, safetext.Const("no answer yet"), true)
		} else {
			add(name, safetext.Const("no answer: the question was withdrawn"), false)
		}
	}
	return out
}

// summary is how many stores have answered, and the slowest of them or those still asked.
func (p *Pane) summary() safetext.Text {
	esc := p.d.Esc
	var slowest backends.Answer
	n := 0
	for _, a := range p.answers {
		if a.failed {
			continue
		}
		n++
		if n == 1 || a.answer.Took > slowest.Took {
			slowest = a.answer
		}
	}
	words := esc.Sprintf("%d of %s answered", n, prose.Plural(len(p.answers)+len(p.waiting), "store"))
	switch {
	case p.running && len(p.waiting) > 0:
		return esc.Sprintf("%s; asking %s", words, strings.Join(p.waiting, " "))
	case n > 1:
		return esc.Sprintf("%s; the slowest was %s, %s", words, slowest.Store, prose.Latency(slowest.Took))
	}
	return words
}

// renderStatus draws the lines about the answers; those without room are counted.
func (p *Pane) renderStatus(width int) []string {
	st := p.d.St
	all := p.statuses()
	room := statusLines(p.height, len(all))
	var out []string
	for i, s := range all {
		r := st.Row(width).Blank(1)
		switch {
		case i == room-1 && len(all) > room:
			return append(out, r.Lit(st.Dim, "and "+prose.Plural(len(all)-i, "more line")+"; a taller window shows them").End())
		case s.name.IsEmpty():
			r.Put(s.paint, s.text)
		default:
			r.Cell(st.Plain, s.name, 15).Blank(1).Lit(s.paint, s.mark+" ").Put(st.Dim, s.text)
		}
		out = append(out, r.End())
	}
	return out
}

func (p *Pane) renderList(width int) []string {
	st := p.d.St
	c := p.fit.Widths(width-1, p.columns(width))
	h := st.Row(width).Blank(1).Col(st.Heading, safetext.Const("STORE"), c[colStore])
	numbers(h, st.Heading, c, safetext.Const("RANK"), safetext.Const("SCORE"))
	h.Col(st.Heading, safetext.Const("WHERE"), c[colWhere]).Col(st.Heading, safetext.Const("ORIGIN"), c[colWriter]).Lit(st.Heading, "SNIPPET")
	out := []string{h.End()}
	w := p.window
	for i := w.Top; i < min(len(w.Rows), w.Top+w.Height); i++ {
		out = append(out, p.row(&w.Rows[i], i == w.Sel, width, c))
	}
	if len(w.Rows) == 0 {
		out = append(out, p.emptiness(width)...)
	}
	return out
}

// The columns of the hits; the snippet takes the rest.
const (
	colStore = iota
	colScore
	colRank // before the score
	colWhere
	colWriter
	colSnippet
)

// columns of a list: without room the score and the rank, which the detail has, go before the writer.
func (p *Pane) columns(width int) []list.Column {
	writer := pane.Origin
	if p.d.Origins == nil {
		writer = list.Column{}
	}
	columns := []list.Column{{Most: 12, Least: 10}, {Most: 6}, {Most: 6}, {Most: max(width/4, 17), Least: 17}, writer, {Least: 28}}
	if width < paint.WideFrom && p.fit.Cuts(width-1, columns) {
		columns[colScore] = list.Column{}
	}
	return columns
}

// numbers draws rank and score, as far as there are columns for them.
func numbers(r *paint.Row, pt paint.Paint, c []int, rank, score safetext.Text) {
	if c[colRank] == 0 {
		return
	}
	if r.Number(pt, rank, 4); c[colScore] > 0 {
		r.Number(pt, score, 6)
	}
	r.Blank(2)
}

// fitted notes the widths of the hits.
func (p *Pane) fitted() {
	p.fit = nil
	for _, h := range p.window.Rows {
		p.fit.See(colStore, h.Name.Width(), len("STORE"))
		if h.Withheld {
			continue
		}
		p.fit.See(colRank, len("RANK "), 0)
		if h.score != p.window.Rows[0].score { // scores that are all alike tell nothing
			p.fit.See(colScore, len("SCORE"), 0)
		}
		p.fit.See(colWhere, h.Where.Width(), len("WHERE"))
		p.fit.See(colWriter, p.who.Width(h.ref()), len("ORIGIN"))
		p.fit.See(colSnippet, h.Snippet.Width()+paint.BadgeSign, len("SNIPPET"))
	}
}

func (p *Pane) row(h *hitRow, at bool, width int, c []int) string {
	st := p.d.St
	r := st.Highlighted(width, at, !p.Input.Focus)
	r.Col(st.Plain, h.Name, c[colStore])
	if h.Withheld {
		if c[colRank] > 0 {
			numbers(r, st.Bad, c, safetext.Const(st.Glyphs.State[paint.ToneBad]), safetext.Text{})
		} else {
			r.Lit(st.Bad, st.Glyphs.State[paint.ToneBad]+" ")
		}
		return r.Lit(st.Warn, "quarantined: ").Put(st.Warn, st.Tail(h.Where, h.Hit.Source, "", r.Left)).End()
	}
	numbers(r, st.Dim, c, safetext.Const(strconv.Itoa(h.Rank)), h.score)
	r.Col(st.Dim, st.Tail(h.Where, h.Hit.Source, h.suffix(), c[colWhere]-1), c[colWhere]).Col(st.Dim, p.who.Cell(h.ref()), c[colWriter])
	if !h.planted.IsEmpty() {
		r.Lit(st.Warn, st.Glyphs.State[paint.ToneWarn]+" ")
	}
	snippet, matches := h.shown(st, r.Left)
	return r.Hits(st.Plain, snippet, matches).End()
}

// examples show each term of a query.
var examples = [...]struct{ term, words string }{
	{"store:notes", "one store"},
	{"tier:daily", "one tier"},
	{"type:decision", "one type of item"},
	{"agent:ada", "of an agent, or written by it"},
	{`subject:"Ada Byron"`, "about somebody"},
	{"since:7d", "changed in the last 7 days, or since a day"},
	{"until:2026-05-21", "changed until a day"},
	{"confidence:0.8", "of so much confidence at least"},
	{"archived:also", "archived ones too; only: no others"},
}

// terms is the page of examples, below what a recall does.
func (p *Pane) terms(width int) []string {
	st := p.d.St
	out := append([]string{st.Row(width).End()}, text.Paragraph(st, text.Line{Kind: text.Note, Value: st.Esc.Const("Terms beside the words select by a field:")}, width)...)
	for _, e := range examples {
		out = append(out, st.Row(width).Blank(1).Lit(st.Key, e.term).Blank(22-len(e.term)).Lit(st.Dim, e.words).End())
	}
	if n := len(p.past); n > 0 {
		recent := slices.Clone(p.past[max(n-5, 0):])
		slices.Reverse(recent)
		words := text.Advice(st.Esc, "`Up` brings back, while you type: %s", strings.Join(recent, st.Glyphs.Dot.String()))
		out = append(append(out, st.Row(width).End()), text.Paragraph(st, words, width)...)
	}
	return out
}

func (p *Pane) emptiness(width int) []string {
	st := p.d.St
	words := text.Line{Kind: text.Note}
	switch {
	case len(p.d.Fleet.Members()) == 0:
		words.Value = safetext.Const(desk.NoStores)
	case p.query == "":
		words.Value = st.Esc.Const("Every open store is asked at once, as an agent would ask it. Hits are ordered by their rank in each store; scores of different stores are never compared.")
	case p.wrong != nil:
		words = text.Line{Kind: text.Warn, Value: st.Badge(paint.ToneWarn, prose.Reason(st.Esc, p.wrong))}
	case p.running:
		words.Value = st.Esc.Const("asking")
	case len(p.waiting) > 0 || slices.ContainsFunc(p.answers, func(a answered) bool { return a.failed }):
		words.Value = st.Esc.Sprintf("Nothing was found for %q, but some stores did not answer: they are marked %s above.", p.query, st.Glyphs.State[paint.ToneBad])
	default:
		words.Value = st.Esc.Sprintf("No store has anything for %q.", p.query)
	}
	out := text.Paragraph(st, words, width)
	if p.query == "" && len(p.d.Fleet.Members()) > 0 {
		out = append(out, p.terms(width)...)
	}
	return out
}
