package sqlgraph

import (
	"fmt"
	"strings"

	"memdesk/backends/hypergraph"
)

// Schema is how a database names its tables and parameters.
type Schema struct {
	Prefix string // precedes the name of every table
	// Server: parameters are $1, $2 and the column workspace leads every key, as in PostgreSQL.
	// Otherwise they are ?1, ?2 and the database holds one graph.
	Server    bool
	Workspace string
}

// Table names a table for FROM.
func (s Schema) Table(name string) string { return s.Prefix + name }

// Conditions begins a statement over the table with the alias.
func (s Schema) Conditions(alias string) Conditions {
	if !s.Server {
		return Conditions{}
	}
	return Conditions{Dollar: true, Parts: []string{alias + `.workspace = $1`}, Args: []any{s.Workspace}}
}

// Tie is the condition that joins two aliases beside their own keys: empty, or a text that begins with AND.
func (s Schema) Tie(a, b string) string {
	if !s.Server {
		return ``
	}
	return ` AND ` + a + `.workspace = ` + b + `.workspace`
}

// led puts the leading part of every key first: its column or its value.
func led[T any](s Schema, lead T, rest []T) []T {
	if !s.Server {
		return rest
	}
	return append([]T{lead}, rest...)
}

// Columns are the columns of a table, with the leading one.
func (s Schema) Columns(names ...string) []string { return led(s, "workspace", names) }

// Values are the values of one row, with the leading one.
func (s Schema) Values(values ...any) []any { return led[any](s, s.Workspace, values) }

// InsertSQL adds the rows' values as parameters; rest follows.
func (s Schema) InsertSQL(table string, columns []string, rows int, rest string) string {
	columns = s.Columns(columns...)
	c := Conditions{Dollar: s.Server}
	row := make([]string, len(columns))
	all := make([]string, rows)
	for i := range all {
		for j := range row {
			row[j] = c.Param(nil)
		}
		all[i] = `(` + strings.Join(row, `, `) + `)`
	}
	return `INSERT INTO ` + s.Table(table) + ` (` + strings.Join(columns, `, `) + `) VALUES ` + strings.Join(all, `, `) + rest
}

// Insert adds a row and reports false where its key is taken.
func (s Schema) Insert(q Query, table string, columns []string, values ...any) (made bool, err error) {
	n, err := q.Exec(s.InsertSQL(table, columns, 1, ` ON CONFLICT DO NOTHING`), s.Values(values...)...)
	return n > 0, err
}

// Upsert adds a row whose key is the first column, or changes the existing one except for the columns
// in keep.
func (s Schema) Upsert(q Query, table string, columns []string, keep string, values ...any) error {
	var set []string
	for _, name := range columns[1:] {
		if name != keep {
			set = append(set, name+` = excluded.`+name)
		}
	}
	rest := ` ON CONFLICT (` + strings.Join(s.Columns(columns[0]), `, `) + `) DO UPDATE SET ` + strings.Join(set, `, `)
	_, err := q.Exec(s.InsertSQL(table, columns, 1, rest), s.Values(values...)...)
	return err
}

// Set is the assignment list of an UPDATE.
type Set struct {
	parts []string
	args  []any
}

// Put writes a value where it differs.
func (s *Set) Put(column string, differs bool, v any) {
	if differs {
		s.parts, s.args = append(s.parts, column+` = ?`), append(s.args, v)
	}
}

// Add appends a part in SQL.
func (s *Set) Add(part string) { s.parts = append(s.parts, part) }

// Empty reports whether nothing is written.
func (s *Set) Empty() bool { return len(s.parts) == 0 }

// Update changes the row whose key column has the id.
func (s Schema) Update(q Query, table, key, id string, set Set) error {
	c := s.Conditions("t")
	c.Add(`t.`+key+` = ?`, id)
	text := `UPDATE ` + s.Table(table) + c.SQL(` AS t SET `+strings.Join(set.parts, `, `), set.args...)
	_, err := q.Exec(text+c.Where(), c.Args...)
	return err
}

// Delete removes the rows whose column has a value, and counts them.
func (s Schema) Delete(q Query, table, column, value string) (int64, error) {
	c := s.Conditions("t")
	c.Add(`t.`+column+` = ?`, value)
	return q.Exec(`DELETE FROM `+s.Table(table)+` AS t`+c.Where(), c.Args...)
}

// Bounded selects a text column, or an empty text where the stored one is larger than MaxText.
// Databases know the length of a stored text without reading it.
func Bounded(column string) string {
	return fmt.Sprintf(`CASE WHEN octet_length(%[1]s) > %[2]d THEN '' ELSE %[1]s END`, column, hypergraph.MaxText)
}

// Oversize selects the total bytes of the text columns where one is larger than MaxText, else 0.
func Oversize(columns ...string) string {
	var large, sum []string
	for _, c := range columns {
		large = append(large, fmt.Sprintf(`octet_length(%s) > %d`, c, hypergraph.MaxText))
		sum = append(sum, `CAST(COALESCE(octet_length(`+c+`), 0) AS bigint)`)
	}
	return `CASE WHEN ` + strings.Join(large, ` OR `) + ` THEN ` + strings.Join(sum, ` + `) + ` ELSE 0 END`
}
