package gdpr_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// foreign gives a store an item of the subject and another program's tables beside it.
func foreign(t *testing.T, w *world, statements ...string) {
	t.Helper()
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	db, err := sql.Open("sqlite3", "file:"+w.path("db"))
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, db, statements...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// holds asks the store's database for one text each.
func holds(t *testing.T, w *world, want map[string]string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+w.path("db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range want {
		var got string
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", query, got, err, want)
		}
	}
}

// TestForeignTables erases a subject from other programs' tables beside the store's own, for any name
// of the key, any declared column type, and unique keys.
func TestForeignTables(t *testing.T) {
	w := newWorld(t)
	foreign(t, w,
		`CREATE TABLE notes(xid TEXT PRIMARY KEY, txt TEXT)`, `INSERT INTO notes VALUES('k1', 'ask `+name+`'), ('k2', 'ask `+other+`'), ('`+ana+`', 'x'), ('`+mail+`', 'y')`,
		`CREATE TABLE bare(id2 TEXT PRIMARY KEY, n INT, txt TEXT) WITHOUT ROWID`, `INSERT INTO bare VALUES('k1', 1, 'ask `+name+`'), ('k2', 2, 'ask `+other+`'), ('`+ana+`', 3, 'z'), ('`+mail+`', 4, 'zz')`,
		`CREATE TABLE shadow(rowid TEXT, oid TEXT, txt TEXT)`, `INSERT INTO shadow VALUES('a', 'b', 'ask `+name+`')`,
		`CREATE TABLE odd(n NUMERIC, i INT, d DATETIME, b BLOB)`, `INSERT INTO odd VALUES('`+ana+`', '`+mail+`', 'after `+name+`', x'00'), (1, 2, '2026-01-02 03:04:05', 'ask `+other+`')`,
	)
	w.open()
	r := w.file()
	w.complete(w.plan(r.ID))
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
	holds(t, w, map[string]string{
		`SELECT txt FROM notes WHERE xid = 'k2'`:                          "ask " + other,
		`SELECT txt FROM notes WHERE xid = 'k1'`:                          "ask [erased]",
		`SELECT group_concat(xid) FROM notes WHERE txt IN ('x', 'y')`:     "[erased],[erased]-3",
		`SELECT txt FROM bare WHERE id2 = 'k2' AND n = 2`:                 "ask " + other,
		`SELECT count(*) || '' FROM bare`:                                 "4",
		`SELECT rowid || oid || txt FROM shadow`:                          "abask [erased]",
		`SELECT +d || b FROM odd WHERE n = 1`:                             "2026-01-02 03:04:05ask " + other,
		`SELECT n || i || +d || hex(b) FROM odd WHERE typeof(n) = 'text'`: "[erased][erased]after [erased]00",
	})
}

// TestForeignNumbers erases a subject's number from number cells of another program's tables: as the column's
// rules allow, never a number that only contains it.
func TestForeignNumbers(t *testing.T) {
	w := newWorld(t)
	foreign(t, w,
		`CREATE TABLE chats(chat_id INTEGER, n INT)`, `INSERT INTO chats VALUES(123456789, 1), (1234567890, 2), (9123456789, 3), (12345, 4), (-1234567, 5), (1234567.5, 6)`,
		`CREATE TABLE loose(v, n INT NOT NULL)`, `INSERT INTO loose VALUES(123456789.0, 123456789), ('{"id": 123456789, "s": "a \" 123456789", "d": -123456789}', 4930555012340)`,
		`CREATE TABLE own(id INTEGER PRIMARY KEY, x)`, `INSERT INTO own VALUES(123456789, 'a'), (30555012345, 'b'), (0, 'c')`,
		`CREATE TABLE strict(id INTEGER NOT NULL UNIQUE, phone INTEGER) STRICT`, `INSERT INTO strict VALUES(123456789, 4930555012345), (0, 30555012345), (1, 5550123456789)`,
		`CREATE TABLE packed(j BLOB)`, `INSERT INTO packed VALUES(jsonb('{"id": 123456789, "n": 7}'))`,
	)
	w.open()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{"123456789", "+49 30 555 012345", "12345"}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	for _, table := range []string{"chats", "loose", "own", "strict", "packed"} {
		if !slices.ContainsFunc(p.Stores[0].Steps, func(st gdpr.Step) bool { return st.ID == "memory.sqlite:"+table }) {
			t.Errorf("the plan does not name %s", table)
		}
	}
	w.complete(p)
	holds(t, w, map[string]string{
		`SELECT group_concat(COALESCE(chat_id, 'NULL')) FROM chats`:             "NULL,1234567890,9123456789,12345,-1234567,1234567.5",
		`SELECT group_concat(COALESCE(v, 'NULL') || ' ' || n, '; ') FROM loose`: `NULL 0; {"id": null, "s": "a \" [erased]", "d": null} 4930555012340`,
		`SELECT group_concat(id || x) FROM own`:                                 "-2b,-1a,0c",
		`SELECT group_concat(id || ' ' || COALESCE(phone, 'NULL')) FROM strict`: "-1 NULL,0 NULL,1 5550123456789",
		`SELECT json(j) FROM packed`:                                            `{"id":null,"n":7}`,
	})
}

