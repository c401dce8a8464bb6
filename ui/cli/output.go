package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// lastColumn is the width of a table's last column, a title or a message, unless -o wide asks for
// all of it.
const lastColumn = 80

// row is one JSON object of the output; every one carries its type and the
// version of the format.
type row map[string]any

// emit prints one JSON object. As with every print, the error of a failed write ends the program
// with code 1 when the command returns.
func (a *app) emit(kind string, r row) { a.emitOf("", kind, r) }

// emitOf is emit under a name, by which --watch compares rounds.
func (a *app) emitOf(name, kind string, r row) {
	r["type"], r["v"] = kind, 1
	line, err := safetext.MarshalJSON(r)
	if err != nil {
		a.out.Fail(err)
	} else if a.round.isNew(name, string(line)) {
		_, _ = a.out.Write(append(line, '\n'))
	}
}

// result prints the result of a command: an object with --json, else one line.
func (a *app) result(kind string, r row, format string, args ...any) {
	if a.flags.json {
		a.emit(kind, r)
	} else {
		a.linef(format, args...)
	}
}

// table prints aligned columns, a page at a time.
type table struct {
	a    *app
	head []string
	rows [][]safetext.Text
	min  []int
	held []record // under --sort, until flush
	done bool     // the head is out
	// whole: the last column is never cut.
	whole   bool
	columns int // of the terminal; 0: not one
}

func (a *app) table(head ...string) *table {
	if t := a.tables[strings.Join(head, " ")]; t != nil { // of the round before
		return t
	}
	t := &table{a: a, head: head, min: make([]int, len(head))}
	for i, h := range head {
		t.min[i] = len(h)
	}
	if a.tables != nil {
		a.tables[strings.Join(head, " ")] = t
	}
	return t
}

// excerpt is a cell that is cut at maxExcerpt.
type excerpt string

// maxExcerpt bounds the shown part of an excerpt, in bytes.
const maxExcerpt = 120

// add adds one row. It escapes cells that are not yet safetext.Text.
func (t *table) add(cells ...any) {
	row := make([]safetext.Text, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case safetext.Text:
			row[i] = v
		case string:
			row[i] = t.a.text.Line(v)
		case excerpt:
			row[i] = t.a.text.LineMax(string(v), maxExcerpt)
		case int64:
			row[i] = t.a.text.Const(strconv.FormatInt(v, 10))
		default:
			row[i] = t.a.text.Sprintf("%v", v)
		}
	}
	t.rows = append(t.rows, row)
}

// flush prints the rest and ends the table.
func (t *table) flush() {
	t.sorted()
	t.page()
}

// page prints the rows so far. Widths only grow from page to page, so that columns rarely move.
func (t *table) page() {
	if len(t.rows) == 0 {
		return
	}
	if t.a.flags.output == "name" {
		for _, r := range t.rows {
			_, _ = t.a.out.WriteString(r[0].String() + "\n")
		}
		t.rows = t.rows[:0]
		return
	}
	for _, r := range t.rows {
		for i, c := range r {
			t.min[i] = max(t.min[i], min(c.Width(), 60))
		}
	}
	t.fit()
	if !t.done {
		head := make([]safetext.Text, len(t.head))
		for i, h := range t.head {
			head[i] = t.a.text.Const(h)
		}
		t.line(head)
		t.done = true
	}
	for _, r := range t.rows {
		t.line(r)
	}
	t.rows = t.rows[:0]
}

// gap is the space between two columns.
const gap = "  "

// fit narrows the columns, the widest first, until the table fits the terminal; the last column has the rest.
// A pipe and -o wide get the full width.
func (t *table) fit() {
	const least = 8
	if t.columns = t.a.columns(); t.columns == 0 || t.whole {
		return
	}
	room := t.columns - least - len(gap)*(len(t.min)-1)
	others := t.min[:len(t.min)-1]
	for sum(others) > room && slices.Max(others) > least {
		i := slices.Index(others, slices.Max(others))
		others[i]--
	}
}

func sum(all []int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}

