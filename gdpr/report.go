package gdpr

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// status is the last run of a request that did not become complete, for who comes
// later or from elsewhere. It names no person: layers are redacted as they are
// judged, problems as they are told.
type status struct {
	Plan    string  `json:"plan"`
	Outcome Outcome `json:"outcome"`
}

func (d *Desk) statusFile(id string) string { return d.dir("runs", id+".status.json") }

// Report is what the last run of a request reached, and of which plan; NotFound
// when there was none or it became complete: then the receipt speaks.
func (d *Desk) Report(id string) (out Outcome, plan string, err error) {
	var s status
	switch err := readJSON(d.statusFile(id), &s); {
	case errors.Is(err, fs.ErrNotExist):
		return Outcome{}, "", model.Errorf(model.NotFound, "gdpr", "request %s has no report: no run of it has ended short of complete", id)
	case err != nil:
		return Outcome{}, "", model.Errorf(model.Internal, "gdpr", "the report of request %s cannot be read: run it again", id)
	}
	return s.Outcome, s.Plan, nil
}

// report keeps what was reached; a complete run has a receipt instead.
func (x *run) report() error {
	if x.out.Status == StateComplete {
		return removeIfThere(x.d.statusFile(x.r.ID))
	}
	return writeJSON(x.d.statusFile(x.r.ID), status{x.p.Hash, x.out})
}

// Unapproved says why the plan that stands may not be carried out yet; empty when
// it may.
func (d *Desk) Unapproved(r *Request) string {
	if !d.Policy.RequireApproval || d.underApproval(r) {
		return ""
	}
	return d.unapproved(r, r.PlanHash)
}

// notes say what is out of reach, and until when copies may hold the person.
func notes(out Outcome) []string {
	var all []string
	for _, l := range out.Layers {
		if l.Verdict == model.VerdictOutOfScope {
			all = append(all, l.Store+": "+l.Layer+": "+l.Reason)
		}
	}
	for _, s := range out.Stores {
		if s.Backups != "" {
			all = append(all, s.Store+": backups: "+s.Backups)
		}
	}
	return all
}

// StatusReport says how far a request has come: what the last run reached, store by
// store and layer by layer, what is left and what there is to do. NotFound for one
// that is complete or withdrawn: of the first a receipt speaks.
func (d *Desk) StatusReport(id string) (receipt.Report, error) {
	r, err := d.load(id)
	if err != nil {
		return receipt.Report{}, err
	}
	if r.Done() {
		return receipt.Report{}, model.Errorf(model.NotFound, "gdpr-report", "request %s is %s and nothing is left to report; of a complete one `memdesk gdpr receipt %s` speaks", id, r.State, id)
	}
	now := d.Clock.Now()
	due := r.due(now)
	rep := receipt.Report{Request: r.ID, Subject: r.Pseudonym, State: string(r.State), Reason: r.Reason, Plan: r.PlanHash, Received: r.Received,
		Deadline: due.Deadline.Format(dateForm), Due: due.Words, Made: now.UTC().Format(time.RFC3339)}
	if !r.Begun.IsZero() {
		rep.Begun = r.Begun.UTC().Format(time.RFC3339)
	}
	plan, erase := "memdesk gdpr plan "+r.ID, "memdesk gdpr erase "+r.ID+" --plan-hash "+r.PlanHash
	out, of, err := d.Report(id)
	switch {
	case model.KindOf(err) == model.NotFound:
		next := receipt.Left{Reason: "nothing was carried out yet", Do: erase}
		switch {
		case r.PlanHash == "":
			next.Do = plan
		case r.State == StateRunning:
			next.Reason, next.Do = "a run has begun and not told its end: it is at work, or it was interrupted", "memdesk jobs, and if nobody is at work: "+erase
		case d.Unapproved(&r) != "":
			next.Do = "memdesk gdpr approve " + r.ID + " --plan-hash " + r.PlanHash + ", then " + erase
		}
		rep.Left = append(rep.Left, next)
		return rep, nil
	case err != nil:
		return receipt.Report{}, err
	}
	rep.Plan, rep.Forgotten, rep.Redacted, rep.Held, rep.Stores, rep.Layers, rep.Notes = of, out.Forgotten, out.Redacted, out.Held, out.Stores, out.Layers, notes(out)
	if of != r.PlanHash { // the plan that was carried out stands no more
		if erase = plan; r.PlanHash != "" {
			erase = "memdesk gdpr erase " + r.ID + " --plan-hash " + r.PlanHash + " (a newer plan)"
		}
	}
	for _, p := range out.Problems {
		store, what, _ := strings.Cut(p, ": ")
		rep.Left = append(rep.Left, receipt.Left{Store: store, Reason: what, Do: erase})
	}
	for _, a := range out.Advices { // said once, before the layers
		rep.Left = append(rep.Left, receipt.Left{Store: a.Store, Verdict: model.VerdictUnaudited,
			Reason: fmt.Sprintf("%d of its layers cannot be looked at with the rights that memdesk has", len(a.Layers)),
			Do:     a.Words + ". Then " + plan + ", and carry that plan out: the receipt needs that"})
	}
	for _, l := range out.Layers {
		if receipt.Passes(l.Verdict) {
			continue
		}
		left := receipt.Left{Store: l.Store, Layer: l.Layer, Verdict: l.Verdict, Reason: l.Reason, Do: erase}
		switch l.Verdict {
		case model.VerdictResidue:
			left.Do = plan + ", look at it, then carry the new plan out"
		case model.VerdictPending:
			left.Do = "when the reader or the sync has gone: " + erase
		case model.VerdictUnaudited:
			left.Do = "put right what the reason names, then " + erase
			if out.advised(l.Store, l.Layer) {
				left.Do = "as said of the store"
			}
		case model.VerdictFailed:
			left.Do = "put the store right (memdesk health), then " + erase
		}
		rep.Left = append(rep.Left, left)
	}
	return rep, nil
}
