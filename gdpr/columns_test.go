package gdpr_test

import (
	"database/sql"
	"fmt"
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

// liteStore adds a store over an SQLite file that the statements make, and returns the file.
func liteStore(t *testing.T, w *world, kind string, statements ...string) string {
	t.Helper()
	path := filepath.Join(w.dir, kind+".db")
	execFile(t, path, statements...)
	if kind == "mem0" { // without its history nobody knows what is left
		execFile(t, filepath.Join(w.dir, "past.db"), `CREATE TABLE memory_history (id INTEGER PRIMARY KEY, memory_id TEXT, previous_value TEXT, new_value TEXT, action TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER)`)
	}
	w.more = append(w.more, backends.StoreConfig{Name: kind, Kind: kind, Path: path})
	return path
}

func execFile(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, db, statements...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func recurseSchema(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join("..", "backends", "hypergraph", "sqlite", "testdata", "recurse.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(schema)
}

// cell reads one text of an SQLite file.
func cell(t *testing.T, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	if err := db.QueryRow(query).Scan(&got); err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	return got
}

// TestForeignColumns erases a subject from columns that somebody added to the tables of items, in rows of
// others: the items stay, and the plan names the table.
func TestForeignColumns(t *testing.T) {
	w := newWorld(t)
	foreign(t, w, `ALTER TABLE nodes ADD extra TEXT`, `ALTER TABLE nodes ADD phone INTEGER`, `ALTER TABLE membership ADD by TEXT`,
		`INSERT INTO nodes (id, type, created_at, updated_at, content, extra, phone) VALUES ('b1', 'fact', 1, 1, 'likes rye', 'heard from `+name+`', 123456789), ('b2', 'fact', 1, 1, 'likes oats', 'heard from `+other+`', 1234567890)`,
		`INSERT INTO hyperedges (id, type, created_at) VALUES ('e1', 'relation', 1)`,
		`INSERT INTO membership (hyperedge_id, node_id, role, by) VALUES ('e1', 'b1', 'subject', '`+mail+`'), ('e1', 'b2', 'object', '`+other+`')`)
	files := map[string]string{"db": w.path("db")}
	files["mem0"] = liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT, note TEXT)`,
		`INSERT INTO vectors VALUES ('m1', x'00000000', '{"user_id":"bob","data":"likes rye"}', 'heard from `+name+`')`)
	files["mastra"] = liteStore(t, w, "mastra", `CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT, title TEXT, metadata TEXT, createdAt TEXT, updatedAt TEXT, note TEXT)`,
		`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT, createdAt TEXT, resourceId TEXT)`,
		`INSERT INTO mastra_threads VALUES ('t1', 'bob', 'rye', NULL, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'heard from `+name+`')`)
	files["engram"] = liteStore(t, w, "engram", `CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT, directory TEXT, started_at TEXT, ended_at TEXT, summary TEXT)`,
		`CREATE TABLE observations (id INTEGER PRIMARY KEY, session_id TEXT, type TEXT, title TEXT, content TEXT, tool_name TEXT, project TEXT, scope TEXT, topic_key TEXT, normalized_hash TEXT, revision_count INT, created_at TEXT, updated_at TEXT, deleted_at TEXT, note TEXT)`,
		`CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, project TEXT, created_at TEXT)`,
		`INSERT INTO observations (id, session_id, type, title, content, revision_count, created_at, updated_at, note) VALUES (1, 's', 'note', 'rye', 'likes rye', 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00', 'heard from `+name+`')`,
		`INSERT INTO observations (id, session_id, type, title, content, project, revision_count, created_at, updated_at) VALUES (2, 's', 'note', '`+name+`', 'rye', 'p', 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00'), (3, 's', 'note', 'oats', 'none', '`+name+`', 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00')`)
	w.open()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, name, "123456789"}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
	for _, c := range []struct{ store, query, want string }{
		{"db", `SELECT group_concat(content || ': ' || extra || ' ' || COALESCE(phone, 'NULL'), '; ') FROM nodes ORDER BY id`, "likes rye: heard from [erased] NULL; likes oats: heard from " + other + " 1234567890"},
		{"db", `SELECT group_concat(node_id || by, ' ') FROM (SELECT * FROM membership ORDER BY node_id)`, "b1[erased] b2" + other},
		{"mem0", `SELECT payload || note FROM vectors`, `{"user_id":"bob","data":"likes rye"}heard from [erased]`},
		{"mastra", `SELECT title || ': ' || note FROM mastra_threads`, "rye: heard from [erased]"},
		{"engram", `SELECT content || ': ' || note FROM observations WHERE id = 1`, "likes rye: heard from [erased]"},
	} {
		if got := cell(t, files[c.store], c.query); got != c.want {
			t.Errorf("%s: %q, want %q", c.store, got, c.want)
		}
	}
}