// columns is the width of the output's terminal; 0: nothing is cut.
func (a *app) columns() int {
	if a.Columns == nil || a.flags.output == "wide" || !a.Terminal(a.Stdout) {
		return 0
	}
	return a.Columns()
}

func (t *table) line(cells []safetext.Text) {
	used := 0
	for i, c := range cells {
		if i < len(cells)-1 {
			if t.columns > 0 && !t.whole {
				c = t.a.text.Trunc(c, t.min[i])
			}
			c = safetext.Pad(c, t.min[i])
			used += c.Width() + len(gap)
			_, _ = t.a.out.WriteString(c.String() + gap)
			continue
		}
		switch {
		case t.whole || t.a.flags.output == "wide":
		case t.columns > 0:
			c = t.a.text.Trunc(c, max(t.columns-used, 1))
		default:
			c = t.a.text.Trunc(c, lastColumn)
		}
		_, _ = t.a.out.WriteString(c.String())
	}
	_ = t.a.out.WriteByte('\n')
}

// linef prints one escaped line of data.
func (a *app) linef(format string, args ...any) {
	_, _ = a.out.WriteString(a.text.Sprintf(format, args...).String() + "\n")
}

// wrapf is linef that wraps a line at the terminal's width between words; further lines are indented by eight
// columns.
func (a *app) wrapf(format string, args ...any) {
	line, width := a.text.Sprintf(format, args...).String(), a.columns()
	const indent = "        "
	if width > 2*len(indent) {
		line = strings.ReplaceAll(ansi.Wrap(line, width-len(indent), ""), "\n", "\n"+indent)
	}
	_, _ = a.out.WriteString(line + "\n")
}

// body prints a whole document, every line escaped.
func (a *app) body(text string) {
	for line := range safetext.Split(text) {
		_, _ = a.out.WriteString(a.text.EscapeLine([]byte(line.Raw), 8).String() + "\n")
	}
}

// stamp formats a time for JSON; the zero time is null.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// when formats a time for people.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// plural counts things in words.
func plural(n int64, noun string) string { return safetext.Count(n, noun) }

func flagNames(h model.Header) []string {
	out := make([]string, len(h.Flags))
	for i, f := range h.Flags {
		out[i] = string(f)
	}
	return out
}

// record is one row of a command's output: its fields make the object, its cells the columns of the
// table.
type record interface {
	kind() string
	cells() []any
	fields() row
}

// entry is a record of a short list, with its cells and fields made beforehand.
type entry struct {
	is      string
	columns []any
	object  row
}

func (e entry) kind() string { return e.is }
func (e entry) cells() []any { return e.columns }
func (e entry) fields() row  { return e.object }

// folded is a record with further lines in the table.
type folded interface{ below() [][]any }

// put prints one record as the flags ask for it. Call flush after the last one.
func (t *table) put(r record) {
	if t.a.flags.sort == "" {
		t.print(r)
	} else {
		t.held = append(t.held, r)
	}
}

func (t *table) print(r record) {
	if t.a.flags.json {
		t.a.emitOf(nameOf(r), r.kind(), r.fields())
		return
	}
	if !t.a.round.isNew(nameOf(r), fmt.Sprint(r.cells())) {
		return
	}
	t.add(r.cells()...)
	if f, ok := r.(folded); ok {
		for _, cells := range f.below() {
			t.add(cells...)
		}
	}
	if len(t.rows) >= model.MaxPage {
		t.page()
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// refOf is the reference to an item as people type it.
func refOf(store, id string) string { return model.Ref{Store: store, ID: id}.String() }

// nameOf is the subject of a record: its first column.
func nameOf(r record) string { return fmt.Sprint(r.cells()[0]) }

// spoken is a record that prints lines of text instead of a row of a table.
type spoken interface {
	kind() string
	fields() row
	// say prints it for people; it may say nothing.
	say(a *app)
}

// tell prints one such record as the flags ask for it.
func (a *app) tell(r spoken) {
	if a.flags.json {
		a.emit(r.kind(), r.fields())
	} else {
		r.say(a)
	}
}
