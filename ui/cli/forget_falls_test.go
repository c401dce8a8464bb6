package cli_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForgetNamesWhatFalls: the edges that go with a node must be named before, counted in the result
// and restored by an undo; an edge that stays without the node must be named too.
func TestForgetNamesWhatFalls(t *testing.T) {
	d := newDesk(t)
	schema, err := os.ReadFile(filepath.Join("..", "..", "backends", "hypergraph", "sqlite", "testdata", "recurse.sql"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.dir, "rlm.db")
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(schema), `
INSERT INTO nodes (id, type, content) VALUES ('a', 'fact', 'tea'), ('b', 'fact', 'rain'), ('c', 'fact', 'boats');
INSERT INTO hyperedges (id, type, label) VALUES ('one', 'relation', 'ab'), ('two', 'relation', 'ac'), ('three', 'relation', 'abc'), ('other', 'relation', 'bc');
INSERT INTO membership (hyperedge_id, node_id, role) VALUES ('one','a','subject'), ('one','b','object'), ('two','a','subject'), ('two','c','object'),
 ('three','a','subject'), ('three','b','object'), ('three','c','object'), ('other','b','subject'), ('other','c','object')`} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	on := func(args ...string) result { return d.bare(append([]string{"--open", "sqlite=" + path}, args...)...) }

	d.in, d.tty = "n\n", true
	asked := on("forget", "sqlite:a")
	for _, want := range []string{"2 relations go with it, left with fewer than two members: edge/", "forget sqlite:a and 2 relations with it?", "1 relation loses it as a member and stays; undo adds it again", "undo puts them back"} {
		if !strings.Contains(asked.out+asked.err, want) {
			t.Errorf("before the act nobody says %q:\n%s%s", want, asked.out, asked.err)
		}
	}
	if n := strings.Count(asked.out+asked.err, "2 relations go with it"); n != 1 {
		t.Errorf("what falls is said %d times:\n%s%s", n, asked.out, asked.err)
	}
	d.tty = false
	r := on("forget", "sqlite:a", "--yes", "--json").want(t, 0, "2 relations go with it")
	row := r.row(t, "forgotten")
	if row["relations"] != 2.0 || row["removed"] != 1.0 {
		t.Errorf("result: %v", row)
	}
	if !strings.Contains(fmt.Sprint(row["warnings"]), "2 relations go with it") {
		t.Errorf("a script is told %v", row)
	}
	on("show", "sqlite:edge/one").want(t, 4)
	undo, _ := row["undo"].(string)
	back := on("undo", "restore", undo, "--yes", "--json").want(t, 0)
	if back.row(t, "restored")["relations"] != 2.0 {
		t.Errorf("restored: %v", back.rows)
	}
	on("show", "sqlite:edge/one").want(t, 0, "ab")
	on("show", "sqlite:edge/three").want(t, 0, `{"node":"a","role":"subject","position":0}`)

	// Two together remove a relation that neither removes alone.
	on("forget", "sqlite:b", "sqlite:c", "--yes").want(t, 0, "4 relations go with it", "b  removed 1, and 2 relations with it", "c  removed 1, and 2 relations with it")
}

// TestForgetNamesWhatUndoDoesNotPutBack: the fields that a store makes anew must be named before the
// act and before the undo, and only those may differ afterwards.
func TestForgetNamesWhatUndoDoesNotPutBack(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, ".beads")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	line := `{"id":"b-1","title":"tea","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}`
	if err := os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	on := func(args ...string) result {
		return d.bare(append([]string{"--open", "beads=" + d.dir}, args...)...)
	}
	d.in, d.tty = "n\n", true
	if asked := on("forget", "beads:b-1"); !strings.Contains(asked.out+asked.err, "undo puts it back without its updated_at") {
		t.Errorf("before the act nobody says it:\n%s%s", asked.out, asked.err)
	}
	d.tty = false
	const told = "undo puts it back without its updated_at"
	if refused := on("forget", "beads:b-1", "--yes", "--if-match", "another"); refused.code == 0 || !strings.Contains(refused.err, told) {
		t.Errorf("with --yes nobody says it before the act: %d\n%s", refused.code, refused.err)
	}
	forgotten := on("forget", "beads:b-1", "--yes", "--json").want(t, 0)
	if n := strings.Count(forgotten.err, told); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, forgotten.err)
	}
	undo, _ := forgotten.row(t, "forgotten")["undo"].(string)
	restored := on("undo", "restore", undo, "--yes", "--json").want(t, 0, "it comes back without its updated_at")
	notes, _ := restored.row(t, "restored")["notes"].([]any)
	if len(notes) != 1 || !strings.HasPrefix(notes[0].(string), "updated_at was ") {
		t.Errorf("%v", restored.rows)
	}
}