// TestForeignColumnsPostgres is TestForeignColumns on a server.
func TestForeignColumnsPostgres(t *testing.T) {
	dsn := testpg.DSN(t)
	w := newWorld(t)
	w.addPostgres(dsn)
	w.open()
	w.put("pg", model.RetainRequest{ID: "b1", Tier: "task", Content: "likes rye"})
	w.put("pg", model.RetainRequest{ID: "b2", Tier: "task", Content: "likes oats"})
	testpg.Exec(t, dsn, `ALTER TABLE memdesk.nodes ADD extra text, ADD phone bigint; UPDATE memdesk.nodes SET extra = 'heard from `+name+`', phone = 617093421 WHERE id = 'b1'; UPDATE memdesk.nodes SET extra = 'heard from `+other+`', phone = 6170934215 WHERE id = 'b2'`)
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, name, "617093421"}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	if got, want := testpg.Value(t, dsn, `SELECT string_agg(concat_ws(' ', content, extra, coalesce(phone::text, 'NULL')), '; ' ORDER BY id) FROM memdesk.nodes`),
		"likes rye heard from [erased] NULL; likes oats heard from "+other+" 6170934215"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLooseDecisions erases a subject from rows of recurse's decisions that belong to no decision: of a node
// of another type, also where it is a parent, and of a node that is gone.
func TestLooseDecisions(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.dir, "rlm.db")
	execFile(t, path, recurseSchema(t),
		`INSERT INTO nodes (id, type, content) VALUES ('b1', 'fact', 'likes rye'), ('up', 'fact', '`+name+`'), ('down', 'fact', '`+mail+`'), ('`+ana+` plan', 'fact', 'the plan of the year

one line
two lines')`,
		`INSERT INTO decisions (node_id, decision_type, prompt, parent_id, status) VALUES ('b1', 'goal', 'asked by `+name+`', NULL, 'active'), ('up', 'goal', 'x', NULL, 'active'), ('down', 'action', 'y', 'up', 'active'), ('`+ana+` plan', 'goal', 'z', NULL, 'active')`,
		`PRAGMA foreign_keys = OFF`, `INSERT INTO decisions (node_id, decision_type, prompt) VALUES ('nowhere', 'goal', 'asked by `+name+`'), ('elsewhere', 'goal', 'asked by `+other+`')`)
	w.more = []backends.StoreConfig{{Name: "rlm", Kind: "sqlite", Path: path}}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	i := slices.IndexFunc(p.Stores, func(s gdpr.StorePlan) bool { return s.Store == "rlm" })
	for id, want := range map[string]gdpr.Action{"b1": gdpr.Redact, "up": gdpr.Forget, "down": gdpr.Forget, "rlm.db:decisions": gdpr.Scrub} {
		if !slices.ContainsFunc(p.Stores[i].Steps, func(st gdpr.Step) bool { return st.ID == id && st.Action == want }) {
			t.Errorf("no step %s %s in %+v", want, id, p.Stores[i].Steps)
		}
	}
	w.complete(p)
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
	if got, want := cell(t, path, `SELECT group_concat(node_id || ': ' || prompt, '; ') FROM (SELECT * FROM decisions ORDER BY node_id)`),
		"b1: asked by [erased]; elsewhere: asked by "+other+"; "; !strings.HasPrefix(got, want) {
		t.Errorf("decisions %q, want %q", got, want)
	}
}

