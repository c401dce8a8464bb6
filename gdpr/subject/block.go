package subject

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// A block is a run of characters in one encoding: it is decoded as a whole, across its line ends, and
// redacted as a whole.

// alphabet is the digits of an encoding: each of its sets has all values in order.
type alphabet struct {
	method Method
	digits [256]bool
	value  [256]byte
	bits   int // of a digit
}

func newAlphabet(m Method, bits int, sets ...string) *alphabet {
	a := &alphabet{method: m, bits: bits}
	for _, set := range sets {
		for v := range len(set) {
			a.digits[set[v]], a.value[set[v]] = true, byte(v)
		}
	}
	return a
}

// shifts is the number of digits at which a decoding may begin: at the next one, the bytes have the same borders again.
func (a *alphabet) shifts() int {
	n := 1
	for n*a.bits%8 != 0 {
		n++
	}
	return n
}

// unpack writes the whole bytes that the values of digits make to room, which is as long as values.
func (a *alphabet) unpack(room, values []byte) []byte {
	bits, n, done, each := uint(0), uint(0), 0, uint(a.bits)
	for _, v := range values {
		bits, n = bits<<(each&7)|uint(v), n+each
		if n >= 8 {
			n -= 8
			room[done] = byte(bits >> (n & 7))
			done++
		}
	}
	return room[:done]
}

const (
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
)

var (
	base64Code = newAlphabet(Base64, 6, upperLetters+lowerLetters+"0123456789+/", upperLetters+lowerLetters+"0123456789-_")
	hexCode    = newAlphabet(Hex, 4, "0123456789abcdef", "0123456789ABCDEF")
	base32Code = newAlphabet(Base32, 5, upperLetters+"234567", lowerLetters+"234567")
)

// base64Digits are the digits of both base64 alphabets, and of the other encodings too.
var base64Digits, hexDigits, base32Digits = &base64Code.digits, &hexCode.digits, &base32Code.digits

// wordDigits are those of hex and base32.
var wordDigits = func() (t [256]bool) {
	for c := range t {
		t[c] = hexDigits[c] || base32Digits[c]
	}
	return t
}()

// line is a run of digits in a text, and the padding after it.
type line struct{ from, to, end int }

// runs hands the runs of digits of a minimum length to block, and blocks of several lines. It reports whether there is any.
func (w *walker) runs(l *layer, lo, hi int, in *alphabet, least int) (any bool) {
	least = max(minRun, least)
	text := l.text
	var few [4]line
	lines := few[:0]
	flush := func() {
		if len(lines) > 1 {
			w.block(l, lines, in)
			if any = true; len(lines) > 2 && lines[0].to-lines[0].from != lines[1].to-lines[1].from { // its first line may be prose
				w.block(l, lines[1:], in)
			}
		}
		lines = lines[:0]
	}
	ended := false // a line, since the last run
	for i := lo; i < hi; {
		if !in.digits[text[i]] {
			ended = ended || text[i] == '\n'
			i++
			continue
		}
		one := [1]line{{from: i}}
		for i < len(text) && in.digits[text[i]] {
			i++
		}
		one[0].to = i
		for i < len(text) && text[i] == '=' && i-one[0].to < 6 {
			i++
		}
		one[0].end = i
		width := one[0].to - one[0].from
		if width >= least {
			any = true
			w.block(l, one[:], in)
		}
		if n := len(lines); n > 0 {
			last := lines[n-1]
			had := last.to - last.from
			if !ended || last.end > last.to || n > 1 && (had != lines[1].to-lines[1].from || width > had) || !follows(text[last.end:one[0].from]) {
				flush()
			}
		}
		ended = false
		if len(lines) == 0 && one[0].end > one[0].to {
			continue
		}
		lines = append(lines, one[0])
	}
	flush()
	return any
}

