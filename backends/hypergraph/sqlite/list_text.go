package sqlite

import (
	"slices"

	"memdesk/model"
)

// denseText is a text that many nodes hold. A page is then most cheaply found by
// walking the list and asking the index about each row; where that finds too few,
// by the set of all that match.
type denseText struct {
	walk           conditions // the list without the text
	expr, from, to string     // words, and the range of ids that begin with the text
}

const (
	// walkChunk rows are asked about at once, walkChunks times at most.
	walkChunk  = 256
	walkChunks = 12
)

// matchRows is a query of the rows that the words or the id match.
const matchRows = `SELECT rowid FROM nodes_fts WHERE nodes_fts MATCH ? UNION ALL SELECT t.seq FROM nodes t WHERE t.id >= ? AND t.id < ?`

// addText keeps the nodes that hold a text. A list is never cut, so where the text
// is no word it is looked for in every row.
func (s *Store) addText(q *query, l *listing, text string) error {
	if err := checkQueryLength(q.Op(), text); err != nil {
		return err
	}
	pattern := likePattern(text)
	if !s.layout.own {
		l.cond.add(`(`+like(`n.content`)+` OR n.id LIKE ? ESCAPE '\' OR `+like(`n.metadata`)+`)`, pattern, pattern, pattern)
		return nil
	}
	found, err := findLookup(q, text)
	if err != nil {
		return err
	}
	rows, args := matchRows, []any{found.expr, text, text + "\U0010ffff"}
	if found.expr == "" {
		rows, args = `SELECT t.seq FROM nodes t WHERE `+like(`t.content`)+` OR `+like(`t.metadata`)+` OR t.id LIKE ? ESCAPE '\'`, []any{pattern, pattern, pattern}
	}
	var rowids []int64
	if err := q.Each(`SELECT * FROM (`+rows+`) LIMIT ?`, append(slices.Clone(args), exactLimit+1), collectInts(&rowids)); err != nil {
		return err
	}
	if len(rowids) <= exactLimit {
		l.cond.add(`n.seq IN (SELECT value FROM json_each(?))`, jsonInts(rowids))
		// Reading the few beats walking an index for them.
		l.cond.in(`+n.tier`, ``, l.tiers)
		l.tiers = nil
		return nil
	}
	// A beginning is looked up by merging the rows of all its words, which costs the
	// same for one row as for all.
	if found.expr != "" && !found.prefix {
		l.dense = &denseText{walk: l.cond.clone(), expr: found.expr, from: text, to: text + "\U0010ffff"}
	}
	l.cond.add(`n.seq IN (`+rows+`)`, args...)
	return nil
}

// denseRows reads up to limit rows by walking, and reports whether it found them.
func (l listing) denseRows(q *query, from *place, back bool, limit int) ([]row, bool, error) {
	d := l.dense
	plain := l
	plain.cond, plain.dense = d.walk, nil
	var out []row
	for range walkChunks {
		walked, err := plain.rows(q, from, back, walkChunk)
		if err != nil {
			return nil, false, err
		}
		if len(walked) == 0 {
			return out, true, nil
		}
		ended, last := len(walked) < walkChunk, walked[len(walked)-1].place
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

// keep leaves the rows that match, in their order; it reuses rows.
func (d *denseText) keep(q *query, rows []row) ([]row, error) {
	list := make([]int64, len(rows))
	for i, r := range rows {
		list[i] = r.rowid
	}
	var matching []int64
	err := q.Each(`SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM nodes_fts WHERE nodes_fts MATCH ? AND nodes_fts.rowid = j.value)
		OR EXISTS (SELECT 1 FROM nodes t WHERE t.seq = j.value AND t.id >= ? AND t.id < ?)`, []any{jsonInts(list), d.expr, d.from, d.to}, collectInts(&matching))
	if err != nil {
		return nil, err
	}
	set := make(map[int64]bool, len(matching))
	for _, r := range matching {
		set[r] = true
	}
	return slices.DeleteFunc(rows, func(r row) bool { return !set[r.rowid] }), nil
}

// countDense counts the nodes that hold the words up to countLimit; where a filter
// leaves fewer, it is not the whole count and ok is false.
func (l listing) countDense(q *query, c conditions) (n model.Count, ok bool, err error) {
	c = c.clone()
	c.add(`n.seq IN (SELECT rowid FROM nodes_fts WHERE nodes_fts MATCH ? LIMIT ?)`, l.dense.expr, 4*countLimit)
	n, err = countCapped(q, `SELECT 1 FROM nodes n `+c.where(), c.args)
	return n, n.AtLeast, err
}