// TestAPartThatNoScrubReaches: the plan promises no scrub of it, and the receipt still says that nobody looked.
func TestAPartThatNoScrubReaches(t *testing.T) {
	w := newWorld(t)
	path := liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT)`, `INSERT INTO vectors VALUES ('b1', x'00', '{"user_id":"bob","data":"likes rye"}')`)
	if err := os.Remove(filepath.Join(filepath.Dir(path), "past.db")); err != nil {
		t.Fatal(err)
	}
	w.open()
	p := w.plan(w.file().ID)
	for _, sp := range p.Stores {
		for _, st := range sp.Steps {
			if sp.Store == "mem0" && st.Layer != "external" && (st.ID != "history" || st.Action != gdpr.OutOfScope || !strings.Contains(st.Reason, "cannot be looked at")) {
				t.Errorf("%+v", st)
			}
		}
	}
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Store == "mem0" && l.Layer == "history" && l.Verdict == model.VerdictUnaudited
	}) {
		t.Errorf("%s, %v, %+v", out.Status, err, out.Layers)
	}
}

// TestRowsOfAHeldItem: what lies of an item on hold in another file, or beside its text in its own row, stays as it is,
// and the run ends all the same.
func TestRowsOfAHeldItem(t *testing.T) {
	w := newWorld(t)
	path := liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT NOT NULL)`,
		`ALTER TABLE vectors ADD note TEXT`,
		`INSERT INTO vectors VALUES ('t1', x'00', '{"data":"likes rye","user_id":"`+ana+`"}', 'said by `+name+`'), ('b1', x'00', '{"data":"met `+name+`","user_id":"`+other+`"}', 'said by `+name+`')`)
	past := filepath.Join(filepath.Dir(path), "past.db")
	execFile(t, past, `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('t1', 'called `+name+` once', 'ADD'), ('b1', 'met `+name+`', 'ADD')`)
	w.open()
	r := w.file()
	w.hold(r.ID, "mem0", "t1")
	w.inScope(w.plan(r.ID))
	if got, want := cell(t, past, `SELECT group_concat(new_value, '; ') FROM memory_history`), "called "+name+" once; met "+gdpr.Erased; got != want {
		t.Errorf("the history: %q; want %q", got, want)
	}
	if got, want := cell(t, path, `SELECT group_concat(note, '; ') FROM vectors`), "said by "+name+"; said by "+gdpr.Erased; got != want {
		t.Errorf("beside the text: %q; want %q", got, want)
	}
}

