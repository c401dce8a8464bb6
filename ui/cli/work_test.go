package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWork reads the stores that keep work items; other stores are an error only when they are named.
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
	if r := work("ready"); r.code != 0 || len(r.rows) != 2 || r.rows[0]["id"] != "a" || r.rows[1]["type"] != "result" || r.rows[1]["ok"] != true {
		t.Errorf("ready: %d %v %s", r.code, r.rows, r.err)
	}
	if r := work("query", "type:bug"); r.code != 0 || !strings.Contains(r.out, `"id":"b"`) || strings.Contains(r.out, `"id":"a"`) {
		t.Errorf("query: %d %s %s", r.code, r.out, r.err)
	}
	if r := work("query", "nonsense"); !strings.Contains(r.err, "matches everything") {
		t.Errorf("a term without meaning: %s", r.err)
	}
	if r := d.run("--open", "beads="+repo, "work", "ready", "--assignee", "nobody"); r.code != 0 || !strings.Contains(r.err, "beads: found no work items") {
		t.Errorf("nothing is ready: %d %q", r.code, r.err)
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

// TestWorkIsChanged covers an item's life: every change must be recorded, undoable, and end with the
// published envelope.
func TestWorkIsChanged(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "repo", ".beads")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "issues.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"a","title":"first","status":"open","labels":["wf:state:ready_for_planning"]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) result {
		return d.run(append([]string{"--open", "beads=" + dir, "--json", "work"}, args...)...)
	}
	last := func(r result) map[string]any {
		t.Helper()
		if len(r.rows) == 0 || r.rows[len(r.rows)-1]["type"] != "result" {
			t.Fatalf("no result: %s %s", r.out, r.err)
		}
		return r.rows[len(r.rows)-1]
	}
	for _, args := range [][]string{{"get", "nope"}, {"close", "no-store:x", "--yes"}, {"dep", "add", "nope", "beads:a", "--yes"}, {"list", "--limit", "-1"}, {"delete", "beads:a"},
		{"create"}, {"close", "beads:a", "beads:b"}, {"list", "--nosuch"}, {"ready", "--limit", "x"}, {"nosuch"}, {"ready", "--timeout", "-1s"}} {
		if r := run(args...); r.code != 2 || last(r)["ok"] != false || last(r)["error"].(map[string]any)["code"] != "INVALID_INPUT" {
			t.Errorf("%q: %d %s %s", args, r.code, r.out, r.err)
		}
	}
	if r := d.run("--open", "beads="+dir, "work", "create", "-o", "json"); !strings.Contains(r.out, `"ok":false`) {
		t.Errorf("without a title: %s", r.out)
	}
	if r := d.run("--open", "beads="+filepath.Join(d.dir, "none"), "work", "list", "--json"); last(r)["store"] != "beads" || last(r)["error"] == nil || len(r.rows) != 1 {
		t.Errorf("a store that does not open: %s", r.out)
	}
	made := last(run("create", "Tar the keel", "--id", "b", "--label", "dock", "--priority", "1", "--description", "with tar", "--yes"))
	if made["ok"] != true || made["id"] != "b" {
		t.Fatalf("created %v", made)
	}
	for _, args := range [][]string{
		{"update", "beads:b", "--title", "Tar it", "--assignee", "ada", "--label", "wet", "--remove-label", "dock", "--yes"},
		{"dep", "add", "beads:a", "beads:b", "--yes"}, {"close", "beads:a", "--reason", "done", "--yes"}, {"dep", "remove", "beads:a", "beads:b", "--yes"},
	} {
		if r := run(args...); r.code != 0 || last(r)["ok"] != true || last(r)["undo"] == nil {
			t.Fatalf("%q: %d %s %s", args, r.code, r.out, r.err)
		}
	}
	got := run("get", "beads:b").rows[0]
	if got["title"] != "Tar it" || got["assignee"] != "ada" || got["priority"] != 1.0 || got["description"] != "with tar" || len(got["labels"].([]any)) != 1 {
		t.Errorf("the item: %v", got)
	}
	if r := run("list", "--status", "shipped"); len(r.rows) != 2 || r.rows[0]["id"] != "a" || r.rows[0]["status"] != "closed" {
		t.Errorf("closed items: %s", r.out)
	}
	if r := run("ready", "--assignee", "ada"); len(r.rows) != 2 || r.rows[0]["id"] != "b" {
		t.Errorf("ready of ada: %s", r.out)
	}
	for _, tt := range []struct {
		code string
		exit int
		args []string
	}{
		{"NOT_FOUND", 4, []string{"close", "beads:none", "--yes"}}, {"ALREADY_EXISTS", 1, []string{"create", "again", "--id", "b", "--yes"}},
		{"INVALID_INPUT", 2, []string{"dep", "add", "beads:b", "beads:b", "--yes"}}, {"NOT_FOUND", 4, []string{"dep", "remove", "beads:a", "beads:b", "--yes"}},
		{"INVALID_INPUT", 2, []string{"update", "beads:b", "--priority", "9", "--yes"}},
	} {
		r := run(tt.args...)
		out := last(r)
		fault, _ := out["error"].(map[string]any)
		if out["ok"] != false || fault["code"] != tt.code || fault["message"] == "" || fault["retryable"] != false || r.code == 0 {
			t.Errorf("%q: %d %s", tt.args, r.code, r.out)
		}
	}
	if r := run("delete", "beads:b"); r.code == 0 {
		t.Error("nobody was asked")
	}
	gone := last(run("delete", "beads:b", "--yes"))
	if r := run("get", "beads:b"); r.code != 4 || last(r)["error"].(map[string]any)["code"] != "NOT_FOUND" {
		t.Errorf("after the deletion: %d %s", r.code, r.out)
	}
	if r := d.run("--open", "beads="+dir, "undo", "restore", gone["undo"].(string), "--yes"); r.code != 0 {
		t.Errorf("undo: %s", r.err)
	}
	if r := run("get", "beads:b"); r.code != 0 || r.rows[0]["title"] != "Tar it" {
		t.Errorf("after undo: %s", r.out)
	}
	if r := d.run("--open", "beads="+dir, "--read-only", "--json", "work", "close", "beads:b", "--yes"); r.code != 6 {
		t.Errorf("read-only: %d %s", r.code, r.err)
	}
	if r := d.run("--open", "beads="+dir, "audit", "list", "--json"); strings.Count(r.out, `"action":"retain"`) < 8 {
		t.Errorf("the log: %s", r.out)
	}
}

