package postgres_test

import (
	"fmt"
	"slices"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/internal/testpg"
)

// TestSimilarAfterAnothersChange searches the kept vectors, and must see another program's changes
// since: to a vector, a tier, a node, and one that was uncommitted when the vectors were read.
func TestSimilarAfterAnothersChange(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	s, other := create(t, dsn), create(t, dsn)
	for i := range 4 {
		id := fmt.Sprint("n", i)
		must(t, s.CreateNode(t.Context(), fact(id, "x")))
		must(t, s.SetEmbedding(t.Context(), id, "m", []float32{1, float32(i)}))
	}
	near := func(want ...string) {
		t.Helper()
		for range 2 { // read anew, then kept
			res, err := s.SearchByEmbedding(t.Context(), []float32{1, 0}, hypergraph.SearchOptions{Limit: 3})
			must(t, err)
			var got []string
			for _, h := range res.Hits {
				got = append(got, h.Node.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("nearest: %q, want %q", got, want)
			}
		}
	}
	near("n0", "n1", "n2")
	must(t, other.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		if err := tx.SetEmbedding(t.Context(), "n0", "m", []float32{-1, 0}); err != nil {
			return err
		}
		near("n0", "n1", "n2") // while it is uncommitted
		res, err := tx.SearchByEmbedding(t.Context(), []float32{1, 0}, hypergraph.SearchOptions{Limit: 1})
		if err != nil || res.Hits[0].Node.ID != "n1" {
			t.Errorf("the transaction itself finds %+v, %v", res.Hits, err)
		}
		return nil
	}))
	near("n1", "n2", "n3")
	must(t, other.DeleteNode(t.Context(), "n1"))
	near("n2", "n3", "n0")
	n, err := other.GetNode(t.Context(), "n2")
	must(t, err)
	n.Tier = "archive"
	must(t, other.UpdateNode(t.Context(), n))
	near("n3", "n0")
	testpg.Exec(t, dsn, `UPDATE memdesk.nodes SET tier = 'archive' WHERE id = 'n0'`) // by a foreign writer
	near("n3")
	must(t, other.SetEmbedding(t.Context(), "n3", "m", []float32{1, 0, 0})) // a vector of another model
	if res, err := s.SearchByEmbedding(t.Context(), []float32{1, 0}, hypergraph.SearchOptions{Limit: 3, IncludeArchived: true}); err != nil || len(res.Hits) != 2 || !res.Bounded {
		t.Errorf("with a vector of another model: %+v, %v", res, err)
	}
}
