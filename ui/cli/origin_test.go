package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOriginsThatStoresKnow: the writer of a text from outside memdesk is read from the store or from
// git; an undocumented writer is unknown, and memdesk's own note takes precedence.
func TestOriginsThatStoresKnow(t *testing.T) {
	d := newDesk(t)
	data := t.TempDir()
	own := filepath.Join(data, "crews", "c1", "agents", "ada", ".memory")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "AGENT.md"), []byte("a heron\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	notes := t.TempDir()
	if err := os.WriteFile(filepath.Join(notes, "n.md"), []byte("# A note\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", notes, "-c", "user.name=Ida", "-c", "user.email=i@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", args, out)
		}
	}
	if _, err := exec.LookPath("git"); err == nil {
		git("init", "-q")
		git("add", ".")
		git("commit", "-qm", "x")
		if r := d.bare("--open", "devicelocal="+notes, "origin", "devicelocal:n.md", "--json"); !strings.Contains(r.out, `"kept":"git"`) || !strings.Contains(r.out, `"actor":"Ida"`) {
			t.Errorf("a committed note: %s %s", r.out, r.err)
		}
		if err := os.WriteFile(filepath.Join(notes, "n.md"), []byte("# Another\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := d.bare("--open", "devicelocal="+notes, "origin", "devicelocal:n.md", "--json"); !strings.Contains(r.out, `"kept":"unknown"`) {
		t.Errorf("a note that is not committed: %s %s", r.out, r.err)
	}
	open := []string{"--open", "crewship=" + data}
	for _, args := range [][]string{{"items", "--origin", "--json"}, {"recall", "--origin", "heron", "--json"}} {
		if r := d.bare(append(open, args...)...); !strings.Contains(r.out, `"actor":"ada"`) || !strings.Contains(r.out, `"kept":"store"`) || !strings.Contains(r.out, `"trust":"untrusted"`) {
			t.Errorf("%v: %s %s", args, r.out, r.err)
		}
	}
	d.in = "a heron and more\n"
	if r := d.bare(append(open, "retain", "crewship:crews/c1/agents/ada/AGENT.md", "--mode", "replace", "--yes", "-")...); r.code != 0 {
		t.Fatal(r.err)
	}
	if r := d.bare(append(open, "items", "--origin", "--json")...); !strings.Contains(r.out, `"kept":"ledger"`) {
		t.Errorf("after memdesk wrote: %s %s", r.out, r.err)
	}
	if r := d.bare(append(open, "undo", "restore", strings.Fields(d.bare(append(open, "undo", "list", "-o", "name")...).out)[0], "--yes")...); r.code != 0 {
		t.Fatal(r.out, r.err)
	}
	if r := d.bare(append(open, "items", "--origin", "--json")...); !strings.Contains(r.out, `"kept":"store"`) || !strings.Contains(r.out, `"actor":"ada"`) {
		t.Errorf("after the undo, which must not make the agent's text the operator's: %s %s", r.out, r.err)
	}
	d.in = "a heron of the operator\n"
	if r := d.bare(append(open, "retain", "crewship:crews/c1/agents/ada/AGENT.md", "--mode", "replace", "--yes", "-")...); r.code != 0 {
		t.Fatal(r.err)
	}
	later := time.Now().Add(time.Second) // the clock of files is coarse
	if err := errors.Join(os.WriteFile(filepath.Join(own, "AGENT.md"), []byte("a heron of an agent\n"), 0o644), os.Chtimes(filepath.Join(own, "AGENT.md"), later, later)); err != nil {
		t.Fatal(err)
	}
	if r := d.bare(append(open, "items", "--origin", "--json")...); !strings.Contains(r.out, `"kept":"store"`) || !strings.Contains(r.out, `"trust":"untrusted"`) {
		t.Errorf("after the agent wrote past memdesk: %s %s", r.out, r.err)
	}
	d.in = "x\n"
	if r := d.bare(append(open, "turn", "after", "--tier", "daily", "--key", "2031-01-01", "--source", "web:https://h.example", "--yes", "-")...); r.code != 0 {
		t.Logf("turn: %s", r.err)
	}
	if r := d.bare(append(open, "audit", "list", "--json")...); !strings.Contains(r.out, `source web:https://h.example`) {
		t.Errorf("the audit record has no origin: %s", r.out)
	}
}
