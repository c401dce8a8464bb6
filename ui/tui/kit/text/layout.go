package text

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
)

// RowRef is a row of the wrapped text: a piece of the body by its offset (-1: the head, the body's length: the foot),
// and the row in it.
type RowRef struct{ Off, sub int }

var Start = RowRef{Off: -1}

type Wrapped struct {
	At     RowRef
	next   int // start of the next piece; the body's length at its end
	line   int // line number in the body; 0 in the head
	cont   bool
	label  safetext.Text // of a head field
	labels int           // columns of the labels
	sign   safetext.Text // of a state, in the colour of its tone
	tone   paint.Tone
	Text   safetext.Text
	kind   Kind
	hits   []safetext.Span // matches of the searched words in text
	Look   paint.Look      // of the whole row, in a body
	Runs   []paint.Stretch // parts of text with a look of their own

	head      int             // number of the line of the head, or of the foot as a spot counts it; unused in a body
	labelRuns []paint.Stretch // parts of label with a look of their own
	here      bool            // the current match begins here
}

// found reports whether the row holds a match of the search.
func (w Wrapped) found() bool {
	is := func(r paint.Stretch) bool { return r.Look == paint.LookFound || r.Look == paint.LookHere }
	return slices.ContainsFunc(w.Runs, is) || slices.ContainsFunc(w.labelRuns, is)
}

// Layout wraps what surrounds a place: rows above it, and rows from it on.
type Layout struct {
	St       *paint.Styles // a copy of its own: the console may change its styles meanwhile
	Width    int
	terms    []string
	Markdown bool // bodies are rendered
	needle   *needle
	here     spot  // the current match; empty: none
	grid     *grid // the last table drawn, within one call of Around
}

// Labels of head lines share one column as wide as the widest, within limits.
const minLabel, maxLabel = 12, 20

func (l Layout) labels(lines []Line) int {
	w := minLabel
	for _, h := range lines {
		if h.Kind != Blank && !h.Value.IsEmpty() {
			w = max(w, h.Name.Width())
		}
	}
	return min(w, maxLabel)
}

// lineRows wraps the lines of a head or a foot, which are at an offset and numbered from first on.
func (l Layout) lineRows(lines []Line, off, first int) []Wrapped {
	var out []Wrapped
	label := l.labels(lines)
	for n, h := range lines {
		begin := len(out)
		if h.Kind == Blank {
			out = append(out, Wrapped{kind: Blank})
		} else {
			out = append(out, l.headLine(h, label)...)
		}
		for i := begin; i < len(out); i++ {
			out[i].head = first + n
		}
		if len(h.Runs) > 0 {
			l.cut(h.Value, h.Runs, out[begin:])
		}
		l.seek(h, first+n, out[begin:])
	}
	for i := range out {
		out[i].At = RowRef{Off: off, sub: i}
		if (out[i].kind == Field || out[i].kind == Key) && l.needle == nil {
			out[i].hits = Matches(out[i].Text, l.terms)
		}
	}
	return out
}

// headLine wraps a line of a head beside its label and its sign.
func (l Layout) headLine(h Line, label int) (out []Wrapped) {
	w := Wrapped{kind: h.Kind, sign: safetext.Const(h.sign), tone: h.tone}
	if h.Kind == Alert {
		w.sign, w.tone = safetext.Const(l.St.Glyphs.State[paint.ToneWarn]), paint.ToneWarn
	}
	room := l.Width
	if !w.sign.IsEmpty() {
		room -= paint.BadgeSign
	}
	if !h.Name.IsEmpty() {
		w.label, w.labels = h.Name, label
		room -= label + 1
	}
	if h.Cut {
		h.Value = l.St.Esc.Trunc(h.Value, max(room, 8))
	}
	blank := safetext.Const(" ")
	for _, part := range l.St.Wrap(h.Value, max(room, 8)) {
		w.Text = part
		out = append(out, w)
		if !w.label.IsEmpty() {
			w.label = blank
		}
		if !w.sign.IsEmpty() {
			w.sign = blank
		}
	}
	return out
}

// seek marks the matches in the rows of one line of a head or a foot.
func (l Layout) seek(h Line, n int, rows []Wrapped) {
	if l.needle == nil || len(rows) == 0 {
		return
	}
	runs := func(part int, value safetext.Text) (out []paint.Stretch) {
		for _, s := range l.needle.spans(value) {
			out = append(out, paint.Stretch{Start: s.Start, End: s.End, Look: l.lookAt(spot{n, part, s.Start, s.End})})
		}
		return out
	}
	rows[0].labelRuns = runs(partName, h.Name)
	rows[0].here = slices.ContainsFunc(rows[0].labelRuns, func(r paint.Stretch) bool { return r.Look == paint.LookHere })
	l.cut(h.Value, runs(partValue, h.Value), rows)
}

