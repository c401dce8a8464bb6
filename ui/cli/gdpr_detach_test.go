package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// eraseJobNow is the erasure among the jobs, nil while there is none.
func (d *desk) eraseJobNow() map[string]any {
	d.t.Helper()
	var out map[string]any
	for _, j := range d.run("jobs", "--json").rows {
		if j["kind"] == "gdpr-erase" {
			out = j
		}
	}
	return out
}

// wait polls until ok.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestDetachedErasureOutlivesItsTerminal begins an erasure at a real terminal and closes it: the work
// must continue; a pause must stop it, and it must then continue to its end.
func TestDetachedErasureOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	vault := filepath.Join(d.dir, "vault")
	const notes = 400
	if err := os.MkdirAll(filepath.Join(vault, "memory", "idea"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range notes {
		if err := os.WriteFile(filepath.Join(vault, "memory", "idea", fmt.Sprintf("n%03d.md", i)), fmt.Appendf(nil, "# Ida Quill-9931 %d\n", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(vault, "memory", "idea", "rain.md"), []byte("# Rain\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(vault, "memory", "idea", "n*.md"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	opens := []string{"--open", "vault=" + vault, "--open", "crewship=" + d.mem}
	on := func(args ...string) result { return d.bare(append(opens[:4:4], args...)...) }
	id, _ := on("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	sum := on("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append(opens[:4:4], "gdpr", "erase", id, "--plan-hash", fmt.Sprint(sum["plan_hash"]), "--confirm-count", fmt.Sprint(sum["items"]), "--yes", "--detach")...)
	cmd.Dir, cmd.Env = d.dir, []string{playEnv + "=" + playOwn}
	for k, v := range d.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no terminal to be had here: %v", err)
	}
	said, _ := io.ReadAll(tty) // ends with an error when the terminal's last program has ended
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the job", func() bool { return d.eraseJobNow() != nil })
	job := fmt.Sprint(d.eraseJobNow()["job"])
	if row := d.run("--json", "jobs", "pause", job).want(t, 0).row(t, "control"); row["job"] != job || row["asked"] != "pause" {
		t.Fatalf("pause: %v", row)
	}
	wait(t, "paused", func() bool { return d.eraseJobNow()["state"] == "paused" })
	held := left()
	if held == 0 || held == notes {
		t.Logf("%d of %d notes are left: it was paused before or after its steps", held, notes)
	}
	if state := d.run("gdpr", "status", id, "--json").want(t, 0).last(t, "request")["state"]; state == "complete" {
		t.Error("a paused erasure is complete")
	}
	time.Sleep(200 * time.Millisecond) // many steps' time; the current one may still end
	if now := left(); held-now > 1 {
		t.Errorf("a paused erasure went on: %d notes were left, and now %d", held, now)
	}
	d.run("jobs", "resume", job).want(t, 0)
	wait(t, "the end", func() bool {
		return d.run("gdpr", "status", id, "--json").want(t, 0).last(t, "request")["state"] == "complete"
	})
	wait(t, "the end of the job", func() bool { return d.eraseJobNow()["state"] == "done" })
	if note := d.eraseJobNow()["note"]; note != "complete" { // done says only that the run came to its end
		t.Errorf("the job says %q of its request", note)
	}
	if left() != 0 {
		t.Errorf("%d notes are left", left())
	}
	wait(t, "the job's end", func() bool { return d.eraseJobNow()["state"] == "done" })
	on("gdpr", "verify", "usr_ida9931").want(t, 0)
}

// TestDetachedErasureByRelativeVariable: the process in the background runs in another directory, and must find the
// configuration that $MEMDESK_CONFIG names from this one. The command ends once that process has begun.
func TestDetachedErasureByRelativeVariable(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("daily/2026-05-23.md", "- Ida Quill-9931 called\n")
	config := fmt.Sprintf("[[store]]\nname = \"ada\"\nkind = \"crewship\"\npath = %q\n", d.mem)
	if err := os.WriteFile(filepath.Join(d.dir, "desk.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	on := func(args ...string) result {
		return d.bare(append([]string{"--config", filepath.Join(d.dir, "desk.toml")}, args...)...)
	}
	id, _ := on("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	sum := on("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "gdpr", "erase", id, "--plan-hash", fmt.Sprint(sum["plan_hash"]), "--confirm-count", fmt.Sprint(sum["items"]), "--yes", "--detach")
	cmd.Dir, cmd.Env = d.dir, []string{playEnv + "=" + playOwn, "MEMDESK_CONFIG=desk.toml"}
	for k, v := range d.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if d.eraseJobNow() == nil {
		t.Fatal("the command ended, and no job has begun")
	}
	wait(t, "the end of the job", func() bool { return d.eraseJobNow()["state"] == "done" })
}

// writes counts the writes of an output.
type writes struct {
	bytes.Buffer
	n int
}

func (w *writes) Write(p []byte) (int, error) {
	w.n++
	return w.Buffer.Write(p)
}

// TestProgressIsPrintedAtOnce: who follows an erasure by its rows must get each while it runs.
func TestProgressIsPrintedAtOnce(t *testing.T) {
	d := newDesk(t)
	d.write("daily/2026-05-23.md", "- Ida Quill-9931 called\n")
	id, _ := d.run("gdpr", "request", "--subject", "usr_ida9931", "--alias", "Ida Quill-9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	sum := d.run("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")
	out := &writes{}
	p := cli.Program{Args: []string{"--open", "crewship=" + d.mem, "gdpr", "erase", id, "--plan-hash", fmt.Sprint(sum["plan_hash"]), "--confirm-count", fmt.Sprint(sum["items"]), "--yes", "--json"},
		Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard, Env: d.environ(), Dir: d.dir, Clock: clock.System{}, Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: "op"}
	code := p.Run(t.Context())
	if rows := strings.Count(out.String(), `"type":"progress"`); code != 0 || rows < 2 || out.n <= rows {
		t.Errorf("exit %d, %d rows of progress in %d writes:\n%s", code, rows, out.n, out.String())
	}
}
