package records

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/internal/jsonedit"
	"memdesk/model"
)

// Payloads is a table whose rows are an id, a vector and a JSON object, with its database's SQL for them; m
// is a row.
type Payloads struct {
	Table               string // qualified; empty: the table does not exist
	ID, Vector, Payload string
	Object              string                   // condition: the payload is a JSON object
	Key                 func(name string) string // a member of the payload, as text
	Today               string
	Lookup              func(keys []string) (cond string, args []any)
	Unescape            func(id string) (key string, ok bool)

	// More are further columns, which are kept and restored unchanged.
	More []string

	row, json, holds, insert string
}

// PayloadColumns are the columns of such a table.
var PayloadColumns = []string{"id", "vector", "payload"}

// LitePayloads is such a table in an SQLite file.
func LitePayloads(table string) Payloads {
	return Payloads{
		Table: table, ID: "m.id", Vector: "m.vector", Payload: "m.payload", Object: "json_valid(m.payload)",
		Key: func(name string) string { // as text: a number is never equal to one, and sorts before all
			return `CASE WHEN json_valid(m.payload) THEN CAST(json_extract(m.payload, '$.` + name + `') AS TEXT) END`
		},
		Today: "date('now')", row: "id = ?", json: "?", holds: "instr(payload, ?) > 0",
		insert: `INSERT INTO %s (id, vector, payload%s) VALUES (?, ?, ?%s) ON CONFLICT DO NOTHING`,
	}
}

// uuid matches an id in PostgreSQL's spelling: another spelling is no id.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// ServerPayloads is such a table of PostgreSQL, with vectors of pgvector and ids that are UUIDs.
func ServerPayloads(schema, table string) Payloads {
	p := Payloads{
		ID: "m.id::text", Vector: "m.vector::text", Payload: "m.payload::text", Object: "jsonb_typeof(m.payload) = 'object'",
		Key:   func(name string) string { return `(m.payload->>'` + name + `')` },
		Today: "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
		row:   "id = ?::uuid", json: "?::jsonb", holds: "strpos(payload::text, ?) > 0",
		insert: `INSERT INTO %[1]s (id, vector, payload) SELECT id, vector, payload FROM jsonb_populate_record(NULL::%[1]s,
			jsonb_build_object('id', ?::text, 'vector', ?::text, 'payload', ?::jsonb)) ON CONFLICT DO NOTHING`,
		Lookup:   func(keys []string) (string, []any) { return "m.id = ANY(?::uuid[])", []any{keys} },
		Unescape: func(id string) (string, bool) { return id, uuid.MatchString(id) },
	}
	if table != "" {
		p.Table = pgx.Identifier{schema, table}.Sanitize()
	}
	return p
}

// PayloadRow is a row without its vector.
type PayloadRow struct{ ID, Payload string }

// Rows reads the rows of a condition; empty: all.
func (p Payloads) Rows(tx Tx, cond string, args ...any) (out []PayloadRow, err error) {
	if p.Table == "" {
		return nil, nil
	}
	if cond != "" {
		cond = ` AND ` + cond
	}
	err = tx.Each(`SELECT `+p.ID+`, COALESCE(`+p.Payload+`, '') FROM `+p.Table+` m WHERE m.id IS NOT NULL`+cond, args, func(scan func(...any) error) error {
		var r PayloadRow
		err := scan(&r.ID, &r.Payload)
		out = append(out, r)
		return err
	})
	return out, err
}

// Holding reads the rows whose payload contains a text anywhere.
func (p Payloads) Holding(tx Tx, text string) ([]PayloadRow, error) { return p.Rows(tx, p.holds, text) }

// Row reads one row.
func (p Payloads) Row(tx Tx, id string) (PayloadRow, bool, error) {
	if p.Unescape != nil {
		if _, ok := p.Unescape(id); !ok {
			return PayloadRow{}, false, nil
		}
	}
	rows, err := p.Rows(tx, p.row, id)
	if err != nil || len(rows) == 0 {
		return PayloadRow{}, false, err
	}
	return rows[0], true, nil
}

// Replace writes a payload over the one that was read: Conflict where that has changed.
func (p Payloads) Replace(tx Tx, was PayloadRow, payload string) error {
	return Updated(tx.Exec(`UPDATE `+p.Table+` SET payload = `+p.json+` WHERE `+p.row+` AND payload = `+p.json, payload, was.ID, was.Payload))
}

