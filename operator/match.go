package operator

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Match is the filter of a list: words that must all occur, a regular expression, or, after -f, letters that
// must occur in this order. It never fails: an invalid expression is taken for words.
type Match struct {
	filter string
	words  []string
	expr   *regexp.Regexp // instead of words
	fuzzy  string         // instead of both
}

// fuzzyMark begins a filter by letters.
const fuzzyMark = "-f "

// lastMatch caches the filter, which else would be parsed for every row of a list.
var lastMatch atomic.Pointer[Match]

// NewMatch reads a filter.
func NewMatch(filter string) *Match {
	if m := lastMatch.Load(); m != nil && m.filter == filter {
		return m
	}
	m := &Match{filter: filter}
	switch letters, fuzzy := strings.CutPrefix(filter, fuzzyMark); {
	case fuzzy:
		m.fuzzy = strings.ToLower(strings.ReplaceAll(letters, " ", ""))
	case strings.ContainsAny(filter, `^$*+?()[]{}|\`):
		m.expr, _ = regexp.Compile("(?im)" + filter)
	}
	if m.expr == nil && m.fuzzy == "" {
		m.words = strings.Fields(strings.ToLower(filter))
	}
	lastMatch.Store(m)
	return m
}

// Of reports whether a row with these columns matches: words may be in different columns, letters and an
// expression in one.
func (m *Match) Of(columns ...string) bool {
	switch {
	case m.fuzzy != "":
		return slices.ContainsFunc(columns, func(c string) bool { return m.letters(c) != nil })
	case m.expr != nil:
		return slices.ContainsFunc(columns, m.expr.MatchString)
	}
	all := strings.ToLower(strings.Join(columns, "\n"))
	for _, w := range m.words {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}

// Spans are the bytes of a text that match, as pairs of start and end, in order.
func (m *Match) Spans(s string) [][2]int {
	switch {
	case m.fuzzy != "":
		return m.letters(s)
	case m.expr != nil:
		var out [][2]int
		for _, at := range m.expr.FindAllStringIndex(s, -1) {
			if at[0] < at[1] {
				out = append(out, [2]int{at[0], at[1]})
			}
		}
		return out
	}
	low := strings.ToLower(s)
	if len(low) != len(s) { // lower case changes the length, so the places would not fit s
		return nil
	}
	marked := make([]bool, len(s))
	for _, w := range m.words {
		for at := 0; ; {
			i := strings.Index(low[at:], w)
			if i < 0 {
				break
			}
			for j := range len(w) {
				marked[at+i+j] = true
			}
			at += i + len(w)
		}
	}
	var out [][2]int
	for i := 0; i < len(marked); i++ {
		if start := i; marked[i] {
			for i < len(marked) && marked[i] {
				i++
			}
			out = append(out, [2]int{start, i})
		}
	}
	return out
}

// letters are the places of the letters of a fuzzy filter; nil where it does not match.
func (m *Match) letters(s string) [][2]int {
	low := strings.ToLower(s)
	if len(low) != len(s) {
		low = s
	}
	var out [][2]int
	at := 0
	for _, r := range m.fuzzy {
		i := strings.IndexRune(low[at:], r)
		if i < 0 {
			return nil
		}
		_, size := utf8.DecodeRuneInString(low[at+i:]) // a byte that is no UTF-8 is found as U+FFFD
		end := at + i + size
		if n := len(out); n > 0 && out[n-1][1] == at+i {
			out[n-1][1] = end
		} else {
			out = append(out, [2]int{at + i, end})
		}
		at = end
	}
	return out
}
