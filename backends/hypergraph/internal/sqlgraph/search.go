package sqlgraph

import (
	"cmp"
	"context"
	"math"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/words"
	"memdesk/model"
)

// SearchByContent implements hypergraph.Ops.
func (r Reads) SearchByContent(ctx context.Context, text string, o hypergraph.SearchOptions) (res hypergraph.SearchResult, err error) {
	const op = "search"
	if err := r.Rules().Search(op, text); err != nil {
		return res, err
	}
	err = r.Read(ctx, op, func(q Query) error {
		c, err := r.searched(op, o)
		if err == nil {
			res, err = r.SearchText(q, c, text, o.Limit)
		}
		return err
	})
	return res, err
}

// searched is the filter of a search; it excludes the archive unless the options name it
// (provider-contract.md H7).
func (r Reads) searched(op string, o hypergraph.SearchOptions) (Conditions, error) {
	c := r.Conditions("n")
	err := r.NodeFilter(op, &c, hypergraph.NodeFilter{Types: o.Types, Tiers: o.Tiers, MinConfidence: o.MinConfidence, NotSubtypes: o.NotSubtypes})
	if !o.IncludeArchived {
		c.Add(r.TierColumn()+` <> ?`, archiveTier)
	}
	return c, err
}

// Words are the first interpretation of a text that matches anything: all its words, or its words with
// the last as a prefix.
type Words struct {
	Expr    string // empty: the text cannot be looked up in an index
	Terms   []string
	Prefix  bool
	Matches int64 // up to ExactLimit+1
}

// FindWords determines the interpretation of a text that the index can look up.
func (r Reads) FindWords(q Query, text string) (Words, error) {
	terms := words.Terms(text)
	if len(terms) == 0 {
		return Words{}, nil
	}
	for _, prefix := range []bool{false, true} {
		w := Words{Expr: r.WordsExpr(terms, prefix), Terms: terms, Prefix: prefix}
		if w.Expr == "" {
			break
		}
		var err error
		if w.Matches, err = r.WordsMatches(q, w.Expr, ExactLimit+1); err != nil || w.Matches > 0 {
			return w, err
		}
	}
	return Words{}, nil
}

// Match is a node that a search found.
type Match struct {
	ID    string
	Seq   int64 // greater for a newer node
	Score float64
}

// Best keeps the matches with the highest scores, and among equal scores the newer; a Limit of 0 or
// less keeps all.
type Best struct {
	Limit int
	kept  []Match
	cut   bool // kept begins with the best Limit of the earlier matches, in order
}

// Offer adds a match. A score that is NaN or infinite is skipped.
func (b *Best) Offer(m Match) {
	if math.IsNaN(m.Score) || math.IsInf(m.Score, 0) || b.cut && ranked(m, b.kept[b.Limit-1]) > 0 {
		return
	}
	if b.kept = append(b.kept, m); b.Limit > 0 && len(b.kept) >= 2*b.Limit {
		b.Sorted()
	}
}

// Sorted returns the matches, best first.
func (b *Best) Sorted() []Match {
	slices.SortFunc(b.kept, ranked)
	if b.Limit > 0 && len(b.kept) >= b.Limit {
		b.kept, b.cut = b.kept[:b.Limit], true
	}
	return b.kept
}

func ranked(a, b Match) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Seq, a.Seq), cmp.Compare(b.ID, a.ID))
}

// Hits reads the nodes of matches, in their order.
func (r Reads) Hits(q Query, found []Match) ([]hypergraph.Hit, error) {
	ids, score := make([]string, len(found)), make(map[string]float64, len(found))
	for i, m := range found {
		ids[i], score[m.ID] = m.ID, m.Score
	}
	nodes, err := r.NodesByID(q, ids)
	hits := make([]hypergraph.Hit, len(nodes))
	for i, n := range nodes {
		hits[i] = hypergraph.Hit{Node: n, Score: score[n.ID]}
	}
	return hits, err
}

// Relative turns the weights of hits, best first, into scores: the best scores 1, any other its share
// of the best's weight. A weight's own size means nothing to people: BM25 gives the only match of a
// small store nearly 0.
func Relative(hits []hypergraph.Hit) []hypergraph.Hit {
	for i := len(hits) - 1; i >= 0; i-- { // the first last: it is the divisor
		weight, best := hits[i].Score, hits[0].Score
		if hits[i].Score = 1; best > 0 {
			hits[i].Score = min(max(weight, 0)/best, 1)
		}
	}
	return hits
}

// RankedAmong says that only the newest matches were ranked.
func RankedAmong(total model.Count) string {
	of := Thousands(total.N)
	if total.AtLeast {
		of = "more than " + of
	}
	return "ranked among the newest " + Thousands(WindowLimit) + " of " + of + " matches"
}
