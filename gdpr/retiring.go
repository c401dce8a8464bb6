package gdpr

import (
	"context"
	"fmt"
	"time"

	"memdesk/audit"
	"memdesk/model"
)

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
		return before, model.Refuse(policyAction, "it could not be recorded anew: "+err.Error())
	}
	return before, nil
}
