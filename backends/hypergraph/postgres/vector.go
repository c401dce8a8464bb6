package postgres

import (
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
)

// Vector implements sqlgraph.VectorTable.
func (d dialect) Vector(q sqlgraph.Query, node string) (vector []float32, modelName string, err error) {
	var raw []byte
	_, err = q.One(`SELECT v.embedding, v.model FROM memdesk.node_embeddings v WHERE v.workspace = $1 AND v.node_id = $2`, []any{d.workspace, node}, &raw, &modelName)
	return vectors.Decode(raw, nil), modelName, err
}

// DropVector implements sqlgraph.VectorTable.
func (d dialect) DropVector(q sqlgraph.Query, node string) error {
	_, err := d.Delete(q, "node_embeddings", "node_id", node)
	return err
}

// MarkVector implements sqlgraph.VectorTable. has_vector does not count as a change of the node's
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
	return d.Update(q, "nodes", "id", n.ID, set)
}
