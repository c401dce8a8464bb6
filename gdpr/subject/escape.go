package subject

import (
	"bytes"
	"cmp"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"encoding/base64"
)

// layer is a text in a medium: its raw bytes, or a decoded piece of them, with the way back.
type layer struct {
	text []byte
	// at and to are the begin and end in the medium of each byte of text; nil: from base on.
	at, to []int32
	base   int
	// block says that the text was decoded as a block: every place is then the whole block.
	block      bool
	start, end int
	goesOn     bool // the block has more than this line: it is opened as a whole
	noise      bool // the bytes of a block that are no text: chance may spell a short identifier

	method Method // the outermost encoding; empty: none
	depth  int    // depth of nested encodings
	loose  bool   // fields touch: words may have no borders

	units   bool // read as UTF-16 or UTF-32: not again
	rtf     bool // of a text that is or holds RTF
	escapes int  // escape families resolved before
	family  int  // the last family resolved; unresolved for none

	// fresh are the parts of the text that the layer it was resolved from does not have; nil: all of it.
	fresh []span

	// digits says that the text is only runs of digits that may be encoded, without escapes: nothing else is in it.
	digits bool

	// probe asks only whether the letters of an identifier occur in the layer; no places are kept.
	probe bool
}

// place returns the place of text[from:to] in the medium.
func (l *layer) place(from, to int) (start, end int) {
	switch {
	case l.block:
		return l.start, l.end
	case l.at == nil:
		return l.base + from, l.base + to
	}
	return int(l.at[from]), int(l.to[to-1])
}

// decoding builds a layer, piece by piece, from the decoded parts of another.
type decoding struct {
	of     *layer
	text   []byte
	at, to []int32 // as in a layer, without the places of of; none for a probe
}

// add appends the decoded text of of.text[from:to].
func (d *decoding) add(text string, from, to int) {
	d.text = append(d.text, text...)
	for k := 0; k < len(text) && !d.of.probe; k++ {
		d.at, d.to = append(d.at, int32(from)), append(d.to, int32(to))
	}
}

// keep appends of.text[from:to] unchanged.
func (d *decoding) keep(from, to int) {
	d.text = append(d.text, d.of.text[from:to]...)
	for k := from; k < to && !d.of.probe; k++ {
		d.at, d.to = append(d.at, int32(k)), append(d.to, int32(k+1))
	}
}

// layer returns the decoded layer; nil for an empty one.
func (d *decoding) layer(method Method) *layer {
	if len(d.text) == 0 {
		return nil
	}
	l := d.of
	for i := range d.at {
		a, b := l.place(int(d.at[i]), int(d.to[i]))
		d.at[i], d.to[i] = int32(a), int32(b)
	}
	return &layer{text: d.text, at: d.at, to: d.to, block: l.block, start: l.start, end: l.end, goesOn: l.goesOn, method: cmp.Or(l.method, method), depth: l.depth + 1, loose: l.loose, units: l.units || method == UTF16, rtf: l.rtf, escapes: l.escapes, family: l.family, probe: l.probe}
}

// resolving decodes escapes. It yields a layer around each, or around several that are near one another: the
// text elsewhere is as it was, and has been searched.
type resolving struct {
	decoding
	reach  int
	method Method // of the first escape of the layer; empty before it
	last   int    // kept or resolved up to here
	fresh  []span // of the layer
	yield  func(*layer)
}

// escape adds the text of an escape at of.text[from:to].
func (r *resolving) escape(text string, m Method, from, to int) {
	if r.method != "" && from-r.last > 2*r.reach {
		r.end()
	}
	if r.method == "" {
		r.method, r.last = m, start(r.of.text, from-r.reach)
	}
	r.keep(r.last, from)
	at := len(r.text)
	r.add(text, from, to)
	r.fresh = append(r.fresh, span{at, len(r.text)})
	r.last = to
}

// end yields the layer that has an escape, if any.
func (r *resolving) end() {
	if r.method == "" {
		return
	}
	r.keep(r.last, end(r.of.text, r.last+r.reach))
	if l := r.layer(r.method); l != nil {
		l.fresh = r.fresh
		r.yield(l)
	}
	r.decoding, r.method, r.fresh = decoding{of: r.of}, "", nil
}

// start and end move the border of a part outwards, so that it cuts no word, and no block of digits.
func start(b []byte, at int) int {
	if at <= 0 {
		return 0
	}
	return whole(b, blockStart(b, wordStart(b, at)), -1)
}

