package audit

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
)

// ClassInterrupted is the class of an outcome that a later process wrote for an act whose own process died.
const ClassInterrupted = "interrupted"

// CloseOrphans records, for each open intent whose process is gone, that the act's end was not seen, and
// returns their number. Intents of another machine or container, or of a live process, stay open. If the act's own outcome
// still arrives, as from a recovery, it is added.
func (l *Log) CloseOrphans(ctx context.Context) (closed int, err error) {
	defer wrap(&err, "close open intents")
	open, rows, err := l.openIntents(ctx)
	if err != nil {
		return 0, err
	}
	gone := slices.DeleteFunc(rows, func(r Row) bool { return !l.orphaned(r.Record) })
	var failed error
	for some := range slices.Chunk(gone, maxBatch) {
		outcomes, err := l.closeGone(ctx, &open, some)
		if err != nil {
			return closed, refuse(err)
		}
		for _, w := range outcomes {
			if _, err := w.result(); err != nil {
				failed = errors.Join(failed, err)
			} else {
				closed++
			}
		}
	}
	return closed, failed
}

// closeGone writes the outcomes of acts whose processes are gone. It looks again, under the lock, whether each intent is still
// open: since the log was read, its process may have written the outcome and ended, or another process may have closed it.
func (l *Log) closeGone(ctx context.Context, open *openSet, gone []Row) (outcomes []*waiting, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	st, unlock, err := l.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	parts, err := l.listParts()
	if err != nil {
		return nil, err
	}
	if err := open.read(ctx, l, parts); err != nil {
		return nil, err
	}
	for _, r := range gone {
		if open.has(r.Seq) {
			outcomes = append(outcomes, &waiting{log: l, phase: PhaseOutcome, res: Result{Verdict: Unknown, Class: ClassInterrupted}, link: r.Seq})
		}
	}
	if len(outcomes) == 0 {
		return nil, nil
	}
	return outcomes, l.writeHeld(st, outcomes, false)
}

// orphaned reports whether a record's process is certainly gone. A pid of another namespace tells nothing here; records of
// earlier versions name no namespace.
func (l *Log) orphaned(r Record) bool {
	host, pids, _ := strings.Cut(r.Host, " ")
	here, ours, _ := strings.Cut(l.base.Host, " ")
	switch {
	case host != here:
		return false
	case r.Boot != l.base.Boot:
		return true
	case pids != "" && pids != ours:
		return false
	case r.PID == os.Getpid(): // a server in a container has the same pid after each start
		return r.TS.Before(l.start)
	}
	return errors.Is(syscall.Kill(r.PID, 0), syscall.ESRCH)
}
