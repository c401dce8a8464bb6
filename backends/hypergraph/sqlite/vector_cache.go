package sqlite

import (
	"cmp"
	"context"
	"database/sql"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// vectorCache keeps the vectors as one search has read them for the next one, until
// anything in the file changes. It has a connection of its own, because SQLite tells of
// changes only to a connection that asks twice.
type vectorCache struct {
	turn    chan struct{} // holds one token while a search uses what follows
	conn    *sql.Conn
	loaded  bool
	version int64
	set     sqlgraph.VectorSet[int64] // by rowid
}

func newVectorCache() *vectorCache { return &vectorCache{turn: make(chan struct{}, 1)} }

// close lets the connection go.
func (c *vectorCache) close() {
	c.turn <- struct{}{}
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
	<-c.turn
}

// search compares from memory. ok is false where the cache does not serve: too many
// vectors, or another dimension than most have.
func (c *vectorCache) search(ctx context.Context, s *Store, vector []float32, o hypergraph.SearchOptions) (res hypergraph.SearchResult, ok bool, err error) {
	const op = "search"
	unit := vectors.Unit(vector)
	if unit == nil {
		return res, false, nil
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return res, false, model.FromContext(ctx, op)
	}
	defer func() { <-c.turn }()
	if c.conn == nil {
		if c.conn, err = litefile.Connect(ctx, s.file.Readers()); err != nil {
			return res, false, litefile.Worded(op, err)
		}
	}
	err = litefile.Snapshot(ctx, c.conn, op, func(q *query) error {
		if ok, err = c.fresh(q, s); err != nil || !ok || c.set.Dims != len(unit) {
			ok = false
			return err
		}
		res, err = c.rank(q, s, unit, o)
		return err
	})
	return res, ok && err == nil, err
}

// fresh reads the vectors anew where anything has changed, and reports whether
// they fit.
func (c *vectorCache) fresh(q *query, s *Store) (bool, error) {
	var one, version int64
	if _, err := q.One(`SELECT count(*) FROM (SELECT 1 FROM nodes LIMIT 1)`, nil, &one); err != nil { // the snapshot begins
		return false, err
	}
	if _, err := q.One(`PRAGMA data_version`, nil, &version); err != nil {
		return false, err
	}
	if c.loaded && c.version == version {
		return true, nil
	}
	c.loaded, c.set = false, sqlgraph.VectorSet[int64]{}
	text, args := search{Store: s}.vectorSQL()
	var buf []float32
	err := q.Each(`WITH v(rid, raw, json) AS (`+text+`) SELECT v.rid, v.raw, v.json, `+s.tierColumn()+`, n.type, `+s.subtypeColumn()+`,
		COALESCE(CAST(n.confidence AS REAL), 1.0) FROM v JOIN nodes n ON n.rowid = v.rid`, args, func(scan func(...any) error) error {
		var rowid int64
		var n sqlgraph.VectorNode
		var raw []byte
		var fromJSON bool
		if err := scan(&rowid, &raw, &fromJSON, &n.Tier, &n.Type, &n.Subtype, &n.Confidence); err != nil {
			return err
		}
		if buf = vectors.Decode(raw, buf); fromJSON {
			buf = decodeJSONVector(raw)
		}
		if len(buf) == 0 {
			return nil
		}
		if row := c.set.Add(buf); row >= 0 {
			c.set.Describe(row, rowid, n)
		}
		return nil
	})
	if err != nil || !c.set.Serves() {
		return false, err
	}
	c.loaded, c.version = true, version
	return true, nil
}

func (c *vectorCache) rank(q *query, s *Store, unit []float32, o hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	best, compared := c.set.Rank(unit, o, s.vocabulary.ArchiveTier, newerRow)
	res := hypergraph.SearchResult{Total: model.Count{N: compared}}
	var err error
	res.Hits, err = (search{Store: s, q: q}).nearestHits(best)
	return res, err
}

// newerRow orders rows of one score, the newer first.
func newerRow(a, b int64) int { return cmp.Compare(b, a) }

// nearestHits reads the nodes of the nearest vectors.
func (s search) nearestHits(best []vectors.Scored[int64]) ([]hypergraph.Hit, error) {
	found := make([]scored, len(best))
	for i, f := range best {
		found[i] = scored{rowid: f.Key, score: min(max(f.Score, 0), 1)}
	}
	return s.hits(found)
}
