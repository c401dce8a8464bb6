package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// peek runs a query on the file as another program would.
func peek(t *testing.T, path, query string) []string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		cells := make([]any, len(cols))
		ptrs := make([]any, len(cols))
		for i := range cells {
			ptrs[i] = &cells[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		for i, c := range cells {
			if b, ok := c.([]byte); ok {
				cells[i] = string(b)
			}
		}
		out = append(out, strings.TrimSuffix(fmt.Sprintln(cells...), "\n"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

const schemaText = `SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid`

func TestLiveDatabaseKeepsItsSchema(t *testing.T) {
	s, want, path := openFixture(t, false)
	ctx := context.Background()
	before := peek(t, path, schemaText)
	log := peek(t, path, `SELECT * FROM evolution_log`)
	n := browseAndEdit(t, s, "longterm")
	if err := s.DeleteNode(ctx, n.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query string
		want  []string
	}{
		{schemaText, before},
		{`PRAGMA integrity_check`, []string{"ok"}},
		{`PRAGMA foreign_key_check`, nil},
		{`PRAGMA journal_mode`, []string{"wal"}},
		{`SELECT * FROM evolution_log`, log},
		{`SELECT count(*) FROM nodes`, []string{fmt.Sprint(want.Counts.Nodes - 1)}},
		{`SELECT count(*) FROM node_embeddings WHERE node_id = '` + n.ID + `'`, []string{"0"}},
	} {
		if d := cmp.Diff(c.want, peek(t, path, c.query)); d != "" {
			t.Error(c.query, d)
		}
	}
	for _, id := range want.Orphans {
		if got := peek(t, path, `SELECT count(*) FROM node_embeddings WHERE node_id = '`+id+`'`); got[0] != "1" {
			t.Errorf("orphan vector %s was touched", id)
		}
	}
}

// browseAndEdit reads, searches and changes one node with a vector, and returns it.
func browseAndEdit(t *testing.T, s hypergraph.Backend, tier string) hypergraph.Node {
	t.Helper()
	ctx := context.Background()
	if _, err := s.SearchByContent(ctx, "decision", hypergraph.SearchOptions{Limit: 20}); err != nil {
		t.Fatal(err)
	}
	for n, err := range s.AllNodes(ctx, hypergraph.NodeFilter{Tiers: []string{tier}, Types: []string{"fact"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if !n.HasVector {
			continue
		}
		n.Content += "\nEdited at the desk."
		if err := s.UpdateNode(ctx, n); err != nil {
			t.Fatal(err)
		}
		got, err := s.GetNode(ctx, n.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.Content != n.Content || got.HasVector {
			t.Errorf("after the edit: content %q, vector %v", got.Content, got.HasVector)
		}
		return got
	}
	t.Fatal("no node with a vector")
	return hypergraph.Node{}
}

func TestUnchangedValuesAreNotWritten(t *testing.T) {
	s, want, path := openFixture(t, false)
	ctx := context.Background()
	rows := `SELECT id, updated_at, typeof(metadata), typeof(provenance) FROM nodes ORDER BY id`
	before := peek(t, path, rows)
	for n, err := range s.AllNodes(ctx, hypergraph.NodeFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := s.UpdateNode(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(before, peek(t, path, rows)); d != "" {
		t.Errorf("%d nodes: %s", want.Counts.Nodes, d)
	}
}

func TestDecisionWithChildrenStays(t *testing.T) {
	s, want, path := openFixture(t, false)
	for _, id := range want.WithChildren {
		children := peek(t, path, `SELECT count(*) FROM decisions WHERE parent_id = '`+id+`'`)[0]
		err := s.DeleteNode(context.Background(), id)
		if !errors.Is(err, model.Conflict) || !strings.Contains(err.Error(), "delete its "+children+" child") {
			t.Errorf("%s with %s children: %v", id, children, err)
		}
		if _, err := s.GetNode(context.Background(), id); err != nil {
			t.Error(err)
		}
	}
}

func TestDeleteTakesBrokenEdgesAlong(t *testing.T) {
	s, want, path := openFixture(t, false)
	ctx := context.Background()
	node := peek(t, path, `SELECT m.node_id FROM membership m JOIN nodes n ON n.id = m.node_id WHERE n.type <> 'decision' GROUP BY 1 HAVING count(*) > 1 ORDER BY 1 LIMIT 1`)[0]
	kept := peek(t, path, `SELECT hyperedge_id FROM membership WHERE hyperedge_id IN (SELECT hyperedge_id FROM membership WHERE node_id = '`+node+`')
		AND node_id <> '`+node+`' GROUP BY 1 HAVING count(*) > 1 ORDER BY 1`)
	gone := peek(t, path, `SELECT hyperedge_id FROM membership WHERE hyperedge_id IN (SELECT hyperedge_id FROM membership WHERE node_id = '`+node+`')
		GROUP BY 1 HAVING count(*) FILTER (WHERE node_id <> '`+node+`') < 2 ORDER BY 1`)
	if len(gone) == 0 {
		t.Fatal("the node has no edge that its deletion breaks")
	}
	if err := s.DeleteNode(ctx, node); err != nil {
		t.Fatal(err)
	}
	for _, id := range gone {
		if _, err := s.GetEdge(ctx, id); !errors.Is(err, model.NotFound) {
			t.Errorf("edge %s: %v", id, err)
		}
	}
	for _, id := range append(kept, want.FewMembers...) {
		if _, err := s.GetEdge(ctx, id); err != nil {
			t.Errorf("edge %s should stay: %v", id, err)
		}
	}
	if fk := peek(t, path, `PRAGMA foreign_key_check`); len(fk) != 0 {
		t.Error(fk)
	}
}
