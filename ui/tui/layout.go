package tui

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/internal/safetext"
)

// place is a row of the wrapped text: a piece of the body by its offset, or the
// head as a whole with off -1, and the row inside it.
type place struct{ off, sub int }

var textStart = place{off: -1}

// wrapped is one row of the screen.
type wrapped struct {
	at     place
	next   int // where the piece after this one starts; the body's length at its end
	line   int // number of the line in the body; 0 in the head
	cont   bool
	label  safetext.Text // of a head field
	labels int           // columns of the labels
	text   safetext.Text
	kind   headKind
	hits   []safetext.Span // matches of the searched words in text
	look   look            // of the whole row, in a body
	runs   []stretch       // parts of text with a look of their own

	head      int       // number of the head line; of no meaning in a body
	labelRuns []stretch // parts of label with a look of their own
	here      bool      // the match that was gone to begins here
}

// found reports whether the row holds something of what is looked for.
func (w wrapped) found() bool {
	is := func(r stretch) bool { return r.look == lookFound || r.look == lookHere }
	return slices.ContainsFunc(w.runs, is) || slices.ContainsFunc(w.labelRuns, is)
}

// layout wraps what surrounds a place: up to before rows above it and after rows
// from it on.
type layout struct {
	st       *styles // a copy of its own: the console may change its styles meanwhile
	width    int
	terms    []string
	markdown bool // bodies are rendered
	needle   *needle
	here     spot  // the match that was gone to; empty: none
	grid     *grid // the table that was drawn last, of one call of around
}

// Labels of head lines share one column as wide as the widest, within limits.
const minLabel, maxLabel = 12, 20

func (l layout) labels(t *text) int {
	w := minLabel
	for _, h := range t.head {
		if h.kind != headBlank && !h.value.IsEmpty() {
			w = max(w, h.name.Width())
		}
	}
	return min(w, maxLabel)
}

func (l layout) headRows(t *text) []wrapped {
	var out []wrapped
	label := l.labels(t)
	for n, h := range t.head {
		first := len(out)
		switch {
		case h.kind == headBlank:
			out = append(out, wrapped{kind: headBlank})
		case h.name.IsEmpty():
			for _, part := range l.st.wrap(h.value, l.width) {
				out = append(out, wrapped{text: part, kind: h.kind})
			}
		default:
			for i, part := range l.st.wrap(h.value, max(l.width-label-1, 8)) {
				w := wrapped{text: part, kind: h.kind, label: safetext.Const(" "), labels: label}
				if i == 0 {
					w.label = h.name
				}
				out = append(out, w)
			}
		}
		for i := first; i < len(out); i++ {
			out[i].head = n
		}
		l.seek(t, n, out[first:])
	}
	for i := range out {
		out[i].at = place{off: -1, sub: i}
		if out[i].kind == headField && l.needle == nil {
			out[i].hits = matches(out[i].text, l.terms)
		}
	}
	return out
}

// seek marks what is looked for in the rows of one head line.
func (l layout) seek(t *text, n int, rows []wrapped) {
	if l.needle == nil || len(rows) == 0 {
		return
	}
	h := t.head[n]
	runs := func(part int, value safetext.Text) (out []stretch) {
		for _, s := range l.needle.spans(value) {
			out = append(out, stretch{s.Start, s.End, l.lookAt(spot{n, part, s.Start, s.End})})
		}
		return out
	}
	rows[0].labelRuns = runs(partName, h.name)
	rows[0].here = slices.ContainsFunc(rows[0].labelRuns, func(r stretch) bool { return r.look == lookHere })
	l.cut(h.value, runs(partValue, h.value), rows)
}

// lookAt is how a match is painted.
func (l layout) lookAt(at spot) look {
	if at == l.here {
		return lookHere
	}
	return lookFound
}

// cut gives each row of a wrapped text its part of the runs.
func (l layout) cut(whole safetext.Text, runs []stretch, rows []wrapped) {
	at, begun := 0, slices.ContainsFunc(rows, func(w wrapped) bool { return w.here })
	for i := range rows {
		part := rows[i].text
		if !strings.HasPrefix(whole.String()[at:], part.String()) {
			at++ // wrapping drops the blank at a break
		}
		rows[i].runs = cutRuns(runs, at, at+part.Len())
		if !begun && slices.ContainsFunc(rows[i].runs, func(r stretch) bool { return r.look == lookHere }) {
			rows[i].here, begun = true, true
		}
		at += part.Len()
	}
}

func (l layout) pieceRows(t *text, off, line int) []wrapped {
	end, next := t.pieceEnd(off)
	raw := t.body[off:end]
	if next > end && strings.HasSuffix(raw, "\r") {
		raw = raw[:len(raw)-1]
	}
	cont := off > 0 && t.body[off-1] != '\n'
	raw, whole, parts := l.drawn(t, off, raw, cont)
	escaped := l.st.esc.EscapeLine([]byte(raw), 8)
	runs := l.place(raw, escaped, parts)
	terms := l.terms
	if l.needle != nil {
		terms = nil // one thing is looked for at a time
	}
	var out []wrapped
	for i, part := range l.st.wrap(escaped, max(l.width-gutter(t), 1)) {
		out = append(out, wrapped{
			at: place{off, i}, next: next, line: line, cont: cont || i > 0,
			text: part, hits: matches(part, terms), look: whole,
		})
	}
	l.cut(escaped, runs, out)
	return out
}

