package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, content, 0o600))
		return path
	}
	other := filepath.Join(dir, "other.db")
	runSQL(t, other, `CREATE TABLE customers (id)`, `CREATE TABLE orders (id)`)
	newer := filepath.Join(dir, "newer.db")
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: newer, Create: true})
	must(t, err)
	must(t, s.Close())
	runSQL(t, newer, `PRAGMA user_version = 99`)
	whole := filepath.Join(dir, "whole.db")
	writeRecurse(t, whole)
	raw, err := os.ReadFile(whole)
	must(t, err)
	waits := filepath.Join(dir, "waits.db")
	must(t, os.WriteFile(waits, raw, 0o600))
	must(t, syscall.Mkfifo(waits+"-journal", 0o600))
	empty := filepath.Join(dir, "emptydir")
	must(t, os.Mkdir(empty, 0o700))
	for _, c := range []struct {
		name, path string
		kind       model.Kind
		says       string
	}{
		{"no path", "", model.InvalidInput, "a path is needed"},
		{"missing", filepath.Join(dir, "no.db"), model.NotFound, `no file "no.db"`},
		{"directory", empty, model.InvalidInput, "neither rlm.db nor memory.db"},
		{"empty", write("empty.db", nil), model.InvalidInput, "empty file"},
		{"text", write("text.db", []byte(strings.Repeat("not a database ", 100))), model.Internal, "not an SQLite database"},
		{"short", write("short.db", []byte("hello")), model.Internal, "not an SQLite database"},
		{"truncated", write("cut.db", raw[:700]), model.Internal, ""},
		{"other schema", other, model.InvalidInput, `"customers", "orders"`},
		{"newer", newer, model.Unsupported, "schema 99 of a newer memdesk"},
		{"a pipe as its journal", waits, model.InvalidInput, `"waits.db-journal" is a pipe`},
		{"under a file", filepath.Join(other, "x.db"), model.Unavailable, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, readOnly := range []bool{true, false} {
				s, err := sqlite.Open(context.Background(), sqlite.Config{Path: c.path, ReadOnly: readOnly})
				if err == nil {
					_ = s.Close()
					t.Fatal("opened")
				}
				if model.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), dir) {
					t.Errorf("%v: %v", model.KindOf(err), err)
				}
			}
		})
	}
}

// TestReadingLeavesNothing includes names that would change the meaning of a database address.
func TestReadingLeavesNothing(t *testing.T) {
	for _, name := range []string{"rlm.db", "a b?mode=memory#x%41.db", "wal.db"} {
		for _, readOnly := range []bool{true, false} {
			t.Run(fmt.Sprint(name, readOnly), func(t *testing.T) {
				dir := t.TempDir()
				plain := filepath.Join(dir, "plain.db")
				writeRecurse(t, plain)
				if name == "wal.db" {
					runSQL(t, plain, `PRAGMA journal_mode = WAL`)
				}
				path := filepath.Join(dir, name)
				must(t, os.Rename(plain, path))
				before, err := os.ReadFile(path)
				must(t, err)
				s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, ReadOnly: readOnly})
				must(t, err)
				if ids := listIDs(t, s, hypergraph.Listing{Limit: 3}); len(ids) != 8 {
					t.Error(ids)
				}
				must(t, s.Close())
				entries, err := os.ReadDir(dir)
				must(t, err)
				if len(entries) != 1 {
					t.Errorf("left behind: %v", entries)
				}
				after, err := os.ReadFile(path)
				must(t, err)
				if string(before) != string(after) {
					t.Error("the file was changed")
				}
			})
		}
	}
}

func TestReadOnlyRefusesEveryChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	writeRecurse(t, path)
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, ReadOnly: true})
	must(t, err)
	defer s.Close()
	ctx := context.Background()
	for name, err := range map[string]error{
		"create": s.CreateNode(ctx, fact("x", "y")),
		"update": s.UpdateNode(ctx, fact("a-rfc", "y")),
		"delete": s.DeleteNode(ctx, "a-rfc"),
		"edge":   s.DeleteEdge(ctx, "e1"),
		"vector": s.SetEmbedding(ctx, "b-offset", "", nil),
		"tx":     s.WithTx(ctx, func(hypergraph.Ops) error { return nil }),
	} {
		if !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), s.ReadOnlyReason()) || s.ReadOnlyReason() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWALWithoutRoomForItsIndex makes the -shm file impossible, in place of a read-only directory,
// which does not stop root.
func TestWALWithoutRoomForItsIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	writeRecurse(t, path, `PRAGMA journal_mode = WAL`)
	must(t, os.Symlink(filepath.Join(t.TempDir(), "no", "where"), path+"-shm"))
	_, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, ReadOnly: true})
	if !errors.Is(err, model.Unavailable) || !strings.Contains(err.Error(), "WAL mode") {
		t.Error(err)
	}
}

func TestDirectoryOpensTheAgentsDatabase(t *testing.T) {
	dir := t.TempDir()
	writeRecurse(t, filepath.Join(dir, "rlm.db"))
	writeRecurse(t, filepath.Join(dir, "memory.db"), `PRAGMA journal_mode = WAL`, `DELETE FROM nodes WHERE id = 'd-null'`)
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: dir})
	must(t, err)
	notes := s.Notes()
	must(t, s.Close())
	if len(notes) != 2 || !strings.Contains(notes[0], "open: rlm.db, what the live agent remembers") || !strings.Contains(notes[0], "8 nodes, 3 edges") ||
		!strings.Contains(notes[1], "beside it: memory.db") || !strings.Contains(notes[1], "7 nodes") || !strings.Contains(notes[1], "bytes") {
		t.Errorf("%q", notes)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestVocabularyIsTheFiles(t *testing.T) {
	s, _ := newRecurse(t)
	want := hypergraph.Recurse()
	want.EdgeTypes = []string{"relation", "composition", "causation", "context"}
	if d := cmp.Diff(want, s.Vocabulary()); d != "" {
		t.Error(d)
	}
	err := s.CreateEdge(context.Background(), hypergraph.Edge{ID: "x", Type: "spawns"})
	if !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), "relation, composition, causation, context") {
		t.Error(err)
	}
}

func TestLockedWithinTheDeadline(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			s, path := newRecurse(t, `PRAGMA journal_mode = `+mode)
			db, err := sql.Open("sqlite3", path)
			must(t, err)
			defer db.Close()
			other, err := db.Conn(context.Background())
			must(t, err)
			defer other.Close()
			_, err = other.ExecContext(context.Background(), `BEGIN EXCLUSIVE`)
			must(t, err)
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			if err := s.CreateNode(ctx, fact("x", "y")); !errors.Is(err, model.Locked) {
				t.Error(err)
			}
			if mode == "DELETE" { // in WAL mode a reader does not wait
				if err := s.Ping(ctx); !errors.Is(err, model.Locked) && !errors.Is(err, model.Timeout) {
					t.Error(err)
				}
			}
			_, err = other.ExecContext(context.Background(), `ROLLBACK`)
			must(t, err)
			must(t, s.CreateNode(context.Background(), fact("x", "y")))
		})
	}
}

func TestDamagedPagesAreNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	writeRecurse(t, path)
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, raw[:len(raw)/2], 0o600))
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err == nil {
		defer s.Close()
		_, err = s.SearchByContent(context.Background(), "cache", hypergraph.SearchOptions{IncludeArchived: true})
	}
	if model.KindOf(err) != model.Internal || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

