// Package recordstest makes and reads files of other programs' tables for the tests of kinds.
package recordstest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"memdesk/backends/backendtest"
	"memdesk/model"
)

// Must ends the test with an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Exec runs statements in an SQLite file.
func Exec(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	Must(t, err)
	defer db.Close()
	for _, text := range statements {
		_, err := db.Exec(text)
		Must(t, err)
	}
}

// Cell reads one value; NULL is empty.
func Cell(t testing.TB, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	Must(t, err)
	defer db.Close()
	var out sql.NullString
	Must(t, db.QueryRow(query).Scan(&out))
	return out.String
}

// Schema is a program's tables as in the demo. The caller's package must be beside this one.
func Schema(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "demodata", "schema", name+".sql"))
	Must(t, err)
	return string(text)
}

// File makes a database of a program's tables in its own directory.
func File(t testing.TB, name string, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".db")
	Exec(t, path, append([]string{Schema(t, name)}, statements...)...)
	return path
}

// Made is the reason why no write creates items of a tier.
const Made = "its program alone makes new ones"

// Harness is the harness for a kind whose items only another program makes: fresh makes the store's
// files, empty or with items, and names the file without which the store is broken.
func Harness(fresh func(t *testing.T, items bool) (path, needed string), open func(ctx context.Context, path string, readOnly bool) (model.Store, error)) backendtest.Harness {
	var last string
	begin := func(t *testing.T, items, readOnly bool) (model.Store, string) {
		path, needed := fresh(t, items)
		last = filepath.Dir(needed)
		s, err := open(t.Context(), path, readOnly)
		Must(t, err)
		return s, needed
	}
	return backendtest.Harness{
		Open: func(t *testing.T) model.Store {
			s, _ := begin(t, false, false)
			return s
		},
		OpenReadOnly: func(t *testing.T) model.Store {
			s, _ := begin(t, true, true)
			return s
		},
		Broken: func(t *testing.T) model.Store {
			s, needed := begin(t, true, false)
			Must(t, os.Remove(needed))
			return s
		},
		Files:       func(*testing.T) string { return last },
		NotByRetain: map[string]string{"thread": Made, "message": Made, "observation": Made, "memory": Made, "session": Made},
	}
}
