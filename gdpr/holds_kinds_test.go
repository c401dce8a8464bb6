package gdpr_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestAProposalOnHoldStays, through a vault over the home of the agent too, whose file curated shows by another name.
func TestAProposalOnHoldStays(t *testing.T) {
	for _, held := range []string{"pending/memory/0000000a.json", "pending/memory/0000000b.tmp.json"} {
		w := newWorld(t)
		proposal := `{"subsystem":"memory","action":"add","summary":"s","origin":"o","created_at":1700000000,"payload":{"action":"add","target":"memory","content":"` + name + ` likes tea"}}`
		plant(t, w.dir, map[string]string{"v/memories/MEMORY.md": "rye", "v/" + held: proposal})
		dir := filepath.Join(w.dir, "v")
		w.more = []backends.StoreConfig{{Name: "whole", Kind: "vault", Path: dir}, {Name: "parts", Kind: "curated", Path: dir}}
		w.open()
		r := w.file()
		w.hold(r.ID, "whole", held)
		if _, err := w.erase(w.plan(r.ID)); err != nil {
			t.Errorf("%s: %v", held, err)
		}
		if tree(t, dir)[held] != proposal {
			t.Errorf("%s changed", held)
		}
	}
}

// TestAnApprovalChangesNoFileOnHold: a proposal that adds writes the file as a new entry does.
func TestAnApprovalChangesNoFileOnHold(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/memories/MEMORY.md": "rye", "v/pending/memory/0000000a.json": `{"id":"0000000a","subsystem":"memory","action":"add","summary":"s","origin":"foreground","created_at":1780000000.25,"payload":{"action":"add","target":"memory","old_text":"","content":"likes oats"}}`})
	dir := filepath.Join(w.dir, "v")
	w.more = []backends.StoreConfig{{Name: "whole", Kind: "vault", Path: dir}, {Name: "parts", Kind: "curated", Path: dir}}
	w.open()
	r := w.file()
	w.hold(r.ID, "whole", "memories/MEMORY.md")
	s := w.store("parts")
	it, err := s.Browser.Read(t.Context(), "pending/0000000a")
	if err != nil {
		t.Fatal(err)
	}
	it.Meta[0].Value = "approved"
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: it.ID, Mode: model.Replace, Content: it.Body, Meta: it.Meta, IfMatch: it.Revision})
	if err == nil || tree(t, dir)["memories/MEMORY.md"] != "rye" {
		t.Errorf("%v; %q", err, tree(t, dir)["memories/MEMORY.md"])
	}
}

// TestASharedHistoryKeepsTheRowsOnHold of another store, and the request is not complete.
func TestASharedHistoryKeepsTheRowsOnHold(t *testing.T) {
	const vectors = `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT)`
	const past = `CREATE TABLE memory_history (id INTEGER PRIMARY KEY, memory_id TEXT, previous_value TEXT, new_value TEXT, action TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER)`
	w := newWorld(t)
	for p, st := range map[string][]string{
		"a/mem.db":  {vectors, `INSERT INTO vectors VALUES ('m1', x'00', '{"user_id":"bob","data":"likes rye"}')`},
		"b/mem.db":  {vectors, `INSERT INTO vectors VALUES ('k1', x'00', '{"user_id":"bob","data":"` + name + ` likes oats"}')`},
		"h/past.db": {past, `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('m1', '` + name + ` likes rye', 'ADD')`},
	} {
		plant(t, w.dir, map[string]string{filepath.Dir(p) + "/x.md": "x"})
		execFile(t, filepath.Join(w.dir, p), st...)
	}
	h := filepath.Join(w.dir, "h/past.db")
	w.more = []backends.StoreConfig{{Name: "a", Kind: "mem0", Path: filepath.Join(w.dir, "a"), History: h}, {Name: "b", Kind: "mem0", Path: filepath.Join(w.dir, "b"), History: h}}
	w.open()
	w.hold(w.fileFor(other).ID, "a", "m1")
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil || out.Status != gdpr.StateInScope {
		t.Errorf("%s, %v", out.Status, err)
	}
	db, err := sql.Open("sqlite3", h)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM memory_history WHERE new_value LIKE '%Zxribeiro%'`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows of the item on hold, %v", n, err)
	}
}

// TestAttributesOfEveryKind of file that a store opens name the person, and go.
func TestAttributesOfEveryKind(t *testing.T) {
	schema, err := os.ReadFile("../backends/demodata/schema/openclaw.sql")
	if err != nil {
		t.Fatal(err)
	}
	codex := []string{`CREATE TABLE stage1_outputs(thread_id TEXT PRIMARY KEY, raw_memory TEXT NOT NULL, rollout_summary TEXT NOT NULL)`, `INSERT INTO stage1_outputs VALUES('t1', 'oats', 'rye')`}
	for what, tt := range map[string]struct {
		files     map[string]string
		databases map[string][]string
		parts     backends.StoreConfig
		at        string
	}{
		"codex":    {files: map[string]string{"v/memories/MEMORY.md": "rye\n"}, databases: map[string][]string{"v/memories_1.sqlite": codex}, parts: backends.StoreConfig{Kind: "claude", Path: "v"}, at: "memories_1.sqlite"},
		"openclaw": {files: map[string]string{"v/workspace/MEMORY.md": "rye\n", "v/agents/main/agent/auth.json": "{}"}, databases: map[string][]string{"v/agents/main/agent/openclaw-agent.sqlite": {string(schema)}}, parts: backends.StoreConfig{Kind: "openclaw", Path: "v"}, at: "agents/main/agent/openclaw-agent.sqlite"},
		"crewship": {files: map[string]string{"v/AGENT.md": "rye\n"}, databases: map[string][]string{"v/index.sqlite": {`CREATE VIRTUAL TABLE memory_chunks USING fts5(file UNINDEXED, content, tokenize='unicode61')`}}, parts: backends.StoreConfig{Kind: "crewship", Path: "v"}, at: "index.sqlite"},
		"curated":  {files: map[string]string{"v/MEMORY.md": "rye", "v/MEMORY.md.bak.1": "oats"}, parts: backends.StoreConfig{Kind: "curated", Path: "v"}, at: "MEMORY.md"},
		"beads":    {files: map[string]string{"v/issues.jsonl": `{"id":"w-1","title":"ask","description":"tide","status":"open"}` + "\n"}, parts: backends.StoreConfig{Kind: "beads", Path: "v"}, at: "issues.jsonl"},
		"mcpgraph": {files: map[string]string{"v/memory.jsonl": `{"type":"entity","name":"tea","entityType":"drink","observations":["green"]}` + "\n"}, parts: backends.StoreConfig{Kind: "mcpgraph", Path: "v/memory.jsonl"}, at: "memory.jsonl"},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			plant(t, w.dir, tt.files)
			for path, statements := range tt.databases {
				execFile(t, filepath.Join(w.dir, path), statements...)
			}
			attribute(t, filepath.Join(w.dir, "v", tt.at), "user.author", "by "+name)
			tt.parts.Name, tt.parts.Path = "parts", filepath.Join(w.dir, tt.parts.Path)
			w.more = []backends.StoreConfig{tt.parts}
			w.open()
			out, err := w.erase(w.plan(w.file().ID))
			if left := attributes(t, filepath.Join(w.dir, "v", tt.at)); left != "" {
				t.Errorf("%s %v, left %q", out.Status, err, left)
			}
		})
	}
}
