package subject

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"encoding/base64"
)

// layer is a text that stands in a medium: the bytes themselves, or a piece of them with
// something decoded, and the way back.
type layer struct {
	text []byte
	// at and to are where each byte of text begins and ends in the medium; nil: at base.
	at, to []int32
	base   int
	// Of what is decoded as a block every place is the whole block.
	block      bool
	start, end int

	method Method // the outermost encoding; empty: none
	depth  int    // encodings inside one another
	loose  bool   // fields touch: a word may have no borders

	escapes int // resolved before
	family  int // the last of them; unresolved without any

	// probe: only whether the letters of an identifier stand in it is asked; no places are kept.
	probe bool
}

// place is where text[from:to] stands in the medium.
func (l *layer) place(from, to int) (start, end int) {
	switch {
	case l.block:
		return l.start, l.end
	case l.at == nil:
		return l.base + from, l.base + to
	}
	return int(l.at[from]), int(l.to[to-1])
}

// under is a layer of what was decoded of this one. at and to are places in its text.
func (l *layer) under(text []byte, at, to []int32, method Method) *layer {
	for i := range at {
		a, b := l.place(int(at[i]), int(to[i]))
		at[i], to[i] = int32(a), int32(b)
	}
	out := &layer{text: text, at: at, to: to, block: l.block, start: l.start, end: l.end, method: l.method, depth: l.depth + 1, loose: l.loose, escapes: l.escapes, family: l.family, probe: l.probe}
	if out.method == "" {
		out.method = method
	}
	return out
}

// escapes are the characters with which an escape begins.
var escapes = func() (t [256]bool) {
	for _, c := range []byte(`%&=\+?`) {
		t[c] = true
	}
	return t
}()

// families are escapes that stand in one text: those of one family are resolved together.
// In a link =ad is no quoted-printable.
var families = []string{`%&\\`, "=?", "+"}

// followed are the families that are looked for in what one of them has resolved; of what
// nothing was, under the last number, all.
var followed = [][]int{{0, 1}, {0}, {}, {0, 1, 2}}

const unresolved = 3

// unescape resolves, once, the escapes of a family: percent encoding, entities of HTML,
// the escapes of JSON and of programming languages; quoted-printable with its soft line
// breaks; UTF-7. It is nil where there are none.
func (l *layer) unescape(family string) *layer {
	var out []byte
	var at, to []int32
	var method Method
	src := l.text
	first := len(src)
	for i := range len(family) { // each by itself is faster than all at once
		if n := bytes.IndexByte(src[:first], family[i]); n >= 0 {
			first = n
		}
	}
	if first == len(src) {
		return nil
	}
	for i := first; i < len(src); {
		text, n, m := "", 0, Method("")
		if escapes[src[i]] && strings.IndexByte(family, src[i]) >= 0 {
			if text, n, m = escapeAt(src[i:]); n > 0 && src[i] == '=' && text == "" && padding(src, i) {
				text = wordJoiner
			}
		}
		if n == 0 {
			if out != nil {
				out = append(out, src[i])
				if !l.probe {
					at, to = append(at, int32(i)), append(to, int32(i+1))
				}
			}
			i++
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(src)), src[:i]...)
			if !l.probe {
				at, to = make([]int32, i, len(src)), make([]int32, i, len(src))
				for k := range i {
					at[k], to[k] = int32(k), int32(k+1)
				}
			}
		}
		if method == "" {
			method = m
		}
		out = append(out, text...)
		for range len(text) * boolInt(!l.probe) {
			at, to = append(at, int32(i)), append(to, int32(i+n))
		}
		i += n
	}
	if len(out) == 0 {
		return nil
	}
	return l.under(out, at, to, method)
}

// unfold takes out the places at which vCards and calendars break a line (RFC 6350, 3.2; RFC 5545, 3.1):
// a line's end and one blank, anywhere in a word. It is nil where there are none.
func (l *layer) unfold() *layer {
	var out []byte
	var at, to []int32
	last := 0
	for i := 0; i < len(l.text); i++ {
		n := bytes.IndexByte(l.text[i:], '\n')
		if n < 0 {
			break
		}
		if i += n; !foldAt(l.text, i) {
			continue
		}
		end := i
		if l.text[i-1] == '\r' {
			end--
		}
		for k := last; k < end && !l.probe; k++ {
			at, to = append(at, int32(k)), append(to, int32(k+1))
		}
		out = append(out, l.text[last:end]...)
		last = i + 2
	}
	if last == 0 {
		return nil
	}
	for k := last; k < len(l.text) && !l.probe; k++ {
		at, to = append(at, int32(k)), append(to, int32(k+1))
	}
	return l.under(append(out, l.text[last:]...), at, to, Folded)
}

