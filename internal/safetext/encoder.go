package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks one base keeps (terminal-safety.md).
const maxMarks = 8

// maxLinks is how many letters may follow the first in one conjunct: more than
// any written language joins.
const maxLinks = 8

// maxRun is the greatest count in ⟦U+0301×N⟧; a longer run takes several forms.
const maxRun = 1 << 20

// encoder escapes one string in a single pass.
type encoder struct {
	ascii   bool
	quote   bool // quote literals that would read as a form
	tab     int  // columns between tab stops; 0: tabs show as ^I
	json    bool // JSON string syntax instead of forms
	buf     []byte
	base    rune // last kept character that marks may join; 0: none
	marks   int  // code points joined to base
	linked  bool // one of them joins the next letter as well
	links   int  // letters joined to the first of a conjunct
	counted int  // bytes of buf already measured for tab stops
	column  int  // their width
	escaped int  // code points that did not stay as they are
}

// asciiPlain holds the ASCII bytes that never need a look at their neighbours.
var asciiPlain = func() (t [256]bool) {
	for b := ' '; b <= '~'; b++ {
		t[b] = true
	}
	for _, b := range introducers {
		t[b] = false
	}
	return t
}()

// run returns s escaped, and s itself when nothing in it needs escaping.
func (c *encoder) run(s string) string {
	start := 0
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && asciiPlain[s[j]] {
			j++
		}
		if j > i {
			c.start(rune(s[j-1]))
			i = j
			continue
		}
		if n := c.keep(s, i); n > 0 {
			i += n
			continue
		}
		if c.buf == nil {
			c.buf = make([]byte, 0, len(s)+len(s)/8+32)
		}
		c.buf = append(c.buf, s[start:i]...)
		i += c.escape(s, i)
		start = i
		c.start(0)
	}
	if c.buf == nil {
		return s
	}
	c.buf = append(c.buf, s[start:]...)
	return string(c.buf)
}

// keep returns the length of the character at i when it may stay as it is, and
// 0 when it must be escaped.
func (c *encoder) keep(s string, i int) int {
	b := s[i]
	if b < utf8.RuneSelf {
		if b < ' ' || b == 0x7F || c.quote && introduces(s, i) {
			return 0
		}
		c.start(rune(b))
		return 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if c.ascii || r == utf8.RuneError && n == 1 {
		return 0
	}
	switch kind := classify(r); kind {
	case plain, emoji:
		if !c.link(r) {
			return 0
		}
		return n
	case mark, linker:
		if c.base == 0 || c.marks >= maxMarks || c.json && c.base == '"' {
			return 0
		}
		c.marks++
		c.linked = c.linked || kind == linker
		return n
	case modifier:
		if !c.onEmoji() {
			return 0
		}
		c.start(r)
		return n
	case selector:
		if c.json || !c.onEmoji() && !c.onKeycap(s[i+n:]) {
			return 0
		}
		c.marks++
		return n
	case quoted:
		if c.quote {
			return 0
		}
		c.start(r)
		return n
	}
	return 0
}

// start begins a character with r; 0 means that nothing may join.
func (c *encoder) start(r rune) {
	c.base, c.marks, c.linked, c.links = r, 0, false, 0
}

// link begins a character that may continue a conjunct, unless that has grown
// too long for one cell.
func (c *encoder) link(r rune) bool {
	if !c.linked || !unicode.IsLetter(r) {
		c.start(r)
		return true
	}
	if c.links >= maxLinks {
		return false
	}
	c.base, c.marks, c.linked = r, 0, false
	c.links++
	return true
}

// onEmoji reports whether the last character is an emoji with nothing joined.
func (c *encoder) onEmoji() bool {
	return c.marks == 0 && c.base >= utf8.RuneSelf && classify(c.base) == emoji
}

// onKeycap reports whether U+FE0F here belongs to a keycap such as 1️⃣.
func (c *encoder) onKeycap(rest string) bool {
	digit := c.base >= '0' && c.base <= '9' || c.base == '#' || c.base == '*'
	return digit && c.marks == 0 && strings.HasPrefix(rest, string(keycap))
}

// escape appends the form of the character at i and returns the number of its input bytes.
func (c *encoder) escape(s string, i int) int {
	if c.json {
		return c.escapeJSON(s, i)
	}
	b := s[i]
	if b < utf8.RuneSelf {
		c.escapeASCII(b)
		return 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && n == 1 {
		c.escaped++
		c.buf = append(c.buf, '\\', 'x', lowerHex[b>>4], lowerHex[b&15])
		return 1
	}
	if c.ascii {
		c.escaped++
		c.buf = appendAngle(c.buf, r)
		return n
	}
	switch {
	case r == open || r == newline:
		c.buf = append(append(append(c.buf, "⟦"...), s[i:i+n]...), "⟧"...)
	case r < 0xA0:
		c.escaped++
		c.buf = appendAngle(c.buf, r)
	case r >= tagFirst && r <= tagLast:
		return c.escapeTags(s, i)
	case classify(r) == mark || classify(r) == linker:
		return c.escapeRun(s, i, r, n)
	default:
		c.escaped++
		c.buf = appendBracket(c.buf, r, 1)
	}
	return n
}

func (c *encoder) escapeASCII(b byte) {
	switch {
	case b == '\t' && c.tab > 0:
		c.expandTab()
	case b == '\n' && !c.ascii:
		c.buf = append(c.buf, "⏎"...)
	case b < ' ' || b == 0x7F:
		if b != '\n' && b != '\t' {
			c.escaped++
		}
		c.buf = append(c.buf, '^', b^0x40)
	default:
		c.buf = Escaper{ASCII: c.ascii}.appendQuote(c.buf, rune(b))
	}
}

// expandTab measures only what was written since the last tab, so a line full
// of tabs stays linear.
func (c *encoder) expandTab() {
	c.column += width(string(c.buf[c.counted:]))
	n := c.tab - c.column%c.tab
	for range n {
		c.buf = append(c.buf, ' ')
	}
	c.column += n
	c.counted = len(c.buf)
}

// escapeTags decodes a run of tag characters, in groups that still fit a
// narrow pane.
func (c *encoder) escapeTags(s string, i int) int {
	const group = 12
	c.buf = append(c.buf, "⟦tag:"...)
	n := 0
	for range group {
		r, size := utf8.DecodeRuneInString(s[i+n:])
		if r < tagFirst || r > tagLast {
			break
		}
		c.escaped++
		c.buf = append(c.buf, byte(r-tagOffset))
		n += size
	}
	c.buf = append(c.buf, "⟧"...)
	return n
}

// escapeRun writes one form for a mark without a base, or one too many, and all of its immediate repetitions.
func (c *encoder) escapeRun(s string, i int, r rune, size int) int {
	char, count := s[i:i+size], 1
	for count < maxRun && strings.HasPrefix(s[i+count*size:], char) {
		count++
	}
	c.escaped += count
	c.buf = appendBracket(c.buf, r, count)
	return count * size
}

// RuneStart returns the largest n ≤ limit that does not split a character of s.
func RuneStart(s string, limit int) int {
	for n := limit; n >= 0 && n > limit-utf8.UTFMax; n-- {
		if n == len(s) || utf8.RuneStart(s[n]) {
			if _, size := utf8.DecodeRuneInString(s[n:]); n == limit || n+size > limit {
				return n
			}
			break
		}
	}
	return limit
}
