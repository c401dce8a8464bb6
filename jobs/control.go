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

// Request is what a job is asked, by any process.
type Request string

// The requests.
const (
	Cancel Request = "cancel" // end: the work stops at its next check of the context
	Pause  Request = "pause"  // at the next step or checkpoint
	Resume Request = "resume"
)

// Ask asks a job, also another process's; ErrEnded when it is over or interrupted.
func (r *Runner) Ask(ctx context.Context, id ID, what Request) (err error) {
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

func (j *Handle) obey(what Request) error {
	switch what {
	case Cancel:
		if j.over() { // its journal says so already, though its goroutine is still ending
			return ErrEnded
		}
		j.cancel(ErrCancelled)
	case Pause:
		return j.setPaused(true)
	case Resume:
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
func (r *Runner) takeRequest(id ID) (Request, error) {
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
	return Request(b), atomicfile.Pathless(r.fs.Remove(taken))
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
