package safetext

import (
	"strings"
)

// Text is text that is safe to write to a terminal: it holds no control, no
// hidden or reordering code point and no invalid byte. Only this package makes
// one. The zero value is empty; values are comparable and cheap to copy.
type Text struct{ s string }

// String returns the escaped text.
func (t Text) String() string { return t.s }

// Len returns the length of the escaped text in bytes.
func (t Text) Len() int { return len(t.s) }

// Width returns the columns t takes, as lipgloss and Bubble Tea measure it.
func (t Text) Width() int { return width(t.s) }

// IsEmpty reports whether t has no text at all; blanks are text.
func (t Text) IsEmpty() bool { return t.s == "" }

// MarshalJSON writes the escaped text as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return MarshalJSON(t.s) }

// MarshalText returns the escaped text.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.s), nil }

// Concat joins texts without a separator. Where the end of one and the start of
// the next would together read as an escape, the literal is quoted.
func (e Escaper) Concat(ts ...Text) Text {
	switch len(ts) {
	case 0:
		return Text{}
	case 1:
		return ts[0]
	}
	n := 0
	for _, t := range ts {
		n += len(t.s)
	}
	done, tail := make([]byte, 0, n+16), ""
	for _, t := range ts {
		work := t.s
		if tail != "" {
			work = e.seal(tail, t.s) + t.s
		}
		cut := settled(work)
		done = append(done, work[:cut]...)
		tail = work[cut:]
	}
	// Letters that join across a seam are bounded as everywhere else.
	return e.Const(string(append(done, tail...)))
}

// Join joins texts with a separator, which is the program's own literal.
func (e Escaper) Join(ts []Text, sep string) Text {
	if len(ts) == 0 {
		return Text{}
	}
	between := e.Const(sep)
	all := make([]Text, 0, 2*len(ts)-1)
	for i, t := range ts {
		if i > 0 && !between.IsEmpty() {
			all = append(all, between)
		}
		all = append(all, t)
	}
	return e.Concat(all...)
}

// settled returns the length of the part of s that cannot become part of a form whatever follows. It ends
// between forms.
func settled(s string) int {
	from := max(0, len(s)-maxAmbiguous)
	if !strings.ContainsAny(s[from:], introducers) {
		return len(s)
	}
	i := 0
	for i < from {
		n, _ := form(s, i)
		i += max(n, 1)
	}
	return i
}

// seal quotes each literal of tail that would read as a form together with
// what follows it.
func (e Escaper) seal(tail, next string) string {
	head := next[:min(len(next), maxAmbiguous)]
	var buf []byte
	for i := 0; i < len(tail); {
		if n, _ := form(tail, i); n > 0 {
			buf = append(buf, tail[i:i+n]...)
			i += n
			continue
		}
		if n, _ := form(tail[i:]+head, 0); n > 0 {
			buf = e.appendQuote(buf, rune(tail[i]))
		} else {
			buf = append(buf, tail[i])
		}
		i++
	}
	return string(buf)
}
