package operator

import (
	"context"
	"errors"

	"memdesk/jobs"
	"memdesk/model"
)

// Running is long work, seen from inside.
type Running interface {
	// ID names the job in the journal.
	ID() jobs.ID
	// Step runs fn; it is where the job pauses and ends. The key may name an item.
	Step(ctx context.Context, key string, fn func(context.Context) error) error
	// Progress reports the progress of the work; a total of 0 means unknown. No names in the note.
	Progress(done, total int64, unit, note string)
}

// Jobs runs long work so that it is journalled, listed by memdesk jobs and can be cancelled from there.
type Jobs struct {
	s      *Session
	runner *jobs.Runner
	ctx    context.Context // ends when the operator has gone without leaving
}

// Journal is the long work of a console; ctx ends with its operator.
func (s *Session) Journal(ctx context.Context, r *jobs.Runner) *Jobs { return &Jobs{s, r, ctx} }

// Run does work and returns when it is over; the end of ctx cancels it. kind and title are stored in clear:
// no names in them.
func (j *Jobs) Run(ctx context.Context, kind, title string, work func(context.Context, Running) error) error {
	id, err := j.runner.Start(ctx, jobs.Spec{Kind: kind, Title: title,
		Run:      func(ctx context.Context, h *jobs.Handle) error { return work(ctx, h) },
		Classify: func(err error) string { return string(model.KindOf(err)) },
	})
	if err != nil {
		return err
	}
	stays, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if j.ctx.Err() == nil { // else the job is interrupted when the runner closes, and reported later
			cancel()
		}
	})()
	last, err := follow(stays, j.runner, id, func(jobs.Status) {})
	if err != nil {
		return err
	}
	return last.Err
}

// List is every job in the journal, newest first, also those of other processes.
func (j *Jobs) List(ctx context.Context) ([]jobs.Status, error) { return j.runner.List(ctx) }

// Cancel asks a job to end at its next step, in any process; Conflict when it has ended.
func (j *Jobs) Cancel(ctx context.Context, id jobs.ID) error {
	return j.s.Control(ctx, j.runner, id, jobs.Cancel)
}

// Tied reports whether a job ends with this console.
func (j *Jobs) Tied(id jobs.ID) bool { return j.runner.Owns(id) }

// Control pauses, resumes or cancels a job.
func (s *Session) Control(ctx context.Context, r *jobs.Runner, id jobs.ID, what jobs.Request) error {
	if !r.Owns(id) {
		if err := s.Allow(ctx, ControlJob, "", ""); err != nil {
			return err
		}
	}
	return JobError(r.Ask(ctx, id, what))
}

// JobError gives a kind to errors of package jobs.
func JobError(err error) error {
	switch {
	case errors.Is(err, jobs.ErrNotFound):
		return model.E(model.NotFound, "jobs", err)
	case errors.Is(err, jobs.ErrEnded), errors.Is(err, jobs.ErrRunning):
		return model.E(model.Conflict, "jobs", err)
	}
	return err
}
