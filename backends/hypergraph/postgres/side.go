package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/jsonedit"
	"memdesk/model"
)

// itemTables hold items, or no subject data, each with its own columns; none: all. Retain and Forget change
// these, Scrub only rewrites their files. A column that others have added is cleaned as a side table is.
var itemTables = map[string][]string{
	"nodes":             append([]string{"workspace", "row_version", "has_vector"}, nodeColumns...),
	"hyperedges":        {"workspace", "id", "type", "label", "weight", "created_at", "row_version", "metadata"},
	"membership":        {"workspace", "hyperedge_id", "node_id", "role", "position"},
	"decisions":         {"workspace", "node_id", "decision_type", "confidence", "prompt", "files", "branch", "commit_hash", "parent_id", "status"},
	"node_embeddings":   {"workspace", "node_id", "embedding", "model", "dimensions", "created_at", "updated_at"},
	"node_vectors":      nil,
	"schema_migrations": nil,
}

// scrubSideTables cleans, in one transaction, tables and columns that others have added to the schema, for
// instance a history written by a trigger.
func (m maintainer) scrubSideTables(ctx context.Context, req model.ScrubRequest, step func(string, string)) ([]model.LayerResult, error) {
	var out []model.LayerResult
	run := m.s.transaction
	if req.Dry {
		run = m.s.ops.read
	}
	err := run(ctx, "scrub", func(q *query) error {
		out = nil
		tables, err := sideTables(q)
		if err != nil {
			return err
		}
		for _, table := range tables {
			step(table, "rows that name the person or what is gone")
			res := model.LayerResult{Layer: rowsLayer(table), Method: "rows rewritten or removed", Verdict: model.VerdictClean}
			if may, err := allowed(q, table, "SELECT", "UPDATE", "DELETE"); err != nil {
				return err
			} else if !may {
				res.Verdict, res.Reason = model.VerdictOutOfScope, "the database role may not read and change the table: its owner removes the rows"
			} else if err := cleanTable(q, table, m.s.workspace, req, &res); err != nil {
				return err
			}
			out = append(out, res)
		}
		return nil
	})
	return out, err
}

// allowed reports whether the role has all of these privileges on a table; none on one that is dropped meanwhile.
func allowed(q *query, table string, privileges ...string) (may bool, err error) {
	_, err = q.One(`SELECT COALESCE(bool_and(has_table_privilege(c.oid, p)), FALSE) FROM pg_class c, unnest($2::text[]) p
		WHERE c.relnamespace = to_regnamespace('memdesk') AND c.relname = $1`, []any{table, privileges}, &may)
	return may, err
}

