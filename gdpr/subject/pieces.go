package subject

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// raw is a text as bytes, which are only read: a copy of every text costs more than most
// searches.
func raw(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Most of a medium says nothing of anybody. pieces passes over what cannot: where no
// anchor stands, an occurrence has in it what is not plain ASCII, an escape, markup, a
// line's end inside a word, or base64; blocks of blockSize bytes are counted for those.
// Vectors and what is compressed hold all of it by chance, and no text: there anchors
// alone count.

const (
	blockSize = 128
)

// counters of one block, eight bits each.
const (
	foreignBytes = 8 * iota // not ASCII
	noiseBytes              // controls and zeros
	upperBytes
	escapeBytes // with which an escape begins
	markupBytes
	digitBytes
	hyphenEnds // ends of lines
	neverBytes // in UTF-8
)

var classes = func() (t [256]uint64) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= utf8.RuneSelf:
			t[i] |= 1 << foreignBytes
			if c == 0xc0 || c == 0xc1 || c >= 0xf8 {
				t[i] |= 1 << neverBytes
			}
		case c < ' ' && c != '\n' && c != '\r' && c != '\t', c == 0x7f:
			t[i] |= 1 << noiseBytes
		case c >= 'A' && c <= 'Z':
			t[i] |= 1 << upperBytes
		case c >= '0' && c <= '9':
			t[i] |= 1 << digitBytes
		case c == '<' || c == '*' || c == '[':
			t[i] |= 1 << markupBytes
		case escapes[c]:
			t[i] |= 1 << escapeBytes
		case c == '\n':
			t[i] |= 1 << hyphenEnds
		}
	}
	return t
}()

type span struct{ lo, hi int }

// pieces gives the stretches of b that may name the person in any layer, in order.
func (m *Matcher) pieces(b []byte, yield func(lo, hi int)) {
	var due []span
	add := func(lo, hi int) {
		lo, hi = max(0, lo), min(len(b), hi)
		if n := len(due); n > 0 && lo <= due[n-1].hi && lo >= due[n-1].lo {
			due[n-1].hi = max(due[n-1].hi, hi)
			return
		}
		due = append(due, span{lo, hi})
	}
	m.anchors.scan(b, 0, func(p *pattern, at int) bool {
		add(at-m.reach, at+m.reach)
		return true
	})
	done := 0 // up to where runs of base64 are known
	digits := 0
	for at := 0; at < len(b); at += blockSize {
		blk := b[at:min(len(b), at+blockSize)]
		n := uint64(0)
		if len(blk) == blockSize {
			for i := 0; i < blockSize; i += 8 {
				c := blk[i : i+8 : i+8]
				n += classes[c[0]] + classes[c[1]] + classes[c[2]] + classes[c[3]] + classes[c[4]] + classes[c[5]] + classes[c[6]] + classes[c[7]]
			}
		} else {
			for _, c := range blk {
				n += classes[c]
			}
		}
		noise := int(n >> noiseBytes & 0xff)
		if !m.foreign { // in other encodings they are letters
			noise += int(n >> neverBytes & 0xff)
		}
		if noise*16 >= len(blk) && int(n>>foreignBytes&0xff)*3 >= len(blk) { // numbers, not characters
			digits = 0
			continue
		}
		if m.phones {
			last := digits
			if digits = int(n >> digitBytes & 0xff); digits+last >= 6 {
				add(at-blockSize-m.reach, at+blockSize+m.reach)
			}
		}
		switch {
		case n>>foreignBytes&0xff > 0 && hasLetters(blk),
			n>>escapeBytes&0xff > 0 && hasEscape(b, at, at+len(blk)),
			n>>markupBytes&0xff > 0 && hasMarkup(blk):
			add(at-m.reach, at+len(blk)+m.reach)
		case n>>hyphenEnds&0xff > 0:
			if i := m.hyphenated(b, at, at+len(blk)); i > 0 {
				add(i-m.longest, i+m.longest)
			}
		}
		if n>>upperBytes&0xff > 0 && at+len(blk) > done {
			if lo, hi := encodedRun(b, max(done, at), at+len(blk)); hi > lo {
				add(lo, hi)
				done = hi
			}
		}
	}
	slices.SortStableFunc(due, func(a, b span) int { return a.lo - b.lo })
	for i := 0; i < len(due); {
		s := due[i]
		for i++; i < len(due) && due[i].lo <= s.hi; i++ {
			s.hi = max(s.hi, due[i].hi)
		}
		yield(whole(b, s.lo, -1), whole(b, s.hi, 1))
	}
}

