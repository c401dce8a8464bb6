package backends_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"memdesk/backends"
)

// recordKinds makes an empty store of each kind whose tables another program owns.
func recordKinds(t *testing.T, dir string) []backends.StoreConfig {
	t.Helper()
	out := []backends.StoreConfig{{Name: "mcpgraph", Kind: "mcpgraph", Path: filepath.Join(dir, "memory.jsonl")}}
	agent := filepath.Join(dir, "agent")
	if err := os.MkdirAll(filepath.Join(agent, "memories"), 0o700); err != nil {
		t.Fatal(err)
	}
	out = append(out, backends.StoreConfig{Name: "claude", Kind: "claude", Path: agent})
	for _, kind := range []string{"engram", "mastra", "mem0"} {
		schema, err := os.ReadFile(filepath.Join("records", kind, "testdata", "schema.sql"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, kind+".db")
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(string(schema)); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		out = append(out, backends.StoreConfig{Name: kind, Kind: kind, Path: path})
	}
	return out
}
