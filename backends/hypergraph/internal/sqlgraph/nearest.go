package sqlgraph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

// Nearest is a search for the vectors nearest to one vector.
type Nearest struct {
	Vector    []float32
	Best      Best        // by their cosine
	Total     model.Count // of the compared vectors
	Notes     []string    // limits of the search, in words
	Others    int64       // vectors of another dimension
	OtherDims int         // the dimension of one of them

	unit []float32
}

// Offer compares the vector of a node.
func (n *Nearest) Offer(id string, seq int64, v []float32) {
	if len(v) != len(n.unit) {
		n.Others, n.OtherDims = n.Others+1, len(v)
		return
	}
	if cosine := float64(vectors.Dot(n.unit, v)) / vectors.Length(v); !math.IsNaN(cosine) && !math.IsInf(cosine, 0) {
		n.Total.N++
		n.Best.Offer(Match{id, seq, cosine})
	}
}

// offerKept compares the vectors that are kept in memory.
func (n *Nearest) offerKept(s *VectorSet, o hypergraph.SearchOptions) {
	keep := func(r *vectorRow) bool {
		return r.known && (o.IncludeArchived || r.Tier != archiveTier) && r.Confidence >= o.MinConfidence &&
			(len(o.Tiers) == 0 || slices.Contains(o.Tiers, r.Tier)) && (len(o.Types) == 0 || slices.Contains(o.Types, r.Type)) &&
			!slices.Contains(o.NotSubtypes, r.Subtype)
	}
	cosines := vectors.Each(len(s.rows), func(i int) float64 {
		if !keep(&s.rows[i]) {
			return math.NaN()
		}
		return float64(vectors.Dot(n.unit, s.unit(i)))
	})
	for i, cosine := range cosines {
		if !math.IsNaN(cosine) {
			n.Total.N++
			n.Best.Offer(Match{s.rows[i].ID, s.rows[i].Seq, cosine})
		}
	}
}

// SearchByEmbedding implements hypergraph.Ops: it compares every vector under the filters of a text
// search, from memory where an earlier search left them there. Vectors without a node are ignored. The
// score is the cosine, 0 where it is negative. A dimension that no vector has is InvalidInput; where
// some vectors have another dimension, they are left out and the result says how many.
func (w Writes) SearchByEmbedding(ctx context.Context, vector []float32, o hypergraph.SearchOptions) (res hypergraph.SearchResult, err error) {
	const op = "search"
	if err := w.Rules().Vector(op, vector); err != nil {
		return res, err
	}
	search := func(q Query, kept *VectorSet) (err error) {
		res, err = w.nearest(q, kept, vector, o)
		return err
	}
	if w.Indexed(len(vector), o.Limit) {
		err = w.View(ctx, op, func(q Query) error { return search(q, nil) })
	} else {
		err = w.ViewVectors(ctx, op, search)
	}
	return res, err
}

func (w Writes) nearest(q Query, kept *VectorSet, vector []float32, o hypergraph.SearchOptions) (res hypergraph.SearchResult, err error) {
	c, err := w.searched(q.Op(), o)
	if err != nil {
		return res, err
	}
	n := Nearest{Vector: vector, Best: Best{Limit: o.Limit}, unit: vectors.Unit(vector)}
	if kept != nil && kept.Dims == len(vector) {
		n.offerKept(kept, o)
	} else if err := w.Compare(q, c, &n); err != nil {
		return res, err
	}
	found := n.Best.Sorted()
	switch {
	case n.Others > 0 && len(found) == 0:
		return res, model.Errorf(model.InvalidInput, q.Op(), "the vector has %d dimensions, those in the store have %d: it comes from another model", len(vector), n.OtherDims)
	case n.Others > 0:
		n.Notes = append(n.Notes, fmt.Sprintf("%s vectors of other dimensions were not compared", Thousands(n.Others)))
	}
	for i := range found {
		found[i].Score = min(max(found[i].Score, 0), 1)
	}
	res = hypergraph.SearchResult{Total: n.Total, Bounded: len(n.Notes) > 0, BoundNote: strings.Join(n.Notes, "; ")}
	res.Hits, err = w.Hits(q, found)
	return res, err
}
