package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
)

// row builds one line of the screen. It accepts safe text only, cuts at its
// width and is padded to it, so rows can be put side by side without measuring.
type row struct {
	st    *styles
	out   strings.Builder
	left  int   // columns that are still free
	under paint // painted under everything, for the row at the cursor
	over  bool  // under replaces the paints of the cells
	mine  bool  // what is written is a sign of the row, and not yet its name
	gap   int   // blanks that are not written yet
	last  paint // of the text before them
}

func (s *styles) row(width int) *row {
	r := &row{st: s, left: max(width, 0)}
	r.out.Grow(r.left + 64) // for the text and a few changes of paint
	return r
}

// highlighted starts a row that is under the cursor: one paint for its signs and
// its first text, and the sign says it without colour. The rest of the row stays as
// it is, so that a step of the cursor does not draw two whole rows anew.
func (s *styles) highlighted(width int, at, focus bool) *row {
	r := s.row(width)
	switch {
	case at && focus:
		r.under, r.over = s.selected, true
		r.sign(paint{}, s.glyphs.point)
	case at:
		r.under, r.over = s.selectedIn, true
		r.sign(paint{}, s.glyphs.point)
	default:
		r.blank(1)
	}
	return r
}

// mark is the column that tells whether a row is marked.
func (s *styles) mark(r *row, on bool) {
	if on {
		r.sign(s.strong, s.esc.Const("*"))
		return
	}
	r.blank(1)
}

// sign writes what stands before the name of a row.
func (r *row) sign(p paint, t safetext.Text) {
	r.mine = true
	r.put(p, t)
	r.mine = false
}

// put writes t, cut to what is left.
func (r *row) put(p paint, t safetext.Text) *row { return r.hits(p, t, nil) }

// hits is put with parts of t, such as matched words, painted apart.
func (r *row) hits(p paint, t safetext.Text, hits []safetext.Span) *row {
	w := r.st.width(t)
	if w > r.left {
		whole := t.String()
		t = r.st.trunc(t, r.left)
		w = r.st.width(t)
		hits = within(hits, shared(whole, t.String()))
	}
	r.write(p, t, w, hits, nil)
	return r
}

// rich is hits with further parts painted by what they are. It is for texts that
// fit.
func (r *row) rich(p paint, t safetext.Text, hits []safetext.Span, runs []stretch) *row {
	w := r.st.width(t)
	if w > r.left || len(runs) == 0 {
		return r.hits(p, t, hits)
	}
	r.write(p, t, w, hits, runs)
	return r
}

// shared is how many bytes two texts have in common at their start.
func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n-- // two characters may begin with the same byte
	}
	return n
}

