package text

import (
	"context"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

type LaidOut struct {
	gen   int
	Text  *Page
	width int
	rows  []Wrapped
	top   int
	keep  bool   // an extension of the same rows: keep the current position
	sight *sight // the answer to the search; nil: nothing was searched
}

// Pager shows a text of any size as wrapped rows around the screen. Commands escape and wrap; a key only moves.
type Pager struct {
	ask    func(func(context.Context) any) tea.Cmd
	St     *paint.Styles
	Text   *Page
	Terms  []string
	Width  int
	Height int

	Rows  []Wrapped
	wide  int // the width of the wrapped rows
	Top   int
	gen   int
	Busy  bool
	Shown *Page // the page of the rows
	Brief bool  // little room: begin at the words of the body, with the metadata above them

	Markdown bool // bodies are rendered
	Search   search
}

func New(st *paint.Styles, ask func(func(context.Context) any) tea.Cmd) *Pager {
	return &Pager{ask: ask, St: st, Width: 80, Height: 1}
}

// Show opens a text at a line of its body, 0 for its head; the old one stays until it is laid out.
func (p *Pager) Show(t *Page, line int, terms []string) tea.Cmd {
	p.Text, p.Terms = t, terms
	at := Start
	if line > 0 {
		at = RowRef{Off: t.offsetOf(line)}
	}
	if s := &p.Search; s.In.Focus { // the operator is typing a search already: it applies to this text
		s.Found, s.rank, s.Origin = nil, 0, at
		if s.Needle != nil {
			return p.wantAt(at, p.spotAt(at), false, false)
		}
	} else {
		p.Search = search{last: s.last}
	}
	return p.LayOut(at, 0, false)
}

func (p *Pager) Clear() {
	p.gen++
	p.Text, p.Shown, p.Rows, p.Top, p.Busy = nil, nil, nil, 0, false
	p.Search = search{last: p.Search.last}
}

// LayOut asks for the rows around a place; then the screen moves by further rows.
func (p *Pager) LayOut(at RowRef, further int, keep bool) tea.Cmd {
	p.gen++
	p.Busy = true
	gen, t, width, margin := p.gen, p.Text, p.Width, 3*p.Height+50
	st := *p.St
	l := Layout{St: &st, Width: width, terms: p.Terms, Markdown: p.Markdown, needle: p.Search.Needle}
	if p.Search.rank > 0 {
		l.here = p.Search.here
	}
	target, found, last := p.Search.target, p.Search.Found, p.Search.last
	return p.ask(func(context.Context) any {
		out := LaidOut{gen: gen, Text: t, width: width, keep: keep}
		if target != nil {
			if out.sight = target.answer(t, l.needle, found, last); out.sight == nil {
				return nil
			}
			if l.here = out.sight.here; out.sight.moves() {
				out.rows, _ = l.Around(t, t.rowOf(l.here), margin, margin)
				out.top, out.keep = max(slices.IndexFunc(out.rows, func(r Wrapped) bool { return r.here }), 0), false
				return out
			}
		}
		out.rows, out.top = l.Around(t, at, margin, margin)
		out.top += further
		return out
	})
}

// Arrive takes rows. Each pager counts its own generations; only the text says whose rows they are.
func (p *Pager) Arrive(m LaidOut) {
	if m.gen != p.gen || m.Text != p.Text {
		return
	}
	p.Busy = false
	if m.keep {
		now := p.topPlace()
		for i, r := range m.rows {
			if r.At == now {
				m.top = i
			}
		}
	}
	if m.sight != nil {
		m.top = p.saw(m)
	}
	p.Rows, p.wide, p.Shown, p.Top = m.rows, m.width, m.Text, m.top
	p.Clamp()
}

func (p *Pager) Resize(width, height int) tea.Cmd {
	width, height = max(width, 8), max(height, 1)
	if p.Width == width && p.Height == height {
		return nil
	}
	p.Width, p.Height = width, height
	if p.Text == nil {
		return nil
	}
	return p.LayOut(p.topPlace(), 0, false)
}

func (p *Pager) topPlace() RowRef {
	if p.Shown != p.Text || p.Top >= len(p.Rows) {
		return Start
	}
	return p.Rows[p.Top].At
}

func (p *Pager) Clamp() {
	last := len(p.Rows) - p.Height
	if p.Brief { // a body shorter than the room begins at the top too
		body := slices.IndexFunc(p.Rows, func(r Wrapped) bool { return r.At.Off >= p.Shown.words })
		last = max(last, body)
	}
	p.Top = max(min(p.Top, last), 0)
}

func (p *Pager) AtStart() bool {
	return len(p.Rows) == 0 || p.Rows[0].At == Start || p.Rows[0].At.Off == 0 && len(p.Shown.Head) == 0
}

func (p *Pager) AtEnd() bool {
	if len(p.Rows) == 0 || p.Shown == nil {
		return true
	}
	last := p.Rows[len(p.Rows)-1]
	if last.At.Off < 0 {
		return p.Shown.Body == ""
	}
	return last.next >= len(p.Shown.Body)
}

// Beyond reports whether the text on the screen goes on above and below, also while the next one is on its way.
func (p *Pager) Beyond() (above, below bool) {
	if p.Shown == nil || len(p.Rows) == 0 {
		return false, false
	}
	return p.Top > 0 || !p.AtStart(), p.Top+p.Height < len(p.Rows) || !p.AtEnd()
}

func (p *Pager) Move(by int) tea.Cmd {
	if p.Text == nil || p.Shown != p.Text {
		return nil
	}
	p.Top += by
	p.Clamp()
	margin := 2 * p.Height
	if !p.Busy && (by < 0 && p.Top < margin && !p.AtStart() || by > 0 && p.Top+p.Height+margin > len(p.Rows) && !p.AtEnd()) {
		return p.LayOut(p.topPlace(), 0, true)
	}
	return nil
}

func (p *Pager) Page(by float64) tea.Cmd { return p.Move(act.Steps(by, p.Height)) }

func (p *Pager) Home() tea.Cmd {
	if p.Text == nil {
		return nil
	}
	if p.AtStart() && !p.Busy { // the running layout would bring the old place back
		return p.Move(-p.Top)
	}
	return p.LayOut(Start, 0, false)
}

func (p *Pager) End() tea.Cmd {
	if p.Text == nil {
		return nil
	}
	if p.AtEnd() && !p.Busy {
		return p.Move(len(p.Rows))
	}
	return p.LayOut(RowRef{Off: p.Text.pieceBefore(len(p.Text.Body))}, len(p.Text.Body), false)
}

// Position is the number of the top line of the body, and its percentage.
func (p *Pager) Position() safetext.Text {
	if p.Shown == nil || p.Top >= len(p.Rows) {
		return safetext.Text{}
	}
	if p.Shown.Total == 0 {
		if above, below := p.Beyond(); above || below { // a head alone is laid out whole
			return safetext.Sprintf("%d to %d of %d", p.Top+1, min(p.Top+p.Height, len(p.Rows)), len(p.Rows))
		}
		return safetext.Text{}
	}
	if p.AtStart() && p.AtEnd() && len(p.Rows) <= p.Height {
		return safetext.Sprintf("all of %s", safetext.Const(prose.Plural(p.Shown.Total, "line")))
	}
	last := p.Rows[min(p.Top+p.Height, len(p.Rows))-1]
	return safetext.Sprintf("line %s of %s", safetext.Const(prose.Group(max(last.line, 1))), safetext.Const(prose.Group(p.Shown.Total)))
}

func (p *Pager) Render(width, height int) []string {
	out := make([]string, 0, height)
	for i := p.Top; i < len(p.Rows) && len(out) < height; i++ {
		out = append(out, p.renderRow(p.Rows[i], width))
	}
	return p.St.FillTo(out, width, height)
}

// Framed draws the visible rows between two columns; the left one marks matches without colour too.
func (p *Pager) Framed(width, height int) []string {
	out := p.Render(width-2, height)
	for i, line := range out {
		sign := " "
		if n := p.Top + i; p.Search.Needle != nil && n < len(p.Rows) {
			switch r := p.Rows[n]; {
			case r.here:
				sign = p.St.Text(p.St.Strong, p.St.Glyphs.Point, 1)
			case r.found():
				sign = ":"
			}
		}
		out[i] = sign + line + " "
	}
	return out
}

func (p *Pager) renderRow(w Wrapped, width int) string {
	st := p.St
	r := st.Row(width)
	if w.At.Off >= 0 && w.At.Off < len(p.Shown.Body) {
		number := safetext.Text{}
		switch {
		case w.cont && w.At.sub == 0:
			number = st.Glyphs.Continued
		case !w.cont && p.Shown.Kind != Diff && p.Shown.Kind != Excerpt:
			number = safetext.Const(strconv.Itoa(w.line))
		}
		r.Number(st.Dim, number, gutter(p.Shown)-1).Blank(1)
		if w.cont {
			r.Blank(hang(p.Shown))
		}
		return r.Rich(st.PaintOf(w.Look), w.Text, w.hits, w.Runs).End()
	}
	return headRow(st, w, width)
}

func headRow(st *paint.Styles, w Wrapped, width int) string {
	r := st.Row(width)
	if !w.label.IsEmpty() {
		name := st.Dim
		if w.kind == Key {
			name = st.Key
		}
		if len(w.labelRuns) > 0 && st.Width(w.label) <= w.labels {
			r.Rich(name, w.label, nil, w.labelRuns).Blank(w.labels - st.Width(w.label) + 1)
		} else {
			r.Cell(name, w.label, w.labels).Blank(1)
		}
	}
	if !w.sign.IsEmpty() {
		r.Put(st.Toned(w.tone), w.sign).Blank(1)
	}
	return r.Rich(headPaint(st, w.kind), w.Text, w.hits, w.Runs).End()
}

func headPaint(s *paint.Styles, k Kind) paint.Paint {
	switch k {
	case Title:
		return s.Title
	case Note:
		return s.Dim
	case Warn, Alert:
		return s.Warn
	case Bad:
		return s.Bad
	}
	return paint.Paint{}
}

// Paragraph draws a line between two blank columns, wrapped.
func Paragraph(st *paint.Styles, l Line, width int) []string {
	var out []string
	for _, w := range (Layout{St: st, Width: width - 2}).lineRows([]Line{l}, -1, 0) {
		out = append(out, " "+headRow(st, w, width-2)+" ")
	}
	return out
}

// Update replaces a text by a similar one, and keeps the position as far as the new text reaches.
func (p *Pager) Update(t *Page) tea.Cmd {
	at := p.topPlace()
	p.Text = t
	if at.Off > len(t.Body) {
		at = Start
	}
	if p.Search.Needle != nil {
		p.Search.Found = nil
		return p.wantAt(at, p.Search.here, false, true)
	}
	return p.LayOut(at, 0, false)
}

// AsMarkdown renders bodies as markdown, or shows them as stored.
func (p *Pager) AsMarkdown(on bool) tea.Cmd {
	p.Markdown = on
	if p.Text == nil {
		return nil
	}
	at := p.topPlace()
	at.sub = 0
	return p.LayOut(at, 0, false)
}
