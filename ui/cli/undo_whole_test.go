package cli_test

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUndoKnowsItsStoreByWhatItIs: a link that now leads to another store must count as another store.
func TestUndoKnowsItsStoreByWhatItIs(t *testing.T) {
	d := newDesk(t)
	other, link := filepath.Join(d.dir, "brin", ".memory"), filepath.Join(d.dir, "cur")
	must(t, os.MkdirAll(other, 0o755))
	must(t, os.WriteFile(filepath.Join(other, "CREW.md"), []byte("# brin\n"), 0o600))
	must(t, os.Symlink(d.mem, link))
	on := func(args ...string) result { return d.bare(append([]string{"--open", "crewship=" + link}, args...)...) }
	id, _ := on("forget", "crewship:AGENT.md", "--yes", "--json").want(t, 0).row(t, "forgotten")["undo"].(string)
	must(t, os.Remove(link))
	must(t, os.Symlink(other, link))
	on("undo", "restore", id, "--yes").want(t, 5, "another store")
	if _, err := os.Stat(filepath.Join(other, "AGENT.md")); err == nil {
		t.Error("one store's text stands in another")
	}
	must(t, os.Remove(link))
	must(t, os.Symlink(d.mem, link))
	on("undo", "restore", id, "--yes").want(t, 0)
	if !strings.Contains(d.read("AGENT.md"), "harbour lights") {
		t.Error("the text is not back")
	}
}

// TestUndoOfAnItemWithoutABody, by every act that replaces or removes it.
func TestUndoOfAnItemWithoutABody(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, ".beads")
	must(t, os.MkdirAll(dir, 0o755))
	file := filepath.Join(dir, "issues.jsonl")
	line := `{"id":"b-1","title":"Tar the keel","status":"open","priority":2,"issue_type":"task","created_at":"2026-05-01T08:00:00Z","updated_at":"2026-05-01T08:00:00Z"}` + "\n"
	on := func(args ...string) result { return d.bare(append([]string{"--open", "beads=" + d.dir}, args...)...) }
	for _, args := range [][]string{{"forget", "beads:b-1"}, {"retain", "beads:b-1", "--mode", "replace", "-"}} {
		must(t, os.WriteFile(file, []byte(line), 0o600))
		d.in = "---\ntitle: Scrape the keel\nstatus: open\npriority: \"2\"\ntype: task\n---\nfirst\n"
		r := on(append(args, "--yes", "--json")...).want(t, 0)
		id, _ := r.rows[len(r.rows)-1]["undo"].(string)
		on("undo", "restore", id, "--yes").want(t, 0)
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), `"title":"Tar the keel"`) || strings.Contains(string(b), "first") {
			t.Errorf("after %v and undo: %s %v", args, b, err)
		}
	}
}

// TestUndoOfAnItemWithAnOddStatus: nobody can file a new item under a status that is no word, but an edit of
// one that stands there can be undone.
func TestUndoOfAnItemWithAnOddStatus(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.dir, ".beads", "issues.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(`{"id":"b-1","title":"Tar the keel","description":"old words","status":"OPEN"}`+"\n"), 0o600))
	on := func(args ...string) result { return d.bare(append([]string{"--open", "beads=" + d.dir}, args...)...) }
	d.in = "new words"
	id, _ := on("retain", "beads:b-1", "--mode", "replace", "-", "--yes", "--json").want(t, 0).row(t, "retained")["undo"].(string)
	on("undo", "restore", id, "--yes").want(t, 0)
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), `"description":"old words"`) {
		t.Errorf("after the undo: %s %v", b, err)
	}
}

// TestUndoOfANodeWithOddMetadata: an empty text and metadata that is no object were stored, and must be
// restored.
func TestUndoOfANodeWithOddMetadata(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(d.dir, "g.db")
	d.bare("create", "sqlite="+path, "--yes").want(t, 0)
	on := func(args ...string) result { return d.bare(append([]string{"--open", "sqlite=" + path}, args...)...) }
	d.in = "a node\n"
	on("retain", "sqlite:n-1", "--mode", "replace", "--yes", "-").want(t, 0)
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	for _, q := range []string{`INSERT INTO nodes_fts (nodes_fts, rowid, content, metadata) SELECT 'delete', seq, content, metadata FROM nodes`,
		`UPDATE nodes SET content = '', metadata = '[1, "two"]'`, `INSERT INTO nodes_fts (rowid, content, metadata) SELECT seq, content, metadata FROM nodes`,
		`UPDATE counters SET bytes = 0`} {
		_, err := db.Exec(q)
		must(t, err)
	}
	id, _ := on("forget", "sqlite:n-1", "--yes", "--json").want(t, 0).row(t, "forgotten")["undo"].(string)
	on("undo", "restore", id, "--yes").want(t, 0)
	var content, metadata string
	must(t, db.QueryRow(`SELECT content, metadata FROM nodes WHERE id = 'n-1'`).Scan(&content, &metadata))
	if content != "" || metadata != `[1, "two"]` {
		t.Errorf("put back as %q with %q", content, metadata)
	}
}

