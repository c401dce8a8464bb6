package gdpr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// Order is an operator's order to begin or continue an erasure.
type Order struct {
	Request  string
	PlanHash string // of the plan that was shown
	// ConfirmCount is the typed number of items; needed where a large share of a store goes.
	ConfirmCount int64
}

// Progress reports a running erasure. It names no person.
type Progress struct {
	Store       string
	What        string // "forget", "redact", "scrub", "verify"
	Done, Total int64
	Note        string
}

// Outcome is the state of an erasure after a run.
type Outcome struct {
	Status    State // complete, complete in scope, partial or pending
	Reason    string
	Forgotten int64
	Redacted  int64
	Held      int64
	Stores    []receipt.Store
	Layers    []receipt.Layer
	Problems  []Problem
	// Advices tell an operator with more rights how to deal with layers that could not be looked at.
	Advices []Advice
}

// Problem is what a run did not do in a store.
type Problem struct {
	Store  string
	What   string
	Replan bool // no further run of the same plan solves it
}

func (p Problem) String() string { return p.Store + ": " + p.What }

// Advice is the advice for layers of one store.
type Advice struct {
	Store  string
	Words  string
	Layers []string
}

func (o *Outcome) advise(store, layer, words string) {
	for i, a := range o.Advices {
		if a.Store == store && a.Words == words {
			o.Advices[i].Layers = append(a.Layers, layer)
			return
		}
	}
	o.Advices = append(o.Advices, Advice{Store: store, Words: words, Layers: []string{layer}})
}

// advice returns the advice about a layer; empty where there is none.
func (o *Outcome) advice(store, layer string) string {
	for _, a := range o.Advices {
		if a.Store == store && slices.Contains(a.Layers, layer) {
			return a.Words
		}
	}
	return ""
}

// run is one run of an erasure.
type run struct {
	d     *Desk
	r     *Request
	p     Plan
	m     *subject.Matcher
	fleet *backends.Fleet
	log   *runLog
	watch func(context.Context, Progress) error
	begun time.Time
	// approval is the one that the run began under; nil for none.
	approval *Approval

	out   Outcome
	parts []*part // of p, with what was done
	// unlinked are open files without a name, read once for all stores.
	unlinked   map[string]string
	gone       int64                          // items that the current run has removed from the current store
	bystanders map[string]*subject.Bystanders // by medium
}

func (d *Desk) newRun(r *Request, p Plan, m *subject.Matcher, fleet *backends.Fleet, log *runLog) *run {
	return &run{d: d, r: r, p: p, parts: p.parts(log), m: m, fleet: fleet, log: log, bystanders: map[string]*subject.Bystanders{}}
}

// Authorise checks that an order may be carried out: the plan is the one that was shown, the requester's
// identity is not in doubt, a large share was confirmed, and a second operator has approved where that is
// demanded. Refusals are audited. It changes nothing else.
func (d *Desk) Authorise(ctx context.Context, o Order) (Plan, error) {
	r, err := d.live(o.Request, "gdpr-erase")
	if err != nil {
		return Plan{}, err
	}
	if r.PausedSince != "" {
		return Plan{}, d.refused(ctx, &r, "gdpr-erase",
			fmt.Sprintf("the request is paused since %s for an identity check: `memdesk gdpr resume %s` when it is known who asks", r.PausedSince, r.ID))
	}
	if _, ok := d.receipted(&r); ok && r.Planned(o.PlanHash) {
		return Plan{Request: r.ID, Pseudonym: r.Pseudonym, Hash: r.PlanHash}, nil // only closing the request is left
	}
	p, err := d.Plan(r.ID)
	if err != nil {
		return Plan{}, err
	}
	if !r.Planned(o.PlanHash) || r.PlanHash != p.Hash {
		return Plan{}, d.refused(ctx, &r, "gdpr-erase", "the plan is not the one that was shown: look at `memdesk gdpr plan` again")
	}
	if items, _ := p.Count(); len(p.OverShare(d.Policy.MaxShare)) > 0 && o.ConfirmCount != items {
		return Plan{}, d.refused(ctx, &r, "gdpr-erase",
			fmt.Sprintf("%s; if they are right, type the number of all items of the plan: --confirm-count %d", p.OverShare(d.Policy.MaxShare)[0].ShareWords(d.Policy.MaxShare), items))
	}
	if _, err := d.policyInForce(ctx, &r, "gdpr-erase"); err != nil {
		return Plan{}, err
	}
	why, err := d.Unapproved(ctx, &r)
	switch {
	case err != nil:
		return Plan{}, err
	case why != "":
		return Plan{}, d.refused(ctx, &r, "gdpr-erase", why)
	}
	return p, nil
}

