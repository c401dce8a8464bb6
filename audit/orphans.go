package audit

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// ClassInterrupted is the class of an outcome that a later process wrote for an act whose own
// process is gone.
const ClassInterrupted = "interrupted"

// CloseOrphans records for each open intent whose process is gone that nobody saw how its act ended,
// and gives how many there were. Intents of another machine, and of a process that lives, stay open.
// The outcome of the act itself, should it still come, is added.
func (l *Log) CloseOrphans(ctx context.Context) (closed int, err error) {
	rows, err := l.OpenIntents(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if !l.orphaned(r.Record) {
			continue
		}
		if err := l.Outcome(ctx, r.Seq, Result{Verdict: Unknown, Class: ClassInterrupted}); err != nil {
			return closed, err
		}
		closed++
	}
	return closed, nil
}

// orphaned reports whether the process of a record is gone for sure.
func (l *Log) orphaned(r Record) bool {
	switch {
	case r.Host != l.base.Host:
		return false
	case r.Boot != l.base.Boot:
		return true
	case r.PID == os.Getpid(): // a container's server has the same number after each start
		return r.TS.Before(l.start)
	}
	return errors.Is(syscall.Kill(r.PID, 0), syscall.ESRCH)
}
