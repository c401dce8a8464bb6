package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
)

// lastColumn is the width of a table's last column, a title or a message, unless -o wide asks for
// all of it.
const lastColumn = 80

// A row of a command's output is a struct. Its json tags make an object of --json, which also carries its type and
// the version of the format. A column of the table shows the field with its name as col tag, else the field with
// its name as json tag: LET IN is let_in. It shows null as -. A field with the tag json:"-" is of the table alone.

// onlyIf is v, or null.
func onlyIf[T any](known bool, v T) *T {
	if known {
		return &v
	}
	return nil
}

func nilIfEmpty(s string) *string { return onlyIf(s != "", s) }

// errorValue is an error for JSON, null without one.
func errorValue(err error) *string {
	if err == nil {
		return nil
	}
	return new(err.Error())
}

// list is a list that is never null.
func list[T any](all []T) []T { return append([]T{}, all...) }

// mapped is a list of what becomes of each value; it is never null.
func mapped[A, B any](all []A, of func(A) B) []B {
	out := make([]B, len(all))
	for i, v := range all {
		out[i] = of(v)
	}
	return out
}

// ids are identifiers for JSON.
func ids(all []string) []string { return mapped(all, model.EncodeID) }

// dashed is a text that the table shows as - when it is empty.
type dashed string

func (d dashed) String() string { return orDash(string(d)) }

// number is a number with its unit.
type number string

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

// object is a row as one line of JSON.
func object(kind string, row any) ([]byte, error) {
	fields, err := safetext.MarshalJSON(row)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`{"type":%q,"v":1`, kind)
	if len(fields) > len("{}") {
		head += ","
	}
	return append([]byte(head), fields[1:]...), nil
}

// emit prints one JSON object with --json. As with every print, the error of a failed write ends the program
// with code 1 when the command returns.
func (a *app) emit(kind string, row any) {
	if a.flags.json {
		a.emitOf("", kind, row)
	}
}

// emitOf prints one JSON object under a name, by which --watch compares rounds.
func (a *app) emitOf(name, kind string, row any) {
	line, err := object(kind, row)
	if err != nil {
		a.out.Fail(err)
	} else if a.round.isNew(name, compared(row, string(line))) {
		_, _ = a.out.Write(append(line, '\n'))
	}
}

// result prints the result of a command: an object with --json, else one line.
func (a *app) result(kind string, row any, format string, args ...any) {
	a.emit(kind, row)
	a.tellf(format, args...)
}

// table prints aligned columns, a page at a time.
type table struct {
	a    *app
	head []string
	rows [][]cell
	min  []int
	// hidden are the columns that have no room on the terminal.
	hidden []bool
	// right are the columns of numbers, which stand to the right.
	right []bool
	// ages: the table is too wide with times in full.
	ages bool
	held []record // under --sort, until flush
	// columns are the fields that a type of row shows, in the order of the head.
	columns map[reflect.Type][][]int
	done    bool   // the head is out
	none    string // what flush says of a table without a row
	// whole: the last column is never cut.
	whole bool
	width int // of the terminal in columns; 0: not one
}

func (a *app) table(head ...string) *table {
	if t := a.tables[strings.Join(head, " ")]; t != nil { // of the round before
		return t
	}
	t := &table{a: a, head: head, min: make([]int, len(head)), hidden: make([]bool, len(head)), right: make([]bool, len(head)), columns: map[reflect.Type][][]int{}}
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

// cell is a value of a table as people read it.
type cell struct {
	safetext.Text
	at time.Time // zero: no time
}

// add adds one row. It escapes cells that are not yet safetext.Text.
func (t *table) add(values []any) {
	row := make([]cell, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case safetext.Text:
			row[i].Text = v
			continue
		case stamp:
			row[i].at = time.Time(v)
		case int, int64, uint64, number:
			t.right[i] = true
		}
		row[i].Text = t.a.text.Line(fmt.Sprint(v))
	}
	t.rows = append(t.rows, row)
}

// orSay lets flush say words where the table has no row.
func (t *table) orSay(none string) *table {
	t.none = none
	return t
}

// partly takes the words of orSay back where something was not looked at.
func (t *table) partly(unseen bool) {
	if unseen {
		t.none = ""
	}
}

