package postgres

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/words"
	"memdesk/model"
)

// scanLimit is how many of the newest matches are filtered.
const scanLimit = 20000

// SearchText implements sqlgraph.Dialect. All words of the query must match. Up to 10,000 matches are
// all ranked; of more, only the newest 1,000 are ranked, and the result says so. If no node holds the
// words, the last one is tried as a prefix, then the text as a substring of the newest 20,000 nodes;
// text without words is searched only as a substring. The best match scores 1, any other its share of
// the best's ts_rank over the length's logarithm. In the usual case of few matches it is one statement.
func (d dialect) SearchText(shared sqlgraph.Query, c conditions, text string, limit int) (hypergraph.SearchResult, error) {
	s := search{Store: d.Store, q: shared.(*query), limit: limit, cond: c}
	if terms := words.Terms(text); len(terms) > 0 {
		for _, prefix := range []bool{false, true} {
			expr := d.WordsExpr(terms, prefix)
			if expr == "" {
				break
			}
			res, matches, err := s.few(expr)
			switch {
			case err != nil || matches > 0 && matches <= fewMatches:
				return res, err
			case matches == 0:
				continue
			}
			if res, err = s.rankedAll(expr); err != nil || len(res.Hits) > 0 {
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

// ranked orders the rows of a WITH clause named m, which has id, created_at and words, and reads the
// best. The best scores 1, any other its share of the best's rank.
func (s search) ranked(with, expr string, c conditions) (hits []hypergraph.Hit, total int64, err error) {
	limit := `ALL`
	if s.limit > 0 {
		limit = c.Param(s.limit)
	}
	err = s.q.eachPlanned(with+`, top AS MATERIALIZED (SELECT m.id, ts_rank(m.words, `+expr+`, 1|32) AS score, count(*) OVER () AS total FROM m
			ORDER BY score DESC, m.created_at DESC, m.id DESC LIMIT `+limit+`)
		SELECT `+nodeSelect+`, top.score::float8, top.total FROM top JOIN memdesk.nodes n ON n.workspace = $1 AND n.id = top.id
		ORDER BY top.score DESC, n.created_at DESC, n.id DESC`, c.Args, func(scan func(...any) error) error {
		var h hypergraph.Hit
		var err error
		h.Node, err = scanNode(scan, &h.Score, &total)
		hits = append(hits, h)
		return err
	})
	return sqlgraph.Relative(hits), total, err
}

// fewMatches is the largest number of matches that few reads.
const fewMatches = 20

// few reads every match and ranks them here, which spares the server most of the planning. Of more than fewMatches
// the result is incomplete, and matches says so: it is one larger. A subselect hides the limit from the planner, which
// would otherwise walk all nodes for a word that it expects to meet soon.
func (s search) few(expr string) (res hypergraph.SearchResult, matches int, err error) {
	c := s.cond.Clone()
	query := c.Param(expr) + `::text::tsquery`
	err = s.q.eachPlanned(`SELECT `+nodeSelect+`, ts_rank(n.words, `+query+`, 1|32)::float8, `+strings.Join(c.Parts, ` AND `)+` FROM memdesk.nodes n
		WHERE n.workspace = $1 AND n.words @@ `+query+c.SQL(` LIMIT (SELECT ?::int)`, fewMatches+1), c.Args, func(scan func(...any) error) error {
		var h hypergraph.Hit
		var kept bool
		var err error
		if h.Node, err = scanNode(scan, &h.Score, &kept); kept {
			res.Hits = append(res.Hits, h)
		}
		matches++
		return err
	})
	slices.SortFunc(res.Hits, func(a, b hypergraph.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Node.CreatedAt.Compare(a.Node.CreatedAt), cmp.Compare(b.Node.ID, a.Node.ID))
	})
	res.Total.N = int64(len(res.Hits))
	if s.limit > 0 && len(res.Hits) > s.limit {
		res.Hits = res.Hits[:s.limit]
	}
	res.Hits = sqlgraph.Relative(res.Hits)
	return res, matches, err
}

// rankedAll ranks every match, or none where they exceed sqlgraph.ExactLimit. The matches have their
// own clause, because a LIMIT would tempt the planner to walk the newest nodes for a rare word.
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

// rankedNewest ranks the newest of very many matches. Where a good part of all nodes holds the words,
// it walks the newest nodes until enough are found; else the index returns all matches, and the newest
// of them are taken.
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

// rankedAmong filters the newest matches and ranks the newest sqlgraph.WindowLimit of the rest; kept is
// their number.
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

// denseShare is the share of all nodes above which walking them is cheaper than reading all matches.
const denseShare = 0.05

// dense estimates from the planner's statistics whether walking is cheaper. It decides the method,
// never the result.
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
			return 0, nil // another server's format: the other method is right too
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

// substring searches the newest nodes for the text itself, ranks by occurrences, and says so where
// there are more nodes. The score is n/(n+1) for n occurrences.
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

// addText keeps the nodes that contain a text. A list is never truncated, so a text that is no word is
// searched for in every row.
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
	if found.Matches > sqlgraph.ExactLimit { // common: a walk of the list soon fills a page
		c.Add(`(n.words @@ ?::text::tsquery OR n.id >= ? AND n.id < ?)`, found.Expr, first, last)
		return nil
	}
	// Rare: the few matches are looked up first, whatever the list's order.
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
