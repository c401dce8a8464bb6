package postgres

import (
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
)

// Indexed implements sqlgraph.VectorTable.
func (d dialect) Indexed(dimensions, limit int) bool {
	return limit > 0 && limit <= indexedLimit && d.hasIndex(dimensions)
}

// Compare implements sqlgraph.VectorTable. Where the server has pgvector and an index for the
// dimension, the index returns the nearest vectors, which is nearly always right, and the result says
// so; else every vector is compared here.
func (d dialect) Compare(shared sqlgraph.Query, c conditions, n *sqlgraph.Nearest) error {
	q := shared.(*query)
	if err := d.otherVectors(q, c, n); err != nil {
		return err
	}
	if d.Indexed(len(n.Vector), n.Best.Limit) {
		if done, err := d.indexedNearest(q, c, n); done || err != nil {
			return err
		}
	}
	c = c.Clone()
	var id string
	var created int64
	var raw []byte
	var buf []float32
	return q.Each(`SELECT n.id, n.created_at, v.embedding FROM memdesk.node_embeddings v
		JOIN memdesk.nodes n ON n.workspace = v.workspace AND n.id = v.node_id`+c.Where()+` AND v.workspace = $1 AND v.dimensions = `+c.Param(len(n.Vector)),
		c.Args, func(scan func(...any) error) error {
			if err := scan(&id, &created, &raw); err != nil {
				return err
			}
			buf = vectors.Decode(raw, buf)
			n.Offer(id, created, buf)
			return nil
		})
}

// otherVectors counts the vectors of other dimensions and sets one such dimension.
func (d dialect) otherVectors(q *query, c conditions, n *sqlgraph.Nearest) error {
	c = c.Clone()
	_, err := q.One(`SELECT count(*), COALESCE(max(v.dimensions), 0) FROM memdesk.node_embeddings v
		JOIN memdesk.nodes n ON n.workspace = v.workspace AND n.id = v.node_id`+c.Where()+` AND v.workspace = $1 AND v.dimensions <> `+c.Param(len(n.Vector)),
		c.Args, &n.Others, &n.OtherDims)
	return err
}
