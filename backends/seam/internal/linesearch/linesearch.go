// Package linesearch searches texts line by line as an agent's recall does, case-insensitive, and ranks the
// hits. It opens no file.
package linesearch

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// Scores of the two sorts of match. They rank within one store only (R24).
const (
	scorePhrase = 1.0 // the line holds the query as it was typed
	scoreTerms  = 0.5 // the line holds every word of it
)

// Query is a search as it was typed, and its words, folded.
type Query struct {
	phrase string
	terms  []string
	rare   []int // the place of each term's rarest byte
	grams  []uint32
}

// New is InvalidInput for a blank query (R19).
func New(q string) (Query, error) {
	q = snippet.Fold(strings.ToValidUTF8(q, "\uFFFD"))
	out := Query{phrase: strings.TrimSpace(q), terms: strings.Fields(q)}
	if len(out.terms) == 0 {
		return out, model.Errorf(model.InvalidInput, "recall", "the query is blank")
	}
	out.rare, out.grams = rarest(out.terms), grams(out.terms)
	return out, nil
}

// Whole is a search for the text as it was typed, in any letter case.
func Whole(q string) Query {
	q = snippet.Fold(q)
	terms := []string{q}
	return Query{phrase: q, terms: terms, rare: rarest(terms), grams: grams(terms)}
}

// word reports whether the query is one word: every text that holds it has a line that does, of the best score.
func (q Query) word() bool { return len(q.terms) == 1 }

// Any is a search for any of several words, in small letters, beside an index that takes accented letters for
// plain ones: of a word or a text beyond ASCII only that index can tell.
type Any struct {
	words []string
	rare  []int
	all   bool // a word is beyond ASCII
}

// AnyOf is a search for any of the words.
func AnyOf(words []string) Any {
	return Any{words, rarest(words), slices.ContainsFunc(words, func(w string) bool { return !isASCII(w) })}
}

// In reports whether a text can hold one of the words. plain: the text is ASCII.
func (a Any) In(text []byte) (found, plain bool) {
	buf := lowered.Get().(*[]byte)
	defer lowered.Put(buf)
	low := slices.Grow((*buf)[:0], len(text))[:len(text)]
	*buf = low
	if plain = lowerASCII(low, text); !plain || a.all {
		return true, plain
	}
	for i, w := range a.words {
		if contains(low, w, a.rare[i]) {
			return true, true
		}
	}
	return false, true
}

// lowered are buffers for lower-case texts.
var lowered = sync.Pool{New: func() any { return new([]byte) }}

// In reports whether a text holds every word. It dismisses most texts
// without an allocation.
func (q Query) In(text []byte) bool {
	buf := lowered.Get().(*[]byte)
	defer lowered.Put(buf)
	low := slices.Grow((*buf)[:0], len(text))[:len(text)]
	*buf = low
	plain := lowerASCII(low, text)
	var full []byte
	for i, t := range q.terms {
		if isASCII(t) && contains(low, t, q.rare[i]) {
			continue
		}
		// Only the full folding decides: the word holds more than ASCII, or the text one of the other characters
		// that fold to an ASCII letter.
		if plain || isASCII(t) && !slices.ContainsFunc(likeASCII, func(c []byte) bool { return bytes.Contains(text, c) }) {
			return false
		}
		if full == nil {
			full = fold(text)
		}
		if !bytes.Contains(full, []byte(t)) {
			return false
		}
	}
	return true
}

// likeASCII are the characters beyond ASCII that fold to one of its letters: k, i, i, s.
var likeASCII = [][]byte{[]byte("\u212a"), []byte("\u0130"), []byte("\u0131"), []byte("\u017f")}

// fold makes texts equal that differ only in letter case: a word in capitals has another lower case than the
// word itself where that ends in a Greek sigma.
func fold(text []byte) []byte { return []byte(snippet.Fold(string(text))) }

// folded is snippet.Fold, faster for ASCII.
func folded(text string) string {
	buf := lowered.Get().(*[]byte)
	defer lowered.Put(buf)
	*buf = append((*buf)[:0], text...)
	if !lowerASCII(*buf, *buf) {
		return snippet.Fold(text)
	}
	return string(*buf)
}

