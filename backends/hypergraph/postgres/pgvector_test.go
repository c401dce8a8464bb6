package postgres_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/hypergraphtest"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestPgvector runs the suite's vector cases on a server with pgvector, and checks that the index is
// used and returns the same as comparing every vector.
func TestPgvector(t *testing.T) {
	t.Parallel()
	cfg := postgres.Config{DSN: model.NewSecret(testpg.PGlite(t)), Workspace: "w", MaxConns: 1}
	s, err := postgres.Create(t.Context(), cfg)
	must(t, err)
	const n = 150
	r := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, 8)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	all := map[string][]float32{}
	for i := range n {
		id := fmt.Sprint("n", i)
		must(t, s.CreateNode(t.Context(), fact(id, "x")))
		all[id] = vector()
		must(t, s.SetEmbedding(t.Context(), id, "m", all[id]))
	}
	must(t, s.Close())
	s, err = postgres.Open(t.Context(), cfg)
	must(t, err)
	if !slices.ContainsFunc(s.Notes(), func(n string) bool { return strings.Contains(n, "HNSW") }) {
		t.Errorf("the notes know no index: %q", s.Notes())
	}
	near := 0
	for range 10 {
		q := vector()
		res, err := s.SearchByEmbedding(t.Context(), q, hypergraph.SearchOptions{Limit: 10})
		must(t, err)
		if len(res.Hits) != 10 || !strings.Contains(res.BoundNote, "pgvector") {
			t.Fatalf("%d hits, %q", len(res.Hits), res.BoundNote)
		}
		want := nearest(all, q, 10)
		for i, h := range res.Hits {
			if slices.Contains(want, h.Node.ID) {
				near++
			}
			if got := cosine(all[h.Node.ID], q); math.Abs(max(got, 0)-h.Score) > 1e-4 {
				t.Errorf("hit %d scores %v, its cosine is %v", i, h.Score, got)
			}
		}
	}
	if near < 95 {
		t.Errorf("%d of the 100 nearest were found", near)
	}
	// A filter that leaves few nodes must be answered completely.
	res, err := s.SearchByEmbedding(t.Context(), vector(), hypergraph.SearchOptions{Limit: 10, Tiers: []string{"session"}})
	if err != nil || len(res.Hits) != 0 || res.Bounded {
		t.Errorf("nothing in the tier: %+v, %v", res, err)
	}
	must(t, s.Close())
	t.Run("the copy is made anew", func(t *testing.T) { remade(t, cfg, all) })
	for _, c := range hypergraphtest.Cases() {
		if c.Rule != "H9" && os.Getenv("MEMDESK_SOAK") == "" { // the other cases use no vectors, and PGlite is slow
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			own := cfg
			own.Workspace = fmt.Sprint("ws-", workspaces.Add(1))
			s, err := postgres.Open(t.Context(), own)
			must(t, err)
			defer s.Close()
			c.Run(t, s)
		})
	}
}

// remade drops pgvector's indexed copy and migrates: the server itself then decodes the vectors' bytes again.
func remade(t *testing.T, cfg postgres.Config, all map[string][]float32) {
	testpg.Exec(t, cfg.DSN.Reveal(), `DROP TABLE memdesk.node_vectors`)
	again := func() {
		s, err := postgres.Create(t.Context(), cfg)
		must(t, err)
		must(t, s.Close())
	}
	again()
	const written = `SELECT count(DISTINCT xmin::text) FROM memdesk.node_vectors`
	testpg.Exec(t, cfg.DSN.Reveal(), `UPDATE memdesk.node_vectors SET vec = '[1,2,3,4,5,6,7,8]' WHERE node_id = 'n0'`)
	again() // writes the row that differs, and no other
	if n := testpg.Value(t, cfg.DSN.Reveal(), written); n != "2" {
		t.Errorf("the rows were written by %s transactions, want 2", n)
	}
	conn, err := pgx.Connect(t.Context(), cfg.DSN.Reveal())
	must(t, err)
	defer conn.Close(t.Context())
	for _, id := range []string{"n0", "n7", "n149"} {
		var text string
		must(t, conn.QueryRow(t.Context(), `SELECT vec::text FROM memdesk.node_vectors WHERE workspace = 'w' AND node_id = $1`, id).Scan(&text))
		var want []string
		for _, x := range all[id] {
			want = append(want, fmt.Sprint(x))
		}
		if got := strings.Split(strings.Trim(text, "[]"), ","); !slices.Equal(numbers(t, got), numbers(t, want)) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func numbers(t *testing.T, in []string) []float32 {
	out := make([]float32, len(in))
	for i, s := range in {
		if _, err := fmt.Sscan(s, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func cosine(a, b []float32) float64 {
	var dot, na, nb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		na += float64(a[i]) * float64(a[i])
		nb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(na*nb)
}

func nearest(all map[string][]float32, q []float32, n int) []string {
	var ids []string
	for id := range all {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		if cosine(all[a], q) > cosine(all[b], q) {
			return -1
		}
		return 1
	})
	return ids[:n]
}