func end(b []byte, at int) int {
	if at >= len(b) {
		return len(b)
	}
	return whole(b, blockEnd(b, wordEnd(b, at)), 1)
}

// escapes are the characters with which an escape begins.
var escapes = func() (t [256]bool) {
	for _, c := range []byte("%&=\\+?\x1b") {
		t[c] = true
	}
	return t
}()

// families are escapes that occur in the same text: those of one family are resolved together. In a link =ad
// is no quoted-printable.
var families = []string{"%&\\\x1b", "=?", "+"}

// followed are the families that are tried on the result of each family; the last entry, for unresolved text,
// has all.
var followed = [][]int{{0, 1}, {0}, {}, {0, 1, 2}}

const unresolved = 3

// unescape resolves the escapes of a family once: percent encoding, HTML entities, the escapes of JSON and of
// programming languages; quoted-printable with its soft line breaks; UTF-7.
func (l *layer) unescape(family string, reach int, yield func(*layer)) {
	r := resolving{decoding: decoding{of: l}, reach: reach, yield: yield}
	src := l.text
	first := len(src)
	for i := range len(family) { // one search each is faster than one for all
		if n := bytes.IndexByte(src[:first], family[i]); n >= 0 {
			first = n
		}
	}
	quoted := 0 // end of the encoded word at i: an underscore is a space in it
	for i := first; i < len(src); i++ {
		if src[i] == '_' && i < quoted {
			r.escape(" ", Quoted, i, i+1)
			continue
		}
		if !escapes[src[i]] || strings.IndexByte(family, src[i]) < 0 || src[i] == '+' && inBlock(src, i) {
			continue
		}
		text, n, m := escapeAt(src[i:])
		begin := i
		switch {
		case src[i] == '?' && n > 0:
			begin += n
		case src[i] == '=' && n == 0:
			begin += len(encodedStart.Find(src[i:min(len(src), i+maxJoined)]))
		}
		if begin > i {
			if quoted = bytes.IndexAny(src[begin:], "? \t\r\n"); quoted < 0 {
				quoted = len(src)
			}
			quoted += begin
		}
		if n == 0 {
			continue
		}
		if src[i] == '=' && text == "" && padding(src, i) {
			text = wordJoiner
		}
		r.escape(text, m, i, i+n)
		i += n - 1
	}
	r.end()
}

// unfold removes the line breaks that vCards and calendars insert (RFC 6350, 3.2; RFC 5545, 3.1): a line end
// and one blank, anywhere in a word.
func (l *layer) unfold(reach int, yield func(*layer)) {
	r := resolving{decoding: decoding{of: l}, reach: reach, yield: yield}
	for i := 0; i < len(l.text); i++ {
		n := bytes.IndexByte(l.text[i:], '\n')
		if n < 0 {
			break
		}
		if i += n; !foldAt(l.text, i) {
			continue
		}
		from := i
		if l.text[i-1] == '\r' {
			from--
		}
		r.escape("", Folded, from, i+2)
	}
	r.end()
}

// foldAt reports whether a word may continue after the line that ends at i and one blank. A quotation or
// comment on the next line is no continuation.
func foldAt(b []byte, i int) bool {
	if i == 0 || i+2 >= len(b) || b[i+1] != ' ' && b[i+1] != '\t' || isBlank(b[i+2]) || bytes.IndexByte([]byte(">/#|*"), b[i+2]) >= 0 {
		return false
	}
	k := i - 1
	if b[k] == '\r' {
		k--
	}
	return k >= 0 && b[k] != '\n'
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// wordJoiner replaces a line end in a soft break or in the padding of base64: it separates no words of a
// name, and ends a run of base64.
const wordJoiner = "\u2060"

// padding reports whether an equals sign at the end of a line may end a run of base64.
func padding(b []byte, at int) bool {
	from := at
	for from > 0 && at-from < 16 && base64Digits[b[from-1]] {
		from--
	}
	return at-from == 16 && bytes.ContainsFunc(b[from:at], unicode.IsUpper) && bytes.ContainsFunc(b[from:at], unicode.IsLower)
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
		i := len(b) - len(bytes.TrimLeft(b[1:], " \t\r"))
		if i < len(b)-1 && b[i] == '\n' && b[i+1] != '\n' {
			if rest := bytes.TrimLeft(b[i+1:], " \t>"); len(b)-len(rest) != i+2 || b[i+1] == '>' { // quoted or indented; one blank is text
				i = len(b) - len(rest) - 1
			}
			return "", i + 1, Quoted
		}
	case '?':
		return "", encodedWord(b), Quoted
	case '\\':
		text, n = backslash(b)
		return text, n, Escaped
	case '\x1b': // colours and other marks of a terminal: as emphasis is
		if n := len(terminal.Find(b)); n > 0 {
			return "*", n, Escaped
		}
	case '+':
		text, n = utf7(b)
		return text, n, UTF7
	}
	return "", 0, ""
}

