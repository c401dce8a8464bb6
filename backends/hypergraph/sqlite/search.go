package sqlite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// SearchText implements sqlgraph.Dialect.
//
// A recurse file is searched as its agent searches: the whole query as a substring, case ignored for ASCII
// letters, ranked by occurrences, then by use, then by last update. The score is n/(n+1) for n occurrences.
//
// The own schema looks up words: all must match. Up to 10,000 matches are ranked by BM25 exactly; of
// more, only the newest 1,000 are ranked, and the result says so. If no node holds the words, the last
// one is tried as a prefix, then the text as a substring of the newest 20,000 nodes; text without words
// is searched only as a substring. The best match scores 1, any other its share of the best's weight.
func (d dialect) SearchText(q sqlgraph.Query, c conditions, text string, limit int) (hypergraph.SearchResult, error) {
	s := search{Store: d.Store, q: q, text: text, limit: limit, cond: c}
	if !d.layout.own {
		return s.substring(hypergraph.SearchResult{})
	}
	found, err := d.FindWords(q, text)
	switch {
	case err != nil:
		return hypergraph.SearchResult{}, err
	case found.Expr == "":
		return s.recentSubstring()
	case found.Matches <= sqlgraph.ExactLimit:
		return s.rankedAll(found)
	}
	return s.rankedNewest(found)
}

// search is one run of SearchText.
type search struct {
	*Store
	q     sqlgraph.Query
	text  string
	limit int
	cond  conditions
}

// sqlLimit is -1, SQLite's value for no limit, where no limit is set.
func (s search) sqlLimit() int {
	if s.limit <= 0 {
		return -1
	}
	return s.limit
}

// squash maps a weight of 0 or more into 0..1, keeping its order.
func squash(weight float64) float64 { return max(weight, 0) / (1 + max(weight, 0)) }

// note adds a limit of the search to the result.
func note(res *hypergraph.SearchResult, text string) {
	if res.Bounded {
		text = res.BoundNote + ", " + text
	}
	res.Bounded, res.BoundNote = true, text
}

// substring ranks by occurrences among the newest matches.
func (s search) substring(res hypergraph.SearchResult) (hypergraph.SearchResult, error) {
	c := s.cond.Clone()
	c.Add(like(`n.content`), sqlgraph.LikePattern(s.text))
	matching := `SELECT n.rowid FROM nodes n` + c.Where()
	var err error
	if res.Total, err = sqlgraph.CountCapped(s.q, matching, c); err != nil {
		return res, err
	}
	text := c.SQL(`SELECT n.id, (octet_length(n.content) - octet_length(replace(lower(CAST(n.content AS TEXT)), ?, ''))) / ? AS times
		FROM nodes n WHERE n.rowid IN (`, foldASCII(s.text), len(s.text)) + matching + c.SQL(` ORDER BY n.rowid DESC LIMIT ?)
		ORDER BY times DESC, COALESCE(n.access_count, 0) DESC, `, sqlgraph.WindowLimit) + s.updatedKey() + c.SQL(` DESC, n.id LIMIT ?`, s.sqlLimit())
	var found []sqlgraph.Match
	err = s.q.Each(text, c.Args,
		func(scan func(...any) error) error {
			var m sqlgraph.Match
			var times float64
			err := scan(&m.ID, &times)
			m.Score = squash(times)
			found = append(found, m)
			return err
		})
	if err != nil {
		return res, err
	}
	if res.Total.N > sqlgraph.WindowLimit {
		note(&res, sqlgraph.RankedAmong(res.Total))
	}
	if err := s.noteOversize(&res); err != nil {
		return res, err
	}
	res.Hits, err = s.Hits(s.q, found)
	return res, err
}

