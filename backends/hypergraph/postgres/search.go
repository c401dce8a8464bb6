package postgres

import (
	"encoding/json"
	"fmt"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/words"
	"memdesk/model"
)

// scanLimit is how many of the newest matches a filter is checked on.
const scanLimit = 20000

// SearchText implements sqlgraph.Dialect. All words of the query must be there.
// Up to 10,000 matches are all ranked; of more, the newest 1,000 are, and the result
// says so. Words that nothing holds are tried with the last one as a beginning, then
// the text as a substring of the newest 20,000 nodes, which is also how text without
// words is searched. The best match has the score 1, another its share of the best's
// ts_rank over the length's logarithm. Where few match, which is mostly so, it is one
// statement.
func (d dialect) SearchText(shared sqlgraph.Query, c conditions, text string, limit int) (hypergraph.SearchResult, error) {
	s := search{Store: d.Store, q: shared.(*query), limit: limit, cond: c}
	if terms := words.Terms(text); len(terms) > 0 {
		for _, prefix := range []bool{false, true} {
			expr := d.WordsExpr(terms, prefix)
			if expr == "" {
				break
			}
			res, err := s.rankedAll(expr)
			if err != nil || len(res.Hits) > 0 {
				return res, err
			}
			switch matches, err := d.WordsMatches(s.q, expr, sqlgraph.ExactLimit+1); {
			case err != nil:
				return res, err
			case matches > sqlgraph.ExactLimit:
				return s.rankedNewest(expr)
			case matches > 0: // the filter keeps none of them
				return res, nil
			}
		}
	}
	return s.substring(text)
}

// WordsMatches implements sqlgraph.Dialect.
func (d dialect) WordsMatches(q sqlgraph.Query, expr string, limit int) (n int64, err error) {
	err = q.(*query).eachPlanned(`SELECT count(*) FROM (SELECT 1 FROM memdesk.nodes n WHERE n.workspace = $1 AND n.words @@ $2::text::tsquery LIMIT $3) m`,
		[]any{d.workspace, expr, limit}, func(scan func(...any) error) error { return scan(&n) })
	return n, err
}

// freshPlans makes the transaction plan every statement for its own parameters.
func (q *query) freshPlans() error {
	_, err := q.Exec(`SET LOCAL plan_cache_mode = force_custom_plan`)
	return err
}

// search is one run of SearchText.
type search struct {
	*Store
	q     *query
	limit int
	cond  conditions
}

// ranked orders the rows of a WITH clause named m, which has id, created_at and
// words, and reads the best. The best has the score 1, another its rank's share of
// that.
func (s search) ranked(with, expr string, c conditions) (hits []hypergraph.Hit, total int64, err error) {
	limit := `ALL`
	if s.limit > 0 {
		limit = c.Param(s.limit)
	}
	err = s.q.eachPlanned(with+`, top AS MATERIALIZED (SELECT m.id, ts_rank(m.words, `+expr+`, 1|32) AS score, count(*) OVER () AS total FROM m
			ORDER BY score DESC, m.created_at DESC, m.id DESC LIMIT `+limit+`)
		SELECT `+nodeSelect+`, top.score::float8, top.total FROM top JOIN memdesk.nodes n ON n.workspace = $1 AND n.id = top.id`+withDecision+`
		ORDER BY top.score DESC, n.created_at DESC, n.id DESC`, c.Args, func(scan func(...any) error) error {
		var h hypergraph.Hit
		var err error
		h.Node, err = scanNode(scan, &h.Score, &total)
		hits = append(hits, h)
		return err
	})
	return sqlgraph.Relative(hits), total, err
}

