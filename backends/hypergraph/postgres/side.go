package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
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
	err := m.s.transaction(ctx, "scrub", func(q *query) error {
		out = nil
		tables, err := sideTables(q)
		if err != nil {
			return err
		}
		for _, table := range tables {
			step(table, "rows that name the person or what is gone")
			res := model.LayerResult{Layer: rowsLayer(table), Method: "rows rewritten or removed", Verdict: model.VerdictClean}
			var may bool
			if _, err := q.One(`SELECT has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')
				FROM pg_class c WHERE c.relnamespace = to_regnamespace('memdesk') AND c.relname = $1`, []any{table}, &may); err != nil {
				return err
			}
			if !may {
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

// cleanTable cleans one table: it removes a row tied to a removed item, drops removed ids from a list
// of ids, and redacts a text that names the subject.
func cleanTable(q *query, table, workspace string, req model.ScrubRequest, res *model.LayerResult) error {
	columns, err := columnsOf(q, table)
	if err != nil {
		return err
	}
	_, items := itemTables[table]
	if items && req.Redact == nil { // a row of an item stays
		req.Redact = func([]byte) []byte { return nil }
	}
	var texts []string
	var quoted []string // expressions: of the texts, then of the numbers
	var numbers []column
	kinds := map[string]string{}
	from, mine := schemaName+`.`+quote(table), ``
	args := []any{}
	if shared(columns) {
		mine, args = ` AND workspace = $1`, []any{workspace}
	}
	for _, c := range columns {
		kinds[c.name] = c.kind
		if c.text && c.name != "workspace" {
			texts, quoted = append(texts, c.name), append(quoted, quote(c.name)+`::text`)
		}
	}
	for _, c := range columns {
		if c.number && req.Concerns != nil {
			numbers, quoted = append(numbers, c), append(quoted, c.spellings())
		}
	}
	if res.Rows, err = dropTied(q, from, mine, args, texts, req.Removed); err != nil || len(quoted) == 0 {
		return err
	}
	type change struct {
		row   string
		cells map[int]string
		none  []column // numbers that go
		drop  bool
	}
	var changes []change
	cells, dest, row := make([]*string, len(quoted)), make([]any, len(quoted)+1), ""
	dest[0] = &row
	for i := range cells {
		dest[i+1] = &cells[i]
	}
	err = q.Each(`SELECT ctid::text, `+strings.Join(quoted, `, `)+` FROM `+from+` WHERE true`+mine, args, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		c := change{row: row, cells: map[int]string{}}
		for i, cell := range cells {
			if cell == nil {
				continue
			}
			if i >= len(texts) {
				if req.Concerns([]byte(*cell)) {
					c.none, c.drop = append(c.none, numbers[i-len(texts)]), c.drop || req.Redact == nil
				}
				continue
			}
			after, drop := cleaned(*cell, req)
			c.drop = c.drop || drop
			if after != *cell {
				c.cells[i] = after
			}
		}
		if c.drop = c.drop && !items; c.drop || len(c.cells)+len(c.none) > 0 {
			changes = append(changes, c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.drop {
			_, err = q.Exec(`DELETE FROM `+from+` WHERE ctid = $1::tid`, c.row)
		} else {
			var set []string
			with := []any{c.row}
			for i, v := range c.cells {
				with = append(with, v)
				set = append(set, fmt.Sprintf(`%s = $%d::text::%s`, quote(texts[i]), len(with), kinds[texts[i]]))
			}
			for _, n := range c.none {
				if n.wanted { // a number of nobody, which no row has
					set = append(set, fmt.Sprintf(`%s = (SELECT least(min(%s), 0) - 1 FROM %s)`, quote(n.name), quote(n.name), from))
				} else {
					set = append(set, quote(n.name)+` = NULL`)
				}
			}
			_, err = q.Exec(`UPDATE `+from+` SET `+strings.Join(set, `, `)+` WHERE ctid = $1::tid`, with...)
		}
		if err != nil {
			return err
		}
		res.Rows++
	}
	return nil
}

// dropTied removes the rows whose node_id or hyperedge_id is a removed item.
func dropTied(q *query, from, mine string, args []any, texts, removed []string) (int64, error) {
	var gone int64
	for _, column := range []string{"node_id", "hyperedge_id"} {
		var ids []string
		for _, id := range removed {
			if raw, ok := hypergraph.TiedBy(column, id); ok {
				ids = append(ids, raw)
			}
		}
		if !slices.Contains(texts, column) || len(ids) == 0 {
			continue
		}
		n, err := q.Exec(fmt.Sprintf(`DELETE FROM %s WHERE %s::text = ANY($%d)%s`, from, quote(column), len(args)+1, mine), append(slices.Clone(args), any(ids))...)
		if err != nil {
			return 0, err
		}
		gone += n
	}
	return gone, nil
}

// cleaned returns a cell's redacted text; drop reports that its row goes.
func cleaned(text string, req model.ScrubRequest) (after string, drop bool) {
	after, drop = withoutIDs(text, req.Removed)
	if after == "" || req.Concerns == nil || !req.Concerns([]byte(after)) {
		return after, drop
	}
	if req.Redact == nil {
		return after, true
	}
	return string(req.Redact([]byte(after))), drop
}

// withoutIDs drops removed ids from a JSON list of ids; emptied reports that none is left.
func withoutIDs(text string, removed []string) (after string, emptied bool) {
	var ids []string
	if len(removed) == 0 || !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &ids) != nil {
		return text, false
	}
	kept := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(removed, id) })
	if len(kept) == len(ids) {
		return text, false
	}
	out, err := json.Marshal(kept)
	if err != nil {
		return text, false
	}
	return string(out), len(kept) == 0
}
