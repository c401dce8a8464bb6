package postgres

import (
	"context"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

// Embedding implements hypergraph.Vectors.
func (o ops) Embedding(ctx context.Context, node string) (out []float32, modelName string, err error) {
	err = o.view(ctx, "embedding", func(q *query) error {
		if _, err := o.Node(q, node); err != nil {
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

// DropVector implements sqlgraph.VectorTable.
func (d dialect) DropVector(q sqlgraph.Query, node string) error {
	_, err := d.Delete(q, "node_embeddings", "node_id", node)
	return err
}

// MarkVector implements sqlgraph.VectorTable. has_vector is no part of a node's own
// version.
func (d dialect) MarkVector(shared sqlgraph.Query, n hypergraph.Node, vector []float32) error {
	q := shared.(*query)
	delete(q.held, n.ID)
	if vector != nil {
		if err := d.putIndexed(q, n.ID, vector); err != nil {
			return err
		}
	}
	var set sqlgraph.Set
	set.Put(`has_vector`, n.HasVector != (vector != nil), vector != nil)
	if set.Empty() {
		return nil
	}
	return d.Update(q, "nodes", n.ID, set)
}
