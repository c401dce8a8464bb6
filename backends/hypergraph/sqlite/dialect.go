package sqlite

import (
	"context"
	"math"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

type conditions = sqlgraph.Conditions

// dialect describes a file to sqlgraph.
type dialect struct{ *Store }

// NodeFilter implements sqlgraph.Dialect.
func (d dialect) NodeFilter(op string, c *conditions, f hypergraph.NodeFilter) error {
	return d.addNodes(op, c, f)
}

// Nodes implements sqlgraph.Dialect.
func (d dialect) Nodes(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Node, error) {
	rows, err := d.selectNodes(q, c.Where()+rest, c.Args)
	nodes := make([]hypergraph.Node, len(rows))
	for i, r := range rows {
		nodes[i] = r.node
	}
	return nodes, err
}

// Edges implements sqlgraph.Dialect.
func (d dialect) Edges(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Edge, error) {
	return d.selectEdges(q, c, rest)
}

// EdgeNewest implements sqlgraph.Dialect.
func (d dialect) EdgeNewest() string { return d.layout.edgeKey[model.OrderNewest] + ` DESC, e.id DESC` }

// Holds implements sqlgraph.Dialect: a foreign writer can have stored any id.
func (dialect) Holds(string) bool { return true }

// Lock implements sqlgraph.Dialect: a changing transaction locks the whole file.
func (dialect) Lock(sqlgraph.Query, string) string { return `` }

// maxIDs is below SQLite's limit of parameters.
const maxIDs = 30000

// addNodes adds a filter over the alias n.
func (s *Store) addNodes(op string, c *conditions, f hypergraph.NodeFilter) error {
	if n := len(f.IDs) + len(f.Types) + len(f.Tiers) + len(f.Subtypes) + len(f.NotSubtypes); n > maxIDs {
		return model.Errorf(model.InvalidInput, op, "a filter takes at most %d values, this one has %d", maxIDs, n)
	}
	if !s.layout.own {
		c.Add(`typeof(n.id) = 'text'`)
	}
	c.Nodes(f, s.layout.nodeFilter())
	return nil
}

// nodeFilter are the expressions of a filter over nodes. A recurse file has no column for a node's subject.
func (l layout) nodeFilter() sqlgraph.Columns {
	if l.own {
		return sqlgraph.Columns{ID: `n.id`, Type: `n.type`, Tier: `n.tier`, Subtype: `n.subtype`, Confidence: `n.confidence`, Subject: `n.subject_id`, Time: l.createdAt(`n.created_at`)}
	}
	return sqlgraph.Columns{ID: `n.id`, Type: `n.type`, Tier: `COALESCE(n.tier, 'task')`, Subtype: `COALESCE(n.subtype, '')`,
		Confidence: `COALESCE(n.confidence, 1.0)`, Time: l.createdAt(`n.created_at`)}
}

func (l layout) edgeFilter() sqlgraph.Columns {
	return sqlgraph.Columns{ID: `e.id`, Type: `e.type`, Time: l.createdAt(`e.created_at`)}
}

// createdAt compares a creation time as the schema keeps it.
func (l layout) createdAt(column string) func(*conditions, string, time.Time) {
	return func(c *conditions, sign string, t time.Time) {
		if l.own {
			c.Add(column+sign+`?`, cursor.UnixNano(t))
			return
		}
		c.Add(`julianday(`+column+`)`+sign+`julianday(?)`, t.UTC().Format("2006-01-02 15:04:05.999999999"))
	}
}

// TierColumn implements sqlgraph.Dialect.
func (d dialect) TierColumn() string { return d.layout.nodeFilter().Tier }

// rules returns the limits of the file's schema.
func (s *Store) rules() sqlgraph.Rules {
	r := sqlgraph.Rules{Vocabulary: s.vocabulary, Subjects: s.layout.own, Dimensions: maxVectorDimensions}
	if s.inMemory {
		r.Dimensions = math.MaxInt32
	}
	if !s.layout.vectors {
		r.NoVectors = "the database has no table for vectors, and the schema of a recurse database is never changed"
	}
	return r
}

// runs gives the shared operations their queries.
type runs struct {
	s  *Store
	tx *query
}

// Read implements sqlgraph.Runner.
func (r runs) Read(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	return r.View(ctx, op, fn)
}

// View implements sqlgraph.Runner.
func (r runs) View(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	return ops{s: r.s, tx: r.tx}.view(ctx, op, func(q *query) error { return fn(q) })
}

// Change implements sqlgraph.Changer.
func (r runs) Change(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	return ops{s: r.s, tx: r.tx}.change(ctx, op, func(q *query) error { return fn(q) })
}

// ChangeWhole implements sqlgraph.Changer without a savepoint, which would copy every page it touches.
func (r runs) ChangeWhole(ctx context.Context, op string, fn func(sqlgraph.Query) error) error {
	if r.tx != nil {
		return r.tx.Borrow(ctx, op, func() error { return fn(r.tx) })
	}
	return r.Change(ctx, op, fn)
}

// newOps makes the operations; the vocabulary is known only after the file was read.
func newOps(s *Store, tx *query) ops {
	o := ops{s: s, tx: tx}
	d, r := dialect{s}, runs{s, tx}
	o.Writes = sqlgraph.Writes{Reads: sqlgraph.Reads{Dialect: d, Runner: r, Rules: s.rules}, NodeTable: d, EdgeTable: d, VectorTable: d, Changer: r}
	return o
}
