package tui_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends/demodata"
)

// talker is the whole program in linear mode, in its own process.
type talker struct {
	t   *testing.T
	out *sink
	in  io.WriteCloser
	cmd *exec.Cmd
	at  int // the output before the last line
}

func (o *office) talk(args ...string) *talker {
	o.t.Helper()
	self, err := os.Executable()
	if err != nil {
		o.t.Fatal(err)
	}
	args = append([]string{"--config", filepath.Join(o.dir, demodata.ConfigFile), "--plain"}, args...)
	c := &talker{t: o.t, out: newSink(), cmd: exec.Command(self, "-test.run=^$")}
	c.cmd.Env = []string{"TERM=dumb", "LANG=C.UTF-8", "HOME=" + o.t.TempDir(), playEnv + "=" + programScenario,
		argsEnv + "=" + strings.Join(args, "\n"), "XDG_STATE_HOME=" + filepath.Join(o.dir, "state")}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.out
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		o.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	return c.hears("memdesk> ")
}

// say types lines.
func (c *talker) say(lines ...string) *talker {
	c.t.Helper()
	c.out.mu.Lock()
	c.at = c.out.buf.Len()
	c.out.mu.Unlock()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// hears waits until texts appear after the last line.
func (c *talker) hears(texts ...string) *talker {
	c.t.Helper()
	for _, want := range texts {
		if got, ok := c.out.since(c.at, want); !ok {
			c.t.Fatalf("never said %q:\n%s", want, got)
		}
	}
	return c
}

// until repeats a line until the answer has the text.
func (c *talker) until(line, want string) *talker {
	c.t.Helper()
	for end := time.Now().Add(4 * patience); time.Now().Before(end); {
		c.say(line).hears("memdesk> ")
		c.out.mu.Lock()
		got := c.out.buf.String()[c.at:]
		c.out.mu.Unlock()
		if strings.Contains(got, want) {
			return c
		}
	}
	c.t.Fatalf("%s never answered %q", line, want)
	return c
}

func TestLinearErasure(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	c := o.talk()
	c.say("erasure").hears("No erasure requests")
	c.say("request", "usr_maren", "Maren Holt; HF-2207", "", "she asked by letter", "", "no").hears("File a request to be forgotten", "Nothing was changed.")
	c.say("request", "", "", "", "", "", "go on", ".").hears("The person's id is missing", "Nothing was changed.")
	c.say("request", "usr_maren", "Maren Holt; HF-2207", "", "she asked by letter", "", "go on", "yes, this person", "leave it out", "file it").
		hears("Is Maren Holt this person", "Is HF-2207 this person", "File this request?", "received (YYYY-MM-DD) (enter keeps 2026-05-21)", "Done: filed er-", "1. due in 31 days, state new, person usr_maren")
	id := o.only()
	c.say("1", "show 1", "erase 1", "retry 1", "pause 1", "layers 1", "receipt 1", "", "no", "approve 1").
		hears("Nothing was searched yet. p searches every store", "With its number you can say: show, plan, ", "Nothing was searched yet", "there is no plan yet, or it is void: p makes one", "no plan yet", "no run is under way", "there are verdicts at the end", "Save the status report of "+id, "Nothing was changed.")
	c.say("deadline 1", "no", "deadline 1", "extend by two months").hears("stop the clock", "Nothing was changed.", "extended by two months")
	c.say("export 1", filepath.Join(o.dir, "person.zip"), "export").hears("Export everything about usr_maren?", "exported")
	c.say("plan 1").hears("Long work has begun: plan "+id, "Plan ready: ", "Plan of "+id, "1. All stores: ", "2. Store ")
	c.say("2", "unfold 1").hears("With its number you can say: unfold, ", "unfold is for other rows or lists: ")
	c.say("filter graph forget", "1", "hold 1", ".", "choose 1", "no").hears("1. forget: ", "action: forget: the item goes", "Keep ", "Nothing was changed.", "Shall it be redacted instead?", "Nothing was changed.")
	c.say("back", "back", "show 1", "approve", "erase", "no").hears("1. due in", "Plan of "+id, "Not here: the plan needs no approval: E carries it out", "for good?", "Type "+id+" to do it", "Nothing was changed.")
	c.say("erase", id).hears("for good?", "It runs on its own", "P pauses it")
	c.say("erasure").hears("memdesk> ").until("1", "No layer that can be reached holds the person")
	c.say("show 1", "layers 1", "verify 1", "", "", "no").hears("Receipt of "+id, "signature: verified", "Layers of "+id, "verdict clean")
	c.say("back", "verify 1", "usr_maren", "Maren Holt", "look again").hears("Type the person's id", "looked at now", "verdict clean")
	c.say("back", "receipt 1", filepath.Join(o.dir, "r.json"), "save").hears("saved,")
	c.say("edit graph:x", "quit").hears("left memdesk")
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if out, code := o.run("gdpr", "verify", filepath.Join(o.dir, "r.json")); code != 0 {
		t.Errorf("verify: exit %d: %s", code, out)
	}
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	for _, b := range c.out.buf.Bytes() {
		if b != '\n' && (b < 0x20 || b >= 0x7f) {
			t.Fatalf("byte %#x was said", b)
		}
	}
}

// A tree of many stores must begin with the stores, and a plan with its stores.
func TestLinearFolds(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	id := o.planned("--subject", "usr_maren")
	c := o.talk()
	c.say("tiers").hears("unfold NUMBER lists", "1. Store harbor", "2. Store graph")
	c.say("unfold 1").hears("1. Store harbor", "2. Scope ", "next goes on.", "memdesk> ").say("next").hears("20. ")
	c.say("erasure", "show 1").hears("Plan of "+id, "2. Store ", "3. Store ").say("unfold 2").hears("3. Store harbor, out of reach").say("quit").hears("left memdesk")
}

func TestLinearErasureSaysWhyNot(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[gdpr]\nrequire_approval = true\n")
	id := o.planned("--subject", "usr_teo")
	o.talk("--read-only").say("erasure", "request", "plan 1", "erase 1", "export 1", "deadline 1", "verify 1", "show 1", "hold 2").
		hears("this console is read-only", "Plan of "+id, "this console is read-only").say("quit").hears("left memdesk")
	o.talk().say("erasure", "erase 1", "approve 1").hears("Not yet: nobody else has approved this plan", "Approve the erasure of", "memdesk gdpr approve "+id).say("", "no", "quit").hears("left memdesk")
}
