package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// vectorCacheBytes is how much of vectors is kept in memory between two searches:
// beyond it every search reads them from the file.
const vectorCacheBytes = 256 << 20

// vectorCache keeps the vectors as one search has read them for the next one, until
// anything in the file changes. It has a connection of its own, because SQLite tells of
// changes only to a connection that asks twice.
type vectorCache struct {
	turn    chan struct{} // holds one token while a search uses what follows
	conn    *sql.Conn
	loaded  bool
	version int64
	rows    []cachedVector
	data    []float32 // of unit length, dims numbers a row
	dims    int
	others  int64 // vectors of another dimension than dims
}

// cachedVector is what a search's options look at.
type cachedVector struct {
	rowid               int64
	tier, kind, subtype string
	confidence          float64
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
		if ok, err = c.fresh(q, s); err != nil || !ok || c.dims != len(unit) {
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
	c.loaded, c.rows, c.data, c.dims, c.others = false, c.rows[:0], c.data[:0], 0, 0
	words := map[string]string{}
	same := func(w string) string {
		if _, ok := words[w]; !ok {
			words[w] = w
		}
		return words[w]
	}
	text, args := search{Store: s}.vectorSQL()
	var buf []float32
	fits := true
	err := q.Each(`WITH v(rid, raw, json) AS (`+text+`) SELECT v.rid, v.raw, v.json, `+s.tierColumn()+`, n.type, `+s.subtypeColumn()+`,
		COALESCE(CAST(n.confidence AS REAL), 1.0) FROM v JOIN nodes n ON n.rowid = v.rid`, args, func(scan func(...any) error) error {
		var r cachedVector
		var raw []byte
		var fromJSON bool
		if err := scan(&r.rowid, &raw, &fromJSON, &r.tier, &r.kind, &r.subtype, &r.confidence); err != nil {
			return err
		}
		if buf = vectors.Decode(raw, buf); fromJSON {
			buf = decodeJSONVector(raw)
		}
		unit := vectors.Unit(buf)
		switch {
		case !fits || unit == nil:
			return nil
		case c.dims == 0:
			c.dims = len(unit)
		}
		if len(unit) != c.dims {
			c.others++
			return nil
		}
		if fits = 4*(len(c.data)+len(unit)) <= vectorCacheBytes; fits {
			r.tier, r.kind, r.subtype = same(r.tier), same(r.kind), same(r.subtype)
			c.rows, c.data = append(c.rows, r), append(c.data, unit...)
		}
		return nil
	})
	if err != nil || !fits || c.others > 0 { // several models' vectors: the plain way counts them under the filter
		c.rows, c.data = nil, nil
		return false, err
	}
	c.loaded, c.version = true, version
	return true, nil
}

func (c *vectorCache) rank(q *query, s *Store, unit []float32, o hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	archive := s.vocabulary.ArchiveTier
	keep := func(r *cachedVector) bool {
		return (o.IncludeArchived || r.tier != archive) && r.confidence >= o.MinConfidence &&
			(len(o.Tiers) == 0 || slices.Contains(o.Tiers, r.tier)) && (len(o.Types) == 0 || slices.Contains(o.Types, r.kind)) &&
			!slices.Contains(o.NotSubtypes, r.subtype)
	}
	scores := vectors.Each(len(c.rows), func(i int) float64 {
		if !keep(&c.rows[i]) {
			return math.NaN()
		}
		return float64(vectors.Dot(unit, c.data[i*c.dims:(i+1)*c.dims]))
	})
	best := vectors.Best[int64]{Limit: o.Limit, Prefer: func(a, b int64) int { return cmp.Compare(b, a) }}
	for i, cos := range scores {
		if !math.IsNaN(cos) {
			res.Total.N++
			best.Offer(c.rows[i].rowid, cos)
		}
	}
	var found []scored
	for _, f := range best.Sorted() {
		found = append(found, scored{rowid: f.Key, score: min(max(f.Score, 0), 1)})
	}
	var err error
	if res.Hits, err = (search{Store: s, q: q}).hits(found); err != nil {
		return res, err
	}
	return res, nil
}