// terminal matches a control sequence (ECMA-48, 5.4).
var terminal = regexp.MustCompile("^\x1b\\[[0-?]*[ -/]*[@-~]")

func hexByte(b []byte) (byte, bool) {
	if len(b) < 2 || hexDigit[b[0]] == 0 || hexDigit[b[1]] == 0 {
		return 0, false
	}
	return (hexDigit[b[0]]-1)<<4 | (hexDigit[b[1]] - 1), true
}

// hexDigit is the value of a hex digit plus one; 0 for other bytes.
var hexDigit = func() (t [256]byte) {
	for i := range 16 {
		t["0123456789abcdef"[i]], t["0123456789ABCDEF"[i]] = byte(i+1), byte(i+1)
	}
	return t
}()

// entity resolves an HTML character reference, as browsers do without its semicolon too.
func entity(b []byte) (string, int) {
	end := 1
	for end < len(b) && end < 34 && (wordByte(b[end]) || b[end] == '#') {
		end++
	}
	ref := string(b[:min(len(b), end+1)])
	text := html.UnescapeString(ref)
	_, n := utf8.DecodeRuneInString(text)
	switch {
	case text == ref:
		return "", 0
	case strings.HasSuffix(ref, ";") && !strings.HasSuffix(text, ";"): // it may be two characters
		return text, len(ref)
	}
	return text[:n], len(ref) - len(text) + n
}

// encodedStart matches the beginning of an encoded word of a mail header whose text is in Q (RFC 2047).
var encodedStart = regexp.MustCompile(`^=\?[^?\s]+\?[qQ]\?`)

// encodedWord is the length of the gap between two encoded words of a mail header (RFC 2047), with the
// beginning of the second: they are one text.
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

