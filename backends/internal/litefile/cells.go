package litefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/model"
)

// rowOf is the condition of the row with a key.
func rowOf(key []string) string {
	where := make([]string, len(key))
	for i, k := range key {
		where[i] = quote(k) + ` IS ?`
	}
	return ` WHERE ` + strings.Join(where, ` AND `)
}

func hasColumn(q *Query, table, column string) (bool, error) {
	columns, err := Columns(q, table)
	return slices.Contains(columns, column), err
}

// rowKey are the columns by which the rows of a table are addressed: the row's
// number, under a name that no column has taken, or the key of a table without;
// none for what is like a view.
func rowKey(q *Query, table string) ([]string, error) {
	var without int64
	found, err := q.One(`SELECT wr FROM pragma_table_list WHERE name = ? AND type IN ('table', 'virtual', 'shadow')`, []any{table}, &without)
	if err != nil || !found {
		return nil, err
	}
	var taken, key []string
	err = q.Each(`SELECT lower(name), name, pk FROM pragma_table_info(?) ORDER BY pk`, []any{table}, func(scan func(...any) error) error {
		var lower, name string
		var pk int64
		if err := scan(&lower, &name, &pk); err != nil {
			return err
		}
		if taken = append(taken, lower); pk > 0 {
			key = append(key, name)
		}
		return nil
	})
	if err != nil || without != 0 {
		return key, err
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.Contains(taken, name) {
			return []string{name}, nil
		}
	}
	return nil, nil
}

// textColumns are the columns that can hold words: any may, whatever type it was
// declared with, and vectors do not.
func textColumns(q *Query, table string) ([]string, error) {
	all, err := Columns(q, table)
	return slices.DeleteFunc(all, func(c string) bool { return c == "embedding" }), err
}

// jsonb is a cell that SQLite keeps as binary JSON, as text: its lengths are part of the bytes,
// so that it is decoded, edited and encoded again.
type jsonb string

func quoted(columns []string) (out []string) {
	for _, c := range columns {
		out = append(out, quote(c))
	}
	return out
}

// selection is a choice of rows. at and columns are expressions: of a row's key, and of the cells that are looked at.
type selection struct {
	table       string
	at, columns []string
	where       string // "" or " WHERE …", with args
	args        []any
}

// each hands out the key and the cells of every row. The sign before each expression says nothing to SQLite, and keeps the
// driver from reading words as the times that a column was declared for.
func (s selection) each(q *Query, fn func(at, cells []any) error) error {
	var what []string
	for _, expr := range slices.Concat(s.at, s.columns) {
		what = append(what, "+("+expr+")")
	}
	for _, c := range s.columns { // 8: strictly well-formed JSONB
		what = append(what, "CASE WHEN typeof("+c+") = 'blob' AND json_valid("+c+", 8) THEN json("+c+") END")
	}
	all := make([]any, len(what))
	dest := make([]any, len(what))
	for i := range all {
		dest[i] = &all[i]
	}
	return q.Each(`SELECT `+strings.Join(what, `, `)+` FROM `+quote(s.table)+s.where, s.args, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		cells := all[len(s.at) : len(s.at)+len(s.columns)]
		for i, decoded := range all[len(s.at)+len(s.columns):] {
			if text, ok := decoded.(string); ok {
				cells[i] = jsonb(text)
			}
		}
		return fn(slices.Clone(all[:len(s.at)]), cells)
	})
}

// cleanRow holds the new cells of one row; cells that stay are nil.
type cleanRow struct {
	at    []any // its key
	cells map[int]any
	drop  bool
}

// clean is what becomes of a row; lists are, by column, the ids that a list of ids loses.
func clean(at, cells []any, req model.ScrubRequest, lists []map[string]bool) *cleanRow {
	r := cleanRow{at: at, cells: map[int]any{}}
	for i, c := range cells {
		text := cellText(c)
		if n := number(c); n != "" && req.Concerns != nil && req.Concerns([]byte(spellings(n))) {
			r.drop = r.drop || req.Redact == nil
			r.cells[i] = noNumber{}
		}
		after := text
		if lists != nil && lists[i] != nil {
			var emptied bool
			after, emptied = jsonedit.WithoutTexts(text, func(id string) bool { return lists[i][id] })
			r.drop = r.drop || emptied
		}
		if req.Concerns != nil && after != "" && req.Concerns([]byte(after)) {
			if req.Redact == nil {
				r.drop = true
			} else {
				after = redacted(c, after, req)
			}
		}
		if after != text {
			r.cells[i] = likeCell(c, after)
		}
	}
	if len(r.cells) == 0 && !r.drop {
		return nil
	}
	return &r
}

