package tui

import (
	"context"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
)

// laidOut is the answer of a layout command.
type laidOut struct {
	gen   int
	text  *text
	width int
	rows  []wrapped
	top   int
	keep  bool   // the rows are more of the same: stay where the operator is now
	sight *sight // of what is looked for; nil: nothing was to be found
}

// pager shows a text of any size: a window of wrapped rows around what is on the
// screen. Escaping and wrapping happen in commands, a key only moves the window.
type pager struct {
	ask    func(func(context.Context) any) tea.Cmd
	st     *styles
	text   *text
	terms  []string
	width  int
	height int

	rows  []wrapped
	wide  int // the width that rows were wrapped for
	top   int
	gen   int
	busy  bool
	shown *text // that rows belong to
	brief bool  // little room: begin at the body, the metadata is above it

	markdown bool // bodies are rendered
	search   search
}

func newPager(st *styles, ask func(func(context.Context) any) tea.Cmd) *pager {
	return &pager{ask: ask, st: st, width: 80, height: 1}
}

// show begins a text at a line of its body, 0 for its head. The old text stays
// on the screen until the new one is laid out.
func (p *pager) show(t *text, line int, terms []string) tea.Cmd {
	p.text, p.terms = t, terms
	at := textStart
	if line > 0 {
		at = place{off: t.offsetOf(line)}
	}
	if s := &p.search; s.in.focus { // the operator types already: what is typed is looked for here
		s.found, s.rank, s.origin = nil, 0, at
		if s.needle != nil {
			return p.wantAt(at, p.spotAt(at), false, false)
		}
	} else {
		p.search = search{last: s.last}
	}
	return p.layOut(at, 0, false)
}

// clear forgets the text.
func (p *pager) clear() {
	p.gen++
	p.text, p.shown, p.rows, p.top, p.busy = nil, nil, nil, 0, false
	p.search = search{last: p.search.last}
}

// layOut asks for the rows around a place; then the screen is moved by further
// rows.
func (p *pager) layOut(at place, further int, keep bool) tea.Cmd {
	p.gen++
	p.busy = true
	gen, t, width, margin := p.gen, p.text, p.width, 3*p.height+50
	st := *p.st
	l := layout{st: &st, width: width, terms: p.terms, markdown: p.markdown, needle: p.search.needle}
	if p.search.rank > 0 {
		l.here = p.search.here
	}
	lay := func(s *sight) any {
		l, at, out := l, at, laidOut{gen: gen, text: t, width: width, keep: keep, sight: s}
		if s == nil || !s.moves() {
			if s != nil {
				l.here = s.here
			}
			out.rows, out.top = l.around(t, at, margin, margin)
			out.top += further
			return out
		}
		l.here, at, out.keep = s.here, t.rowOf(s.here), false
		out.rows, _ = l.around(t, at, margin, margin)
		out.top = max(slices.IndexFunc(out.rows, func(r wrapped) bool { return r.here }), 0)
		return out
	}
	wish, found, last := p.search.wish, p.search.found, p.search.last
	if wish == nil {
		return p.ask(func(context.Context) any { return lay(nil) })
	}
	answer := func(find func() *sight) tea.Cmd {
		return p.ask(func(context.Context) any {
			s := find()
			if s == nil {
				return nil
			}
			return lay(s)
		})
	}
	return tea.Batch( // what is near is shown before all of a long text was looked through
		answer(func() *sight { return wish.nearby(t, l.needle, found) }),
		answer(func() *sight { return wish.answer(t, l.needle, found, last) }))
}

func (p *pager) arrive(m laidOut) {
	if m.gen != p.gen {
		return
	}
	p.busy = false
	if m.keep {
		now := p.topPlace()
		for i, r := range m.rows {
			if r.at == now {
				m.top = i
			}
		}
	}
	if m.sight != nil {
		m.top = p.saw(m)
	}
	p.rows, p.wide, p.shown, p.top = m.rows, m.width, m.text, m.top
	p.clamp()
}

func (p *pager) resize(width, height int) tea.Cmd {
	width, height = max(width, 8), max(height, 1)
	if p.width == width && p.height == height {
		return nil
	}
	p.width, p.height = width, height
	if p.text == nil {
		return nil
	}
	return p.layOut(p.topPlace(), 0, false)
}

func (p *pager) topPlace() place {
	if p.shown != p.text || p.top >= len(p.rows) {
		return textStart
	}
	return p.rows[p.top].at
}

func (p *pager) clamp() {
	last := len(p.rows) - p.height
	if p.brief { // a body shorter than the room still stands at the top
		body := slices.IndexFunc(p.rows, func(r wrapped) bool { return r.at.off >= 0 })
		last = max(last, body)
	}
	p.top = max(min(p.top, last), 0)
}

func (p *pager) atStart() bool {
	return len(p.rows) == 0 || p.rows[0].at == textStart || p.rows[0].at.off == 0 && len(p.text.head) == 0
}

func (p *pager) atEnd() bool {
	if len(p.rows) == 0 || p.text == nil {
		return true
	}
	last := p.rows[len(p.rows)-1]
	if last.at.off < 0 {
		return p.text.body == ""
	}
	return last.next >= len(p.text.body)
}

