package subject

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/unicode/norm"
)

// charset is an older encoding, with the characters of its single bytes and byte pairs.
type charset struct {
	enc encoding.Encoding
	// long is the length of its longer characters, and lead their first byte or, where it is 0, any byte:
	// those of GB18030 have 30 to 3f as the second byte.
	long int
	lead byte

	once sync.Once
	one  [256]rune // 0: none
	two  []rune    // by both bytes, the first one high; nil: no pairs
}

var (
	gb18030  = &charset{enc: simplifiedchinese.GB18030, long: 4}
	shiftJIS = &charset{enc: japanese.ShiftJIS}
	eucJP    = &charset{enc: japanese.EUCJP, long: 3, lead: 0x8f}
	big5     = &charset{enc: traditionalchinese.Big5}
	eucKR    = &charset{enc: korean.EUCKR}
)

// shifts are the seven-bit encodings that switch between ASCII and a charset: ISO-2022-JP, -KR and -CN, HZ.
// Between the two marks are characters of the charset without their highest bits.
var shifts = []struct {
	open, end string
	in        *charset
}{
	{"\x1b$B", "\x1b(", eucJP}, {"\x1b$@", "\x1b(", eucJP}, {"\x1b$(C", "\x1b(", eucKR}, {"\x1b$A", "\x1b(", gb18030},
	{"\x0e", "\x0f", eucKR}, {"\x0e", "\x0f", gb18030}, {"~{", "~}", gb18030},
}

// charsetsOf lists the older encodings of each script, by their names in x/text.
var charsetsOf = []struct {
	script *unicode.RangeTable
	in     []*charset
}{
	{unicode.Han, []*charset{gb18030, shiftJIS, eucJP, big5}},
	{kana, []*charset{shiftJIS, eucJP}},
	{unicode.Hangul, []*charset{eucKR}},
	{unicode.Cyrillic, []*charset{{enc: charmap.Windows1251}, {enc: charmap.KOI8R}, {enc: charmap.CodePage866}, {enc: charmap.ISO8859_5}}},
	{unicode.Thai, []*charset{{enc: charmap.Windows874}}},
	{unicode.Greek, []*charset{{enc: charmap.Windows1253}}},
	{unicode.Hebrew, []*charset{{enc: charmap.Windows1255}}},
	{unicode.Arabic, []*charset{{enc: charmap.Windows1256}}},
	{centralEuropean, []*charset{{enc: charmap.Windows1250}, {enc: charmap.Windows1254}}},
}

// kana are the syllables of Japanese; centralEuropean are the Latin letters of Central Europe and Turkey that
// Windows-1252 lacks.
var (
	kana            = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x3041, Hi: 0x30ff, Stride: 1}}}
	centralEuropean = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x0100, Hi: 0x017f, Stride: 1}}}
)

// charsets are the older encodings in which an identifier may be written.
func charsets(id string) (out []*charset) {
	for _, c := range charsetsOf {
		if !strings.ContainsFunc(norm.NFC.String(id), func(r rune) bool { return unicode.Is(c.script, r) }) {
			continue
		}
		for _, enc := range c.in {
			if !slices.Contains(out, enc) {
				out = append(out, enc)
			}
		}
	}
	return out
}

// allCharsets are the older encodings for all scripts.
var allCharsets = charsets("王かㅎк\u03b1אاł가ก")

// tables fills in the character of every byte and every pair of bytes.
func (c *charset) tables() {
	one, single := c.enc.(*charmap.Charmap)
	for b := utf8.RuneSelf; b < 256; b++ {
		if single {
			c.one[b] = one.DecodeByte(byte(b))
			continue
		}
		c.one[b] = c.decode([]byte{byte(b)})
	}
	if single {
		return
	}
	c.two = make([]rune, 1<<16)
	for pair := utf8.RuneSelf << 8; pair < 1<<16; pair++ {
		c.two[pair] = c.decode([]byte{byte(pair >> 8), byte(pair)})
	}
}

// decode returns the single character that b encodes; 0 if it encodes none, or several.
func (c *charset) decode(b []byte) rune {
	var buf [16]byte
	wrote, read, err := c.enc.NewDecoder().Transform(buf[:], b, true)
	if r, k := utf8.DecodeRune(buf[:wrote]); err == nil && read == len(b) && r != utf8.RuneError && k == wrote {
		return r
	}
	return 0
}

// next decodes the first character of b, which is not ASCII; an invalid byte stands for itself.
func (c *charset) next(b []byte) (rune, int) {
	if c.two != nil && len(b) > 1 {
		if r := c.two[int(b[0])<<8|int(b[1])]; r != 0 {
			return r, 2
		}
	}
	if c.long > 0 && len(b) >= c.long && (c.lead == b[0] || c.lead == 0 && b[1]>>4 == 3) {
		if r := c.decode(b[:c.long]); r != 0 {
			return r, c.long
		}
	}
	if r := c.one[b[0]]; r != 0 {
		return r, 1
	}
	return rune(b[0]), 1
}

// decoded is a piece, decoded from an older encoding.
func (l *layer) decoded(c *charset) *layer {
	c.once.Do(c.tables)
	d := decoding{of: l, text: make([]byte, 0, 2*len(l.text))}
	for i := 0; i < len(l.text); {
		r, n := rune(l.text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = c.next(l.text[i:])
		}
		d.add(string(r), i, i+n)
		i += n
	}
	return d.layer(Charset)
}

