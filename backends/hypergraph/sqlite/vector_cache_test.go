package sqlite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
)

// TestSimilarAfterAnothersChange searches the kept vectors, and must see another program's changes
// since: to a vector, a tier, a node.
func TestSimilarAfterAnothersChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	open := func() *sqlite.Store {
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Create: true})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		return s
	}
	s, other := open(), open()
	for i := range 4 {
		id := fmt.Sprint("n", i)
		must(t, s.CreateNode(t.Context(), hypergraph.Node{ID: id, Type: "fact", Tier: "task", Content: "x", Confidence: 1}))
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
	must(t, other.SetEmbedding(t.Context(), "n0", "m", []float32{-1, 0}))
	near("n1", "n2", "n3")
	must(t, other.DeleteNode(t.Context(), "n1"))
	near("n2", "n3", "n0")
	n, err := other.GetNode(t.Context(), "n2")
	must(t, err)
	n.Tier = "archive"
	must(t, other.UpdateNode(t.Context(), n))
	near("n3", "n0")
	must(t, other.SetEmbedding(t.Context(), "n3", "m", []float32{1, 0, 0})) // a vector of another model
	near("n0")
}