// rankedAll ranks every match, none where they are more than sqlgraph.ExactLimit. The matches
// stand in a clause of their own, so that no LIMIT talks the planner into walking the
// newest nodes for a rare word.
func (s search) rankedAll(expr string) (hypergraph.SearchResult, error) {
	c := s.cond.Clone()
	query := c.Param(expr) + `::text::tsquery`
	with := `WITH found AS MATERIALIZED (SELECT ` + rankedColumns + ` FROM memdesk.nodes n WHERE n.workspace = $1 AND n.words @@ ` + query + ` LIMIT ` + c.Param(sqlgraph.ExactLimit+1) + `),
		m AS (SELECT n.id, n.created_at, n.words FROM found n` + c.Where() + ` AND (SELECT count(*) FROM found) <= ` + c.Param(sqlgraph.ExactLimit) + `)`
	hits, total, err := s.ranked(with, query, c)
	return hypergraph.SearchResult{Hits: hits, Total: model.Count{N: total}}, err
}

// rankedColumns are the columns of filter and rank.
const rankedColumns = `n.workspace, n.id, n.created_at, n.words, n.type, n.tier, n.subtype, n.confidence`

// rankedNewest ranks the newest of very many matches. Where the words stand in a
// good part of all nodes, the newest nodes are walked until enough are found; else the
// index gives all matches, and the newest of them are taken.
func (s search) rankedNewest(expr string) (hypergraph.SearchResult, error) {
	walk, err := s.dense(expr)
	if err != nil {
		return hypergraph.SearchResult{}, err
	}
	var res hypergraph.SearchResult
	for _, newest := range []int{2 * sqlgraph.WindowLimit, scanLimit} {
		var kept int64
		if res, kept, err = s.rankedAmong(expr, newest, walk); err != nil || kept >= sqlgraph.WindowLimit {
			return res, err
		}
	}
	res.BoundNote = "filtered among the newest " + sqlgraph.Thousands(scanLimit) + " matches of the words"
	return res, nil
}

// rankedAmong filters the newest matches and ranks the newest sqlgraph.WindowLimit of what is
// left; kept says how many that were.
func (s search) rankedAmong(expr string, newest int, walk bool) (hypergraph.SearchResult, int64, error) {
	c := s.cond.Clone()
	query := c.Param(expr) + `::text::tsquery`
	matches := `SELECT ` + rankedColumns + ` FROM memdesk.nodes n WHERE n.workspace = $1 AND n.words @@ ` + query
	order := ` ORDER BY created_at DESC, id DESC LIMIT `
	with, from := `WITH `, matches
	if !walk {
		with, from = `WITH every AS MATERIALIZED (`+matches+`), `, `SELECT * FROM every`
	}
	with += `near AS MATERIALIZED (` + from + order + c.Param(newest) + `),
		m AS MATERIALIZED (SELECT n.id, n.created_at, n.words FROM near n` + c.Where() + order + c.Param(sqlgraph.WindowLimit) + `)`
	hits, kept, err := s.ranked(with, query, c)
	res := hypergraph.SearchResult{Hits: hits, Total: model.Count{N: kept, AtLeast: true}, Bounded: true,
		BoundNote: sqlgraph.RankedAmong(model.Count{N: sqlgraph.ExactLimit, AtLeast: true})}
	return res, kept, err
}

// denseShare is the share of all nodes from which on walking them is cheaper than
// reading all matches.
const denseShare = 0.05

// dense asks the planner, which keeps count of common words, what share of the
// nodes holds the words. Its answer decides the way, never the result.
func (s search) dense(expr string) (bool, error) {
	var plan []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		} `json:"Plan"`
	}
	estimate := func(where string, args ...any) (float64, error) {
		var text []byte
		if _, err := s.q.One(`EXPLAIN (FORMAT JSON) SELECT 1 FROM memdesk.nodes n WHERE n.workspace = $1`+where, append([]any{s.workspace}, args...), &text); err != nil {
			return 0, err
		}
		if err := json.Unmarshal(text, &plan); err != nil || len(plan) == 0 {
			return 0, nil // another server's shape: the other way is right too
		}
		return plan[0].Plan.Rows, nil
	}
	all, err := estimate(``)
	if err != nil {
		return false, err
	}
	some, err := estimate(` AND n.words @@ $2::text::tsquery`, expr)
	return some >= denseShare*all, err
}

