package gdpr_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
)

// Names of files in another charset are no UTF-8, for which JSON has no form: a plan with one must be the plan
// that was made, a hold on one must keep it, and two that differ in such a byte must stay two.
func TestNamesThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const held, gone, bystander = "idea/caf\xe8.md", "idea/caf\xe9.md", "idea/caf\xea.md"
	plant(t, w.dir, map[string]string{"s/" + held: "of " + name + "\n", "s/" + gone: "of " + name + "\n", "s/" + bystander: "rain\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "devicelocal", Path: filepath.Join(w.dir, "s")}}
	w.open()
	r := w.file()
	w.hold(r.ID, "notes", held)
	out, err := w.erase(w.plan(r.ID))
	if err != nil || out.Forgotten != 1 || out.Held != 1 || len(out.Problems) > 0 {
		t.Fatalf("forgotten %d, held %d, %q, %v", out.Forgotten, out.Held, out.Problems, err)
	}
	for file, want := range map[string]bool{held: true, gone: false, bystander: true} {
		if _, err := os.Lstat(filepath.Join(w.dir, "s", file)); (err == nil) != want {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// A text with bytes that are no UTF-8, of which another program's table may hold any: the store takes the redacted text as
// UTF-8, and a line that its store never edits goes as a whole.
func TestTextsThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	graph := filepath.Join(w.dir, "memory.jsonl")
	plant(t, w.dir, map[string]string{"memory.jsonl": `{"type":"entity","name":"tea","entityType":"t","observations":["hot"]}` + "\n" + "{\"type\":\"entity\",\"name\":\"\xff\",\"entityType\":\"t\",\"observations\":[\"\xff " + name + "\"]}\n"})
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "mcpgraph", Path: graph}}
	notes := liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT)`,
		`INSERT INTO vectors VALUES ('m1', x'', '{"user_id":"bob","data":"one`+"\xff"+`\ntwo\nthree\nof `+name+`"}')`)
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil || out.Forgotten != 1 || out.Redacted != 1 || len(out.Problems) > 0 {
		t.Fatalf("%s: forgotten %d, redacted %d, %q, %v", out.Status, out.Forgotten, out.Redacted, out.Problems, err)
	}
	if got := cell(t, notes, `SELECT json_extract(payload, '$.data') FROM vectors`); got != "oneÿ\ntwo\nthree\nof [erased]" {
		t.Errorf("%q", got)
	}
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("%q", left)
	}
}

// TestTheLogOfADatabase: a log among a store's files holds the newest rows of everybody in its database, so it must stay
// and be named.
func TestTheLogOfADatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := "\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00 a row of Brin, and one of " + name + "\x00\x01"
	plant(t, w.dir, map[string]string{"s/crm.db-wal": log, "s/crm.db": "SQLite format 3\x00\x10\x00\x02\x02", "s/a.md": "of " + name + "\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "devicelocal", Path: filepath.Join(w.dir, "s")}}
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil || out.Status != "complete_in_scope" || out.Forgotten != 1 {
		t.Errorf("%s: forgotten %d, %q, %v", out.Status, out.Forgotten, out.Problems, err)
	}
	if b, err := os.ReadFile(filepath.Join(w.dir, "s", "crm.db-wal")); err != nil || string(b) != log {
		t.Errorf("the log: %q, %v", b, err)
	}
}
