package safetext

import "strings"

// Escaper configures escaping. The zero value writes UTF-8 and is used by the package functions; it has no
// state and is safe for concurrent use.
type Escaper struct {
	// ASCII shows every non-ASCII code point as <U+XXXX>, for terminals that
	// are not known to speak UTF-8 (terminal-safety.md, policy 10).
	ASCII bool
}

// Line escapes a single-line field: a newline shows as ⏎, a tab as ^I.
func Line(s string) Text { return Escaper{}.Line(s) }

// LineMax is [Line] for at most maxBytes bytes of s, ending in a notice of how many bytes were cut. A
// maxBytes of 0 or less is no limit.
func LineMax(s string, maxBytes int) Text { return Escaper{}.LineMax(s, maxBytes) }

// Const makes a Text of the program's own words. They are escaped like all
// text, but forms in them are not quoted: Const("^C quits") stays readable.
// Never pass a string from outside; [Line] is for those.
func Const(s string) Text { return Escaper{}.Const(s) }

// Line is [Line] with e's settings.
func (e Escaper) Line(s string) Text { return e.escapeLine(s, 0) }

// LineMax is [LineMax] with e's settings.
func (e Escaper) LineMax(s string, maxBytes int) Text {
	if maxBytes <= 0 || len(s) <= maxBytes {
		return e.Line(s)
	}
	n := RuneStart(s, maxBytes)
	return e.Concat(e.Line(s[:n]), Text{" " + e.notice(len(s)-n)})
}

// Const is [Const] with e's settings.
func (e Escaper) Const(s string) Text {
	c := encoder{ascii: e.ASCII}
	return Text{c.run(s)}
}

// Err escapes an error's message as one line. A nil error is empty.
func (e Escaper) Err(err error) Text {
	if err == nil {
		return Text{}
	}
	return e.Line(err.Error())
}

// EscapeLine escapes one line of a body, without its newline. Tabs expand to
// spaces up to the next of the stops, tabStop columns apart; when tabStop is 0 or
// less a tab shows as ^I and the result can be unescaped to the last byte.
func (e Escaper) EscapeLine(raw []byte, tabStop int) Text {
	return e.escapeLine(string(raw), tabStop)
}

func (e Escaper) escapeLine(s string, tabStop int) Text {
	c := encoder{ascii: e.ASCII, quote: true, tab: tabStop}
	return Text{c.run(s)}
}

// Hidden counts the code points and invalid bytes of s that do not appear as
// themselves. Newlines, tabs and the CR of a CRLF are layout and not counted.
func Hidden(s string) int {
	total := 0
	var c encoder
	for line := range strings.SplitSeq(s, "\n") {
		c = encoder{buf: c.buf[:0]}
		c.run(line)
		total += c.escaped
		if strings.HasSuffix(line, "\r") {
			total--
		}
	}
	if strings.HasSuffix(s, "\r") {
		total++
	}
	return total
}
