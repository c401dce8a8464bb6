package safetext

import (
	"fmt"
	"iter"
	"strings"
)

// Limits bounds what Lines escapes. A field of 0 or less is no limit.
type Limits struct {
	MaxBytes   int // of the body
	MaxLines   int
	MaxColumns int // per line, escaped, the notice included
}

// Cut says what a limit left out, and how the lines of the body end.
type Cut struct {
	Bytes     int  // bytes of the body that are not shown, for whatever reason
	Lines     int  // lines not shown at all
	LongLines int  // lines that are shown only up to MaxColumns
	CRLF      bool // a CR before a newline was taken as part of the line end
	Mixed     bool // some lines end in CRLF and some in a bare newline
}

// Any reports whether something was left out.
func (c Cut) Any() bool { return c.Bytes > 0 || c.Lines > 0 }

// Text states in words what was left out; it is empty when nothing was.
func (c Cut) Text() Text {
	if !c.Any() {
		return Text{}
	}
	parts := make([]string, 0, 3)
	if c.Bytes > 0 {
		parts = append(parts, plural(c.Bytes, "more byte"))
	}
	if c.Lines > 0 {
		parts = append(parts, plural(c.Lines, "more line"))
	}
	if c.LongLines > 0 {
		parts = append(parts, plural(c.LongLines, "line")+" shortened")
	}
	return Text{"... " + strings.Join(parts, ", ")}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// RawLine is one line of a body before escaping. It is not safe to show: pass
// Raw to [Escaper.EscapeLine] or [Escaper.EscapeColumns].
type RawLine struct {
	Offset int    // of the line in the body, in bytes
	Raw    string // without the line end
	End    string // "\n", "\r\n", or "" at the end of the body
}

// Split yields the lines of a body. A newline at the end of the body ends the
// last line and does not start another; an empty body has no lines. A CR
// belongs to the line end only directly before a newline.
func Split(body string) iter.Seq[RawLine] {
	return func(yield func(RawLine) bool) {
		sp := NewSplitter(body)
		for line, ok := sp.Next(); ok; line, ok = sp.Next() {
			if !yield(line) {
				return
			}
		}
	}
}

// Splitter walks the lines of a body one by one, without escaping or copying,
// so that a pager can index ten megabytes and escape only what it shows.
type Splitter struct {
	body   string
	offset int
}

// NewSplitter starts at the beginning of body.
func NewSplitter(body string) *Splitter { return &Splitter{body: body} }

// Next returns the next line; ok is false at the end of the body.
func (sp *Splitter) Next() (line RawLine, ok bool) {
	if sp.offset == len(sp.body) {
		return RawLine{}, false
	}
	rest := sp.body[sp.offset:]
	line.Offset = sp.offset
	n := strings.IndexByte(rest, '\n')
	switch {
	case n < 0:
		n = len(rest)
		line.Raw = rest
	case n > 0 && rest[n-1] == '\r':
		line.Raw, line.End = rest[:n-1], "\r\n"
		n++
	default:
		line.Raw, line.End = rest[:n], "\n"
		n++
	}
	sp.offset += n
	return line, true
}

// Lines escapes a body line by line within lim and says what was left out.
// Tabs expand to the stops of e.TabStop.
func (e Escaper) Lines(s string, lim Limits) (lines []Text, cut Cut) {
	shown := s
	if lim.MaxBytes > 0 && len(s) > lim.MaxBytes {
		shown = s[:runeStart(s, lim.MaxBytes)]
	}
	sp, lf := NewSplitter(shown), false
	for lim.MaxLines <= 0 || len(lines) < lim.MaxLines {
		line, ok := sp.Next()
		if !ok {
			break
		}
		text, missing := e.EscapeColumns(line.Raw, e.tabStop(), lim.MaxColumns)
		if missing > 0 {
			cut.LongLines++
			cut.Bytes += missing
		}
		cut.CRLF = cut.CRLF || line.End == "\r\n"
		lf = lf || line.End == "\n"
		lines = append(lines, text)
	}
	cut.Mixed = cut.CRLF && lf
	cut.Bytes += len(s) - sp.offset
	cut.Lines = hiddenLines(s, sp.offset)
	return lines, cut
}

// hiddenLines counts the lines that start at or after offset.
func hiddenLines(s string, offset int) int {
	rest := s[offset:]
	n := strings.Count(rest, "\n")
	if rest != "" && !strings.HasSuffix(rest, "\n") {
		n++
	}
	if n > 0 && offset > 0 && s[offset-1] != '\n' {
		n-- // its beginning is shown
	}
	return n
}

// noticeRoom is the narrowest line that carries a notice.
const noticeRoom = 2 * MaxMark

// EscapeColumns is [Escaper.EscapeLine] for at most columns columns, in time bounded by them and not by the
// line. A cut line ends in a notice, or in an ellipsis where the notice has no room; cut is the number of
// bytes of raw not shown. A columns of 0 or less is no limit.
func (e Escaper) EscapeColumns(raw string, tabStop, columns int) (t Text, cut int) {
	if columns <= 0 {
		return e.escapeLine(raw, tabStop), 0
	}
	for n := 4*columns + 64; ; n *= 2 {
		part := raw
		if n < len(raw) {
			part = raw[:runeStart(raw, n)]
		}
		c := encoder{ascii: e.ASCII, quote: true, tab: tabStop, trace: true}
		s := c.run(part)
		end, _ := fit(s, columns)
		switch {
		case end < len(s):
			return e.cutColumns(raw, s, c.edits, columns)
		case len(part) == len(raw):
			return Text{s}, 0
		}
		// Wide characters or marks: a column takes some hundred bytes at most,
		// so that a few rounds are enough.
	}
}

// cutColumns ends the escaped prefix s of raw within columns.
func (e Escaper) cutColumns(raw, s string, edits []edit, columns int) (Text, int) {
	if columns >= noticeRoom {
		end, _ := fit(s, columns-width(e.notice(len(raw))))
		cut := len(raw) - original(end, edits)
		return Text{s[:end] + e.notice(cut)}, cut
	}
	end, _ := fit(s, columns-1)
	return Text{s[:end] + e.ellipsis()}, len(raw) - original(end, edits)
}

// original returns the number of input bytes that the first n output bytes show. A partly shown tab counts as
// shown.
func original(n int, edits []edit) int {
	in, out := 0, 0
	for _, ed := range edits {
		if ed.outStart >= n {
			break
		}
		in, out = ed.inEnd, ed.outEnd
	}
	return in + max(n-out, 0)
}
