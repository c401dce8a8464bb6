package gdpr

import (
	"context"
	"errors"
	"strings"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// Withdraw closes a request that will not be carried out any further: the subject took it back, it was filed
// twice, or a sweep was declined. Its identifiers, holds, plan and report go, as at the end of an erasure,
// and the pseudonym stays. Erased items stay erased; this request no longer keeps the subject from coming
// back. Conflict for a withdrawn request, and for one that another process works on.
func (d *Desk) Withdraw(ctx context.Context, id, reason string) (Due, error) {
	const op = "gdpr-withdraw"
	if reason = strings.TrimSpace(reason); reason == "" {
		return Due{}, model.Errorf(model.InvalidInput, op, "a withdrawal needs its reason: who took the request back, and why")
	}
	r, err := d.live(id, op)
	if err != nil {
		return Due{}, err
	}
	if err := d.refuseErased(ctx, &r, op, "the reason", reason); err != nil {
		return Due{}, err
	}
	if err := d.prepare(); err != nil {
		return Due{}, err
	}
	old, _ := d.earlier(id) // nobody can count the steps of a damaged one
	lock, err := d.openRun(id, old.Hash)
	if err != nil {
		return Due{}, err
	}
	if r, err = d.unended(id, op); err != nil { // as it is under the lock: a run may just have ended
		return Due{}, errors.Join(err, lock.close())
	}
	err = d.act(ctx, &r, op, nil, func(ctx context.Context) (map[string]int64, error) {
		// Nothing is searched any more: an item that came back after the last run counts as gone.
		if err := d.carryOver(ctx, &r, old, Plan{}, lock); err != nil {
			return nil, err
		}
		return nil, d.withdraw(ctx, &r, reason)
	})
	if err = errors.Join(err, lock.close()); err != nil {
		return Due{}, err
	}
	d.sweepTemps(id)
	return r.At(d.Clock.Now()), removeIfThere(d.dir("runs", id+".jsonl"))
}

// withdraw empties the request. The request's file goes last, except for the run's log: after a crash before
// that it can be withdrawn again.
func (d *Desk) withdraw(ctx context.Context, r *Request, reason string) error {
	m, err := subject.New(r.Terms()...)
	if err != nil {
		return err
	}
	key, err := d.pseudonymKey()
	if err != nil {
		return err
	}
	all, err := d.List()
	if err != nil {
		return err
	}
	by, wanted := []string{r.ID}, false // who began the suppression, and whether another request still needs it
	for _, o := range all {
		switch {
		case o.ID == r.ID || o.Pseudonym != r.Pseudonym:
		case o.State == StateWithdrawn:
			by = append(by, o.ID)
		case o.State == StateRunning || o.State == StatePartial || o.State == StatePending || o.State == StateInScope || o.State == StateComplete:
			wanted = true
		}
	}
	if !wanted && r.Of == "" { // a sweep began no suppression: the person was erased before
		if err := d.Suppressed().Lift(r.Pseudonym, by...); err != nil {
			return err
		}
	}
	if err := d.dropPlan(r.ID); err != nil {
		return err
	}
	return d.edit(ctx, r, func(r *Request) error {
		r.void()
		r.resume(d.Clock.Now())
		r.State, r.Finished, r.Reason = StateWithdrawn, d.Clock.Now().UTC(), m.Redact(reason, Erased)
		r.Subject, r.Aliases, r.Ground, r.Choices, r.Holds = "", nil, "", nil, nil
		r.Attested = nil
		r.forgetNames(key, m)
		return nil
	})
}