// flush prints the rest and ends the table.
func (t *table) flush() {
	t.sorted()
	t.page()
	if t.none != "" {
		t.a.hintf("%s", t.none)
	}
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
	t.fit()
	if !t.done {
		t.line(mapped(t.head, func(h string) cell { return cell{Text: t.a.text.Const(h)} }))
		t.done = true
	}
	for _, r := range t.rows {
		t.line(r)
	}
	t.rows = t.rows[:0]
}

// gap is the space between two columns.
const gap = "  "

// fit makes the columns as wide as their cells. On a terminal that is too narrow the first column, which people type,
// stays whole where it can: times become ages, the columns between it and the last one narrow, and what has no room
// goes, columns of nothing first, then from the right. A pipe and -o wide get everything. After the head the
// columns grow only where there is room.
func (t *table) fit() {
	const least, title = 12, 24
	t.width = t.a.columns()
	if t.whole {
		t.width = 0
	}
	full := slices.Clone(t.min)
	t.min = t.widened(full)
	if t.width == 0 {
		return
	}
	last := len(t.head) - 1
	over := func(title int) bool {
		used := min(t.min[last], title)
		for i := range last {
			if !t.hidden[i] {
				used += t.min[i] + len(gap)
			}
		}
		return used > t.width
	}
	if t.done {
		if over(title) {
			t.min = full
		}
		return
	}
	if over(title) {
		t.ages = true
		t.min = t.widened(full)
	}
	wanted := slices.Clone(t.min)
	for over(title) {
		widest, leaves := 0, 0 // the first column is neither
		for i := 1; i < last; i++ {
			if t.hidden[i] {
				continue
			}
			if widest == 0 || t.min[i] > t.min[widest] {
				widest = i
			}
			if leaves == 0 || t.empty(i) || !t.empty(leaves) {
				leaves = i
			}
		}
		switch {
		case leaves > 0 && (t.empty(leaves) || t.min[widest] <= least && over(title-8)):
			t.hidden[leaves] = true
			copy(t.min, wanted)
		case widest > 0 && t.min[widest] > least:
			t.min[widest]--
		default:
			return
		}
	}
}

// empty reports whether a column says nothing in any row.
func (t *table) empty(column int) bool {
	return !slices.ContainsFunc(t.rows, func(r []cell) bool { return r[column].String() != "-" })
}

// widened are the columns' widths with the rows' cells. A terminal bounds them: a cell of the first column that has
// no room beside a title is cut in any case, and takes no more from the others. Elsewhere the bound is for hostile names.
func (t *table) widened(widths []int) []int {
	out := slices.Clone(widths)
	for _, r := range t.rows {
		for i := range r {
			if t.ages && !r[i].at.IsZero() {
				r[i].Text = t.a.text.Line(t.a.age(r[i].at))
			}
			w, most := r[i].Width(), 60
			switch {
			case t.width == 0:
				most = 240
			case i == 0 && w <= t.first():
				most = w
			case i == 0:
				most = 24
			}
			out[i] = max(out[i], min(w, most))
		}
	}
	return out
}

// first is the most that the first column has of a terminal: the rest is for a title.
func (t *table) first() int { return max(t.width-len(gap)-16, 1) }

// age is how long ago a time was; a time to come is its day.
func (a *app) age(at time.Time) string {
	if at.After(a.Clock.Now()) {
		return at.UTC().Format(time.DateOnly)
	}
	return prose.Clock{Clock: a.Clock}.Ago(at)
}

// columns is the width of the output's terminal; 0: nothing is cut.
func (a *app) columns() int {
	if a.Columns == nil || a.flags.output == "wide" || !a.Terminal(a.Stdout) {
		return 0
	}
	return a.Columns()
}

func (t *table) line(cells []cell) {
	used := 0
	for i, c := range cells {
		text := c.Text
		if t.hidden[i] {
			continue
		}
		if t.width > 0 && i > 0 && used+len(gap) >= t.width {
			break
		}
		if i < len(cells)-1 {
			width := t.min[i]
			if t.width > 0 {
				if w := text.Width(); i == 0 && w <= t.first() {
					width = max(width, w) // a later page has a longer one
				}
				width = min(width, max(t.width-used-len(gap), 1))
				text = t.cut(text, width)
			}
			pad := safetext.Pad
			if t.right[i] {
				pad = safetext.PadLeft
			}
			text = pad(text, width)
			used += text.Width() + len(gap)
			_, _ = t.a.out.WriteString(text.String() + gap)
			continue
		}
		switch {
		case t.whole || t.a.flags.output == "wide":
		case t.width > 0:
			text = t.a.text.Trunc(text, max(t.width-used, 1))
		default:
			text = t.a.text.Trunc(text, lastColumn)
		}
		_, _ = t.a.out.WriteString(text.String())
	}
	_ = t.a.out.WriteByte('\n')
}