// redacted returns the rest of a cell: nothing where the person cannot be taken out of it, as
// from one that is compressed.
func redacted(c any, text string, req model.ScrubRequest) string {
	after := req.Redact([]byte(text))
	if !req.Concerns(after) {
		return string(after)
	}
	if _, ok := c.(jsonb); ok {
		return `""`
	}
	return ""
}

// leastDigits is how many digits a number needs before it can be a person's: shorter ones count things.
const leastDigits = 6

// number is a cell's number as its digits; empty for a cell that is none, or whose number is too short or no
// whole one.
func number(c any) string {
	var n int64
	switch v := c.(type) {
	case int64:
		n = v
	case float64:
		if n = int64(v); float64(n) != v || v > 1<<53 || v < -1<<53 {
			return ""
		}
	}
	text := strconv.FormatInt(n, 10)
	if len(strings.TrimPrefix(text, "-")) < leastDigits {
		return ""
	}
	return text
}

// spellings are the ways to write a number: a column of numbers keeps no zeros before it. The marks between
// them join nothing.
func spellings(n string) string { return n + ";0" + n + ";00" + n + ";" }

// words are a cell's text, or the ways to write its number.
func words(c any) string {
	if n := number(c); n != "" {
		return spellings(n)
	}
	return cellText(c)
}

// noNumber stands where a number was: nothing, or where the table wants a number, one that is nobody's.
type noNumber struct{}

// cellText is a cell's text.
func cellText(c any) string {
	switch v := c.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case jsonb:
		return string(v)
	}
	return ""
}

// likeCell is a text as a cell of the kind that another is.
func likeCell(c any, text string) any {
	switch c.(type) {
	case []byte:
		return []byte(text)
	case jsonb:
		return jsonb(text)
	}
	return text
}

// writeOnce writes a row, and once more with numbers behind what is new, or below zero, where the
// table takes a value once only. Of a row that cannot be changed it changes the cells that can; some: the row was changed, or a part of it.
func (r cleanRow) writeOnce(q *Query, table string, key, columns []string, n int) (some bool, err error) {
	for i, v := range r.cells {
		if v != (noNumber{}) {
			continue
		}
		var wanted int64
		if _, err := q.One(`SELECT "notnull" <> 0 OR pk > 0 FROM pragma_table_info(?) WHERE name = ?`, []any{table, columns[i]}, &wanted); err != nil {
			return false, err
		}
		if r.cells[i] = nil; wanted != 0 {
			r.cells[i] = int64(0)
		}
	}
	write := func(r cleanRow) error {
		return q.Atomically(func() error { return r.write(q, table, key, columns) })
	}
	if err = write(r); err == nil || q.broken != nil || r.drop {
		return err == nil, err
	}
	was := maps.Clone(r.cells)
	for i, v := range r.cells {
		switch v := v.(type) {
		case string:
			r.cells[i] = fmt.Sprintf("%s-%d", v, n+1)
		case []byte:
			r.cells[i] = fmt.Appendf(slices.Clone(v), "-%d", n+1)
		case int64:
			r.cells[i] = int64(-n - 1)
		}
	}
	if err = write(r); err == nil || q.broken != nil || len(was) < 2 {
		return err == nil, err
	}
	primary, perr := Texts(q, `SELECT name FROM pragma_table_info(?) WHERE pk > 0`, table)
	if perr != nil {
		return false, perr
	}
	at := slices.Clone(r.at)
	for _, last := range []bool{false, true} { // with another key a row has another address
		for i, c := range columns {
			v, changes := was[i]
			if q.broken != nil || !changes || slices.Contains(primary, c) != last || write(cleanRow{at: at, cells: map[int]any{i: v}}) != nil {
				continue
			}
			some = true
			if k := slices.Index(key, c); k >= 0 {
				at[k] = v
			}
		}
	}
	return some, err
}

func (r cleanRow) write(q *Query, table string, key, columns []string) error {
	this := rowOf(key)
	if r.drop {
		_, err := q.Exec(`DELETE FROM `+quote(table)+this, r.at...)
		return err
	}
	var set []string
	var args []any
	for i, v := range r.cells {
		put := ` = ?`
		if text, ok := v.(jsonb); ok {
			put, v = ` = jsonb(?)`, string(text)
		}
		set, args = append(set, quote(columns[i])+put), append(args, v)
	}
	_, err := q.Exec(`UPDATE `+quote(table)+` SET `+strings.Join(set, `, `)+this, append(args, r.at...)...)
	return err
}
