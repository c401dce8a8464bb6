package inmem

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// ranked is a candidate; a higher rank is better.
type ranked struct {
	x    *node
	rank float64
}

// better orders candidates: rank, then newest, then id, so that the order is
// total.
func better(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), b.x.UpdatedAt.Compare(a.x.UpdatedAt), strings.Compare(a.x.ID, b.x.ID))
}

// best keeps the best limit candidates in order; limit 0 keeps all.
type best struct {
	limit int
	list  []ranked
	total int64
}

func (b *best) add(r ranked) {
	b.total++
	if b.limit == 0 {
		b.list = append(b.list, r)
		return
	}
	if len(b.list) == b.limit && better(r, b.list[len(b.list)-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(b.list, r, better)
	b.list = slices.Insert(b.list, at, r)
	b.list = b.list[:min(len(b.list), b.limit)]
}

func (b *best) result(score func(rank float64) float64) hypergraph.SearchResult {
	if b.limit == 0 {
		slices.SortStableFunc(b.list, better)
	}
	out := hypergraph.SearchResult{Total: model.Count{N: b.total}}
	for _, r := range b.list {
		out.Hits = append(out.Hits, hypergraph.Hit{Node: r.x.copyOut(), Score: score(r.rank)})
	}
	return out
}

// SearchByContent finds the nodes whose content contains the query, in any letter case, ranked by the
// number of occurrences.
func (s *state) SearchByContent(ctx context.Context, query string, o hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	if strings.TrimSpace(query) == "" {
		return hypergraph.SearchResult{}, model.Errorf(model.InvalidInput, "search", "the query is blank")
	}
	needle := snippet.Fold(strings.TrimSpace(query))
	b := best{limit: max(o.Limit, 0)}
	err := s.scan(ctx, o, func(x *node) {
		if n := strings.Count(x.text, needle); n > 0 {
			b.add(ranked{x, float64(n)})
		}
	})
	return b.result(func(n float64) float64 { return n / (n + 1) }), err
}

// SearchByEmbedding implements hypergraph.Ops: it compares every vector.
func (s *state) SearchByEmbedding(ctx context.Context, v []float32, o hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	if len(v) == 0 {
		return hypergraph.SearchResult{}, model.Errorf(model.InvalidInput, "search", "the query vector is empty")
	}
	unit := vectors.Unit(v)
	if unit == nil {
		return hypergraph.SearchResult{}, model.Errorf(model.InvalidInput, "search", "the query vector is all zeros, or holds what is no number: it points nowhere")
	}
	var nodes []*node
	other := 0 // a stored dimension other than the query's
	err := s.scan(ctx, o, func(x *node) {
		switch {
		case x.vector == nil:
		case len(x.vector) != len(v):
			other = len(x.vector)
		default:
			nodes = append(nodes, x)
		}
	})
	if err == nil && other > 0 && len(nodes) == 0 {
		err = model.Errorf(model.InvalidInput, "search", "the query vector has %d dimensions, the stored ones have %d", len(v), other)
	}
	if err != nil {
		return hypergraph.SearchResult{}, err
	}
	b := best{limit: max(o.Limit, 0)}
	for i, cos := range vectors.Each(len(nodes), func(i int) float64 {
		x := nodes[i]
		if x.length == 0 {
			return 0
		}
		return min(float64(vectors.Dot(unit, x.vector))/x.length, 1)
	}) {
		b.add(ranked{nodes[i], cos})
	}
	return b.result(func(cos float64) float64 { return max(cos, 0) }), nil
}

// scan calls fn with every node that the options keep.
func (s *state) scan(ctx context.Context, o hypergraph.SearchOptions, fn func(*node)) error {
	seen := 0
	for _, ix := range s.nodeIndexes(o.Tiers, model.OrderID) {
		for _, block := range ix.blocks {
			if seen += len(block); seen >= checkEvery {
				seen = 0
				if err := model.FromContext(ctx, "search"); err != nil {
					return err
				}
			}
			for _, x := range block {
				if x.Tier == s.vocab.ArchiveTier && !o.IncludeArchived || !allowed(o.Types, x.Type) ||
					x.Confidence < o.MinConfidence || slices.Contains(o.NotSubtypes, x.Subtype) {
					continue
				}
				fn(x)
			}
		}
	}
	return nil
}
