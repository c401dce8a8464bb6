package gdpr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"memdesk/audit"
	"memdesk/gdpr/subject"
)

// otherRequestsNote names the other open requests of the subject, matched by pseudonym or by an identifier;
// it is empty where there is none. A subject may have two requests, each with its deadline: intake and plan
// name both, so that neither is forgotten. A list that cannot be read is mentioned and stops nothing.
func (d *Desk) otherRequestsNote(r *Request) string {
	all, err := d.List()
	if err != nil {
		return "whether another request is about the person is not known: " + err.Error()
	}
	var same, alike []string
	for _, o := range all {
		switch {
		case o.ID == r.ID || o.Done():
		case o.Pseudonym == r.Pseudonym:
			same = append(same, o.ID)
		case slices.ContainsFunc(o.Terms(), r.has):
			alike = append(alike, o.ID)
		}
	}
	var out []string
	if len(same) > 0 {
		out = append(out, "the same person has a request that is open: "+strings.Join(same, ", "))
	}
	if len(alike) > 0 {
		out = append(out, "another request that is open has an identifier of this one: "+strings.Join(alike, ", "))
	}
	return strings.Join(out, "; ")
}

// OtherRequests names the other open requests of the subject of a request before it is filed; empty: none.
func (d *Desk) OtherRequests(in Intake) string {
	if all, err := d.List(); err == nil && len(all) == 0 {
		return "" // and no key is made for a question
	}
	key, err := d.pseudonymKey()
	if err != nil {
		return "whether another request is about the person is not known: " + err.Error()
	}
	return d.otherRequestsNote(&Request{Pseudonym: key.Pseudonym(in.Subject), Subject: in.Subject, Aliases: in.Aliases})
}

// has reports whether an identifier is one of the request's.
func (r *Request) has(term string) bool {
	n := subject.Normal(term)
	return slices.ContainsFunc(r.Terms(), func(t string) bool { return subject.Normal(t) == n })
}

// covers reports whether this erasure also ends another request of the subject: one that has no further
// identifier, was never begun, and has no hold, which a withdrawal would release.
func (x *run) covers(o *Request) bool {
	began := !o.Begun.IsZero() || o.State != StateOpen && o.State != StatePlanned && o.State != StateApproved
	return x.log != nil && !began && len(o.Holds) == 0 && !slices.ContainsFunc(o.Terms(), func(t string) bool { return !x.r.has(t) })
}

// otherRequests are the other open requests of the subject: the ids of those that end with this one, and
// sentences about those that stay open and keep their identifiers.
func (x *run) otherRequests() (ending []string, staying []string, err error) {
	all, err := x.d.List()
	if err != nil {
		return nil, nil, err
	}
	for _, o := range all {
		switch {
		case o.ID == x.r.ID || o.Done() || !x.aboutSubject(&o.Request):
		case x.covers(&o.Request):
			ending = append(ending, o.ID)
		case o.Pseudonym == x.r.Pseudonym:
			staying = append(staying, fmt.Sprintf("request %s of the same person is still open and keeps its identifiers", o.ID))
		default:
			staying = append(staying, fmt.Sprintf("request %s, which is still open, keeps an identifier of the person", o.ID))
		}
	}
	return ending, staying, nil
}

// closeCovered withdraws the requests that end with this one. A request that another process works on is an
// error: continuing this erasure closes it.
func (x *run) closeCovered(ctx context.Context) error {
	ending, _, err := x.otherRequests()
	if err != nil {
		return err
	}
	for _, id := range ending {
		if err := x.closeRequest(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) closeRequest(ctx context.Context, id string) error {
	const op = "gdpr-withdraw"
	lock, err := x.d.openRun(id, "")
	if err != nil {
		return fmt.Errorf("request %s of the same person is not closed: %w; run this again when that has ended", id, err)
	}
	r, err := x.d.load(id) // read again under the lock
	if err == nil && !r.Done() && x.covers(&r) {
		reason := "completed by " + x.r.ID
		err = x.d.act(audit.WithReason(ctx, reason), &r, op, nil, func(ctx context.Context) (map[string]int64, error) { return nil, x.d.withdraw(ctx, &r, reason) })
	}
	if err = errors.Join(err, lock.close()); err != nil {
		return err
	}
	x.d.sweepTemps(id)
	return removeIfThere(x.d.dir("runs", id+".jsonl"))
}
