package postgres_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/hypergraphtest"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// recipe returns the SQL of DISTRIBUTE.md.
func recipe(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("DISTRIBUTE.md")
	must(t, err)
	_, rest, ok := strings.Cut(string(text), "```sql\n")
	sql, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("DISTRIBUTE.md holds no SQL")
	}
	return sql
}

// TestDistributed partitions a database by the unchanged recipe and runs the suite on it.
func TestDistributed(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	s := create(t, dsn)
	must(t, s.CreateNode(t.Context(), fact("a", "before the cut")))
	must(t, s.CreateNode(t.Context(), fact("b", "x")))
	must(t, s.CreateEdge(t.Context(), hypergraph.Edge{ID: "e", Type: "relation", Weight: 1, Members: []hypergraph.Membership{{NodeID: "a", Role: "subject"}, {NodeID: "b", Role: "object"}}}))
	testpg.Exec(t, dsn, recipe(t))
	if n, err := s.GetNode(t.Context(), "a"); err != nil || n.Content != "before the cut" {
		t.Errorf("after the cut: %+v, %v", n, err)
	}
	if n, err := s.Reindex(t.Context()); n != 2 || err != nil {
		t.Errorf("reindex: %d nodes, %v", n, err)
	}
	if found := s.Look(t.Context()); len(found) > 0 {
		t.Errorf("after the reindex: %+v", found)
	}
	must(t, s.DeleteNode(t.Context(), "a"))
	if _, err := s.GetEdge(t.Context(), "e"); model.KindOf(err) != model.NotFound {
		t.Errorf("the foreign keys are gone: %v", err)
	}
	ch, err := s.Watch(t.Context())
	must(t, err)
	must(t, s.CreateNode(t.Context(), fact("told", "x")))
	if c := <-ch; c.ID != "told" {
		t.Errorf("told of %+v", c)
	}
	hypergraphtest.Run(t, func(t *testing.T) hypergraph.Backend {
		s, err := postgres.Open(t.Context(), postgres.Config{DSN: model.NewSecret(dsn), Workspace: fmt.Sprint("ws-", workspaces.Add(1))})
		must(t, err)
		return s
	})
}