// noteOversize reports the number of nodes too large to be searched.
func (s search) noteOversize(res *hypergraph.SearchResult) error {
	c := s.cond.Clone()
	c.Add(`octet_length(n.content) > ?`, hypergraph.MaxText)
	var n int64
	if _, err := s.q.One(`SELECT count(*) FROM nodes n`+c.Where(), c.Args, &n); err != nil || n == 0 {
		return err
	}
	note(res, fmt.Sprintf("%s nodes of more than %d MiB were not searched", sqlgraph.Thousands(n), hypergraph.MaxText>>20))
	return nil
}

func (s search) updatedKey() string {
	if s.layout.own {
		return `n.updated_at`
	}
	return `COALESCE(julianday(n.updated_at), 0)`
}

// foldASCII folds case as SQLite's LIKE and lower do.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}

// recentSubstring searches only the newest nodes and says so where there are more.
func (s search) recentSubstring() (res hypergraph.SearchResult, err error) {
	var items int64
	if _, err := s.q.One(`SELECT COALESCE(sum(items), 0) FROM counters WHERE tier <> ?`, []any{hypergraph.EdgeTier}, &items); err != nil {
		return res, err
	}
	if items > sqlgraph.SubstringLimit {
		var oldest int64
		if _, err := s.q.One(`SELECT seq FROM nodes ORDER BY seq DESC LIMIT 1 OFFSET ?`, []any{sqlgraph.SubstringLimit - 1}, &oldest); err != nil {
			return res, err
		}
		s.cond.Add(`n.seq >= ?`, oldest)
		note(&res, fmt.Sprintf("no word of the index matches: looked for the text in the newest %s of %s nodes", sqlgraph.Thousands(sqlgraph.SubstringLimit), sqlgraph.Thousands(items)))
	}
	res, err = s.substring(res)
	res.Total.AtLeast = res.Total.AtLeast || items > sqlgraph.SubstringLimit
	return res, err
}

// wholeLimit is how many matches are read whole before they are ranked; of more, the index ranks and
// only the requested ones are read.
const wholeLimit = 64

// rankedAll ranks every match with FTS5's BM25.
func (s search) rankedAll(w sqlgraph.Words) (hypergraph.SearchResult, error) {
	c := s.cond.Clone()
	c.Add(`nodes_fts MATCH ?`, w.Expr)
	from := `FROM nodes_fts CROSS JOIN nodes n ON n.seq = nodes_fts.rowid` + c.Where()
	if w.Matches <= wholeLimit {
		return s.rankedWhole(from, c.Args)
	}
	res := hypergraph.SearchResult{Total: model.Count{N: w.Matches}}
	if len(s.cond.Parts) > 0 {
		if _, err := s.q.One(`SELECT count(*) `+from, c.Args, &res.Total.N); err != nil {
			return res, err
		}
	}
	rows, err := s.weighNodes(s.q, nil, `nodes_fts.rank`, from+c.SQL(` ORDER BY nodes_fts.rank LIMIT ?`, s.sqlLimit()), c.Args)
	res.Hits = weighedHits(rows)
	return res, err
}

// rankedWhole sorts here, because the index would prepare a further statement for it.
func (s search) rankedWhole(from string, args []any) (hypergraph.SearchResult, error) {
	rows, err := s.weighNodes(s.q, nil, `bm25(nodes_fts)`, from, args)
	slices.SortStableFunc(rows, func(a, b nodeRow) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(b.rowid, a.rowid))
	})
	res := hypergraph.SearchResult{Total: model.Count{N: int64(len(rows))}}
	if s.limit > 0 && len(rows) > s.limit {
		rows = rows[:s.limit]
	}
	res.Hits = weighedHits(rows)
	return res, err
}

// weighedHits turns FTS5's weights, which are negative, into scores.
func weighedHits(rows []nodeRow) []hypergraph.Hit {
	hits := make([]hypergraph.Hit, len(rows))
	for i, r := range rows {
		hits[i] = hypergraph.Hit{Node: r.node, Score: -r.weight}
	}
	return sqlgraph.Relative(hits)
}
