package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReindex must build the index of the stores that have one, record it, and change no item.
func TestReindex(t *testing.T) {
	d := newDesk(t)
	db := "sqlite=" + filepath.Join(d.dir, "own.db")
	d.bare("create", "--yes", db).want(t, 0)
	open := []string{"--open", db, "--open", "inmem=", "--json"}
	run := func(args ...string) result { return d.run(append(open, args...)...) }
	run("retain", "--tier", "session", "--key", "rye", "--mode", "replace", "--yes", d.file("rye.md", "rye on fridays\n")).want(t, 2)
	run("--store", "sqlite", "retain", "--tier", "session", "--key", "rye", "--mode", "replace", "--yes", d.file("rye.md", "rye on fridays\n")).want(t, 0)
	if r := run("reindex", "--yes"); r.code != 0 || len(r.rows) != 1 || r.rows[0]["type"] != "reindexed" || r.rows[0]["store"] != "sqlite" || r.rows[0]["items"] != 1.0 {
		t.Errorf("reindex: %d %v %s", r.code, r.rows, r.err)
	}
	if r := run("audit", "list"); !strings.Contains(r.out, `"action":"reindex"`) {
		t.Errorf("the log: %s %s", r.out, r.err)
	}
	if r := run("--store", "sqlite", "recall", "fridays"); r.code != 0 || !strings.Contains(r.out, `"id":"rye"`) {
		t.Errorf("recall: %d %s %s", r.code, r.out, r.err)
	}
	if r := run("reindex"); r.code == 0 {
		t.Error("nobody was asked")
	}
	if r := run("--store", "inmem", "reindex", "--yes"); r.code == 0 || !strings.Contains(r.err, "no index") {
		t.Errorf("a store without an index: %d %s", r.code, r.err)
	}
	if r := run("--store", "sqlite", "reindex", "--tier", "session", "--yes"); r.code == 0 || !strings.Contains(r.err, "derived") {
		t.Errorf("a tier that is not derived: %d %s", r.code, r.err)
	}
	if r := run("--read-only", "reindex", "--yes"); r.code != 6 {
		t.Errorf("read-only: %d %s", r.code, r.err)
	}
}
