package paint

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
)

// Row builds one line of the screen from safe text, cut or padded to its width.
type Row struct {
	St    *Styles
	out   strings.Builder
	Left  int    // free columns
	over  bool   // one paint for the whole row has begun
	after string // ends it
	gap   int    // blanks not written yet
	last  Paint  // of the text before them
	// Find returns the matches of the list's filter in a text; nil: no filter.
	Find func(text string) []safetext.Span
}

func (s *Styles) Row(width int) *Row {
	r := &Row{St: s, Left: max(width, 0)}
	r.out.Grow(r.Left + 64) // for the text and a few paint changes
	return r
}

// Highlighted starts the row under the cursor: one paint for all of it, and a sign that shows it without colour.
func (s *Styles) Highlighted(width int, at, focus bool) *Row {
	r := s.Row(width)
	switch {
	case at && focus:
		r.paintOver(s.Selected).Put(Paint{}, s.Glyphs.Point)
	case at:
		r.paintOver(s.selectedIn).Put(Paint{}, s.Glyphs.Point)
	default:
		r.Blank(1)
	}
	return r
}

// Mark writes the mark column.
func (s *Styles) Mark(r *Row, on bool) {
	if on {
		r.Put(s.Strong, s.Esc.Const("*"))
		return
	}
	r.Blank(1)
}

// paintOver gives the whole row one paint, over the paints of its cells.
func (r *Row) paintOver(p Paint) *Row {
	r.out.WriteString(p.On)
	r.after, r.over = p.Off, true
	return r
}

// Put writes t, cut to the free columns.
func (r *Row) Put(p Paint, t safetext.Text) *Row { return r.Hits(p, t, nil) }

// Hits is Put with parts of t, such as matched words, painted apart.
func (r *Row) Hits(p Paint, t safetext.Text, hits []safetext.Span) *Row {
	w := r.St.Width(t)
	if w > r.Left {
		whole := t.String()
		t = r.St.trunc(t, r.Left)
		w = r.St.Width(t)
		hits = within(hits, shared(whole, t.String()))
	}
	r.write(p, t, w, hits, nil)
	return r
}

// Rich is Hits with further parts in their own paints. It is for texts that fit.
func (r *Row) Rich(p Paint, t safetext.Text, hits []safetext.Span, runs []Stretch) *Row {
	w := r.St.Width(t)
	if w > r.Left || len(runs) == 0 {
		return r.Hits(p, t, hits)
	}
	r.write(p, t, w, hits, runs)
	return r
}

// shared is the number of bytes that two texts have in common at their start.
func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n-- // two different characters may share the first byte
	}
	return n
}

