package postgres

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"memdesk/backends/internal/piped"
	"memdesk/model"
)

// Other programs' tables in the same database may name the subject too. memdesk changes none of them:
// it reads their rows and names their owner.

// The bounds of reading them. Anything beyond them is a layer that was not examined.
const (
	besideTables = 500     // tables
	besideBytes  = 4 << 30 // of one table on disk, TOAST included
)

// besideQuery lists these tables with the obstacles to reading every row. Partitions are read through
// their parent; row security would hide rows.
const besideQuery = `SELECT CASE c.relkind WHEN 'm' THEN 'materialized view ' WHEN 'f' THEN 'foreign table ' ELSE 'table ' END || c.oid::regclass::text,
		format('%I.%I', n.nspname, c.relname), pg_get_userbyid(c.relowner), c.relkind::text, size.bytes,
		has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), row_security_active(c.oid), c.relkind = 'm' AND NOT c.relispopulated
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL (SELECT COALESCE(sum(pg_table_size(t.oid)), 0)::bigint AS bytes FROM (SELECT c.oid UNION SELECT relid FROM pg_partition_tree(c.oid)) t) size
	WHERE c.relkind IN ('r', 'p', 'm', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
	AND n.nspname NOT IN ('memdesk', 'pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1`

// besideTable is another program's table.
type besideTable struct {
	layer, name, owner, kind string
	bytes                    int64
	may, hidden, empty       bool // whether the role may read it; row security hides rows; never filled
}

func readBeside(q *query) ([]besideTable, error) {
	var out []besideTable
	err := q.Each(besideQuery, nil, func(scan func(...any) error) error {
		var t besideTable
		err := scan(&t.layer, &t.name, &t.owner, &t.kind, &t.bytes, &t.may, &t.hidden, &t.empty)
		out = append(out, t)
		return err
	})
	return out, err
}

// shut says why some rows cannot be read; empty where all can.
func (t besideTable) shut() string {
	switch {
	case t.kind == "f":
		return "its rows are on another server: whoever runs that looks there"
	case !t.may:
		return "the database role may not read it: its owner runs GRANT SELECT ON " + t.name + " TO the role, or looks"
	case t.hidden:
		return "row security hides rows of it from the database role: its owner looks"
	case t.bytes > besideBytes:
		return fmt.Sprintf("it has %d bytes, and tables of other programs are looked through up to %d: its owner looks", t.bytes, int64(besideBytes))
	}
	return ""
}

// advice says how to clean the table.
func (t besideTable) advice() string {
	after := fmt.Sprintf("; then VACUUM FULL %s; and SELECT pg_switch_wal(); CHECKPOINT; by a superuser", t.name)
	if t.kind == "m" {
		return fmt.Sprintf("its owner %s cleans the tables it is made of and runs REFRESH MATERIALIZED VIEW %s", t.owner, t.name) + after
	}
	return fmt.Sprintf("its owner %s, in psql, for each identifier: \\set id 'THE IDENTIFIER'  SELECT * FROM %s t WHERE position(lower(:'id') IN lower(t::text)) > 0;  and deletes or edits those rows with the program they belong to",
		t.owner, t.name) + after
}

// asLayer is the table as a layer. An unreadable table is unaudited, so that a person must examine it;
// one that holds the subject is out of scope, with its hits.
func (t besideTable) asLayer() model.Layer {
	l := model.Layer{ID: t.layer, Kind: model.LayerExternal, Bytes: t.bytes, Readable: true, Advice: t.advice(),
		Reason: "it is not memdesk's: its live rows are looked at and never changed; " + t.advice()}
	if why := t.shut(); why != "" {
		l.Kind, l.Readable, l.Reason = model.LayerDerived, false, "it is not memdesk's; "+why
	}
	return l
}

// beside adds the tables of other programs as layers.
func beside(q *query, out *[]model.Layer) error {
	tables, err := readBeside(q)
	if err != nil {
		return err
	}
	for i, t := range tables {
		if i == besideTables {
			*out = append(*out, model.Layer{ID: "more tables", Kind: model.LayerDerived,
				Reason: fmt.Sprintf("%d more tables of other programs, from %s on, are not looked at: %d are", len(tables)-i, t.name, i)})
			break
		}
		*out = append(*out, t.asLayer())
	}
	return nil
}

// openBeside streams every live row of such a table as CSV, by COPY in a read-only transaction. ok is
// false where the layer is no such table. Unsupported says why one cannot be read: it may have been shut since it was listed.
func (m maintainer) openBeside(ctx context.Context, id string) (r io.ReadCloser, ok bool, err error) {
	var t besideTable
	err = m.s.ops.read(ctx, "open-layer", func(q *query) error {
		all, err := readBeside(q)
		for _, one := range all {
			if one.layer == id {
				t, ok = one, true
			}
		}
		return err
	})
	if err != nil || !ok {
		return nil, false, err
	}
	if why := t.shut(); why != "" {
		return nil, true, model.Errorf(model.Unsupported, "open-layer", "%s", why)
	}
	r, err = m.copying(ctx, func(ctx context.Context, conn *pgxpool.Conn, w io.Writer) error { return copyRows(ctx, conn, t, w) })
	return r, true, err
}

// copying streams what a COPY writes.
func (m maintainer) copying(ctx context.Context, copyTo func(ctx context.Context, conn *pgxpool.Conn, w io.Writer) error) (io.ReadCloser, error) {
	conn, err := m.s.pool.Acquire(ctx)
	if err != nil {
		return nil, worded("open-layer", err)
	}
	return piped.Reader(ctx, func(ctx context.Context, w io.Writer) error {
		defer conn.Release()
		return worded("open-layer", copyTo(ctx, conn, w))
	}), nil
}

func copyRows(ctx context.Context, conn *pgxpool.Conn, t besideTable, w io.Writer) error {
	if t.empty {
		return nil
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer end(tx)
	if _, err := tx.Exec(ctx, `SET LOCAL row_security = off`); err != nil { // a hidden row becomes an error
		return err
	}
	_, err = tx.Conn().PgConn().CopyTo(ctx, w, `COPY (SELECT * FROM `+t.name+`) TO STDOUT (FORMAT csv, ENCODING 'UTF8')`)
	return err
}
