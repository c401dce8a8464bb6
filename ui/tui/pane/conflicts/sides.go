package conflicts

import (
	"strings"

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
	half := max((width-5)/2, 12)
	var out []text.Line
	wrapped := func(line string) []safetext.Text {
		return rs.d.St.Wrap(esc.LineMax(strings.TrimRight(line, "\r\n"), half*maxSides), half)
	}
	put := func(l, r, sign string, kind text.Kind) {
		left, right := wrapped(l), wrapped(r)
		for len(left) < len(right) {
			left = append(left, safetext.Text{})
		}
		for i, t := range left {
			var beside safetext.Text
			if i < len(right) {
				beside = right[i]
			}
			out = append(out, text.Line{Value: esc.Sprintf("%s %s %s", safetext.Pad(t, half), esc.Const(sign), beside), Kind: kind})
			sign = " " // the line goes on
		}
	}
	put("BASE", "COPY", " ", text.Title)
	for _, h := range threeway.Two(cmp.BaseText, cmp.CopyText) {
		for i := range max(len(h.Left), len(h.Right)) {
			if len(out) > maxSides {
				return append(out, text.Line{Value: esc.Sprintf("This view ends after %s rows; s shows all of it, one below the other.", prose.Group(maxSides)), Kind: text.Warn})
			}
			switch {
			case h.Kind == threeway.Same:
				put(h.Left[i], h.Right[i], " ", text.Field)
			case i >= len(h.Left):
				put("", h.Right[i], ">", text.Warn)
			case i >= len(h.Right):
				put(h.Left[i], "", "<", text.Warn)
			default:
				gone, come := diff.Words(h.Left[i], h.Right[i])
				put(pointed(h.Left[i], gone), pointed(h.Right[i], come), "|", text.Warn)
			}
		}
	}
	return out
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