// follows reports whether a gap lies between two lines of a block: a line end and the indentation or quote
// mark of the next line.
func follows(gap []byte) bool {
	n := bytes.IndexByte(gap, '\n')
	return n >= 0 && len(gap) < 64 && len(bytes.Trim(gap[:n], " \t\r")) == 0 && len(bytes.Trim(gap[n+1:], " \t>|#*")) == 0
}

// decodings returns the possible decodings of a block; foreign says that letters of non-Latin scripts count
// in UTF-16 too. Bytes that are no text, of a picture or a database, are among them where they have an anchor; nil: none has.
// Those that silent reports are left out; it may be nil.
func decodings(text []byte, lines []line, in *alphabet, foreign bool, anchors *sieve, silent func(b []byte) bool) [][]byte {
	const most = 128 // bytes of most runs: they need no memory of their own
	var short, long [most]byte
	all := short[:0]
	for _, l := range lines {
		for _, c := range text[l.from:l.to] {
			all = append(all, in.value[c])
		}
	}
	var out [][]byte
	room := slices.Grow(long[:0], len(all))[:len(all)]
	for skip := range min(len(all), in.shifts()) {
		b := in.unpack(room, all[skip:])
		same := func(o []byte) bool { return bytes.HasPrefix(o, b) } // a repeated digit
		if len(b) == 0 || silent != nil && silent(b) || slices.ContainsFunc(out, same) {
			continue
		}
		if sensible(b) || foreign && sensibleWide(b) || anchors != nil && anchors.any(b) {
			out = append(out, bytes.Clone(b))
		}
	}
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sensible reports whether decoded bytes are mostly text, or compressed: decoding at a wrong offset gives
// noise.
func sensible(b []byte) bool {
	if compressed(b) {
		return true
	}
	good := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case n > 1:
			good += n
		case r >= ' ' && r < 0x7f, r == '\n', r == '\r', r == '\t', r == 0, r == utf8.RuneError && b[i] >= 0xc0:
			good++
		}
		i += n
	}
	return good*10 >= len(b)*7
}

// sensibleWide is sensible for UTF-16: nine of ten units are letters of alphabets, Chinese, Japanese or
// Korean; in noise six of ten are.
func sensibleWide(b []byte) bool {
	for first := range 2 { // of a unit: its high byte in either order
		for skip := range min(2, len(b)) {
			good, units := 0, 0
			for i := skip; i+1 < len(b); i += 2 {
				units++
				switch high := b[i+first]; {
				case high < 0x20, high >= 0x30 && high < 0x32, high >= 0x4e && high < 0xa0, high >= 0xac && high < 0xd8, high >= 0xfe:
					good++
				}
			}
			if units > 0 && good*10 >= units*9 {
				return true
			}
		}
	}
	return false
}

// blockMagic are the magic bytes of what is opened in a block, or cannot be. Two bytes occur by chance in a block that is
// decoded at a wrong offset, but a zlib stream inflates.
var blockMagic = func() (by [256][]string) {
	all := []string{"\x1f\x8b\x08", "BZh", "\x78", "PK\x03\x04", "%PDF-"}
	for _, l := range libraries {
		all = append(all, l.magic)
	}
	for _, c := range closedKinds {
		if len(c.magic) > 2 {
			all = append(all, c.magic)
		}
	}
	for _, magic := range all {
		by[magic[0]] = append(by[magic[0]], magic)
	}
	return by
}()

// compressed is a cheap check for magic bytes: of compressed data, documents and what cannot be opened.
func compressed(b []byte) bool {
	if len(b) == 0 || !slices.ContainsFunc(blockMagic[b[0]], func(magic string) bool { return bytes.HasPrefix(b, []byte(magic)) }) {
		return false
	}
	k, what := recognise(b[:min(len(b), headSize)])
	return k != plainly && what != unknownFile
}

