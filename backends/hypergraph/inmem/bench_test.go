package inmem_test

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/model"
)

// seed yields n nodes such as an agent leaves, oldest first.
func seed(n int) iter.Seq[hypergraph.Node] {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func(yield func(hypergraph.Node) bool) {
		for i := range n {
			v := hypergraph.Node{
				ID: fmt.Sprintf("%08x-%04x", uint32(i)*2654435761, i%65536), Type: "fact", Tier: hypergraph.Recurse().Tiers[i%4],
				Content:    fmt.Sprintf("Note %d: the scheduler retries failed jobs after a pause.\nSeen in run %d.", i, i%977),
				Confidence: 0.5, CreatedAt: start.Add(time.Duration(i) * time.Second),
			}
			if i%1000 == 0 {
				v.Content += " A marmoset slept nearby."
			}
			if !yield(v) {
				return
			}
		}
	}
}

// The cost of a page must depend neither on the number of nodes nor on the page's depth.
func BenchmarkBrowse(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		m := inmem.New(nil)
		begin := time.Now()
		if err := m.Load(b.Context(), seed(n)); err != nil {
			b.Fatal(err)
		}
		b.Logf("loaded %d nodes in %v", n, time.Since(begin))
		s := hypergraph.Adapt(hypergraph.Config{Name: "mem", Kind: "inmem", Backend: m})
		deep := model.PageRequest{Limit: 100}
		for range min(n/200, 300) {
			p, err := s.Browser.List(b.Context(), deep)
			if err != nil {
				b.Fatal(err)
			}
			deep.Cursor = p.Next
		}
		for name, req := range map[string]model.PageRequest{
			"first": {Limit: 100}, "deep": deep, "last": {Limit: 100, End: true}, "tier": {Limit: 100, Tier: "session", Order: model.OrderID},
		} {
			b.Run(fmt.Sprintf("page/%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Browser.List(b.Context(), req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("recall/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Provider.Recall(b.Context(), model.RecallRequest{Query: "marmoset"}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("retain/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Provider.Retain(b.Context(), model.RetainRequest{Tier: "task", Content: "one more", Mode: model.Replace}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
