package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/model"
)

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
	sqlgraph.VectorSet[entry]
	snapshot string
}

func newVectorCache() *vectorCache { return &vectorCache{turn: make(chan struct{}, 1)} }

// at gives the vectors of q's snapshot; nil where they are not kept.
func (c *vectorCache) at(q *query, s *Store) (*vectorSet, error) {
	if s.isDistributed() { // a snapshot is of one server
		return nil, nil
	}
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
		set := &vectorSet{snapshot: snapshot}
		if err := s.readVectors(q, &set.VectorSet); err != nil {
			return nil, err
		}
		c.now, c.excess = set, set.Full
	}
	if !c.now.Serves() {
		return nil, nil
	}
	return c.now, nil
}

// readVectors reads the vectors first and their nodes then: a join would carry the
// vectors through the server's temporary files.
func (s *Store) readVectors(q *query, set *sqlgraph.VectorSet[entry]) error {
	rows := map[string]int{}
	var buf []float32
	var id string
	var raw pgtype.DriverBytes // good until the next row
	err := q.Each(`SELECT v.node_id, v.embedding FROM memdesk.node_embeddings v WHERE v.workspace = $1`, []any{s.workspace}, func(scan func(...any) error) error {
		if err := scan(&id, &raw); err != nil || !set.Serves() {
			return err
		}
		buf = vectors.Decode(raw, buf)
		if row := set.Add(buf); row >= 0 {
			rows[id] = row
		}
		return nil
	})
	if err != nil || !set.Serves() {
		return err
	}
	var e entry
	var n sqlgraph.VectorNode
	return q.Each(`SELECT n.id, n.created_at, n.tier, n.type, n.subtype, n.confidence FROM memdesk.nodes n
		WHERE n.workspace = $1 AND n.id IN (SELECT v.node_id FROM memdesk.node_embeddings v WHERE v.workspace = $1)`, []any{s.workspace}, func(scan func(...any) error) error {
		if err := scan(&e.id, &e.created, &n.Tier, &n.Type, &n.Subtype, &n.Confidence); err != nil {
			return err
		}
		if row, ok := rows[e.id]; ok {
			set.Describe(row, e, n)
		}
		return nil
	})
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
		if err != nil || set == nil || set.Dims != len(unit) {
			return err
		}
		ok = true
		best, compared := set.Rank(unit, o, vocabulary.ArchiveTier, newer)
		res.Total.N = compared
		res.Hits, err = s.nearestHits(q, best)
		return err
	})
	return res, ok, err
}