func (l Layout) lookAt(at spot) paint.Look {
	if at == l.here {
		return paint.LookHere
	}
	return paint.LookFound
}

// cut gives each row of a wrapped text its part of the runs.
func (l Layout) cut(whole safetext.Text, runs []paint.Stretch, rows []Wrapped) {
	at, begun := 0, slices.ContainsFunc(rows, func(w Wrapped) bool { return w.here })
	for i := range rows {
		part := rows[i].Text
		if !strings.HasPrefix(whole.String()[at:], part.String()) {
			at++ // wrapping drops the blank at a break
		}
		shown := part.String()
		if i < len(rows)-1 { // the blank at a break is neither underlined nor reversed
			shown = strings.TrimRight(shown, " ")
		}
		rows[i].Runs = cutRuns(runs, at, at+len(shown))
		if !begun && slices.ContainsFunc(rows[i].Runs, func(r paint.Stretch) bool { return r.Look == paint.LookHere }) {
			rows[i].here, begun = true, true
		}
		at += part.Len()
	}
}

func (l Layout) pieceRows(t *Page, off, line int) []Wrapped {
	end, next := t.PieceEnd(off)
	raw := t.Body[off:end]
	if next > end && strings.HasSuffix(raw, "\r") {
		raw = raw[:len(raw)-1]
	}
	cont := off > 0 && t.Body[off-1] != '\n'
	raw, whole, parts := l.drawn(t, off, raw, cont)
	escaped := l.St.Esc.EscapeLine([]byte(raw), 8)
	runs := l.place(raw, escaped, parts)
	terms := l.terms
	if l.needle != nil {
		terms = nil // one search at a time
	}
	var out []Wrapped
	for i, part := range l.St.Wrap(escaped, max(l.Width-gutter(t)-hang(t), 1)) {
		out = append(out, Wrapped{
			At: RowRef{off, i}, next: next, line: line, cont: cont || i > 0,
			Text: part, hits: Matches(part, terms), Look: whole,
		})
	}
	l.cut(escaped, runs, out)
	return out
}

// drawn is a piece of the body as drawn: its text, the look of the whole, and parts with other looks.
func (l Layout) drawn(t *Page, off int, raw string, cont bool) (string, paint.Look, []paint.Stretch) {
	whole, marked := paint.LookPlain, paint.LookMark
	if t.Kind == Diff {
		whole, marked = diffLooks(t.Body[t.LineStart(off):])
	}
	var parts []paint.Stretch
	for _, m := range t.marksIn(off, off+len(raw)) {
		parts = append(parts, paint.Stretch{Start: m.Start - off, End: m.End - off, Look: marked})
	}
	parts = over(parts, l.matchesIn(t, off, off+len(raw)))
	switch {
	case t.Kind == Diff:
		return raw, whole, parts
	case l.Markdown && off < t.front:
		return raw, paint.LookDim, parts
	case l.Markdown && !cont && len(parts) == 0 && len(raw) < pieceBytes:
		code := t.Fenced(off)
		if !code && tableLine(raw) {
			if g := l.gridAt(t, off); g.widths != nil {
				return l.tableRow(raw, g)
			}
		}
		return MarkdownLine(raw, code, l.St.Esc.ASCII)
	}
	return raw, paint.LookPlain, parts
}

// matchesIn returns the matches in a part of the body, by their place in it, and one that began before.
func (l Layout) matchesIn(t *Page, off, end int) (out []paint.Stretch) {
	if l.needle == nil {
		return nil
	}
	from := max(off-l.needle.reach(), t.LineStart(off))
	for start, stop := range l.needle.each(t.Body, from, end) {
		if stop > off {
			out = append(out, paint.Stretch{Start: max(start, off) - off, End: min(stop, end) - off, Look: l.lookAt(spot{head: len(t.Head), start: start, end: stop})})
		}
	}
	return out
}

// over puts runs in front of others, which keep the rest.
func over(under, top []paint.Stretch) []paint.Stretch {
	if len(top) == 0 || len(under) == 0 {
		return append(under, top...)
	}
	var out []paint.Stretch
	for _, u := range under {
		for _, t := range top {
			if t.End <= u.Start || t.Start >= u.End {
				continue
			}
			if u.Start < t.Start {
				out = append(out, paint.Stretch{Start: u.Start, End: t.Start, Look: u.Look})
			}
			u.Start = t.End
		}
		if u.Start < u.End {
			out = append(out, u)
		}
	}
	out = append(out, top...)
	slices.SortStableFunc(out, func(a, b paint.Stretch) int { return a.Start - b.Start })
	return out
}