// TestRowsBesideWhatAnotherRequestHolds: an item on hold under another request does not name the person, and what lies of it
// in another file, or beside its text, does. It stays, and the run does not end complete.
func TestRowsBesideWhatAnotherRequestHolds(t *testing.T) {
	w := newWorld(t)
	path := liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT NOT NULL)`,
		`ALTER TABLE vectors ADD note TEXT`,
		`INSERT INTO vectors VALUES ('t1', x'00', '{"data":"likes rye","user_id":"`+other+`"}', 'said by `+name+`'), ('b1', x'00', '{"data":"likes tea","user_id":"`+other+`"}', 'said by `+name+`')`)
	past := filepath.Join(filepath.Dir(path), "past.db")
	execFile(t, past, `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('t1', 'called `+name+` once', 'ADD'), ('b1', 'met `+name+`', 'ADD')`)
	w.open()
	w.hold(w.fileFor(other).ID, "mem0", "t1")
	r := w.file()
	if out, err := w.erase(w.plan(r.ID)); err != nil || out.Status != gdpr.StateInScope {
		t.Errorf("%s, %q, %v; want complete in scope", out.Status, out.Problems, err)
	}
	if _, rec, _, err := w.desk.Receipt(r.ID); err != nil || len(rec.Open) == 0 || strings.Contains(fmt.Sprint(rec.Open), "unhold "+r.ID) {
		t.Errorf("what is left to do: %+v, %v; want another request's hold", rec.Open, err)
	}
	if got, want := cell(t, past, `SELECT group_concat(new_value, '; ') FROM memory_history`), "called "+name+" once; met "+gdpr.Erased; got != want {
		t.Errorf("the history: %q; want %q", got, want)
	}
	if got, want := cell(t, path, `SELECT group_concat(note, '; ') FROM vectors`), "said by "+name+"; said by "+gdpr.Erased; got != want {
		t.Errorf("beside the text: %q; want %q", got, want)
	}
}

// TestRowsOfAHeldItemPostgres is TestRowsOfAHeldItem and TestRowsBesideWhatAnotherRequestHolds on a server.
func TestRowsOfAHeldItemPostgres(t *testing.T) {
	for _, own := range []bool{true, false} {
		dsn := testpg.DSN(t)
		w := newWorld(t)
		w.addPostgres(dsn)
		w.open()
		for _, id := range []string{"t1", "b1", "b2"} {
			w.put("pg", model.RetainRequest{ID: id, Tier: "task", Content: "likes rye"})
		}
		testpg.Exec(t, dsn, `ALTER TABLE memdesk.nodes ADD extra text, ADD phone bigint; UPDATE memdesk.nodes SET extra = id || ' heard from `+name+`', phone = 617093421;
			CREATE TABLE memdesk.notes (node_id text, node_of text, words text);
			INSERT INTO memdesk.notes SELECT id, 'x', id || ' was said by `+name+`' FROM memdesk.nodes; INSERT INTO memdesk.notes VALUES (NULL, 't1', 'nobody''s, by `+name+`')`)
		r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, name, "617093421"}, Received: "2026-02-20", Ground: "a letter"})
		if err != nil {
			t.Fatal(err)
		}
		by := r
		if !own {
			by = w.fileFor(other)
		}
		w.hold(by.ID, "pg", "t1")
		p := w.plan(r.ID)
		if st := actions(p)["pg:t1"]; st.Action != gdpr.Held || !strings.Contains(st.Reason, "rows that its text does not show") {
			t.Errorf("own %v: the plan says %+v of what is held", own, st)
		}
		if out := w.inScope(p); out.Held != 1 {
			t.Errorf("own %v: %d are told as on hold", own, out.Held)
		}
		if got, want := testpg.Value(t, dsn, `SELECT string_agg(concat_ws(' ', content, extra, coalesce(phone::text, 'NULL')), '; ' ORDER BY id) FROM memdesk.nodes`),
			"likes rye b1 heard from [erased] NULL; likes rye b2 heard from [erased] NULL; likes rye t1 heard from "+name+" 617093421"; got != want {
			t.Errorf("own %v: %q, want %q", own, got, want)
		}
		if got, want := testpg.Value(t, dsn, `SELECT string_agg(words, '; ' ORDER BY words COLLATE "C") FROM memdesk.notes`),
			"b1 was said by [erased]; b2 was said by [erased]; nobody's, by [erased]; t1 was said by "+name; got != want {
			t.Errorf("own %v: %q, want %q", own, got, want)
		}
	}
}

// TestAHoldByItsHashKeepsTheRows: of a hold whose item names an erased person only the hash of the id is left.
func TestAHoldByItsHashKeepsTheRows(t *testing.T) {
	w := newWorld(t)
	const carla = "Carla Quastenflug"
	id := w.put("db", model.RetainRequest{Tier: "longterm", Key: "for-" + ana, Content: "likes rye"})
	foreign(t, w, `ALTER TABLE nodes ADD extra TEXT`, `UPDATE nodes SET extra = 'heard from `+carla+`' WHERE id = '`+id+`'`, `CREATE TABLE notes (node_id TEXT, words TEXT)`,
		`INSERT INTO notes VALUES ('`+id+`', 'said by `+carla+`'), ('n9', 'told by `+carla+`')`)
	bobs := w.fileFor(other)
	w.hold(bobs.ID, "db", id)
	w.plan(bobs.ID)
	w.inScope(w.plan(w.file().ID)) // the hold's id names her
	p := w.plan(w.fileFor(carla).ID)
	if st := actions(p)["db:"+id]; st.Action != gdpr.Held {
		t.Errorf("the plan says %+v of what is held", st)
	}
	w.inScope(p)
	holds(t, w, map[string]string{`SELECT group_concat(words, '; ') FROM notes`: "said by " + carla + "; told by " + gdpr.Erased,
		`SELECT group_concat(extra, '; ') FROM nodes`: "heard from " + carla})
}

// TestRowsThatCannotBeRead: nobody knows what a broken database beside the notes holds, so the plan says it and no run ends.
func TestRowsThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"codex/memories/MEMORY.md": "likes rye", "codex/memories_1.sqlite": strings.Repeat("no database. ", 400)})
	w.more = []backends.StoreConfig{{Name: "codex", Kind: "claude", Path: filepath.Join(w.dir, "codex")}}
	w.open()
	p, err := w.desk.MakePlan(t.Context(), w.file().ID, w.fleet, nil)
	if err != nil || !strings.Contains(fmt.Sprint(p.Stores), "the rows beneath its items cannot be read") {
		t.Errorf("the plan says nothing of the database: %v", err)
	}
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StatePartial || !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Store == "codex" && l.Layer == "items" && l.Verdict == model.VerdictUnaudited
	}) {
		t.Errorf("%s, %v, %+v", out.Status, err, out.Layers)
	}
}
