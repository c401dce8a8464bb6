package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

// vectorCacheBytes is how much of vectors is kept in memory between two searches:
// beyond it the server sends them for every search.
const vectorCacheBytes = 256 << 20

// vectorCache keeps the vectors that one search has read for the next one. They are
// good for as long as the server gives the same snapshot, which is until anything
// at all is written on it: the same snapshot sees the same rows.
type vectorCache struct {
	turn   chan struct{} // holds one token while a search looks at what follows
	now    *vectorSet
	excess bool // they were too many once
}

// vectorSet is not changed once it is made.
type vectorSet struct {
	snapshot string
	fits     bool // all are of one dimension, and there is room for them
	rows     []cachedVector
	data     []float32 // of unit length, dims numbers a row
	dims     int
}

// cachedVector is what a search's options look at.
type cachedVector struct {
	entry
	tier, kind, subtype string
	confidence          float64
	gone                bool // it has no node
}

func newVectorCache() *vectorCache { return &vectorCache{turn: make(chan struct{}, 1)} }

// at gives the vectors of q's snapshot; nil where they are not kept.
func (c *vectorCache) at(q *query, s *Store) (*vectorSet, error) {
	var snapshot string
	var standby bool
	// A standby's snapshot does not name what is still running.
	if _, err := q.One(`SELECT txid_current_snapshot()::text, pg_is_in_recovery()`, nil, &snapshot, &standby); err != nil || standby {
		return nil, err
	}
	select {
	case c.turn <- struct{}{}:
	case <-q.ctx.Done():
		return nil, model.FromContext(q.ctx, q.Op())
	}
	defer func() { <-c.turn }()
	if c.excess {
		return nil, nil
	}
	if c.now == nil || c.now.snapshot != snapshot {
		c.now = nil // never two of them in memory
		set, err := s.readVectors(q, &c.excess)
		if err != nil {
			return nil, err
		}
		set.snapshot = snapshot
		c.now = set
	}
	if !c.now.fits {
		return nil, nil
	}
	return c.now, nil
}

// readVectors reads the vectors first and their nodes then: a join would carry the
// vectors through the server's temporary files.
func (s *Store) readVectors(q *query, excess *bool) (*vectorSet, error) {
	set := &vectorSet{fits: true}
	place := map[string]int{}
	var buf []float32
	var id string
	var raw pgtype.DriverBytes // good until the next row
	err := q.Each(`SELECT v.node_id, v.embedding FROM memdesk.node_embeddings v WHERE v.workspace = $1`, []any{s.workspace}, func(scan func(...any) error) error {
		if err := scan(&id, &raw); err != nil || !set.fits {
			return err
		}
		buf = vectors.Decode(raw, buf)
		unit := vectors.Unit(buf)
		if set.dims == 0 {
			set.dims = len(buf)
		}
		*excess = 4*(len(set.data)+len(unit)) > vectorCacheBytes
		if set.fits = len(buf) == set.dims && !*excess; !set.fits || unit == nil { // several models' vectors: the plain way counts them under the filter
			return nil
		}
		place[id] = len(set.rows)
		set.rows, set.data = append(set.rows, cachedVector{entry: entry{id: id}, gone: true}), append(set.data, unit...)
		return nil
	})
	if err != nil || !set.fits {
		return &vectorSet{}, err
	}
	known := map[string]string{}
	same := func(w string) string {
		if _, ok := known[w]; !ok {
			known[w] = w
		}
		return known[w]
	}
	var r cachedVector
	err = q.Each(`SELECT n.id, n.created_at, n.tier, n.type, n.subtype, n.confidence FROM memdesk.nodes n
		WHERE n.workspace = $1 AND n.id IN (SELECT v.node_id FROM memdesk.node_embeddings v WHERE v.workspace = $1)`, []any{s.workspace}, func(scan func(...any) error) error {
		if err := scan(&r.id, &r.created, &r.tier, &r.kind, &r.subtype, &r.confidence); err != nil {
			return err
		}
		if i, ok := place[r.id]; ok {
			r.tier, r.kind, r.subtype = same(r.tier), same(r.kind), same(r.subtype)
			r.id, set.rows[i] = set.rows[i].id, r
		}
		return nil
	})
	return set, err
}

// keptNearest compares from memory. ok is false where the cache does not serve.
func (s *Store) keptNearest(ctx context.Context, vector []float32, o hypergraph.SearchOptions) (res hypergraph.SearchResult, ok bool, err error) {
	unit := vectors.Unit(vector)
	if unit == nil {
		return res, false, nil
	}
	err = s.ops.view(ctx, "search", func(q *query) error {
		res, ok = hypergraph.SearchResult{}, false
		set, err := s.vectors.at(q, s)
		if err != nil || set == nil || set.dims != len(unit) {
			return err
		}
		ok = true
		res, err = s.rankKept(q, set, unit, o)
		return err
	})
	return res, ok, err
}

func (s *Store) rankKept(q *query, set *vectorSet, unit []float32, o hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	keep := func(r *cachedVector) bool {
		return !r.gone && (o.IncludeArchived || r.tier != vocabulary.ArchiveTier) && r.confidence >= o.MinConfidence &&
			(len(o.Tiers) == 0 || slices.Contains(o.Tiers, r.tier)) && (len(o.Types) == 0 || slices.Contains(o.Types, r.kind)) &&
			!slices.Contains(o.NotSubtypes, r.subtype)
	}
	scores := vectors.Each(len(set.rows), func(i int) float64 {
		if !keep(&set.rows[i]) {
			return math.NaN()
		}
		return float64(vectors.Dot(unit, set.data[i*set.dims:(i+1)*set.dims]))
	})
	best := vectors.Best[entry]{Limit: o.Limit, Prefer: newer}
	for i, cos := range scores {
		if !math.IsNaN(cos) {
			res.Total.N++
			best.Offer(set.rows[i].entry, cos)
		}
	}
	var err error
	res.Hits, err = s.nearestHits(q, best.Sorted())
	return res, err
}
