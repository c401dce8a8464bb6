package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestNoChangeWithoutTheLogThatWas: after the log was removed or changed, every change must be refused
// until an operator acknowledges it.
func TestNoChangeWithoutTheLogThatWas(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, dir string){
		"removed": func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
		"removed with the mark of its beginning": func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Remove(dir+".begun"))
		},
		"an early record changed": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "log-000001.jsonl")
			b, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, bytes.Replace(b, []byte("forget"), []byte("recall"), 1), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.run("forget", "crewship:AGENT.md", "--yes").want(t, 0)
			harm(t, filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit"))
			d.run("audit", "verify").want(t, 7)
			d.run("forget", "crewship:daily/2026-05-21.md", "--yes").want(t, 6)
			d.run("items").want(t, 0)
			d.run("audit", "acknowledge", "--reason", "ticket 12", "--yes").want(t, 0)
			d.run("forget", "crewship:daily/2026-05-21.md", "--yes").want(t, 0)
			d.run("audit", "verify").want(t, 7, "BROKEN")
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestANameBesideTheLogIsProved: `audit list` must show a name only where its keyed hash is chained.
func TestANameBesideTheLogIsProved(t *testing.T) {
	d := newDesk(t)
	d.run("forget", "crewship:AGENT.md", "--yes").want(t, 0)
	path := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit", "names.jsonl")
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte("AGENT.md"), []byte("OTHER.md")), 0o600))
	if r := d.run("audit", "list").want(t, 0, "ALTERED"); bytes.Contains([]byte(r.out), []byte("OTHER.md")) {
		t.Errorf("a name that is not the record's is listed:\n%s", r.out)
	}
	d.run("audit", "verify").want(t, 7, "intact", "NAMES ALTERED")
	d.run("audit", "verify", "--json").want(t, 7, `"reason":"of 1 name beside the log`)
	must(t, os.Remove(path))
	d.run("audit", "list").want(t, 0, "no name")
	d.run("audit", "verify").want(t, 0, "no clear name")
}

// TestDamagedTilesAreMadeAgain: the tree's files are no part of the log, and the words name what mends them.
func TestDamagedTilesAreMadeAgain(t *testing.T) {
	d := newDesk(t)
	d.run("forget", "crewship:AGENT.md", "--yes").want(t, 0)
	tiles, err := filepath.Glob(filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit", "tree", "tile", "0", "*", "*"))
	if err != nil || len(tiles) != 1 {
		t.Fatal(tiles, err)
	}
	proof := filepath.Join(d.dir, "proof")
	must(t, os.Truncate(tiles[0], 40))
	d.run("audit", "verify").want(t, 3, "intact", "`memdesk audit checkpoint` makes them again")
	d.run("audit", "prove", "1", "--out", proof).want(t, 1, "`memdesk audit checkpoint` makes them again")
	d.run("audit", "acknowledge", "--reason", "x", "--yes").want(t, 2, "nothing to acknowledge", "`memdesk audit checkpoint` makes them again")
	d.run("--read-only", "audit", "checkpoint").want(t, 6, "read-only")
	d.run("audit", "checkpoint").want(t, 0, "are made again")
	d.run("audit", "verify").want(t, 0, "intact")
	d.run("audit", "prove", "1", "--out", proof).want(t, 0)
}

// TestALogThatIsOlderThanAReceipt: the log and its head, restored to their state before an erasure, are
// consistent with each other, but the receipt must reveal the missing records.
func TestALogThatIsOlderThanAReceipt(t *testing.T) {
	d := newDesk(t)
	d.quiet()
	d.write("daily/2026-07-01.md", "- usr_ida9931 called\n- quiet\n")
	d.run("forget", "crewship:AGENT.md", "--yes").want(t, 0)
	old := map[string][]byte{}
	dir := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit")
	for _, name := range []string{"log-000001.jsonl", "head.json"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		old[name] = b
	}
	id, _ := d.run("gdpr", "request", "--subject", "usr_ida9931", "--received", "2026-01-31", "--ground", "a letter", "--yes", "--json").want(t, 0).row(t, "request")["request"].(string)
	hash, _ := d.run("gdpr", "plan", id, "--json").want(t, 0).row(t, "summary")["plan_hash"].(string)
	if s := d.run("gdpr", "erase", id, "--plan-hash", hash, "--yes", "--json").want(t, 0).row(t, "summary"); s["status"] != "complete" {
		t.Fatal(s)
	}
	d.run("audit", "verify").want(t, 0)
	for name, b := range old {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	d.run("audit", "verify").want(t, 7, "the receipt of request "+id)
	d.run("forget", "crewship:daily/2026-06-01.md", "--yes").want(t, 6)
	d.run("audit", "acknowledge", "--reason", "the back-up of May", "--yes").want(t, 0)
	d.run("forget", "crewship:daily/2026-06-01.md", "--yes").want(t, 0)
}

// TestALogThatCannotBeReadIsAVerdict: a script reads one verify object, also where a segment is a directory or a
// link.
func TestALogThatCannotBeReadIsAVerdict(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":      func(path string) error { return os.Symlink(path+".old", path) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.run("forget", "crewship:AGENT.md", "--yes").want(t, 0)
			path := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit", "log-000001.jsonl")
			must(t, os.Rename(path, path+".old"))
			must(t, harm(path))
			r := d.run("audit", "verify", "--json")
			if r.want(t, 7); len(r.rows) != 1 || r.rows[0]["type"] != "verify" || r.rows[0]["ok"] != false || r.rows[0]["reason"] == "" {
				t.Errorf("%v %s", r.rows, r.err)
			}
		})
	}
}
