package subject

import (
	"bytes"
	"slices"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// lookAlikes are letters of other scripts that look like Latin ones (Unicode confusables, the single letters
// that disguise names), and letters without a decomposition, as ASCII writes them.
var lookAlikes = func() map[rune]string {
	m := map[rune]string{}
	pairs := []rune("аaвbсcԁdеeһhіiјjκkкkӏlмmոnнhоoοoρpрpԛqѕsтtυuνvѵvԝwхxχxуyγyᴢzαaεeιiτtηnωw" +
		"ɑaɡgɩiȷjʟlɴnʀrꜱsʏyʙbᴄcᴅdᴇeʜhᴊjᴋkᴍmᴏoᴘpᴛtᴜuᴠvᴡwøođdłlðdıiħh")
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = string(pairs[i+1])
	}
	m['þ'], m['æ'], m['œ'] = "th", "ae", "oe"
	return m
}()

var folder = cases.Fold()

// foldPages caches folded characters: a table look-up for each character of a text costs more than everything
// else.
var foldPages [0x30000 >> 8]atomic.Pointer[[256]string]

// foldRune is a character in the form in which it is compared: letters and digits in compatibility
// decomposition, case folded, without combining marks, look-alikes as Latin. Empty for characters that are no
// letter or digit.
func foldRune(r rune) string {
	if r < 0 || r >= 0x30000 {
		return computeFold(r)
	}
	p := foldPages[r>>8].Load()
	if p == nil {
		p = &[256]string{}
		for i := range p {
			p[i] = computeFold(r&^0xff | rune(i))
		}
		foldPages[r>>8].Store(p)
	}
	return p[r&0xff]
}

func computeFold(r rune) string {
	if ignorable(r) || apostrophe(r) || r == 0x640 || r == utf8.RuneError { // tatweel only stretches a word
		return ""
	}
	var out []byte
	for _, d := range norm.NFKD.String(string(r)) {
		for _, c := range folder.String(string(d)) {
			switch s, like := lookAlikes[c]; {
			case like:
				out = append(out, s...)
			case unicode.Is(unicode.Nd, c):
				out = append(out, digitOf(c))
			case unicode.IsLetter(c), unicode.IsNumber(c), unicode.Is(unicode.Mc, c), c == 0x3099, c == 0x309a: // voiced kana are other letters
				out = utf8.AppendRune(out, c)
			}
		}
	}
	return string(out)
}

// digitOf is a decimal digit of any script as ASCII: each script's digits are in order.
func digitOf(r rune) byte {
	n := byte(0)
	for unicode.Is(unicode.Nd, r-1) && n < 9 {
		n, r = n+1, r-1
	}
	return '0' + n
}

// ignorable characters are invisible and used to break words up.
func ignorable(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0xfeff:
		return true
	}
	return r >= 0x180b && r <= 0x180f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f ||
		r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff
}

// Unspaced are scripts without spaces between words, where the characters around a name prove nothing.
var Unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r > 0 && wordByte(byte(r))
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && r != utf8.RuneError && !apostrophe(r) && !unicode.In(r, Unspaced...)
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func isASCII[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

var windows1252 = func() (t [256]rune) {
	for c := range t {
		t[c] = charmap.Windows1252.DecodeByte(byte(c))
	}
	return t
}()

// decodeRune reads a character; an invalid byte is read as Windows-1252.
func decodeRune(b []byte) (rune, int) {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		r = windows1252[b[0]]
	}
	return r, n
}

func lastRune(b []byte) rune {
	r, n := utf8.DecodeLastRune(b)
	if r == utf8.RuneError && n == 1 {
		return windows1252[b[len(b)-1]]
	}
	return r
}

// view is a text in the form in which it is compared: only its letters and digits, folded, each with the
// character that it came from. The characters between two of them are a gap.
type view struct {
	src      []byte
	text     []byte
	from, to []int32 // of each byte of text, its character in src
}

// asciiFold maps an ASCII byte to its folded form; 0 for anything but a letter or digit.
var asciiFold = func() (t [256]byte) {
	for c := range 128 {
		if wordByte(byte(c)) && c != '_' {
			t[c] = lower(byte(c))
		}
	}
	return t
}()

// newView folds a text. marked says that tags and link targets are parts of a gap.
func newView(src []byte, marked bool) *view {
	v := &view{}
	v.read(src, marked)
	return v
}