// foldAt reports whether a word may go on behind the line that ends at i and one blank. What begins a
// quotation or a comment ends no fold.
func foldAt(b []byte, i int) bool {
	if i == 0 || i+2 >= len(b) || b[i+1] != ' ' && b[i+1] != '\t' || isBlank(b[i+2]) || bytes.IndexByte([]byte(">/#|*"), b[i+2]) >= 0 {
		return false
	}
	k := i - 1
	if b[k] == '\r' {
		k--
	}
	return k >= 0 && !isBlank(b[k])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// wordJoiner stands where a line may end in a soft break or in the padding of base64: it
// parts no word of a name, and ends a run of base64.
const wordJoiner = "\u2060"

// padding reports whether an equals sign at the end of a line may end a run of base64.
func padding(b []byte, at int) bool {
	from := at
	for from > 0 && at-from < 16 && base64Digits[b[from-1]] {
		from--
	}
	return at-from == 16 && capitalised(b[from:at])
}

func capitalised(b []byte) bool {
	return bytes.ContainsFunc(b, unicode.IsUpper) && bytes.ContainsFunc(b, unicode.IsLower)
}

// escapeAt resolves the escape at the beginning of b; n is its length, 0 for none.
func escapeAt(b []byte) (text string, n int, m Method) {
	b = b[:min(len(b), 64)]
	switch b[0] {
	case '%':
		if c, ok := hexByte(b[1:]); ok {
			return string([]byte{c}), 3, Percent
		}
		if len(b) > 5 && (b[1] == 'u' || b[1] == 'U') {
			if r, err := strconv.ParseUint(string(b[2:6]), 16, 16); err == nil {
				return string(rune(r)), 6, Percent
			}
		}
	case '&':
		text, n = entity(b)
		return text, n, Entity
	case '=':
		if c, ok := hexByte(b[1:]); ok {
			return string([]byte{c}), 3, Quoted
		}
		i := 1
		for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
			i++
		}
		if i < len(b)-1 && b[i] == '\n' && b[i+1] != '\n' {
			return "", i + 1, Quoted
		}
	case '?':
		return "", encodedWord(b), Quoted
	case '\\':
		text, n = backslash(b)
		return text, n, Escaped
	case '+':
		text, n = utf7(b)
		return text, n, UTF7
	}
	return "", 0, ""
}

func hexByte(b []byte) (byte, bool) {
	if len(b) < 2 || hexDigit[b[0]] == 0 || hexDigit[b[1]] == 0 {
		return 0, false
	}
	return (hexDigit[b[0]]-1)<<4 | (hexDigit[b[1]] - 1), true
}

// hexDigit is the value of a digit and one more; 0 for what is none.
var hexDigit = func() (t [256]byte) {
	for i := range 16 {
		t["0123456789abcdef"[i]], t["0123456789ABCDEF"[i]] = byte(i+1), byte(i+1)
	}
	return t
}()

// entity resolves a character reference of HTML.
func entity(b []byte) (string, int) {
	end := 1
	for end < len(b) && end < 34 && (wordByte(b[end]) || b[end] == '#') {
		end++
	}
	if end < 3 || end == len(b) || b[end] != ';' {
		return "", 0
	}
	ref := string(b[:end+1])
	if text := html.UnescapeString(ref); text != ref {
		return text, end + 1
	}
	return "", 0
}

// encodedWord is the length of what stands between two encoded words of a mail header
// (RFC 2047), of the second one's beginning too: they are one text.
func encodedWord(b []byte) int {
	rest, ok := strings.CutPrefix(string(b), "?=")
	if !ok {
		return 0
	}
	next := strings.TrimLeft(rest, " \t\r\n")
	parts := strings.SplitN(next, "?", 4)
	if len(parts) < 4 || parts[0] != "=" || !strings.EqualFold(parts[2], "q") || len(next) == len(rest) {
		return 0
	}
	return len(b) - len(parts[3])
}

// backslash resolves an escape of JSON, of a programming language or of git.
func backslash(b []byte) (string, int) {
	if len(b) < 2 {
		return "", 0
	}
	number := func(from, most, base int) (uint64, int) {
		to := from
		for to < len(b) && to < from+most && hexDigit[b[to]] != 0 && int(hexDigit[b[to]]) <= base {
			to++
		}
		n, err := strconv.ParseUint(string(b[from:to]), base, 32)
		if err != nil {
			return 0, 0
		}
		return n, to - from
	}
	switch c := b[1]; c {
	case 'n', 'r', 't', 'b', 'f', 'v':
		return " \n\r\t\b\f\v"[strings.IndexByte("xnrtbfv", c):][:1], 2
	case '"', '\'', '/', '\\':
		return string(c), 2
	case 'x', 'u', 'U':
		if len(b) > 2 && b[2] == '{' {
			if n, k := number(3, 8, 16); k > 0 && 3+k < len(b) && b[3+k] == '}' {
				return string(rune(n)), 4 + k
			}
			return "", 0
		}
		want := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		n, k := number(2, want, 16)
		switch {
		case k != want:
			return "", 0
		case c == 'x':
			return string([]byte{byte(n)}), 4
		case c == 'u' && utf16.IsSurrogate(rune(n)) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u':
			low, k := number(8, 4, 16)
			if r := utf16.DecodeRune(rune(n), rune(low)); k == 4 && r != utf8.RuneError {
				return string(r), 12
			}
		}
		return string(rune(n)), 2 + want
	}
	if n, k := number(1, 3, 8); k == 3 && n < 256 {
		return string([]byte{byte(n)}), 4
	}
	return "", 0
}

// utf7 resolves a piece of UTF-7 (RFC 2152).
func utf7(b []byte) (string, int) {
	end := 1
	for end < len(b) && base64Digit(b[end]) && b[end] != '-' && b[end] != '_' {
		end++
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(string(b[1:end]))
	if err != nil || len(raw) < 2 || len(raw)%2 != 0 {
		return "", 0
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
	}
	text := string(utf16.Decode(units))
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) || isASCII(text) && !strings.ContainsAny(text, "@+&~'") {
		return "", 0
	}
	if end < len(b) && b[end] == '-' {
		end++
	}
	return text, end
}
