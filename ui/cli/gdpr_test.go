package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/gdpr/receipt"
)

// last is the last row of a kind.
func (r result) last(t *testing.T, kind string) map[string]any {
	t.Helper()
	var out map[string]any
	for _, m := range r.rows {
		if m["type"] == kind {
			out = m
		}
	}
	if out == nil {
		t.Fatalf("no row of type %s\n%s%s", kind, r.out, r.err)
	}
	return out
}

func TestErasureFromAScript(t *testing.T) {
	d := newDesk(t)
	for i := range 12 {
		d.write(fmt.Sprintf("daily/2026-06-%02d.md", i+1), "- quiet\n")
	}
	d.write("daily/2026-07-01.md", "- Ida Quill-9931 called\n- quiet\n")
	req := d.run("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0)
	id, _ := req.last(t, "request")["request"].(string)
	if req.last(t, "request")["deadline"] != "2026-02-28" {
		t.Errorf("deadline: %v", req.rows)
	}
	d.run("gdpr", "request", "--subject", "*", "--ground", "x", "--yes").want(t, 2)
	d.run("gdpr", "receipt", id, "--out", "r.json").want(t, 4)
	plan := d.run("gdpr", "plan", id, "--json").want(t, 0)
	sum := plan.last(t, "summary")
	hash, _ := sum["plan_hash"].(string)
	if item := plan.last(t, "item"); sum["items"] != 1.0 || sum["stores"] != 1.0 || sum["held"] != 0.0 || item["action"] != "redact" || item["layer"] != "item" {
		t.Errorf("plan: %v", plan.rows)
	}
	d.run("gdpr", "export", id, "--out", "export").want(t, 0)
	if info, err := os.Stat(filepath.Join(d.dir, "export", "export.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("export: %v", err)
	}
	d.run("gdpr", "erase", id, "--plan-hash", "0000", "--yes").want(t, 6)
	d.run("--read-only", "gdpr", "erase", id, "--plan-hash", hash, "--yes").want(t, 6)
	d.run("gdpr", "erase", id, "--plan-hash", hash).want(t, 2, "--yes")
	if d.read("daily/2026-07-01.md") != "- Ida Quill-9931 called\n- quiet\n" {
		t.Fatal("a refused erasure changed something")
	}
	out := d.run("gdpr", "erase", id, "--plan-hash", hash[:12], "--yes", "--json").want(t, 0)
	if s := out.last(t, "summary"); s["status"] != "complete" || out.last(t, "progress") == nil {
		t.Errorf("erase: %v", out.rows)
	}
	for _, k := range []string{"store", "layer", "verdict", "method", "bytes_scanned", "hits"} {
		if _, ok := out.last(t, "layer")[k]; !ok {
			t.Errorf("a layer has no %s", k)
		}
	}
	if got := d.read("daily/2026-07-01.md"); got != "- [erased] called\n- quiet\n" {
		t.Errorf("after: %q", got)
	}
	// A caller who missed the end runs the command again.
	if s := d.run("gdpr", "erase", id, "--plan-hash", hash[:16], "--yes", "--json").want(t, 0).last(t, "summary"); s["status"] != "complete" || s["redacted"] != 0.0 {
		t.Errorf("erased again: %v", s)
	}
	d.run("gdpr", "erase", id, "--plan-hash", "0000", "--yes").want(t, 5)
	d.run("gdpr", "receipt", id, "--out", "r.json").want(t, 0)
	d.run("gdpr", "receipt", id, "--out", "r.md").want(t, 0)
	file := filepath.Join(d.dir, "r.json")
	d.bare("gdpr", "verify", file).want(t, 0)
	d.bare("gdpr", "verify", "/dev/zero").want(t, 2, "larger than")
	b, err := os.ReadFile(file)
	if err != nil || bytes.Contains(b, []byte("usr_ida")) || bytes.Contains(b, []byte("Quill")) {
		t.Fatalf("the receipt names the person, or: %v", err)
	}
	// Elsewhere the key is unknown: only the signature can be checked.
	public, _ := d.run("gdpr", "receipt", id, "--out", "r2.json", "--json").want(t, 0).last(t, "receipt")["public_key"].(string)
	state := d.env["XDG_STATE_HOME"]
	d.env["XDG_STATE_HOME"] = filepath.Join(d.dir, "elsewhere")
	if row := d.bare("gdpr", "verify", file, "--json").want(t, 3).last(t, "verify"); row["ok"] != false || row["signature"] != "valid" || row["key"] != "unknown" || row["public_key"] != public {
		t.Errorf("nobody vouches: %v", row)
	}
	for _, pin := range []string{public, strings.ToUpper(public), fmt.Sprint(d.bare("gdpr", "verify", file, "--json").last(t, "verify")["key_id"])} {
		if row := d.bare("gdpr", "verify", file, "--key", pin, "--json").want(t, 0).last(t, "verify"); row["ok"] != true || row["key"] != "pinned" {
			t.Errorf("pinned: %v", row)
		}
	}
	d.bare("gdpr", "verify", file, "--key", strings.Repeat("0", 64)).want(t, 7)
	d.bare("gdpr", "verify", file, "--key", "00").want(t, 2)
	d.env["XDG_STATE_HOME"] = state
	// A forger signs the same payload with another key.
	forger, err := receipt.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	rec, _, err := receipt.Read(b, "")
	if err != nil {
		t.Fatal(err)
	}
	forged, err := forger.Sign(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.dir, "forged.json"), forged, 0o600); err != nil {
		t.Fatal(err)
	}
	d.bare("gdpr", "verify", "./forged.json").want(t, 7)
	d.bare("gdpr", "verify", "./forged.json", "--key", public).want(t, 7)
	b[len(b)/2] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	d.bare("gdpr", "verify", file).want(t, 7)
	d.run("gdpr", "status", "usr_ida9931").want(t, 0, "complete")
	d.run("gdpr", "verify", "usr_ida9931").want(t, 0)
	if l := d.run("gdpr", "verify", "usr_ida9931", "--json").want(t, 0).last(t, "layer"); !strings.Contains(fmt.Sprint(l["reason"]), "1 of 2 identifiers") {
		t.Errorf("it does not say what was searched for: %v", l)
	}
	d.run("gdpr", "verify", "usr_ida9931", "--alias", "Ida Quill-9931").want(t, 0)
	d.run("gdpr", "verify", "usr_ida9931", "--alias", "Ida Quill").want(t, 2, "none that was erased")
	d.run("gdpr", "verify", id, "--alias", "Ida Quill-9931").want(t, 2, "type the person's id")
	d.in = "- Ida Quill-9931 again\n"
	d.run("retain", "crewship:daily/2026-07-02.md", "--mode", "append", "--yes", "-").want(t, 6, "erased")
	d.write("daily/2026-07-03.md", "- Ida Quill-9931 is back\n- quiet\n")
	d.run("gdpr", "sweep", "--yes").want(t, 0, "complete")
	if got := d.read("daily/2026-07-03.md"); got != "- [erased] is back\n- quiet\n" {
		t.Errorf("after the sweep: %q", got)
	}
	if err := os.WriteFile(filepath.Join(state, "memdesk", "gdpr", "receipts", id+".json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if all := d.run("gdpr", "register", "--year", "2026", "--json").want(t, 7, `"forgotten":null`, "not as it was signed", id); all.last(t, "entry")["ground"] == "" {
		t.Error("the other requests are not in the register")
	}
}
