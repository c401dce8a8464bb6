package audit

import (
	"context"
	"errors"
	"sync"
	"time"
)

// background signs and anchors beside the appends, one run at a time.
type background struct {
	mu      sync.Mutex
	timer   *time.Timer
	newest  uint64 // record that this Log has appended
	running bool
	closed  bool
	fails   int       // failed runs, one after the other
	pause   time.Time // no run before it
	wg      sync.WaitGroup
	stop    context.CancelFunc
}

// closeWait bounds the time that Close spends on anchors.
const closeWait = 4 * time.Second

// appended is called after each append: it signs the head in the background when enough records
// came, or some time after the first one.
func (l *Log) appended(seq uint64) {
	b := &l.behind
	b.mu.Lock()
	defer b.mu.Unlock()
	b.newest = max(b.newest, seq)
	l.planLocked()
}

// planLocked starts a run for records that are not signed yet, or sets its time: after a failed run not before the
// pause is over. The end of a run plans the next one, for the records that came meanwhile.
func (l *Log) planLocked() {
	b, signed, pause := &l.behind, l.signedSeq.Load(), l.behind.pause.Sub(l.clock.Now())
	enough := l.every > 0 && b.newest >= signed+l.every
	switch {
	case b.closed, b.running, b.newest <= signed:
	case enough && pause <= 0:
		l.startLocked()
	case b.timer != nil:
	case enough:
		l.timeLocked(pause)
	case l.wait > 0:
		l.timeLocked(max(l.wait, pause))
	}
}

// timeLocked sets the time of the next run.
func (l *Log) timeLocked(wait time.Duration) {
	b := &l.behind
	b.timer = time.AfterFunc(wait, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.timer = nil
		switch pause := b.pause.Sub(l.clock.Now()); {
		case b.closed, b.running:
		case pause > 0: // a run has failed since
			l.timeLocked(pause)
		default:
			l.startLocked()
		}
	})
}

// startLocked runs once in the background; Close waits for it.
func (l *Log) startLocked() {
	b := &l.behind
	ctx, cancel := context.WithCancel(context.Background())
	b.running, b.stop = true, cancel
	b.wg.Go(func() {
		defer cancel()
		// A failed anchor is kept for Anchors: health and login report it, and the next run and Close retry
		// it. The program reports the error of Close when it ends.
		_, err := l.Checkpoint(ctx)
		if err == nil {
			_ = l.Push(ctx, false)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.running = false
		if err != nil { // as after a failed anchor: a key that nobody can give now is not asked for at each append
			b.fails++
			b.pause = l.clock.Now().Add(retryAfter(b.fails))
		} else {
			b.fails = 0
		}
		l.planLocked()
	})
}

// Close signs the head if this Log has appended, and gives it to the anchors. It waits a few seconds at most.
// The log can be read afterwards.
func (l *Log) Close(ctx context.Context) error {
	b := &l.behind
	b.mu.Lock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
	if b.stop != nil {
		b.stop()
	}
	b.mu.Unlock()
	b.wg.Wait()
	if !l.wrote.Swap(false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	if _, err := l.Checkpoint(ctx); err != nil && !errors.Is(err, ErrNoCheckpoint) {
		return err
	}
	return l.Push(ctx, false)
}
