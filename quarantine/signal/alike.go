package signal

import (
	"slices"
	"strings"
)

const (
	alikeFrom = 0.5 // the part of words that two texts of one family share
	sameFrom  = 0.8 // and two that say the same of others
)

// Alike reports whether two texts are of one family: half of their words or more
// are the same, numbers and addresses left out.
func Alike(a, b string) bool {
	x, y := bag(a), bag(b)
	if len(x) == 0 || len(y) == 0 {
		return a == b
	}
	return likeness(x, y) >= alikeFrom
}

// likeness is the part of the words of two bags that both have.
func likeness(x, y map[uint64]bool) float64 {
	both := 0
	for h := range x {
		if y[h] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(x)+len(y)-both))
}

func bag(text string) map[uint64]bool {
	words := map[uint64]bool{}
	for _, w := range split(text, nil) {
		if w.shape&(number|address) == 0 {
			words[w.hash] = true
		}
	}
	return words
}

// The most sentences that are compared of a text and of another, and the fewest words of a
// statement.
const (
	mostStatements = 32
	fewestWords    = 5
)

// codeMarks are characters of code, tables and headings, which share words without being about
// the same.
const codeMarks = "=_(){}[]|#<>`\\\t"

// statement is one sentence to compare: its words without the values that it says something
// with, and those values by kind.
type statement struct {
	all                       []uint64
	frame                     map[uint64]bool
	numbers, addresses, names map[uint64]bool
	negated                   bool
	start, end                int
	pairs                     []string // of words in a row, the longest first
}

// Statements are the sentences of a text that say enough to be compared with others.
type Statements []statement

// StatementsOf are the first sentences of a text.
func StatementsOf(text string) Statements {
	words := split(text, nil)
	var out Statements
	for _, at := range sentences(words) {
		if at.to-at.from < fewestWords || strings.ContainsAny(text[words[at.from].start:words[at.to-1].end], codeMarks) {
			continue
		}
		s := statement{frame: map[uint64]bool{}, numbers: map[uint64]bool{}, addresses: map[uint64]bool{}, names: map[uint64]bool{},
			start: words[at.from].start, end: words[at.to-1].end}
		for i, w := range words[at.from:at.to] {
			if i > 0 && words[at.from+i-1].shape&(number|address) == 0 && w.shape&(number|address) == 0 && text[words[at.from+i-1].end:w.start] == " " {
				s.pairs = append(s.pairs, text[words[at.from+i-1].start:w.end])
			}
			s.all = append(s.all, w.hash)
			switch {
			case w.shape&address != 0:
				s.addresses[w.hash] = true
			case w.shape&number != 0:
				s.numbers[w.hash] = true
			case w.shape&opens == 0 && w.shape&(capital|inner) != 0:
				s.names[w.hash] = true
			case shippedTable().get(w.hash).says&negation != 0:
				s.negated = !s.negated
			default:
				s.frame[w.hash] = true
			}
		}
		slices.SortStableFunc(s.pairs, func(a, b string) int { return len(b) - len(a) })
		if out = append(out, s); len(out) == mostStatements {
			break
		}
	}
	return out
}

// queryPairs is how many pairs of words of a statement are asked for.
const queryPairs = 2

// Queries are at most n pairs of words to find what else is said about the same: words in a
// row, so that a store finds them whether it looks for each word or for the whole.
func (s Statements) Queries(n int) []string {
	var out []string
	for _, one := range s {
		for _, pair := range one.pairs[:min(queryPairs, len(one.pairs))] {
			if len(out) == n {
				return out
			}
			out = append(out, pair)
		}
	}
	return out
}

// Contradicts reports whether a sentence of s says of the same matter something else than a
// sentence of older does: another number, address or name, the opposite, or one other word in
// its place. start and end are its bytes.
func (s Statements) Contradicts(older Statements) (start, end int, ok bool) {
	for i := range s {
		for k := range older {
			if s[i].contradicts(&older[k]) {
				return s[i].start, s[i].end, true
			}
		}
	}
	return 0, 0, false
}

const (
	matterFrom = 0.6  // the part of words that two statements about the same matter share
	denialFrom = 0.75 // and a statement with its denial
)

func (s *statement) contradicts(o *statement) bool {
	like := likeness(s.frame, o.frame)
	switch {
	case len(s.frame) < fewestWords-2 || len(o.frame) < fewestWords-2:
		return false
	case s.negated != o.negated:
		return like >= denialFrom
	case like >= matterFrom && apart(s.names, o.names):
		return true
	case like >= denialFrom && !lacks(s.names, o.names) && !lacks(o.names, s.names) && (apart(s.numbers, o.numbers) || apart(s.addresses, o.addresses)):
		return true
	}
	if len(s.all) != len(o.all) || s.all[0] != o.all[0] { // another subject
		return false
	}
	other := 0
	for i := range s.all {
		if s.all[i] != o.all[i] {
			other++
		}
	}
	return other == 1
}

// apart reports whether each of two sets has a value that the other has not.
func apart(a, b map[uint64]bool) bool { return lacks(a, b) && lacks(b, a) }

func lacks(a, b map[uint64]bool) bool {
	for h := range b {
		if !a[h] {
			return true
		}
	}
	return false
}

// SameOfOthers reports whether two texts say the same, their names, numbers and addresses
// left out, and a sum of the names, by which those that are about others are told apart.
func SameOfOthers(a, b string) (same bool, names uint64) {
	x, _ := nameless(a)
	y, names := nameless(b)
	return len(x) >= fewestWords && likeness(x, y) >= sameFrom, names
}

func nameless(text string) (frame map[uint64]bool, names uint64) {
	frame = map[uint64]bool{}
	for _, w := range split(text, nil) {
		switch {
		case w.shape&(number|address) != 0:
		case w.shape&(capital|inner) != 0:
			names += w.hash * fnvPrime // in any order
		default:
			frame[w.hash] = true
		}
	}
	return frame, names
}
