package cli

import (
	"runtime"
	"strconv"
	"time"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// lastColumn is the width of a table's last column, a title or a message, unless -o wide asks for
// all of it.
const lastColumn = 80

// row is one JSON object of the output; every one carries its type and the
// version of the format.
type row map[string]any

func (a *app) emit(kind string, r row) error {
	r["type"], r["v"] = kind, 1
	return safetext.NewJSONWriter(a.out).Write(r)
}

// table prints aligned columns, a page at a time.
type table struct {
	a    *app
	head []string
	rows [][]safetext.Text
	min  []int
	done bool // the head is out
	// whole: the last column is what the reader came for, and is never cut.
	whole bool
}

func (a *app) table(head ...string) *table {
	t := &table{a: a, head: head, min: make([]int, len(head))}
	for i, h := range head {
		t.min[i] = len(h)
	}
	return t
}

// excerpt is a cell of hostile text that may be long.
type excerpt string

// maxExcerpt is how much of an excerpt is shown, in bytes.
const maxExcerpt = 120

// add takes one row: cells are Text, or values that are escaped here.
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

// flush prints what was added. Widths only grow from page to page, so columns
// stay where they are as long as the content lets them.
func (t *table) flush() {
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

func (t *table) line(cells []safetext.Text) {
	for i, c := range cells {
		if i == len(cells)-1 {
			if t.a.flags.output != "wide" && !t.whole {
				c = t.a.text.Trunc(c, lastColumn)
			}
			_, _ = t.a.out.WriteString(c.String())
			break
		}
		_, _ = t.a.out.WriteString(safetext.Pad(c, t.min[i]).String() + "  ")
	}
	_ = t.a.out.WriteByte('\n')
}

// linef prints one escaped line of data.
func (a *app) linef(format string, args ...any) {
	_, _ = a.out.WriteString(a.text.Sprintf(format, args...).String() + "\n")
}

// body prints a whole document, every line escaped, nothing left out.
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
func plural(n int64, noun string) string {
	return strconv.FormatInt(n, 10) + " " + safetext.Noun(n, noun)
}

func flagNames(h model.Header) []string {
	out := make([]string, len(h.Flags))
	for i, f := range h.Flags {
		out[i] = string(f)
	}
	return out
}

func goVersion() string { return runtime.Version() }
