package sqlite

import (
	"math"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/words"
	"memdesk/model"
)

// scanLimit is how many matches of the index are checked, newest first, when a filter must be checked
// on each.
const scanLimit = 200000

// rankText is how many bytes of one node's text are read for ranking among many.
const rankText = 1 << 16

// rankedNewest ranks only the newest matches. FTS5's own BM25 first counts every row that holds a word,
// which is too expensive for a very common word; so the weights are computed here, over the window.
func (s search) rankedNewest(w sqlgraph.Words) (hypergraph.SearchResult, error) {
	var res hypergraph.SearchResult
	c := s.cond.Clone()
	newest := c.SQL(`SELECT n.seq FROM (SELECT rowid AS hit FROM nodes_fts WHERE nodes_fts MATCH ? ORDER BY rowid DESC LIMIT ?)
		CROSS JOIN nodes n ON n.seq = hit`, w.Expr, scanLimit+1) + c.Where()
	var err error
	if res.Total, err = sqlgraph.CountCapped(s.q, newest, c); err != nil {
		return res, err
	}
	cut, err := s.scanCut(w, res.Total)
	if err != nil {
		return res, err
	}
	res.Total.AtLeast = res.Total.AtLeast || cut
	docs, err := s.windowTexts(newest, c)
	if err != nil {
		return res, err
	}
	if cut {
		note(&res, "filtered among the newest "+sqlgraph.Thousands(scanLimit)+" matches of the words")
	}
	if res.Total.N > sqlgraph.WindowLimit {
		note(&res, sqlgraph.RankedAmong(res.Total))
	}
	hits, err := s.Hits(s.q, rankTexts(w.Terms, docs, s.limit))
	res.Hits = sqlgraph.Relative(hits)
	return res, err
}

// scanCut reports whether the filter was checked on only a part of the matches while fewer than
// sqlgraph.CountLimit were found.
func (s search) scanCut(w sqlgraph.Words, total model.Count) (bool, error) {
	if total.AtLeast {
		return false, nil
	}
	n, err := s.WordsMatches(s.q, w.Expr, scanLimit+1)
	return n > scanLimit, err
}

// document is a text to be ranked.
type document struct {
	sqlgraph.Match
	text string
}

func (s search) windowTexts(newest string, c conditions) ([]document, error) {
	var docs []document
	text := `SELECT w.id, w.seq, substr(` + sqlgraph.Bounded(`w.content`) + ` || ' ' || ` + sqlgraph.Bounded(`w.metadata`) + c.SQL(`, 1, ?) FROM nodes w WHERE w.seq IN (`, rankText) +
		newest + c.SQL(` LIMIT ?)`, sqlgraph.WindowLimit)
	err := s.q.Each(text, c.Args,
		func(scan func(...any) error) error {
			var d document
			err := scan(&d.ID, &d.Seq, &d.text)
			docs = append(docs, d)
			return err
		})
	return docs, err
}

// rankTexts returns the best of texts that all hold the terms, by BM25 with FTS5's constants (k1 1.2, b
// 0.75). A term's rarity is judged within these texts, by its number of occurrences.
func rankTexts(terms []string, docs []document, limit int) []sqlgraph.Match {
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
	best := sqlgraph.Best{Limit: limit}
	for i, d := range docs {
		for t, n := range counts[i] {
			rarity := math.Log(1 + all/(1+totals[t]))
			d.Score += rarity * n * (k1 + 1) / (n + k1*(1-b+b*lengths[i]/average))
		}
		best.Offer(d.Match)
	}
	return best.Sorted()
}

// occurrences counts a phrase; its last word counts as a prefix too, as the matches may have been found
// that way.
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
