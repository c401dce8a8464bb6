package sqlite

import (
	"database/sql"
	"encoding/json"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
)

// Vector implements sqlgraph.VectorTable.
func (d dialect) Vector(q sqlgraph.Query, node string) (vector []float32, modelName string, err error) {
	var c conditions
	c.Add(`n.id = ?`, node)
	err = d.eachVector(q, c, false, func(_ sqlgraph.VectorNode, v []float32) { vector = v })
	if err == nil && d.layout.vectors {
		_, err = q.One(`SELECT COALESCE(model, '') FROM node_embeddings WHERE node_id = ?`, []any{node}, &modelName)
	}
	return vector, modelName, err
}

// Indexed implements sqlgraph.VectorTable.
func (dialect) Indexed(int, int) bool { return false }

// Compare implements sqlgraph.VectorTable.
func (d dialect) Compare(q sqlgraph.Query, c conditions, n *sqlgraph.Nearest) error {
	return d.eachVector(q, c, false, func(node sqlgraph.VectorNode, v []float32) { n.Offer(node.ID, node.Seq, v) })
}

// eachVector calls fn with the vectors of the nodes that c keeps, each valid until the next one, and
// with the fields that a search filters by where described is set. A node's row in node_embeddings wins
// over the other writer's column.
func (d dialect) eachVector(q sqlgraph.Query, c conditions, described bool, fn func(sqlgraph.VectorNode, []float32)) error {
	var n sqlgraph.VectorNode
	var raw sql.RawBytes // valid until the next row
	var fromJSON bool
	more, dest := ``, []any{&n.ID, &n.Seq, &raw, &fromJSON}
	if described {
		f := d.layout.nodeFilter()
		more = `, ` + f.Tier + `, n.type, ` + f.Subtype + `, COALESCE(CAST(n.confidence AS REAL), 1.0)`
		dest = append(dest, &n.Tier, &n.Type, &n.Subtype, &n.Confidence)
	}
	var parts []string
	if d.layout.vectors {
		parts = append(parts, `SELECT n.id, n.rowid, v.embedding, 0`+more+` FROM node_embeddings v JOIN nodes n ON n.id = v.node_id`+c.Where())
	}
	if !d.layout.own {
		c := c.Clone()
		c.Add(`substr(CAST(n.embedding AS BLOB), 1, 1) = X'5B'`)
		if d.layout.vectors {
			c.Add(`NOT EXISTS (SELECT 1 FROM node_embeddings v WHERE v.node_id = n.id)`)
		}
		parts = append(parts, `SELECT n.id, n.rowid, n.embedding, 1`+more+` FROM nodes n`+c.Where())
	}
	var buf []float32
	return q.Each(strings.Join(parts, ` UNION ALL `), c.Args, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		if buf = vectors.Decode(raw, buf); fromJSON {
			buf = decodeJSONVector(raw)
		}
		fn(n, buf)
		return nil
	})
}

// DropVector implements sqlgraph.VectorTable: a recurse file stores a vector in two places.
func (d dialect) DropVector(q sqlgraph.Query, node string) error {
	if d.layout.vectors {
		if _, err := d.Delete(q, "node_embeddings", "node_id", node); err != nil {
			return err
		}
	}
	if d.layout.own {
		return nil
	}
	_, err := q.Exec(`UPDATE nodes SET embedding = X'' WHERE id = ? AND substr(CAST(embedding AS BLOB), 1, 1) = X'5B'`, node)
	return err
}

// MarkVector implements sqlgraph.VectorTable.
func (d dialect) MarkVector(q sqlgraph.Query, n hypergraph.Node, vector []float32) error {
	var set sqlgraph.Set
	set.Put(`has_vector`, n.HasVector != (vector != nil), vector != nil)
	if !d.layout.own || set.Empty() {
		return nil
	}
	return d.Update(q, "nodes", "id", n.ID, set)
}

// decodeJSONVector reads the other writer's JSON form; nil for other bytes.
func decodeJSONVector(b []byte) []float32 {
	var v []float32
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	return v
}
