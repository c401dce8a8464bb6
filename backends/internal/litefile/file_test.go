package litefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"memdesk/internal/testcpu"
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

// TestTablesOfAnotherProgram: each of many tables is opened by a scan, which must not look at all others again.
func TestTablesOfAnotherProgram(t *testing.T) {
	f, path := opened(t)
	raw, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	const tables = 600
	var ddl strings.Builder
	for i := range tables {
		fmt.Fprintf(&ddl, "CREATE TABLE other_%d (a, b); ", i)
	}
	if _, err := raw.Exec("BEGIN; " + ddl.String() + "COMMIT"); err != nil {
		t.Fatal(err)
	}
	took := testcpu.Spent(func() {
		for i := range tables {
			r, err := Medium{File: f}.OpenLayer(t.Context(), fmt.Sprintf("s.db:other_%d", i))
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
		}
	})
	if took > 15*time.Second {
		t.Errorf("%d tables are opened in %v", tables, took)
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
		before := descriptors(t, path+suffix)
		r, err := Medium{File: f}.OpenLayer(t.Context(), "s.db"+suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if kept := descriptors(t, path+suffix) - before; kept != want {
			t.Errorf("s.db%s: %d descriptors stay open, want %d", suffix, kept, want)
		}
	}
}

// descriptors counts those of this process on a file.
func descriptors(t *testing.T, path string) (n int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no list of descriptors here")
	}
	for _, fd := range open {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && to == path {
			n++
		}
	}
	return n
}

// TestAScanKeepsTheLocks: another program must still see that this process uses the database after a scan of its bytes by
// another File of the same path has ended.
func TestAScanKeepsTheLocks(t *testing.T) {
	f, path := opened(t)
	if err := f.Direct(t.Context(), "test", `PRAGMA journal_mode = WAL`, `CREATE TABLE held (a)`); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-shm"} {
		other, err := Open(path, true)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Medium{File: other}.OpenLayer(t.Context(), "s.db"+suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Close(), other.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if n := descriptors(t, path); n < 2 { // SQLite's and the scan's
		t.Errorf("%d descriptors of the database are open", n)
	}
	if n := descriptors(t, path+"-shm"); n < 2 {
		t.Errorf("%d descriptors of the -shm are open", n)
	}
}

// TestATriggerThatComesLater is met by the next change, in the file or in one that is attached.
func TestATriggerThatComesLater(t *testing.T) {
	for _, attached := range []bool{false, true} {
		_, path := opened(t)
		_, other := opened(t)
		f, err := Open(path, false, Attached{Name: "other", Path: other})
		if err != nil {
			t.Fatal(err)
		}
		change := func() error {
			return f.Change(t.Context(), "test", func(q *Query) error {
				_, err := q.Exec(`INSERT INTO other.t VALUES (1)`)
				return err
			})
		}
		if err := errors.Join(f.GuardTriggers(t.Context(), nil), change()); err != nil {
			t.Fatal(err)
		}
		where := path
		if attached {
			where = other
		}
		raw, err := sql.Open("sqlite3", where)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.Exec(`CREATE TRIGGER late AFTER INSERT ON t BEGIN DELETE FROM t; END`); err != nil {
			t.Fatal(err)
		}
		raw.Close()
		if err := change(); !errors.Is(err, model.PermissionDenied) {
			t.Errorf("attached %v: %v", attached, err)
		}
		f.Close()
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

// mauve is the word that the tests take out of a database.
var mauve = model.ScrubRequest{
	Concerns: func(b []byte) bool { return strings.Contains(string(b), "mauve") },
	Redact:   func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "mauve", "gone")) },
}

