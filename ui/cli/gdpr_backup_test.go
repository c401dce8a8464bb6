package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"memdesk/internal/clock"
)

// TestBackupsFromThePlanToTheRestore: plan and receipt must name the backups of each store as
// configured, and after a restore one command must erase again and leave one record.
func TestBackupsFromThePlanToTheRestore(t *testing.T) {
	d := newDesk(t)
	d.quiet()
	const hers = "- usr_ida9931 called\n- quiet\n"
	d.write("daily/2026-07-01.md", hers)
	other := filepath.Join(d.dir, "other")
	if err := os.CopyFS(other, os.DirFS(d.mem)); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(d.dir, "backups.toml")
	if err := os.WriteFile(config, []byte("[[store]]\nname = \"ship\"\nkind = \"crewship\"\npath = \""+d.mem+"\"\n[[store]]\nname = \"second\"\nkind = \"crewship\"\npath = \""+other+"\"\n"+
		"[[backup]]\nstore = \"ship\"\nwhere = \"tapes in the cellar\"\nexpires_after = \"30d\"\nrestore_guard = \"the runbook\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) result { return d.bare(append([]string{"--config", config}, args...)...) }
	id, _ := run("gdpr", "request", "--subject", "usr_ida9931", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	text := run("gdpr", "plan", id).want(t, 0, "backups of ship", "tapes in the cellar", "the runbook", "kept for 30 days", "backups of second")
	if strings.Count(text.out, "backups of ") != 2 {
		t.Errorf("the plan says of backups: %s", text.out)
	}
	plan := run("gdpr", "plan", id, "--json").want(t, 0)
	b := plan.row(t, "backup")
	if b["store"] != "ship" || b["where"] != "tapes in the cellar" || b["until"] == nil {
		t.Errorf("the plan's backup: %v", b)
	}
	hash, _ := plan.last(t, "summary")["plan_hash"].(string)
	run("gdpr", "erase", id, "--plan-hash", hash, "--confirm-count", "2", "--yes").want(t, 0, "complete")
	page := filepath.Join(d.dir, "receipt.md")
	run("gdpr", "receipt", id, "--out", page).want(t, 0)
	if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "tapes in the cellar") {
		t.Errorf("the receipt's page does not name the backup: %v", err)
	}

	d.write("daily/2026-07-01.md", hers) // as restored from tape
	run("gdpr", "sweep", "--restored", "cellar", "--yes").want(t, 2, "there are ship, second")
	run("gdpr", "sweep", "--restored", "second", "--yes").want(t, 0, "nobody came back")
	run("gdpr", "sweep", "--restored", "ship").want(t, 2, "--yes", "item, not carried out")
	if got := d.read("daily/2026-07-01.md"); got != hers {
		t.Errorf("it was changed too early: %s", got)
	}
	run("gdpr", "sweep", "--restored", "ship", "--yes").want(t, 0)
	if got := d.read("daily/2026-07-01.md"); strings.Contains(got, "ida9931") {
		t.Errorf("she is back: %s", got)
	}
	var records []string
	for _, r := range run("--json", "audit", "list", "--all").want(t, 0).rows {
		if r["action"] == "gdpr-restored" && r["phase"] == "outcome" {
			records = append(records, fmt.Sprint(r["store"], " ", r["result"]))
		}
	}
	if got := strings.Join(records, ", "); got != "ship ok, ship failed, second ok" { // newest first
		t.Errorf("the records of restores: %s", got)
	}
}

// TestDueAtLogin: an operator who may read requests must see at login what is due; a reviewer must not.
func TestDueAtLogin(t *testing.T) {
	d := newDesk(t)
	ana, ben := signer(t), signer(t)
	id, _ := d.run("gdpr", "request", "--subject", "usr_ida9931", "--ground", "asked", "--received", clock.System{}.Now().AddDate(0, -1, 1).Format("2006-01-02"), "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	d.env["MEMDESK_CONFIG"] = d.roleConfig("", map[string]ssh.Signer{"operator": ana, "reviewer": ben})
	addr := d.server(line(ana) + line(ben))
	g := newGuest(t, addr, ana, 160, 40).see("6 Erasure 1 due", "daily")
	if frame := g.frame(); strings.Contains(frame, "Before you go on") {
		t.Errorf("a box says what the tab says:\n%s", frame)
	}
	g.press(":notices\r").see("1 erasure request due within 7 days or over, the first " + id).press("\x1bq")
	g = newGuest(t, addr, ben, 160, 40).see("reviewer the reviewer", "daily")
	if frame := g.frame(); strings.Contains(frame, id) || strings.Contains(frame, "due") {
		t.Errorf("a reviewer is told of requests:\n%s", frame)
	}
	g.press("q")
}
