package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// width measures escaped text as lipgloss does: by grapheme cluster.
func width(s string) int {
	w := 0
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] < utf8.RuneSelf {
			j++
		}
		if j < len(s) && j > i {
			j-- // the last one may carry marks
		}
		if w += j - i; j == len(s) {
			break
		}
		cluster, cw := ansi.FirstGraphemeCluster(s[j:], ansi.GraphemeWidth)
		w += cw
		i = j + len(cluster)
	}
	return w
}

// unit returns the length in bytes and the width in columns of the unbreakable unit at i: an escape form or a
// grapheme cluster.
func unit(s string, i int) (n, w int) {
	if n, _ := form(s, i); n > 0 {
		return n, width(s[i : i+n])
	}
	if s[i] < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
		return 1, 1
	}
	cluster, w := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
	return len(cluster), w
}

// fit returns how many bytes of s fit into columns without breaking a unit.
func fit(s string, columns int) (n int) {
	for n < len(s) {
		size, w := unit(s, n)
		if columns -= w; columns < 0 {
			break
		}
		n += size
	}
	return n
}

// Trunc shortens t to width columns; the last one is then an ellipsis, "~" in
// ASCII. It never breaks an escape or a character. A width of 0 or less gives an
// empty text.
func (e Escaper) Trunc(t Text, width int) Text {
	if width <= 0 {
		return Text{}
	}
	if fit(t.s, width) == len(t.s) {
		return t
	}
	return Text{t.s[:fit(t.s, width-1)] + e.ellipsis()}
}

// TruncMiddle shortens t to width columns by leaving out its middle: the part after the last slash, the name
// at the end of a path, stays whole where it has room; otherwise one third of the result is the beginning. It
// never breaks an escape or a character.
func (e Escaper) TruncMiddle(t Text, width int) Text {
	if width <= 0 {
		return Text{}
	}
	type part struct{ at, width int }
	var parts []part
	total, name := 0, -1 // the first unit of the name
	for i := 0; i < len(t.s); {
		n, w := unit(t.s, i)
		if t.s[i] == '/' {
			name = len(parts)
		}
		parts = append(parts, part{i, w})
		total, i = total+w, i+n
	}
	if total <= width {
		return t
	}
	tail := func(from int) (columns int) {
		for _, p := range parts[from:] {
			columns += p.width
		}
		return columns
	}
	from := name
	if from < 0 || tail(from) > width-1 {
		from = len(parts)
		for end := 0; end+parts[from-1].width <= width-1-(width-1)/3; from-- {
			end += parts[from-1].width
		}
	}
	end, rest := "", 0
	if from < len(parts) {
		end, rest = t.s[parts[from].at:], tail(from)
	}
	return Text{t.s[:fit(t.s, width-1-rest)] + e.ellipsis() + end}
}

// ellipsis is one column wide.
func (e Escaper) ellipsis() string {
	if e.ASCII {
		return "~"
	}
	return "…"
}

// Pad adds blanks at the end of t up to width columns. Longer text stays as it is.
func Pad(t Text, width int) Text {
	return Text{t.s + blanks(width-t.Width())}
}

// PadLeft adds blanks before t up to width columns. Longer text stays as it is.
func PadLeft(t Text, width int) Text {
	return Text{blanks(width-t.Width()) + t.s}
}

func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Pad is [Pad].
func (e Escaper) Pad(t Text, width int) Text { return Pad(t, width) }

// Wrap breaks t into lines of at most width columns, after a blank where there
// is one, else after the last of / : - in the second half of the line. A lone
// symbol stays with the word that follows it. One blank that would start a line
// is dropped; everything else stays. An escape or a character wider than width
// has a line of its own: width below [MaxMark] may be exceeded. An empty t is
// one empty line.
func Wrap(t Text, width int) (lines []Text) {
	s, width := t.s, max(width, 1)
	for {
		n := lineEnd(s, width)
		lines = append(lines, Text{s[:n]})
		if n < len(s) && s[n] == ' ' && s[n-1] != ' ' && (n+1 == len(s) || s[n+1] < utf8.RuneSelf) {
			n++
		}
		if s = s[n:]; s == "" {
			return lines
		}
	}
}

// Wrap is [Wrap].
func (e Escaper) Wrap(t Text, width int) []Text { return Wrap(t, width) }

// lineEnd returns where the first line of s ends.
func lineEnd(s string, width int) int {
	if s == "" {
		return 0
	}
	n, w, blank, joint := 0, 0, 0, 0
	for n < len(s) {
		size, uw := unit(s, n)
		if n > 0 && w+uw > width {
			break
		}
		if s[n] == ' ' {
			blank = n + size
		}
		if n += size; size == 1 && strings.IndexByte("/:-", s[n-1]) >= 0 {
			joint = n
		}
		w += uw
	}
	switch {
	case n == len(s):
		return n
	case blank == 0 && joint > n/2 && s[n] != ' ':
		return joint
	case blank == 0, s[n] == ' ':
		blank = n
	}
	return beforeSign(s[:blank])
}

// beforeSign returns the length of a line without a lone symbol at its end, such as the sign of a state.
func beforeSign(line string) int {
	words := strings.TrimRight(line, " ")
	at := strings.LastIndexByte(words, ' ') + 1
	r, n := utf8.DecodeRuneInString(words[at:])
	if at > 0 && at+n == len(words) && (r == '·' || unicode.Is(unicode.So, r)) {
		return at
	}
	return len(line)
}
