package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReindex must build the index of the stores that have one, record it, and change no item.
func TestReindex(t *testing.T) {
	d := newDesk(t)
	notes := filepath.Join(d.dir, "notes")
	file := filepath.Join(notes, "memory", "fix", "a.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "---\nkind: fix\n---\nrye on fridays\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	open := []string{"--open", "vault=" + notes, "--open", "inmem=", "--json"}
	run := func(args ...string) result { return d.run(append(open, args...)...) }
	if r := run("reindex", "--yes"); r.code != 0 || len(r.rows) != 1 || r.rows[0]["type"] != "reindexed" || r.rows[0]["store"] != "vault" || r.rows[0]["items"] != 1.0 {
		t.Errorf("reindex: %d %v %s", r.code, r.rows, r.err)
	}
	if r := d.run("--open", "vault="+notes, "audit", "list", "--json"); !strings.Contains(r.out, `"action":"reindex"`) {
		t.Errorf("the log: %s %s", r.out, r.err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != text {
		t.Errorf("the note: %q, %v", b, err)
	}
	if r := run("reindex"); r.code == 0 {
		t.Error("nobody was asked")
	}
	if r := run("--store", "inmem", "reindex", "--yes"); r.code == 0 || !strings.Contains(r.err, "no index") {
		t.Errorf("a store without an index: %d %s", r.code, r.err)
	}
	if r := run("--store", "vault", "reindex", "--tier", "source", "--yes"); r.code == 0 || !strings.Contains(r.err, "derived") {
		t.Errorf("a tier that is not derived: %d %s", r.code, r.err)
	}
	if r := run("--read-only", "reindex", "--yes"); r.code != 6 {
		t.Errorf("read-only: %d %s", r.code, r.err)
	}
}