// Erase carries a plan out, or continues it: steps that are done are not repeated. It returns the outcome; an
// error means that the run could not begin or was interrupted, and a second call continues. The subject is
// suppressed before the first item goes. watch is called at each step and may block, to pause, or end the run
// with an error; nil for no watcher.
func (d *Desk) Erase(ctx context.Context, o Order, fleet *backends.Fleet, watch func(context.Context, Progress) error) (Outcome, error) {
	p, err := d.Authorise(ctx, o)
	if err != nil {
		return Outcome{}, err
	}
	if err := errors.Join(d.prepare(), d.checkReceiptKey()); err != nil {
		return Outcome{}, err
	}
	log, err := d.openRun(o.Request, p.Hash)
	if err != nil {
		return Outcome{}, err
	}
	out, err := d.erase(ctx, p, log, fleet, watch)
	return out, errors.Join(err, log.close())
}

// erase is Erase under the run's lock.
func (d *Desk) erase(ctx context.Context, p Plan, log *runLog, fleet *backends.Fleet, watch func(context.Context, Progress) error) (Outcome, error) {
	r, err := d.load(p.Request)
	if err != nil {
		return Outcome{}, err
	}
	if r.Done() || r.PlanHash != p.Hash {
		return Outcome{}, errOtherPlan()
	}
	m, err := subject.New(r.Terms()...)
	if err != nil {
		return Outcome{}, err
	}
	x := d.newRun(&r, p, m, fleet, log)
	x.watch, x.begun = watch, d.Clock.Now().UTC()
	if x.approval, _, err = d.approval(ctx, &r, p.Hash); err != nil {
		return Outcome{}, err
	}
	d.sweepTemps(r.ID)
	rec, receipted := d.receipted(&r)
	items, held := p.Count()
	err = d.act(audit.WithReason(ctx, "erasure "+r.ID), &r, "gdpr-erase", map[string]int64{"items": items, "held": held},
		func(ctx context.Context) (map[string]int64, error) {
			if receipted {
				return map[string]int64{"forgotten": rec.Forgotten, "redacted": rec.Redacted, "layers": int64(len(rec.Layers))}, x.resumeSettling(ctx, rec)
			}
			err := x.do(audit.WithPlan(ctx, p.Hash))
			return map[string]int64{"forgotten": x.out.Forgotten, "redacted": x.out.Redacted, "layers": int64(len(x.out.Layers))}, err
		})
	err = errors.Join(err, x.log.flush())
	if err == nil && x.out.Status == StateComplete {
		d.sweepTemps(r.ID) // now that its keys exist
		err = removeIfThere(d.dir("runs", r.ID+".jsonl"))
	}
	return x.out, err
}

func errOtherPlan() error {
	return model.Errorf(model.Conflict, "gdpr-erase", "another plan was made meanwhile: look at `memdesk gdpr plan` again")
}

func (x *run) do(ctx context.Context) error {
	key, err := x.d.pseudonymKey()
	if err != nil {
		return err
	}
	if err := x.d.Suppressed().Add(key, x.r.Pseudonym, x.r.ID, x.d.Clock.Now(), x.r.Terms()...); err != nil {
		return err
	}
	err = x.d.edit(ctx, x.r, func(r *Request) error {
		if r.PlanHash != x.p.Hash {
			return errOtherPlan()
		}
		if r.Begun.IsZero() {
			r.Begun = x.begun
		}
		r.State, r.Reason = StateRunning, ""
		return nil
	})
	if err != nil {
		return err
	}
	err = x.carryOut(ctx)
	x.addTally()
	if err != nil {
		x.problem(ownStore, BrokenOff)
		x.out.Status, x.out.Reason = StatePartial, BrokenOff+"; run it again"
		_ = x.finish(ctx) // where it fails too, the request stays as after a crash
		return err
	}
	x.judge()
	return x.finish(ctx)
}

// BrokenOff is why a run is partial that an error ended.
const BrokenOff = "the run was broken off before its end"

