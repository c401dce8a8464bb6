package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"memdesk/audit"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/undo"
)

// Undos lists the undo entries, newest first; damaged counts unreadable ones.
func (s *Session) Undos(context.Context) (entries []undo.Entry, damaged int, err error) {
	entries, bad, err := s.Undo.List()
	return entries, len(bad), err
}

// Restore undoes a change; Conflict when the item has changed since. It can itself be undone.
func (s *Session) Restore(ctx context.Context, id, reason string) (Done, error) {
	if reason == "" {
		reason = "undo of " + id
	}
	e, _, unread := s.Undo.Read(id)
	if err := s.Allow(ctx, Restore, e.Store, e.Item); err != nil {
		return Done{}, err
	}
	if unread != nil {
		return Done{}, unread
	}
	var res undo.Restored
	err := s.recorded(audit.WithReason(ctx, reason), Restore, e.Store, e.Item, reason, func(ctx context.Context) (err error) {
		res, err = s.Undo.Restore(origin.Restoring(ctx), s.Fleet.Store, id)
		return err
	})
	done := Done{Store: res.Store, Item: res.Item, Bytes: res.Result.Bytes, Revision: res.Result.Revision,
		Relations: res.Relations, Fell: undo.FallNoun(e.Falls), Warnings: res.Warnings, Notes: res.Notes, Gone: res.Removed}
	done.keep(res.Again)
	return done, err
}

// PlanTakeback plans to take back the writes of one source since a time. Those in stores that are not open are in it
// too, as skips: nobody else would name them.
func (s *Session) PlanTakeback(ctx context.Context, source string, since time.Time) ([]origin.Taken, error) {
	return origin.Plan(ctx, s.Ledger, s.Undo, s.Fleet.Store, source, since)
}

// Takeback carries out such a plan, each store under one undo entry, and records it as one act around the changes.
// origin.Take says how an item that is not taken back changes the plan. A store that refuses stays as it is and stops no
// other. It returns the plan of the stores that did not refuse, and what undoes it in each store.
func (s *Session) Takeback(ctx context.Context, plan []origin.Taken, reason string) (done []origin.Taken, undone []Done, err error) {
	ctx = audit.WithReason(ctx, reason)
	if err := s.Allow(ctx, Takeback, "", ""); err != nil {
		return nil, nil, err
	}
	err = s.Log.Act(ctx, audit.Entry{Action: string(Takeback), Reason: reason, Counts: origin.Count(plan)}, func(ctx context.Context) (map[string]int64, error) {
		var failed error
		for _, m := range s.Fleet.Open() {
			e, err := origin.Take(ctx, s.Undo, m.Store, plan)
			if e.ID != "" {
				d := Done{Store: m.Name}
				d.keep(e)
				undone = append(undone, d)
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("store %s: %w", m.Name, err))
				continue
			}
			for _, t := range plan {
				if t.Store == m.Name {
					done = append(done, t)
				}
			}
		}
		failed = errors.Join(failed, model.FromContext(ctx, "takeback"))
		if failed != nil && len(done) > 0 {
			failed = audit.Partly(failed)
		}
		for _, t := range plan {
			if _, err := s.Fleet.Store(t.Store); err != nil && t.Action == origin.ActSkip {
				done = append(done, t)
			}
		}
		return origin.Count(done), failed
	})
	return done, undone, err
}
