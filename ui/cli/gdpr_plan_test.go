package cli_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A redaction is shown whole before it is done: text and metadata, before and after,
// as lines that go and come, and nothing of it drives the terminal.
func TestAPlanShowsWhatIsRedacted(t *testing.T) {
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
	for _, text := range []string{string(schema),
		`INSERT INTO nodes (id, type, content, metadata) VALUES ('h1', 'fact', 'a list' || char(10) || 'of tea' || char(10) || 'and rain', '{"note": "seen with Ida Quill-9931 ` + "\\u001b" + `[2J", "place": "here"}'), ('h2', 'fact', 'routers', '{}'),
		 ('h3', 'fact', 'more' || char(10) || 'of Ida Quill-9931` + "\x1b[31m" + `' || char(10) || 'and tea', '{}')`} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	on := func(args ...string) result { return d.bare(append([]string{"--open", "sqlite=" + path}, args...)...) }
	req := on("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0)
	id, _ := req.last(t, "request")["request"].(string)
	on("gdpr", "choose", id, "--item", "sqlite:h1", "--action", "redact").want(t, 0)
	got := on("gdpr", "plan", id, "--text").want(t, 0, "--- as it is", "+++ as it will be", "+of [erased]", "-metadata: ", "+metadata: ", "seen with [erased]")
	if strings.Contains(got.out, "\x1b") {
		t.Errorf("an escape reaches the terminal: %q", got.out)
	}
	for _, text := range []bool{false, true} {
		args := []string{"gdpr", "plan", id, "--json"}
		if text {
			args = append(args, "--text")
		}
		seen := 0
		for _, r := range on(args...).want(t, 0).rows {
			if r["type"] != "item" || r["action"] != "redact" {
				continue
			}
			seen++
			body, _ := r["new_body"].(string)
			meta, _ := r["new_meta"].(map[string]any)
			now, _ := meta["metadata"].(string)
			was, hasWas := r["body"]
			old, _ := r["meta"].(map[string]any)
			before, _ := old["metadata"].(string)
			switch {
			case hasWas != text:
				t.Errorf("text %v: %v", text, r)
			case strings.Contains(body+now, "Ida"):
				t.Errorf("the edited text names her: %v", r)
			case r["id"] == "h1" && (!strings.Contains(now, "[erased]") || text && !strings.Contains(before, "Ida Quill-9931")):
				t.Errorf("metadata is not shown: %v", r)
			case r["id"] == "h3" && (!strings.Contains(body, "[erased]") || text && !strings.Contains(was.(string), "Ida Quill-9931")):
				t.Errorf("text is not shown: %v", r)
			}
		}
		if seen != 2 {
			t.Errorf("%d redactions", seen)
		}
	}
}