// rows lists the rows of side tables, and the columns beside the items' own: all where the request has Concerns, else those
// that a scrub leaves to items on hold.
func (m maintainer) rows(ctx context.Context, req model.ScrubRequest) error {
	if len(req.Held) == 0 && req.Concerns == nil {
		return nil
	}
	return m.s.ops.read(ctx, "texts", func(q *query) error {
		tables, err := sideTables(q)
		if err != nil {
			return err
		}
		for _, table := range tables {
			if may, err := allowed(q, table, "SELECT"); err != nil {
				return err
			} else if !may {
				continue // its layers say so
			}
			t, err := openTable(q, table, m.s.workspace, req)
			if err == nil {
				err = t.list(table)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// cleanTable cleans one table: it removes a row tied to a removed item, drops removed ids from a list
// of ids, and redacts a text that names the subject. Rows that name the subject stay where the request refuses
// the table.
func cleanTable(q *query, table, workspace string, req model.ScrubRequest, res *model.LayerResult) error {
	t, err := openTable(q, table, workspace, req)
	if err != nil {
		return err
	}
	stuck := 0
	if !req.Dry {
		if res.Rows, stuck, err = t.dropTied(); err != nil {
			return err
		}
	}
	changes, named, err := t.look()
	if err != nil {
		return err
	}
	if named {
		if refused, may := req.Permits(table, nil); !may {
			res.Method, res.Verdict, res.Reason = refused.Method, refused.Verdict, refused.Reason
			t.req.Concerns = nil // the rows of removed items go all the same
			if changes, _, err = t.look(); err != nil {
				return err
			}
		}
	}
	if req.Dry {
		return nil
	}
	for n, c := range changes {
		switch err := t.changeOnce(c, n); {
		case err == nil:
			res.Rows++
		case q.broken != nil:
			return err
		default:
			stuck++
		}
	}
	if stuck > 0 {
		res.Verdict, res.Reason = model.VerdictFailed, fmt.Sprintf("%d rows cannot be changed, because of the table's own rules: change them with the program whose table it is", stuck)
	}
	return nil
}

// sideTable is a table that is cleaned.
type sideTable struct {
	q          *query
	req        model.ScrubRequest
	items      bool   // its rows are items, and stay
	held       []tie  // its rows of items on hold, which stay
	from, mine string // the table, and the condition of the rows that may be cleaned, with args
	args       []any
	here       string // the part of mine that is no item's: the rows of the workspace, with hereArgs
	hereArgs   []any
	columns    []column
	texts      []string          // columns
	kinds      map[string]string // of all columns
	numbers    []column
	cells      []string        // expressions: of the texts, then of the numbers
	nodes      map[string]bool // removed; a list node_ids loses them
}

func openTable(q *query, table, workspace string, req model.ScrubRequest) (*sideTable, error) {
	columns, err := columnsOf(q, table)
	if err != nil {
		return nil, err
	}
	t := &sideTable{q: q, req: req, columns: columns, from: schemaName + `.` + quote(table), args: []any{}, kinds: map[string]string{}, nodes: map[string]bool{}}
	for _, id := range tiedBy("node_ids", req.Removed) {
		t.nodes[id] = true
	}
	if _, t.items = itemTables[table]; t.items && req.Redact == nil {
		t.req.Redact = func([]byte) []byte { return nil }
	}
	if shared(columns) {
		t.mine, t.args = ` AND workspace = $1`, []any{workspace}
	}
	t.here, t.hereArgs = t.mine, slices.Clone(t.args)
	for _, c := range columns {
		t.kinds[c.name] = c.kind
		if c.text && c.name != "workspace" {
			t.texts, t.cells = append(t.texts, c.name), append(t.cells, quote(c.name)+`::text`)
		}
	}
	for _, c := range columns {
		if c.number && (req.Concerns != nil || req.SideRows != nil) {
			t.numbers, t.cells = append(t.numbers, c), append(t.cells, c.spellings())
		}
	}
	if t.held = t.heldBy(table); req.SideRows == nil {
		for _, h := range t.held {
			t.args = append(t.args, slices.Collect(maps.Keys(h.of)))
			t.mine += fmt.Sprintf(` AND NOT COALESCE(%s::text = ANY($%d), FALSE)`, quote(h.column), len(t.args))
		}
	}
	return t, nil
}

// tie is a column whose value is, in a row of an item, the key of that item.
type tie struct {
	column string
	of     map[string]string // the items by their keys
}

// heldBy are the columns that tie rows to items on hold: those of a row of another table, and an item's own key.
func (t *sideTable) heldBy(table string) (out []tie) {
	for column, sort := range map[string]string{"node_id": "node_id", "hyperedge_id": "hyperedge_id", "id": map[string]string{"nodes": "node_id", "hyperedges": "hyperedge_id"}[table]} {
		of := map[string]string{}
		for _, id := range t.req.Held {
			if raw, ok := hypergraph.TiedBy(sort, id); ok && sort != "" {
				of[raw] = id
			}
		}
		if t.kinds[column] != "" && len(of) > 0 {
			out = append(out, tie{column, of})
		}
	}
	return out
}

// list shows the rows to SideRows, of bytes their number, vectors left out, and the workspace, whose name a scrub leaves too.
func (t *sideTable) list(table string) error {
	var what, these []string
	for _, h := range t.held {
		t.args = append(t.args, slices.Collect(maps.Keys(h.of)))
		cond := fmt.Sprintf(`%s::text = ANY($%d)`, quote(h.column), len(t.args))
		what, these = append(what, `CASE WHEN `+cond+` THEN `+quote(h.column)+`::text ELSE '' END`), append(these, cond)
	}
	where := t.mine
	if t.req.Concerns == nil {
		where += ` AND (` + strings.Join(these, ` OR `) + `)`
	}
	var columns []column
	for _, c := range t.columns {
		if c.text && c.name == "workspace" || slices.Contains(itemTables[table], c.name) || strings.Contains(c.kind, "vec") {
			continue
		}
		text, words := quote(c.name)+`::text`, `''`
		if c.kind == "bytea" {
			text = `'(' || octet_length(` + quote(c.name) + `) || ' bytes that are no text)'`
		}
		if c.number {
			words = `COALESCE(` + c.spellings() + `, '')`
		}
		columns, what = append(columns, c), append(what, `COALESCE(`+text+`, '')`, words)
	}
	if len(columns) == 0 || len(these) == 0 && t.req.Concerns == nil {
		return nil
	}
	cells, dest := make([]string, len(what)), make([]any, len(what))
	for i := range cells {
		dest[i] = &cells[i]
	}
	return t.q.Each(`SELECT `+strings.Join(what, `, `)+` FROM `+t.from+` WHERE true`+where, t.args, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		row := model.SideRow{Layer: rowsLayer(table)}
		for i, h := range t.held {
			if cells[i] != "" {
				row.Of = append(row.Of, h.of[cells[i]])
			}
		}
		for i, c := range columns {
			at := len(t.held) + 2*i
			if c.text {
				cells[at+1] = cells[at]
			}
			row.Cells = append(row.Cells, model.SideCell{Column: c.name, Text: cells[at], Words: cells[at+1]})
		}
		t.req.SideRows(row)
		return nil
	})
}

// rowChange is what becomes of a row.
type rowChange struct {
	row   [2]string      // the partition's table and the place in it
	cells map[int]string // new texts
	none  []column       // numbers that go
	drop  bool
}

// look returns the rows that change. named: one names the subject.
func (t *sideTable) look() (changes []rowChange, named bool, err error) {
	if len(t.cells) == 0 {
		return nil, false, nil
	}
	cells, dest, row := make([]*string, len(t.cells)), make([]any, len(t.cells)+2), [2]string{}
	dest[0], dest[1] = &row[0], &row[1]
	for i := range cells {
		dest[i+2] = &cells[i]
	}
	text := `SELECT tableoid::text, ctid::text, ` + strings.Join(t.cells, `, `) + ` FROM ` + t.from + ` WHERE true` + t.mine
	err = t.q.Each(text, t.args, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		c := rowChange{row: row, cells: map[int]string{}}
		for i, cell := range cells {
			if cell != nil && t.judge(&c, i, *cell) {
				named = true
			}
		}
		if c.drop = c.drop && !t.items; c.drop || len(c.cells)+len(c.none) > 0 {
			changes = append(changes, c)
		}
		return nil
	})
	return changes, named, err
}

// judge adds to a row's change what becomes of one cell, and reports whether the cell names the subject.
func (t *sideTable) judge(c *rowChange, i int, cell string) (concerns bool) {
	text, drop := cell, false
	if i < len(t.texts) && t.texts[i] == "node_ids" {
		text, drop = jsonedit.WithoutTexts(text, func(id string) bool { return t.nodes[id] })
	}
	c.drop = c.drop || drop
	concerns = text != "" && t.req.Concerns != nil && t.req.Concerns([]byte(text))
	switch {
	case concerns && t.req.Redact == nil:
		c.drop = true
	case concerns && i >= len(t.texts):
		c.none = append(c.none, t.numbers[i-len(t.texts)])
	case concerns:
		text = string(t.req.Redact([]byte(text)))
		if t.req.Concerns([]byte(text)) { // the person cannot be taken out of it
			if text = ""; t.isJSON(i) {
				text = `""`
			}
		}
	}
	if text != cell {
		c.cells[i] = text
	}
	return concerns
}

func (t *sideTable) isJSON(i int) bool { return strings.HasPrefix(t.kinds[t.texts[i]], "json") }

// changeOnce changes a row, and once more with a number behind what is new where the table takes a text once
// only. A refused row leaves the others as they are.
func (t *sideTable) changeOnce(c rowChange, n int) error {
	try := func() error { return t.q.atomically(func() error { return t.change(c) }) }
	err := try()
	if err == nil || t.q.broken != nil || c.drop {
		return err
	}
	for i, v := range c.cells {
		if !t.isJSON(i) {
			c.cells[i] = fmt.Sprintf("%s-%d", v, n+1)
		}
	}
	return try()
}

// change removes or rewrites a row.
func (t *sideTable) change(c rowChange) error {
	const this = ` WHERE tableoid = $1::text::oid AND ctid = $2::text::tid`
	with := []any{c.row[0], c.row[1]}
	if c.drop {
		_, err := t.q.Exec(`DELETE FROM `+t.from+this, with...)
		return err
	}
	var set []string
	for i, v := range c.cells {
		with = append(with, v)
		set = append(set, fmt.Sprintf(`%s = $%d::text::%s`, quote(t.texts[i]), len(with), t.kinds[t.texts[i]]))
	}
	for _, n := range c.none {
		if n.wanted { // a number of nobody's, which no row has
			set = append(set, fmt.Sprintf(`%s = (SELECT least(min(%s), 0) - 1 FROM %s)`, quote(n.name), quote(n.name), t.from))
		} else {
			set = append(set, quote(n.name)+` = NULL`)
		}
	}
	_, err := t.q.Exec(`UPDATE `+t.from+` SET `+strings.Join(set, `, `)+this, with...)
	return err
}

// dropTied removes the rows whose node_id or hyperedge_id is a removed item, also where the other one is on hold: they tell
// what is gone. It removes them one by one where the table's own rules refuse to remove them at once. stuck of them stay.
func (t *sideTable) dropTied() (gone int64, stuck int, err error) {
	for _, column := range []string{"node_id", "hyperedge_id"} {
		ids := tiedBy(column, t.req.Removed)
		if !slices.Contains(t.texts, column) || len(ids) == 0 {
			continue
		}
		these := fmt.Sprintf(` FROM %s WHERE %s::text = ANY($%d)%s`, t.from, quote(column), len(t.hereArgs)+1, t.here)
		args := append(slices.Clone(t.hereArgs), any(ids))
		err := t.q.atomically(func() error {
			n, err := t.q.Exec(`DELETE`+these, args...)
			gone += n
			return err
		})
		if err == nil {
			continue
		}
		if t.q.broken != nil {
			return 0, 0, err
		}
		var rows []rowChange
		if err := t.q.Each(`SELECT tableoid::text, ctid::text`+these, args, func(scan func(...any) error) error {
			c := rowChange{drop: true}
			err := scan(&c.row[0], &c.row[1])
			rows = append(rows, c)
			return err
		}); err != nil {
			return 0, 0, err
		}
		all := len(rows)
		for left := -1; left != len(rows); { // the rows may refer to one another
			left = len(rows)
			rows = slices.DeleteFunc(rows, func(c rowChange) bool { return t.changeOnce(c, 0) == nil })
		}
		if t.q.broken != nil {
			return 0, 0, t.q.broken
		}
		stay := 0 // a removal may have moved another of the rows
		if err := t.q.Each(`SELECT count(*)`+these, args, func(scan func(...any) error) error { return scan(&stay) }); err != nil {
			return 0, 0, err
		}
		gone, stuck = gone+int64(all-stay), stuck+stay
	}
	return gone, stuck, nil
}

// tiedBy is what a column holds in the rows of the items.
func tiedBy(column string, items []string) (ids []string) {
	for _, id := range items {
		if raw, ok := hypergraph.TiedBy(column, id); ok {
			ids = append(ids, raw)
		}
	}
	return ids
}
