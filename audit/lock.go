package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	lockFile     = "lock"
	lockPatience = 15 * time.Second
)

// lock takes the log's lock: exclusive to append, shared to read a snapshot. A writer recreates a missing
// lock file; a reader does without, since reading leaves no trace. It waits until ctx ends, 15 s at most.
func (l *Log) lock(ctx context.Context, exclusive bool) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	flag := os.O_RDONLY
	if exclusive {
		flag = os.O_RDWR | os.O_CREATE
	}
	wait := 100 * time.Microsecond
	for {
		f, err := l.fs.OpenFile(l.path(lockFile), flag|syscall.O_NOFOLLOW, 0o600)
		if errors.Is(err, fs.ErrNotExist) && !exclusive {
			return func() {}, nil
		}
		if err != nil {
			return nil, bare(err)
		}
		got, err := f.TryLock(exclusive)
		if err == nil && got {
			// A lock file that was unlinked during the wait protects nothing.
			mine, err1 := f.Stat()
			there, err2 := l.fs.Lstat(l.path(lockFile))
			if err1 == nil && err2 == nil && os.SameFile(mine, there) {
				return func() { f.Close() }, nil
			}
		}
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the audit log is held by another process: %w", ctx.Err())
		case <-time.After(wait):
		}
		wait = min(2*wait, 2*time.Millisecond)
	}
}

// hold locks the log for a change and inspects its end.
func (l *Log) hold(ctx context.Context) (st state, unlock func(), err error) {
	if unlock, err = l.lock(ctx, true); err != nil {
		return state{}, nil, err
	}
	if st, err = l.inspect(); err != nil {
		unlock()
		return state{}, nil, err
	}
	return st, unlock, nil
}