// carryOut goes through the stores and memdesk's own files, then verifies them.
func (x *run) carryOut(ctx context.Context) error {
	for _, p := range x.parts {
		if err := x.store(ctx, p); err != nil {
			return err
		}
	}
	if err := x.ownTraces(ctx); err != nil {
		return err
	}
	return x.verify(ctx)
}

func (x *run) tell(ctx context.Context, p Progress) error {
	if x.watch == nil {
		return nil
	}
	return x.watch(ctx, p)
}

// problem records what was not done; the other stores continue.
func (x *run) problem(store, format string, args ...any) {
	x.out.Problems = append(x.out.Problems, Problem{Store: store, What: fmt.Sprintf(format, args...)})
}

// replan records what only a new plan can do.
func (x *run) replan(store, format string, args ...any) {
	x.out.Problems = append(x.out.Problems, Problem{Store: store, What: fmt.Sprintf(format, args...) + planAgain, Replan: true})
}

// store carries out one store's part. It returns an error only for what ends the whole run.
func (x *run) store(ctx context.Context, p *part) error {
	if p.Away > 0 {
		return nil
	}
	count := receipt.Store{Store: p.Store, Kind: p.Kind, Items: p.Items, Held: p.held()}
	defer func() { x.out.Stores = append(x.out.Stores, count) }()
	x.out.Held += count.Held
	s, ok := x.ready(ctx, p)
	if !ok {
		return nil
	}
	s = s.Wrap(erasing)
	before := sizes(ctx, s)
	called, err := x.cascade(ctx, p, s)
	if err != nil {
		return err
	}
	err = errors.Join(x.steps(ctx, p, s, called), x.log.flush())
	for st := range p.changed() {
		if st.Action == Forget {
			count.Forgotten++
		} else {
			count.Redacted++
		}
	}
	x.out.Forgotten += count.Forgotten
	x.out.Redacted += count.Redacted
	if err != nil {
		return err
	}
	x.forgetMoved(ctx, s, p)
	x.overDeleted(ctx, s, before)
	if p.locked > 0 { // the scrub would wait for the lock again
		return nil
	}
	if err := x.scrub(ctx, s, p); err != nil {
		return err
	}
	for _, l := range p.scrubbed {
		count.Rows += l.Rows
	}
	count.Rows, err = x.log.scrubbed(p.at, count.Rows)
	return err
}

// ready returns the store of a part of the plan. Where the part cannot be carried out, it records why.
func (x *run) ready(ctx context.Context, p *part) (model.Store, bool) {
	s, err := x.fleet.Store(p.Store)
	switch {
	case err != nil:
		x.problem(p.Store, "it cannot be opened: %s", model.KindOf(err))
	case p.Error != "":
		x.replan(p.Store, "%s", p.Error)
	case !slices.Contains(s.Identities(), p.Where):
		x.replan(p.Store, otherStoreReason)
	case p.vanished(ctx, s):
		x.problem(p.Store, vanishedReason)
	default:
		return s, true
	}
	return s, false
}

// steps carries out the steps of a store's part that no earlier run did. called says that the store's own cascade was
// asked, and may have removed some. It returns an error only for what ends the whole run.
func (x *run) steps(ctx context.Context, p *part, s model.Store, called bool) error {
	shut := s.ReadOnly && p.remaining() > 0
	if shut { // each step would be refused, and recorded
		x.problem(p.Store, "it is read-only (%s): %d of its items stay", x.m.Redact(s.ReadOnlyReason, Erased), p.remaining())
	}
	removed, locked := x.removedBefore(p, s), false
	todo := make([]int, len(p.Steps))
	for i := range todo {
		todo[i] = i
	}
	for n := 0; n < len(todo); n++ {
		i := todo[n]
		st := p.Steps[i]
		if !st.changes() || shut && p.what(i) == "" {
			continue
		}
		if p.what(i) == "" {
			what, err := x.stepOrWait(ctx, s, st, locked)
			switch {
			case err != nil && ctx.Err() != nil:
				return model.FromContext(ctx, "gdpr-erase")
			case model.IsRefusal(err) && x.d.Log.Writable() != nil:
				return err // no record, no act: stop here
			case isLocked(err) && locked:
				p.locked = p.remaining()
				return nil
			case isLocked(err):
				locked = true
				p.locked = 1
				continue
			case errors.Is(err, model.Conflict) && st.NewID != "" && n < len(p.Steps):
				todo = slices.Insert(todo, len(p.Steps), i) // what still hangs under the old id moves first
				continue
			case err != nil:
				x.failed(s, st, err)
				continue
			}
			locked = false
			if (what == "removed" || called && what == "absent") && (st.Layer != layerQuarantine || st.Listed) {
				x.gone++
			}
			if what == "absent" && removed(st) {
				what = "removed"
			}
			if err := x.log.mark(p.at, i, what); err != nil {
				return err
			}
		}
		if err := x.tell(ctx, Progress{Store: p.Store, What: string(st.Action), Done: int64(i + 1), Total: int64(len(p.Steps))}); err != nil {
			return err
		}
	}
	return nil
}