// TestARowChangedInPartIsChanged: the result must count it once, and an index over its table must forget the words. A
// key changes last, because it addresses the row, and all of it.
func TestARowChangedInPartIsChanged(t *testing.T) {
	for range 20 { // cells have no order
		f, path := opened(t)
		exec1(t, path, `CREATE TABLE kept (a, b, c, fixed CHECK (fixed = 'mauve'), d, e, PRIMARY KEY (a, d)) WITHOUT ROWID`,
			`INSERT INTO kept VALUES ('mauve a', 'mauve b', 'mauve c', 'mauve', 'mauve d', 'mauve e')`,
			`CREATE TABLE noted (fixed CHECK (fixed = 'mauve'), txt)`, `INSERT INTO noted VALUES ('mauve', 'said mauve')`,
			`CREATE VIRTUAL TABLE words USING fts5(txt, content=noted)`, `INSERT INTO words (words) VALUES ('rebuild')`,
			`CREATE TABLE named (name PRIMARY KEY)`, `INSERT INTO named VALUES ('mauve')`,
			`CREATE TABLE tied (name REFERENCES named, txt)`, `INSERT INTO tied VALUES ('mauve', 'said mauve')`)
		res, err := Medium{File: f}.Scrub(t.Context(), mauve)
		must(t, err)
		got := ""
		for _, r := range res {
			got += fmt.Sprintf("%s %d %s\n", strings.TrimPrefix(r.Layer, f.Name), r.Rows, r.Verdict)
		}
		if want := ":kept 1 failed\n:named 1 clean\n:noted 1 failed\n:t 0 clean\n:tied 1 clean\n 0 residue\n"; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		raw, err := sql.Open("sqlite3", path)
		must(t, err)
		var row string
		var left int
		must(t, raw.QueryRow(`SELECT concat_ws(',', a, b, c, fixed, d, e), (SELECT count(*) FROM words('mauve')) FROM kept`).Scan(&row, &left))
		must(t, raw.Close())
		if row != "gone a,gone b,gone c,mauve,gone d,gone e" || left != 0 {
			t.Fatalf("%s, and %d rows in the index", row, left)
		}
	}
}

// TestTiedRowsLeaveTheLaterOnesTheirRules: a row that its keys keep is told, and undoes nothing of the others.
func TestTiedRowsLeaveTheLaterOnesTheirRules(t *testing.T) {
	f, path := opened(t)
	exec1(t, path, `CREATE TABLE named (name PRIMARY KEY)`, `INSERT INTO named VALUES ('mauve')`,
		`CREATE TABLE tied (name REFERENCES named)`, `INSERT INTO tied VALUES ('mauve')`,
		`CREATE TABLE kinds (kind PRIMARY KEY)`, `INSERT INTO kinds VALUES ('mauve')`,
		`CREATE TABLE items (id, kind REFERENCES kinds)`, `INSERT INTO items VALUES ('i', 'mauve')`)
	req := mauve
	req.Edited = []string{"i"}
	req.May = func(layer string, _ []byte) bool { return !strings.HasSuffix(layer, ":kinds") }
	m := Medium{File: f, Items: map[string][]string{"items": nil}, Edited: true, Own: func(id string) (string, string, string) { return "items", "id", id }}
	res, err := m.Scrub(t.Context(), req)
	must(t, err)
	for _, r := range res {
		if r.Layer == m.tableLayer("tied") && r.Rows != 1 || r.Layer == m.tableLayer("items") && (r.Rows != 0 || r.Verdict != model.VerdictFailed) {
			t.Errorf("%+v", r)
		}
	}
}

