package subject

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// In the bytes of a medium a name that bears marks which the identifier has not, or
// lacks some that it has, is looked for by its marked letters: what stands beside such
// a letter must stand beside it in the name.

// letterNeighbours are the letters of names and what may stand beside each of them.
type letterNeighbours struct {
	before, after [26]uint32 // bits of letters; the last ones for what is no letter
	any           uint32
}

// noLetter is the bit of a space and the like, and of what is not ASCII.
const noLetter = 1 << 26

func letterBit(c byte) uint32 {
	if c = lower(c); c >= 'a' && c <= 'z' {
		return 1 << (c - 'a')
	}
	return noLetter
}

// neighboursOf are those of all names in Latin letters; nil where there are none.
func neighboursOf(terms []term) *letterNeighbours {
	var out letterNeighbours
	for _, t := range terms {
		if len(t.plain) == 0 || !isASCII(t.plain[0]) {
			continue
		}
		p := t.plain[0]
		for i := range len(p) {
			if letterBit(p[i]) == noLetter {
				continue
			}
			k := p[i] - 'a'
			out.any |= 1 << k
			before, after := uint32(noLetter), uint32(noLetter)
			if i > 0 {
				before = letterBit(p[i-1])
			}
			if i+1 < len(p) {
				after = letterBit(p[i+1])
			}
			out.before[k] |= before
			out.after[k] |= after
		}
	}
	if out.any == 0 {
		return nil
	}
	return &out
}

// beside reports whether a letter may stand between two bytes in a name. Of what is no
// ASCII nothing is known.
func (l *letterNeighbours) beside(before, c, after byte) bool {
	c = lower(c)
	if c < 'a' || c > 'z' || l.any&(1<<(c-'a')) == 0 {
		return false
	}
	k := c - 'a'
	return (before >= utf8.RuneSelf || l.before[k]&letterBit(before) != 0) && (after >= utf8.RuneSelf || l.after[k]&letterBit(after) != 0)
}

// plainLetters are the letters of U+00C0 to U+024F without their marks, the first of
// those that one stands for; 0 where that is not ASCII.
var plainLetters = func() (out [0x250 - 0xc0]byte) {
	for i := range out {
		if u := unmark(fold(string(rune(0xc0 + i))).text); u.text != "" && u.text[0] < utf8.RuneSelf && letterBit(u.text[0]) != noLetter {
			out[i] = u.text[0]
		}
	}
	return out
}()

// plainLetter is a marked letter at b[i] without its mark, and where it begins and ends;
// 0 where there is none. A mark that stands by itself belongs to the letter before it.
func plainLetter(b []byte, i int) (c byte, lo, hi int) {
	if i+1 >= len(b) || b[i+1]&0xc0 != 0x80 {
		return 0, i, i
	}
	switch lead := b[i]; {
	case lead >= 0xc3 && lead <= 0xc9:
		if r := int(lead&0x1f)<<6 | int(b[i+1]&0x3f); r < 0x250 {
			return plainLetters[r-0xc0], i, i + 2
		}
	case (lead == 0xcc || lead == 0xcd && b[i+1] < 0xb0) && i > 0:
		return b[i-1], i - 1, i + 2
	case lead == 0xe1 && i+2 < len(b) && b[i+1] >= 0xb8 && b[i+1] <= 0xbb: // Latin Extended Additional
		r, n := utf8.DecodeRune(b[i:])
		if f := foldOf(r); n == 3 && f.text != "" {
			return f.text[0], i, i + n
		}
	}
	return 0, i, i
}

// inMarked finds what begins in b[from:limit].
func (m *Matcher) inMarked(hits []Hit, b []byte, from, limit int, isBinary bool, friends *Friends) []Hit {
	if m.marked == nil {
		return hits
	}
	done := 0 // no hit is looked for twice
	look := func(c byte, lo, hi int) {
		before, after := byte(' '), byte(' ')
		if lo > 0 {
			before = b[lo-1]
		}
		if hi < len(b) {
			after = b[hi]
		}
		if lo >= done && m.marked.beside(before, c, after) {
			if h, ok := m.markedAt(b, lo, isBinary, friends); ok {
				hits, done = append(hits, h), h.End
			}
		}
	}
	const high = 0x8080808080808080
	end := min(len(b), limit+MaxTerm)
	for i := from; i < end; {
		if i+8 <= end {
			x := binary.LittleEndian.Uint64(b[i:]) & high
			if x == 0 {
				i += 8
				continue
			}
		}
		for stop := min(i+8, end); i < stop; i++ {
			if b[i] < 0xc3 || b[i] > 0xe1 || b[i] > 0xcd && b[i] != 0xe1 {
				continue
			}
			if c, lo, hi := plainLetter(b, i); c != 0 {
				look(c, lo, hi)
			}
		}
	}
	done = 0
	for i := from; i < end; i += 2 { // escapes of JSON
		n := bytes.IndexByte(b[i:end], '\\')
		if n < 0 {
			break
		}
		if i += n; i+6 > len(b) || b[i+1] != 'u' {
			continue
		}
		r, n := escape(string(b[i : i+6]))
		switch {
		case n == 0:
		case r >= 0x300 && r < 0x370 && i > 0:
			look(b[i-1], i-1, i+6)
		case r >= 0xc0 && r < 0x250 && plainLetters[r-0xc0] != 0:
			next := i + 6
			if next < len(b) && b[next] == '\\' { // another one follows
				if m.marked.any&letterBit(plainLetters[r-0xc0]) != 0 && i >= done {
					if h, ok := m.markedAt(b, i, isBinary, friends); ok {
						hits, done = append(hits, h), h.End
					}
				}
				continue
			}
			look(plainLetters[r-0xc0], i, next)
		}
	}
	return hits
}

// markedAt looks for a name around a marked letter at b[at].
func (m *Matcher) markedAt(b []byte, at int, isBinary bool, friends *Friends) (Hit, bool) {
	const reach = 512
	lo, hi := max(0, at-reach), min(len(b), at+reach)
	text := string(b[lo:hi])
	var found []Hit
	if strings.Contains(text[max(0, at-lo-MaxTerm):min(len(text), at-lo+MaxTerm)], `\u`) {
		found = m.inDecoded(nil, unescapeJSON(text), text, Escaped, false)
	} else {
		found = m.inView(nil, fold(text), text, "", false)
	}
	for _, h := range found {
		h.Start, h.End = h.Start+lo, h.End+lo
		if h.Start <= at && at < h.End && (!isBinary || !friends.explains(b, h.Start, h.End)) {
			return h, true
		}
	}
	return Hit{}, false
}
