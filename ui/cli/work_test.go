package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWork asks the stores that keep work items; others are no failure unless they
// are named.
func TestWork(t *testing.T) {
	d := newDesk(t)
	repo := filepath.Join(d.dir, "repo")
	if err := os.MkdirAll(filepath.Join(repo, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(repo, ".beads", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("issues.jsonl", `{"id":"a","title":"first","status":"open","issue_type":"task","priority":1}`+"\n"+`{"id":"b","title":"second","status":"open","issue_type":"bug","priority":2}`+"\n")
	put("deps.jsonl", `{"blockerId":"a","blockedId":"b"}`+"\n")
	work := func(args ...string) result {
		return d.run(append([]string{"--open", "beads=" + repo, "--json", "work"}, args...)...)
	}
	if r := work("ready"); r.code != 0 || len(r.rows) != 2 || r.rows[0]["id"] != "a" || r.rows[1]["type"] != "page" {
		t.Errorf("ready: %d %v %s", r.code, r.rows, r.err)
	}
	if r := work("query", "type:bug"); r.code != 0 || !strings.Contains(r.out, `"id":"b"`) || strings.Contains(r.out, `"id":"a"`) {
		t.Errorf("query: %d %s %s", r.code, r.out, r.err)
	}
	if r := work("query", "nonsense"); !strings.Contains(r.err, "matches everything") {
		t.Errorf("a term without meaning: %s", r.err)
	}
	if r := work("deps", "beads:b"); r.code != 0 || !strings.Contains(r.out, `"blocker":"a"`) {
		t.Errorf("deps: %d %s %s", r.code, r.out, r.err)
	}
	if r := d.run("--open", "beads="+repo, "--store", "crewship", "work", "ready"); r.code == 0 {
		t.Error("a store without work items was named, and nothing was said")
	}
	if r := d.run("work", "ready"); r.code == 0 || !strings.Contains(r.err, "no open store") {
		t.Errorf("no such store: %d %s", r.code, r.err)
	}
}