// TestManyHeldItems: SQLite takes no condition of more than 1,000 parts.
func TestManyHeldItems(t *testing.T) {
	f, path := opened(t)
	exec1(t, path, `CREATE TABLE items (id, note)`, `INSERT INTO items VALUES ('h1500', 'of mauve'), ('i', 'by mauve')`)
	m := Medium{File: f, Items: map[string][]string{"items": {"id"}}, Edited: true, Own: func(id string) (string, string, string) { return "items", "id", id }}
	req := mauve
	for i := range 2000 {
		req.Held = append(req.Held, fmt.Sprintf("h%d", i))
	}
	_, err := m.Scrub(t.Context(), req)
	must(t, err)
	var got string
	must(t, f.View(t.Context(), "read", func(q *Query) error {
		_, err := q.One(`SELECT group_concat(note, '; ') FROM items`, nil, &got)
		return err
	}))
	if want := "of mauve; by gone"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// TestARowOfAHeldAndARemovedItemGoes: it is of what is erased, such as its vector.
func TestARowOfAHeldAndARemovedItemGoes(t *testing.T) {
	f, path := opened(t)
	exec1(t, path, `CREATE TABLE vectors (message, thread)`, `INSERT INTO vectors VALUES ('m1', 't1'), ('m2', 't1'), ('m1', NULL), (NULL, 't1')`)
	m := Medium{File: f, Tied: []string{"message", "thread"}}
	res, err := m.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"m1"}, Held: []string{"t1"}})
	must(t, err)
	var left string
	must(t, f.View(t.Context(), "read", func(q *Query) error {
		_, err := q.One(`SELECT group_concat(concat_ws(' of ', message, thread), '; ') FROM vectors`, nil, &left)
		return err
	}))
	if want := "m2 of t1; t1"; left != want || !slices.ContainsFunc(res, func(r model.LayerResult) bool { return r.Layer == m.tableLayer("vectors") && r.Rows == 2 }) {
		t.Errorf("%q are left, want %q; %+v", left, want, res)
	}
}

// TestANumberIsFoundAsItIsNamed: a column of numbers keeps no zeros before the person's number, and who is told of the
// cell must see the number that names the person.
func TestANumberIsFoundAsItIsNamed(t *testing.T) {
	f, path := opened(t)
	exec1(t, path, `CREATE TABLE calls (n INTEGER)`, `INSERT INTO calls VALUES (30555012345), (30555099999)`)
	req := model.ScrubRequest{Dry: true, Concerns: func(b []byte) bool { return strings.Contains(string(b), "030555012345") }}
	var told []string
	req.SideRows = func(row model.SideRow) {
		if c := row.Cells[0]; req.Concerns([]byte(c.Words)) {
			told = append(told, c.Text)
		}
	}
	_, err := Medium{File: f}.Scrub(t.Context(), req)
	must(t, err)
	if !slices.Equal(told, []string{"30555012345"}) {
		t.Errorf("told of %q", told)
	}
}

// TestAPlanStopsAtTheFirstRowThatNames: the other rows of a table change nothing in the plan.
func TestAPlanStopsAtTheFirstRowThatNames(t *testing.T) {
	f, path := opened(t)
	exec1(t, path, `INSERT INTO t VALUES ('mauve'), ('mauve'), ('rose'), ('mauve')`)
	req, asked := mauve, 0
	req.Dry, req.Concerns = true, func(b []byte) bool { asked++; return mauve.Concerns(b) }
	_, err := Medium{File: f}.Scrub(t.Context(), req)
	must(t, err)
	if asked > 2 { // once for the row, and once for what its redaction leaves
		t.Errorf("asked %d times", asked)
	}
}

