package sqlite

import (
	"context"
	"database/sql"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/internal/litefile"
)

// vectorCache keeps the vectors until anything in the file changes. It has its own connection, because
// SQLite reports changes only to a connection that asks twice; a search holds the turn for as long as
// it uses that connection.
type vectorCache struct {
	sqlgraph.VectorCache
	conn *sql.Conn
}

// close closes the connection.
func (c *vectorCache) close() {
	_ = c.Take(context.Background(), "close") // always succeeds: the context does not end
	defer c.Release()
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// ViewVectors implements sqlgraph.Runner.
func (r runs) ViewVectors(ctx context.Context, op string, fn func(sqlgraph.Query, *sqlgraph.VectorSet) error) error {
	if r.tx != nil {
		return r.View(ctx, op, func(q sqlgraph.Query) error { return fn(q, nil) })
	}
	c := &r.s.cache
	defer r.s.file.Reading()()
	return litefile.RetryBusy(ctx, func() (err error) {
		if err := r.s.file.Standing(op); err != nil {
			return err
		}
		if err := c.Take(ctx, op); err != nil {
			return err
		}
		defer c.Release()
		if c.conn == nil {
			if c.conn, err = litefile.Connect(ctx, r.s.file.Readers()); err != nil {
				return litefile.Worded(op, err)
			}
		}
		return litefile.Snapshot(ctx, c.conn, op, func(q *query) error {
			kept, err := dialect{r.s}.kept(q)
			if err != nil {
				return err
			}
			return fn(q, kept)
		})
	})
}

// kept returns the vectors of q's snapshot.
func (d dialect) kept(q *query) (*sqlgraph.VectorSet, error) {
	var one int64
	var version string
	if _, err := q.One(`SELECT count(*) FROM (SELECT 1 FROM nodes LIMIT 1)`, nil, &one); err != nil { // begins the snapshot
		return nil, err
	}
	if _, err := q.One(`PRAGMA data_version`, nil, &version); err != nil {
		return nil, err
	}
	return d.cache.At(version, func(set *sqlgraph.VectorSet) error {
		var c conditions
		if err := d.addNodes(q.Op(), &c, hypergraph.NodeFilter{}); err != nil {
			return err
		}
		return d.eachVector(q, c, true, func(n sqlgraph.VectorNode, v []float32) {
			if len(v) == 0 {
				return
			}
			if row := set.Add(v); row >= 0 {
				set.Describe(row, n)
			}
		})
	})
}
