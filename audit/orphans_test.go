package audit_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"memdesk/audit"
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
	before := s.open(t)
	audit.Pretend(before, audit.Process{PID: os.Getpid()})
	at(before) // of an earlier process with the same pid
	next := s.open(t)
	open[at(next)] = true // its own, with which it closes the recent ones
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
