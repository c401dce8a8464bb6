package gdpr

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"memdesk/audit"
	"memdesk/gdpr/papers"
	"memdesk/model"
)

// Retire reduces closed requests that ended longer ago than Policy.KeepClosed to their register line, without
// the subject's pseudonym, and removes their receipts. A request with an item on hold, or with an open
// export, stays whole. It returns their number; 0 days keeps all requests.
func (d *Desk) Retire(ctx context.Context) (int, error) {
	const op = "gdpr-retention"
	if d.Policy.KeepClosed <= 0 || d.Log == nil {
		return 0, nil
	}
	all, err := d.List()
	if err != nil {
		return 0, err
	}
	now, err := d.Log.Believed(ctx, d.Clock.Now())
	if err != nil {
		return 0, err
	}
	before := now.Add(-d.Policy.KeepClosed)
	n, unproven := 0, error(nil)
	registers := map[int]papers.Register{}
	for _, r := range all {
		if r.Kept != nil { // a crash may have left its receipt
			if err := removeIfThere(d.dir("receipts", r.ID+".json")); err != nil {
				return n, err
			}
			continue
		}
		if !r.Done() || r.Finished.IsZero() || !r.Finished.Before(before) || len(r.Holds) > 0 || r.ExportsOpen > 0 {
			continue
		}
		year, err := strconv.Atoi(r.Received[:min(4, len(r.Received))])
		if err != nil {
			return n, err
		}
		if _, made := registers[year]; !made {
			if registers[year], err = d.Register(ctx, year); err != nil && len(registers[year].Entries) == 0 {
				return n, err
			}
			unproven = errors.Join(unproven, err)
		}
		line := papers.Entry{}
		for _, e := range registers[year].Entries {
			if e.Request == r.ID {
				line = e
			}
		}
		if line.Request == "" {
			return n, errors.New("a closed request has no line in the register")
		}
		if line.Unproven {
			continue
		}
		line.Person = ""
		err = d.Log.Act(ctx, audit.Entry{Action: op, Counts: map[string]int64{"year": int64(year)}}, func(context.Context) (map[string]int64, error) {
			kept := Request{ID: r.ID, State: r.State, Received: r.Received, Extended: r.Extended, Created: r.Created, Finished: r.Finished, Kept: &line}
			err := d.edit(ctx, &r.Request, func(now *Request) error {
				if !now.Updated.Equal(r.Updated) {
					return model.Errorf(model.Conflict, op, "request %s was changed meanwhile", r.ID)
				}
				*now = kept
				return nil
			})
			if err != nil {
				return nil, err
			}
			return nil, removeIfThere(d.dir("receipts", r.ID+".json"))
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, unproven
}

// Retiring prepares the log for the removal of records older than a moment, and returns the moment up to
// which they may go. The record of who filed a request is needed until the request is closed: without it
// nobody could approve or erase. The policy on record is recorded again, not the configured one: else the
// next configuration would count as the first policy, which needs no consent.
func (d *Desk) Retiring(ctx context.Context, before time.Time) (time.Time, error) {
	all, err := d.List()
	if err != nil {
		return before, err
	}
	for _, r := range all {
		if !r.Done() && r.Created.Before(before) {
			before = r.Created
		}
	}
	last, found, err := d.lastPolicy(ctx)
	if err != nil || !found || !last.TS.Before(before) {
		return before, err
	}
	e := audit.Entry{Action: policyAction, Plan: last.Plan, Reason: fmt.Sprintf("the policy that %s set in record %d, which is older than the log is kept", last.Actor, last.Seq), Counts: last.Counts}
	if err := d.Log.Note(ctx, e, audit.Result{Verdict: audit.OK, Counts: last.Counts}); err != nil {
		return before, unrecorded("it could not be recorded anew", err)
	}
	return before, nil
}
