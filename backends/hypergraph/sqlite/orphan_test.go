package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

// TestMissingTypes: columns of another program's file may admit NULL, and one such row must not hide the others.
func TestMissingTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	ddl := strings.NewReplacer(`type TEXT NOT NULL`, `type TEXT`, `node_id TEXT NOT NULL`, `node_id TEXT`).Replace(recurseDDL(t))
	runSQL(t, path, ddl+`
		INSERT INTO nodes (id, type, content) VALUES ('a', NULL, 'a lamp'), ('b', 'fact', 'a lamp');
		INSERT INTO decisions (node_id, decision_type) VALUES ('a', NULL);
		INSERT INTO hyperedges (id, type) VALUES ('odd', NULL);
		INSERT INTO membership VALUES ('odd', 'b', 'subject', 0), ('odd', NULL, 'object', 1);`)
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	must(t, err)
	defer db.Close()
	if page, err := db.ListNodes(t.Context(), hypergraph.Listing{Limit: 10}); err != nil || len(page.Nodes) != 2 {
		t.Errorf("%d nodes, %v", len(page.Nodes), err)
	}
	if page, err := db.ListEdges(t.Context(), hypergraph.Listing{Limit: 10}); err != nil || len(page.Edges) != 1 {
		t.Errorf("%d edges, %v", len(page.Edges), err)
	}
	must(t, db.DeleteEdge(t.Context(), "odd"))
	must(t, db.DeleteNode(t.Context(), "a"))
}

// TestOrphanMembershipsDoNotProtectANode: a writer without foreign keys leaves membership rows of
// removed edges (recurse.md, Traps). The node must be removed nevertheless, and these rows with it.
func TestOrphanMembershipsDoNotProtectANode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	runSQL(t, path, recurseDDL(t)+`
		INSERT INTO nodes (id, type, content) VALUES ('a', 'fact', 'a'), ('b', 'fact', 'b');
		INSERT INTO hyperedges (id, type) VALUES ('both', 'relation');
		INSERT INTO membership VALUES ('both', 'a', 'subject', 0), ('both', 'a', 'object', 1), ('both', 'b', 'object', 2);
		PRAGMA foreign_keys = OFF;
		INSERT INTO membership VALUES ('gone', 'b', 'subject', 0);`)
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	must(t, err)
	defer db.Close()
	if edges, total, err := db.EdgesOf(t.Context(), "b", 10); err != nil || len(edges) != 1 || total != 1 {
		t.Errorf("%d edges of %d, %v; want 1 of 1", len(edges), total, err)
	}
	must(t, db.DeleteNode(t.Context(), "b"))
	if _, err := db.GetNode(t.Context(), "b"); !errors.Is(err, model.NotFound) {
		t.Errorf("the node is still there: %v", err)
	}
	// One node in two roles is one member.
	if _, err := db.GetEdge(t.Context(), "both"); !errors.Is(err, model.NotFound) {
		t.Errorf("an edge of one node is left: %v", err)
	}
	must(t, db.Close())
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}
