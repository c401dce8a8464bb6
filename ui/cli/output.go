package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// lastColumn is the width of a table's last column, a title or a message, unless -o wide asks for
// all of it.
const lastColumn = 80

// row is one row of a command's output, the fields of its JSON object by name. A column of the table shows
// the field of its own name; every object also carries its type and the version of the format.
type row map[string]any

// cell is a column that is no field of the object.
type cell string

// as is a field that the table shows in another form.
type as struct{ field, cell any }

// object removes what only the table shows.
func (r row) object() row {
	for k, v := range r {
		switch v := v.(type) {
		case cell:
			delete(r, k)
		case as:
			r[k] = v.field
		}
	}
	return r
}

// with is the row with more fields.
func (r row) with(more row) row {
	maps.Copy(r, more)
	return r
}

// onlyIf is v, or null.
func onlyIf(known bool, v any) any {
	if known {
		return v
	}
	return nil
}

// errorValue is an error for JSON, null without one.
func errorValue(err error) any {
	if err == nil {
		return nil
	}
	return err.Error()
}

// dash is a field that the table shows as - when it is empty.
func dash[T ~string](s T) as { return as{s, orDash(string(s))} }

// stamp is a time in a row. The zero time is null in the object and - in the table.
type stamp time.Time

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) {
	if time.Time(s).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + time.Time(s).UTC().Format(time.RFC3339Nano) + `"`), nil
}

func (s stamp) String() string { return when(time.Time(s)) }

// emit prints one JSON object with --json. As with every print, the error of a failed write ends the program
// with code 1 when the command returns.
func (a *app) emit(kind string, r row) {
	if a.flags.json {
		a.emitOf("", kind, r)
	}
}

// emitOf prints one JSON object under a name, by which --watch compares rounds.
func (a *app) emitOf(name, kind string, r row) {
	line, err := safetext.MarshalJSON(r.object().with(row{"type": kind, "v": 1}))
	if err != nil {
		a.out.Fail(err)
	} else if a.round.isNew(name, string(line)) {
		_, _ = a.out.Write(append(line, '\n'))
	}
}

// result prints the result of a command: an object with --json, else one line.
func (a *app) result(kind string, r row, format string, args ...any) {
	a.emit(kind, r)
	a.tellf(format, args...)
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

// maxExcerpt bounds the shown part of an excerpt, in bytes.
const maxExcerpt = 120

// add adds one row. It escapes cells that are not yet safetext.Text.
func (t *table) add(cells []any) {
	row := make([]safetext.Text, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case safetext.Text:
			row[i] = v
		default:
			row[i] = t.a.text.Line(fmt.Sprint(v))
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

// tellf is linef without --json, where an object says the same.
func (a *app) tellf(format string, args ...any) {
	if !a.flags.json {
		a.linef(format, args...)
	}
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

// tellBody is body without --json, where an object has the text.
func (a *app) tellBody(text string) {
	if !a.flags.json {
		a.body(text)
	}
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

// record is one row of a table with its kind, and further lines that only the table has.
type record struct {
	kind  string
	row   row
	cells []any // of the row's own line
	below [][]any
}

// cells picks the columns of a row: "LET IN" is let_in. Every column has a value.
func (t *table) cells(r row) []any {
	out := make([]any, len(t.head))
	for i, h := range t.head {
		v, known := r[strings.ReplaceAll(strings.ToLower(h), " ", "_")]
		if !known {
			panic("a row without the column " + h)
		}
		if two, ok := v.(as); ok {
			v = two.cell
		}
		switch v {
		case true:
			v = "yes"
		case false:
			v = "no"
		}
		out[i] = v
	}
	return out
}

// put prints one row as the flags ask for it. Call flush after the last one.
func (t *table) put(kind string, r row, below ...[]any) {
	if rec := (record{kind, r, t.cells(r), below}); t.a.flags.sort == "" {
		t.print(rec)
	} else {
		t.held = append(t.held, rec)
	}
}

// putAll prints rows that are in memory, and ends the table.
func putAll[T any](t *table, kind string, all []T, of func(T) row) {
	for _, v := range all {
		t.put(kind, of(v))
	}
	t.flush()
}

func (t *table) print(r record) {
	name := fmt.Sprint(r.cells[0]) // the subject of a row is its first column
	if t.a.flags.json {
		t.a.emitOf(name, r.kind, r.row)
		return
	}
	if !t.a.round.isNew(name, fmt.Sprint(r.cells)) {
		return
	}
	for _, cells := range append([][]any{r.cells}, r.below...) {
		t.add(cells)
	}
	if len(t.rows) >= model.MaxPage {
		t.page()
	}
}

// refOf is the reference to an item as people type it.
func refOf(store, id string) string { return model.Ref{Store: store, ID: id}.String() }