// Own is the payload, for Table.Own.
func (p Payloads) Own() *Own {
	return &Own{Table: p.Table, Row: p.row, Columns: []string{"payload"}, Read: []string{p.Payload}, Write: []string{p.json}}
}

// Delete removes a row.
func (p Payloads) Delete(tx Tx, id string) (int64, error) {
	return tx.Exec(`DELETE FROM `+p.Table+` WHERE `+p.row, id)
}

// Keep reads a row so that Insert can write it again; name is the table's name in the kept row. The plus is that of
// KeepWhole.
func (p Payloads) Keep(tx Tx, name, id string) ([]model.BesideRow, error) {
	return KeepRows(tx, name, p.Columns(), `SELECT `+strings.Join(append([]string{p.ID + `, ` + p.Vector + `, ` + p.Payload}, quoted(p.More)...), `, +`)+` FROM `+p.Table+` m WHERE `+p.row, id)
}

// Look reads the further columns of a table in an SQLite file.
func (p *Payloads) Look(tx Tx) error {
	have, _, err := Have(tx, p.Table)
	p.More = slices.DeleteFunc(have, func(c string) bool { return slices.Contains(PayloadColumns, c) })
	return err
}

// Columns are all columns of a kept row.
func (p Payloads) Columns() []string { return slices.Concat(PayloadColumns, p.More) }

func quoted(names []string) (out []string) {
	for _, n := range names {
		out = append(out, `"`+strings.ReplaceAll(n, `"`, `""`)+`"`)
	}
	return out
}

// Insert writes a kept row again; an existing one stays.
func (p Payloads) Insert(tx Tx, r model.BesideRow) (PayloadRow, error) {
	args, err := Values(p.Columns(), r)
	if err != nil {
		return PayloadRow{}, err
	}
	text := fmt.Sprintf(p.insert, p.Table)
	if p.Unescape == nil { // SQLite's
		text = fmt.Sprintf(p.insert, p.Table, strings.Join(append([]string{""}, quoted(p.More)...), ", "), strings.Repeat(", ?", len(p.More)))
	}
	_, err = tx.Exec(text, args...)
	var row PayloadRow
	row.ID, _ = args[0].(string)
	row.Payload, _ = args[2].(string)
	return row, err
}

// Clean removes the rows whose member owner is an erased subject, and redacts the subject in other rows; a
// row that is no JSON without it goes. It asks may before the first of them.
func (p Payloads) Clean(tx Tx, owner string, req model.ScrubRequest, may func() bool) (done int64, err error) {
	if p.Table == "" {
		return 0, nil
	}
	owned := p.Key(owner) + ` = ANY(?)`
	var mine int64
	if _, err := One(tx, `SELECT count(*) FROM `+p.Table+` AS m WHERE `+owned, []any{req.Subjects}, &mine); err != nil {
		return 0, err
	}
	named := func() (rows []PayloadRow, err error) {
		if req.Concerns == nil {
			return nil, nil
		}
		rows, err = p.Rows(tx, "")
		return slices.DeleteFunc(rows, func(r PayloadRow) bool { return !req.Concerns([]byte(r.Payload)) }), err
	}
	rows, err := named()
	if err != nil || int(mine)+len(rows) == 0 || !may() {
		return 0, err
	}
	if done, err = tx.Exec(`DELETE FROM `+p.Table+` AS m WHERE `+owned, req.Subjects); err != nil {
		return 0, err
	}
	if rows, err = named(); err != nil {
		return 0, err
	}
	for _, r := range rows {
		done++
		if req.Redact != nil {
			if clean := req.Redact([]byte(r.Payload)); json.Valid(clean) {
				if err := p.Replace(tx, r, string(clean)); err != nil {
					return 0, err
				}
				continue
			}
		}
		if _, err := p.Delete(tx, r.ID); err != nil {
			return 0, err
		}
	}
	return done, nil
}