// cut shortens a cell to width columns. A path keeps its end, which tells it from its neighbours.
func (t *table) cut(c safetext.Text, width int) safetext.Text {
	if strings.Contains(c.String(), "/") {
		return t.a.text.TruncMiddle(c, width)
	}
	return t.a.text.Trunc(c, width)
}

// linef prints one escaped line of data.
func (a *app) linef(format string, args ...any) {
	_, _ = a.out.WriteString(a.text.Sprintf(format, args...).String() + "\n")
}

// fieldf is linef for a value that may be empty: then it prints nothing.
func (a *app) fieldf(format, value string) {
	if value != "" {
		a.linef(format, value)
	}
}

// tellf is linef without --json, where an object says the same.
func (a *app) tellf(format string, args ...any) {
	if !a.flags.json {
		a.linef(format, args...)
	}
}

// wrapf is linef that wraps a line at the terminal's width; further lines are indented by eight columns.
func (a *app) wrapf(format string, args ...any) {
	const indent = "        "
	text := a.text.Sprintf(format, args...)
	line := text.String()
	if width := a.columns(); width > 2*len(indent) {
		line = wrap(text, indent, width)
	}
	_, _ = a.out.WriteString(line + "\n")
}

// wrap breaks a text at blanks, so that indented lines fit a width; the first one is not indented.
func wrap(text safetext.Text, indent string, width int) string {
	lines := safetext.Wrap(text, width-len(indent))
	return strings.Join(mapped(lines, func(l safetext.Text) string { return strings.TrimRight(l.String(), " ") }), "\n"+indent)
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
	row   any
	cells []any // of the row's own line
	below [][]any
}

// fields finds the fields that the columns show of a type of row. Every column has one.
func (t *table) fields(of reflect.Type) [][]int {
	if found, ok := t.columns[of]; ok {
		return found
	}
	all := map[string][]int{}
	for _, tag := range []string{"json", "col"} { // a col tag goes before
		for _, f := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" {
				all[strings.ReplaceAll(strings.ToUpper(name), "_", " ")] = f.Index
			}
		}
	}
	out := make([][]int, len(t.head))
	for i, h := range t.head {
		if out[i] = all[h]; out[i] == nil {
			panic(of.String() + " has no column " + h)
		}
	}
	t.columns[of] = out
	return out
}

// cells are what the columns show of a row.
func (t *table) cells(row any) []any {
	out, v := make([]any, len(t.head)), reflect.ValueOf(row)
	for i, index := range t.fields(v.Type()) {
		out[i] = "-" // null
		if cell := reflect.Indirect(v.FieldByIndex(index)); cell.IsValid() {
			out[i] = cell.Interface()
		}
		switch out[i] {
		case true:
			out[i] = "yes"
		case false:
			out[i] = "no"
		}
	}
	return out
}

// put prints one row as the flags ask for it. Call flush after the last one.
func (t *table) put(kind string, row any, below ...[]any) {
	t.none = ""
	if rec := (record{kind, row, t.cells(row), below}); t.a.flags.sort == "" {
		t.print(rec)
	} else {
		t.held = append(t.held, rec)
	}
}

// putAll prints rows that are in memory, and ends the table.
func putAll[T, R any](t *table, kind string, all []T, of func(T) R) {
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
	if !t.a.round.isNew(name, compared(r.row, fmt.Sprint(r.cells))) {
		return
	}
	for _, cells := range append([][]any{r.cells}, r.below...) {
		t.add(cells)
	}
	if len(t.rows) >= model.MaxPage {
		t.page()
	}
}

// refOf is the reference to an item as people type it, - for no item.
func refOf(store, id string) string {
	if store == "" && id == "" {
		return "-"
	}
	return model.Ref{Store: store, ID: id}.String()
}

// itemAt names the item of a row.
type itemAt struct {
	Store string `json:"store"`
	ID    string `json:"id"`
	Ref   string `json:"-" col:"REF"`
}

func newItemAt(store, id string) itemAt {
	return itemAt{store, model.EncodeID(id), refOf(store, id)}
}
