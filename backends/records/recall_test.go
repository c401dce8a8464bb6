package records_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/records/mem0"
	"memdesk/model"
)

// TestRecallLeavesNothingOut: the database's condition must select every row whose item contains the
// text, in any letter case and spelling.
func TestRecallLeavesNothingOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.db")
	schemaInto(t, path, "mem0")
	texts := []string{"plain herring", "HERRING", "her\\u0072ing", "k\u00eelo", "\u212Ailo of salt", "mu\u017Feum", "na\u00efve \u201cskiff\u201d", "dot \u0130stanbul", "100% of_it", "back\\\\slash"}
	for i, text := range texts {
		insert(t, path, `INSERT INTO vectors VALUES (?, x'00', ?)`, fmt.Sprint("m", i), `{"user_id":"a","data":"`+text+`"}`)
	}
	s, err := mem0.Open(t.Context(), mem0.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for query, want := range map[string]int64{"herring": 3, "Kilo": 1, "museum": 1, "NA\u00cfVE": 1, "skiff": 1, "k\u00eelo": 1, "istanbul": 1, "100% of": 1, "%": 1, "of_": 1, "ofxit": 0, `k\slash`: 1, "m3": 1, "skis": 0} {
		res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: query})
		if err != nil || res.Total != want {
			t.Errorf("%q is found %d times, want %d (%v)", query, res.Total, want, err)
		}
		page, err := s.Browser.List(t.Context(), model.PageRequest{Query: query})
		if err != nil || int64(len(page.Items)) != want {
			t.Errorf("%q: a list has %d items, want %d (%v)", query, len(page.Items), want, err)
		}
	}
}

func schemaInto(t *testing.T, path, name string) {
	t.Helper()
	text, err := os.ReadFile("../demodata/schema/" + name + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	insert(t, path, string(text))
}

func insert(t *testing.T, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatal(err)
	}
}
