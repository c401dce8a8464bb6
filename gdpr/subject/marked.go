package subject

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// In the bytes of a medium a name that bears marks which the identifier has not, or
// lacks some that it has, is looked for by its marked letters, in UTF-8 and in escapes
// of JSON: the word in which one stands must be one of the name's, letter by letter.

// markedWords are the words of names in Latin letters, without marks.
type markedWords struct {
	words []string
	first [utf8.RuneSelf]bool // the letters that they are made of
	// pairs are the two bytes with which such a letter begins that has a mark, or a mark,
	// by their last six bits.
	pairs [64][64]bool
	// before and behind are the bytes that may stand beside such a letter: letters of the
	// words, what parts words, and the ends and beginnings of other marked letters and of
	// what shows nothing.
	before, behind [256]bool
}

// markedOf are those of all names; nil where there are none.
func markedOf(terms []term) *markedWords {
	var out markedWords
	for _, t := range terms {
		if len(t.plain) == 0 || !isASCII(t.plain[0]) {
			continue
		}
		for _, w := range strings.Fields(t.plain[0]) {
			if !slices.Contains(out.words, w) {
				out.words = append(out.words, w)
			}
			for i := range len(w) {
				out.first[w[i]] = true
			}
		}
	}
	if out.words == nil {
		return nil
	}
	for c := range out.before {
		switch {
		case c < utf8.RuneSelf:
			ok := !wordByte(byte(c)) || c == '_' || out.first[lower(byte(c))]
			out.before[c], out.behind[c] = ok || c >= '0' && c <= '9', ok // the end of an escape, too
		default:
			out.before[c], out.behind[c] = c < 0xc0, c >= 0xc2 && c <= 0xcd || c == 0xe1 || c == 0xe2
		}
	}
	for r := rune(0xc0); r < 0x1f00; r++ {
		if r == 0x370 {
			r = 0x1e00
		}
		if s, ok := letterOf(r); ok && (s == "" && r >= 0x300 && r < 0x370 || s != "" && out.first[s[0]]) {
			b := string(r)
			out.pairs[b[0]&0x3f][b[1]&0x3f] = true
		}
	}
	return &out
}

// plainLetters are the letters of U+00C0 to U+024F folded, without their marks; empty
// for what is none, or is not ASCII then.
var plainLetters = func() (out [0x250 - 0xc0]string) {
	for i := range out {
		if s := unmark(fold(string(rune(0xc0 + i))).text).text; s != "" && isASCII(s) && s[0] >= 'a' && s[0] <= 'z' {
			out[i] = s
		}
	}
	return out
}()

// asciiLetters are the ASCII characters folded.
var asciiLetters = func() (out [utf8.RuneSelf]string) {
	for i := range out {
		out[i] = string(rune(lower(byte(i))))
	}
	return out
}()

// letterOf is a character of a name's word without its mark: empty for a mark itself,
// and for what shows nothing. false for what belongs to no word.
func letterOf(r rune) (string, bool) {
	switch {
	case r < utf8.RuneSelf:
		return asciiLetters[r], true
	case r >= 0xc0 && r < 0x250:
		return plainLetters[r-0xc0], plainLetters[r-0xc0] != ""
	case r >= 0x300 && r < 0x370, ignorable(r):
		return "", true
	case r >= 0x1e00 && r < 0x1f00: // Latin Extended Additional
		s := unmark(foldOf(r).text).text
		return s, isASCII(s)
	}
	return "", false
}

// runeAt is the character at b[i], or the one that an escape of JSON stands for there.
func runeAt(b []byte, i int) (rune, int) {
	if b[i] == '\\' && i+6 <= len(b) && b[i+1] == 'u' {
		if r, n := escape(string(b[i : i+6])); n > 0 {
			return r, n
		}
	}
	return utf8.DecodeRune(b[i:])
}

func runeBefore(b []byte, i int) (rune, int) {
	if i >= 6 && b[i-6] == '\\' && b[i-5] == 'u' {
		if r, n := escape(string(b[i-6 : i])); n > 0 {
			return r, n
		}
	}
	return utf8.DecodeLastRune(b[max(0, i-utf8.UTFMax):i])
}

// reads reports whether the word at b[i:] goes on with some letters, and readsBack
// whether what ends at i does so with others.
func reads(b []byte, i int, want string) bool {
	for want != "" {
		if i >= len(b) {
			return false
		}
		r, n := runeAt(b, i)
		s, ok := letterOf(r)
		if !ok || !strings.HasPrefix(want, s) {
			return false
		}
		want, i = want[len(s):], i+n
	}
	return true
}

func readsBack(b []byte, i int, want string) bool {
	for want != "" {
		if i <= 0 {
			return false
		}
		r, n := runeBefore(b, i)
		s, ok := letterOf(r)
		if !ok || !strings.HasSuffix(want, s) {
			return false
		}
		want, i = want[:len(want)-len(s)], i-n
	}
	return true
}