// within cuts spans to the first n bytes: the rest is an ellipsis.
func within(spans []safetext.Span, n int) []safetext.Span {
	var out []safetext.Span
	for _, s := range spans {
		if s.End = min(s.End, n); s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}

// Lit writes the program's own words.
func (r *Row) Lit(p Paint, s string) *Row { return r.Put(p, r.St.Esc.Const(s)) }

// Cell writes t in exactly width columns, with the looks of its parts where it fits.
func (r *Row) Cell(p Paint, t safetext.Text, width int, runs ...Stretch) *Row {
	width = min(width, r.Left)
	cut := r.St.trunc(t, width)
	if cut != t {
		runs = nil
	}
	w := r.St.Width(cut)
	r.write(p, cut, w, nil, runs)
	return r.Blank(width - w)
}

// Col is a cell with a blank after it, in width columns; 0: there is no room for it.
func (r *Row) Col(p Paint, t safetext.Text, width int, runs ...Stretch) *Row {
	if width == 0 {
		return r
	}
	return r.Cell(p, t, width-1, runs...).Blank(1)
}

// Number writes t at the right end of width columns.
func (r *Row) Number(p Paint, t safetext.Text, width int) *Row {
	width = min(width, r.Left)
	t = r.St.trunc(t, width)
	w := r.St.Width(t)
	r.Blank(width - w)
	r.write(p, t, w, nil, nil)
	return r
}

func (r *Row) Blank(n int) *Row {
	n = min(n, r.Left)
	if n <= 0 {
		return r
	}
	r.Left -= n
	r.gap += n
	return r
}

const spaces = "                                                                "

// blanks writes the gap before a text of paint p, or before the end of the row. Between two texts
// of one paint the gap keeps that paint, where that is invisible: each change of paint is sent to
// the terminal.
func (r *Row) blanks(p Paint) {
	if r.gap == 0 {
		return
	}
	if r.over || p != r.last || !p.bare {
		p = Paint{}
	}
	r.out.WriteString(p.On)
	for n := r.gap; n > 0; n -= len(spaces) {
		r.out.WriteString(spaces[:min(n, len(spaces))])
	}
	r.out.WriteString(p.Off)
	r.gap = 0
}

func (r *Row) write(p Paint, t safetext.Text, width int, hits []safetext.Span, runs []Stretch) {
	if t.IsEmpty() {
		return
	}
	r.Left -= width
	r.blanks(p)
	r.last = p
	if r.over {
		p = Paint{}
	}
	s, marks, at := t.String(), safetext.Marks(t), 0
	if r.Find != nil && hits == nil {
		hits = r.Find(s)
	}
	for at < len(s) {
		seg, end := p, len(s)
		for _, run := range runs {
			if at >= run.Start && at < run.End {
				seg, end = r.St.PaintOf(run.Look), min(run.End, end)
				break
			}
			if run.Start > at {
				end = run.Start
				break
			}
		}
		next, special := segment(at, end, marks, hits)
		switch {
		case r.over && special == inHit && r.St.match.On != "":
			seg = underlined
		case r.over:
			seg = Paint{}
		case special == inMark:
			seg = r.St.Escape
		case special == inHit:
			seg = r.St.match
		}
		r.out.WriteString(seg.On)
		r.out.WriteString(s[at:next])
		r.out.WriteString(seg.Off)
		at = next
	}
}

// underlined marks a match in a row of one paint: its end does not end that paint.
var underlined = Paint{On: "\x1b[4m", Off: "\x1b[24m"}

type special int

const (
	ordinary special = iota
	inHit
	inMark
)

// segment is the text from at on that has one paint. An escape inside a match keeps its own paint.
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

// End gives the line, padded to the row's width.
func (r *Row) End() string {
	r.Blank(r.Left)
	r.blanks(Paint{})
	r.out.WriteString(r.after)
	return r.out.String()
}

// Text is a whole line of one paint.
func (s *Styles) Text(p Paint, t safetext.Text, width int) string {
	return s.Row(width).Put(p, t).End()
}

// LeftOut marks a beginning that is left out.
func LeftOut(esc safetext.Escaper) safetext.Text {
	if esc.ASCII {
		return esc.Const("...")
	}
	return esc.Const("…")
}

// Tail fits a name into width columns and leaves out its beginning; whole is raw and suffix, escaped.
func (s *Styles) Tail(whole safetext.Text, raw, suffix string, width int) safetext.Text {
	lead := LeftOut(s.Esc)
	if raw == "" || s.Width(whole) <= width || width < 6 {
		return whole
	}
	room := width - s.Width(lead) - len(suffix)
	at := len(raw)
	for at > 0 {
		_, n := utf8.DecodeLastRuneInString(raw[:at])
		w := 1
		if c := raw[at-n]; n > 1 || c < 0x20 || c >= 0x7f {
			w = s.Width(s.Esc.Line(raw[at-n : at]))
		}
		if w > room {
			break
		}
		room -= w
		at -= n
	}
	if dir := strings.IndexByte(raw[at:], '/'); dir > 0 && at+dir+1 < len(raw) { // whole names of a path
		at += dir
	}
	return s.Esc.Sprintf("%s%s%s", lead, raw[at:], suffix)
}

// Width is the columns of a text in Bubble Tea's renderer. Until the terminal reports that it
// measures grapheme clusters, the renderer adds up code points, and rows measured otherwise would
// not align.
func (s *Styles) Width(t safetext.Text) int {
	w := t.Width()
	if s.Clusters || w == t.Len() {
		return w
	}
	return ansi.WcWidth.StringWidth(t.String())
}

func (s *Styles) trunc(t safetext.Text, columns int) safetext.Text {
	cut := s.Esc.Trunc(t, columns)
	for n := columns - 1; n > 0 && s.Width(cut) > columns; n-- {
		cut = s.Esc.Trunc(t, n)
	}
	return cut
}

// Wrap breaks a text into lines of at most columns; only a wider escape exceeds that.
func (s *Styles) Wrap(t safetext.Text, columns int) []safetext.Text {
	parts := s.Esc.Wrap(t, columns)
	for n := columns - 1; n > safetext.MaxMark && slices.ContainsFunc(parts, func(p safetext.Text) bool { return s.Width(p) > columns }); n-- {
		parts = s.Esc.Wrap(t, n)
	}
	return parts
}

// FillTo pads a block with empty lines to height, or cuts it.
func (s *Styles) FillTo(lines []string, width, height int) []string {
	if len(lines) > height {
		return lines[:max(height, 0)]
	}
	empty := strings.Repeat(" ", max(width, 0))
	for len(lines) < height {
		lines = append(lines, empty)
	}
	return lines
}

// Beside puts two blocks of one height next to each other; a sign in the line between says that the right goes on.
func (s *Styles) Beside(left, right []string, above, below bool) []string {
	bar := s.Row(1).Put(s.Dim, s.Glyphs.Vertical).End()
	out := make([]string, len(left))
	for i := range left {
		sign := bar
		switch {
		case i == 0 && above:
			sign = s.Row(1).Put(s.Key, s.Glyphs.Up).End()
		case i == len(left)-1 && below:
			sign = s.Row(1).Put(s.Key, s.Glyphs.Down).End()
		}
		out[i] = left[i] + " " + sign + right[i]
	}
	return out
}

// Sorted is the title of a column, with a sign where the list is in its order.
func (s *Styles) Sorted(title string, up, down bool) safetext.Text {
	switch {
	case up:
		return s.Esc.Sprintf("%s%s", safetext.Const(title), s.Glyphs.Up)
	case down:
		return s.Esc.Sprintf("%s%s", safetext.Const(title), s.Glyphs.Down)
	}
	return safetext.Const(title)
}

// Rule is a horizontal line with a heading in it.
func (s *Styles) Rule(heading safetext.Text, width int) string {
	r := s.Row(width)
	if !heading.IsEmpty() {
		r.Put(s.Dim, s.Glyphs.section).Put(s.Heading, heading).Blank(1)
	}
	return s.line(r, r.Left).End()
}
