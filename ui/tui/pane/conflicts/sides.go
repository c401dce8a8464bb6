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
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// maxSides bounds the rows of a side-by-side view, which is laid out whole.
const maxSides = 2000

// side is a line of one side: its number, and the words that differ from the other side.
type side struct {
	line         string
	number       int         // 0: there is no such line here
	marks        []text.Mark // the words
	rest, marked paint.Look
}

// aroundSides is how many equal lines stand above and below a difference where the texts have more lines than the detail.
const aroundSides = 3

// sides puts both texts beside each other: < only in the base, > only in the copy, | in both, differently. Where they have
// more lines than height, equal ones that are not near a difference are left out; 0: none.
func (rs *resolutions) sides(cmp conflict.Comparison, width, height int) []text.Line {
	esc := rs.d.Esc
	digits := len(strconv.Itoa(1 + max(strings.Count(cmp.BaseText, "\n"), strings.Count(cmp.CopyText, "\n"))))
	half := max((width-5)/2-digits-1, 12)
	base, copied := side{line: "BASE, " + sideWords(cmp.BaseSize, cmp.BaseTime, cmp.CopyTime)}, side{line: "COPY, " + sideWords(cmp.CopySize, cmp.CopyTime, cmp.BaseTime)}
	near := rs.needs(half, base, cmp.BaseText) // the copy stands as near to its base as that allows
	far := 2*half - near
	var out []text.Line
	put := func(base, other side, sign string, kind text.Kind) {
		left, right := base.wrapped(rs.d.St, near), other.wrapped(rs.d.St, far)
		for i := range max(len(left), len(right)) {
			var row text.Line
			base.put(esc, &row, left, i, digits, near)
			row.Value = esc.Sprintf("%s %s ", row.Value, esc.Const(sign))
			other.put(esc, &row, right, i, digits, far)
			row.Kind = kind
			out = append(out, row)
			sign = " " // the line goes on
		}
	}
	put(base, copied, " ", text.Title)
	left, right := 0, 0 // the numbers of the last lines
	hunks, lines := threeway.Two(cmp.BaseText, cmp.CopyText), 0
	for _, h := range hunks {
		lines += max(len(h.Left), len(h.Right))
	}
	for n, h := range hunks {
		from, to := 0, 0 // equal lines that are left out
		if h.Kind == threeway.Same && height > 0 && lines > height {
			if to = len(h.Left); n < len(hunks)-1 {
				to -= aroundSides
			}
			if n > 0 {
				from = aroundSides
			}
			if to < from+2 { // one line takes as much room as to say so
				to = from
			}
		}
		for i := range max(len(h.Left), len(h.Right)) {
			if from < to && i == from {
				out = append(out, text.Line{Value: esc.Sprintf("%s %s alike", paint.LeftOut(esc), prose.Plural(to-from, "line")), Kind: text.Note})
			}
			if from <= i && i < to {
				left, right = left+1, right+1
				continue
			}
			if len(out) > maxSides {
				return append(out, text.Advice(esc, "This view ends after %s rows; `s` shows all of it, one below the other.", prose.Group(maxSides)).As(text.Warn))
			}
			var base, other side
			if i < len(h.Left) {
				left++
				base = side{line: h.Left[i], number: left, rest: paint.LookRemoved, marked: paint.LookRemovedWord}
			}
			if i < len(h.Right) {
				right++
				other = side{line: h.Right[i], number: right, rest: paint.LookAdded, marked: paint.LookAddedWord}
			}
			sign := "|"
			switch {
			case h.Kind == threeway.Same:
				base.rest, other.rest, sign = paint.LookPlain, paint.LookPlain, " "
			case base.number == 0:
				sign = ">"
			case other.number == 0:
				sign = "<"
			default:
				base.marks, other.marks = diff.Words(base.line, other.line)
			}
			put(base, other, sign, text.Field)
		}
	}
	return out
}

// needs is the columns of the longest line of a side, at most most.
func (rs *resolutions) needs(most int, title side, body string) int {
	columns, n := 0, 0
	for line := range strings.Lines(title.line + "\n" + body) {
		rows := side{line: line}.wrapped(rs.d.St, most)
		if n++; len(rows) > 1 || n > maxSides {
			return most
		}
		for _, r := range rows {
			columns = max(columns, rs.d.St.Width(r.Text))
		}
	}
	return columns
}

// wrapped is the line without its end, wrapped; what is longer than the view is left out, with its size.
func (s side) wrapped(st *paint.Styles, columns int) []text.Wrapped {
	line := strings.TrimRight(s.line, "\r\n")
	if most := columns * maxSides; len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + " (and " + prose.Size(int64(len(line)-most)) + " more)"
	}
	return text.Fold(st, line, columns, s.rest, s.marked, s.marks)
}

// put appends row i of a side, padded, with the number of the line before its first row.
func (s side) put(esc safetext.Escaper, row *text.Line, rows []text.Wrapped, i, digits, columns int) {
	number := ""
	if i == 0 && s.number > 0 {
		number = strconv.Itoa(s.number)
	}
	at := row.Value.Len() + digits
	row.Runs = append(row.Runs, paint.Stretch{Start: at - digits, End: at, Look: paint.LookDim})
	var part safetext.Text
	if i < len(rows) {
		part = rows[i].Text
		for _, r := range rows[i].Runs {
			row.Runs = append(row.Runs, paint.Stretch{Start: at + 1 + r.Start, End: at + 1 + r.End, Look: r.Look})
		}
	}
	row.Value = esc.Sprintf("%s%s %s", row.Value, esc.Const(fmt.Sprintf("%*s", digits, number)), safetext.Pad(part, columns))
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
