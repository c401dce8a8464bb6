package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCopy goes from a text tree to a graph, is taken up after a failure, and
// says what it did not carry.
func TestCopy(t *testing.T) {
	d := newDesk(t)
	db := filepath.Join(d.dir, "notes.db")
	if r := d.bare("create", "--yes", "sqlite="+db); r.code != 0 {
		t.Fatal(r.err)
	}
	open := []string{"--open", "sqlite=" + db}
	copying := func(more ...string) result {
		return d.run(append(append(open, "copy", "--from", "crewship", "--to", "sqlite", "--json"), more...)...)
	}
	if r := copying("--yes"); r.code != 2 || !strings.Contains(r.err, "--map") {
		t.Errorf("without a mapping: %d %s", r.code, r.err)
	}
	maps := []string{"--map", "AGENT=longterm", "--map", "daily=session"}
	if r := copying(append(maps, "--dry-run")...); r.code != 0 || r.out != "" || !strings.Contains(r.err, "tier AGENT goes to tier longterm") {
		t.Errorf("dry run: %d %q %q", r.code, r.out, r.err)
	}
	if r := copying(maps...); r.code != 2 {
		t.Errorf("without --yes and a terminal: %d", r.code)
	}
	r := copying(append(maps, "--yes")...)
	if r.code != 0 || len(r.rows) != 3 || r.rows[2]["type"] != "summary" || r.rows[2]["copied"] != 2.0 {
		t.Fatalf("copy: %d %v %s", r.code, r.rows, r.err)
	}
	for _, row := range r.rows[:2] {
		if row["type"] != "item" || row["outcome"] != "copied" || row["id"] == "" {
			t.Errorf("row = %v", row)
		}
	}
	if r = copying(append(maps, "--yes")...); r.code != 0 || r.rows[2]["copied"] != 0.0 || r.rows[2]["skipped"] != 2.0 {
		t.Errorf("again: %d %v", r.code, r.rows)
	}
	if r = d.run(append(open, "show", "sqlite:daily/2026-05-21.md")...); r.code != 0 || !strings.Contains(r.out, "second harbour") {
		t.Errorf("show: %d %s %s", r.code, r.out, r.err)
	}
	if r = d.run(append(open, "--read-only", "copy", "--from", "crewship", "--to", "sqlite", "--map", "AGENT=longterm", "--yes")...); r.code != 6 {
		t.Errorf("read-only: %d %s", r.code, r.err)
	}
}