// TestAValueThatLeadsToAnItem: the row would be the item's no more without it, so neither plan nor scrub takes it for one to be
// redacted, and the scrub says what is left.
func TestAValueThatLeadsToAnItem(t *testing.T) {
	f, path := opened(t)
	exec1(t, path, `CREATE TABLE items (id)`, `INSERT INTO items VALUES ('mauve 1')`, `CREATE TABLE spans (item, n)`, `INSERT INTO spans VALUES ('mauve 1', 1)`, `CREATE TABLE gone (item, n)`, `INSERT INTO gone VALUES ('mauve 2', 2), ('mauve 1', 3)`)
	m := Medium{File: f, Items: map[string][]string{"items": nil, "t": nil}, Leads: map[string]string{"item": `item IN (SELECT id FROM items)`}}
	req := mauve
	var asked []string
	req.Dry, req.May = true, func(layer string, _ []byte) bool { asked = append(asked, layer); return true }
	_, err := m.Scrub(t.Context(), req)
	must(t, err)
	if want := []string{m.tableLayer("gone")}; !slices.Equal(asked, want) {
		t.Errorf("the plan asks about %q; want %q", asked, want)
	}
	req.Dry = false
	res, err := m.Scrub(t.Context(), req)
	must(t, err)
	for _, r := range res {
		if of := r.Layer != f.Name; of != strings.Contains(r.Reason, "ids of items that stay") {
			t.Errorf("%+v", r)
		}
	}
	var left string
	must(t, f.View(t.Context(), "read", func(q *Query) error {
		_, err := q.One(`SELECT (SELECT item FROM spans) || ' ' || group_concat(item, '; ') FROM gone`, nil, &left)
		return err
	}))
	if want := "mauve 1 gone 2; mauve 1"; left != want {
		t.Errorf("%q; want %q", left, want)
	}
}

// TestEditedJSONCellIsPlannedValueByValue: Retain changes one value of a row's JSON text between the plan and the scrub;
// the other values must go as planned, and what the plan did not list must stay.
func TestEditedJSONCellIsPlannedValueByValue(t *testing.T) {
	f, path := opened(t)
	exec1(t, path, `CREATE TABLE items (id, doc)`, `INSERT INTO items VALUES ('i', '{"text":"met mauve","n":1.50,"by":["mauve",{"mauve":"x"}]}')`)
	m := Medium{File: f, Edited: true, Own: func(id string) (string, string, string) { return "items", "id", id }}
	req := mauve
	req.Edited = []string{"i"}
	planned := map[[2]string]bool{}
	dry := req
	dry.Dry, dry.MayEdit = true, func(e model.RecordEdit) bool {
		planned[[2]string{e.Before, e.After}] = true
		return true
	}
	_, err := m.Scrub(t.Context(), dry)
	must(t, err)
	req.MayEdit = func(e model.RecordEdit) bool { return planned[[2]string{e.Before, e.After}] }
	for _, tt := range []struct{ found, left string }{
		{`{"text":"met gone","n":1.50,"by":["mauve",{"mauve":"x"}]}`, `{"text":"met gone","n":1.50,"by":["gone",{"gone":"x"}]}`},
		{`{"text":"met gone","new":"mauve again","by":["mauve"]}`, `{"text":"met gone","new":"mauve again","by":["gone"]}`},
	} {
		exec1(t, path, `UPDATE items SET doc = '`+tt.found+`'`)
		res, err := m.cleaned(t, req)
		must(t, err)
		var got string
		must(t, f.View(t.Context(), "read", func(q *Query) error { _, err := q.One(`SELECT doc FROM items`, nil, &got); return err }))
		if got != tt.left || (res.Verdict == model.VerdictClean) != !strings.Contains(got, "mauve") {
			t.Errorf("%s\n%+v", got, res)
		}
	}
}

// cleaned runs the part of the scrub for edited items.
func (m Medium) cleaned(t *testing.T, req model.ScrubRequest) (res model.LayerResult, err error) {
	t.Helper()
	err = m.File.Change(t.Context(), "scrub", func(q *Query) error {
		list, err := m.cleanEdited(q, req)
		if len(list) > 0 {
			res = list[0]
		}
		return err
	})
	return res, err
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

// TestFullDiskIsNamed: SQLite's I/O error says what to do where it comes from a full disk.
func TestFullDiskIsNamed(t *testing.T) {
	err := Worded("open", sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.ENOSPC})
	err = (&File{Name: "x.db", readOnly: "opened for reading only"}).Explain(err)
	if !errors.Is(err, model.Unavailable) || !strings.Contains(err.Error(), "free space") {
		t.Error(err)
	}
}