// whole moves an end of a piece out of a character.
func whole(b []byte, at, step int) int {
	for n := 0; n < 3 && at > 0 && at < len(b) && !utf8.RuneStart(b[at]); n++ {
		at += step
	}
	return at
}

// hasLetters reports whether a character that is not ASCII shows something of a name, or
// hides: a dash, a quotation mark or a picture does not.
func hasLetters(b []byte) bool {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if n == 1 || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || ignorable(r) || dash(r) || apostrophe(r) || unicode.IsSpace(r) {
			return true
		}
		i += n
	}
	return false
}

// hasEscape reports whether an escape that may stand for a letter begins in b[lo:hi].
func hasEscape(b []byte, lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if !escapes[b[i]] {
			continue
		}
		if _, n, _ := escapeAt(b[i:]); n > 2 || n > 0 && b[i] == '=' {
			return true
		}
	}
	return false
}

// hasMarkup reports whether markup stands inside a word.
func hasMarkup(b []byte) bool {
	for i := 1; i < len(b); i++ {
		if classes[b[i]]>>markupBytes&1 == 1 && asciiFold[b[i-1]] != 0 && (b[i] == '<' || i+1 < len(b) && (asciiFold[b[i+1]] != 0 || b[i+1] == b[i])) {
			return true
		}
	}
	return false
}

// hyphenated is the end of a line in b[lo:hi] that ends in a hyphen where a word of an
// identifier may; 0 without one.
func (m *Matcher) hyphenated(b []byte, lo, hi int) int {
	for i := max(lo, 2); i < hi; i++ {
		if i+8 <= hi {
			// Eight bytes at once: an end of a line behind what may be a hyphen.
			x := binary.LittleEndian.Uint64(b[i:])
			before := x<<8 | uint64(b[i-1])
			if marks(x, '\n')&(marks(before, '-')|marks(before, '\r')|marks(before, ' ')|before&0x8080808080808080) == 0 {
				i += 7
				continue
			}
		}
		if b[i] == '\n' && m.breaks(b, i) {
			return i
		}
	}
	return 0
}

// marks has the highest bit of each byte of x set that is c, and perhaps of one above it.
func marks(x uint64, c byte) uint64 {
	x ^= 0x0101010101010101 * uint64(c)
	return (x - 0x0101010101010101) &^ x & 0x8080808080808080
}

// breaks reports whether a word of an identifier may go on behind the line that ends at i.
func (m *Matcher) breaks(b []byte, i int) bool {
	k := i - 1
	for k > 0 && (b[k] == '\r' || b[k] == ' ') {
		k--
	}
	if k < 1 || b[k] != '-' && b[k] < utf8.RuneSelf {
		return false
	}
	for n := i + 1; n < len(b) && n < i+maxJoined; n++ {
		if f := asciiFold[b[n]]; f != 0 {
			return m.pairs[[2]byte{asciiFold[b[k-1]], f}]
		}
	}
	return false
}

// encodedRun is the first run in b[lo:hi] that may be base64 or base32, with the lines
// before and behind it that belong to the same block.
func encodedRun(b []byte, lo, hi int) (from, to int) {
	for i := lo; i < hi; i++ {
		if c := b[i]; c < 'A' || c > 'Z' {
			continue
		}
		from, to = i, i+1
		for from > 0 && base64Digits[b[from-1]] {
			from--
		}
		for to < len(b) && base64Digits[b[to]] {
			to++
		}
		if to-from < minRun && !(to < len(b) && b[to] == '\n' || from > 0 && b[from-1] == '\n') || capitals(b[from:to]) && to-from < minRun {
			i = to
			continue
		}
		// The block: lines of digits alone, above and below.
		for from > 0 {
			k := from - 1
			for k > 0 && from-k < 64 && slices.Contains([]byte(" \t>|#*\r\n"), b[k]) {
				k--
			}
			if k <= 0 || !base64Digits[b[k]] || !follows(b[k+1:from]) {
				break
			}
			for from = k; from > 0 && base64Digits[b[from-1]]; from-- {
			}
		}
		for to < len(b) {
			k := to
			for k < len(b) && (k-to < 64) && slices.Contains([]byte(" \t>|#*\r\n="), b[k]) {
				k++
			}
			if k >= len(b) || !base64Digits[b[k]] || !follows(b[to:k]) {
				to = min(len(b), max(to, k))
				break
			}
			for to = k; to < len(b) && base64Digits[b[to]]; to++ {
			}
		}
		if to-from >= minRun {
			return from, to
		}
		i = to
	}
	return 0, 0
}

func capitals(b []byte) bool {
	for _, c := range b {
		if c >= 'a' && c <= 'z' {
			return false
		}
	}
	return true
}
