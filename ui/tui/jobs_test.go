package tui_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/jobs"
	"memdesk/operator"
	"memdesk/ui/tui"
)

// runnerJobs runs work through a real journal, as the program does.
type runnerJobs struct{ r *jobs.Runner }

func (c runnerJobs) Run(ctx context.Context, kind, title string, work func(context.Context, operator.Running) error) error {
	id, err := c.r.Start(ctx, jobs.Spec{Kind: kind, Title: title, Run: func(ctx context.Context, h *jobs.Handle) error { return work(ctx, h) }})
	if err != nil {
		return err
	}
	changes, err := c.r.Watch(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.r.Ask(context.WithoutCancel(ctx), id, jobs.Cancel) })
	defer stop()
	var last jobs.Status
	for last = range changes {
	}
	return last.Err
}

func (c runnerJobs) List(ctx context.Context) ([]jobs.Status, error) { return c.r.List(ctx) }
func (c runnerJobs) Tied(id jobs.ID) bool                            { return c.r.Owns(id) }

func (c runnerJobs) Cancel(ctx context.Context, id jobs.ID) error {
	err := c.r.Ask(ctx, id, jobs.Cancel)
	if errors.Is(err, jobs.ErrEnded) {
		return nil
	}
	return err
}

// waitGone waits while a file exists.
func waitGone(path string) {
	for {
		if _, err := os.Stat(path); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// gated starts the console on items of a store whose acts wait, with two items marked and their removal
// begun.
func gated(t *testing.T, w, h int) (*robot, *pen, string) {
	gate := filepath.Join(t.TempDir(), "gate")
	write(t, gate, "")
	r, p := noted(t, "desk,staging,acts,journal,gate", w, h, goneEnv+"="+gate)
	r.press(":").press("store crewship").press("enter").see("of 6")
	r.press(" ", " ").see("2 marked").asked("d", "Forget 2 items?").press("shift+tab").see("[Forget]").press("enter")
	r.see("Job", "Nothing is done yet", "C stop")
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(gate + reached); err == nil {
			return r, p, gate
		} else if time.Now().After(end) {
			t.Fatal("no item is under way")
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestJobs(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, _, gate := gated(t, w, h)
		r.press("esc").see("[2 Tiers]", "at work: forget, 0 of 2 items; :jobs shows it", "3 of 6")
		r.press(":").press("jobs").press("enter").see("Jobs", "running", "forget 2 items", "stops it after the item under way", "C stop it", "enter outcomes")
		r.press("enter").see("Job", "Nothing is done yet").press("esc").see("Jobs")
		// The question starts on Cancel, which must stop nothing.
		r.asked("C", "Stop the job").see("[Cancel]", "What is done stays done").press("enter").see("cancelled: nothing was changed", "running")
		r.asked("C", "Stop the job").press("shift+tab").see("[Stop it]").press("enter").see("it stops at its next step")
		remove(t, gate)
		r.see("stopped").press("C").see("C: it has ended")
		r.press("enter").see("stopped at 1 of 2 items: 1 forgotten").press("esc").press("esc").see("[2 Tiers]", "of 5")
	})
}

// A job of another process must be listed, can be stopped, and must never be taken for one of this session.
func TestJobOfAnotherProcess(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p := noted(t, "desk,acts,journal", w, h)
		other, err := jobs.Open(jobs.Options{Dir: filepath.Join(p.dir, "state", "jobs"), Poll: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := other.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		_, err = other.Start(context.Background(), jobs.Spec{Kind: "copy", Title: "harbor to graph", Run: func(ctx context.Context, h *jobs.Handle) error {
			h.Progress(3, 12, "item", "")
			<-ctx.Done()
			return context.Cause(ctx)
		}})
		if err != nil {
			t.Fatal(err)
		}
		r.press(":").press("jobs").press("enter").see("copy", "3 of 12 items, 25%", "harbor to graph", "does not stop it")
		r.press("enter").see("last sign", "esc back").press("esc").see("enter outcomes")
		r.asked("C", "Stop the job").see("It is not of this session", "the same memdesk copy goes on").press("shift+tab").press("enter").see("it stops at its next step")
		r.see("stopped")
	})
}

func TestNoJobs(t *testing.T) {
	d := atDesk(nil)
	d.line("jobs").wants(t, "there is no journal for long work here")
	d = atDesk(func(o *tui.Options) { o.Jobs = jobsFake{} })
	d.line("jobs").wants(t, "No long work is on record")
	d.keys("C").wants(t, "C: the list is empty")
}

// Leaving during this session's work must ask first, with numbers; ctrl+c twice leaves from any screen,
// and the journal must show the state of the work.
func TestLeavingAsksWhileWorkRuns(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p, _ := gated(t, w, h)
		for _, how := range []string{"q", "ctrl+c"} {
			r.asked(how, "Leave memdesk?").see("[Cancel]", "This stops 1 job of this session", "- forget: forget 2 items")
			r.press("enter").see("you are still here: the work goes on", "Nothing is done yet")
		}
		r.press("q").see("enter cancel").press("esc").see("you are still here")
		r.press("esc", ":").press("quit").press("enter").see("Leave memdesk?", "enter cancel").press("shift+tab").see("[Stop and leave]").press("enter")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
		if s := states(t, p); len(s) != 1 || s[0] == "done" {
			t.Errorf("the journal says %q", s)
		}
	})
}

