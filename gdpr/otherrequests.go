package gdpr

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"memdesk/audit"
	"memdesk/gdpr/subject"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// clearOtherRequests removes the subject from the files of other requests. A plan that names the subject is
// void with its approvals, keeps only what is still to do, and its request says so; grounds and reasons are redacted; a held item
// whose id names the subject is kept by its hash. Another open request of the same subject keeps its
// identifiers. A request that another process works on is skipped and reported as a problem.
func (x *run) clearOtherRequests(ctx context.Context) error {
	all, err := x.d.List()
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.ID == x.r.ID {
			continue
		}
		named, err := x.requestNamesSubject(ctx, o)
		if err != nil {
			return err
		}
		if !named {
			continue
		}
		err = x.clearOther(ctx, o.ID)
		switch {
		case errors.Is(err, ErrBusy):
			x.problem(ownStore, "request %s names the person and is being worked on: run this again when that has ended", o.ID)
		case errors.Is(err, errDamagedPlan):
			x.problem(ownStore, "request %s names the person: %s", o.ID, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// requestNamesSubject reports whether the files of another request name the subject, not counting the
// identifiers of a request about the same subject.
func (x *run) requestNamesSubject(ctx context.Context, o Due) (bool, error) {
	for _, path := range []string{x.d.dir("plans", o.ID+".json"), x.d.statusFile(o.ID)} {
		if named, err := x.fileNames(ctx, path); err != nil || named {
			return named, err
		}
	}
	r := o.Request
	return x.redactOther(&r, nil), nil
}

// fileNames reports whether a file of memdesk's own names the subject; false for a missing file.
func (x *run) fileNames(ctx context.Context, path string) (bool, error) {
	f, err := atomicfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, model.E(model.Unavailable, "gdpr-erase", atomicfile.Pathless(err))
	}
	defer f.Close()
	rep, kept, err := x.scanOwn(ctx, x.below(path), f)
	return rep.Hits+kept > 0, err
}

// aboutSubject reports whether another request is about the same subject.
func (x *run) aboutSubject(r *Request) bool {
	return r.Pseudonym == x.r.Pseudonym || !r.Done() && slices.ContainsFunc(r.Terms(), x.m.Names)
}

// clearOther removes the subject from one request, under that request's lock.
func (x *run) clearOther(ctx context.Context, id string) error {
	old, err := x.d.earlier(id)
	if err != nil {
		return err
	}
	lock, err := x.d.openRun(id, old.Hash)
	if err != nil {
		return err
	}
	r, err := x.d.load(id) // read again under the lock, as the plan
	if now, perr := x.d.earlier(id); err == nil && (perr != nil || now.Hash != old.Hash) {
		err = errors.Join(model.E(model.Conflict, "gdpr-erase", ErrBusy), perr)
	}
	if err == nil {
		err = x.d.act(ctx, &r, "gdpr-void", nil, func(ctx context.Context) (map[string]int64, error) { return nil, x.emptyOther(ctx, &r, old, lock) })
	}
	return errors.Join(err, lock.close())
}

func (x *run) emptyOther(ctx context.Context, r *Request, old Plan, l *runLog) error {
	planned, err := x.fileNames(ctx, x.d.dir("plans", r.ID+".json"))
	if err != nil {
		return err
	}
	key, err := x.d.pseudonymKey()
	if err != nil {
		return err
	}
	err = x.d.edit(ctx, r, func(r *Request) error {
		x.redactOther(r, func(h Hold) string { return key.Item(h.place(), h.ID) })
		if planned { // the request first: a plan without a request is void
			r.void()
			r.Reason = "its plan named a person who was erased under " + x.r.ID + ": plan again"
		}
		return nil
	})
	if err != nil {
		return err
	}
	if planned {
		rest, err := x.rest(old, l) // before the log of what is done is emptied
		if err != nil {
			return err
		}
		if err := x.d.carryOver(ctx, r, old, Plan{}, l); err != nil {
			return err
		}
		if err := writeJSON(x.d.dir("plans", r.ID+".json"), planFile{Plan: rest}); err != nil {
			return err
		}
	}
	return x.redactReport(ctx, r.ID)
}

// rest is the part of another request's plan that neither its run nor this one has done, without its texts and without the
// subject. The next plan compares with it: a store may be away that still holds the other person.
func (x *run) rest(old Plan, l *runLog) (Plan, error) {
	planned, err := x.planned()
	if err != nil {
		return Plan{}, err
	}
	rest := Plan{Request: old.Request, Pseudonym: old.Pseudonym}
	for _, p := range old.parts(l) {
		sp := *p.StorePlan
		sp.Items -= p.did("removed")
		var mine *part
		if i := slices.IndexFunc(x.parts, func(o *part) bool { return o.Store == sp.Store && o.Where == sp.Where }); i >= 0 {
			mine = x.parts[i]
			sp.Items -= mine.did("removed") - mine.before // its removals are no missing items, unless the plan was made after them
		}
		tried, done := mine.removals()
		sp.Problems, sp.Notes = x.clear(sp.Problems), x.clear(sp.Notes)
		// In a store that is away nobody would find an item by the rest of its id: it is counted. In one that is there
		// it was not found, and stays missing.
		counted := func(id string) bool { return mine == nil && x.m.Names(id) }
		sp.Missing = x.clear(slices.DeleteFunc(slices.Clone(sp.Missing), counted))
		sp.Away += int64(len(p.Missing) - len(sp.Missing))
		var steps []Step
		for i, st := range sp.Steps {
			gone := done[st.ID] || mine != nil && !tried[st.ID] && planned(sp.Store, sp.Where, st.ID)
			if st.changes() && (p.what(i) != "" && p.what(i) != "absent" || gone) {
				continue
			}
			if counted(st.ID) {
				sp.Away++
				continue
			}
			st.ID, st.Reason = x.m.Redact(st.ID, Erased), x.m.Redact(st.Reason, Erased)
			st.NewBody, st.NewMeta, st.NewID, st.NewBytes, st.Beside, st.Ground = "", nil, "", nil, nil, ""
			steps = append(steps, st)
		}
		sp.Steps = steps
		rest.Stores = append(rest.Stores, sp)
	}
	return rest, nil
}

// clear redacts the subject in texts.
func (x *run) clear(texts []string) (out []string) {
	for _, s := range texts {
		out = append(out, x.m.Redact(s, Erased))
	}
	return out
}

// redactOther redacts the texts of a request, and reports whether any named the subject. hash returns the
// hash that replaces an item's id; nil leaves the id.
func (x *run) redactOther(r *Request, hash func(Hold) string) bool {
	named := false
	edit := func(s *string) {
		if *s != "" && x.m.Names(*s) {
			*s, named = x.m.Redact(*s, Erased), true
		}
	}
	if !x.aboutSubject(r) {
		if r.Identity != nil {
			check := *r.Identity
			r.Identity = &check
		}
		r.Exports, r.Attested = slices.Clone(r.Exports), slices.Clone(r.Attested)
		for _, s := range append(r.texts(), &r.Ground) {
			edit(s)
		}
		for i := range r.Attested {
			edit(&r.Attested[i].Ground)
		}
	}
	edit(&r.Reason)
	was := len(r.Choices)
	r.Choices = slices.DeleteFunc(slices.Clone(r.Choices), func(c Choice) bool { return x.m.Names(c.ID) }) // the item that it chose for is gone
	named = named || len(r.Choices) != was
	r.Holds = slices.Clone(r.Holds)
	for i := range r.Holds {
		edit(&r.Holds[i].Ground)
		if !r.Holds[i].hashed() && x.m.Names(r.Holds[i].ID) {
			named = true
			if hash != nil {
				r.Holds[i].ID = hash(r.Holds[i])
			}
		}
	}
	return named
}

// redactReport redacts the report of another request's last run.
func (x *run) redactReport(ctx context.Context, id string) error {
	named, err := x.fileNames(ctx, x.d.statusFile(id))
	if err != nil || !named {
		return err
	}
	out, plan, err := x.d.Report(id)
	if err != nil { // damaged: a run writes it again
		return removeIfThere(x.d.statusFile(id))
	}
	out.Reason = x.m.Redact(out.Reason, Erased)
	for i := range out.Problems {
		out.Problems[i].What = x.m.Redact(out.Problems[i].What, Erased)
	}
	for i, l := range out.Layers {
		out.Layers[i].Layer, out.Layers[i].Reason = x.m.Redact(l.Layer, Erased), x.m.Redact(l.Reason, Erased)
	}
	return writeJSON(x.d.statusFile(id), status{plan, out})
}

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
