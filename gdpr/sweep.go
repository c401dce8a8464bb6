package gdpr

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr/suppress"
	"memdesk/internal/atomicfile"
	"memdesk/internal/drafts"
	"memdesk/model"
	"memdesk/undo"
)

// Swept is one erased person who was found again, and the result.
type Swept struct {
	Of      string // the request under which the subject was erased
	Request string // the request that this sweep filed
	Items   int64
	Plan    Plan
	Outcome Outcome
}

// Sweep searches every store, and the texts that memdesk has put aside or keeps for undo, for every suppressed
// person, by pseudonyms alone, and erases again what a restore or a sync brought back. It takes the identifiers
// for that from the texts that it finds. Items on hold, and what stays beside them, count for nobody. An unfinished sweep
// continues under the request that it filed. restored is the one store to search after its restore from a backup, on record;
// empty: all. confirm sees each plan before anything goes; its error ends the sweep. Where a plan or an erasure is refused,
// the others are carried out all the same, and the error comes after them.
func (d *Desk) Sweep(ctx context.Context, fleet *backends.Fleet, restored string, confirm func(Plan) error) (swept []Swept, problems []string, err error) {
	const op = "gdpr-restored"
	if restored == "" {
		return d.sweep(ctx, fleet, "", confirm)
	}
	if _, err := fleet.Store(restored); err != nil {
		return nil, nil, err
	}
	if d.Log == nil {
		return nil, nil, model.Refuse(op, "there is no audit log")
	}
	err = d.Log.Act(ctx, audit.Entry{Action: op, Store: restored}, func(ctx context.Context) (_ map[string]int64, err error) {
		swept, problems, err = d.sweep(ctx, fleet, restored, confirm)
		return map[string]int64{"persons": int64(len(swept)), "problems": int64(len(problems))}, err
	})
	return swept, problems, err
}

// sweep searches one store, or all where only is empty.
func (d *Desk) sweep(ctx context.Context, fleet *backends.Fleet, only string, confirm func(Plan) error) ([]Swept, []string, error) {
	list := d.Suppressed()
	persons, err := list.Persons()
	if err != nil || len(persons) == 0 {
		return nil, nil, err
	}
	ix, err := list.Now()
	if err != nil {
		return nil, nil, err
	}
	all, err := d.List()
	if err != nil {
		return nil, nil, err
	}
	back := newReturned(ix)
	var problems []string
	for _, m := range fleet.Members() {
		if only != "" && m.Name != only {
			continue
		}
		var closed []string
		err := m.Err
		if err == nil {
			closed, err = back.store(ctx, d, m.Store, attestedFor(persons, all, m.Store))
		}
		if ctx.Err() != nil {
			return nil, problems, model.FromContext(ctx, "gdpr-sweep")
		}
		if err != nil {
			problems = append(problems, m.Name+": it could not be swept: "+string(model.KindOf(err)))
		}
		for _, why := range closed {
			problems = append(problems, m.Name+": not looked into: "+why)
		}
	}
	if only == "" {
		if err := d.sweepOwn(back); err != nil {
			problems = append(problems, ownStore+": its own texts could not be swept: "+err.Error())
		}
	}
	var out []Swept
	var no, failed error
	ask := func(p Plan) error {
		if confirm != nil {
			no = confirm(p)
		}
		return no
	}
	for _, p := range persons {
		terms := back.found[p.Pseudonym]
		if len(terms) == 0 {
			continue
		}
		s, err := d.again(ctx, p, terms, !back.sure[p.Pseudonym], fleet, ask)
		if s.Request != "" {
			out = append(out, s)
		}
		if failed = errors.Join(failed, err); no != nil || ctx.Err() != nil {
			break
		}
	}
	return out, problems, failed
}

// sweepOwn collects the texts of memdesk itself that name a suppressed person: a text can be put aside, and one be
// displaced, after the person was erased.
func (d *Desk) sweepOwn(r *returned) error {
	_, err := drafts.New(filepath.Join(d.State, "edit"), d.Clock, nil).Erase(func(name string, text []byte) bool {
		r.look(false, name, string(text))
		return false // the erasure that follows removes it
	})
	if d.Undo == nil {
		return err
	}
	return errors.Join(err, d.Undo.Each(func(e undo.Entry, body string) { r.look(false, entryTexts(e, body)...) }))
}

