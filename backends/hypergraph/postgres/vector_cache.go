package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
)

// ViewVectors implements sqlgraph.Runner.
func (r runs) ViewVectors(ctx context.Context, op string, fn func(sqlgraph.Query, *sqlgraph.VectorSet) error) error {
	return ops{s: r.s, tx: r.tx}.view(ctx, op, func(q *query) (err error) {
		var kept *sqlgraph.VectorSet
		if r.tx == nil {
			if kept, err = r.s.kept(q); err != nil {
				return err
			}
		}
		return fn(q, kept)
	})
}

// kept returns the vectors of q's snapshot. They are valid as long as the server returns the same
// snapshot, which is until any write on it: equal snapshots see equal rows.
func (s *Store) kept(q *query) (*sqlgraph.VectorSet, error) {
	if s.isDistributed() { // a snapshot covers one server only
		return nil, nil
	}
	var snapshot string
	var standby bool
	// A standby's snapshot does not list running transactions.
	if _, err := q.One(`SELECT txid_current_snapshot()::text, pg_is_in_recovery()`, nil, &snapshot, &standby); err != nil || standby {
		return nil, err
	}
	if err := s.vectors.Take(q.ctx, q.Op()); err != nil {
		return nil, err
	}
	defer s.vectors.Release()
	return s.vectors.At(snapshot, func(set *sqlgraph.VectorSet) error { return s.readVectors(q, set) })
}

// readVectors reads the vectors first and then their nodes: a join would move the vectors through the
// server's temporary files.
func (s *Store) readVectors(q *query, set *sqlgraph.VectorSet) error {
	rows := map[string]int{}
	var buf []float32
	var id string
	var raw pgtype.DriverBytes // valid until the next row
	err := q.Each(`SELECT v.node_id, v.embedding FROM memdesk.node_embeddings v WHERE v.workspace = $1`, []any{s.workspace}, func(scan func(...any) error) error {
		if err := scan(&id, &raw); err != nil || !set.Serves() {
			return err
		}
		buf = vectors.Decode(raw, buf)
		if row := set.Add(buf); row >= 0 {
			rows[id] = row
		}
		return nil
	})
	if err != nil || !set.Serves() {
		return err
	}
	var n sqlgraph.VectorNode
	return q.Each(`SELECT n.id, n.created_at, n.tier, n.type, n.subtype, n.confidence FROM memdesk.nodes n
		WHERE n.workspace = $1 AND n.id IN (SELECT v.node_id FROM memdesk.node_embeddings v WHERE v.workspace = $1)`, []any{s.workspace}, func(scan func(...any) error) error {
		if err := scan(&n.ID, &n.Seq, &n.Tier, &n.Type, &n.Subtype, &n.Confidence); err != nil {
			return err
		}
		if row, ok := rows[n.ID]; ok {
			set.Describe(row, n)
		}
		return nil
	})
}