// at reports whether a marked letter stands at b[i:] in one of the words.
func (w *markedWords) at(b []byte, i int) bool {
	r, n := runeAt(b, i)
	s, ok := letterOf(r)
	if !ok || s != "" && !w.first[s[0]] || s == "" && (r < 0x300 || r >= 0x370) {
		return false
	}
	for _, word := range w.words {
		if s == "" { // a mark that stands by itself belongs to the letter before it
			for k := 1; k <= len(word); k++ {
				if readsBack(b, i, word[:k]) && reads(b, i+n, word[k:]) {
					return true
				}
			}
			continue
		}
		for k := 0; k < len(word); k++ {
			if strings.HasPrefix(word[k:], s) && reads(b, i+n, word[k+len(s):]) && readsBack(b, i, word[:k]) {
				return true
			}
		}
	}
	return false
}

// inMarked finds what begins in b[from:limit].
func (m *Matcher) inMarked(hits []Hit, b []byte, from, limit int, isBinary bool, friends *Friends) []Hit {
	if m.marked == nil {
		return hits
	}
	var known []Hit // in no order: one thing after the other is looked for
	m.marked.each(b[:min(len(b), limit+MaxTerm)], from, isBinary, func(i int) {
		over := func(h Hit) bool { return h.Start <= i && i < h.End }
		if slices.ContainsFunc(known[max(0, len(known)-8):], over) || !m.marked.at(b, i) {
			return
		}
		if h, ok := m.markedAt(b, i, isBinary, friends); ok && !slices.ContainsFunc(known[max(0, len(known)-8):], func(o Hit) bool { return o.Start == h.Start }) {
			known = append(known, h)
		}
	})
	return append(hits, known...)
}

// blockSize is how much is looked at for one thing after the other: it stays close to
// the processor meanwhile.
const blockSize = 2 << 10

// every are the first bytes of such letters in UTF-8, and common those of European
// languages. Bytes at random hold each of them everywhere: in a binary medium the common
// ones alone are looked for, and not among bytes at random.
var every, common = []byte{0xc3, 0xc4, 0xc5, 0xcc, 0xc6, 0xc7, 0xc8, 0xc9, 0xcd, 0xe1}, []byte{0xc3, 0xc4, 0xc5, 0xcc}

// each yields where a letter of the words with a mark, or a mark, may stand, in UTF-8 or
// as an escape of JSON.
func (w *markedWords) each(b []byte, from int, isBinary bool, yield func(i int)) {
	leads := every
	if isBinary {
		leads = common
	}
	for ; from < len(b); from += blockSize {
		part := b[from:min(len(b), from+blockSize)]
		for at := 0; ; at++ {
			n := bytes.IndexByte(part[at:], '\\')
			if n < 0 {
				break
			}
			if at += n; from+at+6 <= len(b) && b[from+at+1] == 'u' && (b[from+at+2] == '0' || b[from+at+2] == '1') {
				yield(from + at)
			}
		}
		for at := 0; at < len(part); at += runSize {
			if run := part[at:min(len(part), at+runSize)]; !lowBytes(run) && !(isBinary && random8(run)) {
				w.inRun(b, from+at, run, leads, yield)
			}
		}
	}
}

// runSize is how much is taken to be of one sort: a text, or bytes at random.
const runSize = 256

// inRun yields for a run that begins at b[from].
func (w *markedWords) inRun(b []byte, from int, run, leads []byte, yield func(i int)) {
	for _, lead := range leads {
		for at := 0; ; at++ {
			n := bytes.IndexByte(run[at:], lead)
			if n < 0 {
				break
			}
			at += n
			if i := from + at; i+1 < len(b) && b[i+1]&0xc0 == 0x80 && w.pairs[lead&0x3f][b[i+1]&0x3f] && (i == 0 || w.before[b[i-1]]) && (i+2 >= len(b) || w.behind[b[i+2]]) {
				yield(i)
			}
		}
	}
}

// random8 reports, by the bits of a few places, whether about half of a run's bytes are
// no ASCII, as in what is compressed, in vectors and pictures, and never in Latin letters.
func random8(run []byte) bool {
	if len(run) < runSize {
		return false
	}
	const high = 0x8080808080808080
	n := 0
	for at := 0; at < runSize; at += runSize / 4 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(run[at:]) & high)
	}
	return n >= 10 // of 32
}

// lowBytes is isASCII, faster over many of them.
func lowBytes(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 32; b = b[32:] {
		if (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:]))&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// markedAt looks for a name around a word of it that stands about b[at].
func (m *Matcher) markedAt(b []byte, at int, isBinary bool, friends *Friends) (Hit, bool) {
	reach := 0
	for i := range m.terms {
		reach = max(reach, min(maxForm, 6*len(m.terms[i].text)+maxGap))
	}
	lo, hi := max(0, at-reach), min(len(b), at+reach)
	for _, h := range m.inForms(nil, string(b[lo:hi]), false) {
		h.Start, h.End = h.Start+lo, h.End+lo
		if h.Start <= at && at < h.End && (!isBinary || !friends.explains(b, h.Start, h.End)) {
			return h, true
		}
	}
	return Hit{}, false
}
