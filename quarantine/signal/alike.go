package signal

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

const (
	alikeFrom = 0.5 // share of words that two texts of one family have in common
	sameFrom  = 0.8 // and two that say the same about different names
)

// Bag is a text's words, numbers and addresses left out.
type Bag struct {
	text  string
	words map[uint64]bool
}

// BagOf reads a text once, for comparisons with many others.
func BagOf(text string) Bag {
	words := map[uint64]bool{}
	for _, w := range split(text, nil) {
		if w.shape&(number|address) == 0 {
			words[w.hash] = true
		}
	}
	return Bag{text, words}
}

// Alike reports whether two texts are of one family: at least half of their words are the same.
func (b Bag) Alike(o Bag) bool {
	if len(b.words) == 0 || len(o.words) == 0 {
		return b.text == o.text
	}
	return likeness(b.words, o.words) >= alikeFrom
}

// Family finds bags that are alike among many. The zero value is empty.
type Family struct {
	bags  []Bag
	with  map[uint64][]int // bags by word
	plain map[string]int   // bags without words, by text
}

// mostAlike bounds with how many bags one is compared: whoever writes the texts may choose words that many share.
const mostAlike = 100

// Of returns the number of the first bag that is alike, and adds the bag where there is none.
func (f *Family) Of(b Bag) (n int, found bool) {
	if n, found = f.plain[b.text]; found {
		return n, true
	}
	// Of two alike bags each has half of its words in the other, so one of any larger part of its words too.
	words := slices.SortedFunc(maps.Keys(b.words), func(x, y uint64) int {
		return cmp.Or(cmp.Compare(len(f.with[x]), len(f.with[y])), cmp.Compare(x, y))
	})
	seen := map[int]bool{}
	for _, w := range words[:min(len(words)/2+1, len(words))] {
		with := f.with[w]
		for _, n := range with[:min(len(with), mostAlike-len(seen))] {
			seen[n] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(seen)) {
		if f.bags[n].Alike(b) {
			return n, true
		}
	}
	n = len(f.bags)
	f.bags = append(f.bags, b)
	if f.with == nil {
		f.with, f.plain = map[uint64][]int{}, map[string]int{}
	}
	if len(words) == 0 {
		f.plain[b.text] = n
	}
	for _, w := range words {
		f.with[w] = append(f.with[w], n)
	}
	return n, false
}

// likeness is the share of words that two bags have in common.
func likeness(x, y map[uint64]bool) float64 {
	both := 0
	for h := range x {
		if y[h] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(x)+len(y)-both))
}

// The most sentences of each text that are compared, and the fewest words of a statement.
const (
	mostStatements = 32
	fewestWords    = 5
)

// codeMarks are characters of code, tables and headings, which share words without a common topic.
const codeMarks = "=_(){}[]|#<>→`\\\t"

// statement is one sentence to compare.
type statement struct {
	words      []said
	start, end int
	pairs      []string // of consecutive words, the longest first
}

// said is one word of a statement.
type said struct {
	hash    uint64
	kind    shape // number, address, name or a plain word
	negates bool
	links   bool // links a subject before it with a value after it
}

// Statements are the sentences of a text that are long enough for a comparison.
type Statements []statement

// StatementsOf are the first sentences of a text.
func StatementsOf(text string) Statements {
	words := split(text, nil)
	var out Statements
	for _, at := range sentences(words, nil) {
		if at.to-at.from < fewestWords || strings.ContainsAny(text[words[at.from].start:words[at.to-1].end], codeMarks) {
			continue
		}
		s := statement{start: words[at.from].start, end: words[at.to-1].end}
		for i, w := range words[at.from:at.to] {
			if i > 0 && words[at.from+i-1].shape&(number|address) == 0 && w.shape&(number|address) == 0 && text[words[at.from+i-1].end:w.start] == " " {
				s.pairs = append(s.pairs, text[words[at.from+i-1].start:w.end])
			}
			says := shippedTable().get(w.hash).says
			one := said{hash: w.hash, kind: w.shape & (number | address), negates: says&negation != 0}
			colon := w.shape&heading != 0 && at.from+i+1 < at.to && words[at.from+i+1].shape&heading == 0
			one.links = i > 0 && says&link != 0 || i+1 >= subjectWords && colon
			if one.kind != 0 { // a stem is not enough
				one.hash = fnvOffset
				for _, c := range []byte(text[w.start:w.end]) {
					one.hash = addByte(one.hash, c)
				}
			}
			if one.kind == 0 && w.shape&(capital|inner) != 0 {
				one.kind = capital
			}
			s.words = append(s.words, one)
		}
		slices.SortStableFunc(s.pairs, func(a, b string) int { return len(b) - len(a) })
		if out = append(out, s); len(out) == mostStatements {
			break
		}
	}
	return out
}

// queryPairs is how many word pairs of a statement are queried.
const queryPairs = 2

// Queries are at most n pairs of words that find related statements: consecutive words, so that a store finds
// them whether it searches for each word or for the phrase.
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

// Contradicts reports whether a sentence of s gives an attribute another value than a sentence of older does,
// or denies it. start and end are the sentence's bytes.
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
	subjectWords = 3 // the fewest words before a value: subject and attribute
	linkReach    = 3 // largest distance of the linking word from its value
	valueWords   = 2 // the most words of a value
	denialWords  = 2 // and of a denial, as in "do not"
)

// contradicts compares word by word: all words are equal except the value after a linking word, or one
// negation.
func (s *statement) contradicts(o *statement) bool {
	a, b, before, link := s.words, o.words, 0, -1-linkReach
	for len(a) > 0 && len(b) > 0 && a[0].hash == b[0].hash {
		if a[0].links {
			link = before
		}
		a, b, before = a[1:], b[1:], before+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].hash == b[len(b)-1].hash {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		more := slices.Concat(a, b)
		return len(more) <= denialWords && slices.ContainsFunc(more, func(w said) bool { return w.negates })
	case before < subjectWords || before-link > linkReach || len(a) > valueWords || len(b) > valueWords:
		return false
	}
	return a[len(a)-1].kind == b[len(b)-1].kind
}

// SameOfOthers reports whether another text equals text without their names, numbers and addresses, and returns a
// hash of its names, which shows whether they concern others. It reads text once, for many others.
func SameOfOthers(text string) func(other string) (same bool, names uint64) {
	x, _ := nameless(text)
	return func(other string) (bool, uint64) {
		y, names := nameless(other)
		return len(x) >= fewestWords && likeness(y, x) >= sameFrom, names
	}
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
