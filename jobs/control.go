package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"memdesk/internal/atomicfile"
)

// The requests that one process leaves for another's job.
const (
	askCancel = "cancel"
	askPause  = "pause"
	askResume = "resume"
)

// Cancel asks a job to end, also another process's; the work stops at its next check of the context. ErrEnded
// when it is over or interrupted.
func (r *Runner) Cancel(ctx context.Context, id ID) error { return r.ask(ctx, id, askCancel) }

// Pause stops a job at its next step or checkpoint.
func (r *Runner) Pause(ctx context.Context, id ID) error { return r.ask(ctx, id, askPause) }

// Resume continues a paused job.
func (r *Runner) Resume(ctx context.Context, id ID) error { return r.ask(ctx, id, askResume) }

func (r *Runner) ask(ctx context.Context, id ID, what string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s job: %w", what, err)
		}
	}()
	if j := r.mine(id); j != nil {
		return j.obey(what)
	}
	st, err := r.Get(ctx, id)
	switch {
	case err != nil:
		return err
	case st.State.Ended() || st.State == Interrupted:
		return ErrEnded
	}
	return atomicfile.Pathless(atomicfile.WriteFS(r.fs, r.controlPath(id), []byte(what), atomicfile.Options{}))
}

func (j *Handle) obey(what string) error {
	switch what {
	case askCancel:
		if j.over() { // its journal says so already, though its goroutine is still ending
			return ErrEnded
		}
		j.cancel(ErrCancelled)
	case askPause:
		return j.setPaused(true)
	case askResume:
		return j.setPaused(false)
	}
	return nil // another version's request
}

// obey watches for other processes' requests until the job ends.
func (r *Runner) obey(ctx context.Context, j *Handle) {
	defer r.wg.Done()
	t := time.NewTicker(r.poll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		what, err := r.takeRequest(j.id)
		if err == nil && what != "" {
			// A journal that cannot be written ends the job at its next step.
			err = j.obey(what)
		}
		if errors.Is(err, ErrEnded) {
			return
		}
	}
}

// takeRequest reads and removes a request; empty when there is none. It is moved aside first, so that what is
// removed is what was read, and not a newer request.
func (r *Runner) takeRequest(id ID) (string, error) {
	taken := r.controlPath(id) + ".taken"
	err := r.fs.Rename(r.controlPath(id), taken)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", atomicfile.Pathless(err)
	}
	f, err := r.fs.OpenFile(taken, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", atomicfile.Pathless(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return "", atomicfile.Pathless(err)
	}
	return string(b), atomicfile.Pathless(r.fs.Remove(taken))
}

// Watch sends the status of a job of this process now and at each change, only the newest when the reader is slow, and
// closes the channel after the last one or with ctx. Of another job it sends the status once.
func (r *Runner) Watch(ctx context.Context, id ID) (<-chan Status, error) {
	if j := r.mine(id); j != nil {
		out := make(chan Status)
		go j.watch(ctx, out)
		return out, nil
	}
	st, err := r.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("watch job: %w", err)
	}
	out := make(chan Status, 1)
	out <- st
	close(out)
	return out, nil
}

func (j *Handle) watch(ctx context.Context, out chan<- Status) {
	defer close(out)
	for {
		st, changed, ended := j.look()
		select {
		case out <- st:
		case <-ctx.Done():
			return
		}
		if ended {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