// substring looks through the newest nodes for the text itself, most occurrences
// first, and says so where there are more. The score is n/(n+1) for n occurrences.
func (s search) substring(text string) (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	c := s.cond.Clone()
	needle, like := c.Param(text), c.Param(sqlgraph.LikePattern(text))
	limit := `ALL`
	if s.limit > 0 {
		limit = c.Param(s.limit)
	}
	var found []sqlgraph.Match
	var looked int64
	err := s.q.Each(`WITH near AS MATERIALIZED (SELECT n.* FROM memdesk.nodes n WHERE n.workspace = $1 ORDER BY n.created_at DESC, n.id DESC LIMIT `+c.Param(sqlgraph.SubstringLimit+1)+`),
		m AS MATERIALIZED (SELECT n.id, n.created_at, (length(n.content) - length(replace(lower(n.content), lower(`+needle+`::text), ''))) / length(`+needle+`::text) AS times
			FROM near n`+c.Where()+` AND n.content ILIKE `+like+`)
		SELECT COALESCE(m.id, ''), COALESCE(m.times, 0), COALESCE(m.of, 0), size.n FROM (SELECT count(*) AS n FROM near) size
		LEFT JOIN (SELECT *, count(*) OVER () AS of FROM m ORDER BY times DESC, created_at DESC, id DESC LIMIT `+limit+`) m ON true
		ORDER BY m.times DESC, m.created_at DESC, m.id DESC`, c.Args,
		func(scan func(...any) error) error {
			var m sqlgraph.Match
			var times int64
			if err := scan(&m.ID, &times, &res.Total.N, &looked); err != nil || m.ID == "" {
				return err
			}
			m.Score = float64(max(times, 1)) / float64(max(times, 1)+1)
			found = append(found, m)
			return nil
		})
	if err != nil {
		return res, err
	}
	if looked > sqlgraph.SubstringLimit {
		res.Bounded, res.Total.AtLeast = true, true
		res.BoundNote = fmt.Sprintf("no word of the index matches: looked for the text in the newest %s nodes", sqlgraph.Thousands(sqlgraph.SubstringLimit))
	}
	res.Hits, err = s.Hits(s.q, found)
	return res, err
}

// addText keeps the nodes that hold a text. A list is never cut, so where the text
// is no word it is looked for in every row.
func (s *Store) addText(q *query, l *sqlgraph.List, text string) error {
	if err := q.freshPlans(); err != nil {
		return err
	}
	found, err := s.FindWords(q, text)
	if err != nil {
		return err
	}
	c := &l.Cond
	if found.Expr == "" {
		like := c.Param(sqlgraph.LikePattern(text))
		c.Add(`(n.content ILIKE ` + like + ` OR n.metadata ILIKE ` + like + ` OR n.id ILIKE ` + like + `)`)
		return nil
	}
	first, last := text, text+"\U0010ffff"
	if found.Matches > sqlgraph.ExactLimit { // common: walking the list finds a page soon
		c.Add(`(n.words @@ ?::text::tsquery OR n.id >= ? AND n.id < ?)`, found.Expr, first, last)
		return nil
	}
	// Rare: the few that match are found first, whatever the order of the list.
	var ids []string
	if err := q.Each(`SELECT n.id FROM memdesk.nodes n WHERE n.workspace = $1 AND n.words @@ $2::text::tsquery
		UNION SELECT n.id FROM memdesk.nodes n WHERE n.workspace = $1 AND n.id >= $3 AND n.id < $4`, []any{s.workspace, found.Expr, first, last}, sqlgraph.Collect(&ids)); err != nil {
		return err
	}
	c.Add(`n.id = ANY(?)`, ids)
	c.In(`n.tier`, l.Tiers)
	l.Tiers = nil
	return nil
}
