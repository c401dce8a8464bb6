package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

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