// place finds the parts of a raw text in its escaped form.
func (l Layout) place(raw string, escaped safetext.Text, parts []paint.Stretch) []paint.Stretch {
	if raw == escaped.String() {
		return parts
	}
	var out []paint.Stretch
	at := func(i int) int {
		n := min(l.St.Esc.EscapeLine([]byte(raw[:i]), 8).Len(), escaped.Len())
		for n > 0 && n < escaped.Len() && !utf8.RuneStart(escaped.String()[n]) {
			n--
		}
		return n
	}
	for _, p := range parts {
		if r := (paint.Stretch{Start: at(max(p.Start, 0)), End: at(min(p.End, len(raw))), Look: p.Look}); r.Start < r.End {
			out = append(out, r)
		}
	}
	return out
}

// cutRuns returns the runs inside a part of the text, by their place in it.
func cutRuns(runs []paint.Stretch, start, end int) []paint.Stretch {
	var out []paint.Stretch
	for _, r := range runs {
		if s, e := max(r.Start, start), min(r.End, end); s < e {
			out = append(out, paint.Stretch{Start: s - start, End: e - start, Look: r.Look})
		}
	}
	return out
}

// Around lays out the rows above a place and from it on.
func (l Layout) Around(t *Page, at RowRef, before, after int) (rows []Wrapped, index int) {
	l.grid = new(grid)
	var head, body []Wrapped
	off := max(at.Off, 0)
	next, n := off, t.LineAt(off)
	for next < len(t.Body) && len(body) < after+at.sub+1 {
		piece := l.pieceRows(t, next, n)
		if _, after := t.PieceEnd(next); after > 0 && t.Body[after-1] == '\n' {
			n++
		}
		next = piece[0].next
		body = append(body, piece...)
	}
	if next >= len(t.Body) {
		foot := l.lineRows(t.Foot, len(t.Body), len(t.Head)+1)
		for i := range foot {
			foot[i].next, foot[i].line = next, t.Total
		}
		body = append(body, foot...)
	}
	var above [][]Wrapped
	n = 0
	for prev := off; prev > 0 && n < before; {
		prev = t.pieceBefore(prev)
		piece := l.pieceRows(t, prev, t.LineAt(prev))
		above = append(above, piece)
		n += len(piece)
		off = prev
	}
	if off == 0 {
		head = l.lineRows(t.Head, -1, 0)
	}
	rows = head
	for i := len(above) - 1; i >= 0; i-- {
		rows = append(rows, above[i]...)
	}
	rows = append(rows, body...)
	for i, r := range rows {
		if r.At.Off > at.Off || r.At.Off == at.Off && r.At.sub >= at.sub {
			return rows, i
		}
	}
	return rows, max(len(rows)-1, 0)
}

// gutter is the columns of line numbers; a comparison has them in its lines, an excerpt has none.
func gutter(t *Page) int {
	if t.Kind == Diff || t.Kind == Excerpt {
		return 2
	}
	return max(len(strconv.Itoa(t.Total)), 2) + 1
}

// hang is the indent of the further rows of a wrapped line: in a comparison, below the text, not the sign.
func hang(t *Page) int {
	if t.Kind == Diff {
		return 2
	}
	return 0
}

// Fold wraps one line to columns, its marked parts in one look and the rest in another.
func Fold(st *paint.Styles, line string, columns int, rest, marked paint.Look, marks []Mark) []Wrapped {
	l := Layout{St: st}
	escaped := st.Esc.EscapeLine([]byte(line), 8)
	var parts []paint.Stretch
	for _, m := range marks {
		parts = append(parts, paint.Stretch{Start: m.Start, End: m.End, Look: marked})
	}
	if rest != paint.LookPlain {
		parts = over([]paint.Stretch{{End: len(line), Look: rest}}, parts)
	}
	var out []Wrapped
	for _, part := range st.Wrap(escaped, columns) {
		out = append(out, Wrapped{Text: part})
	}
	l.cut(escaped, l.place(line, escaped, parts), out)
	return out
}

// SearchWords are the words of a query to find in texts.
func SearchWords(query string) []string {
	return strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// Matches finds words in a text, case-insensitive.
func Matches(t safetext.Text, words []string) []safetext.Span {
	var n needle
	for _, w := range words {
		n.forms = append(n.forms, newForm(w))
	}
	return n.spans(t)
}
