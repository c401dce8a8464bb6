package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/hypergraphtest"
	"memdesk/backends/hypergraph/sqlite"
)

func TestBackend(t *testing.T) {
	hypergraphtest.Run(t, func(t *testing.T) hypergraph.Backend {
		s, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(t.TempDir(), "store.db"), Create: true})
		must(t, err)
		return s
	})
}

// TestRecurseBackend runs the suite on an empty file with recurse's present schema.
func TestRecurseBackend(t *testing.T) {
	ddl := recurseDDL(t)
	hypergraphtest.Run(t, func(t *testing.T) hypergraph.Backend {
		path := filepath.Join(t.TempDir(), "rlm.db")
		runSQL(t, path, ddl)
		s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
		must(t, err)
		return s
	})
}

// recurseDDL creates an empty database as recurse does today.
func recurseDDL(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recurse.sql"))
	must(t, err)
	ddl, _, _ := strings.Cut(string(text), "INSERT INTO")
	ddl = strings.Replace(ddl, "'causation', 'context'))", "'causation', 'context',\n-- Reasoning trace\n'spawns', 'considers', 'chooses', 'rejects', 'implements', 'produces', 'informs'))", 1)
	return ddl + `CREATE TABLE node_embeddings (node_id TEXT PRIMARY KEY, embedding BLOB NOT NULL, model TEXT NOT NULL,
		dimensions INTEGER NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);`
}
