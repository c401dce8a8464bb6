package text

import (
	"cmp"
	"iter"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/internal/safetext"
)

// needle is the text of a search, case-insensitive: one form, or one for each of several words.
type needle struct{ forms []form }

type form struct {
	runes  []rune   // folded
	firsts []string // all cases of the first
}

// NewNeedle returns nil for an empty search.
func NewNeedle(words string) *needle {
	if words == "" {
		return nil
	}
	return &needle{forms: []form{newForm(words)}}
}

func newForm(s string) form {
	var f form
	for _, r := range s {
		f.runes = append(f.runes, fold(r))
	}
	first, _ := utf8.DecodeRuneInString(s)
	f.firsts = []string{string(first)}
	for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
		f.firsts = append(f.firsts, string(r))
	}
	return f
}

// fold maps all cases of a character to the least of them.
func fold(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case r < utf8.RuneSelf:
		return r
	}
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	return least
}

// endAt is the end of a match that begins at a place; -1 when none does.
func (f form) endAt(s string, at int) int {
	for _, want := range f.runes {
		r, n := utf8.DecodeRuneInString(s[at:])
		if n == 0 || r != want && fold(r) != want {
			return -1
		}
		at += n
	}
	return at
}

// each gives start and end of every match that begins in s[from:limit], in order and without overlaps.
func (n *needle) each(s string, from, limit int) iter.Seq2[int, int] {
	type lead struct {
		form  *form
		first string
		at    int // the next candidate; limit: none
	}
	limit = min(limit, len(s))
	return func(yield func(start, end int) bool) {
		var leads []lead
		for i := range n.forms {
			for _, first := range n.forms[i].firsts {
				leads = append(leads, lead{&n.forms[i], first, from - 1})
			}
		}
		for at := from; at < limit; {
			best := limit
			for i := range leads {
				l := &leads[i]
				if l.at < at {
					l.at = limit
					if k := strings.Index(s[at:min(limit+len(l.first)-1, len(s))], l.first); k >= 0 {
						l.at = at + k
					}
				}
				best = min(best, l.at)
			}
			if best >= limit {
				return
			}
			end := -1
			for _, l := range leads {
				if l.at == best {
					end = max(end, l.form.endAt(s, best))
				}
			}
			switch {
			case end < 0:
				at = best + 1
			case !yield(best, end):
				return
			default:
				at = end
			}
		}
	}
}

// spans are the matches in a text that is ready to be shown.
func (n *needle) spans(t safetext.Text) []safetext.Span {
	var out []safetext.Span
	for start, end := range n.each(t.String(), 0, t.Len()) {
		out = append(out, safetext.Span{Start: start, End: end})
	}
	return out
}

// inLines are the matches in the lines of a head or a foot, numbered from first on.
func (n *needle) inLines(lines []Line, first int) (out []spot) {
	for i, l := range lines {
		for part, value := range []safetext.Text{partName: l.Name, partValue: l.Value} {
			for _, s := range n.spans(value) {
				out = append(out, spot{first + i, part, s.Start, s.End})
			}
		}
	}
	return out
}

// spot is the place of a match: in the name or the value of a line above or below the body, or in the body.
type spot struct {
	head, part int // head is the number of head lines for the body, and goes on from there below it
	start, end int
}

// The parts of a line.
const (
	partName = iota
	partValue
)

func (s spot) before(o spot) bool {
	return cmp.Or(cmp.Compare(s.head, o.head), cmp.Compare(s.part, o.part), cmp.Compare(s.start, o.start)) < 0
}

// finding holds the places of a needle in a text. For the body only a count per block is kept, so
// that the matches of a text of any size take little room. It never changes, so commands may read
// it.
type finding struct {
	text   *Page
	needle *needle
	head   []spot
	foot   []spot
	before []int // matches of the body that begin before each block
	from   []int // first possible match of each block: an earlier one may reach into it
	Total  int
}

// in searches a whole text, so it belongs in a command; nil when stale reports true.
func (n *needle) in(t *Page, stale func() bool) *finding {
	f := &finding{text: t, needle: n, head: n.inLines(t.Head, 0), foot: n.inLines(t.Foot, len(t.Head)+1)}
	count, at := 0, 0
	for block := 0; block < len(t.Body); block += blockBytes {
		if stale() {
			return nil
		}
		at = max(at, block)
		f.before, f.from = append(f.before, count), append(f.from, at)
		for _, end := range n.each(t.Body, at, block+blockBytes) {
			count++
			at = end
		}
	}
	f.Total = len(f.head) + count + len(f.foot)
	return f
}

// ahead counts the matches that begin before a place.
func (f *finding) ahead(at spot) int {
	first := func(all []spot) int { return sort.Search(len(all), func(i int) bool { return !all[i].before(at) }) }
	n := first(f.head)
	switch {
	case at.head > len(f.text.Head):
		return f.Total - len(f.foot) + first(f.foot)
	case at.head < len(f.text.Head), len(f.from) == 0:
		return n
	}
	b := min(at.start/blockBytes, len(f.from)-1)
	n += f.before[b]
	for range f.needle.each(f.text.Body, f.from[b], at.start) {
		n++
	}
	return n
}

// nth is a match by its number, from 0.
func (f *finding) nth(n int) spot {
	if n < len(f.head) {
		return f.head[n]
	}
	if below := n - (f.Total - len(f.foot)); below >= 0 {
		return f.foot[below]
	}
	n -= len(f.head)
	b := sort.Search(len(f.before), func(i int) bool { return f.before[i] > n }) - 1
	n -= f.before[b]
	out := spot{head: len(f.text.Head)}
	for out.start, out.end = range f.needle.each(f.text.Body, f.from[b], (b+1)*blockBytes) {
		if n--; n < 0 {
			break
		}
	}
	return out
}

// reach is the longest possible match, in bytes.
func (n *needle) reach() int {
	most := 0
	for _, f := range n.forms {
		most = max(most, len(f.runes)*utf8.UTFMax)
	}
	return most
}

// rowOf is the piece in which the row of a match is searched.
func (t *Page) rowOf(s spot) RowRef {
	switch {
	case s.head < len(t.Head):
		return Start
	case s.head > len(t.Head):
		return RowRef{Off: len(t.Body)}
	}
	return RowRef{Off: t.pieceNear(t.LineStart(s.start), s.start)}
}
