package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// TestAReportFromAScript: another program writes to a store during an erasure; the run must be partial,
// without a receipt, and the report must say what to do.
func TestAReportFromAScript(t *testing.T) {
	d := newDesk(t)
	d.write("daily/2026-07-01.md", "- Ida Quill-9931 called\n- quiet\n")
	for _, n := range []string{"01", "02", "03", "04", "05", "06"} {
		d.write("daily/2026-06-"+n+".md", "- quiet\n")
	}
	req := d.run("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0)
	id, _ := req.last(t, "request")["request"].(string)
	d.run("gdpr", "report", id).want(t, 0, "nothing was carried out yet", "memdesk gdpr plan "+id)
	hash, _ := d.run("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")["plan_hash"].(string)
	d.write("daily/2026-07-02.md", "- Ida Quill-9931 is back\n- quiet\n")
	d.run("gdpr", "erase", id, "--plan-hash", hash, "--yes").want(t, 3)
	d.run("gdpr", "receipt", id, "--out", "r.json").want(t, 4, "gdpr report "+id)
	short := d.run("gdpr", "report", id).want(t, 0, "residue", "to do: memdesk gdpr plan "+id, "backups of crewship", "partial", " layers clean: ", "--all lists each")
	if strings.Contains(short.out, "  clean  ") || strings.Index(short.out, "residue") > strings.Index(short.out, "layers clean") {
		t.Errorf("what is clean hides what is not:\n%s", short.out)
	}
	d.run("gdpr", "report", id, "--all").want(t, 0, "residue", "  clean  ", "names of files")
	rows := d.run("gdpr", "report", id, "--json").want(t, 0)
	clean := 0
	for _, r := range rows.rows {
		if r["type"] == "layer" && r["verdict"] == "clean" {
			clean++
		}
	}
	if clean < 2 {
		t.Errorf("a script does not get every layer: %d clean", clean)
	}
	if left := rows.last(t, "left"); left["do"] == "" || rows.last(t, "layer")["verdict"] == nil || rows.last(t, "backup")["note"] == nil {
		t.Errorf("rows: %v", rows.rows)
	}
	if sum := rows.last(t, "summary"); sum["status"] != "partial" || sum["redacted"] != 1.0 || sum["left"] == 0.0 {
		t.Errorf("summary: %v", sum)
	}
	d.run("gdpr", "report", id, "--out", "r.json").want(t, 0)
	d.run("gdpr", "report", id, "--out", "r.md").want(t, 0)
	var file map[string]any
	b, err := os.ReadFile(filepath.Join(d.dir, "r.json"))
	if err != nil || json.Unmarshal(b, &file) != nil || file["state"] != "partial" || file["format"] != "memdesk-status-report" {
		t.Errorf("file: %v %v", file, err)
	}
	page, err := os.ReadFile(filepath.Join(d.dir, "r.md"))
	if err != nil || !strings.Contains(string(page), "## What is left") || strings.Contains(string(page)+string(b), "Quill") || strings.Contains(string(page)+string(b), "usr_ida") { // no digits: a hash may contain any
		t.Errorf("page: %v\n%s", err, page)
	}
	if info, err := os.Stat(filepath.Join(d.dir, "r.md")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v", err)
	}
	// A status report must not pass as a receipt.
	d.bare("gdpr", "verify", filepath.Join(d.dir, "r.json")).want(t, 7)
	hash, _ = d.run("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")["plan_hash"].(string)
	d.run("gdpr", "erase", id, "--plan-hash", hash, "--yes").want(t, 0)
	d.run("gdpr", "report", id).want(t, 4, "gdpr receipt "+id)
}

// outputs calls seen with each write.
type outputs struct {
	bytes.Buffer
	seen func(text string)
}

func (o *outputs) Write(p []byte) (int, error) {
	o.seen(string(p))
	return o.Buffer.Write(p)
}

// TestABrokenOffRunSaysHowFarItCame: the audit log can no longer be written after the first step. The run
// must end as partial with its counts, in the summary, the status and the report; called again, it goes on.
func TestABrokenOffRunSaysHowFarItCame(t *testing.T) {
	d := newDesk(t)
	for _, n := range []string{"01", "02", "03", "04", "05", "06"} {
		d.write("daily/2026-06-"+n+".md", "- quiet\n")
	}
	d.write("daily/2026-07-01.md", "- Ida Quill-9931 called\n- quiet\n")
	d.write("daily/2026-07-02.md", "- Ida Quill-9931 called again\n- quiet\n")
	id, _ := d.run("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	hash, _ := d.run("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")["plan_hash"].(string)
	head := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit", "head.json")
	out, gone := &outputs{}, false
	out.seen = func(text string) {
		if !gone && strings.Contains(text, `"type":"progress"`) {
			gone = true
			if err := os.Rename(head, head+".aside"); err != nil {
				t.Error(err)
			}
		}
	}
	p := cli.Program{Args: []string{"--open", "crewship=" + d.mem, "gdpr", "erase", id, "--plan-hash", hash, "--yes", "--json"},
		Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard, Env: d.environ(), Dir: d.dir, Clock: clock.System{}, Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: "op"}
	if code := p.Run(t.Context()); code != 3 || !gone {
		t.Errorf("exit %d, want 3", code)
	}
	if err := os.Rename(head+".aside", head); err != nil {
		t.Fatal(err)
	}
	var sum map[string]any
	for line := range strings.Lines(out.String()) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row["type"] == "summary" {
			sum = row
		}
	}
	if sum["status"] != "partial" || sum["redacted"] != 1.0 {
		t.Errorf("summary %v in\n%s", sum, out.String())
	}
	d.run("gdpr", "status", id).want(t, 0, "partial", "broken off")
	if sum := d.run("gdpr", "report", id, "--json").want(t, 0).last(t, "summary"); sum["status"] != "partial" || sum["redacted"] != 1.0 || sum["left"] == 0.0 {
		t.Errorf("report: %v", sum)
	}
	if job := d.run("jobs", "list", "--json").want(t, 0).last(t, "job"); job["state"] != "failed" || job["done"] != 1.0 || job["total"] != 0.0 || job["note"] != "partial" {
		t.Errorf("job: %v", job)
	}
	d.run("gdpr", "erase", id, "--plan-hash", hash, "--yes").want(t, 0, "2 redacted")
}
