package recall

import (
	"slices"
	"strings"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
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
		if p.Partial {
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
	case p.Partial && len(p.waiting) > 0:
		return esc.Sprintf("%s; asking %s", words, strings.Join(p.waiting, " "))
	case n > 1:
		return esc.Sprintf("%s; the slowest was %s, %s", words, slowest.Store, prose.Latency(slowest.Took))
	}
	return words
}

// renderStatus draws the lines about the answers; those without room are counted.
func (p *Pane) renderStatus(width, height int) []string {
	st := p.d.St
	all := p.statuses()
	room := min(len(all), max(height/6, 2))
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

// The columns of the hits; the snippet takes the rest.
const (
	colStore = iota
	colRank
	colScore
	colWhere
	colWriter
	colSnippet
)

var hitColumns = []record.Column{
	colStore: {Title: "STORE"}, colRank: {Title: "RANK", Dim: true}, colScore: {Title: "SCORE", Dim: true},
	colWhere: {Title: "WHERE", Dim: true}, colWriter: {Title: "ORIGIN", Dim: true}, colSnippet: {Title: "SNIPPET"},
}

// share: without room the score and the rank, which the detail has, go before the writer.
func (p *Pane) share(_ list.Fit, room int) (widths []int, cuts bool) {
	writer := pane.Origin
	if p.d.Origins == nil {
		writer = list.Column{}
	}
	columns := []list.Column{{Most: 12, Least: 10}, {Most: 6}, {Most: 6}, {Most: max((room+1)/4, 17), Least: 17}, writer, {Least: 28}}
	if room+1 < paint.WideFrom && p.fit.Cuts(room, columns) {
		columns[colScore] = list.Column{}
	}
	widths = p.fit.Widths(room, columns)
	p.numbers = widths[colRank] + widths[colScore]
	if widths[colRank] > 0 && widths[colScore] > 0 { // the score stands close to the rank
		widths[colRank], widths[colScore] = widths[colRank]-1, widths[colScore]+1
	}
	return widths, p.fit.Cuts(room, columns)
}

// measure notes the widths of the hits, and who wrote them.
func (p *Pane) measure() {
	p.fit = nil
	for _, r := range p.Window.Rows {
		h := r.Raw
		p.fit.See(colStore, h.Name.Width(), len("STORE"))
		if h.Withheld {
			continue
		}
		r.Cells[colWriter] = p.who.Cell(h.ref())
		p.fit.See(colRank, len("RANK "), 0)
		if h.score != p.Window.Rows[0].Raw.score { // scores that are all alike tell nothing
			p.fit.See(colScore, len("SCORE"), 0)
		}
		p.fit.See(colWhere, h.Where.Width(), len("WHERE"))
		p.fit.See(colWriter, p.who.Width(h.ref()), len("ORIGIN"))
		p.fit.See(colSnippet, h.Snippet.Width()+paint.BadgeSign, len("SNIPPET"))
	}
}

// cut leaves out the beginning of a source, whose end names the item.
func (p *Pane) cut(h hit, column int, t safetext.Text, width int) safetext.Text {
	if column != colWhere {
		return t
	}
	return p.d.St.Tail(t, h.Hit.Source, h.suffix(), width-1)
}

// last draws the snippet; of a source that is withheld its name, from the rank on.
func (p *Pane) last(r *paint.Row, h hit) {
	st := p.d.St
	if h.Withheld {
		if sign := safetext.Const(st.Glyphs.State[paint.ToneBad]); p.numbers > 0 {
			r.Number(st.Bad, sign, 4).Blank(p.numbers - 4)
		} else {
			r.Put(st.Bad, sign).Blank(1)
		}
		r.Lit(st.Warn, "quarantined: ").Put(st.Warn, st.Tail(h.Where, h.Hit.Source, "", r.Left))
		return
	}
	if !h.planted.IsEmpty() {
		r.Lit(st.Warn, st.Glyphs.State[paint.ToneWarn]+" ")
	}
	snippet, matches := h.shown(st, r.Left)
	r.Hits(st.Plain, snippet, matches)
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

func (p *Pane) emptiness() text.Line {
	st := p.d.St
	words := text.Line{Kind: text.Note}
	switch {
	case len(p.d.Fleet.Members()) == 0:
		words.Value = safetext.Const(desk.NoStores)
	case p.query == "":
		words.Value = st.Esc.Const("Every open store is asked at once, as an agent would ask it. Hits are ordered by their rank in each store; scores of different stores are never compared.")
	case p.wrong != nil:
		words = text.Line{Kind: text.Warn, Value: st.Badge(paint.ToneWarn, prose.Reason(st.Esc, p.wrong))}
	case p.Partial:
		words.Value = st.Esc.Const("asking")
	case len(p.waiting) > 0 || slices.ContainsFunc(p.answers, func(a answered) bool { return a.failed }):
		words.Value = st.Esc.Sprintf("Nothing was found for %q, but some stores did not answer: they are marked %s above.", p.query, st.Glyphs.State[paint.ToneBad])
	default:
		words.Value = st.Esc.Sprintf("No store has anything for %q.", p.query)
	}
	return words
}
