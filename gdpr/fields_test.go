package gdpr_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestFieldsThatTakeNoMark: a number in a field, and an item that is only its fields, must not stop an erasure: the
// store takes no mark there.
func TestFieldsThatTakeNoMark(t *testing.T) {
	w := newWorld(t)
	w.open()
	w.put("db", model.RetainRequest{ID: "n1", Tier: "task", Content: "likes rye", Meta: []model.Field{{Name: "metadata", Value: `{"call": 4930555012345, "n": 1.50}`}}})
	plant(t, w.dir, map[string]string{
		"w/.beads/issues.jsonl": `{"id":"x-1","title":"tea","estimated_minutes":4930555012345,"status":"open","issue_type":"task","priority":2,"created_at":"2026-01-01T10:00:00Z"}` + "\n",
		"g/memory.jsonl":        `{"type":"entity","name":"boat","entityType":"of ` + name + `","observations":[]}`,
	})
	w.more = []backends.StoreConfig{{Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "w")}, {Name: "graph", Kind: "mcpgraph", Path: filepath.Join(w.dir, "g", "memory.jsonl")}}
	w.open()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{name, "+49 30 555012345"}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	it, err := w.store("db").Browser.Read(t.Context(), "n1")
	if err != nil || it.Body != "likes rye" || !slices.ContainsFunc(it.Meta, func(f model.Field) bool { return f.Value == `{"call": null, "n": 1.50}` }) {
		t.Errorf("%q %+v, %v", it.Body, it.Meta, err)
	}
	if got := read(t, filepath.Join(w.dir, "w/.beads/issues.jsonl")); strings.Contains(got, "estimated_minutes") || !strings.Contains(got, `"title":"tea"`) {
		t.Error(got)
	}
	if got := read(t, filepath.Join(w.dir, "g/memory.jsonl")); got != `{"type":"entity","name":"boat","entityType":"of [erased]","observations":[]}` {
		t.Error(got)
	}
}

// TestAnIDThatOnlyItsProgramGives: no other id can be given to such an item. The plan says so, the run says what to
// do, and does nothing else with a stranger's item; once it is chosen to go, the request ends.
func TestAnIDThatOnlyItsProgramGives(t *testing.T) {
	w := newWorld(t)
	liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT)`,
		`INSERT INTO vectors VALUES ('id-`+ana+`', x'00000000', '{"user_id":"bob","data":"likes rye"}'), ('m2', x'00000000', '{"user_id":"bob","data":"likes oats"}')`)
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || len(out.Problems) != 1 || !strings.Contains(out.Problems[0].What, "--action forget") {
		t.Fatalf("%s, %q, %v", out.Status, out.Problems, err)
	}
	if it, err := w.store("mem0").Browser.Read(t.Context(), "id-"+ana); err != nil || it.Body != "likes rye" {
		t.Fatal(it.Body, err)
	}
	if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "mem0", ID: "id-" + ana, Action: gdpr.Forget}); err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
