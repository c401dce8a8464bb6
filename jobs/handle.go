package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"memdesk/internal/clock"
)

// progressEvery is how often progress is written to the journal, for other processes; watchers in this
// process see each change.
const progressEvery = time.Second

// Handle is a running job, for its work; safe for concurrent use.
type Handle struct {
	id     ID
	clock  clock.Clock
	cancel context.CancelCauseFunc
	first  entry

	mu      sync.Mutex
	journal *journal
	now     entry
	err     error
	flushed time.Time     // time of the last progress in the journal
	changed chan struct{} // closed and replaced at each change
	resume  chan struct{} // closed when a paused job may continue; nil when not paused
	ended   bool
}

// ID is the job's id.
func (h *Handle) ID() ID { return h.id }

// Progress sets how far the work is; a total of 0 means unknown. The note must not hold personal data.
func (h *Handle) Progress(done, total int64, unit, note string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.now.Done, h.now.Total, h.now.Unit, h.now.Note = done, total, clip(unit), clip(note)
	at := h.clock.Now()
	if since := at.Sub(h.flushed); since >= progressEvery || since < 0 {
		// Display only: a lost progress is no reason to stop.
		if h.put(h.now, false) == nil {
			h.flushed = at
		}
	}
	h.notify()
}

// Step runs fn unless the journal has the step with this key as complete. It is complete when fn succeeded
// and the journal is durable; a crash in between runs fn again, so fn must be idempotent. Keys are unique in
// a job. A job can pause and end at a Step.
func (h *Handle) Step(ctx context.Context, key string, fn func(ctx context.Context) error) error {
	if err := h.Wait(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	hashed := h.journal.stepKey(key)
	skip := h.journal.steps[hashed]
	h.mu.Unlock()
	if skip {
		return nil
	}
	if err := fn(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.now
	e.Step, e.Steps = hashed, h.now.Steps+1
	if err := h.put(e, true); err != nil {
		return fmt.Errorf("record step: %w", err)
	}
	h.journal.steps[hashed], h.now.Steps = true, e.Steps
	h.notify()
	return nil
}

// Checkpoint makes the progress durable. A job can pause and end there.
func (h *Handle) Checkpoint(ctx context.Context) error {
	if err := h.Wait(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.put(h.now, true); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	h.notify()
	return nil
}

// Wait blocks while the job is paused. A job can pause and end there without a write: for many short steps.
func (h *Handle) Wait(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h.mu.Lock()
		resume := h.resume
		h.mu.Unlock()
		if resume == nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-resume:
		}
	}
}

// over reports whether the job has ended or broken off.
func (h *Handle) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// setPaused changes the state at once; the work stops at its next step.
func (h *Handle) setPaused(paused bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended:
		return ErrEnded
	case paused == (h.resume != nil):
		return nil
	case paused:
		if err := h.enter(Paused); err != nil {
			return err
		}
		h.resume = make(chan struct{})
	default:
		if err := h.enter(Running); err != nil {
			return err
		}
		close(h.resume)
		h.resume = nil
	}
	return nil
}

// begin moves from queued to running.
func (h *Handle) begin() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.resume != nil {
		return nil
	}
	return h.enter(Running)
}

// enter journals a state; the caller holds the lock.
func (h *Handle) enter(s State) error {
	e := h.now
	e.State = s
	if err := h.put(e, true); err != nil {
		return err
	}
	h.now.State = s
	h.notify()
	return nil
}

// put stamps and writes one line; the caller holds the lock.
func (h *Handle) put(e entry, sync bool) error {
	e.At = h.clock.Now().UTC()
	if err := h.journal.append(e, sync); err != nil {
		return err
	}
	h.now.At = e.At
	return nil
}

// end journals how the job ended and closes the journal. A job that ends because its process closes has not
// ended: it can be recovered.
func (h *Handle) end(s State, class string, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = cause
	if s == Interrupted {
		h.now.State = s
	} else {
		h.now.Class = clip(class)
		if err := h.enter(s); err != nil {
			// The journal has no end, so the job is interrupted, here as well.
			h.now.State, h.err = Interrupted, errors.Join(cause, err)
		}
	}
	h.ended = true
	h.err = errors.Join(h.err, h.journal.f.Close())
	h.notify()
}

// notify wakes the watchers; the caller holds the lock.
func (h *Handle) notify() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// look returns the status and a channel that closes when it changes.
func (h *Handle) look() (Status, <-chan struct{}, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	st := h.now.status(h.id, h.first)
	st.Err = h.err
	return st, h.changed, h.ended
}