// wide yields the UTF-16 and UTF-32 texts that a piece with zeros may hold: in each byte order, at each
// alignment. If all identifiers are in Latin letters, only texts with zeros between their characters are
// read.
func (l *layer) wide(foreign bool, yield func(*layer)) {
	for _, size := range []int{2, 4} {
		if foreign && (size == 2 || pairsApart(l.text)) {
			l.decodeWide(size, yield)
			continue
		}
		for at := 0; ; {
			lo := interleavedAt(l.text, at, size)
			if lo < 0 {
				break
			}
			for at = lo + size; ; at += size {
				if next := interleavedAt(l.text[:min(len(l.text), at+48*size)], at, size); next < 0 {
					break
				}
			}
			lo = max(0, lo-48*size)
			part := *l
			part.text = l.text[lo:min(len(l.text), at+48*size)]
			if part.base += lo; l.at != nil {
				part.at, part.to = l.at[lo:], l.to[lo:]
			}
			part.decodeWide(size, yield)
		}
	}
}

// pairsApart reports whether two zeros, two other bytes and two zeros follow one another, as in UTF-32.
func pairsApart(b []byte) bool {
	for i := 0; i+6 <= len(b); i++ {
		n := bytes.Index(b[i:], []byte{0, 0})
		if n < 0 || i+n+6 > len(b) {
			return false
		}
		if i += n; (b[i+2] != 0 || b[i+3] != 0) && b[i+4] == 0 && b[i+5] == 0 {
			return true
		}
	}
	return false
}

// decodeWide reads a piece in both byte orders, at each alignment.
func (l *layer) decodeWide(size int, yield func(*layer)) {
	for _, big := range []bool{false, true} {
		for skip := range size {
			d := decoding{of: l}
			// Half a character at an end: in the other byte order the text is shifted by one byte.
			if skip == 1 && size == 2 && big && l.text[0] != 0 {
				d.add(string(rune(l.text[0])), 0, 1)
			}
			for i := skip; i+size <= len(l.text); i += size {
				r, n := unit(l.text[i:], size, big), i+size
				if size == 2 && r >= 0xd800 && r < 0xdc00 && n+2 <= len(l.text) {
					if low := unit(l.text[n:], 2, big); low >= 0xdc00 && low < 0xe000 {
						r, n = (r-0xd800)<<10|(low-0xdc00)+0x10000, n+2
					}
				}
				d.add(string(r), i, n)
				i = n - size
			}
			if last := len(l.text) - 1; size == 2 && !big && (len(l.text)-skip)%2 == 1 && l.text[last] != 0 {
				d.add(string(rune(l.text[last])), last, last+1)
			}
			if wide := d.layer(UTF16); wide != nil {
				yield(wide)
			}
		}
	}
}

// interleaved reports whether consecutive Latin-1 characters have zeros between them.
func interleaved(b []byte, size int) bool { return interleavedAt(b, 0, size) >= 0 }

// interleavedAt is the first offset at which three such characters follow, or as many as there are; -1
// without one.
func interleavedAt(b []byte, from, size int) int {
	letter := func(i int) bool { return b[i] >= ' ' && b[i] != 0x7f }
	zero := func(i int) bool { return b[i+1] == 0 && b[i+size-1] == 0 && b[i+size/2] == 0 }
	for i := from; i+2*size < len(b); i++ {
		n := bytes.IndexByte(b[i+1:], 0)
		if n < 0 || i+n+2*size >= len(b) {
			break
		}
		if i += n; letter(i) && letter(i+size) && letter(i+2*size) && zero(i) && zero(i+size) {
			return i
		}
	}
	if from == 0 && len(b) < 4*size && len(b) > size && letter(0) != letter(1) && letter(0) != (b[0] == 0) {
		return 0
	}
	return -1
}

func unit(b []byte, size int, big bool) rune {
	r := rune(0)
	for i := range size {
		k := i
		if !big {
			k = size - 1 - i
		}
		r = r<<8 | rune(b[k])
	}
	if r < 0 || r > utf8.MaxRune {
		return 0
	}
	return r
}
