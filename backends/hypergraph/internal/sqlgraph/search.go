package sqlgraph

import (
	"cmp"
	"math"
	"slices"

	"memdesk/backends/hypergraph"
)

// searched is the filter of a search; the archive is left out unless it is asked for
// (provider-contract.md H7).
func (r Reads) searched(op string, o hypergraph.SearchOptions) (Conditions, error) {
	c := r.Conditions("n")
	err := r.NodeFilter(op, &c, hypergraph.NodeFilter{Types: o.Types, Tiers: o.Tiers, MinConfidence: o.MinConfidence, NotSubtypes: o.NotSubtypes})
	if !o.IncludeArchived {
		c.Add(r.TierColumn()+` <> ?`, archiveTier)
	}
	return c, err
}

// Match is a node that a search found.
type Match struct {
	ID    string
	Seq   int64 // greater for a newer node
	Score float64
}

// Best keeps the matches of the highest scores, of one score the newer; a Limit of 0 or
// less keeps all.
type Best struct {
	Limit int
	kept  []Match
	cut   bool // kept begins with the best Limit of those before, in order
}

// Offer takes one more. A score that is no number is passed over.
func (b *Best) Offer(m Match) {
	if math.IsNaN(m.Score) || math.IsInf(m.Score, 0) || b.cut && ranked(m, b.kept[b.Limit-1]) > 0 {
		return
	}
	if b.kept = append(b.kept, m); b.Limit > 0 && len(b.kept) >= 2*b.Limit {
		b.Sorted()
	}
}

// Sorted gives them, best first.
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
