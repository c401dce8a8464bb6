package undo_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// rowsOf reads every value of a recurse file with its type.
func rowsOf(t *testing.T, db *sql.DB, but ...string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	tables := []string{"nodes", "decisions", "hyperedges", "membership", "evolution_log"}
	if err := db.QueryRow(`SELECT 1 FROM sqlite_schema WHERE name = 'node_embeddings'`).Scan(new(int)); err == nil {
		tables = append(tables, "node_embeddings")
	}
	for _, table := range tables {
		var columns []string
		collect := func(into *[]string, query string, args ...any) {
			t.Helper()
			rows, err := db.Query(query, args...)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var s string
				if err := rows.Scan(&s); err != nil {
					t.Fatal(err)
				}
				*into = append(*into, s)
			}
		}
		collect(&columns, `SELECT name FROM pragma_table_info(?)`, table)
		text := `''`
		for _, c := range columns {
			if !slices.Contains(but, c) || table == "node_embeddings" {
				text += ` || '` + c + `=' || quote(` + c + `) || ' '`
			}
		}
		var rows []string
		collect(&rows, `SELECT `+text+` FROM `+table+` ORDER BY 1`)
		out[table] = rows
	}
	return out
}

// TestRecurseRowsComeBackInTheirForms: after a forget and after an edit, NULL must stay NULL, bytes
// must stay bytes, and a time must keep its text.
func TestRecurseRowsComeBackInTheirForms(t *testing.T) {
	for name, vectors := range map[string]string{"one writer": "", "two writers": `
		CREATE TABLE node_embeddings (node_id TEXT PRIMARY KEY, embedding BLOB NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL, created_at TEXT, updated_at TEXT);
		INSERT INTO node_embeddings VALUES ('j-bytes', X'0000803F0000003F', 'm', 2, '', ''), ('b-offset', X'0000803F0000003F', 'm', 2, NULL, '2026-01-02T03:04:05+02:00'),
			('a-rfc', X'0000803F0000003F', 'm', 2, '2026-01-02 03:04:05', '2026-01-02T03:04:05Z');`} {
		t.Run(name, func(t *testing.T) { recurseRowsComeBack(t, vectors) })
	}
}

func recurseRowsComeBack(t *testing.T, vectors string) {
	text, err := os.ReadFile("../backends/hypergraph/sqlite/testdata/recurse.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rlm.db")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(string(text) + vectors + `UPDATE membership SET position = 0 WHERE position IS NULL;
		INSERT INTO nodes (id, type, content, embedding, metadata, provenance) VALUES ('j-bytes', 'fact', 'j', X'5B302E312C20302E325D', X'FF00', CAST('{"a":1}' AS BLOB)),
			('k-text', 'fact', 'k', '[1, 0]', '{}', X''), ('l-floats', 'decision', 'l', X'0000803F0000003F', NULL, X'FE');
		INSERT INTO nodes (id, type, subtype, content, metadata, provenance) VALUES ('m-latin', 'fact', CAST(X'66FC0061' AS TEXT), 'm', CAST(X'7B2261223A22FC227D' AS TEXT), CAST(X'FC' AS TEXT));
		INSERT INTO decisions (node_id, decision_type, files) VALUES ('l-floats', 'goal', 'a.go,b.go');
		INSERT INTO hyperedges (id, type, label, metadata) VALUES ('e4', 'relation', 'odd', X'FF00');
		INSERT INTO membership VALUES ('e4', 'j-bytes', 'subject', 0), ('e4', 'k-text', 'object', 1);
		INSERT INTO nodes (id, type, content) VALUES (CAST(X'66FC' AS TEXT), 'fact', 'n');
		INSERT INTO hyperedges (id, type) VALUES (CAST(X'65FC' AS TEXT), 'relation');
		INSERT INTO membership VALUES (CAST(X'65FC' AS TEXT), CAST(X'66FC' AS TEXT), 'subject', 0), (CAST(X'65FC' AS TEXT), 'k-text', 'object', 1);`); err != nil {
		t.Fatal(err)
	}
	s := hypergraph.Adapt(hypergraph.Config{Name: "g", Kind: "sqlite", Location: "x", Backend: openFile(t, sqlite.Config{Path: path})})
	t.Cleanup(func() { _ = s.Close() })
	k := undo.New(t.TempDir(), undo.DefaultKeep, clock.System{}, nil)
	back := func(id string) {
		t.Helper()
		if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, id); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"a-rfc", "b-offset", "c-space", "d-null", "e-odd", "f-budget", "h-option", "j-bytes", "k-text", "l-floats", "m-latin", "f\xfc", "edge/e\xfc", "edge/e1", "edge/e2", "edge/e3", "edge/e4"} {
		before := rowsOf(t, db)
		_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: id})
		if err != nil {
			t.Fatal(id, err)
		}
		if cmp.Equal(before, rowsOf(t, db)) {
			t.Fatal(id, "is still there")
		}
		back(e.ID)
		if d := cmp.Diff(before, rowsOf(t, db)); d != "" {
			t.Errorf("%s forgotten (-before +after):\n%s", id, d)
		}
	}
	for _, id := range []string{"a-rfc", "d-null", "edge/e2"} {
		before := rowsOf(t, db, "updated_at")
		it, err := s.Browser.Read(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var meta []model.Field
		for _, f := range it.Meta {
			if f.Name != "subtype" && f.Name != "metadata" && !f.ReadOnly {
				meta = append(meta, f)
			}
		}
		meta = append(meta, model.Field{Name: "metadata", Value: `{"new":1}`})
		if id != "edge/e2" {
			meta = append(meta, model.Field{Name: "subtype", Value: "new"})
		}
		_, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: id, Content: "another text", Mode: model.Replace, Meta: meta})
		if err != nil {
			t.Fatal(id, err)
		}
		back(e.ID)
		if d := cmp.Diff(before, rowsOf(t, db, "updated_at")); d != "" {
			t.Errorf("%s edited (-before +after):\n%s", id, d)
		}
	}
}