// byRarity are the usual characters of a text, the rarest first. All others count as rarer.
const byRarity = "zqxjkvbpygfwmucldrhsnioate "

func rarest(terms []string) []int {
	out := make([]int, len(terms))
	for i, t := range terms {
		for at := range len(t) {
			if strings.IndexByte(byRarity, t[at]) < strings.IndexByte(byRarity, t[out[i]]) {
				out[i] = at
			}
		}
	}
	return out
}

// contains is bytes.Contains by the place of the word's rarest byte: it stops there only, not at each of the
// word's first one.
func contains(text []byte, word string, rare int) bool {
	if word == "" {
		return true
	}
	for at := rare; at < len(text); at++ {
		next := bytes.IndexByte(text[at:], word[rare])
		if next < 0 {
			return false
		}
		at += next
		if rest := text[at-rare:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			return true
		}
	}
	return false
}

// lowerASCII copies text into low, of the same length or text itself, with ASCII letters in lower case: eight
// bytes at a time. plain: the text is ASCII.
func lowerASCII(low, text []byte) (plain bool) {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	var all uint64
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		all |= w
		seven := w &^ high
		upper := (seven + (0x80-'A')*ones) &^ (seven + (0x7f-'Z')*ones) &^ w & high // A to Z
		binary.LittleEndian.PutUint64(low[i:], w|upper>>2)
	}
	for ; i < len(text); i++ {
		c := text[i]
		all |= uint64(c)
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return all&high == 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Lines gives a hit, without its item, for every line that holds every word. Of each score it gives as many as an answer has:
// a file may have a million such lines. In says at less cost whether there can be one. The hits keep nothing of the text.
func (q Query) Lines(text string) []model.RecallSnippet {
	rest := folded(text)
	var out []model.RecallSnippet
	n, whole, parts := 0, 0, 0
	for whole < model.RecallLimit {
		first := strings.Index(rest, q.terms[0])
		if first < 0 {
			break
		}
		for range strings.Count(rest[:first], "\n") { // a folded line is a line too
			n, text = n+1, text[strings.IndexByte(text, '\n')+1:]
		}
		var low, line string
		low, rest, _ = strings.Cut(rest[strings.LastIndexByte(rest[:first], '\n')+1:], "\n")
		line, text, _ = strings.Cut(text, "\n")
		n++
		at, score := q.place(low)
		if at < 0 {
			continue
		}
		if score == scorePhrase {
			whole++
		} else if parts++; parts > model.RecallLimit {
			continue
		}
		line = strings.Clone(window(strings.TrimRight(line, "\r"), utf8.RuneCountInString(low[:at])))
		out = append(out, model.RecallSnippet{Snippet: line, Line: n, Score: score})
	}
	return out
}

// Piece gives one hit, without its item, for a text of several lines that holds every word
// anywhere. The hit's line is that of the match.
func (q Query) Piece(text string) (hit model.RecallSnippet, ok bool) {
	low := folded(text)
	at, score := q.place(low)
	if at < 0 {
		return model.RecallSnippet{}, false
	}
	return model.RecallSnippet{Snippet: window(text, utf8.RuneCountInString(low[:at])), Line: 1 + strings.Count(low[:at], "\n"), Score: score}, true
}

// place is the position of the query in a folded text, as typed or by its first word, with the score;
// -1 when a word is missing.
func (q Query) place(low string) (at int, score float64) {
	if at = strings.Index(low, q.phrase); at >= 0 || len(q.terms) == 1 && q.terms[0] == q.phrase {
		return at, scorePhrase
	}
	return q.allTerms(low), scoreTerms
}

// allTerms is the position of the first term, or -1 when a term is missing.
func (q Query) allTerms(low string) int {
	first := -1
	for i, t := range q.terms {
		at := strings.Index(low, t)
		if at < 0 {
			return -1
		}
		if i == 0 {
			first = at
		}
	}
	return first
}

// window cuts at most SnippetRunes out of a text around the rune at, on rune
// boundaries (R23). Folding keeps the number of runes, so a place in a folded text is a
// place in the text.
func window(text string, at int) string {
	if utf8.RuneCountInString(text) <= model.SnippetRunes {
		return text
	}
	runes := []rune(text)
	from := min(max(0, at-model.SnippetRunes/4), len(runes)-model.SnippetRunes)
	return string(runes[from : from+model.SnippetRunes])
}

// Ranking collects hits and counts unsearched files. It is not safe for concurrent use, except for Found.
type Ranking struct {
	Query       Query
	Limit       int
	Lines       func(text string) []model.RecallSnippet // the lines of a text that are hits
	Quarantined []string
	TooBig      int // files
	Unreadable  int // files and directories

	hits  []hit
	total int64
	floor time.Time // of the last hit of a full answer, if that has the best score
}

// hit is a match with its rank data.
type hit struct {
	model.RecallSnippet
	modified time.Time
	text     string // of an item whose lines Result cuts; empty: the snippet is a line already
}

// maxHeld bounds a text that is held for its lines, in bytes.
const maxHeld = 16 << 10

// Found gives the lines of a text in which Query.In is true, and whether it has any. Those of one word are found
// later, by Result: most texts that hold it are not in the answer.
func (r *Ranking) Found(text string) (lines []model.RecallSnippet, ok bool) {
	if r.Query.word() && len(text) <= maxHeld {
		return nil, true
	}
	lines = r.Lines(text)
	return lines, len(lines) > 0
}

// Add takes an item, its text and what Found gave. It copies what it keeps of the text.
func (r *Ranking) Add(id string, modified time.Time, text string, lines []model.RecallSnippet) {
	r.total++
	if lines == nil {
		if modified.Before(r.floor) {
			return
		}
		r.hits = append(r.hits, hit{model.RecallSnippet{ID: id, Score: scorePhrase}, modified, strings.Clone(text)})
	}
	r.add(id, modified, lines)
	if len(r.hits) > 4*model.RecallLimit { // keep the best only: a million hits cost as much as twenty
		r.rank()
	}
}

func (r *Ranking) add(id string, modified time.Time, lines []model.RecallSnippet) {
	for _, h := range lines {
		h.ID, h.Source = id, id
		r.hits = append(r.hits, hit{RecallSnippet: h, modified: modified})
	}
}

func (r *Ranking) rank() {
	slices.SortFunc(r.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.modified.Compare(a.modified),
			strings.Compare(a.ID, b.ID), cmp.Compare(a.Line, b.Line))
	})
	r.hits = r.hits[:min(len(r.hits), r.Limit)]
	if n := len(r.hits); n == r.Limit && r.hits[n-1].Score == scorePhrase {
		r.floor = r.hits[n-1].modified
	}
}

