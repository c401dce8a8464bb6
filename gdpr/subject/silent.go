package subject

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// maxSilent is the longest text that silent reads: so short, every stretch that pieces yields is all of it.
const maxSilent = 64

// silent reports whether a decoded block names the subject in no layer, as almost no decoded word does: the block has no
// layer but its own text, and no letters in it follow one another as an identifier's do. False means
// that the block has to be searched.
func (m *Matcher) silent(b []byte) bool {
	if len(b) > maxSilent || compressed(b) || (m.foreign || len(m.charsets) > 0) && (m.begins(b) || m.anchors.any(b)) {
		return false
	}
	zeros := bytes.IndexByte(b, 0) >= 0
	if zeros && (m.foreign || Wide(b)) {
		return false
	}
	least := minRun // digits of a block of its own
	if bytes.IndexByte(b, '\n') >= 0 {
		least = min(least, m.least*4/3) // its lines may be shorter
	}
	digits, chain, last := 0, 0, byte(0) // chain counts pairs of letters in a row that an identifier has
	for i := 0; i < len(b); {
		c, n := b[i], 1
		if base64Digits[c] {
			digits++
		} else if !betweenLines[c] { // else a line of the same block may follow
			digits = 0
		}
		if zeros && i > 0 && magicAt(b[i:]) { // in a record
			return false
		}
		if digits >= least {
			return false
		}
		switch f := asciiFold[c]; {
		case f != 0:
			if chain++; !m.pairs[int(last)<<8|int(f)] {
				chain = 0
			}
			last = f
		case c >= utf8.RuneSelf:
			if c == 0xc3 && i+2 < len(b) && b[i+1]&0xc0 == 0x80 && b[i+2] >= utf8.RuneSelf { // misread may decode it
				return false
			}
			var letters string
			letters, n = foldedAt(b[i:])
			for k := range len(letters) {
				if chain++; !m.pairs[int(last)<<8|int(letters[k])] {
					chain = 0
				}
				if last = letters[k]; chain >= m.chain {
					return false
				}
			}
		case c == '\n' && foldAt(b, i), len(m.charsets) > 0 && (c == '\x0e' || c == '\x1b' || c == '~'): // a shift of a charset
			return false
		case c == '<' || c == ']':
			if markup(b[i:]) > 1 {
				return false
			}
		case escapes[c]:
			if _, n, _ := escapeAt(b[i:]); n > 0 || c == '=' && i+1 < len(b) && b[i+1] == '?' {
				return false
			}
		}
		if chain >= m.chain {
			return false
		}
		i += n
	}
	return true
}

// silentRun reports whether a run of digits, perhaps with padding and blanks after it, decodes to nothing but what is silent
// or no text, in each encoding and from each digit on. Lines of digits are for a walk: it notes that they are joined.
func (m *Matcher) silentRun(b []byte) bool {
	n := 0
	for n < len(b) && base64Digits[b[n]] {
		n++
	}
	run, rest := b[:n], b[n:]
	if slices.ContainsFunc(rest, func(c byte) bool { return !betweenLines[c] }) {
		return false
	}
	for _, in := range []struct {
		*alphabet
		least int
	}{{base64Code, m.least * 4 / 3}, {hexCode, m.least * 2}, {base32Code, m.least * 8 / 5}} {
		for i := 0; i < n; i++ {
			from := i
			for i < n && in.digits[run[i]] {
				i++
			}
			one, digits := [1]line{{from, i, i}}, run[from:i]
			if len(digits) < max(minRun, in.least) || !encoded(run, one[:], in.method) || m.quiet.has(digits, in.method, 0) {
				continue
			}
			if len(decodings(run, one[:], in.alphabet, m.foreign, m.anchors, m.silent)) > 0 {
				return false
			}
			m.quiet.add(digits, in.method, 0)
		}
	}
	return true
}