func TestMigrateUpAndDown(t *testing.T) {
	s, _, path := newStore(t)
	ctx := context.Background()
	must(t, s.CreateNode(ctx, fact("x", "a needle")))
	schema := peek(t, path, `SELECT name, sql FROM sqlite_master ORDER BY name`)
	must(t, s.Migrate(ctx, 1))
	if got := peek(t, path, `PRAGMA user_version`); got[0] != "1" {
		t.Error(got)
	}
	must(t, s.Migrate(ctx, 2))
	if d := cmp.Diff(schema, peek(t, path, `SELECT name, sql FROM sqlite_master ORDER BY name`)); d != "" {
		t.Error(d)
	}
	res, err := s.SearchByContent(ctx, "needle", hypergraph.SearchOptions{})
	if err != nil || len(res.Hits) != 1 {
		t.Error("the text index was not rebuilt", res, err)
	}
	if err := s.Migrate(ctx, 0); !model.IsRefusal(err) || peek(t, path, `SELECT count(*) FROM nodes`)[0] != "1" {
		t.Error("a migration has taken an item with it:", err)
	}
	must(t, s.DeleteNode(ctx, "x"))
	must(t, s.Migrate(ctx, 0))
	if got := peek(t, path, `SELECT name FROM sqlite_master`); len(got) != 0 {
		t.Error(got)
	}
	if err := s.Migrate(ctx, 99); !errors.Is(err, model.InvalidInput) {
		t.Error(err)
	}
	r, _ := newRecurse(t)
	if err := r.Migrate(ctx, 1); !errors.Is(err, model.Unsupported) {
		t.Error(err)
	}
}

// TestOpeningMigratesNothing: a migration leaves a record, opening does not. An older file is read, and says what it needs.
func TestOpeningMigratesNothing(t *testing.T) {
	ctx := t.Context()
	for _, readOnly := range []bool{false, true} {
		s, _, path := newStore(t)
		must(t, s.CreateNode(ctx, fact("x", "a needle")))
		must(t, s.Migrate(ctx, 1))
		if err := s.CreateNode(ctx, fact("y", "another")); !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), "memdesk migrate") {
			t.Errorf("a change of the store that was open meanwhile: %v", err)
		}
		must(t, s.Close())
		s, err := sqlite.Open(ctx, sqlite.Config{Path: path, ReadOnly: readOnly})
		must(t, err)
		if got := peek(t, path, `PRAGMA user_version`); got[0] != "1" || !strings.Contains(strings.Join(s.Notes(), " "), "memdesk migrate") {
			t.Errorf("schema %s, notes %q", got, s.Notes())
		}
		if page, err := s.ListNodes(ctx, hypergraph.Listing{Limit: 5}); err != nil || len(page.Nodes) != 1 {
			t.Errorf("%d nodes, %v", len(page.Nodes), err)
		}
		_, err = s.SearchByContent(ctx, "needle", hypergraph.SearchOptions{})
		if !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), "memdesk migrate") {
			t.Errorf("a search: %v", err)
		}
		if !readOnly {
			must(t, s.Migrate(ctx, 2))
			must(t, s.CreateNode(ctx, fact("y", "another needle")))
			if res, err := s.SearchByContent(ctx, "needle", hypergraph.SearchOptions{}); err != nil || len(res.Hits) != 2 {
				t.Errorf("after the migration: %+v, %v", res, err)
			}
		}
		must(t, s.Close())
	}
}

// TestMigrationStepIsAtomic puts a table in the migration's way.
func TestMigrationStepIsAtomic(t *testing.T) {
	s, _, path := newStore(t)
	ctx := context.Background()
	must(t, s.Migrate(ctx, 0))
	runSQL(t, path, `CREATE TABLE membership (x)`)
	err := s.Migrate(ctx, 2)
	if err == nil || !strings.Contains(err.Error(), "schema step 1") {
		t.Error(err)
	}
	if got := peek(t, path, `SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'`); !cmp.Equal(got, []string{"membership"}) {
		t.Error(got)
	}
	if got := peek(t, path, `PRAGMA user_version`); got[0] != "0" {
		t.Error(got)
	}
}

func TestCreatedFileIsPrivate(t *testing.T) {
	_, _, path := newStore(t)
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
}
