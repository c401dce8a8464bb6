package postgres

import (
	"context"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

// SetEmbedding implements hypergraph.Ops.
func (o ops) SetEmbedding(ctx context.Context, node, modelName string, vector []float32) error {
	const op = "set embedding"
	if vector != nil {
		if err := rules.Vector(op, vector); err != nil {
			return err
		}
		if err := sqlgraph.PlainText(op, "model", modelName); err != nil {
			return err
		}
	}
	return o.change(ctx, op, func(q *query) error {
		n, err := o.s.getNode(q, node)
		if err != nil {
			return err
		}
		delete(q.held, node)
		if vector == nil {
			if err := o.s.dropVector(q, node); err != nil {
				return err
			}
			return o.s.markVector(q, n, false)
		}
		now := o.s.clock.Now().UnixNano()
		if _, err := q.Exec(`INSERT INTO memdesk.node_embeddings (workspace, node_id, embedding, model, dimensions, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $6)
			ON CONFLICT (workspace, node_id) DO UPDATE SET embedding = excluded.embedding, model = excluded.model,
				dimensions = excluded.dimensions, updated_at = excluded.updated_at`,
			o.s.workspace, node, encodeVector(vector), modelName, len(vector), now); err != nil {
			return err
		}
		if err := o.s.putIndexed(q, node, vector); err != nil {
			return err
		}
		return o.s.markVector(q, n, true)
	})
}

// Embedding implements hypergraph.Vectors.
func (o ops) Embedding(ctx context.Context, node string) (out []float32, modelName string, err error) {
	err = o.view(ctx, "embedding", func(q *query) error {
		if _, err := o.s.getNode(q, node); err != nil {
			return err
		}
		var raw []byte
		found, err := q.One(`SELECT v.embedding, v.model FROM memdesk.node_embeddings v WHERE v.workspace = $1 AND v.node_id = $2`, []any{o.s.workspace, node}, &raw, &modelName)
		if err == nil && !found {
			err = model.Errorf(model.Unsupported, q.Op(), "%s", hypergraph.NoVector)
		}
		out = vectors.Decode(raw, nil)
		return err
	})
	return out, modelName, err
}

// dropVector removes what a node's meaning was stored as.
func (s *Store) dropVector(q *query, node string) error {
	_, err := q.Exec(`DELETE FROM memdesk.node_embeddings WHERE workspace = $1 AND node_id = $2`, s.workspace, node)
	return err
}

// markVector keeps has_vector, which is no part of a node's own version.
func (s *Store) markVector(q *query, n hypergraph.Node, has bool) error {
	if n.HasVector == has {
		return nil
	}
	_, err := q.Exec(`UPDATE memdesk.nodes SET has_vector = $3 WHERE workspace = $1 AND id = $2`, s.workspace, n.ID, has)
	return err
}