// TestARefusedForgetSaysOnlyThat: what undo would not put back belongs to an act that is done.
func TestARefusedForgetSaysOnlyThat(t *testing.T) {
	d := newDesk(t)
	home := filepath.Join(d.dir, "claude")
	for name, text := range map[string]string{"CLAUDE.md": "be brief\n", "projects/-mill/memory/MEMORY.md": "# Mill\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := d.bare("--open", "claude="+home, "forget", "claude:CLAUDE.md", "--yes").want(t, 1, "instructions that people write"); strings.Contains(r.err, "undo") {
		t.Errorf("a refusal speaks of undo: %s", r.err)
	}
}

// TestForgetOfDuplicates: a work item's duplicates are numbered, so the lines that go must be those that were named.
func TestForgetOfDuplicates(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.dir, ".beads", "issues.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, title := range []string{"first", "second", "third"} {
		lines = append(lines, `{"id":"x","title":"`+title+`","status":"open","priority":2,"issue_type":"task"}`+"\n")
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	d.bare("--open", "beads="+d.dir, "forget", "beads:x", "beads:x#2", "--yes").want(t, 0)
	if got, err := os.ReadFile(file); err != nil || string(got) != lines[2] {
		t.Errorf("%v; what stands:\n%s", err, got)
	}
}

// TestAChangeWithAWrongConfiguration: each change must say where the configuration is wrong, also with --yes.
func TestAChangeWithAWrongConfiguration(t *testing.T) {
	d := newDesk(t)
	config := filepath.Join(d.dir, "wrong.toml")
	if err := os.WriteFile(config, []byte("nonsense = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"forget", "a:b"}, {"forget", "a:b", "a:c"}, {"retain", "a:b", "--mode", "replace", "-"}, {"copy", "--from", "a", "--to", "b"}, {"quarantine", "release", "a:b", "--reason", "r"}, {"undo", "restore", "u"},
		{"reindex"}, {"state", "migrate"}, {"work", "close", "a:b"}, {"audit", "retire", "--before", "2020-01-01"}, {"conflicts", "resolve", "a:b", "--take", "base"},
	} {
		r := d.bare(append([]string{"--config", config, "--yes", "--json"}, args...)...)
		if r.code != 2 || !strings.Contains(r.out+r.err, "unknown key nonsense") || !strings.Contains(r.out+r.err, `"type":"error"`) {
			t.Errorf("%q: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
}

// TestForgetSaysWhatStays: a script is told, too, that the earlier texts of a memory stay readable (M04).
func TestForgetSaysWhatStays(t *testing.T) {
	d := newDesk(t)
	for file, text := range map[string]string{
		"v.db": `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB NOT NULL, payload TEXT NOT NULL);
INSERT INTO vectors VALUES ('x', x'00000000', '{"data":"tea","user_id":"bo"}')`,
		"h.db": `CREATE TABLE memory_history (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL, previous_value TEXT, new_value TEXT,
 action TEXT NOT NULL, created_at TEXT, updated_at TEXT, is_deleted INTEGER DEFAULT 0);
INSERT INTO memory_history (memory_id, new_value, action) VALUES ('x', 'first', 'ADD')`,
	} {
		db, err := sql.Open("sqlite3", "file:"+filepath.Join(d.dir, file))
		if err == nil {
			_, err = db.Exec(text)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	r := d.bare("--open", "mem0="+filepath.Join(d.dir, "v.db"), "forget", "mem0:x", "--keep-history", "--yes", "--json").want(t, 0)
	if got := fmt.Sprint(r.row(t, "forgotten")["warnings"]); !strings.Contains(got, "its earlier texts stay in the store's history") {
		t.Errorf("%s\n%s", got, r.err)
	}
}
