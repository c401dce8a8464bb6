package safetext

import (
	"iter"
	"strings"
)

// RawLine is one line of a body before escaping. It is not safe to show: pass Raw to [Escaper.EscapeLine].
type RawLine struct {
	Raw string // without the line end
	End string // "\n", "\r\n", or "" at the end of the body
}

// Split yields the lines of a body. A newline at the end of the body ends the
// last line and does not start another; an empty body has no lines. A CR
// belongs to the line end only directly before a newline.
func Split(body string) iter.Seq[RawLine] {
	return func(yield func(RawLine) bool) {
		for line := range strings.Lines(body) {
			raw, ended := strings.CutSuffix(line, "\n")
			if ended {
				raw = strings.TrimSuffix(raw, "\r")
			}
			if !yield(RawLine{raw, line[len(raw):]}) {
				return
			}
		}
	}
}