// drawn is what a piece of the body looks like: its text, the look of all of it,
// and parts that look otherwise, by their place in the text.
func (l layout) drawn(t *text, off int, raw string, cont bool) (string, look, []stretch) {
	var parts []stretch
	for _, m := range t.marksIn(off, off+len(raw)) {
		parts = append(parts, stretch{m.start - off, m.end - off, lookMark})
	}
	parts = over(parts, l.matchesIn(t, off, off+len(raw)))
	switch {
	case t.kind == bodyDiff:
		return raw, diffLook(raw, cont), parts
	case l.markdown && off < t.front:
		return raw, lookDim, parts
	case l.markdown && !cont && len(parts) == 0 && len(raw) < pieceBytes:
		code := t.fenced(off)
		if !code && tableLine(raw) {
			if g := l.gridAt(t, off); g.widths != nil {
				return l.tableRow(raw, g)
			}
		}
		return markdownLine(raw, code, l.st.esc.ASCII)
	}
	return raw, lookPlain, parts
}

// matchesIn is what is looked for in a part of the body, by its place in that part. A
// match may begin before the part.
func (l layout) matchesIn(t *text, off, end int) (out []stretch) {
	if l.needle == nil {
		return nil
	}
	from := max(off-l.needle.reach(), t.lineStart(off))
	l.needle.each(t.body, from, end, func(start, stop int) bool {
		if stop > off {
			out = append(out, stretch{max(start, off) - off, min(stop, end) - off, l.lookAt(spot{head: len(t.head), start: start, end: stop})})
		}
		return true
	})
	return out
}

// over puts runs in front of others, which keep what is left.
func over(under, top []stretch) []stretch {
	if len(top) == 0 || len(under) == 0 {
		return append(under, top...)
	}
	var out []stretch
	for _, u := range under {
		for _, t := range top {
			if t.end <= u.start || t.start >= u.end {
				continue
			}
			if u.start < t.start {
				out = append(out, stretch{u.start, t.start, u.look})
			}
			u.start = t.end
		}
		if u.start < u.end {
			out = append(out, u)
		}
	}
	out = append(out, top...)
	slices.SortStableFunc(out, func(a, b stretch) int { return a.start - b.start })
	return out
}

// place finds the parts of a raw text in its escaped form.
func (l layout) place(raw string, escaped safetext.Text, parts []stretch) []stretch {
	if raw == escaped.String() {
		return parts
	}
	var out []stretch
	at := func(i int) int {
		n := min(l.st.esc.EscapeLine([]byte(raw[:i]), 8).Len(), escaped.Len())
		for n > 0 && n < escaped.Len() && !utf8.RuneStart(escaped.String()[n]) {
			n--
		}
		return n
	}
	for _, p := range parts {
		if r := (stretch{at(max(p.start, 0)), at(min(p.end, len(raw))), p.look}); r.start < r.end {
			out = append(out, r)
		}
	}
	return out
}

// cutRuns are the runs inside of a part of the text, by their place in it.
func cutRuns(runs []stretch, start, end int) []stretch {
	var out []stretch
	for _, r := range runs {
		if s, e := max(r.start, start), min(r.end, end); s < e {
			out = append(out, stretch{s - start, e - start, r.look})
		}
	}
	return out
}

// around lays out the rows above and from a place on.
func (l layout) around(t *text, at place, before, after int) (rows []wrapped, index int) {
	l.grid = new(grid)
	var head, body []wrapped
	off := max(at.off, 0)
	line := t.lineAt(off)
	for next, n := off, line; next < len(t.body) && len(body) < after+at.sub+1; {
		piece := l.pieceRows(t, next, n)
		if _, after := t.pieceEnd(next); after > 0 && t.body[after-1] == '\n' {
			n++
		}
		next = piece[0].next
		body = append(body, piece...)
	}
	var above [][]wrapped
	n := 0
	for prev := off; prev > 0 && n < before; {
		prev = t.pieceBefore(prev)
		piece := l.pieceRows(t, prev, t.lineAt(prev))
		above = append(above, piece)
		n += len(piece)
		off = prev
	}
	if off == 0 {
		head = l.headRows(t)
	}
	rows = head
	for i := len(above) - 1; i >= 0; i-- {
		rows = append(rows, above[i]...)
	}
	rows = append(rows, body...)
	for i, r := range rows {
		if r.at.off > at.off || r.at.off == at.off && r.at.sub >= at.sub {
			return rows, i
		}
	}
	return rows, max(len(rows)-1, 0)
}

// gutter is the room for line numbers left of a body.
func gutter(t *text) int { return max(len(strconv.Itoa(t.total)), 2) + 1 }

// searchWords are the words of a query that are looked for in texts.
func searchWords(query string) []string {
	return strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// matches finds words in a text without regard to case. Where folding changes
// the length of the text, only ASCII is folded.
func matches(t safetext.Text, words []string) []safetext.Span {
	if len(words) == 0 || t.IsEmpty() {
		return nil
	}
	s := strings.ToLower(t.String())
	if len(s) != t.Len() {
		s = strings.Map(func(r rune) rune {
			if r < 0x80 {
				return unicode.ToLower(r)
			}
			return r
		}, t.String())
	}
	var out []safetext.Span
	for at := 0; at < len(s); {
		start, end := -1, 0
		for _, w := range words {
			if i := strings.Index(s[at:], w); i >= 0 && (start < 0 || at+i < start || at+i == start && at+i+len(w) > end) {
				start, end = at+i, at+i+len(w)
			}
		}
		if start < 0 {
			break
		}
		out = append(out, safetext.Span{Start: start, End: end})
		at = end
	}
	return out
}