// TestUndoOpensAStoreWithoutItsSign: a change may remove the file that identifies the store. The undo must open the
// store all the same, and a directory without an undo entry must stay refused.
func TestUndoOpensAStoreWithoutItsSign(t *testing.T) {
	index := "- [Weir](weir.md)\n"
	for name, c := range map[string]struct {
		kind  string
		act   []string
		files map[string]string
	}{
		"openclaw":             {"openclaw", []string{"forget", "openclaw:MEMORY.md"}, map[string]string{"MEMORY.md": "facts\n", "AGENTS.md": "be kind\n"}},
		"openclaw daily":       {"openclaw", []string{"forget", "openclaw:memory/2026-05-01.md"}, map[string]string{"memory/2026-05-01.md": "rope\n", "SOUL.md": "calm\n"}},
		"claude index":         {"claude", []string{"retain", "claude:MEMORY.md", "--mode", "replace", "-"}, map[string]string{"MEMORY.md": index, "weir.md": "dusk\n"}},
		"claude last link":     {"claude", []string{"forget", "claude:weir.md"}, map[string]string{"MEMORY.md": "Words.\n" + index, "weir.md": "dusk\n"}},
		"claude last sub link": {"claude", []string{"forget", "claude:sub/weir.md"}, map[string]string{"MEMORY.md": "Words.\n- [Weir](sub/weir.md)\n", "sub/weir.md": "dusk\n"}},
		"gemini":               {"claude", []string{"forget", "claude:GEMINI.md"}, map[string]string{"GEMINI.md": "facts\n", "settings.json": "{}"}},
		"crewship":             {"crewship", []string{"forget", "crewship:AGENT.md"}, map[string]string{"AGENT.md": "facts\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			dir := filepath.Join(d.dir, "store")
			for file, text := range c.files {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
				must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			on := func(args ...string) result { return d.bare(append([]string{"--open", c.kind + "=" + dir}, args...)...) }
			d.in = "no line here leads anywhere\n"
			r := on(append(c.act, "--yes", "--json")...).want(t, 0)
			id, _ := r.rows[len(r.rows)-1]["undo"].(string)
			told := "while undo keeps an item of it"
			if name == "openclaw daily" { // its directory memory is left
				told = "no memory is in it"
			}
			on("stores", c.kind).want(t, 0, told)
			on("undo", "restore", id, "--yes").want(t, 0)
			for file, text := range c.files {
				if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != text {
					t.Errorf("%s is %q, %v", file, got, err)
				}
			}
			if r := on("stores", c.kind).want(t, 0); strings.Contains(r.out, told) {
				t.Error("the restored store is still told so")
			}
			for file := range c.files {
				must(t, os.Remove(filepath.Join(dir, file)))
			}
			must(t, os.RemoveAll(filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "undo")))
			on("stores").want(t, 1)
		})
	}
}

// TestUndoShowsBytes: JSON has no form for a text that is no UTF-8.
func TestUndoShowsBytes(t *testing.T) {
	d := newDesk(t)
	vault := filepath.Join(d.dir, "vault")
	if err := os.MkdirAll(vault, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(vault, "a.md"), []byte("caf\xe9"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := d.bare("--open", "vault="+vault, "forget", "vault:a.md", "--yes", "--json").want(t, 0).row(t, "forgotten")["undo"]
	row := d.bare("undo", "show", fmt.Sprint(id), "--json").want(t, 0).row(t, "undo")
	if b, err := base64.StdEncoding.DecodeString(fmt.Sprint(row["body_base64"])); err != nil || string(b) != "caf\xe9" {
		t.Errorf("%v: %v", row, err)
	}
}

// TestUndoLeavesTheIndexThatStoodThere: an index that named the file before it was written keeps that line, and an empty
// one stays (CC7).
func TestUndoLeavesTheIndexThatStoodThere(t *testing.T) {
	for name, index := range map[string]string{"a line": "- [o](o.md)\n- [al](al.md) — was there\n", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			dir := filepath.Join(d.dir, "h", "projects", "-a", "memory")
			for name, text := range map[string]string{"MEMORY.md": index, "o.md": "x\n"} {
				if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			on := func(args ...string) result {
				return d.bare(append([]string{"--open", "claude=" + filepath.Join(d.dir, "h")}, args...)...)
			}
			d.in = "b\n"
			id := on("retain", "claude:projects/-a/memory/al.md", "--mode", "replace", "--yes", "--json", "-").want(t, 0).row(t, "retained")["undo"]
			again := on("undo", "restore", fmt.Sprint(id), "--yes", "--json").want(t, 0).row(t, "restored")["undo"]
			if got, err := os.ReadFile(filepath.Join(dir, "MEMORY.md")); err != nil || string(got) != index {
				t.Errorf("the index is %q, %v", got, err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "al.md")); !os.IsNotExist(err) {
				t.Errorf("the file: %v", err)
			}
			on("undo", "restore", fmt.Sprint(again), "--yes").want(t, 0)
			if got, err := os.ReadFile(filepath.Join(dir, "MEMORY.md")); err != nil || strings.Count(string(got), "al.md") != 1 {
				t.Errorf("the undo of the undo leaves the index %q, %v", got, err)
			}
		})
	}
}
