package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// SearchByContent implements hypergraph.Ops.
//
// A recurse file is searched as its agent searches: the whole query as a
// substring, case ignored for ASCII letters, most occurrences first, then most
// used, then last updated. The score is n/(n+1) for n occurrences.
//
// The own schema looks words up: all must be there. Up to 10,000 matches are
// ranked by BM25 exactly; of more, the newest 1,000 are, and the result says so. Words
// that nothing holds are tried with the last one as a beginning, then the text as a
// substring of the newest 20,000 nodes, which is also how text without words is
// searched. The best match has the score 1, another its weight's share of the best's.
func (o ops) SearchByContent(ctx context.Context, text string, opt hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	const op = "search"
	var res hypergraph.SearchResult
	if err := o.s.rules().Search(op, text); err != nil {
		return res, err
	}
	err := o.view(ctx, op, func(q *query) error {
		s := search{Store: o.s, q: q, text: text, limit: opt.Limit}
		var err error
		if s.cond, err = o.s.searchConditions(op, opt); err != nil {
			return err
		}
		if o.s.layout.own {
			res, err = s.indexed()
		} else {
			res, err = s.substring()
		}
		return err
	})
	return res, err
}

// searchConditions is the filter of a search; the archive is left out unless it is
// asked for, by name or in general (provider-contract.md H7).
func (s *Store) searchConditions(op string, o hypergraph.SearchOptions) (conditions, error) {
	var c conditions
	err := s.addNodes(op, &c, hypergraph.NodeFilter{
		Types: o.Types, Tiers: o.Tiers, MinConfidence: o.MinConfidence, NotSubtypes: o.NotSubtypes,
	})
	if !o.IncludeArchived {
		c.NotIn(s.tierColumn(), []string{s.vocabulary.ArchiveTier})
	}
	return c, err
}

// search is one run of SearchByContent.
type search struct {
	*Store
	q     *query
	text  string
	limit int
	cond  conditions
}

// scored is a match before its node is read.
type scored struct {
	rowid int64
	score float64
}

// sqlLimit is -1, SQLite's word for no limit, where none was asked for.
func (s search) sqlLimit() int {
	if s.limit <= 0 {
		return -1
	}
	return s.limit
}

// squash maps a weight of 0 or more into 0..1, keeping its order.
func squash(weight float64) float64 { return max(weight, 0) / (1 + max(weight, 0)) }

func (s search) hits(found []scored) ([]hypergraph.Hit, error) {
	rowids := make([]int64, len(found))
	score := make(map[int64]float64, len(found))
	for i, f := range found {
		rowids[i] = f.rowid
		score[f.rowid] = f.score
	}
	hits := make([]hypergraph.Hit, 0, len(found))
	err := s.eachNode(s.q, rowids, func(rowid int64, n hypergraph.Node) {
		hits = append(hits, hypergraph.Hit{Node: n, Score: score[rowid]})
	})
	return hits, err
}

// substring ranks by occurrences among the newest matches.
func (s search) substring() (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	c := s.cond.Clone()
	c.Add(like(`n.content`), sqlgraph.LikePattern(s.text))
	matching := `SELECT n.rowid FROM nodes n` + c.Where()
	var err error
	if res.Total, err = sqlgraph.CountCapped(s.q, matching, c); err != nil {
		return res, err
	}
	text := c.SQL(`SELECT n.rowid, (octet_length(n.content) - octet_length(replace(lower(CAST(n.content AS TEXT)), ?, ''))) / ? AS times
		FROM nodes n WHERE n.rowid IN (`, foldASCII(s.text), len(s.text)) + matching + c.SQL(` ORDER BY n.rowid DESC LIMIT ?)
		ORDER BY times DESC, COALESCE(n.access_count, 0) DESC, `, sqlgraph.WindowLimit) + s.updatedKey() + c.SQL(` DESC, n.id LIMIT ?`, s.sqlLimit())
	var found []scored
	err = s.q.Each(text, c.Args,
		func(scan func(...any) error) error {
			var f scored
			var times float64
			err := scan(&f.rowid, &times)
			f.score = squash(times)
			found = append(found, f)
			return err
		})
	if err != nil {
		return res, err
	}
	if res.Total.N > sqlgraph.WindowLimit {
		res.Bounded, res.BoundNote = true, rankedAmong(res.Total)
	}
	if err := s.noteOversize(&res); err != nil {
		return res, err
	}
	res.Hits, err = s.hits(found)
	return res, err
}

// noteOversize says how many nodes were too large to be searched.
func (s search) noteOversize(res *hypergraph.SearchResult) error {
	c := s.cond.Clone()
	c.Add(`octet_length(n.content) > ?`, hypergraph.MaxText)
	var n int64
	if _, err := s.q.One(`SELECT count(*) FROM nodes n`+c.Where(), c.Args, &n); err != nil || n == 0 {
		return err
	}
	res.Bounded = true
	note := fmt.Sprintf("%s nodes of more than %d MiB were not searched", sqlgraph.Thousands(n), hypergraph.MaxText>>20)
	if res.BoundNote != "" {
		note = res.BoundNote + ", " + note
	}
	res.BoundNote = note
	return nil
}

