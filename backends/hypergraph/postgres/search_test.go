package postgres_test

import (
	"fmt"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestManyMatches searches words with more matches than are all ranked. The planner estimates a prefix
// as rare, so its matches are read from the index; those of the whole word are walked.
func TestManyMatches(t *testing.T) {
	t.Parallel()
	const all = 10_500
	s := create(t, testpg.DSN(t))
	must(t, second(s.CreateNodes(t.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range all {
			n := fact(fmt.Sprintf("n%05d", i), "common word")
			if i == all-500 {
				n.Content = "common common common"
			}
			if !yield(n) {
				return
			}
		}
	})))
	ranked := "ranked among the newest 1,000 of more than 10,000 matches"
	for _, c := range []struct {
		query, types string
		total        int64
		note, best   string
	}{
		{"common", "fact", 1000, ranked, "n10000"},
		{"commo", "fact", 1000, ranked, "n10000"},
		{"common", "entity", 0, "filtered among the newest 20,000 matches of the words", ""},
		{"commo", "entity", 0, "filtered among the newest 20,000 matches of the words", ""},
	} {
		res, err := s.SearchByContent(t.Context(), c.query, hypergraph.SearchOptions{Limit: 5, Types: []string{c.types}})
		must(t, err)
		if res.Total != (model.Count{N: c.total, AtLeast: true}) || res.BoundNote != c.note || c.best != "" && res.Hits[0].Node.ID != c.best {
			t.Errorf("%s of %s: %+v %q, %d hits", c.query, c.types, res.Total, res.BoundNote, len(res.Hits))
		}
	}
}

// TestRareWordsAreNotPlannedAgain: where the server has statistics of the words, the statement that finds a rare word must
// keep its plan; a common word must not use it. The answers are the same.
func TestRareWordsAreNotPlannedAgain(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	must(t, second(create(t, dsn).CreateNodes(t.Context(), func(yield func(hypergraph.Node) bool) {
		for i := range 3000 {
			if !yield(fact(fmt.Sprintf("n%05d", i), fmt.Sprintf("common word%d", i/2))) {
				return
			}
		}
	})))
	for _, c := range []struct {
		what, query string
		total       int64
		setup       string
		kept        int64
	}{
		{"common", "common", 3000, ``, 0},
		{"rare", "common word7", 2, ``, 1},
		{"without statistics", "common word7", 2, `DELETE FROM pg_statistic WHERE starelid = 'memdesk.nodes'::regclass`, 0},
	} {
		if c.setup != "" {
			testpg.Exec(t, dsn, c.setup)
		}
		s, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(dsn), Workspace: "w", MaxConns: 1})
		must(t, err)
		for range 8 { // the server plans the first five anew
			res, err := s.SearchByContent(t.Context(), c.query, hypergraph.SearchOptions{Limit: 5})
			must(t, err)
			if res.Total != (model.Count{N: c.total}) {
				t.Errorf("%s: %+v, want %d", c.what, res.Total, c.total)
			}
		}
		if kept, err := postgres.KeptPlans(t.Context(), s); err != nil || kept != c.kept {
			t.Errorf("%s: %d plans are kept, %v; want %d", c.what, kept, err, c.kept)
		}
		must(t, s.Close())
	}
}
