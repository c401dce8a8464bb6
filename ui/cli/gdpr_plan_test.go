package cli_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A redaction must be shown in full before it is done: text and metadata, as removed and added lines,
// with nothing that controls the terminal.
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

// A question about a large part of a store must explain what is affected, why, and what to type; a
// store selected as a whole must name the next command.
func TestALargePartIsExplained(t *testing.T) {
	d := newDesk(t)
	for i := range 20 {
		d.write(fmt.Sprintf("daily/2026-06-%02d.md", i+1), "Ida Quill-9931 called\n")
	}
	for _, f := range []string{"AGENT.md", "daily/2026-05-21.md"} {
		d.write(f, "of Ida Quill-9931\n")
	}
	req := d.run("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0)
	id, _ := req.last(t, "request")["request"].(string)
	d.run("gdpr", "plan", id).want(t, 2, "every one of the 22 items of store crewship", "memdesk gdpr plan "+id+" --whole crewship")
	d.run("gdpr", "plan", id, "--whole", "nothing").want(t, 2)
	d.run("gdpr", "plan", id, "--whole", "crewship").want(t, 0, "22 of the 22 items of crewship would go or change, more than 20 %", "Read the rows", "--confirm-count 22")
	plan := d.run("gdpr", "plan", id, "--json").want(t, 0) // it is kept with the request
	hash, _ := plan.last(t, "summary")["plan_hash"].(string)
	d.run("gdpr", "erase", id, "--plan-hash", hash, "--yes").want(t, 6, "22 of the 22 items of crewship", "--confirm-count 22")
	d.run("gdpr", "report", id).want(t, 0, "memdesk gdpr erase "+id+" --plan-hash "+hash+" --confirm-count 22")
	d.run("gdpr", "register", "--year", "0").want(t, 2, "--year 0")
	d.run("gdpr", "erase", id, "--plan-hash", hash, "--yes", "--confirm-count", "22").want(t, 0, "complete")
}

// Identifiers can be given without appearing in the list of processes.
func TestIdentifiersFromAFile(t *testing.T) {
	d := newDesk(t)
	if err := os.WriteFile(filepath.Join(d.dir, "who.txt"), []byte("usr_ida9931\r\n\nIda Quill-9931\nida@mail.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(args ...string) result {
		return d.run(append([]string{"gdpr", "request", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json"}, args...)...)
	}
	row := file("--identifiers", "who.txt").want(t, 0).last(t, "request")
	if row["subject"] != "usr_ida9931" || row["aliases"] != 2.0 {
		t.Errorf("%v; want the id and two aliases", row)
	}
	d.in = "Ida Quill-9931\n"
	if row = file("--subject", "usr_ida9931", "--identifiers", "-").want(t, 0).last(t, "request"); row["subject"] != "usr_ida9931" || row["aliases"] != 1.0 {
		t.Errorf("%v; want one alias from standard input", row)
	}
	d.in = "\n"
	file("--identifiers", "-").want(t, 2)
}

// partly is a vault with a note of the subject and a file that nobody can open, and its request with a plan.
func partly(t *testing.T, d *desk) (on func(args ...string) result, id, hash string) {
	t.Helper()
	vault := filepath.Join(d.dir, "v")
	for name, text := range map[string]string{"att/map.zst": "\x28\xb5\x2f\xfdno frame at all\x00\x7f", "memory/fix/a.md": "Ida Quill-9931 called\nrain\nwind\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(vault, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(vault, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	on = func(args ...string) result { return d.bare(append([]string{"--open", "vault=" + vault}, args...)...) }
	id, _ = on("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "Art. 17(1)(b)", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	hash, _ = on("gdpr", "plan", id, "--json").want(t, 3).last(t, "summary")["plan_hash"].(string)
	return on, id, hash
}

// TestHoldAfterTheRun: a hold that comes after the item was redacted must say that it came too late.
func TestHoldAfterTheRun(t *testing.T) {
	on, id, _ := partly(t, newDesk(t))
	const item = "vault:memory/fix/a.md"
	const late = item + " was redacted before the hold"
	if r := on("gdpr", "hold", id, "--item", item, "--ground", "Art. 17(3)(e)").want(t, 0); strings.Contains(r.err, late) {
		t.Errorf("before the run: %s", r.err)
	}
	on("gdpr", "unhold", id, "--item", item).want(t, 0)
	hash, _ := on("gdpr", "plan", id, "--json").want(t, 3).last(t, "summary")["plan_hash"].(string)
	on("gdpr", "erase", id, "--plan-hash", hash, "--confirm-count", "1", "--yes").want(t, 3)
	if r := on("gdpr", "hold", id, "--item", item, "--ground", "Art. 17(3)(e)").want(t, 0); !strings.Contains(r.err, late) {
		t.Errorf("after the run: %s", r.err)
	}
}

// Attestation from a script: by reference, refused for a readable file, and it must end the request
// under the same plan.
func TestAttestFromAScript(t *testing.T) {
	d := newDesk(t)
	on, id, hash := partly(t, d)
	on("gdpr", "erase", id, "--plan-hash", hash, "--confirm-count", "1", "--yes").want(t, 3, "gdpr report "+id)
	on("gdpr", "report", id).want(t, 0, "memdesk gdpr attest "+id+" --store vault --layer att/map.zst --ground TEXT")
	on("gdpr", "attest", id, "--ground", "x").want(t, 2)
	on("gdpr", "attest", id, "--ref", "vault:memory/fix/a.md", "--ground", "x", "--yes").want(t, 2)
	on("gdpr", "attest", id, "--ref", "vault:att/map.zst", "--ground", "opened by hand", "--yes").want(t, 0, "--plan-hash "+hash)
	on("gdpr", "erase", id, "--plan-hash", hash, "--confirm-count", "1", "--yes").want(t, 0, "complete")
	on("gdpr", "receipt", id, "--out", filepath.Join(d.dir, "r.md")).want(t, 0)
	page, err := os.ReadFile(filepath.Join(d.dir, "r.md"))
	if err != nil || !strings.Contains(string(page), "## Attested") || strings.Contains(string(page), "opened by hand") || !strings.Contains(string(page), "Art. 17(1)(b)") {
		t.Errorf("%v\n%s", err, page)
	}
	on("gdpr", "policy", "--json").want(t, 0, `"in_force":true`)
}

// A plan must name the subject's other open request, in text and in JSON.
func TestAPlanNamesTheOtherOpenRequest(t *testing.T) {
	d := newDesk(t)
	d.quiet()
	d.write("daily/2026-07-01.md", "- usr_ida9931 called\n")
	var ids []string
	for range 2 {
		id, _ := d.run("gdpr", "request", "--subject", "usr_ida9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
		ids = append(ids, id)
	}
	says := "the same person has a request that is open: " + ids[1]
	if r := d.run("gdpr", "plan", ids[0]).want(t, 0); !strings.Contains(r.err, says) {
		t.Errorf("stderr: %s", r.err)
	}
	if notes := fmt.Sprint(d.run("gdpr", "plan", ids[0], "--json").want(t, 0).last(t, "summary")["notes"]); !strings.Contains(notes, says) {
		t.Errorf("notes: %s", notes)
	}
}

// A choice is on an item of a store: another store of the same name does not get it.
func TestAChoiceIsOnTheStoreAndNotOnItsName(t *testing.T) {
	d := newDesk(t)
	on := func(vault string, args ...string) result {
		return d.bare(append([]string{"--open", "vault=" + filepath.Join(d.dir, vault)}, args...)...)
	}
	for _, vault := range []string{"a", "b"} {
		dir := filepath.Join(d.dir, vault, "memory", "fix")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"m.md": "Ida Quill-9931 called\nrain\nwind\n", "n.md": "rye\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	req := on("a", "gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0)
	id, _ := req.last(t, "request")["request"].(string)
	on("a", "gdpr", "plan", id).want(t, 0)
	on("a", "gdpr", "choose", id, "--item", "vault:memory/fix/m.md", "--action", "forget").want(t, 0)
	for vault, action := range map[string]string{"a": "forget", "b": "redact"} {
		if got := on(vault, "gdpr", "plan", id, "--json").want(t, 0).last(t, "item")["action"]; got != action {
			t.Errorf("%s: %v, want %s", vault, got, action)
		}
	}
}

// A request whose file is damaged must not hide the others.
func TestADamagedRequestHidesNoOther(t *testing.T) {
	d := newDesk(t)
	id, _ := d.run("gdpr", "request", "--subject", "usr_ida9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	const damaged = "er-20260220-0123abcd"
	file := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "gdpr", "requests", damaged+".json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run("gdpr", "list").want(t, 1, id, damaged, "cannot be read")
	if r := d.run("gdpr", "status", damaged).want(t, 1, damaged, "cannot be read"); strings.Contains(r.out, "STATE") {
		t.Errorf("a table of nothing\n%s", r.out)
	}
	d.run("gdpr", "status", id).want(t, 0, id)
}
