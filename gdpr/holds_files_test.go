package gdpr_test

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestAHoldOnAFurtherFile: a vault shows a file that another store changes together with an item of another file: by a write, or
// only by a scrub. On hold it stays byte for byte, and the request ends; an item on hold keeps the file that belongs to it.
func TestAHoldOnAFurtherFile(t *testing.T) {
	t.Parallel()
	const (
		issues  = `{"id":"w-1","title":"ask","description":"` + name + `","status":"open"}` + "\n" + `{"id":"w-2","title":"tide","status":"open"}` + "\n"
		vectors = `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT)`
		past    = `CREATE TABLE memory_history (id INTEGER PRIMARY KEY, memory_id TEXT, previous_value TEXT, new_value TEXT, action TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER)`
	)
	thread := []string{`CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT, title TEXT, metadata TEXT, createdAt TEXT, updatedAt TEXT, note TEXT)`,
		`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT, createdAt TEXT, resourceId TEXT)`,
		`INSERT INTO mastra_threads VALUES ('t1', 'bob', 'rye', NULL, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'heard from ` + name + `')`}
	codex := []string{`CREATE TABLE stage1_outputs(thread_id TEXT PRIMARY KEY, raw_memory TEXT NOT NULL, rollout_summary TEXT NOT NULL)`, `INSERT INTO stage1_outputs VALUES('t1', '` + name + ` likes rye', 'rye')`}
	schema, err := os.ReadFile("../backends/demodata/schema/openclaw.sql")
	if err != nil {
		t.Fatal(err)
	}
	openclaw := []string{string(schema)}
	for what, tt := range map[string]struct {
		files     map[string]string
		databases map[string][]string
		link      string // leads to the file
		parts     backends.StoreConfig
		held      string // the file
		item      string // goes with it; empty: only a scrub changes the file
	}{
		"pairs":     {files: map[string]string{"v/issues.jsonl": issues, "v/deps.jsonl": `{"blockerId":"w-2","blockedId":"w-1","by":"` + name + `"}` + "\n"}, parts: backends.StoreConfig{Kind: "beads", Path: "v"}, held: "deps.jsonl", item: "w-1"},
		"an export": {files: map[string]string{"v/issues.jsonl": issues, "v/old.jsonl": issues}, parts: backends.StoreConfig{Kind: "beads", Path: "v"}, held: "old.jsonl"},
		"history": {databases: map[string][]string{
			"m/mem.db":  {vectors, `INSERT INTO vectors VALUES ('m1', x'00', '{"user_id":"bob","data":"` + name + ` likes rye"}')`},
			"v/past.db": {past, `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('m1', '` + name + ` likes rye', 'ADD'), ('gone', '` + name + ` was here', 'ADD')`},
		}, parts: backends.StoreConfig{Kind: "mem0", Path: "m", History: "v/past.db"}, held: "past.db", item: "m1"},
		"entities": {databases: map[string][]string{
			"v/mem.db":          {vectors, `INSERT INTO vectors VALUES ('m1', x'00', '{"user_id":"bob","data":"likes rye"}')`},
			"v/mem_entities.db": {vectors, `INSERT INTO vectors VALUES ('e1', x'00', '{"data":"` + name + `","linkedMemoryIds":["m1"],"user_id":"bob"}')`},
			"v/past.db":         {past},
		}, parts: backends.StoreConfig{Kind: "mem0", Path: "v"}, held: "mem_entities.db", item: "m1"},
		"a table": {databases: map[string][]string{"v/notes.db": thread}, parts: backends.StoreConfig{Kind: "mastra", Path: "v/notes.db"}, held: "notes.db", item: "thread/t1"},
		"threads": {files: map[string]string{"v/memories/MEMORY.md": "rye\n"}, databases: map[string][]string{"v/memories_1.sqlite": codex}, parts: backends.StoreConfig{Kind: "claude", Path: "v"}, held: "memories_1.sqlite"},
		"an index": {files: map[string]string{"v/workspace/MEMORY.md": "rye\n", "v/agents/main/agent/auth.json": "{}"}, databases: map[string][]string{"v/agents/main/agent/openclaw-agent.sqlite": append(openclaw,
			`INSERT INTO memory_index_chunks VALUES ('c', 'memory/gone.md', 'memory', 1, 1, 'h', 'm', '`+name+` likes rye', x'00', 1)`)}, parts: backends.StoreConfig{Kind: "openclaw", Path: "v"}, held: "agents/main/agent/openclaw-agent.sqlite"},
		"a backup":       {files: map[string]string{"v/MEMORY.md": "rye", "v/MEMORY.md.bak.1": name + " likes rye"}, parts: backends.StoreConfig{Kind: "curated", Path: "v"}, held: "MEMORY.md.bak.1"},
		"a search index": {files: map[string]string{"v/AGENT.md": "rye\n"}, databases: map[string][]string{"v/index.sqlite": {`CREATE VIRTUAL TABLE memory_chunks USING fts5(file UNINDEXED, content, tokenize='unicode61')`, `INSERT INTO memory_chunks VALUES ('gone.md', '` + name + ` likes rye')`}}, parts: backends.StoreConfig{Kind: "crewship", Path: "v"}, held: "index.sqlite"},
		"a log":          {databases: map[string][]string{"v/notes.db": append([]string{`PRAGMA journal_mode = WAL`}, thread...)}, parts: backends.StoreConfig{Kind: "mastra", Path: "v/notes.db"}, held: "notes.db-wal", item: "thread/t1"},
		"a link":         {databases: map[string][]string{"v/notes.db": thread}, link: "notes.db", parts: backends.StoreConfig{Kind: "mastra", Path: "notes.db"}, held: "notes.db", item: "thread/t1"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			plant(t, w.dir, map[string]string{"v/rye.md": "high tide", "m/rye.md": "high tide"})
			plant(t, w.dir, tt.files)
			for path, statements := range tt.databases {
				execFile(t, filepath.Join(w.dir, path), statements...)
			}
			dir := filepath.Join(w.dir, "v")
			if base, ok := strings.CutSuffix(tt.held, "-wal"); ok { // it stands while a connection is open
				db, err := sql.Open("sqlite3", filepath.Join(dir, base))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				execAll(t, db, `CREATE TABLE tides (high TEXT)`)
			}
			if tt.link != "" {
				if err := os.Symlink(filepath.Join(dir, tt.held), filepath.Join(w.dir, tt.link)); err != nil {
					t.Fatal(err)
				}
			}
			tt.parts.Name, tt.parts.Path = "parts", filepath.Join(w.dir, tt.parts.Path)
			if tt.parts.History != "" {
				tt.parts.History = filepath.Join(w.dir, tt.parts.History)
			}
			w.more = []backends.StoreConfig{{Name: "whole", Kind: "vault", Path: dir}, tt.parts}
			w.open()
			tagged := unix.Setxattr(filepath.Join(dir, tt.held), "user.author", []byte("by "+name), 0) == nil // the file system may have none
			r := w.file()
			w.hold(r.ID, "whole", tt.held)
			before := tree(t, dir)[tt.held]
			for _, req := range []model.ForgetRequest{{ID: tt.item}, {DataSubjectID: ana}} {
				if tt.item == "" {
					break
				}
				if _, err := w.store("parts").Provider.Forget(t.Context(), req); !model.IsRefusal(err) {
					t.Errorf("%s on hold, forget %+v = %v; want it refused", tt.held, req, err)
				}
			}
			out, err := w.erase(w.plan(r.ID))
			if err != nil || out.Status != gdpr.StateInScope {
				t.Errorf("%s, %q, %v; want complete in scope", out.Status, out.Problems, err)
			}
			for _, l := range out.Layers {
				if l.Verdict == model.VerdictResidue || l.Verdict == model.VerdictUnaudited {
					t.Errorf("%+v", l)
				}
			}
			if tree(t, dir)[tt.held] != before {
				t.Errorf("%s, on hold, was changed", tt.held)
			}
			if n, _ := unix.Getxattr(filepath.Join(dir, tt.held), "user.author", nil); tagged && n <= 0 {
				t.Errorf("%s, on hold, lost its attribute", tt.held)
			}
			if tt.item == "" {
				return
			}
			if _, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: "whole", ID: tt.held}); err != nil {
				t.Fatal(err)
			}
			w.hold(w.fileFor(other).ID, "parts", tt.item)
			if _, err := w.store("whole").Provider.Forget(t.Context(), model.ForgetRequest{ID: tt.held}); !model.IsRefusal(err) {
				t.Errorf("%s on hold, forget %s = %v; want it refused", tt.item, tt.held, err)
			}
		})
	}
}