// TestHoldHidesNothing has an item on hold in a database where an unchangeable table also names the
// subject: that table is residue, even with few hits.
func TestHoldHidesNothing(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		w := newWorld(t)
		w.put("db", model.RetainRequest{Tier: "longterm", Key: "kept", Content: "the lawyer asked " + name + " for the contract"})
		w.put("db", model.RetainRequest{Tier: "longterm", Key: "n1", Content: "met " + name})
		if stuck {
			db, err := sql.Open("sqlite3", "file:"+w.path("db"))
			if err != nil {
				t.Fatal(err)
			}
			execAll(t, db, `CREATE TABLE stuck(rowid TEXT, oid TEXT, _rowid_ TEXT)`, `INSERT INTO stuck VALUES('a', 'b', 'we met `+name+` there')`)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			w.open()
		}
		r := w.file()
		p := w.plan(r.ID)
		for _, st := range p.Stores[0].Steps {
			if strings.HasSuffix(st.ID, "kept") {
				if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: st.ID, Ground: "a claim"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		out, err := w.erase(w.plan(r.ID))
		if err != nil {
			t.Fatal(err)
		}
		want := model.VerdictOutOfScope
		if stuck {
			want = model.VerdictResidue
		}
		told := false
		for _, l := range out.Layers {
			if l.Layer == "memory.sqlite" {
				told = true
				if l.Verdict != want {
					t.Errorf("stuck %v: %+v; want %s", stuck, l, want)
				}
			}
		}
		if !told || stuck == (out.Status == gdpr.StateInScope) {
			t.Errorf("stuck %v: %s, %+v", stuck, out.Status, out.Layers)
		}
	}
}

// TestAnExportGivesRowsBesideItems: rows of the person's items and of the person are given whole, and of others' rows the
// lines that name the person, also from a table of another program. A compressed cell is spoken of.
func TestAnExportGivesRowsBesideItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("of " + name)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	execFile(t, w.path("db"), `CREATE TABLE notes(xid TEXT PRIMARY KEY, txt TEXT)`, `INSERT INTO notes VALUES('k1', 'bob is other
ask `+name+` of c01'), ('k2', 'bob is other')`, `CREATE TABLE stuck(rowid TEXT, oid TEXT, _rowid_ TEXT)`, `INSERT INTO stuck VALUES('bob is other', 'c10 of `+name+`', '')`, `CREATE TABLE packs(b BLOB)`, fmt.Sprintf(`INSERT INTO packs VALUES (x'%x')`, packed.Bytes()))
	mem0 := liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT)`, `INSERT INTO vectors VALUES ('m1', x'00', '{"user_id":"`+ana+`","data":"likes rye"}'), ('b1', x'00', '{"user_id":"bob","data":"met `+name+`"}')`)
	execFile(t, filepath.Join(filepath.Dir(mem0), "past.db"), `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('m1', 'liked c02', 'ADD'), ('gone', 'c03 of
`+name+`', 'ADD'), ('b1', 'bob is other
met `+name+` c04', 'ADD'), ('b1', 'bob is other', 'ADD')`)
	liteStore(t, w, "mastra", `CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT, title TEXT, metadata TEXT, createdAt TEXT, updatedAt TEXT, note TEXT)`,
		`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT, createdAt TEXT, resourceId TEXT)`,
		`INSERT INTO mastra_threads VALUES ('t1', '`+ana+`', 'rye', NULL, '', '', 'c05'), ('t2', 'bob', 'rye', NULL, '', '', 'bob is other')`,
		`CREATE TABLE mastra_ai_spans (resourceId TEXT, input TEXT, took INTEGER)`, `INSERT INTO mastra_ai_spans VALUES ('`+ana+`', 'c06', 417), ('bob', 'bob is other', 1)`,
		`CREATE TABLE mastra_thread_state (threadId TEXT, type TEXT, value TEXT)`, `INSERT INTO mastra_thread_state VALUES ('t1', 'x', 'c07'), ('t2', 'x', 'bob is other')`)
	plant(t, w.dir, map[string]string{"claw/openclaw.json": "{}", "claw/workspace/memory/2026-01-01.md": "bob is other\n", "claw/agents/main/agent/openclaw-agent.sqlite": ""})
	execFile(t, filepath.Join(w.dir, "claw/agents/main/agent/openclaw-agent.sqlite"), `CREATE TABLE memory_index_chunks (id TEXT PRIMARY KEY, path TEXT, text TEXT)`, `CREATE TABLE transcript_events (event TEXT)`,
		`INSERT INTO memory_index_chunks VALUES ('1', 'memory/gone.md', 'c08 of `+name+`'), ('2', 'memory/2026-01-01.md', 'bob is other')`, `INSERT INTO transcript_events VALUES ('c09 of `+name+`'), ('bob is other')`)
	w.more = append(w.more, backends.StoreConfig{Name: "claw", Kind: "openclaw", Path: filepath.Join(w.dir, "claw")})
	w.open()
	e, ix, _ := export(t, w, w.file().ID)
	all := ""
	for _, it := range e.Items {
		if it.Layer != "item" {
			all += it.Body
		}
	}
	for _, canary := range []string{"c01", "c02", "c03", "c04", "c05", "c06", "took: 417", "c07", "c08", "c09", "c10"} {
		if !strings.Contains(all, canary) {
			t.Errorf("%s is not in the export", canary)
		}
	}
	if strings.Contains(all, "bob is other") {
		t.Errorf("the export holds what is another's: %s", all)
	}
	if !slices.ContainsFunc(ix.Found, func(f found) bool {
		return f.ID == "memory.sqlite:packs" && f.Document == "" && strings.Contains(f.Why, "no text")
	}) {
		t.Errorf("the compressed cell is not spoken of: %+v", ix.Found)
	}
}