// shiftedAt finds the first run in a charset that begins in b[at:until]; b[inside:behind] is the part between
// its marks. A run ends with its line, as these encodings demand; line is the line that the last call looked for, in
// which there may be a million runs.
func (c *charset) shiftedAt(b []byte, at, until int, line *span) (from, inside, behind, to int, ok bool) {
	for from = at; from < until; from++ {
		n := bytes.IndexAny(b[from:until], "\x1b\x0e~")
		if n < 0 {
			break
		}
		from += n
		for _, s := range shifts {
			if s.in != c || !bytes.HasPrefix(b[from:], []byte(s.open)) {
				continue
			}
			inside = from + len(s.open)
			if inside < line.lo || inside > line.hi {
				rest, _, _ := bytes.Cut(b[inside:], []byte("\n"))
				*line = span{inside, inside + len(rest)}
			}
			behind, to = line.hi, line.hi
			if n := bytes.Index(b[inside:line.hi], []byte(s.end)); n >= 0 {
				behind = inside + n
				to = min(behind+len(s.end)+boolInt(s.end[0] == '\x1b'), len(b)) // the next charset is announced
			}
			return from, inside, behind, to, true
		}
	}
	return 0, 0, 0, 0, false
}

// shifted is a piece with its runs in a charset decoded; nil where it has none. Every character has its whole
// run as its place: without the marks the rest of the run could not be read.
func (l *layer) shifted(c *charset) *layer {
	d := decoding{of: l}
	last, line := 0, span{0, -1}
	for {
		from, inside, behind, to, ok := c.shiftedAt(l.text, last, len(l.text), &line)
		if !ok {
			break
		}
		c.once.Do(c.tables)
		d.keep(last, from)
		for i := inside; i+1 < behind; i += 2 {
			if r := c.two[int(l.text[i]|0x80)<<8|int(l.text[i+1]|0x80)]; r != 0 {
				d.add(string(r), from, to)
			}
		}
		last = to
	}
	if last == 0 {
		return nil
	}
	d.keep(last, len(l.text))
	return d.layer(Charset)
}

// misread resolves UTF-8 that was once read as Windows-1252: JÃ¶rg.
func (l *layer) misread(reach int, yield func(*layer)) {
	r := resolving{decoding: decoding{of: l}, reach: reach, yield: yield}
	for i := 0; i+1 < len(l.text); i++ {
		n := bytes.IndexByte(l.text[i:], 0xc3) // how U+00C0 to U+00FF begin, the characters that first bytes of UTF-8 are read as
		if n < 0 {
			break
		}
		i += n
		var b []byte
		to := i
		for len(b) < utf8.UTFMax && to < len(l.text) && !utf8.FullRune(b) {
			c, size := utf8.DecodeRune(l.text[to:])
			one, ok := charmap.Windows1252.EncodeRune(c)
			if c >= 0x80 && c < 0xa0 {
				one, ok = byte(c), true
			}
			if !ok || one < 0x80 {
				break
			}
			b, to = append(b, one), to+size
		}
		if c, size := utf8.DecodeRune(b); size > 1 && size == len(b) {
			r.escape(string(c), Charset, i, to)
			i = to - 1
		}
	}
	r.end()
}

// firstPairs are the first two bytes of every non-Latin character with which an identifier may begin, in
// UTF-8, UTF-16, UTF-32 and the older encodings. nil where any single byte may begin one: a one-byte encoding
// has its alphabet.
func (m *Matcher) firstPairs() *[1 << 16]bool {
	if !m.foreign || slices.ContainsFunc(m.charsets, func(c *charset) bool { _, single := c.enc.(*charmap.Charmap); return single }) {
		return nil
	}
	first := map[rune]bool{}
	for r := rune(1); r < 0x30000; r++ {
		s := foldRune(r)
		if s != "" && slices.ContainsFunc(m.patterns, func(p Pattern) bool { return !isASCII(p.Letters) && strings.HasPrefix(p.Letters, s) }) {
			first[r] = true
		}
	}
	pairs := &[1 << 16]bool{}
	put := func(a, b byte) { pairs[int(a)<<8|int(b)] = true }
	for r := range first {
		if r < 256 {
			return nil
		}
		s := string(r)
		put(s[0], s[1])
		put(byte(r), byte(r>>8))
		put(byte(r>>8), byte(r))
		if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
			put(byte(high), byte(high>>8))
			put(byte(high>>8), byte(high))
		}
		for _, c := range m.charsets {
			if b, err := c.enc.NewEncoder().Bytes([]byte(s)); err == nil && len(b) == c.long {
				put(b[0], b[1])
			}
		}
	}
	for _, c := range m.charsets {
		c.once.Do(c.tables)
		for pair, r := range c.two {
			pairs[pair] = pairs[pair] || first[r]
		}
		for b, r := range c.one {
			for next := range 256 * boolInt(first[r]) {
				put(byte(b), byte(next))
			}
		}
	}
	return pairs
}

// begins reports whether a non-Latin identifier may begin in b, in any character encoding.
func (m *Matcher) begins(b []byte) bool {
	if m.firsts == nil {
		return true
	}
	for i := 1; i < len(b); i++ {
		if m.firsts[int(b[i-1])<<8|int(b[i])] {
			return true
		}
	}
	return false
}