// plainEscapes are the characters that stand behind a backslash alone.
var plainEscapes = [256]string{'n': "\n", 'r': "\r", 't': "\t", 'b': "\b", 'f': "\f", 'v': "\v", '"': `"`, '\'': "'", '/': "/", '\\': `\`}

// backslash resolves an escape of JSON, of a programming language or of git.
func backslash(b []byte) (string, int) {
	if len(b) < 2 {
		return "", 0
	}
	n, k := number(b, 1, 3, 8)
	switch c := b[1]; {
	case rtfByte(b) >= utf8.RuneSelf:
		return string([]byte{rtfByte(b)}), 4
	case plainEscapes[c] != "":
		return plainEscapes[c], 2
	case bytes.HasPrefix(b, []byte(`\e[`)):
		return "\x1b", 2
	case c == 'x', c == 'u', c == 'U':
		return codePoint(b)
	case k == 3 && n < 256:
		return string([]byte{byte(n)}), 4
	case k == 1 && n == 0:
		return " ", 2
	case c > ' ' && c < 0x7f && asciiFold[c] == 0: // of Markdown (CommonMark, 2.4)
		return string(c), 2
	}
	return "", 0
}

// number reads up to so many digits of a base in b; n is how many there are, 0 for none.
func number(b []byte, from, most, base int) (value uint64, n int) {
	to := from
	for to < len(b) && to < from+most && hexDigit[b[to]] != 0 && int(hexDigit[b[to]]) <= base {
		to++
	}
	if to == from {
		return 0, 0
	}
	value, _ = strconv.ParseUint(string(b[from:to]), base, 32) // eight digits at most
	return value, to - from
}

// codePoint resolves an escape that gives a character's number.
func codePoint(b []byte) (string, int) {
	c := b[1]
	if len(b) > 2 && b[2] == '{' {
		if n, k := number(b, 3, 8, 16); k > 0 && 3+k < len(b) && b[3+k] == '}' {
			return string(rune(n)), 4 + k
		}
		return "", 0
	}
	// Of RTF, with the byte that other programs read. In JavaScript 20xx is punctuation, in RTF it would be N'Ko.
	if n, k := number(b, 2, 5, 10); c == 'u' && k > 0 && b[2] != '0' && n/100 != 20 && rtfByte(b[2+k:]) > 0 {
		return string(rune(n)), 6 + k
	} else if c == 'u' && k > 1 && k < 4 && n >= utf8.RuneSelf && len(b) > 2+k && b[2+k] == '?' {
		return string(rune(n)), 3 + k
	}
	want := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	n, k := number(b, 2, want, 16)
	switch {
	case k != want:
		return "", 0
	case c == 'x':
		return string([]byte{byte(n)}), 4
	case c == 'u' && utf16.IsSurrogate(rune(n)) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u':
		low, k := number(b, 8, 4, 16)
		if r := utf16.DecodeRune(rune(n), rune(low)); k == 4 && r != utf8.RuneError {
			return string(r), 12
		}
	}
	return string(rune(n)), 2 + want
}

// rtfMark is in every RTF file, near its beginning.
var rtfMark = []byte(`\rtf1`)

// rich is the text of an RTF file: its letters in Unicode, without its groups and control words, which may stand
// inside a name as emphasis does. It does not tell which codepage a byte is in.
func (l *layer) rich() *layer {
	d := decoding{of: l}
	for i := 0; i < len(l.text); {
		from := i
		for i < len(l.text) && bytes.IndexByte([]byte("\\{}\r\n"), l.text[i]) < 0 {
			i++
		}
		if d.keep(from, i); i < len(l.text) {
			text, n := rtfAt(l.text[i:min(len(l.text), i+maxJoined)])
			d.add(text, i, i+n)
			i += n
		}
	}
	return d.layer(Escaped)
}

var rtfWord = regexp.MustCompile(`^\\([A-Za-z]+)(-?[0-9]+)? ?`)

// rtfAt resolves a group's border, a line end or what a backslash begins (Rich Text Format 1.9.1).
func rtfAt(b []byte) (text string, n int) {
	word := rtfWord.FindSubmatch(b)
	switch {
	case word != nil:
		n = len(word[0])
	case b[0] != '\\' || len(b) < 2:
		return "", 1
	case rtfByte(b) > 0:
		return string([]byte{rtfByte(b)}), 4
	case b[1] == '\'':
		return "", 2
	default:
		return map[byte]string{'~': " ", '_': "-", '\\': "\\", '{': "{", '}': "}", '\n': "\n", '\r': "\n"}[b[1]], 2
	}
	switch string(word[1]) {
	case "u":
		code, err := strconv.Atoi(string(word[2]))
		if err != nil {
			return "", n
		}
		switch rest := b[n:]; { // the letter for programs without Unicode
		case rtfByte(rest) > 0:
			n += 4
		case len(rest) > 0 && bytes.IndexByte([]byte("\\{}"), rest[0]) < 0:
			n++
		}
		return string(rune(uint16(code))), n
	case "par", "line", "page", "sect", "cell", "row":
		return "\n\n", n
	case "tab", "emspace", "enspace", "qmspace":
		return " ", n
	case "emdash", "endash":
		return "-", n
	case "lquote", "rquote":
		return "'", n
	}
	return "", n
}

// rtfByte is the byte of an RTF escape; 0 for none. Digits in both cases begin a name instead: O\'Dea.
func rtfByte(b []byte) byte {
	if len(b) < 4 || string(b[:2]) != `\'` {
		return 0
	}
	n, _ := hexByte(b[2:])
	if h := string(b[2:4]); h != strings.ToLower(h) && h != strings.ToUpper(h) {
		return 0
	}
	return n
}

// inBlock reports whether a plus is a digit of a block of base64, by the lines before it. Of random bytes each kilobyte has
// one that is valid UTF-7 by chance, and every layer around one has the whole block.
func inBlock(b []byte, at int) bool {
	const least, width = 64, 40 // no line of a list of words is as wide
	b = b[max(0, at-2*least) : at+1]
	if b = b[blockStart(b, len(b)-1):]; len(b) < least || bytes.IndexByte(b, '-') >= 0 { // UTF-7 may end with a hyphen
		return false
	}
	return slices.ContainsFunc(bytes.FieldsFunc(b, func(r rune) bool { return r >= utf8.RuneSelf || !base64Digits[r] }), func(line []byte) bool { return len(line) >= width })
}

// utf7 resolves a piece of UTF-7 (RFC 2152).
func utf7(b []byte) (string, int) {
	end := 1
	for end < len(b) && base64Digits[b[end]] && b[end] != '-' && b[end] != '_' {
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