// TestAnExportGivesRowsBesideItemsPostgres is TestAnExportGivesRowsBesideItems on a server.
func TestAnExportGivesRowsBesideItemsPostgres(t *testing.T) {
	dsn := testpg.DSN(t)
	w := newWorld(t)
	w.addPostgres(dsn)
	w.open()
	w.put("pg", model.RetainRequest{ID: "n1", Tier: "task", Content: "likes rye", DataSubjectID: ana})
	w.put("pg", model.RetainRequest{ID: "b1", Tier: "task", Content: "likes oats"})
	testpg.Exec(t, dsn, `ALTER TABLE memdesk.nodes ADD extra text; UPDATE memdesk.nodes SET extra = CASE id WHEN 'n1' THEN 'c01' ELSE 'bob is other' END;
		CREATE TABLE memdesk.notes (node_id text, words text, n integer, at date);
		INSERT INTO memdesk.notes VALUES ('n1', 'c02', 417, '2026-01-02'), ('b1', E'bob is other\nask `+name+` of c03', 418, '2026-01-03'), (NULL, 'bob is other', 419, '2026-01-04')`)
	e, _, _ := export(t, w, w.file().ID)
	all := ""
	for _, it := range e.Items {
		if it.Layer != "item" {
			all += it.ID + "\n" + it.Body
		}
	}
	if want := "nodes (rows)\nextra: c01\nnotes (rows)\nask " + name + " of c03\nnode_id: n1\nwords: c02\nn: 417\nat: 2026-01-02\n"; sortedLines(all) != sortedLines(want) {
		t.Errorf("the export holds\n%s\nwant\n%s", all, want)
	}
}

