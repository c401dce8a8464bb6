package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/gdpr"
	"memdesk/jobs"
	"memdesk/model"
)

// Away continues an erasure when the session ends.
type Away struct {
	Tied string // why no run outlives the session; empty: Begin works
	// Begin starts the run elsewhere. pid is the process that will begin it, 0 when it has begun.
	Begin func(ctx context.Context, o gdpr.Order) (pid int, err error)
}

// Tied says why the work ends with this session, to be continued later; empty when it does not.
func (e *Erasures) Tied() string { return e.away.Tied }

// Erase begins or continues to carry out a plan, and returns: the work outlives the caller.
func (e *Erasures) Erase(ctx context.Context, o gdpr.Order) error {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return err
	}
	r, err := e.Request(ctx, o.Request)
	if err != nil {
		return err
	}
	if r.Under() {
		return model.E(model.Conflict, eraseKind, gdpr.ErrBusy)
	}
	if _, err := e.desk.Authorise(ctx, o); err != nil {
		return err
	}
	if e.Tied() != "" {
		var out gdpr.Outcome
		_, err := e.runner.Start(ctx, e.job(o, &out, nil))
		return err
	}
	pid, err := e.away.Begin(ctx, o)
	if err != nil || pid == 0 {
		return err
	}
	return e.begun(ctx, o.Request, pid)
}

// beginWait is the time that another process has to open its stores and begin.
const beginWait = 20 * time.Second

// begun waits until another process has begun its job, so that the caller sees the job.
func (e *Erasures) begun(ctx context.Context, id string, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, beginWait)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := e.runner.List(ctx)
		if err != nil && ctx.Err() == nil {
			return model.E(model.Unavailable, "jobs", err)
		}
		if slices.ContainsFunc(all, func(st jobs.Status) bool { return st.Kind == eraseKind && st.Title == id && st.PID == pid }) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return model.Errorf(model.Timeout, eraseKind, "the process in the background has not begun; `memdesk gdpr erase %s` in a terminal says why", id)
		}
	}
}

// Pause holds a run at its next step.
func (e *Erasures) Pause(ctx context.Context, run jobs.ID) error {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return err
	}
	return JobError(e.runner.Ask(ctx, run, jobs.Pause))
}

// Resume lets a paused run go on.
func (e *Erasures) Resume(ctx context.Context, run jobs.ID) error {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return err
	}
	return JobError(e.runner.Ask(ctx, run, jobs.Resume))
}

// pauseEvery is the number of steps between two lines of the job's journal. The job can pause at every step.
const pauseEvery = 32

func statusWords(s gdpr.State) string { return strings.ReplaceAll(string(s), "_", " ") }

// ErasedHow is what the job of an erasure made of its request; empty for any other job, one that has not come to
// its end, and one of an earlier version.
func ErasedHow(j jobs.Status) string {
	for _, s := range []gdpr.State{gdpr.StateComplete, gdpr.StateInScope, gdpr.StatePartial, gdpr.StatePending} {
		if j.State == jobs.Done && j.Kind == eraseKind && j.Note == statusWords(s) {
			return j.Note
		}
	}
	return ""
}

// job is an erasure as a job. told hears the progress in the job's own goroutine; nil: nobody listens. out may be
// read when the job has ended.
func (e *Erasures) job(o gdpr.Order, out *gdpr.Outcome, told func(gdpr.Progress)) jobs.Spec {
	spec := jobs.Spec{Kind: eraseKind, Title: o.Request, Classify: func(err error) string { return string(model.KindOf(err)) }}
	spec.Run = func(ctx context.Context, h *jobs.Handle) error {
		n, last := 0, ""
		var err error
		*out, err = e.desk.Erase(within(ctx), o, e.s.Fleet, func(ctx context.Context, p gdpr.Progress) error {
			now := p.Store + " " + p.What
			h.Progress(p.Done, p.Total, "step", now)
			if n++; n%pauseEvery == 1 || now != last {
				if err := h.Checkpoint(ctx); err != nil {
					return err
				}
			} else if err := h.Wait(ctx); err != nil {
				return err
			}
			last = now
			if told != nil {
				told(p)
			}
			return nil
		})
		changed := out.Forgotten + out.Redacted
		switch {
		case err == nil: // a run comes to its end also where a store was down
			h.Progress(changed, changed, "item", statusWords(out.Status))
		case out.Status != "": // it was broken off
			h.Progress(changed, 0, "item", statusWords(out.Status))
		}
		return err
	}
	return spec
}

// EraseHere carries out or continues a plan as a job of this process and returns when it is over; told hears
// the progress in the job's own goroutine. The end of ctx stops the run at its next step. A run that began and
// did not come to its end is ErrEndedEarly, with the outcome so far.
func (e *Erasures) EraseHere(ctx context.Context, o gdpr.Order, told func(gdpr.Progress)) (out gdpr.Outcome, err error) {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return out, err
	}
	id, err := e.runner.Start(ctx, e.job(o, &out, told))
	if err != nil {
		return out, err
	}
	end, err := follow(ctx, e.runner, id, func(jobs.Status) {})
	switch {
	case err != nil:
		return out, err
	case end.State == jobs.Done:
		return out, nil
	case end.State == jobs.Failed && out.Status == "": // it did not begin
		return out, end.Err
	case end.Err != nil:
		return out, fmt.Errorf("%[2]w: %[1]w", end.Err, ErrEndedEarly)
	}
	return out, ErrEndedEarly
}

// ErrEndedEarly is a run that was stopped before its end.
var ErrEndedEarly = model.Errorf(model.Timeout, "", "the run ended early; call it again to go on")

// Carry carries out a plan for a visitor who may leave, and closes the session at its end, which wg awaits.
// The end of ctx leaves the job to be continued.
func (s *Session) Carry(ctx context.Context, o gdpr.Order, wg *sync.WaitGroup) error {
	r, err := s.Jobs()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	e, err := s.Erasures(r, Away{})
	if err == nil {
		err = s.Allow(ctx, Erase, "", "")
	}
	var id jobs.ID
	if err == nil {
		var out gdpr.Outcome
		id, err = r.Start(ctx, e.job(o, &out, nil))
	}
	if err != nil {
		return errors.Join(err, r.Close(ctx), s.Close())
	}
	ended, err := r.Watch(context.WithoutCancel(ctx), id)
	if err != nil {
		return errors.Join(err, r.Close(ctx), s.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = r.Close(context.WithoutCancel(ctx)) })
	wg.Go(func() {
		defer stop()
		for range ended {
		}
		_ = errors.Join(r.Close(context.WithoutCancel(ctx)), s.Close()) // its journal has the outcome
	})
	return nil
}
