package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoreEventsAreListed: the interactions beside a tracker's items must be listed on demand, marked
// as the store's, without their text.
func TestStoreEventsAreListed(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "repo", ".beads")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"issues.jsonl": `{"id":"a","title":"first","status":"open"}` + "\n",
		"interactions.jsonl": `{"id":"i1","kind":"llm_call","created_at":"2026-03-01T10:00:00Z","actor":"ada","model":"m","prompt":"a secret","response":"another"}` + "\n" +
			`{"id":"i2","kind":"field_change","created_at":"2026-03-02T10:00:00Z","actor":"ada","issue_id":"a","reason":"done"}` + "\nhalf a li",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) result { return d.run(append([]string{"--open", "beads=" + dir}, args...)...) }
	if r := run("forget", "beads:a", "--yes"); r.code != 0 {
		t.Fatal(r.err)
	}
	r := run("audit", "list", "--store-events", "--json")
	var got []string
	for _, row := range r.rows {
		got = append(got, row["source"].(string)+" "+row["action"].(string))
	}
	if r.code != 0 || strings.Join(got, ", ") != "memdesk audit.tree, memdesk forget, memdesk forget, memdesk audit.begin, store field_change, store llm_call" {
		t.Errorf("listed %q: %s", got, r.err)
	}
	if strings.Contains(r.out, "secret") || strings.Contains(r.out, "another") || !strings.Contains(r.out, `"issue_id":"a"`) {
		t.Errorf("the rows: %s", r.out)
	}
	if r := run("audit", "list", "--json"); strings.Contains(r.out, "store_event") {
		t.Errorf("nobody asked: %s", r.out)
	}
	if r := run("audit", "list", "--store-events", "--action", "llm_call"); !strings.Contains(r.out, "(the store)") || strings.Contains(r.out, "field_change") {
		t.Errorf("filtered: %s", r.out)
	}
	// What --limit leaves out must be counted, with records beyond it or without.
	for _, c := range []struct {
		args []string
		left float64
	}{{[]string{"--limit", "1"}, 2}, {[]string{"--limit", "1", "--since", "2026-03-01", "--until", "2026-03-03"}, 1}} {
		if r := run(append([]string{"audit", "list", "--store-events", "--json"}, c.args...)...); r.row(t, "page")["store_events_left"] != c.left {
			t.Errorf("%v: %s", c.args, r.out)
		}
	}
	if r := run("audit", "list", "--store-events", "--limit", "1"); !strings.Contains(r.err, "2 older events of the stores left out") {
		t.Errorf("in words: %s", r.err)
	}
	if r := run("audit", "list", "--store-events", "--oldest"); r.code != 2 {
		t.Errorf("an order that is not there: %d %s", r.code, r.err)
	}
}
