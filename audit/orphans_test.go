package audit_test

import (
	"context"
	"os/exec"
	"testing"

	"memdesk/audit"
	"memdesk/internal/atomicfile/faultfs"
)

// The next process must close the intents of dead processes as unknown; those of a live process, of
// another machine and of another container must stay open.
func TestCloseOrphans(t *testing.T) {
	ctx := context.Background()
	dead := exec.Command("true")
	must(t, dead.Run())
	s := fresh(t)
	at := func(l *audit.Log) uint64 {
		seq, err := l.Intent(ctx, forget)
		must(t, err)
		return seq
	}
	open := map[uint64]bool{}
	for name, c := range map[string]struct {
		from   audit.Process
		closed bool
	}{
		"killed":           {audit.Process{PID: dead.Process.Pid}, true},
		"before a restart": {audit.Process{PID: 1, Boot: "another"}, true},
		"earlier version":  {audit.Process{PID: dead.Process.Pid, Host: audit.HostID()}, true},
		"under way":        {audit.Process{PID: 1}, false},
		"another machine":  {audit.Process{PID: dead.Process.Pid, Host: "another"}, false},
		"a container":      {audit.Process{PID: dead.Process.Pid, Host: audit.HostID() + " pid:[1]"}, false},
	} {
		l := s.open(t)
		audit.Pretend(l, c.from)
		if seq := at(l); !c.closed {
			open[seq] = true
			t.Logf("%d: %s", seq, name)
		}
	}
	at(s.open(t)) // of an earlier process with the same pid
	next := s.open(t)
	open[at(next)] = true // its own
	if n, err := next.CloseOrphans(ctx); err != nil || n != 4 {
		t.Errorf("%d closed, %v; want 4", n, err)
	}
	left, err := next.OpenIntents(ctx)
	if err != nil || len(left) != len(open) {
		t.Fatalf("left: %+v, %v", left, err)
	}
	for _, r := range left {
		if !open[r.Seq] {
			t.Errorf("%d is open", r.Seq)
		}
	}
	if n, err := next.CloseOrphans(ctx); err != nil || n != 0 {
		t.Errorf("again: %d closed, %v", n, err)
	}
	if page, err := next.List(ctx, audit.Filter{Result: audit.Unknown}, 0, ""); err != nil || len(page.Rows) != 4 || page.Rows[0].Class != audit.ClassInterrupted {
		t.Errorf("outcomes: %+v, %v", page.Rows, err)
	}
	if rep := verify(t, s.dir); !rep.OK {
		t.Errorf("verify: %s", rep.Reason)
	}
}

// An outcome that is written after CloseOrphans has read the log must stay the only one of its intent.
func TestCloseOrphansLooksAgain(t *testing.T) {
	ctx := context.Background()
	for name, between := range map[string]func(act, other *audit.Log, seq uint64) error{
		"another closer": func(_, other *audit.Log, _ uint64) error { _, err := other.CloseOrphans(ctx); return err },
		"the act's own outcome": func(act, _ *audit.Log, seq uint64) error {
			return act.Outcome(ctx, seq, audit.Result{Verdict: audit.OK})
		},
		"none": func(_, _ *audit.Log, _ uint64) error { return nil },
	} {
		s := fresh(t)
		s.limit = 2000
		l := s.open(t)
		audit.Pretend(l, audit.Process{PID: 1, Boot: "another"})
		var seq uint64
		for range 70 { // more than one write takes
			var err error
			seq, err = l.Intent(ctx, forget)
			must(t, err)
		}
		other, came := s.open(t), false
		s.fs = faultfs.New(func(_ int, step string) *faultfs.Fault {
			if step == "create lock" && !came { // the closer has read the log, and writes next
				came = true
				must(t, other.Note(ctx, forget, audit.Result{Verdict: audit.OK})) // begins the next segment
				must(t, between(l, other, seq))
			}
			return nil
		})
		_, err := s.open(t).CloseOrphans(ctx)
		must(t, err)
		page, err := other.List(ctx, audit.Filter{Phase: audit.PhaseOutcome}, 1000, "")
		must(t, err)
		outcomes := map[uint64]int{}
		for _, r := range page.Rows {
			outcomes[r.Link]++
		}
		if !came || len(page.Rows) != 70 || len(outcomes) != 70 {
			t.Errorf("%s: %d outcomes of %d intents; want one of each of 70", name, len(page.Rows), len(outcomes))
		}
		if rep := verify(t, s.dir); !rep.OK {
			t.Errorf("%s: verify: %s", name, rep.Reason)
		}
	}
}
