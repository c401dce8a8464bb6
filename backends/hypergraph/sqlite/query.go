package sqlite

import (
	"context"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/internal/litefile"
)

type query = litefile.Query

// ops are the operations, outside or inside a transaction.
type ops struct {
	sqlgraph.Writes
	s  *Store
	tx *query
}

// view runs fn on one consistent snapshot. fn must set its results anew on each call: it is retried
// after a lock prevented the snapshot.
func (o ops) view(ctx context.Context, op string, fn func(*query) error) error {
	if o.tx != nil {
		return o.tx.Borrow(ctx, op, func() error { return fn(o.tx) })
	}
	return o.s.file.View(ctx, op, fn)
}

// change runs fn in a short transaction of its own, or as one step of the surrounding transaction.
func (o ops) change(ctx context.Context, op string, fn func(*query) error) error {
	if o.tx != nil {
		return o.tx.Borrow(ctx, op, func() error {
			return o.tx.Atomically(func() error { return fn(o.tx) })
		})
	}
	return o.s.changing(ctx, op, fn)
}

var _ hypergraph.Ops = ops{}