// beyond reports whether there is more of the text than is on the screen.
func (p *pager) beyond() (above, below bool) {
	if p.shown == nil || p.shown != p.text || len(p.rows) == 0 {
		return false, false
	}
	return p.top > 0 || !p.atStart(), p.top+p.height < len(p.rows) || !p.atEnd()
}

func (p *pager) move(by int) tea.Cmd {
	if p.text == nil || p.shown != p.text {
		return nil
	}
	p.top += by
	p.clamp()
	margin := 2 * p.height
	if !p.busy && (by < 0 && p.top < margin && !p.atStart() || by > 0 && p.top+p.height+margin > len(p.rows) && !p.atEnd()) {
		return p.layOut(p.topPlace(), 0, true)
	}
	return nil
}

func (p *pager) page(by float64) tea.Cmd { return p.move(steps(by, p.height)) }

func (p *pager) home() tea.Cmd {
	if p.text == nil {
		return nil
	}
	if p.atStart() && !p.busy { // what is being laid out would bring the old place back
		return p.move(-p.top)
	}
	return p.layOut(textStart, 0, false)
}

func (p *pager) end() tea.Cmd {
	if p.text == nil {
		return nil
	}
	if p.atEnd() && !p.busy {
		return p.move(len(p.rows))
	}
	return p.layOut(place{off: p.text.pieceBefore(len(p.text.body))}, len(p.text.body), false)
}

// position says which line of the body is on top, and how far down that is.
func (p *pager) position() safetext.Text {
	if p.shown == nil || p.top >= len(p.rows) {
		return safetext.Text{}
	}
	if p.shown.total == 0 {
		if above, below := p.beyond(); above || below { // a head alone is laid out whole
			return safetext.Sprintf("%d to %d of %d", p.top+1, min(p.top+p.height, len(p.rows)), len(p.rows))
		}
		return safetext.Text{}
	}
	if p.atStart() && p.atEnd() && len(p.rows) <= p.height {
		return safetext.Sprintf("all of %s", safetext.Const(plural(int64(p.shown.total), "line")))
	}
	last := p.rows[min(p.top+p.height, len(p.rows))-1]
	return safetext.Sprintf("line %s of %s", safetext.Const(group(int64(max(last.line, 1)))), safetext.Const(group(int64(p.shown.total))))
}

// render draws the visible rows.
func (p *pager) render(st *styles, width, height int) []string {
	out := make([]string, 0, height)
	for i := p.top; i < len(p.rows) && len(out) < height; i++ {
		out = append(out, p.renderRow(st, p.rows[i], width))
	}
	return st.fillTo(out, width, height)
}

// framed draws the visible rows with a column on each side; the one at the left tells,
// without colour too, which rows hold what is looked for.
func (p *pager) framed(st *styles, width, height int) []string {
	out := p.render(st, width-2, height)
	for i, line := range out {
		sign := " "
		if n := p.top + i; p.search.needle != nil && n < len(p.rows) {
			switch r := p.rows[n]; {
			case r.here:
				sign = st.text(st.strong, st.glyphs.point, 1)
			case r.found():
				sign = ":"
			}
		}
		out[i] = sign + line + " "
	}
	return out
}

func (p *pager) renderRow(st *styles, w wrapped, width int) string {
	r := st.row(width)
	if w.at.off >= 0 {
		number := safetext.Text{}
		switch {
		case !w.cont:
			number = safetext.Const(strconv.Itoa(w.line))
		case w.at.sub == 0:
			number = st.glyphs.continued
		}
		r.number(st.dim, number, gutter(p.shown)-1).blank(1)
		return r.rich(st.paintOf(w.look), w.text, w.hits, w.runs).end()
	}
	if !w.label.IsEmpty() {
		if len(w.labelRuns) > 0 && st.width(w.label) <= w.labels {
			r.rich(st.dim, w.label, nil, w.labelRuns).blank(w.labels - st.width(w.label) + 1)
		} else {
			r.cell(st.dim, w.label, w.labels).blank(1)
		}
	}
	return r.rich(st.headPaint(w.kind), w.text, w.hits, w.runs).end()
}

func (s *styles) headPaint(k headKind) paint {
	switch k {
	case headTitle:
		return s.title
	case headNote:
		return s.dim
	case headWarn:
		return s.warn
	}
	return paint{}
}

// update shows a text in place of a similar one; same keeps the place, as far as
// the new text reaches.
func (p *pager) update(t *text, same bool) tea.Cmd {
	at := textStart
	if same {
		at = p.topPlace()
	}
	p.text = t
	if at.off > len(t.body) {
		at = textStart
	}
	if p.search.needle != nil {
		p.search.found = nil
		return p.wantAt(at, p.search.here, false, true)
	}
	return p.layOut(at, 0, false)
}

// asMarkdown renders bodies as markdown, or shows them as they are stored.
func (p *pager) asMarkdown(on bool) tea.Cmd {
	p.markdown = on
	if p.text == nil {
		return nil
	}
	at := p.topPlace()
	at.sub = min(at.sub, 0)
	return p.layOut(at, 0, false)
}