// TestADeletionSaysWhoStillNamesTheItem: another item's own line keeps its pair.
func TestADeletionSaysWhoStillNamesTheItem(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "repo", ".beads")
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(`{"id":"a","title":"first"}`+"\n"+`{"id":"b","title":"second","dependencies":[{"issue_id":"b","depends_on_id":"a","type":"blocks"}]}`+"\n"), 0o644))
	if r := d.run("--open", "beads="+dir, "work", "delete", "beads:a", "--yes"); r.code != 0 || !strings.Contains(r.err, "warning: these items still name it in their own dependencies: b") {
		t.Errorf("%d %s", r.code, r.err)
	}
}

// TestUndoOfARepair: the lines must come back in their places, and the entry must name the act.
func TestUndoOfARepair(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.dir, "memory.jsonl")
	entity := func(name string) string {
		return `{"type":"entity","name":"` + name + `","entityType":"p","observations":["x"]}` + "\n"
	}
	before := "first\n" + entity("a") + "broken\n" + entity("b") + "broken\nbroken two\n" + entity("c")
	must(t, os.WriteFile(file, []byte(before), 0o600))
	run := func(args ...string) result { return d.bare(append([]string{"--open", "mcpgraph=" + file}, args...)...) }
	id, _ := run("repair", "mcpgraph", "--yes", "--json").want(t, 0, `"lines":4`).row(t, "repair")["undo"].(string)
	run("undo", "list").want(t, 0, id+"  ", "  repair  ")
	run("undo", "restore", id, "--yes").want(t, 0)
	if after, err := os.ReadFile(file); err != nil || string(after) != before {
		t.Errorf("%v\n%s\nwas\n%s", err, after, before)
	}
}

// TestWorkSaysWhyThereIsNone: the store that did not open may be the one that keeps work items.
func TestWorkSaysWhyThereIsNone(t *testing.T) {
	d := newDesk(t)
	gone := filepath.Join(d.dir, "gone")
	if r := d.bare("--open", "beads="+gone, "work", "create", "tea", "--yes", "--json").want(t, 4); !strings.Contains(r.out, `"code":"NOT_FOUND"`) || !strings.Contains(r.out, "beads is not open") {
		t.Errorf("%s", r.out)
	}
	d.bare("--open", "vault="+d.mem, "work", "list").want(t, 1, "no open store keeps work items")
}