// TestAnItemOfAnotherStoreKeepsTheDatabase: two stores show one database, and another request holds an item of the one. The
// other does not know the item's rows, so it leaves the database to the one, which spares them. Where each holds an item, none
// cleans it: the person in it is there, and the request says so.
func TestAnItemOfAnotherStoreKeepsTheDatabase(t *testing.T) {
	for what, tt := range map[string]struct {
		says string // the item
		both bool
		want gdpr.State
	}{
		"one store holds":                       {want: gdpr.StateComplete},
		"both hold":                             {both: true, want: gdpr.StateInScope},
		"both hold, an item names the person":   {both: true, says: ", of " + name, want: gdpr.StateInScope},
		"one store holds, and names the person": {says: ", of " + name, want: gdpr.StateInScope},
	} {
		t.Run(what, func(t *testing.T) {
			says := tt.says
			w := newWorld(t)
			execFile(t, w.path("db"), `CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT, title TEXT, metadata TEXT, createdAt TEXT, updatedAt TEXT)`,
				`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT, createdAt TEXT, resourceId TEXT)`,
				`INSERT INTO mastra_threads VALUES ('t1', 'bob', 'rye', NULL, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
				`CREATE TABLE notes (xid TEXT PRIMARY KEY, txt TEXT)`, `INSERT INTO notes VALUES ('k1', 'ask `+name+`')`)
			w.more = []backends.StoreConfig{{Name: "talk", Kind: "mastra", Path: w.path("db")}}
			w.open()
			id := w.put("db", model.RetainRequest{Tier: "session", Key: "b1", Content: "bob is " + other + says, DataSubjectID: other})
			holder, holds := w.fileFor(other).ID, []gdpr.Hold{{Store: "db", ID: id}}
			if tt.both {
				holds = append(holds, gdpr.Hold{Store: "talk", ID: "thread/t1"})
			}
			for _, h := range holds {
				w.hold(holder, h.Store, h.ID)
			}
			r := w.file()
			out, err := w.erase(w.plan(r.ID))
			if err != nil || out.Status != tt.want {
				t.Errorf("%s, %v; want %s", out.Status, err, tt.want)
			}
			if got := cell(t, w.path("db"), `SELECT txt FROM notes`); strings.Contains(got, name) != tt.both {
				t.Errorf("the table of another program: %q", got)
			}
			if !strings.Contains(strings.Join(slices.Collect(maps.Values(w.contents())), "\n"), "bob is "+other+says) {
				t.Error("the item on hold was changed")
			}
			if tt.want == gdpr.StateComplete {
				return
			}
			if _, err := w.desk.Unhold(t.Context(), holder, holds...); err != nil {
				t.Fatal(err)
			}
			if out, err = w.erase(w.plan(r.ID)); err != nil || out.Status != gdpr.StateComplete {
				t.Errorf("after the hold: %s, %v; want complete", out.Status, err)
			}
		})
	}
}

// TestANewItemChangesNoFileOnHold: it would be one more line, or row, of the file.
func TestANewItemChangesNoFileOnHold(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/issues.jsonl": `{"id":"w-1","title":"ask","description":"tide","status":"open"}` + "\n"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n0", Content: "prefers tea"})
	w.more = []backends.StoreConfig{w.vault("v"), {Name: "parts", Kind: "beads", Path: filepath.Join(w.dir, "v")}, {Name: "top", Kind: "vault", Path: filepath.Dir(w.path("db"))}}
	w.open()
	r := w.file()
	for _, tt := range []struct {
		whole, file, store string
		item               model.RetainRequest
	}{
		{"v", "issues.jsonl", "parts", model.RetainRequest{Mode: model.Replace, IfMatch: model.Absent, Tier: "open", Content: "# oats\n\nrye"}},
		{"top", filepath.Base(w.path("db")), "db", model.RetainRequest{Mode: model.Replace, IfMatch: model.Absent, Tier: "session", Content: "rye"}},
	} {
		w.hold(r.ID, tt.whole, tt.file)
		if res, err := w.store(tt.store).Provider.Retain(t.Context(), tt.item); !model.IsRefusal(err) {
			t.Errorf("%s on hold, a new item of %s: %q, %v; want it refused", tt.file, tt.store, res.ID, err)
		}
		if _, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: tt.whole, ID: tt.file}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store(tt.store).Provider.Retain(t.Context(), tt.item); err != nil {
			t.Errorf("after the hold: %v", err)
		}
	}
}
