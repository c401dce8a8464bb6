package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// bulkBatch is how many nodes one transaction of CreateNodes holds.
const bulkBatch = 20000

// CreateNodes adds many nodes by COPY, for seeding and moving stores. Unlike
// CreateNode it keeps their times where they are set. Each transaction holds 20,000
// nodes; the first failure stops and rolls its transaction back. The number returned is
// of the nodes that are committed.
func (s *Store) CreateNodes(ctx context.Context, nodes iter.Seq[hypergraph.Node]) (int64, error) {
	const op = "create nodes"
	next, stop := iter.Pull(nodes)
	defer stop()
	var committed int64
	batch := make([]hypergraph.Node, 0, bulkBatch)
	for more := true; more; {
		batch = batch[:0]
		for len(batch) < bulkBatch && more {
			var n hypergraph.Node
			if n, more = next(); !more {
				break
			}
			if err := rules.Node(op, n, nil); err != nil {
				return committed, model.Errorf(model.KindOf(err), op, "node %.200q: %w", n.ID, err)
			}
			batch = append(batch, n)
		}
		if len(batch) == 0 {
			break
		}
		if err := s.transaction(ctx, op, func(q *query) error { return s.copyNodes(q, batch) }); err != nil {
			return committed, err
		}
		committed += int64(len(batch))
	}
	return committed, s.analyze(ctx)
}

func (s *Store) copyNodes(q *query, nodes []hypergraph.Node) error {
	now := s.clock.Now()
	columns := []string{"workspace", "id", "type", "subtype", "tier", "confidence", "subject_id", "created_at", "updated_at",
		"last_accessed", "access_count", "provenance", "metadata", "content", "words", "words_whole"}
	_, err := q.tx.CopyFrom(q.ctx, pgx.Identifier{schemaName, "nodes"}, columns, pgx.CopyFromSlice(len(nodes), func(i int) ([]any, error) {
		n := nodes[i]
		stampNew(&n, now)
		words, whole := lexemes(n.Content, n.Metadata)
		return []any{s.workspace, n.ID, n.Type, n.Subtype, n.Tier, n.Confidence, n.SubjectID, n.CreatedAt.UnixNano(), n.UpdatedAt.UnixNano(),
			accessed(n), n.AccessCount, n.Provenance, n.Metadata, n.Content, words, whole}, nil
	}))
	if err != nil {
		return q.failed(err)
	}
	for _, n := range nodes {
		if n.Decision != nil {
			if err := s.putDecision(q, n.ID, *n.Decision); err != nil {
				return err
			}
		}
	}
	return nil
}

// analyze lets the planner count again what a bulk load has changed; where the role
// may not, the server does it in its own time.
func (s *Store) analyze(ctx context.Context) error {
	_ = s.transaction(ctx, "analyze", func(q *query) error {
		_, err := q.Exec(`ANALYZE memdesk.nodes`)
		return err
	})
	return model.FromContext(ctx, "create nodes")
}
