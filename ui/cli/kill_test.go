package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/conflict/names"
)

// The calls at which a resolve is killed: all that change a disk or wait for it.
var killedAt = []string{"renameat2", "renameat", "unlinkat", "fsync", "write", "pwrite64", "mkdirat", "flock", "fchownat", "openat"}

const (
	killBase = "base: one, two\n"
	killCopy = "copy: one, 2\n"
	killName = "plan.sync-conflict-20260527-083015-K3ZQ7AB.md"
)

// TestAKilledResolveLosesNothing kills the program at its system calls, one run for each: while it resolves
// a conflict, and while it undoes that. strace counts the calls per thread, so the killed call varies from
// run to run. A few calls here, all of them with MEMDESK_SOAK.
func TestAKilledResolveLosesNothing(t *testing.T) {
	strace := tracer(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	soak := os.Getenv("MEMDESK_SOAK") != ""
	until := time.Now().Add(5 * time.Second)
	kills := 0
	for _, takeBack := range []bool{false, true} {
		for _, call := range killedAt {
			step := 1
			for n := 1; n <= 200; n += step {
				if !soak && (n > 3 || time.Now().After(until)) {
					break
				}
				if !killOnce(t, strace, self, call, n, takeBack) {
					break
				}
				kills++
			}
		}
		until = time.Now().Add(3 * time.Second)
	}
	if kills == 0 {
		t.Error("nothing was killed")
	}
	t.Logf("killed %d times", kills)
}

// tracer is the command line of strace, to which its options and the program are added. What it writes goes
// nowhere without another -o. It stops the program at every call: with --seccomp-bpf a thread makes fewer
// calls than in the run that counted them, and most faults do not occur.
func tracer(t *testing.T) []string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace on this machine; to run this test: apt-get install -y strace")
	}
	line := []string{strace, "-f", "-qq", "-o", os.DevNull}
	if out, err := exec.Command(strace, append(line[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %s", out)
	}
	return line
}

// killOnce reports whether the run was killed; if not, there is no n-th call.
func killOnce(t *testing.T, strace []string, self, call string, n int, takeBack bool) bool {
	t.Helper()
	d := newDesk(t)
	defer os.RemoveAll(d.dir)
	root := filepath.Join(d.dir, "vault")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"plan.md": killBase, killName: killCopy} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) result { return d.bare(append([]string{"--open", "vault=" + root}, args...)...) }
	act := []string{"conflicts", "resolve", "vault:" + killName, "--take", "copy", "--yes"}
	if takeBack {
		run(act...).want(t, 0)
		act = []string{"conflicts", "undo", undoIDs(run)[0], "--yes"}
	}
	line := slices.Concat(strace, []string{"-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), self, "-test.run=^$"})
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = d.dir
	cmd.Env = []string{playEnv + "=" + strings.Join(append([]string{"--open", "vault=" + root}, act...), "\n"), "GOMAXPROCS=1"}
	for k, v := range d.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	killed := err != nil
	at := fmt.Sprintf("killed at %s %d (%v), undo %v", call, n, err, takeBack)
	if killed && cmd.ProcessState.ExitCode() > 0 && cmd.ProcessState.ExitCode() != 137 {
		t.Errorf("%s: it was not killed, it failed: %s", at, out)
		return false
	}
	everything := allBytes(t, root) + allBytes(t, filepath.Join(d.dir, "state", "memdesk", "undo"))
	for _, text := range []string{killBase, killCopy} {
		if !strings.Contains(everything, text) {
			t.Fatalf("%s: %q is lost", at, text)
		}
	}
	// Every change must be reported, and every reported change must be undoable.
	now := run("conflicts", "list")
	if now.code != 0 {
		t.Errorf("%s: conflicts list: exit %d\n%s%s", at, now.code, now.out, now.err)
	}
	base, _ := os.ReadFile(filepath.Join(root, "plan.md"))
	copied, _ := os.ReadFile(filepath.Join(root, killName))
	if string(base) != killBase || string(copied) != killCopy {
		ids := undoIDs(run)
		if len(ids) == 0 {
			t.Fatalf("%s: the base holds %q, the copy %q, and undo list says nothing", at, base, copied)
		}
		// An act interrupted before any change has nothing to restore, so the act before it is next.
		var put result
		for _, id := range ids {
			put = run("conflicts", "undo", id, "--yes")
			base, _ = os.ReadFile(filepath.Join(root, "plan.md"))
			copied, _ = os.ReadFile(filepath.Join(root, killName))
			if string(base) == killBase && string(copied) == killCopy {
				break
			}
		}
		if string(base) != killBase || string(copied) != killCopy {
			t.Fatalf("%s: after undo the base holds %q, the copy %q\n%s%s\n%s", at, base, copied, put.out, put.err, now.err)
		}
	}
	left, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if name := f.Name(); !f.IsDir() && name != "plan.md" && name != killName && !names.Skipped(name) && !strings.HasPrefix(name, ".") {
			t.Errorf("%s: %s is left and nothing tells what it is", at, name)
		}
	}
	return killed
}

// undoIDs are the entries of undo list, newest first.
func undoIDs(run func(args ...string) result) []string {
	var ids []string
	for _, r := range run("undo", "list", "--json").rows {
		if id, ok := r["undo"].(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func allBytes(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // without a directory nothing was kept
		}
		b, err := os.ReadFile(p)
		all.Write(b)
		all.WriteByte('\n')
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestAnActOutlivesItsReader: both outputs are a pipe that nobody reads any more, as of `2>&1 | head -1`. The first line
// must not end the act half way and without an outcome.
func TestAnActOutlivesItsReader(t *testing.T) {
	d := newDesk(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, w, w
	cmd.Env = []string{playEnv + "=" + strings.Join([]string{"--open", "crewship=" + d.mem, "forget", "crewship:AGENT.md", "crewship:daily/2026-05-21.md", "--yes"}, "\n")}
	for k, v := range d.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	if a, b := d.read("AGENT.md"), d.read("daily/2026-05-21.md"); a != "-" || b != "-" {
		t.Errorf("left are %q and %q", a, b)
	}
	if v := d.bare("audit", "verify"); v.code != 0 || strings.Contains(v.out, "open intent") {
		t.Errorf("audit verify: exit %d, %s", v.code, v.out)
	}
}
