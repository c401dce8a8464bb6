package subject

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// raw is a text's own bytes, which must not be written: copying every text would cost more than most
// searches.
func raw(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Most of a medium names nobody, and pieces skips that. An occurrence without an anchor contains non-ASCII
// characters, an escape, markup, a line end inside a word, or base64; blocks of blockSize bytes are checked
// for those. Vectors and compressed data contain all of it by chance, and no text: there only anchors count.

// blockSize is even: the sieve steps by two bytes.
const blockSize = 128

// neverText reports whether a byte occurs in no text; with utf, in no text of UTF-8.
func neverText(c byte, utf bool) bool {
	return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f || utf && (c == 0xc0 || c == 0xc1 || c >= 0xf8)
}

type span struct{ lo, hi int }

// pieces yields the stretches of b that may name the subject in any layer, in order. packed is called with
// each offset, except the first, that has magic bytes of compressed data; may be nil. digits says that a stretch is only
// runs of digits that may be encoded.
func (m *Matcher) pieces(b []byte, packed func(at int), yield func(lo, hi int, digits bool)) {
	due := stretches{most: len(b)}
	add := due.add
	short := m.reach - maxMark + maxJoined
	done := 0 // runs of base64 are known up to here
	digits := 0
	tried := 1                                                 // magic bytes were searched up to here
	line, shifted := span{0, -1}, make([]int, len(m.charsets)) // see shiftedAt; runs of each charset are known up to here
	for at := 0; at < len(b); at += blockSize {
		end := min(len(b), at+blockSize)
		group, kind := m.anchors.look(b, at)
		if group&magics != 0 && packed != nil {
			for i := max(tried, at-1); i < end; i++ {
				if magicAt(b[i:]) {
					packed(i)
				}
			}
			tried = end
		}
		if group&patterns != 0 {
			m.anchors.within(b, at, func(p *pattern, at int) bool {
				if !p.plain || m.across(b, at, at+1) {
					add(at-m.reach, at+m.reach)
				}
				return true
			})
		}
		last := digits
		digits = 0
		if kind&noiseBytes != 0 && kind&foreignBytes != 0 && numbers(b[at:end], m.foreign) {
			due.numbers(at-short, end+short) // they contain no markup: an occurrence beside or among them extends less far
			continue
		}
		if m.phones && kind&digitBytes != 0 {
			digits = countDigits(b[at:end])
		}
		if m.phones && digits+last >= 6 {
			add(at-blockSize-m.reach, at+blockSize+m.reach)
		}
		if len(m.charsets) > 0 && (kind&noiseBytes != 0 || bytes.IndexByte(b[at:end], '~') >= 0) {
			m.shiftedRuns(b, at, end, shifted, &line, add)
		}
		// A block of numbers has no letters and no markup, unless it is text in an older encoding: then an
		// identifier must begin here.
		quiet := m.foreign && kind&noiseBytes != 0 && kind&foreignBytes != 0 && !m.begins(b[at:min(len(b), end+1)]) && numbers(b[at:end], false)
		if kind&foreignBytes != 0 && !quiet && hasLetters(b[at:end]) || kind&escapeBytes != 0 && hasEscape(b, at, end) {
			add(at-m.reach, end+m.reach)
		}
		switch {
		case kind&(escapeBytes|markupBytes) != 0 && !quiet:
			m.breaks(b, at, end, breakers, add)
		case group&lines != 0 || at > 0 && b[at] == '\n':
			m.breaks(b, at, end, "\n", add)
		}
		if end > done {
			done = m.encodedRuns(b, max(done, at), end, kind&capitalBytes != 0, func(lo, hi int) {
				if !m.silentRun(b[lo:hi]) {
					due.digits(lo, hi)
				}
			})
		}
	}
	due.each(func(s stretch) { yield(whole(b, s.lo, -1), whole(b, s.hi, 1), s.digits) })
}

// stretch is a part of a text; digits says that it is only runs of digits that may be encoded.
type stretch struct {
	span
	digits bool
}

// stretches are parts of a text of most bytes.
type stretches struct {
	all         []stretch
	floor, most int // floor: the first offset of an occurrence after the last numbers
}

func (s *stretches) add(lo, hi int) { s.join(lo, hi, false) }

func (s *stretches) digits(lo, hi int) { s.join(lo, hi, true) }

func (s *stretches) join(lo, hi int, digits bool) {
	lo, hi = max(0, lo, s.floor), min(s.most, hi)
	if n := len(s.all); n > 0 && lo <= s.all[n-1].hi && lo >= s.all[n-1].lo {
		last := &s.all[n-1]
		last.hi, last.digits = max(last.hi, hi), last.digits && digits
		return
	}
	s.all = append(s.all, stretch{span{lo, hi}, digits})
}

// numbers bounds the last stretch and those to come.
func (s *stretches) numbers(floor, until int) {
	if n := len(s.all); n > 0 {
		s.all[n-1].hi = min(s.all[n-1].hi, until)
	}
	s.floor = floor
}

// each yields the stretches in order, joined where they touch.
func (s *stretches) each(yield func(stretch)) {
	slices.SortStableFunc(s.all, func(a, b stretch) int { return a.lo - b.lo })
	for i := 0; i < len(s.all); {
		one := s.all[i]
		for i++; i < len(s.all) && s.all[i].lo <= one.hi; i++ {
			one.hi, one.digits = max(one.hi, s.all[i].hi), one.digits && s.all[i].digits
		}
		yield(one)
	}
}

func countDigits(b []byte) (n int) {
	for _, c := range b {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// shiftedRuns adds the runs of seven-bit charsets that begin in b[at:end]; those of each charset are known up to shifted.
func (m *Matcher) shiftedRuns(b []byte, at, end int, shifted []int, line *span, add func(lo, hi int)) {
	for k, c := range m.charsets {
		for shifted[k] = max(shifted[k], at); shifted[k] < end; {
			from, _, _, to, ok := c.shiftedAt(b, shifted[k], end, line)
			if !ok {
				break
			}
			add(from-m.reach, to+m.reach)
			shifted[k] = to
		}
	}
}

// numbers reports whether a block holds numbers, not characters. foreign says that any byte above ASCII may
// be a letter of an older encoding.
func numbers(blk []byte, foreign bool) bool {
	const one, top = 0x0101010101010101, 0x8080808080808080
	if len(blk) == blockSize {
		// Check eight bytes at once for the commonest noise: enough for most numbers.
		n, h := uint64(0), uint64(0) // in each byte a count of up to 16
		for i := 0; i < blockSize; i += 8 {
			x := binary.LittleEndian.Uint64(blk[i:])
			from := func(c uint64) uint64 { return (x | top) - one*c } // the highest bit: from c on, of the lower seven
			controls := ^from(' ') &^ (from('\t') &^ from('\r'+1)) &^ x
			if !foreign {
				controls |= from(0x78) & x
			}
			n, h = n+(controls&top)>>7, h+(x&top)>>7
		}
		if n*one>>56*16 >= blockSize && h*one>>56*3 >= blockSize {
			return true
		}
	}
	noise, high := 0, 0
	for _, c := range blk {
		n := noisy[c]
		noise, high = noise+int(n&1), high+int(c>>7)
		if !foreign { // they are letters in other encodings
			noise += int(n >> 1)
		}
	}
	return noise*16 >= len(blk) && high*3 >= len(blk)
}

// noisy is 1 for a byte that occurs in no text, 2 for one that occurs in no UTF-8.
var noisy = func() (t [256]byte) {
	for i := range t {
		switch c := byte(i); {
		case neverText(c, false):
			t[i] = 1
		case neverText(c, true):
			t[i] = 2
		}
	}
	return t
}()

// whole moves a border of a piece to the border of a character.
func whole(b []byte, at, step int) int {
	for n := 0; n < 3 && at > 0 && at < len(b) && !utf8.RuneStart(b[at]); n++ {
		at += step
	}
	return at
}

// hasLetters reports whether a non-ASCII character may be part of a name, or hides: a dash, a quotation mark
// or a picture does neither.
func hasLetters(b []byte) bool {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if n == 1 || unicode.IsLetter(r) || unicode.IsNumber(r) || gapClass(r) == 0 || dash(r) || apostrophe(r) || unicode.IsSpace(r) {
			return true
		}
		i += n
	}
	return false
}

// hasEscape reports whether b[lo:hi] contains the beginning of an escape that may encode a letter.
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

// breaks adds the places in b[lo:hi] where a word of an identifier may continue after an interruption: a line
// end, raw or escaped, or markup. with lists their first characters.
func (m *Matcher) breaks(b []byte, lo, hi int, with string, add func(lo, hi int)) {
	for i := lo; i < hi; i++ {
		n := bytes.IndexAny(b[i:hi], with)
		if n < 0 {
			return
		}
		i += n
		wide := b[i] == '\n' && i+1 < len(b) && b[i+1] == 0 // of UTF-16 or UTF-32: what is before it is not looked at
		switch c := b[i]; {
		case wide:
		case i == 0, c != '\n' && isBlank(b[i-1]), c == b[i-1]: // the first of several counts
			continue
		case c == '\n' && !foldAt(b, i) && (asciiFold[b[i-1]] != 0 || !bytes.HasSuffix(bytes.TrimRight(b[max(0, i-maxJoined):i], "\r "), []byte("-"))):
			continue
		}
		from := i - 1
		for from >= 0 && from > i-maxJoined && b[from] < utf8.RuneSelf && asciiFold[b[from]] == 0 {
			from--
		}
		if from < 0 || asciiFold[b[from]] == 0 { // no word before it: many breaks without one are not followed each
			continue
		}
		switch to := behindBreak(b, i); {
		case to == len(b) || !m.across(b, from, to):
		case b[i] == '\n' && !wide:
			add(i-m.longest, to+m.longest)
		default:
			add(i-m.reach, to+m.reach)
		}
	}
}

// breakers are the first bytes of anything that may interrupt a word.
const breakers = "\n\\<*[]~"

// behindBreak is the offset of the first letter after i, past tags, link targets and escaped line ends;
// len(b) where none is near.
func behindBreak(b []byte, i int) int {
	for to := i; to < min(len(b), i+4*maxMark); {
		switch c := b[to]; {
		case c >= utf8.RuneSelf || asciiFold[c] != 0:
			return to
		case c == '<' || c == ']':
			to += markup(b[to:])
		case c == '\\' && to+1 < len(b) && bytes.IndexByte([]byte("nrt"), b[to+1]) >= 0:
			to += 2
		default:
			to++
		}
	}
	return len(b)
}

// across reports whether an identifier may continue from the letter at lo to the one at hi: the ASCII letters
// on both sides, as far as they are consecutive, are the identifier's.
func (m *Matcher) across(b []byte, lo, hi int) bool {
	if !m.pairs[int(asciiFold[b[lo]])<<8|int(asciiFold[b[hi]])] {
		return false
	}
	from, to := lo, hi
	for from > 0 && from > lo-2*MaxTerm && asciiFold[b[from-1]] != 0 && (from == 1 || b[from-2] != '\\') { // the n of \n is no letter
		from--
	}
	for to < len(b) && to < hi+2*MaxTerm && asciiFold[b[to]] != 0 {
		to++
	}
	before, after := string(bytes.ToLower(b[from:lo+1])), string(bytes.ToLower(b[hi:to]))
	return slices.ContainsFunc(m.patterns, func(p Pattern) bool {
		for i := 1; i < len(p.Letters); i++ {
			head, tail := p.Letters[:i], p.Letters[i:]
			if (strings.HasSuffix(before, head) || strings.HasSuffix(head, before)) && (strings.HasPrefix(after, tail) || strings.HasPrefix(tail, after)) {
				return true
			}
		}
		return false
	})
}

// encodedRuns adds the runs in b[lo:hi] that may be base64, base32 or hex, each with the lines before and after it
// that belong to the same block. capital says whether b[lo:hi] may have a capital letter. done is where the next run may
// begin.
func (m *Matcher) encodedRuns(b []byte, lo, hi int, capital bool, add func(lo, hi int)) (done int) {
	const every = 2 * minRun // at such places a long run without capitals is looked for
	for done = lo; done < hi; done++ {
		from, next := done, min(hi, (done+every-1)&^(every-1))
		if done = next; capital {
			done = capitalIn(b, from, next)
		}
		if done == hi {
			break
		}
		least, to := minRun, 0
		switch c := b[done]; {
		case c >= 'A' && c <= 'Z':
			from, to = runAround(b, done, base64Digits)
		case asciiFold[c] != 0: // without capitals it is hex or base32, and a long run has a letter at a multiple of its least length
			least = 2 * minRun
			if from, to = runAround(b, done, &wordDigits); to-from < least && !(from > 0 && b[from-1] == '\n' && to < len(b) && b[to] == '\n') {
				continue
			}
			if from, to = runAround(b, done, hexDigits); to-from < least {
				from, to = runAround(b, done, base32Digits)
			}
		default:
			continue
		}
		above, below := from > 0 && b[from-1] == '\n', to < len(b) && b[to] == '\n'
		short := to-from < least && !(above && below || least == minRun && (above || below)) || to-from < minRun && capitals(b[from:to])
		if !short {
			from, to = blockStart(b, from), blockEnd(b, to)
			if short = to-from < max(least, m.least*4/3); !short {
				add(from, to)
			}
		}
		if short && least > minRun { // capitals behind it may say more
			continue
		}
		done = to
	}
	return done
}

// capitalIn is the offset of the first capital letter in b[lo:hi]; hi without one.
func capitalIn(b []byte, lo, hi int) int {
	const one, top = 0x0101010101010101, 0x8080808080808080
	for ; lo+8 <= hi; lo += 8 {
		x := binary.LittleEndian.Uint64(b[lo:])
		from := func(c uint64) uint64 { return (x | top) - one*c } // the highest bit: from c on, of the lower seven
		if found := from('A') &^ from('Z'+1) &^ x & top; found != 0 {
			return lo + bits.TrailingZeros64(found)/8
		}
	}
	for lo < hi && (b[lo] < 'A' || b[lo] > 'Z') {
		lo++
	}
	return lo
}

func runAround(b []byte, at int, in *[256]bool) (from, to int) {
	for from = at; from > 0 && in[b[from-1]]; {
		from--
	}
	for to = at; to < len(b) && in[b[to]]; {
		to++
	}
	return from, to
}

// blockStart and blockEnd are the borders of the block around a place in a run of digits: lines of only
// digits, above and below. In a string of JSON a line end is escaped, and a slash may be.
func blockStart(b []byte, from int) int {
	for {
		for from > 0 && base64Digits[b[from-1]] {
			from--
		}
		k := from - 1
		for k > 0 && from-k < 64 && slices.Contains([]byte(" \t>|#*\r\n"), b[k]) {
			k--
		}
		if k+1 == from && k >= 0 && b[k] == '\\' && bytes.IndexByte([]byte("nr/"), b[from]) >= 0 {
			for k > 0 && b[k] == '\\' {
				k--
			}
			if !base64Digits[b[k]] {
				return from
			}
			from = k
			continue
		}
		if k <= 0 || !base64Digits[b[k]] || !follows(b[k+1:from]) {
			return from
		}
		from = k
	}
}

// betweenLines are the padding, the blanks and the marks between two lines of a block.
var betweenLines = func() (t [256]bool) {
	for _, c := range []byte(" \t>|#*\r\n=") {
		t[c] = true
	}
	return t
}()

func blockEnd(b []byte, to int) int {
	for {
		for to < len(b) && base64Digits[b[to]] {
			to++
		}
		k := to
		for k < len(b) && b[k] == '\\' {
			k++
		}
		if k > to && k < len(b) && bytes.IndexByte([]byte("nr/"), b[k]) >= 0 {
			to = k
			continue
		}
		for k < len(b) && k-to < 64 && betweenLines[b[k]] {
			k++
		}
		if k >= len(b) || !base64Digits[b[k]] || !follows(b[to:k]) {
			return k
		}
		to = k
	}
}

// blocksAround is the stretch of b whose blocks have a part in b[lo:hi], or touch it.
func blocksAround(b []byte, lo, hi int) (from, to int) {
	gap := b[max(0, lo-64):lo]
	from = blockStart(b, lo-len(gap)+len(bytes.TrimRight(gap, " \t>|#*\r\n")))
	if from <= 64 { // blockStart does not see a line of one digit at the very beginning
		from = 0
	}
	for to = from; to <= hi && to < len(b); {
		to = max(to+1, blockEnd(b, to))
	}
	return from, to
}

func capitals(b []byte) bool { return !bytes.ContainsFunc(b, unicode.IsLower) }
