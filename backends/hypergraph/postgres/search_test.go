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

// TestSearchIsPlannedForItsWords: a search is parsed once on a connection, and never uses a plan for any words: that of a
// rare word would read every match of a common one.
func TestSearchIsPlannedForItsWords(t *testing.T) {
	srv := testpg.New(t)
	s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(srv.DSN("postgres", "postgres")), Workspace: "w", MaxConns: 1})
	must(t, err)
	defer s.Close()
	must(t, s.CreateNode(t.Context(), fact("rare", "a quokka in the harbour")))
	for range 12 { // the server compares the plans after the fifth
		if res, err := s.SearchByContent(t.Context(), "quokka", hypergraph.SearchOptions{Limit: 20}); err != nil || len(res.Hits) != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	must(t, postgres.Run(t.Context(), s, `DO $$ BEGIN
		ASSERT (SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%ts_rank%' AND custom_plans = 12 AND generic_plans = 0) = 1,
			(SELECT format('%s custom plans, %s for any words', sum(custom_plans), sum(generic_plans)) FROM pg_prepared_statements WHERE statement LIKE '%ts_rank%');
		END $$`))
}
