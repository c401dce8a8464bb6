package cli

import (
	"context"
	"errors"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/tui"
	"memdesk/undo"
)

// consoleActs are the changes that the console makes, through the stores' own
// layers and with what they displace kept.
type consoleActs struct {
	fleet *backends.Fleet
	undo  *undo.Keeper
	shelf *origin.Shelf
}

// Preview implements tui.Acts.
func (c *consoleActs) Preview(ctx context.Context, store, id string) ([]string, error) {
	s, err := c.fleet.Store(store)
	if err != nil {
		return nil, err
	}
	return c.undo.Preview(ctx, s, id)
}

// Forget implements tui.Acts.
func (c *consoleActs) Forget(ctx context.Context, store, id string, seen model.Revision, reason string) (tui.Done, error) {
	s, err := c.fleet.Store(store)
	if err != nil {
		return tui.Done{}, err
	}
	res, e, err := c.undo.Forget(audit.WithReason(ctx, reason), s, model.ForgetRequest{ID: id, IfMatch: seen})
	done := tui.Done{Store: store, Item: id, Removed: res.Removed, Undo: e.ID, Obstacle: e.Obstacle}
	if err == nil {
		var ferr error
		if done.Relations, ferr = e.Fell(ctx, s); ferr != nil {
			done.Warnings = append(done.Warnings, "which relations went with it cannot be seen: "+ferr.Error())
		}
	}
	return done, err
}

// Retain implements tui.Acts.
func (c *consoleActs) Retain(ctx context.Context, store string, req model.RetainRequest, reason string) (tui.Done, error) {
	s, err := c.fleet.Store(store)
	if err != nil {
		return tui.Done{}, err
	}
	res, e, err := c.undo.Retain(audit.WithReason(ctx, reason), s, req)
	return tui.Done{Store: store, Item: res.ID, Undo: e.ID, Obstacle: e.Obstacle, Warnings: res.Warnings}, err
}

// Release implements tui.Acts.
func (c *consoleActs) Release(ctx context.Context, store, id string, body *string, seen model.Revision, reason string) (tui.Done, error) {
	s, err := c.fleet.Store(store)
	if err != nil {
		return tui.Done{}, err
	}
	res, err := release(audit.WithReason(ctx, reason), c.shelf, c.undo, s, id, body, seen)
	return tui.Done{Store: store, Item: res.Source, Removed: res.Removed, Undo: res.Undo.ID, Obstacle: res.Undo.Obstacle}, err
}

// consoleJobs runs the console's long work through the journal.
type consoleJobs struct {
	runner  *jobs.Runner
	session context.Context // ends when the operator has gone without leaving
}

// Run implements tui.Jobs.
func (c *consoleJobs) Run(ctx context.Context, kind, title string, work func(context.Context, tui.Job) error) error {
	id, err := c.runner.Start(ctx, jobs.Spec{Kind: kind, Title: title,
		Run:      func(ctx context.Context, h *jobs.Handle) error { return work(ctx, h) },
		Classify: func(err error) string { return string(model.KindOf(err)) },
	})
	if err != nil {
		return err
	}
	// The watch outlives ctx: what has begun comes to the end of its step.
	changes, err := c.runner.Watch(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	var last jobs.Status
	asked := ctx.Done()
	for {
		select {
		case s, open := <-changes:
			if !open {
				return last.Err
			}
			last = s
		case <-asked:
			asked = nil
			if c.session.Err() != nil {
				continue // nobody has cancelled it: it is interrupted when the runner closes, and told of
			}
			if err := c.runner.Cancel(context.WithoutCancel(ctx), id); err != nil && !errors.Is(err, jobs.ErrEnded) {
				return err
			}
		}
	}
}

// List implements tui.Jobs.
func (c *consoleJobs) List(ctx context.Context) ([]jobs.Status, error) { return c.runner.List(ctx) }

// Cancel implements tui.Jobs.
func (c *consoleJobs) Cancel(ctx context.Context, id jobs.ID) error {
	return jobError(c.runner.Cancel(ctx, id))
}

// Tied implements tui.Jobs.
func (c *consoleJobs) Tied(id jobs.ID) bool { return c.runner.Owns(id) }

// Undos implements tui.Acts.
func (c *consoleActs) Undos(context.Context) ([]tui.UndoRow, int, error) {
	entries, damaged, err := c.undo.List()
	if err != nil {
		return nil, 0, err
	}
	rows := make([]tui.UndoRow, len(entries))
	for i, e := range entries {
		rows[i] = tui.UndoRow{ID: e.ID, Store: e.Store, Item: e.Item, Op: string(e.Op), At: e.At, Expires: e.Expires,
			Bytes: e.Bytes, Existed: e.Existed, Confirmed: e.After != "" || len(e.Sides) > 0, Obstacle: e.Obstacle}
	}
	return rows, len(damaged), nil
}

// Undo implements tui.Acts.
func (c *consoleActs) Undo(ctx context.Context, id, reason string) (tui.Done, error) {
	if reason == "" {
		reason = "undo of " + id
	}
	res, err := c.undo.Restore(audit.WithReason(ctx, reason), c.fleet.Store, id)
	return tui.Done{Store: res.Store, Item: res.Item, Relations: res.Relations, Undo: res.Again.ID, Obstacle: res.Again.Obstacle, Warnings: res.Warnings}, err
}
