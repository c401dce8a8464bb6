package quarantine

import (
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isASCII reports whether the text can skip the stages that look at other
// characters.
func isASCII(text string) bool {
	for ; len(text) >= 8; text = text[8:] { // the compiler makes two reads of it
		a := uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
		b := uint32(text[4]) | uint32(text[5])<<8 | uint32(text[6])<<16 | uint32(text[7])<<24
		if (a|b)&0x80808080 != 0 {
			return false
		}
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isInvisible is upstream's set: category Cf and three Hangul fillers
// (scanner.md Stage 1). Below U+0600 only the soft hyphen belongs to it.
func isInvisible(r rune) bool {
	if r < 0x0600 {
		return r == 0x00AD
	}
	if ideograph(r) {
		return false
	}
	return r == 0x115F || r == 0x1160 || r == 0x3164 || unicode.Is(unicode.Cf, r)
}

// firstInvisible finds the first invisible character; at is -1 when there is
// none.
func firstInvisible(text string) (r rune, at int) {
	for i, r := range text {
		if r >= utf8.RuneSelf && isInvisible(r) {
			return r, i
		}
	}
	return 0, -1
}

// codePoint is the pattern of an invisible character.
func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }

// lookAlike maps the lower-case letters that upstream reads as Latin ones. Upper case is not mapped there
// (scanner.md Stage 3).
func lookAlike(r rune) rune {
	switch r {
	case 0x0430, 0x03B1:
		return 'a'
	case 0x0435:
		return 'e'
	case 0x0438, 0x03C5:
		return 'u'
	case 0x0456:
		return 'i'
	case 0x043E, 0x03BF:
		return 'o'
	case 0x03BD:
		return 'v'
	case 0x0440, 0x03C1:
		return 'p'
	case 0x0441:
		return 'c'
	case 0x0445, 0x03C7:
		return 'x'
	case 0x0443:
		return 'y'
	case 0x0455:
		return 's'
	}
	return r
}

// A folding appends the folded form of one character. Because it handles one character at a time, a place in
// the folded text can be traced back.
type folding func(dst []byte, r rune) []byte

// ideograph reports whether a rune is a Han character: visible, no mark, no look-alike of a Latin letter,
// without decomposition.
func ideograph(r rune) bool { return 0x4E00 <= r && r <= 0x9FFF }

// foldedLow are the foldings of Latin, Greek and Cyrillic characters.
var foldedLow = sync.OnceValue(func() *[0x0600]string {
	var t [0x0600]string
	for r := range t {
		t[r] = string(foldSlowly(nil, rune(r)))
	}
	return &t
})

// foldRune is upstream's folding. Decomposing one character at a time equals
// decomposing the text: only marks change their order, and marks are dropped.
func foldRune(dst []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(dst, byte(r))
	case r < 0x0600:
		return append(dst, foldedLow()[r]...)
	case ideograph(r):
		return utf8.AppendRune(dst, r)
	}
	return foldSlowly(dst, r)
}

func foldSlowly(dst []byte, r rune) []byte {
	if 0xAC00 <= r && r <= 0xD7A3 { // a Hangul syllable is decomposed by rule, not by table
		return norm.NFKD.AppendString(dst, string(r))
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	parts := norm.NFKD.Properties(buf[:n]).Decomposition()
	if parts == nil {
		return appendFolded(dst, r)
	}
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		dst = appendFolded(dst, part)
		parts = parts[size:]
	}
	return dst
}

func appendFolded(dst []byte, r rune) []byte {
	if r >= 0x0300 && unicode.Is(unicode.M, r) {
		return dst
	}
	return utf8.AppendRune(dst, lookAlike(r))
}

// fold applies a folding to the whole text.
func fold(text string, f folding) string {
	dst := make([]byte, 0, len(text))
	for _, r := range text {
		dst = f(dst, r)
	}
	return string(dst)
}

// trace maps spans of a folded text back to the original. It keeps no table: it folds again up to the given
// place, so spans in rising order cost one pass in all and no memory.
type trace struct {
	text     string
	fold     folding
	src, dst int
	buf      []byte
}

// span returns the original bytes of [from, to) of the folded text, with the marks dropped at its end.
func (t *trace) span(from, to int) (start, end int) {
	if from < t.dst {
		t.src, t.dst = 0, 0
	}
	start = -1
	for t.src < len(t.text) {
		r, size := utf8.DecodeRuneInString(t.text[t.src:])
		t.buf = t.fold(t.buf[:0], r)
		next := t.dst + len(t.buf)
		if t.dst >= to && (len(t.buf) > 0 || !unicode.Is(unicode.M, r)) {
			break
		}
		if start < 0 && next > from {
			start = t.src
		}
		if start >= 0 {
			end = t.src + size
		}
		if next > to { // the character extends past the span: keep it for the next one
			break
		}
		t.src, t.dst = t.src+size, next
	}
	return start, end
}
