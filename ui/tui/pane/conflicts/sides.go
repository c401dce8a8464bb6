package conflicts

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"memdesk/conflict"
	threeway "memdesk/conflict/merge"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/diff"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// maxSides bounds the rows of a side-by-side view, which is laid out whole; the unified view has no
// bound.
const maxSides = 2000

// sides puts both texts beside each other. A sign between the columns marks rows that differ: <
// only in the base, > only in the copy, | in both, differently; there the differing words are
// between « and ».
func (rs *resolutions) sides(cmp conflict.Comparison, width int) []text.Line {
	esc := rs.d.Esc
	digits := len(strconv.Itoa(1 + max(strings.Count(cmp.BaseText, "\n"), strings.Count(cmp.CopyText, "\n"))))
	half := max((width-5)/2-digits-1, 12)
	var out []text.Line
	wrapped := func(line string) []safetext.Text {
		return rs.d.St.Wrap(esc.LineMax(strings.TrimRight(line, "\r\n"), half*maxSides), half)
	}
	put := func(l, r string, left, right int, sign string, kind text.Kind) {
		base, other := wrapped(l), wrapped(r)
		for i := range max(len(base), len(other)) {
			out = append(out, text.Line{Value: esc.Sprintf("%s %s %s", column(esc, base, i, left, digits, half), esc.Const(sign), column(esc, other, i, right, digits, half)), Kind: kind})
			sign = " " // the line goes on
		}
	}
	base, copied := sideWords(cmp.BaseSize, cmp.BaseTime, cmp.CopyTime), sideWords(cmp.CopySize, cmp.CopyTime, cmp.BaseTime)
	put("BASE, "+base, "COPY, "+copied, 0, 0, " ", text.Title)
	left, right := 0, 0 // the numbers of the last lines
	for _, h := range threeway.Two(cmp.BaseText, cmp.CopyText) {
		for i := range max(len(h.Left), len(h.Right)) {
			if len(out) > maxSides {
				return append(out, text.Line{Value: esc.Sprintf("This view ends after %s rows; s shows all of it, one below the other.", prose.Group(maxSides)), Kind: text.Warn})
			}
			switch {
			case i >= len(h.Left):
				right++
				put("", h.Right[i], 0, right, ">", text.Warn)
				continue
			case i >= len(h.Right):
				left++
				put(h.Left[i], "", left, 0, "<", text.Warn)
				continue
			}
			left, right = left+1, right+1
			if h.Kind == threeway.Same {
				put(h.Left[i], h.Right[i], left, right, " ", text.Field)
				continue
			}
			gone, come := diff.Words(h.Left[i], h.Right[i])
			put(pointed(h.Left[i], gone), pointed(h.Right[i], come), left, right, "|", text.Warn)
		}
	}
	return out
}

// sideWords are the size and the time of a side, and whether it is the newer one.
func sideWords(size int64, at, other time.Time) string {
	words := prose.Size(size)
	if !at.IsZero() {
		words += ", " + prose.Moment(at)
	}
	if at.After(other) && !other.IsZero() {
		words += ", newer"
	}
	return words
}

// column is part i of a wrapped line, padded, with the line's number before the first part; 0: none.
func column(esc safetext.Escaper, parts []safetext.Text, i, number, digits, width int) safetext.Text {
	var part safetext.Text
	if i < len(parts) {
		part = parts[i]
	}
	n := ""
	if i == 0 && number > 0 {
		n = strconv.Itoa(number)
	}
	return esc.Sprintf("%s %s", esc.Const(fmt.Sprintf("%*s", digits, n)), safetext.Pad(part, width))
}

// pointed puts the marked parts of a line between « and ».
func pointed(line string, marks []text.Mark) string {
	var b strings.Builder
	at := 0
	for _, m := range marks {
		b.WriteString(line[at:m.Start])
		b.WriteString("«" + strings.TrimRight(line[m.Start:m.End], "\r\n") + "»")
		at = m.End
	}
	b.WriteString(line[at:])
	return b.String()
}
