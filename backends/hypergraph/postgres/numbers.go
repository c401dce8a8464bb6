package postgres

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// A file's bytes do not show the digits of a number. The number columns that others have added to the schema
// are a layer of their own, read by rows.

// rowsLayer is the id of that layer.
func rowsLayer(table string) string { return table + " (rows)" }

// sideTables are the tables that hold no items, and those of items to which somebody has added a column.
func sideTables(q *query) (tables []string, err error) {
	var own []string // as table.column
	for table, columns := range itemTables {
		for _, c := range columns {
			own = append(own, table+"."+c)
		}
		if columns == nil {
			own = append(own, table+".*")
		}
	}
	return tables, q.Each(`SELECT relname FROM pg_class c WHERE relnamespace = to_regnamespace('memdesk') AND relkind IN ('r', 'p') AND NOT relispartition
			AND relname || '.*' <> ALL($1) AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND relname || '.' || attname <> ALL($1))
		ORDER BY 1`, []any{own}, sqlgraph.Collect(&tables))
}

// column is a column of such a table.
type column struct {
	name, kind           string
	text, number, wanted bool // wanted: it is never NULL
}

func columnsOf(q *query, table string) (out []column, err error) {
	return out, q.Each(`SELECT attname, format_type(atttypid, atttypmod), atttypid IN ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype, 'bpchar'::regtype),
			atttypid IN ('int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'float8'::regtype) AND attgenerated = '', attnotnull
		FROM pg_attribute WHERE attrelid = (quote_ident('memdesk') || '.' || quote_ident($1))::regclass AND attnum > 0 AND NOT attisdropped`, []any{table},
		func(scan func(...any) error) error {
			var c column
			err := scan(&c.name, &c.kind, &c.text, &c.number, &c.wanted)
			if c.name != "workspace" && slices.Contains(itemTables[table], c.name) {
				c.text, c.number = false, false // the items' own
			}
			out = append(out, c)
			return err
		})
}

// shared reports whether the table has rows of several workspaces.
func shared(columns []column) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.text && c.name == "workspace" })
}

// spellings are the ways to write a column's number, as a text or NULL: a person's has six digits or more,
// and a column keeps no zeros before it.
func (c column) spellings() string {
	n := quote(c.name)
	digits := `trunc(` + n + `::numeric)`
	return `CASE WHEN abs(` + n + `::float8) BETWEEN 1e5 AND 1e18 AND ` + digits + ` = ` + n + `::numeric THEN concat(` + digits + `, ';0', ` + digits + `, ';00', ` + digits + `, ';') END`
}

// numberLayers adds the layers of numbers.
func numberLayers(q *query, out *[]model.Layer) error {
	tables, err := sideTables(q)
	for _, table := range tables {
		if err != nil {
			return err
		}
		var columns []column
		if columns, err = columnsOf(q, table); err != nil || !slices.ContainsFunc(columns, func(c column) bool { return c.number }) {
			continue
		}
		l := model.Layer{ID: rowsLayer(table), Kind: model.LayerDerived, Readable: true}
		if _, err = q.One(`SELECT has_table_privilege((quote_ident('memdesk') || '.' || quote_ident($1))::regclass, 'SELECT')`, []any{table}, &l.Readable); !l.Readable {
			l.Reason = "the database role may not read the table: its owner looks"
		}
		*out = append(*out, l)
	}
	return err
}

// openNumbers streams the numbers of this workspace's rows; ok is false where the layer is another.
func (m maintainer) openNumbers(ctx context.Context, id string) (r io.ReadCloser, ok bool, err error) {
	text := ""
	err = m.s.ops.read(ctx, "open-layer", func(q *query) error {
		text = ""
		tables, err := sideTables(q)
		if i := slices.IndexFunc(tables, func(t string) bool { return rowsLayer(t) == id }); err == nil && i >= 0 {
			columns, err := columnsOf(q, tables[i])
			if err != nil {
				return err
			}
			var numbers []string
			for _, c := range columns {
				if c.number {
					numbers = append(numbers, c.spellings())
				}
			}
			if len(numbers) == 0 {
				return nil
			}
			text = fmt.Sprintf(`COPY (SELECT %s FROM %s.%s`, strings.Join(numbers, ", "), schemaName, quote(tables[i]))
			if shared(columns) {
				text += ` WHERE workspace = '` + strings.ReplaceAll(m.s.workspace, "'", "''") + `'`
			}
			text += `) TO STDOUT (FORMAT csv, ENCODING 'UTF8')`
		}
		return err
	})
	if err != nil || text == "" {
		return nil, false, err
	}
	r, err = m.copying(ctx, func(ctx context.Context, conn *pgxpool.Conn, w io.Writer) error {
		_, err := conn.Conn().PgConn().CopyTo(ctx, w, text)
		return err
	})
	return r, true, err
}
