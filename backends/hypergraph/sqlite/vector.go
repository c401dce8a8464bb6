package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// Embedding implements hypergraph.Vectors.
func (o ops) Embedding(ctx context.Context, node string) (out []float32, modelName string, err error) {
	err = o.view(ctx, "embedding", func(q *query) error {
		n, err := o.Node(q, node)
		if err != nil {
			return err
		}
		var raw []byte
		var fromJSON bool
		var only conditions
		only.Add(`n.id = ?`, node)
		text, args := search{Store: o.s, q: q, cond: only}.vectorSQL()
		if n.HasVector {
			var rowid int64
			if _, err := q.One(text, args, &rowid, &raw, &fromJSON); err != nil {
				return err
			}
		}
		if out = vectors.Decode(raw, nil); fromJSON {
			out = decodeJSONVector(raw)
		} else if n.HasVector {
			if _, err := q.One(`SELECT COALESCE(model, '') FROM node_embeddings WHERE node_id = ?`, []any{node}, &modelName); err != nil {
				return err
			}
		}
		if len(out) == 0 {
			return model.Errorf(model.Unsupported, q.Op(), "%s", hypergraph.NoVector)
		}
		return nil
	})
	return out, modelName, err
}

// DropVector implements sqlgraph.VectorTable: a recurse file has two places for a vector.
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
	return d.Update(q, "nodes", n.ID, set)
}

// decodeJSONVector reads the other writer's form; nil for what is none.
func decodeJSONVector(b []byte) []float32 {
	var v []float32
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	return v
}

// cosine is NaN where v points nowhere; unit has length 1.
func cosine(unit, v []float32) float64 {
	return float64(vectors.Dot(unit, v)) / vectors.Length(v)
}

// SearchByEmbedding implements hypergraph.Ops: an exact scan of every vector under
// the filters of a text search; what was read is kept for the next search (vector_cache.go). Vectors without a node are ignored. The score is
// the cosine, 0 where it is negative. A dimension that no vector has is InvalidInput;
// where some have another, they are left out and the result says how many.
func (o ops) SearchByEmbedding(ctx context.Context, vector []float32, opt hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	const op = "search"
	var res hypergraph.SearchResult
	if err := o.s.rules().Vector(op, vector); err != nil {
		return res, err
	}
	if o.tx == nil {
		var ok bool
		err := litefile.RetryBusy(ctx, func() (err error) {
			if err = o.s.file.Standing(op); err == nil {
				res, ok, err = o.s.cache.search(ctx, o.s, vector, opt)
			}
			return err
		})
		if ok || err != nil {
			return res, err
		}
	}
	err := o.view(ctx, op, func(q *query) error {
		s := search{Store: o.s, q: q, limit: opt.Limit}
		var err error
		if s.cond, err = o.s.searchConditions(op, opt); err != nil {
			return err
		}
		res, err = s.nearest(vector)
		return err
	})
	return res, err
}

func (s search) nearest(vector []float32) (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	top := vectors.Best[int64]{Limit: s.limit, Prefer: newerRow}
	unit := vectors.Unit(vector)
	if unit == nil {
		return res, model.Errorf(model.InvalidInput, s.q.Op(), "the vector is too long or too short to have a direction")
	}
	buf := make([]float32, 0, len(vector))
	others, otherSize := int64(0), 0
	text, args := s.vectorSQL()
	err := s.q.Each(text, args, func(scan func(...any) error) error {
		var rowid int64
		var raw []byte
		var fromJSON bool
		if err := scan(&rowid, &raw, &fromJSON); err != nil {
			return err
		}
		var v []float32
		if fromJSON {
			v = decodeJSONVector(raw)
		} else {
			v = vectors.Decode(raw, buf)
		}
		if len(v) != len(vector) {
			others, otherSize = others+1, len(v)
			return nil
		}
		if c := cosine(unit, v); !math.IsNaN(c) && !math.IsInf(c, 0) {
			res.Total.N++
			top.Offer(rowid, c)
		}
		return nil
	})
	switch {
	case err != nil:
		return res, err
	case others > 0 && res.Total.N == 0:
		return res, model.Errorf(model.InvalidInput, s.q.Op(), "the vector has %d dimensions, those in the store have %d: it comes from another model", len(vector), otherSize)
	case others > 0:
		res.Bounded = true
		res.BoundNote = fmt.Sprintf("%s vectors of other dimensions were not compared", sqlgraph.Thousands(others))
	}
	res.Hits, err = s.nearestHits(top.Sorted())
	return res, err
}

// vectorSQL streams rowid, vector and whether it is JSON. A node's row in
// node_embeddings wins over the other writer's column.
func (s search) vectorSQL() (string, []any) {
	var parts []string
	if s.layout.vectors {
		parts = append(parts, `SELECT n.rowid, v.embedding, 0 FROM node_embeddings v JOIN nodes n ON n.id = v.node_id`+s.cond.Where())
	}
	if !s.layout.own {
		c := s.cond.Clone()
		c.Add(`substr(CAST(n.embedding AS BLOB), 1, 1) = X'5B'`)
		if s.layout.vectors {
			c.Add(`NOT EXISTS (SELECT 1 FROM node_embeddings v WHERE v.node_id = n.id)`)
		}
		parts = append(parts, `SELECT n.rowid, n.embedding, 1 FROM nodes n`+c.Where())
	}
	return strings.Join(parts, ` UNION ALL `), s.cond.Args
}
