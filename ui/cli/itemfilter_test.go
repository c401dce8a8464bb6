package cli_test

import (
	"strings"
	"testing"
)

func TestItemsAndRecallTakeFilters(t *testing.T) {
	d := newDesk(t)
	d.write("daily/2026-05-22.md", "---\nkind: decision\nconfidence: 0.8\n---\nharbour lights stay on\n")
	if r := d.run("items", "--type", "decision", "--json").want(t, 0); len(r.rows) != 2 || r.rows[0]["id"] != "daily/2026-05-22.md" || r.rows[1]["total"] != 1.0 {
		t.Errorf("items by type: %v", r.rows)
	}
	if r := d.run("items", "--confidence", "0.9", "--json").want(t, 0); len(r.rows) != 1 {
		t.Errorf("items by confidence: %v", r.rows)
	}
	r := d.run("recall", "harbour", "--type", "decision").want(t, 0, "picked among the first")
	if strings.Contains(r.out, "AGENT.md") || !strings.Contains(r.out, "daily/2026-05-22.md") {
		t.Errorf("recall by type: %s", r.out)
	}
	d.run("items", "--since", "yesterday").want(t, 2, "is no time")
	d.run("items", "--archived", "yes").want(t, 2, "also and only")
	d.run("recall", "harbour", "--confidence", "7").want(t, 2, "between 0 and 1")
	d.run("items", "--until", "2000-01-01", "--json").want(t, 0)
}