// removedBefore reports whether the steps of the stores before one in the plan removed the file of a step: two stores may
// show one directory.
func (x *run) removedBefore(of *part, s model.Store) func(Step) bool {
	gone := sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for _, p := range x.parts[:of.at] {
			s, err := x.fleet.Store(p.Store)
			if err != nil {
				continue
			}
			path := files(&s)
			for i, st := range p.Steps {
				if st.Layer == layerItem && st.changes() && p.what(i) == "removed" {
					out[path(st.ID)] = true
				}
			}
		}
		return out
	})
	path := files(&s)
	return func(st Step) bool {
		file := path(st.ID)
		return st.Layer == layerItem && file != "" && gone()[file]
	}
}

// failed records why a step failed: the request that holds the item, else the error, redacted.
func (x *run) failed(s model.Store, st Step, err error) {
	id, words := x.m.Redact(st.ID, Erased), x.m.Redact(err.Error(), Erased)
	holds, herr := x.d.holdsIn(&s)
	switch {
	case herr == nil && holds.by(st.ID) != "" && model.IsRefusal(err):
		x.replan(s.Name, "%s could not be done: it is on hold under request %s", id, holds.by(st.ID))
	case errors.Is(err, model.Conflict):
		x.replan(s.Name, "%s could not be done: %s", id, words)
	default:
		x.problem(s.Name, "%s could not be done: %s", id, words)
	}
}

// planAgain ends the words of a problem that no further run of the same plan solves.
const planAgain = ": plan again"

// cascade lets the store remove everything in one transaction where that is exactly the plan; the store's
// ties to the subject are read again just before. called says that it was asked to, and did not answer so:
// what its steps do not find may have gone with it.
func (x *run) cascade(ctx context.Context, p *part, s model.Store) (called bool, err error) {
	if slices.ContainsFunc(p.Steps, func(st Step) bool { return st.Cascade() }) {
		return false, x.runCascade(ctx, p, s)
	}
	if !p.Cascade {
		return false, nil
	}
	now, planned := map[string]model.Revision{}, map[string]model.Revision{}
	for i, st := range p.Steps {
		if p.what(i) != "" {
			return false, nil // begun item by item, and so continued
		}
		if st.Action == Forget {
			planned[st.ID] = st.Revision
		}
	}
	err = s.Subjects.Concerning(ctx, []string{x.r.Subject}, func(h model.SubjectHit) bool {
		if h.Called == "" {
			now[h.ID] = cmp.Or(h.Revision, now[h.ID])
		}
		return true
	})
	for id, revision := range now {
		if err == nil && revision == "" {
			var it model.Item
			it, err = s.Browser.Read(ctx, id)
			now[id] = it.Revision
		}
	}
	if err != nil || !maps.Equal(now, planned) {
		return false, nil // the steps item by item will tell
	}
	if err := x.tell(ctx, Progress{Store: p.Store, What: string(Forget), Total: int64(len(planned)), Note: "the store's own cascade"}); err != nil {
		return false, err
	}
	res, err := s.Provider.Forget(ctx, model.ForgetRequest{DataSubjectID: x.r.Subject})
	if err != nil || res.Removed != int64(len(planned)) {
		return true, ctx.Err() // the steps item by item find out what is left
	}
	x.gone += res.Removed
	return false, p.removedAll()
}

// erasing marks the changes of a run: no door to the store may keep what they displace.
func erasing(ctx context.Context, c *model.Call, next func(context.Context) error) error {
	if c.Retain != nil {
		c.Retain.Erase = true
	}
	if c.Forget != nil {
		c.Forget.Erase = true
	}
	return next(ctx)
}
