package sqlite

import (
	"slices"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// denseText is a text that many nodes contain. The cheapest way to a page is to walk the list and look
// up each row in the index; where that finds too few rows, the set of all matches is used.
type denseText struct {
	walk           sqlgraph.List // the list without the text's condition
	expr, from, to string        // words, and the range of ids that begin with the text
}

const (
	// The walk looks up walkChunk rows at once, walkChunks times at most.
	walkChunk  = 256
	walkChunks = 12
)

// matchRows is a query of the rows whose words or id match.
const matchRows = `SELECT rowid FROM nodes_fts WHERE nodes_fts MATCH ? UNION ALL SELECT t.seq FROM nodes t WHERE t.id >= ? AND t.id < ?`

// addText keeps the nodes that contain a text. A list is never truncated, so a text that is no word is
// searched for in every row.
func (s *Store) addText(q sqlgraph.Query, l *sqlgraph.List, text string) (*denseText, error) {
	pattern := sqlgraph.LikePattern(text)
	if !s.layout.own {
		l.Cond.Add(`(`+like(`n.content`)+` OR n.id LIKE ? ESCAPE '\' OR `+like(`n.metadata`)+`)`, pattern, pattern, pattern)
		return nil, nil
	}
	found, err := s.FindWords(q, text)
	if err != nil {
		return nil, err
	}
	rows, args := matchRows, []any{found.Expr, text, text + "\U0010ffff"}
	if found.Expr == "" {
		rows, args = `SELECT t.seq FROM nodes t WHERE `+like(`t.content`)+` OR `+like(`t.metadata`)+` OR t.id LIKE ? ESCAPE '\'`, []any{pattern, pattern, pattern}
	}
	var rowids []int64
	if err := q.Each(`SELECT * FROM (`+rows+`) LIMIT ?`, append(slices.Clone(args), sqlgraph.ExactLimit+1), sqlgraph.Collect(&rowids)); err != nil {
		return nil, err
	}
	if len(rowids) <= sqlgraph.ExactLimit {
		l.Cond.Add(`n.seq IN (SELECT value FROM json_each(?))`, jsonInts(rowids))
		// Reading these few rows beats walking an index for them.
		l.Cond.In(`+n.tier`, l.Tiers)
		l.Tiers = nil
		return nil, nil
	}
	// A prefix is looked up by merging the rows of all its words, which costs the same for one row as for all.
	var dense *denseText
	if found.Expr != "" && !found.Prefix {
		dense = &denseText{walk: *l, expr: found.Expr, from: text, to: text + "\U0010ffff"}
		dense.walk.Cond, dense.walk.Row = l.Cond.Clone(), `n.rowid`
		l.Walk = dense.rows
	}
	l.Cond.Add(`n.seq IN (`+rows+`)`, args...)
	return dense, nil
}

// rows reads up to limit rows by walking, and reports whether the walk sufficed.
func (d *denseText) rows(q sqlgraph.Query, from *sqlgraph.Position, back bool, limit int) ([]sqlgraph.Position, bool, error) {
	var out []sqlgraph.Position
	for range walkChunks {
		walked, err := d.walk.Rows(q, from, back, walkChunk)
		if err != nil {
			return nil, false, err
		}
		if len(walked) == 0 {
			return out, true, nil
		}
		ended, last := len(walked) < walkChunk, walked[len(walked)-1]
		kept, err := d.keep(q, walked)
		if err != nil {
			return nil, false, err
		}
		out = append(out, kept...)
		if len(out) >= limit {
			return out[:limit], true, nil
		}
		if ended {
			return out, true, nil
		}
		from = &last
	}
	return nil, false, nil
}

// keep returns the matching rows in their order; it reuses rows.
func (d *denseText) keep(q sqlgraph.Query, rows []sqlgraph.Position) ([]sqlgraph.Position, error) {
	list := make([]int64, len(rows))
	for i, r := range rows {
		list[i] = r.Row
	}
	var matching []int64
	err := q.Each(`SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM nodes_fts WHERE nodes_fts MATCH ? AND nodes_fts.rowid = j.value)
		OR EXISTS (SELECT 1 FROM nodes t WHERE t.seq = j.value AND t.id >= ? AND t.id < ?)`, []any{jsonInts(list), d.expr, d.from, d.to}, sqlgraph.Collect(&matching))
	if err != nil {
		return nil, err
	}
	set := make(map[int64]bool, len(matching))
	for _, r := range matching {
		set[r] = true
	}
	return slices.DeleteFunc(rows, func(r sqlgraph.Position) bool { return !set[r.Row] }), nil
}

// count counts the nodes that contain the words up to sqlgraph.CountLimit; where a filter leaves fewer,
// the count is partial and ok is false.
func (d *denseText) count(q sqlgraph.Query, tier string) (n model.Count, ok bool, err error) {
	c := d.walk.Cond.Clone()
	c.In(tier, d.walk.Tiers)
	c.Add(`n.seq IN (SELECT rowid FROM nodes_fts WHERE nodes_fts MATCH ? LIMIT ?)`, d.expr, 4*sqlgraph.CountLimit)
	n, err = sqlgraph.CountCapped(q, `SELECT 1 FROM nodes n`+c.Where(), c)
	return n, n.AtLeast, err
}