func TestCtrlCTwiceLeaves(t *testing.T) {
	r, _, _ := gated(t, 80, 24)
	r.press("ctrl+c", "ctrl+c")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
	r, _, _ = gated(t, 80, 24)
	r.press(":").press("lock").press("enter").see("memdesk is locked").press("ctrl+c").see("ctrl+c again stops it and leaves")
	r.press("x").gone("again stops it").press("ctrl+c").see("ctrl+c again").press("ctrl+c")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
	// Work that continues without the session must not delay leaving.
	o, fakes := twoHundredThousand()
	o.Acts, o.Jobs = &actsFake{fakes: fakes}, jobsFake{}
	d := newDriver(o, 80, 24)
	d.settle("48,210")
	d.keys("q").wants(t, "[2 Tiers]")
}

// states are the last states in the journals below a home.
func states(t *testing.T, p *pen) (out []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(p.dir, "state", "jobs", "*.jsonl"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		var last struct{ State string }
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
			t.Fatal(err)
		}
		out = append(out, last.State)
	}
	return out
}

// An export must show its progress, can be stopped, and must be complete or absent.
func TestExportIsWholeOrNotThere(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		gate := filepath.Join(t.TempDir(), "gate")
		write(t, gate, "")
		r, p := noted(t, "desk,acts,gate", w, h, goneEnv+"="+gate)
		file := filepath.Join(p.dir, "all.jsonl")
		left := func(what string) {
			t.Helper()
			entries, err := filepath.Glob(filepath.Join(p.dir, "*all.jsonl*"))
			hidden, _ := filepath.Glob(filepath.Join(p.dir, ".all.jsonl*"))
			if err != nil || len(entries)+len(hidden) > 0 {
				t.Errorf("%s leaves %q %q", what, entries, hidden)
			}
		}
		begin := func() {
			r.asked("x", "Export the table?").press("tab").press("ctrl+u").press(file).press("tab").press("enter").see("1,000 rows", "so far; esc stops it")
		}
		r.press(":").press("store graph").press("enter").see("48,210")
		begin()
		if _, err := os.Stat(file); err == nil {
			t.Error("a half file has the name already")
		}
		r.press("esc").press("j", "q")
		remove(t, gate)
		r.see("Stopped after", "nothing was left behind", "enter cancel").press("enter").see("cancelled")
		left("stopping")
		write(t, gate, "")
		begin()
		r.press("ctrl+c").see("ctrl+c again stops it and leaves")
		remove(t, gate)
		r.see("wrote 48,210 rows to", "all.jsonl (")
		remove(t, file)
		write(t, gate, "")
		begin()
		r.press("ctrl+c", "ctrl+c")
		remove(t, gate)
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
		left("leaving")
	})
}
