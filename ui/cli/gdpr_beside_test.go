package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The plan must show a scrub's edits in a tracker's line beside the item's fields, before anything is done.
func TestAPlanShowsWhatIsEditedBesideTheFields(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "work", ".beads")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	line := `{"id":"h-1","title":"ask Ida Quill-9931","comments":[{"author":"Ida Quill-9931","text":"tea"}]}` + "\n" + `{"id":"h-2","title":"rain"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	on := func(args ...string) result {
		return d.bare(append([]string{"--open", "beads=" + filepath.Dir(dir)}, args...)...)
	}
	req := on("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0)
	id, _ := req.last(t, "request")["request"].(string)
	on("gdpr", "choose", id, "--item", "beads:h-1", "--action", "redact").want(t, 0)
	on("gdpr", "plan", id).want(t, 0, "beside its fields 1 value of its line too")
	on("gdpr", "plan", id, "--text").want(t, 0, `-  comments[0].author: "Ida Quill-9931"`, `+  comments[0].author: "[erased]"`)
	for _, r := range on("gdpr", "plan", id, "--json").want(t, 0).rows {
		if r["type"] != "item" || r["id"] != "h-1" {
			continue
		}
		all, _ := r["beside"].([]any)
		if len(all) != 1 || all[0].(map[string]any)["path"] != "comments[0].author" {
			t.Errorf("beside: %v", r["beside"])
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "issues.jsonl")); err != nil || !strings.Contains(string(b), "Ida Quill-9931") {
		t.Errorf("a plan changed the file: %v %s", err, b)
	}
}
