package subject

import "unicode/utf8"

// maxSilent is the longest text that silent reads: so short, every stretch that pieces yields is all of it.
const maxSilent = 64

// silent reports whether a decoded block names the subject in no layer, as almost no decoded word does: the block has no
// layer but its own text, and no letters in it follow one another as an identifier's do. False means
// that the block has to be searched.
func (m *Matcher) silent(b []byte) bool {
	if len(b) > maxSilent || compressed(b) || (m.foreign || len(m.charsets) > 0) && (m.begins(b) || m.anchors.any(b)) {
		return false
	}
	digits, chain, last := 0, 0, byte(0) // chain counts pairs of letters in a row that an identifier has
	for i := 0; i < len(b); {
		c, n := b[i], 1
		if digits++; !base64Digits[c] {
			digits = 0
		}
		if digits == minRun { // a block of its own
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
		case c == 0, c == '\n', len(m.charsets) > 0 && (c == '\x0e' || c == '\x1b' || c == '~'): // UTF-16, another line, a shift of a charset
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