func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// TestWhatIsNotReachedIsNamed: plan and receipt speak of what a store's rules know and memdesk does not look at.
func TestWhatIsNotReachedIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT)`)
	liteStore(t, w, "mastra", `CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT, title TEXT, metadata TEXT, createdAt TEXT, updatedAt TEXT)`,
		`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT, createdAt TEXT, resourceId TEXT)`)
	plant(t, w.dir, map[string]string{"claw/AGENTS.md": "x", "claw/MEMORY.md": "of " + name + "\n", "projects/-a/memory/MEMORY.md": "- [a](a.md)\n", "projects/-a/memory/a.md": "of " + name + "\n", "home/projects/-b/memory/b.md": "of " + name + "\n"})
	want := map[string]string{"mem0": "embedding providers", "mastra": "tracing services", "claw": "index, conversations", "project": "transcripts", "home": "transcripts"}
	w.more = append(w.more, backends.StoreConfig{Name: "claw", Kind: "openclaw", Path: filepath.Join(w.dir, "claw")}, backends.StoreConfig{Name: "project", Kind: "claude", Path: filepath.Join(w.dir, "projects/-a/memory")},
		backends.StoreConfig{Name: "home", Kind: "claude", Path: filepath.Join(w.dir, "home")})
	w.open()
	p := w.plan(w.file().ID)
	out := w.complete(p)
	for store, words := range want {
		if !slices.ContainsFunc(p.Stores, func(sp gdpr.StorePlan) bool {
			return sp.Store == store && slices.ContainsFunc(sp.Steps, func(st gdpr.Step) bool { return strings.Contains(st.ID, words) && st.Action == gdpr.OutOfScope })
		}) || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
			return l.Store == store && strings.Contains(l.Layer, words) && l.Verdict == model.VerdictOutOfScope && l.Hits == 0
		}) {
			t.Errorf("%s is named neither in the plan nor in the receipt: %+v", store, out.Layers)
		}
	}
}

// TestForeignTextIndexes erases a subject from another program's full-text indexes that keep their texts themselves.
func TestForeignTextIndexes(t *testing.T) {
	w := newWorld(t)
	foreign(t, w,
		`CREATE VIRTUAL TABLE five USING fts5(txt)`, `INSERT INTO five VALUES('ask `+name+`'), ('ask `+other+`')`,
		`CREATE VIRTUAL TABLE grams USING fts5(txt, tokenize='trigram')`, `INSERT INTO grams VALUES('ask `+name+`')`,
		`CREATE TABLE texts(id INTEGER PRIMARY KEY, txt TEXT)`, `INSERT INTO texts VALUES(1, 'ask `+name+`'), (2, 'ask `+other+`')`,
		`CREATE VIRTUAL TABLE beside USING fts5(txt, content="texts", content_rowid=id)`, `INSERT INTO beside(beside) VALUES('rebuild')`,
		`CREATE VIRTUAL TABLE cased USING fts5(txt, content='Texts', content_rowid=id)`, `INSERT INTO cased(cased) VALUES('rebuild')`,
		`CREATE VIEW seen AS SELECT id, txt FROM texts`,
		`CREATE VIRTUAL TABLE viewed USING fts5(txt, tokenize = "unicode61 separators ',)'", content = seen /* a view */, content_rowid=id)`, `INSERT INTO viewed(viewed) VALUES('rebuild')`,
		`CREATE TABLE "my  ""old"" texts"(txt TEXT)`, `INSERT INTO "my  ""old"" texts" VALUES('ask `+name+`')`,
		`CREATE VIRTUAL TABLE spaced USING fts5(txt, content="my  ""old"" texts")`, `INSERT INTO spaced(spaced) VALUES('rebuild')`,
		`CREATE TABLE "a, b"(txt TEXT)`, `INSERT INTO "a, b" VALUES('ask `+name+`')`,
		`CREATE VIRTUAL TABLE bracketed USING fts5(txt, content=[a, b])`, `INSERT INTO bracketed(bracketed) VALUES('rebuild')`,
		"CREATE VIRTUAL TABLE ticked USING fts4(txt, content=`a, b`)", `INSERT INTO ticked(ticked) VALUES('rebuild')`,
		`CREATE TABLE parts(id INTEGER PRIMARY KEY, txt TEXT)`, `INSERT INTO parts VALUES(1, 'ask `+other+`'), (2, 'draft `+other+`')`,
		`CREATE VIRTUAL TABLE part USING fts5(txt, content=parts, content_rowid=id)`, `INSERT INTO part(rowid, txt) SELECT id, txt FROM parts WHERE id = 1`,
		`CREATE VIRTUAL TABLE secure USING fts5(txt, content='', contentless_delete=1)`, `INSERT INTO secure(secure, rank) VALUES('secure-delete', 1)`,
	)
	w.open()
	p := w.plan(w.file().ID)
	if _, err := w.desk.Attest(t.Context(), p.Request, w.fleet, gdpr.Looked{Store: "db", Layers: []string{"memory.sqlite:secure"}, Ground: "looked at"}); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
	holds(t, w, map[string]string{
		`SELECT count(*) || '' FROM beside('zxribeiro')`:                   "0",
		`SELECT count(*) || '' FROM cased('zxribeiro')`:                    "0",
		`SELECT count(*) || '' FROM viewed('zxribeiro')`:                   "0",
		`SELECT count(*) || '' FROM spaced('zxribeiro')`:                   "0",
		`SELECT count(*) || '' FROM bracketed('zxribeiro')`:                "0",
		`SELECT count(*) || '' FROM ticked WHERE ticked MATCH 'zxribeiro'`: "0",
		`SELECT txt FROM viewed('ask AND yw7k')`:                           "ask " + other,
		`SELECT group_concat(rowid) FROM part('yw7k')`:                     "1",
		`SELECT txt FROM beside('ask AND yw7k')`:                           "ask " + other,
		`SELECT group_concat(txt) FROM five`:                               "ask [erased],ask " + other,
		`SELECT txt FROM five('erased')`:                                   "ask [erased]",
		`SELECT txt FROM five('"` + other + `"')`:                          "ask " + other,
		`SELECT count(*) || '' FROM grams('"Zxribeiro"')`:                  "0",
		`PRAGMA integrity_check`:                                           "ok",
	})
}

// TestATextIndexWithoutTexts: nobody can tell whether an index without texts holds the words of a name together, so the
// erasure is not complete before somebody has looked.
func TestATextIndexWithoutTexts(t *testing.T) {
	w := newWorld(t)
	foreign(t, w, `CREATE VIRTUAL TABLE bare USING fts5(txt, content='')`, `INSERT INTO bare(rowid, txt) VALUES(1, 'ask `+name+`')`)
	w.open()
	p := w.plan(w.file().ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Verdict == model.VerdictUnaudited && strings.HasSuffix(l.Layer, ":bare")
	}) {
		t.Fatalf("%s, %v: %+v", out.Status, err, out.Layers)
	}
	if _, err := w.desk.Attest(t.Context(), p.Request, w.fleet, gdpr.Looked{Store: "db", Layers: []string{"memory.sqlite:bare"}, Ground: "looked at"}); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
}

// TestATextIndexWithoutItsTable: nobody can tell what an index holds whose texts are gone.
func TestATextIndexWithoutItsTable(t *testing.T) {
	w := newWorld(t)
	foreign(t, w,
		`CREATE TABLE texts(txt TEXT)`, `INSERT INTO texts VALUES('ask `+name+`')`,
		`CREATE VIRTUAL TABLE gone USING fts5(txt, content=texts)`, `INSERT INTO gone(gone, rank) VALUES('secure-delete', 1)`,
		`INSERT INTO gone(gone) VALUES('rebuild')`, `DROP TABLE texts`,
		`CREATE VIEW half AS SELECT 1 AS other`, `CREATE VIRTUAL TABLE torn USING fts5(txt, content=half)`,
		`INSERT INTO torn(rowid, txt) VALUES(1, 'ask `+name+`')`,
	)
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	for _, table := range []string{"gone", "torn"} {
		if err != nil || out.Status != gdpr.StatePartial || verdictOf(out.Layers, "memory.sqlite:"+table) != model.VerdictUnaudited {
			t.Errorf("%s: %s, %v: %+v", table, out.Status, err, out.Layers)
		}
	}
	if v := verdictOf(out.Layers, "memory.sqlite"); v != model.VerdictClean {
		t.Errorf("the file is %s", v)
	}
}

// TestATextIndexOverRowsThatGoWithOthers: a row that a foreign key removes is counted for no table.
func TestATextIndexOverRowsThatGoWithOthers(t *testing.T) {
	w := newWorld(t)
	foreign(t, w,
		`CREATE TABLE owners(user_id TEXT PRIMARY KEY)`, `INSERT INTO owners VALUES('`+ana+`')`,
		`CREATE TABLE z_notes(of TEXT REFERENCES owners ON UPDATE CASCADE ON DELETE CASCADE, txt TEXT)`,
		`INSERT INTO z_notes SELECT user_id, 'mauve' FROM owners`,
		`CREATE VIRTUAL TABLE noted USING fts5(of, txt, content=z_notes)`, `INSERT INTO noted(noted) VALUES('rebuild')`,
	)
	w.open()
	w.complete(w.plan(w.file().ID))
	holds(t, w, map[string]string{`SELECT count(*) || '' FROM noted('of:"` + ana + `"')`: "0"})
}

// TestADefinitionNamesThePerson: a definition that names the subject is nothing that memdesk changes, and the end of the run
// says so.
func TestADefinitionNamesThePerson(t *testing.T) {
	w := newWorld(t)
	foreign(t, w, `CREATE VIEW hers AS SELECT '`+name+`' AS who`)
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Verdict == model.VerdictResidue && strings.Contains(l.Reason, "the definition of the view names the person")
	}) {
		t.Errorf("%s, %v: %+v", out.Status, err, out.Layers)
	}
}

// TestATriggerForbidsTheScrub: the problem says what stands in the way, and what to do when it is gone.
func TestATriggerForbidsTheScrub(t *testing.T) {
	w := newWorld(t)
	foreign(t, w, `CREATE TABLE texts(txt TEXT)`, `INSERT INTO texts VALUES('ask `+name+`')`, `CREATE TRIGGER guard AFTER UPDATE ON texts BEGIN SELECT 1; END`)
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Problems, func(p gdpr.Problem) bool {
		return strings.Contains(p.What, "could not be scrubbed") && strings.Contains(p.What, `"guard"`) && strings.Contains(p.What, "remove the cause, then run the same command again")
	}) {
		t.Errorf("%s, %v: %+v", out.Status, err, out.Problems)
	}
}

// TestThePlanKnowsOfAnEndpoint: a call that deletes in another program's database is a step of the plan, and is made
// under no plan without that step.
func TestThePlanKnowsOfAnEndpoint(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{true, false} {
		w := newWorld(t)
		calls := 0
		srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			calls++
			rw.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(rw, `{"rows_deleted":2}`)
		}))
		t.Cleanup(srv.Close)
		token := filepath.Join(w.dir, "token")
		plant(t, w.dir, map[string]string{"token": "tok-2f8e1c55", "ship/output/crews/c1/shared/.memory/CREW.md": name + " asks\n", "ship/memory/ws_1/plan.md": "tea\n"})
		if err := os.Chmod(token, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite3", "file:"+filepath.Join(w.dir, "ship", "crewship.db"))
		if err != nil {
			t.Fatal(err)
		}
		execAll(t, db, `CREATE TABLE workspaces (id TEXT, name TEXT, slug TEXT)`, `INSERT INTO workspaces VALUES ('ws_1','One','one')`, `CREATE TABLE crews (id TEXT, workspace_id TEXT, name TEXT, slug TEXT)`, `INSERT INTO crews VALUES ('c1','ws_1','Red','red')`, `CREATE TABLE peer_cards (user_id TEXT)`, `INSERT INTO peer_cards VALUES ('`+ana+`')`)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		bare := backends.StoreConfig{Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "ship"), Workspace: "ws_1"}
		called := bare
		called.APIURL, called.APITokenFile = srv.URL, token
		w.more = []backends.StoreConfig{bare}
		if seen {
			w.more = []backends.StoreConfig{called}
		}
		w.open()
		p := w.plan(w.file().ID)
		if st := actions(p)["ship:crewship.db"]; (st.Action == gdpr.Scrub) != seen || strings.Contains(st.Reason, "ws_1") != seen {
			t.Errorf("planned %+v", st)
		}
		w.more = []backends.StoreConfig{called}
		w.open()
		out, err := w.erase(p)
		if err != nil || calls != map[bool]int{true: 1}[seen] || out.Status == gdpr.StateComplete {
			t.Errorf("seen %t: %d calls, %s, %v", seen, calls, out.Status, err)
		}
		if !seen && out.Status != gdpr.StatePartial {
			t.Errorf("%s under a plan that does not know of the endpoint", out.Status)
		}
	}
}

// TestARowOfAnotherExplainsALongerName: a row of Codex's database is no item, and a longer word in one that stays is not the
// person's name.
func TestARowOfAnotherExplainsALongerName(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"c/memories/raw_memories.md": "by " + name + "\n", "c/memories/memory_summary.md": "v1\nrye\n"})
	path := filepath.Join(w.dir, "c", "memories_1.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TABLE stage1_outputs(thread_id TEXT PRIMARY KEY, raw_memory TEXT NOT NULL);
		INSERT INTO stage1_outputs VALUES('t1', ?), ('t4', ?)`, name+" said", "met "+name+"y today")
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{{Name: "c", Kind: "claude", Path: filepath.Join(w.dir, "c")}}
	w.open()
	w.complete(w.plan(w.file().ID))
	if got := text(t, path); !strings.Contains(got, "met "+name+"y today") || strings.Contains(got, name+" said") {
		t.Error("another thread's row is gone, or the person's stays")
	}
}
