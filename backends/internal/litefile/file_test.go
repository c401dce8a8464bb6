package litefile

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"

	"memdesk/model"
)

// TestEscapedPath: a part of a path must never become an option of the connection.
func TestEscapedPath(t *testing.T) {
	if got := dsn(`/a b/c?mode=memory&x#y%41.db`, readOnlyFile); !strings.HasPrefix(got, `file:/a%20b/c%3Fmode=memory&x%23y%2541.db?`) {
		t.Error(got)
	}
}

// opened is a new database with a table, open for writing.
func opened(t *testing.T) (f *File, path string) {
	t.Helper()
	path = t.TempDir() + "/s.db"
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`CREATE TABLE t (a)`); err != nil {
		t.Fatal(err)
	}
	raw.Close()
	if f, err = Open(path, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, path
}

// TestConnectionsKeepTheirRules checks the settings of each pool.
func TestConnectionsKeepTheirRules(t *testing.T) {
	f, _ := opened(t)
	for name, c := range map[string]struct {
		db    *sql.DB
		query int
	}{"readers": {f.readers, 1}, "writer": {f.writer, 0}} {
		for pragma, want := range map[string]int{"foreign_keys": 1, "query_only": c.query, "synchronous": 2} {
			var got int
			if err := c.db.QueryRow(`PRAGMA ` + pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %s is %d, want %d (%v)", name, pragma, got, want, err)
			}
		}
	}
}

// TestAScanLetsGoOfTheJournal: a scan must keep no removed journal or log on the disk, and must not close the
// descriptor of the database, which would drop its locks.
func TestAScanLetsGoOfTheJournal(t *testing.T) {
	f, path := opened(t)
	for suffix, want := range map[string]int{"": 1, "-journal": 0, "-wal": 0} {
		if suffix != "" {
			if err := os.WriteFile(path+suffix, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := len(f.scans.files)
		r, err := Medium{File: f}.OpenLayer(t.Context(), "s.db"+suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if kept := len(f.scans.files) - before; kept != want {
			t.Errorf("s.db%s: %d descriptors stay open, want %d", suffix, kept, want)
		}
	}
}

// TestALockOutlivesTheDeadline: where a lock used up the time of a call, the error must name the lock.
func TestALockOutlivesTheDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := RetryBusy(ctx, func() error {
		if calls++; calls == 1 {
			return sqlite3.Error{Code: sqlite3.ErrBusy}
		}
		cancel()
		return ctx.Err()
	})
	if err = Worded("open", err); !errors.Is(err, model.Locked) || calls != 2 {
		t.Errorf("after %d calls: %v", calls, err)
	}
	if err := RetryBusy(ctx, func() error { return ctx.Err() }); errors.Is(Worded("open", err), model.Locked) {
		t.Errorf("without a lock: %v", err)
	}
}

// TestAScrubKeepsItsResults: when the definitions cannot be read after the rewrite, the results of the rows that are
// gone by then stay.
func TestAScrubKeepsItsResults(t *testing.T) {
	f, path := opened(t)
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(`INSERT INTO t VALUES ('the name')`); err != nil {
		t.Fatal(err)
	}
	res, err := Medium{File: f}.Scrub(t.Context(), model.ScrubRequest{
		Concerns: func(b []byte) bool { return strings.Contains(string(b), "name") },
		Redact:   func([]byte) []byte { return nil },
		Step: func(_, what string) {
			if strings.Contains(what, "checkpoint") {
				f.readers.Close()
			}
		},
	})
	if err != nil || len(res) != 2 || res[0].Rows != 1 || res[1].Verdict != model.VerdictFailed || res[1].Reason == "" {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestAnIndexOverTiedRows: the store removes rows tied to an item with the item, before the scrub counts any.
func TestAnIndexOverTiedRows(t *testing.T) {
	f, path := opened(t)
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(`CREATE TABLE history (memory_id, txt); INSERT INTO history VALUES ('m1', 'mauve');
		CREATE VIRTUAL TABLE words USING fts5(txt, content=history); INSERT INTO words (words) VALUES ('rebuild'); DELETE FROM history`); err != nil {
		t.Fatal(err)
	}
	if _, err := (Medium{File: f, Tied: []string{"memory_id"}}).Scrub(t.Context(), model.ScrubRequest{Removed: []string{"m1"}}); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := raw.QueryRow(`SELECT count(*) FROM words('mauve')`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows, %v", left, err)
	}
}

// TestReadingAnAttachedFileLeavesNothing: reading must leave no -wal and -shm beside a file that is attached either.
func TestReadingAnAttachedFileLeavesNothing(t *testing.T) {
	_, path := opened(t)
	other := path + ".other.db"
	db, err := sql.Open("sqlite3", other)
	if err == nil {
		_, err = db.Exec(`PRAGMA journal_mode = WAL; CREATE TABLE x (a); INSERT INTO x VALUES (1)`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, true, Attached{Name: "other", Path: other})
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	err = f.View(t.Context(), "read", func(q *Query) error { _, err := q.One(`SELECT a FROM other.x`, nil, &n); return err })
	if err := errors.Join(err, f.Close()); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if exists(other+"-wal") || exists(other+"-shm") {
		t.Error("its own files are left")
	}
}

// TestAFullDiskChangesNothing: the error must prove it, but for a commit to several files.
func TestAFullDiskChangesNothing(t *testing.T) {
	f, _ := opened(t)
	err := f.Change(t.Context(), "retain", func(q *Query) error {
		_, err := q.Exec(`PRAGMA max_page_count = 2`)
		if err == nil {
			_, err = q.Exec(`INSERT INTO t VALUES (zeroblob(100000))`)
		}
		return err
	})
	if !errors.Is(err, model.Unavailable) || !model.Unchanged(err) {
		t.Errorf("a full disk: %v", err)
	}
	if err := f.uncommitted("retain", err); !model.Unchanged(err) {
		t.Errorf("in the commit: %v", err)
	}
	f.attached = make([]identity, 1)
	if err := f.uncommitted("retain", err); err == nil || model.Unchanged(err) {
		t.Errorf("in the commit to two files: %v", err)
	}
}
