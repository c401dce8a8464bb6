package sqlite

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/words"
	"memdesk/model"
)

// scanLimit is how many matches of the index are looked at, newest first, when a
// filter has to be checked on each.
const scanLimit = 200000

// rankText is how much of one node's text is looked at for ranking among many.
const rankText = 1 << 16

// rankedNewest ranks the newest matches only. FTS5's own BM25 first counts every
// row that holds a word, a cost that a search of a very common word must not
// pay for; so the weights are computed here, over the window.
func (s search) rankedNewest(l lookup) (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	c := s.cond.Clone()
	newest := c.SQL(`SELECT n.seq FROM (SELECT rowid AS hit FROM nodes_fts WHERE nodes_fts MATCH ? ORDER BY rowid DESC LIMIT ?)
		CROSS JOIN nodes n ON n.seq = hit`, l.expr, scanLimit+1) + c.Where()
	var err error
	if res.Total, err = sqlgraph.CountCapped(s.q, newest, c); err != nil {
		return res, err
	}
	cut, err := s.scanCut(l, res.Total)
	if err != nil {
		return res, err
	}
	res.Total.AtLeast = res.Total.AtLeast || cut
	docs, err := s.windowTexts(newest, c)
	if err != nil {
		return res, err
	}
	found := rankTexts(l.terms, docs)
	if s.limit > 0 && len(found) > s.limit {
		found = found[:s.limit]
	}
	switch {
	case cut:
		res.Bounded = true
		res.BoundNote = "filtered among the newest " + sqlgraph.Thousands(scanLimit) + " matches of the words"
		if res.Total.N > sqlgraph.WindowLimit {
			res.BoundNote += ", " + rankedAmong(res.Total)
		}
	case res.Total.N > sqlgraph.WindowLimit:
		res.Bounded, res.BoundNote = true, rankedAmong(res.Total)
	}
	res.Hits, err = s.hits(found)
	return res, err
}

// scanCut reports whether the filter was checked on a part of the matches only
// while fewer than sqlgraph.CountLimit were found.
func (s search) scanCut(l lookup, total model.Count) (bool, error) {
	if total.AtLeast {
		return false, nil
	}
	var n int64
	_, err := s.q.One(`SELECT count(*) FROM (SELECT 1 FROM nodes_fts WHERE nodes_fts MATCH ? LIMIT ?)`, []any{l.expr, scanLimit + 1}, &n)
	return n > scanLimit, err
}

// document is a text to be ranked.
type document struct {
	rowid int64
	text  string
}

func (s search) windowTexts(newest string, c conditions) ([]document, error) {
	var docs []document
	text := `SELECT w.seq, substr(` + sqlgraph.Bounded(`w.content`) + ` || ' ' || ` + sqlgraph.Bounded(`w.metadata`) + c.SQL(`, 1, ?) FROM nodes w WHERE w.seq IN (`, rankText) +
		newest + c.SQL(` LIMIT ?)`, sqlgraph.WindowLimit)
	err := s.q.Each(text, c.Args,
		func(scan func(...any) error) error {
			var d document
			err := scan(&d.rowid, &d.text)
			docs = append(docs, d)
			return err
		})
	return docs, err
}

// rankTexts orders texts that all hold the terms by BM25 with FTS5's constants
// (k1 1.2, b 0.75), newest first among equals. How rare a term is, is judged within
// the texts by how often it stands in them.
func rankTexts(terms []string, docs []document) []scored {
	const k1, b = 1.2, 0.75
	phrases := make([][]string, len(terms))
	for i, t := range terms {
		phrases[i] = words.Tokens(t)
	}
	lengths := make([]float64, len(docs))
	counts := make([][]float64, len(docs))
	totals := make([]float64, len(terms))
	var all float64
	for i, d := range docs {
		held := words.Tokens(d.text)
		lengths[i] = float64(len(held))
		all += lengths[i]
		counts[i] = make([]float64, len(terms))
		for t, p := range phrases {
			counts[i][t] = float64(occurrences(held, p))
			totals[t] += counts[i][t]
		}
	}
	average := max(all/float64(max(len(docs), 1)), 1)
	found := make([]scored, len(docs))
	for i, d := range docs {
		var weight float64
		for t, n := range counts[i] {
			rarity := math.Log(1 + all/(1+totals[t]))
			weight += rarity * n * (k1 + 1) / (n + k1*(1-b+b*lengths[i]/average))
		}
		found[i] = scored{rowid: d.rowid, score: weight}
	}
	slices.SortStableFunc(found, func(x, y scored) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(y.rowid, x.rowid))
	})
	weights := make([]float64, len(found))
	for i, f := range found {
		weights[i] = f.score
	}
	for i, score := range relative(weights) {
		found[i].score = score
	}
	return found
}

// occurrences counts a phrase; its last word counts as a prefix too, as the
// matches may have been found so.
func occurrences(words, phrase []string) int {
	if len(phrase) == 0 {
		return 0
	}
	n := 0
	for i := 0; i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)-1], phrase[:len(phrase)-1]) && strings.HasPrefix(words[i+len(phrase)-1], phrase[len(phrase)-1]) {
			n++
		}
	}
	return n
}
