package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/internal/clock"
)

var began = time.Date(2026, 5, 21, 8, 0, 0, 0, time.UTC)

// newStore makes a store of the own schema.
func newStore(t testing.TB) (*sqlite.Store, *clock.Fake, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	c := clock.NewFake(began)
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, Create: true, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, c, path
}

// writeRecurse makes a database with the small recurse schema and runs more statements on it.
func writeRecurse(t testing.TB, path string, more ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recurse.sql"))
	if err != nil {
		t.Fatal(err)
	}
	runSQL(t, path, append([]string{string(text)}, more...)...)
}

func runSQL(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
}

// newRecurse opens a small recurse database.
func newRecurse(t testing.TB, more ...string) (*sqlite.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rlm.db")
	writeRecurse(t, path, more...)
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, path
}

func fact(id, content string) hypergraph.Node {
	return hypergraph.Node{ID: id, Type: "fact", Tier: "task", Content: content, Confidence: 1}
}

// eachSchema runs a test on a store of either schema.
func eachSchema(t *testing.T, run func(*testing.T, *sqlite.Store)) {
	t.Run("own", func(t *testing.T) {
		s, _, _ := newStore(t)
		run(t, s)
	})
	t.Run("recurse", func(t *testing.T) {
		s, _ := newRecurse(t, `DELETE FROM membership`, `DELETE FROM hyperedges`, `DELETE FROM decisions WHERE parent_id IS NOT NULL`,
			`DELETE FROM decisions`, `DELETE FROM nodes`, `CREATE TABLE node_embeddings (node_id TEXT PRIMARY KEY, embedding BLOB NOT NULL,
			model TEXT NOT NULL, dimensions INTEGER NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP)`)
		run(t, s)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