// Result is the ranked answer. limit is the size, in bytes, above which a file is not searched.
func (r *Ranking) Result(limit int64) model.RecallResult {
	r.rank()
	best := r.hits
	r.hits = nil
	for _, h := range best {
		if h.text == "" {
			r.hits = append(r.hits, h)
			continue
		}
		r.add(h.ID, h.modified, r.Lines(h.text))
	}
	r.rank()
	out := model.RecallResult{Hits: []model.RecallSnippet{}, Quarantined: r.Quarantined, Total: r.total}
	for _, h := range r.hits {
		out.Hits = append(out.Hits, h.RecallSnippet)
	}
	Bound(&out, r.TooBig, r.Unreadable, limit)
	return out
}

// Bound adds to a result the unsearched parts: files over a limit in bytes, and unreadable files and
// directories.
func Bound(out *model.RecallResult, tooBig, unreadable int, limit int64) {
	add := func(n int, what string) {
		if n == 0 {
			return
		}
		if out.BoundNote != "" {
			out.BoundNote += "; "
		}
		out.Bounded, out.BoundNote = true, out.BoundNote+fmt.Sprintf("%d files %s", n, what)
	}
	add(tooBig, fmt.Sprintf("over %d MiB were not searched", limit>>20))
	add(unreadable, "or directories could not be read")
}
