// Package chart draws an erasure: its phases, its progress, and the fate of each store's findings.
package chart

import (
	"slices"
	"strconv"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// Fate is what becomes of a finding: of an item, or of a layer, which is scrubbed.
type Fate int

const (
	Goes Fate = iota
	Redacted
	Scrubbed
	Held
	OutOfReach
)

// titles are those of the table, by fate; GO is always there, the others where a store has some.
var titles = [...]string{"GO", "REDACT", "LAYERS", "HOLD", "OUT"}

// Counts are the findings in a store, by what becomes of them.
type Counts [len(titles)]int

// Found is how much there is of the person.
func (c Counts) Found() (n int) {
	for _, of := range c {
		n += of
	}
	return n
}

func (c *Counts) Add(o Counts) {
	for i, n := range o {
		c[i] += n
	}
}

// Row is one store of a plan.
type Row struct {
	Store string
	Counts
	Trouble bool // a part of it was not searched
}

// Sign is the sign of a fate, the same in a bar and before a word.
func Sign(st *paint.Styles, f Fate) string { return signs(st)[f] }

// signs are the parts of a bar. What names the person goes from a layer too.
func signs(st *paint.Styles) [len(titles)]string {
	if st.Esc.ASCII {
		return [...]string{"#", "~", "#", "=", "."}
	}
	return [...]string{"█", "▄", "█", "▌", "░"}
}

// Looks paint the signs of a bar or of the legend, which begins at an offset of its line. Each sign stands in one place.
func Looks(st *paint.Styles, drawn string, at int) []paint.Stretch {
	var out []paint.Stretch
	for fate, look := range []paint.Look{Goes: paint.LookRemoved, Redacted: paint.LookWarn, Held: paint.LookCode, OutOfReach: paint.LookDim} {
		sign := signs(st)[fate]
		if start := strings.Index(drawn, sign); start >= 0 && Fate(fate) != Scrubbed {
			out = append(out, paint.Stretch{Start: at + start, End: at + strings.LastIndex(drawn, sign) + len(sign), Look: look})
		}
	}
	return out
}

// Bar shows the fates of the findings in cells; most fills all cells.
func Bar(st *paint.Styles, c Counts, most, cells int) string {
	if most <= 0 || c.Found() <= 0 {
		return strings.Repeat(" ", cells)
	}
	c[Goes], c[Scrubbed] = c[Goes]+c[Scrubbed], 0 // one part: they have one sign
	var out strings.Builder
	wide := make([]int, len(c))
	used := 0
	for i, n := range c {
		if n > 0 { // every part is visible, however small
			wide[i] = max((n*cells+most/2)/most, 1)
		}
		used += wide[i]
	}
	for ; used > cells; used-- {
		wide[slices.Index(wide, slices.Max(wide))]--
	}
	for i, n := range wide {
		out.WriteString(strings.Repeat(signs(st)[i], n))
	}
	return out.String() + strings.Repeat(" ", cells-used)
}

// The widths of the table's bars and names: the whole table fits beside a list of 100 columns.
const barCells, nameCells = 6, 9

// Table counts the fates of findings per store, with the sum under it; stores without findings share a line.
func Table(st *paint.Styles, rows []Row) []text.Line {
	esc := st.Esc
	most := 0
	var sums Counts
	var empty []safetext.Text
	for _, r := range rows {
		most = max(most, r.Found())
		sums.Add(r.Counts)
	}
	line := func(kind text.Kind, name safetext.Text, bar string, cell func(i int) string) text.Line {
		before := esc.Sprintf("%s ", esc.Pad(esc.Trunc(name, nameCells), nameCells))
		cells := bar + " "
		for i, n := range sums {
			if i == 0 || n > 0 {
				cells += pad(cell(i), 1+max(len(titles[i]), len(number(n))))
			}
		}
		return text.Line{Value: esc.Concat(before, esc.Const(cells)), Kind: kind, Runs: Looks(st, bar, before.Len())}
	}
	row := func(kind text.Kind, c Counts, name safetext.Text) text.Line {
		return line(kind, name, Bar(st, c, most, barCells), func(i int) string { return number(c[i]) })
	}
	out := []text.Line{line(text.Note, esc.Const("STORE"), strings.Repeat(" ", barCells), func(i int) string { return titles[i] })}
	for _, r := range rows {
		switch {
		case r.Trouble:
			out = append(out, row(text.Warn, r.Counts, st.Badge(paint.ToneWarn, esc.Line(r.Store))))
		case r.Found() == 0:
			empty = append(empty, esc.Line(r.Store))
		default:
			out = append(out, row(text.Field, r.Counts, esc.Line(r.Store)))
		}
	}
	most = sums.Found()
	out = append(out, row(text.Title, sums, esc.Const("all")))
	if len(empty) > 0 {
		out = append(out, text.Line{Value: esc.Sprintf("nothing in %s", esc.Join(empty, ", ")), Kind: text.Note})
	}
	return append(out, Legend(st))
}

// Legend says what the signs of the bars mean.
func Legend(st *paint.Styles) text.Line {
	s := signs(st)
	legend := s[Goes] + " goes for good  " + s[Redacted] + " redacted  " + s[Held] + " held  " + s[OutOfReach] + " out of reach"
	return text.Line{Value: st.Esc.Const(legend), Kind: text.Note, Runs: Looks(st, legend, 0)}
}

// number is a count in a table; a zero does not draw the eye.
func number(n int) string {
	if n == 0 {
		return "-"
	}
	return prose.Group(n)
}

func pad(s string, width int) string { return strings.Repeat(" ", width-len(s)) + s }

// Phases are the steps of an erasure: those done, the next one as advice with its key, and the rest. A stuck step has
// the sign of a failure; one that is only next has none of a state.
func Phases(st *paint.Styles, done []string, next string, rest []string, stuck bool) text.Line {
	var out text.Line
	put := func(sign string, look paint.Look, step text.Line) {
		if !out.Value.IsEmpty() {
			out.Value = st.Esc.Concat(out.Value, st.Esc.Const("  "))
		}
		start := out.Value.Len()
		out.Value = st.Esc.Sprintf("%s%s ", out.Value, st.Esc.Const(sign))
		at := out.Value.Len()
		out.Value = st.Esc.Concat(out.Value, step.Value)
		if step.Runs == nil {
			at = out.Value.Len() // the look of the sign is that of the word
		}
		out.Runs = append(out.Runs, paint.Stretch{Start: start, End: at, Look: look})
		for _, r := range step.Runs {
			out.Runs = append(out.Runs, paint.Stretch{Start: at + r.Start, End: at + r.End, Look: r.Look})
		}
	}
	for _, name := range done {
		put(st.Glyphs.State[paint.ToneGood], paint.LookAdded, text.Line{Value: st.Esc.Const(name)})
	}
	switch sign := "▸"; {
	case next == "":
	case stuck:
		put(st.Glyphs.State[paint.ToneBad], paint.LookRemoved, text.Advice(st.Esc, next))
	default:
		if st.Esc.ASCII {
			sign = ">"
		}
		put(sign, paint.LookCode, text.Advice(st.Esc, next))
	}
	for _, name := range rest {
		put(st.Glyphs.State[paint.ToneInfo], paint.LookDim, text.Line{Value: st.Esc.Const(name)})
	}
	return out
}

// Progress is a progress bar with its number.
func Progress(st *paint.Styles, done, total int64) text.Line {
	const cells = 24
	if total <= 0 {
		return text.Line{Kind: text.Blank}
	}
	full := int(min(max(done, 0), total) * cells / total)
	bar := strings.Repeat(st.Glyphs.Full, full)
	runs := []paint.Stretch{{End: len(bar), Look: paint.LookAdded}}
	bar += strings.Repeat(st.Glyphs.Rest, cells-full)
	return text.Line{Runs: runs, Value: st.Esc.Const(bar + " " + strconv.FormatInt(done*100/total, 10) + " %, step " + prose.Group(done) + " of " + prose.Group(total))}
}
