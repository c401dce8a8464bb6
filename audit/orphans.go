package audit

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// ClassInterrupted is the class of an outcome that a later process wrote for an act whose own process died.
const ClassInterrupted = "interrupted"

// CloseOrphans records, for each open intent whose process is gone, that the act's end was not seen, and
// returns their number. Intents of another machine, or of a live process, stay open. If the act's own outcome
// still arrives, it is added.
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

// orphaned reports whether a record's process is certainly gone.
func (l *Log) orphaned(r Record) bool {
	switch {
	case r.Host != l.base.Host:
		return false
	case r.Boot != l.base.Boot:
		return true
	case r.PID == os.Getpid(): // a server in a container has the same pid after each start
		return r.TS.Before(l.start)
	}
	return errors.Is(syscall.Kill(r.PID, 0), syscall.ESRCH)
}