// read is newView in the memory of an unused view.
func (v *view) read(src []byte, marked bool) {
	v.src, v.text, v.from, v.to = src, slices.Grow(v.text[:0], len(src)), slices.Grow(v.from[:0], len(src)), slices.Grow(v.to[:0], len(src))
	for i := 0; i < len(src); {
		c := src[i]
		if f := asciiFold[c]; f != 0 {
			v.text, v.from, v.to = append(v.text, f), append(v.from, int32(i)), append(v.to, int32(i+1))
			i++
			continue
		}
		if c < utf8.RuneSelf {
			if marked && (c == '<' || c == ']') {
				i += markup(src[i:])
				continue
			}
			i++
			continue
		}
		r, n := decodeRune(src[i:])
		s := foldRune(r)
		for k := range len(s) {
			v.text, v.from, v.to = append(v.text, s[k]), append(v.from, int32(i)), append(v.to, int32(i+n))
		}
		i += n
		if s == "" && (unicode.IsMark(r) || ignorable(r)) && len(v.to) > 0 && int(v.to[len(v.to)-1]) == i-n {
			v.stretch(int32(i))
		}
	}
}

// appendLetters appends the text of a view to out, without its places.
func appendLetters(out, src []byte, marked bool) []byte {
	out = slices.Grow(out, len(src))
	for i := 0; i < len(src); {
		c := src[i]
		switch f := asciiFold[c]; {
		case f != 0:
			out = append(out, f)
			i++
		case c >= utf8.RuneSelf:
			letters, n := foldedAt(src[i:])
			out = append(out, letters...)
			i += n
		case marked && (c == '<' || c == ']'):
			i += markup(src[i:])
		default:
			i++
		}
	}
	return out
}

// foldedAt is the folded character at the beginning of b, which is not ASCII, and its length in b.
func foldedAt(b []byte) (letters string, n int) {
	switch c := b[0]; {
	case c < 0xc2 || len(b) == 1 || b[1]&0xc0 != 0x80: // an invalid byte
		return foldRune(windows1252[c]), 1
	case c < 0xe0: // two bytes, as most are
		return foldRune(rune(c&0x1f)<<6 | rune(b[1]&0x3f)), 2
	}
	r, n := decodeRune(b)
	return foldRune(r), n
}

// stretch moves the end of the last character behind its combining mark.
func (v *view) stretch(end int32) {
	for k, first := len(v.to)-1, v.from[len(v.from)-1]; k >= 0 && v.from[k] == first; k-- {
		v.to[k] = end
	}
}

// chars reports whether a stretch begins and ends with a character, not inside one.
func (v *view) chars(lo, hi int) bool {
	return (lo == 0 || v.from[lo-1] != v.from[lo]) && (hi == len(v.text) || v.from[hi] != v.from[hi-1])
}

// gap returns the bytes between the letter at i and the one before it.
func (v *view) gap(i int) []byte { return v.src[v.to[i-1]:max(v.to[i-1], v.from[i])] }

// maxMark bounds a tag or a link target, in bytes.
const maxMark = 512

// unmarked is b without tags and link targets.
func unmarked(b []byte) []byte {
	if bytes.IndexByte(b, '<') < 0 && bytes.IndexByte(b, ']') < 0 {
		return b
	}
	var out []byte
	for i := 0; i < len(b); {
		n := 1
		if b[i] == '<' || b[i] == ']' {
			n = markup(b[i:])
		}
		if n == 1 {
			out = append(out, b[i])
		}
		i += n
	}
	return out
}

// markup is the length of the tag or Markdown link target at the beginning of b; 1 where there is none.
func markup(b []byte) int {
	rest := b[:min(len(b), maxMark)]
	if b[0] == ']' {
		if len(rest) < 2 || rest[1] != '(' && rest[1] != '[' {
			return 1
		}
		last := byte(')')
		if rest[1] == '[' {
			last = ']'
		}
		if n := bytes.IndexByte(rest[2:], last); n >= 0 && bytes.IndexByte(rest[2:2+n], '\n') < 0 {
			return n + 3
		}
		return 1
	}
	if len(rest) < 3 || rest[1] != '/' && rest[1] != '!' && asciiFold[rest[1]] < 'a' {
		return 1
	}
	for i := 2; i < len(rest); i++ {
		switch rest[i] {
		case '>':
			if rest[1] == '!' && string(rest[i-2:i]) != "--" {
				continue
			}
			if name, _, ok := bytes.Cut(rest[1:i], []byte("@")); ok && rest[1] != '!' && !bytes.ContainsAny(name, " \t\r\n=\"'") { // an address in angle brackets is no tag
				return 1
			}
			return i + 1
		case '<':
			return 1
		}
	}
	return 1
}
