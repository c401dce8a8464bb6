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
// still arrives, it is added.
func (l *Log) CloseOrphans(ctx context.Context) (closed int, err error) {
	rows, err := l.OpenIntents(ctx)
	if err != nil {
		return 0, err
	}
	return l.closeOrphans(ctx, rows)
}

// recent is how many of the newest intents and outcomes a process looks at with its first intent. Each process does so: the
// intent of a killed one is among them for the next, unless others that ran on wrote that many since; a server reads the
// whole log.
const recent = 1000

// closeRecent is CloseOrphans for the newest records, once for a process: a command must not read a long log. It follows the first
// intent, so a console tells of them at login before. It reports no error: the intents stay open, and the next process tries.
func (l *Log) closeRecent(ctx context.Context) {
	l.tidy.Do(func() {
		parts, err := l.parts(ctx)
		if err != nil || len(parts) == 0 {
			return
		}
		acts := func(ln *line) bool {
			phase := Phase(ln.value(fPhase))
			return phase == PhaseIntent || phase == PhaseOutcome
		}
		page, err := l.page(ctx, parts, position{part: len(parts) - 1, off: -1}, false, recent, acts)
		if err != nil {
			return
		}
		ended := map[uint64]bool{}
		open := slices.DeleteFunc(page.Rows, func(r Row) bool {
			ended[r.Link] = true // newest first: an outcome comes before its intent
			return r.Damaged != "" || r.Phase != PhaseIntent || ended[r.Seq]
		})
		_, _ = l.closeOrphans(ctx, open)
	})
}

func (l *Log) closeOrphans(ctx context.Context, rows []Row) (closed int, err error) {
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