// within cuts spans to the first n bytes: what follows is an ellipsis.
func within(spans []safetext.Span, n int) []safetext.Span {
	var out []safetext.Span
	for _, s := range spans {
		if s.End = min(s.End, n); s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}

// lit writes the program's own words.
func (r *row) lit(p paint, s string) *row { return r.put(p, r.st.esc.Const(s)) }

// cell writes t in exactly width columns.
func (r *row) cell(p paint, t safetext.Text, width int) *row {
	width = min(width, r.left)
	t = r.st.trunc(t, width)
	w := r.st.width(t)
	r.write(p, t, w, nil, nil)
	return r.blank(width - w)
}

// number writes t at the right end of width columns.
func (r *row) number(p paint, t safetext.Text, width int) *row {
	width = min(width, r.left)
	t = r.st.trunc(t, width)
	w := r.st.width(t)
	r.blank(width - w)
	r.write(p, t, w, nil, nil)
	return r
}

func (r *row) blank(n int) *row {
	n = min(n, r.left)
	if n <= 0 {
		return r
	}
	r.left -= n
	r.gap += n
	return r
}

const spaces = "                                                                "

// blanks writes the gap before a text of paint p, or before the end of the row.
// Between two texts of one paint it has that paint too, where that cannot be seen:
// each change of it is sent to the terminal.
func (r *row) blanks(p paint) {
	if r.gap == 0 {
		return
	}
	switch {
	case r.over:
		p = r.under
	case p != r.last || !p.bare:
		p = paint{}
	}
	r.out.WriteString(p.on)
	for n := r.gap; n > 0; n -= len(spaces) {
		r.out.WriteString(spaces[:min(n, len(spaces))])
	}
	r.out.WriteString(p.off)
	r.gap = 0
}

func (r *row) write(p paint, t safetext.Text, width int, hits []safetext.Span, runs []stretch) {
	if t.IsEmpty() {
		return
	}
	r.left -= width
	r.blanks(p)
	r.last = p
	if r.over {
		p = r.under
		defer func() { r.over = r.mine }()
	}
	s, marks, at := t.String(), safetext.Marks(t), 0
	for at < len(s) {
		seg, end := p, len(s)
		for _, run := range runs {
			if at >= run.start && at < run.end {
				seg, end = r.st.paintOf(run.look), run.end
				break
			}
			if run.start > at {
				end = run.start
				break
			}
		}
		next, special := segment(at, end, marks, hits)
		switch {
		case r.over:
		case special == inMark:
			seg = r.st.escape
		case special == inHit:
			seg = r.st.match
		}
		r.out.WriteString(seg.on)
		r.out.WriteString(s[at:next])
		r.out.WriteString(seg.off)
		at = next
	}
}

type special int

const (
	ordinary special = iota
	inHit
	inMark
)

// segment is how far the text from at on has one paint. An escape stays an
// escape inside a match, so that a match cannot pass it off as text.
func segment(at, end int, marks, hits []safetext.Span) (next int, kind special) {
	for _, m := range marks {
		if at >= m.Start && at < m.End {
			return m.End, inMark
		}
		if m.Start > at {
			end = min(end, m.Start)
			break
		}
	}
	for _, h := range hits {
		if at >= h.Start && at < h.End {
			return min(h.End, end), inHit
		}
		if h.Start > at {
			return min(h.Start, end), ordinary
		}
	}
	return end, ordinary
}

// end gives the line, padded to the row's width.
func (r *row) end() string {
	r.blank(r.left)
	r.over = false
	r.blanks(paint{})
	return r.out.String()
}

// text is a whole line of one paint.
func (s *styles) text(p paint, t safetext.Text, width int) string {
	return s.row(width).put(p, t).end()
}

// leftOut stands for what is left out at the beginning of a text.
func leftOut(esc safetext.Escaper) safetext.Text {
	if esc.ASCII {
		return esc.Const("...")
	}
	return esc.Const("…")
}

// tail fits a name into width columns and leaves out its beginning when it is too
// long: of a path, the end tells most. whole is raw and suffix, escaped.
func (s *styles) tail(whole safetext.Text, raw, suffix string, width int) safetext.Text {
	lead := leftOut(s.esc)
	if raw == "" || s.width(whole) <= width || width < 6 {
		return whole
	}
	room := width - s.width(lead) - len(suffix)
	at := len(raw)
	for at > 0 {
		_, n := utf8.DecodeLastRuneInString(raw[:at])
		w := 1
		if c := raw[at-n]; n > 1 || c < 0x20 || c >= 0x7f {
			w = s.width(s.esc.Line(raw[at-n : at]))
		}
		if w > room {
			break
		}
		room -= w
		at -= n
	}
	return s.esc.Sprintf("%s%s%s", lead, raw[at:], suffix)
}

// width is the columns that Bubble Tea's renderer gives to a text. Until the
// terminal has said that it measures grapheme clusters, the renderer adds up
// code points, and rows that measured otherwise would not align.
func (s *styles) width(t safetext.Text) int {
	w := t.Width()
	if s.clusters || w == t.Len() {
		return w
	}
	return ansi.WcWidth.StringWidth(t.String())
}

// trunc cuts a text to columns of the renderer.
func (s *styles) trunc(t safetext.Text, columns int) safetext.Text {
	cut := s.esc.Trunc(t, columns)
	for n := columns - 1; n > 0 && s.width(cut) > columns; n-- {
		cut = s.esc.Trunc(t, n)
	}
	return cut
}

// wrap breaks a text into lines of at most columns of the renderer, as far as an
// escape is not wider than that.
func (s *styles) wrap(t safetext.Text, columns int) []safetext.Text {
	parts := s.esc.Wrap(t, columns)
	for n := columns - 1; n > safetext.MaxMark && slices.ContainsFunc(parts, func(p safetext.Text) bool { return s.width(p) > columns }); n-- {
		parts = s.esc.Wrap(t, n)
	}
	return parts
}

// paragraph is a text of one paint over as many lines as it takes.
func (s *styles) paragraph(p paint, t safetext.Text, width int) []string {
	var out []string
	for _, part := range s.wrap(t, width-2) {
		out = append(out, s.row(width).blank(1).put(p, part).end())
	}
	return out
}

// fillTo pads a block with empty lines to height, or cuts it.
func (s *styles) fillTo(lines []string, width, height int) []string {
	if len(lines) > height {
		return lines[:max(height, 0)]
	}
	empty := strings.Repeat(" ", max(width, 0))
	for len(lines) < height {
		lines = append(lines, empty)
	}
	return lines
}

// beside puts two blocks of the same height next to each other. The line between them
// ends in a sign where the right one goes on.
func (s *styles) beside(left, right []string, above, below bool) []string {
	bar := s.row(1).put(s.dim, s.glyphs.vertical).end()
	out := make([]string, len(left))
	for i := range left {
		sign := bar
		switch {
		case i == 0 && above:
			sign = s.row(1).put(s.key, s.glyphs.up).end()
		case i == len(left)-1 && below:
			sign = s.row(1).put(s.key, s.glyphs.down).end()
		}
		out[i] = left[i] + sign + right[i]
	}
	return out
}

// rule is a horizontal line with a heading in it.
func (s *styles) rule(heading safetext.Text, width int) string {
	r := s.row(width)
	if !heading.IsEmpty() {
		r.put(s.dim, s.glyphs.section).put(s.heading, heading).blank(1)
	}
	n := max(r.left, 0)
	if n > 0 {
		r.put(s.dim, s.esc.Const(strings.Repeat(s.glyphs.horizontal.String(), n)))
	}
	return r.end()
}
