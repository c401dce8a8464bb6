package postgres

import (
	"cmp"
	"context"
	"fmt"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

// SearchByEmbedding implements hypergraph.Ops. Where the server has pgvector and an
// index for the dimension, the index gives the nearest, which is nearly always
// right, and the result says so; else every vector is compared here, from memory
// while nothing is written on the server. The score is the
// cosine, 0 where it is negative. A dimension that no vector has is InvalidInput;
// where some have another, they are left out and the result says how many.
func (o ops) SearchByEmbedding(ctx context.Context, vector []float32, opt hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	const op = "search"
	var res hypergraph.SearchResult
	if err := rules.Vector(op, vector); err != nil {
		return res, err
	}
	// A transaction sees changes of its own, which no other search must meet.
	useIndex := opt.Limit > 0 && opt.Limit <= indexedLimit && o.s.hasIndex(len(vector))
	if o.tx == nil && !useIndex {
		if kept, ok, err := o.s.keptNearest(ctx, vector, opt); ok || err != nil {
			return kept, err
		}
	}
	err := o.view(ctx, op, func(q *query) error {
		res = hypergraph.SearchResult{}
		c := o.s.searched(opt)
		others, otherSize, err := o.s.otherVectors(q, c, len(vector))
		if err != nil {
			return err
		}
		indexed := false
		if useIndex {
			res, indexed, err = o.s.indexedNearest(q, vector, c, opt.Limit)
		}
		if err == nil && !indexed {
			res, err = o.s.exactNearest(q, vector, c, opt.Limit)
		}
		switch {
		case err != nil:
			return err
		case others > 0 && len(res.Hits) == 0:
			return model.Errorf(model.InvalidInput, op, "the vector has %d dimensions, those in the store have %d: it comes from another model", len(vector), otherSize)
		case others > 0:
			note := fmt.Sprintf("%s vectors of other dimensions were not compared", sqlgraph.Thousands(others))
			if res.BoundNote != "" {
				note = res.BoundNote + "; " + note
			}
			res.Bounded, res.BoundNote = true, note
		}
		return nil
	})
	return res, err
}

// otherVectors counts those of another dimension, and gives one of these.
func (s *Store) otherVectors(q *query, c conditions, dimensions int) (n, size int64, err error) {
	c = c.Clone()
	_, err = q.One(`SELECT count(*), COALESCE(max(v.dimensions), 0) FROM memdesk.node_embeddings v
		JOIN memdesk.nodes n ON n.workspace = v.workspace AND n.id = v.node_id`+c.Where()+` AND v.workspace = $1 AND v.dimensions <> `+c.Param(dimensions),
		c.Args, &n, &size)
	return n, size, err
}

// entry orders vectors of one score: the newer node first.
type entry struct {
	id      string
	created int64
}

func newer(a, b entry) int { return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(b.id, a.id)) }

// exactNearest compares every vector.
func (s *Store) exactNearest(q *query, vector []float32, c conditions, limit int) (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	unit := vectors.Unit(vector)
	if unit == nil {
		return res, model.Errorf(model.InvalidInput, q.Op(), "the vector is too long or too short to have a direction")
	}
	c = c.Clone()
	best := vectors.Best[entry]{Limit: limit, Prefer: newer}
	buf := make([]float32, 0, len(vector))
	var raw []byte
	err := q.Each(`SELECT n.id, n.created_at, v.embedding FROM memdesk.node_embeddings v
		JOIN memdesk.nodes n ON n.workspace = v.workspace AND n.id = v.node_id`+c.Where()+` AND v.workspace = $1 AND v.dimensions = `+c.Param(len(vector)),
		c.Args, func(scan func(...any) error) error {
			var e entry
			if err := scan(&e.id, &e.created, &raw); err != nil {
				return err
			}
			v := vectors.Decode(raw, buf)
			if len(v) != len(unit) {
				return nil
			}
			if cosine := float64(vectors.Dot(unit, v)) / vectors.Length(v); cosine == cosine {
				res.Total.N++
				best.Offer(e, cosine)
			}
			return nil
		})
	if err != nil {
		return res, err
	}
	res.Hits, err = s.nearestHits(q, best.Sorted())
	return res, err
}

func (s *Store) nearestHits(q *query, found []vectors.Scored[entry]) ([]hypergraph.Hit, error) {
	ids, score := make([]string, len(found)), make(map[string]float64, len(found))
	for i, f := range found {
		ids[i], score[f.Key.id] = f.Key.id, min(max(f.Score, 0), 1)
	}
	return s.hits(q, ids, score)
}