func (s search) updatedKey() string {
	if s.layout.own {
		return `n.updated_at`
	}
	return `COALESCE(julianday(n.updated_at), 0)`
}

// foldASCII folds as SQLite's LIKE and lower do.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}

func rankedAmong(total model.Count) string {
	if total.AtLeast {
		return fmt.Sprintf("ranked among the newest %s of more than %s matches", sqlgraph.Thousands(sqlgraph.WindowLimit), sqlgraph.Thousands(total.N))
	}
	return fmt.Sprintf("ranked among the newest %s of %s matches", sqlgraph.Thousands(sqlgraph.WindowLimit), sqlgraph.Thousands(total.N))
}

// indexed searches the own schema.
func (s search) indexed() (hypergraph.SearchResult, error) {
	l, err := findLookup(s.q, s.text)
	switch {
	case err != nil:
		return hypergraph.SearchResult{}, err
	case l.expr == "":
		return s.recentSubstring()
	case l.matches <= sqlgraph.ExactLimit:
		return s.rankedAll(l)
	}
	return s.rankedNewest(l)
}

// recentSubstring looks through the newest nodes only and says so where there are
// more.
func (s search) recentSubstring() (hypergraph.SearchResult, error) {
	var items int64
	if _, err := s.q.One(`SELECT COALESCE(sum(items), 0) FROM counters WHERE tier <> ?`, []any{hypergraph.EdgeTier}, &items); err != nil {
		return hypergraph.SearchResult{}, err
	}
	if items > sqlgraph.SubstringLimit {
		var oldest int64
		if _, err := s.q.One(`SELECT seq FROM nodes ORDER BY seq DESC LIMIT 1 OFFSET ?`, []any{sqlgraph.SubstringLimit - 1}, &oldest); err != nil {
			return hypergraph.SearchResult{}, err
		}
		s.cond.Add(`n.seq >= ?`, oldest)
	}
	res, err := s.substring()
	if items > sqlgraph.SubstringLimit {
		res.Bounded = true
		res.Total.AtLeast = true
		note := fmt.Sprintf("no word of the index matches: looked for the text in the newest %s of %s nodes", sqlgraph.Thousands(sqlgraph.SubstringLimit), sqlgraph.Thousands(items))
		if res.BoundNote != "" {
			note += ", " + res.BoundNote
		}
		res.BoundNote = note
	}
	return res, err
}

// wholeLimit is how many matches are read whole before they are ranked; of more,
// the index ranks and only those asked for are read.
const wholeLimit = 64

// rankedAll ranks every match with FTS5's BM25.
func (s search) rankedAll(l lookup) (hypergraph.SearchResult, error) {
	c := s.cond.Clone()
	c.Add(`nodes_fts MATCH ?`, l.expr)
	from := `FROM nodes_fts CROSS JOIN nodes n ON n.seq = nodes_fts.rowid` + c.Where()
	if l.matches <= wholeLimit {
		return s.rankedWhole(from, c.Args)
	}
	res := hypergraph.SearchResult{Total: model.Count{N: l.matches}}
	if len(s.cond.Parts) > 0 {
		if _, err := s.q.One(`SELECT count(*) `+from, c.Args, &res.Total.N); err != nil {
			return res, err
		}
	}
	rows, err := s.weighNodes(s.q, `nodes_fts.rank`, from+c.SQL(` ORDER BY nodes_fts.rank LIMIT ?`, s.sqlLimit()), c.Args)
	res.Hits = weighedHits(rows)
	return res, err
}

// relative turns weights, best first, into scores: the best match has 1, another its
// share of that. BM25's own size says nothing to people: in a small store the weight
// of the only match is near 0.
func relative(weights []float64) []float64 {
	scores := make([]float64, len(weights))
	for i, w := range weights {
		if scores[i] = 1; weights[0] > 0 {
			scores[i] = min(max(w, 0)/weights[0], 1)
		}
	}
	return scores
}

// rankedWhole sorts here: the index would prepare a statement of its own for it.
func (s search) rankedWhole(from string, args []any) (hypergraph.SearchResult, error) {
	rows, err := s.weighNodes(s.q, `bm25(nodes_fts)`, from, args)
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

// weighedHits gives FTS5's weights, which are negative, as scores.
func weighedHits(rows []nodeRow) []hypergraph.Hit {
	hits := make([]hypergraph.Hit, len(rows))
	weights := make([]float64, len(rows))
	for i, r := range rows {
		weights[i] = -r.weight
	}
	for i, score := range relative(weights) {
		hits[i] = hypergraph.Hit{Node: rows[i].node, Score: score}
	}
	return hits
}