// again files a new request for the subject who came back, or continues the unfinished request of an earlier
// sweep, and carries it out. The approval of the first erasure covers it. beside: the subject may be named only in rows and
// lines that stay with items on hold, and has then not come back.
func (d *Desk) again(ctx context.Context, p suppress.Person, terms []string, beside bool, fleet *backends.Fleet, confirm func(Plan) error) (Swept, error) {
	slices.SortFunc(terms, func(a, b string) int { return len(b) - len(a) })
	for i, t := range terms {
		terms[i] = strings.Join(strings.Fields(t), " ")
	}
	r, filed, err := d.refile(p, terms)
	if err != nil {
		return Swept{}, err
	}
	search := func(ctx context.Context, r *Request) (Plan, error) { return d.plan(ctx, r, fleet, nil) }
	if beside && !filed {
		plan, err := search(ctx, &r)
		if err == nil && plan.leavesAll() {
			return Swept{}, nil
		}
		search = func(context.Context, *Request) (Plan, error) { return plan, err }
	}
	s := Swept{Of: p.Request, Request: r.ID}
	err = d.actOn(ctx, &r, "gdpr-sweep", r.ByKey, nil, func(context.Context) (map[string]int64, error) {
		if !filed {
			return nil, d.save(&r)
		}
		return nil, d.edit(ctx, &r, func(r *Request) error {
			for _, t := range terms {
				if !slices.Contains(r.Terms(), t) {
					r.Aliases = append(r.Aliases, t)
					r.void() // a run of it has not searched for this one
				}
			}
			return r.over("gdpr-sweep") // another sweep may just have ended it
		})
	})
	if err != nil {
		return Swept{}, err
	}
	// A request that has begun keeps its identifiers: continuing needs them.
	drop := func(err error) error {
		if r.State != StateOpen && r.State != StatePlanned {
			return err
		}
		return errors.Join(err, d.unfile(ctx, r.ID))
	}
	if s.Plan, err = d.makePlan(ctx, r.ID, fleet, search); errors.Is(err, model.InvalidInput) {
		return s, err // what it says to do needs the request
	} else if err != nil {
		return s, drop(err)
	}
	s.Items, _ = s.Plan.Count()
	if err := confirm(s.Plan); err != nil {
		return s, drop(err)
	}
	s.Outcome, err = d.Erase(ctx, Order{Request: r.ID, PlanHash: s.Plan.Hash, ConfirmCount: s.Items}, fleet, nil)
	return s, err
}

// leavesAll reports whether everything that a plan found stays: what is on hold, and layers that nobody reads or reaches.
func (p *Plan) leavesAll() bool {
	return !slices.ContainsFunc(p.Stores, func(s StorePlan) bool {
		return s.Error != "" || slices.ContainsFunc(s.Steps, func(st Step) bool {
			item := st.Layer == layerItem || st.Layer == layerEdge || st.Layer == layerQuarantine
			return st.Action != Held && (item || st.Action != OutOfScope)
		})
	})
}

// refile is the request that erases a returned person again, and whether an earlier sweep filed it.
func (d *Desk) refile(p suppress.Person, terms []string) (r Request, filed bool, err error) {
	all, err := d.List()
	if err != nil {
		return r, false, err
	}
	for _, o := range all {
		if o.Of == p.Request && o.Pseudonym == p.Pseudonym && !o.Done() {
			return o.Request, true, nil
		}
	}
	var whole []string
	var attested []Attestation
	for _, o := range all {
		if o.ID == p.Request {
			whole, attested = o.Whole, o.Attested // the operator's word on the stores, and on what nobody can open, from then
		}
	}
	now := d.Clock.Now().UTC()
	return Request{
		Whole: whole, Attested: attested,
		ID: "er-" + now.Format("20060102") + "-" + atomicfile.Suffix()[:8], Pseudonym: p.Pseudonym, Subject: terms[0], Aliases: terms[1:],
		Ground: "what came back after " + p.Request, Received: now.Format(dateForm), By: d.Operator.ID, ByKey: d.Operator.Key,
		State: StateOpen, Created: now, Updated: now, Of: p.Request,
	}, false, nil
}

// unfile closes the request of a sweep that was not carried out: it would keep the subject's identifiers in
// clear, and the next sweep finds them again.
func (d *Desk) unfile(ctx context.Context, id string) error {
	_, err := d.Withdraw(context.WithoutCancel(ctx), id, "the sweep was not carried out")
	return err
}