// Redact takes the subject out of what the payloads of edited items say beside the text, as far as each value may be
// edited; layer is the table's.
func (p Payloads) Redact(tx Tx, layer string, req model.ScrubRequest) (done int64, err error) {
	if req.Redact == nil || req.Concerns == nil {
		return 0, nil
	}
	for _, id := range req.Edited {
		row, there, err := p.Row(tx, id)
		if err != nil {
			return 0, err
		}
		if !there {
			continue
		}
		after := jsonedit.Redaction{Concerns: req.Concerns, Redact: req.Redact, May: func(path string, before, after []byte) bool {
			return req.MayEdit == nil || req.MayEdit(model.RecordEdit{Layer: layer, ID: id, Path: path, Before: string(before), After: string(after)})
		}}.Value([]byte(row.Payload), "payload")
		if req.Dry || string(after) == row.Payload {
			continue
		}
		if err := p.Replace(tx, row, string(after)); err != nil {
			return 0, err
		}
		done++
	}
	return done, nil
}

// SideRows lists the columns beside a payload in the rows of items on hold, or all columns of all rows, for ServerMedium; layer
// is the table's.
func (p Payloads) SideRows(tx Tx, layer string, req model.ScrubRequest) error {
	keys := slices.DeleteFunc(slices.Clone(req.Held), func(id string) bool { return !uuid.MatchString(id) })
	all, without := req.Concerns != nil, PayloadColumns
	if all {
		without = PayloadColumns[1:2] // the vector
	} else if len(keys) == 0 {
		return nil
	}
	return tx.Each(`SELECT m.id::text, e.key, e.value FROM `+p.Table+` m, jsonb_each_text(to_jsonb(m) - ?::text[]) e WHERE (? OR m.id = ANY(?::uuid[])) AND e.value <> ''`, []any{without, all, keys}, func(scan func(...any) error) error {
		var id, column, text string
		err := scan(&id, &column, &text)
		if err == nil {
			req.SideRows(model.SideRow{Layer: layer, Of: []string{id}, Cells: []model.SideCell{{Column: column, Text: text, Words: text}}})
		}
		return err
	})
}

// Fields are the members of an object as fields, except those left out; fixed ones are read-only.
func Fields(o *jsonedit.Object, fixed []string, without ...string) (out []model.Field) {
	seen := map[string]bool{}
	for _, m := range o.Members {
		if !seen[m.Name] && !slices.Contains(without, m.Name) {
			seen[m.Name] = true
			v, _ := o.Text(m.Name)
			out = append(out, model.Field{Name: m.Name, Value: v, ReadOnly: slices.Contains(fixed, m.Name)})
		}
	}
	return out
}

// SetFields writes fields as members: unwanted old ones go, unless they are fixed. A value that was a number,
// an object or a list stays one, also under a new name; any other is text.
func SetFields(o *jsonedit.Object, old, want []model.Field) {
	keep, set := map[string]bool{}, map[int][]byte{}
	var more []model.Field
	for _, f := range want {
		keep[f.Name] = true
		have, isText := o.Text(f.Name)
		switch at := o.Find(f.Name); {
		case at < 0:
			more = append(more, f)
		case have == f.Value:
		case !isText && json.Valid([]byte(f.Value)):
			set[at] = []byte(f.Value)
		default:
			set[at] = jsonedit.Quote(f.Value)
		}
	}
	gone := map[string]bool{}
	for _, f := range old {
		gone[f.Name] = !keep[f.Name] && !f.ReadOnly
	}
	freed := map[string][]byte{} // by its text, a value that is no text and whose member goes
	for _, m := range o.Members {
		if have, isText := o.Text(m.Name); gone[m.Name] && (!isText || string(o.Raw(m.Name)) == "null") {
			freed[have] = slices.Clone(o.Raw(m.Name))
		}
	}
	raw := func(f model.Field) []byte {
		if v, ok := freed[f.Value]; ok {
			return v
		}
		return jsonedit.Quote(f.Value)
	}
	var line []byte // written once: each change by itself would read it anew
	last := int32(0)
	for i, m := range o.Members {
		if v, ok := set[i]; ok {
			line, last = append(append(line, o.Line[last:m.Value.Start]...), v...), m.Value.End
		}
	}
	line = append(line, o.Line[last:]...)
	if rest, _, err := jsonedit.Without(line, func(name string) bool { return gone[name] }); err == nil {
		line = rest
	}
	if n, err := jsonedit.Parse(line); err == nil {
		*o = *n
	}
	if len(more) == 0 {
		return
	}
	comma, colon := o.Manner()
	value := raw(more[0]) // with the further members behind it
	for _, f := range more[1:] {
		value = append(append(value, comma...), jsonedit.Quote(f.Name)...)
		value = append(append(value, colon...), raw(f)...)
	}
	o.Set(value, more[0].Name)
}
