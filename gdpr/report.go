package gdpr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// status is the last run of an unfinished request, for a later or remote reader. It names no person: layers
// and problems are redacted as they are recorded.
type status struct {
	Plan    string  `json:"plan"`
	Outcome Outcome `json:"outcome"`
}

func (d *Desk) statusFile(id string) string { return d.dir("runs", id+".status.json") }

// dropPlan removes a request's report and plan.
func (d *Desk) dropPlan(id string) error {
	if err := removeIfThere(d.statusFile(id)); err != nil {
		return err
	}
	return removeIfThere(d.dir("plans", id+".json"))
}

// Report returns the result of a request's last run and its plan; NotFound when there was no run, or when the
// request is complete: then the receipt tells it.
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

// report saves the outcome; a complete run has a receipt instead.
func (x *run) report() error {
	if x.out.Status == StateComplete {
		return removeIfThere(x.d.statusFile(x.r.ID))
	}
	return writeJSON(x.d.statusFile(x.r.ID), status{x.p.Hash, x.out})
}

// Unapproved says why the current plan may not be carried out yet; empty when it may.
func (d *Desk) Unapproved(ctx context.Context, r *Request) (string, error) {
	if !d.Policy.RequireApproval {
		return "", nil
	}
	if covered, err := d.underApproval(ctx, r); err != nil || covered {
		return "", err
	}
	_, why, err := d.approval(ctx, r, r.PlanHash)
	return why, err
}

// StatusReport says how far a request has come: the outcome of the last run by store and layer, the work left
// and how to do it. NotFound for a request that is complete, which has a receipt, or withdrawn.
func (d *Desk) StatusReport(ctx context.Context, id string) (receipt.Report, error) {
	r, err := d.load(id)
	if err != nil {
		return receipt.Report{}, err
	}
	now := d.Clock.Now()
	due := r.At(now)
	rep := receipt.Report{Request: r.ID, Subject: r.Pseudonym, State: string(r.State), Reason: r.Reason, Plan: r.PlanHash, Received: r.Received,
		Deadline: due.Deadline.Format(dateForm), Due: due.Words, Made: now.UTC().Format(time.RFC3339), Exports: r.exports(true)}
	if !r.Begun.IsZero() {
		rep.Begun = r.Begun.UTC().Format(time.RFC3339)
	}
	for _, e := range rep.Exports {
		rep.Left = append(rep.Left, receipt.Left{Store: ownStore, Layer: fmt.Sprintf("export %d", e.N), Reason: strings.TrimPrefix(e.String(), fmt.Sprintf("export %d ", e.N)),
			Do: fmt.Sprintf("memdesk gdpr export %s --mark handed_over --export %d, or delete it and --mark deleted", r.ID, e.N)})
	}
	if r.Done() {
		if len(rep.Left) == 0 {
			return receipt.Report{}, model.Errorf(model.NotFound, "gdpr-report", "request %s is %s and nothing is left to report; of a complete one `memdesk gdpr receipt %s` speaks", id, r.State, id)
		}
		switch _, rec, _, err := d.Receipt(id); {
		case err == nil:
			rep.Forgotten, rep.Redacted, rep.Held = rec.Forgotten, rec.Redacted, receipt.Items(rec.Held)
		case model.KindOf(err) != model.NotFound:
			return rep, err
		default: // withdrawn
			x := run{r: &r}
			x.addTally()
			rep.Forgotten, rep.Redacted = x.out.Forgotten, x.out.Redacted
		}
		return rep, nil
	}
	plan, erase := "memdesk gdpr plan "+r.ID, d.EraseCommand(&r)
	out, of, err := d.Report(id)
	switch {
	case model.KindOf(err) == model.NotFound:
		left, err := d.notBegun(ctx, &r, plan, erase)
		rep.Left = append(rep.Left, left)
		return rep, err
	case err != nil:
		return receipt.Report{}, err
	}
	rep.Plan, rep.Forgotten, rep.Redacted, rep.Held, rep.Stores, rep.Layers = of, out.Forgotten, out.Redacted, out.Held, out.Stores, out.Layers
	if rep.Backups, err = d.copies(ctx, out.Stores); err != nil {
		return rep, err
	}
	rep.Notes = r.Warnings
	if of != r.PlanHash { // the plan was replaced since that run
		if erase = plan; r.PlanHash != "" {
			erase = d.EraseCommand(&r) + " (a newer plan)"
		}
	}
	about := func(p Problem, l receipt.Layer) bool { return p.Store == l.Store && p.What == l.Reason }
	for _, p := range out.Problems {
		if slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool { return !receipt.Passes(l.Verdict) && about(p, l) }) {
			continue // it is told with its layer
		}
		do := erase
		if p.Replan && of == r.PlanHash {
			do = replan(plan)
		}
		rep.Left = append(rep.Left, receipt.Left{Store: p.Store, Reason: p.What, Do: do})
	}
	for _, a := range out.Advices { // said once, before the layers
		n := 0
		for _, l := range out.Layers {
			if l.Store == a.Store && l.Verdict == model.VerdictUnaudited && slices.Contains(a.Layers, l.Layer) {
				n++
			}
		}
		if n > 0 {
			rep.Left = append(rep.Left, receipt.Left{Store: a.Store, Verdict: model.VerdictUnaudited,
				Reason: fmt.Sprintf("%d of its layers cannot be looked at with the rights that memdesk has", n),
				Do:     a.Words + ". Then " + plan + ", and carry that plan out. Or look at them yourself: " + attestCommand(&r, a.Store, "LAYER")})
		}
	}
	for _, l := range out.Layers {
		if receipt.Passes(l.Verdict) {
			continue
		}
		left := leftIn(&r, out, l, plan, erase)
		if of == r.PlanHash && slices.ContainsFunc(out.Problems, func(p Problem) bool { return p.Replan && about(p, l) }) {
			left.Do = replan(plan)
		}
		rep.Left = append(rep.Left, left)
	}
	rep.Left = append(rep.Left, d.unreached(&r, out)...)
	return rep, nil
}

// EraseCommand is the command that carries out the request's plan, with the number of items where it is asked
// for.
func (d *Desk) EraseCommand(r *Request) string {
	text := "memdesk gdpr erase " + r.ID + " --plan-hash " + r.PlanHash
	if p, err := d.Plan(r.ID); err == nil && p.Hash == r.PlanHash && len(p.OverShare(d.Policy.MaxShare)) > 0 {
		items, _ := p.Count()
		text += fmt.Sprintf(" --confirm-count %d", items)
	}
	return text
}

// notBegun is the next step of a request without an ended run.
func (d *Desk) notBegun(ctx context.Context, r *Request, plan, erase string) (receipt.Left, error) {
	next := receipt.Left{Reason: "nothing was carried out yet", Do: erase}
	switch {
	case r.PlanHash == "":
		next.Do = plan
	case r.State == StateRunning:
		next.Reason, next.Do = "a run has begun and not told its end: it is at work, or it was interrupted", "memdesk jobs, and if nobody is at work: "+erase
	default:
		why, err := d.Unapproved(ctx, r)
		if err != nil {
			return next, err
		}
		if why != "" {
			next.Do = "memdesk gdpr approve " + r.ID + " --plan-hash " + r.PlanHash + ", then " + erase
		}
	}
	return next, nil
}

func replan(plan string) string { return plan + ", look at it, then carry the new plan out" }

// leftIn returns the work left on a layer that does not pass.
func leftIn(r *Request, out Outcome, l receipt.Layer, plan, erase string) receipt.Left {
	left := receipt.Left{Store: l.Store, Layer: l.Layer, Verdict: l.Verdict, Reason: l.Reason, Do: erase}
	switch l.Verdict {
	case model.VerdictResidue:
		left.Do = replan(plan)
	case model.VerdictPending:
		left.Do = "when the reader or the sync has gone: " + erase
	case model.VerdictUnaudited:
		left.Do = "put right what the reason names, or look at it yourself: " + attestCommand(r, l.Store, l.Layer) + "; then " + erase
		if out.advice(l.Store, l.Layer) != "" {
			left.Do = "as said of the store"
		}
	case model.VerdictFailed:
		left.Do = "put the store right (memdesk health), then " + erase
	}
	return left
}

// unreached are the layers that hold the subject and that memdesk does not change, with who finishes them and
// by which command.
func (d *Desk) unreached(r *Request, out Outcome) []receipt.Left {
	var left []receipt.Left
	again := d.EraseCommand(r)
	for _, l := range out.Layers {
		if !l.HoldsPerson() {
			continue
		}
		do := "whoever keeps it takes the person out; then " + again
		if l.Layer == heldLayer {
			do = "memdesk gdpr unhold " + r.ID + " --item REF when the ground has passed, then plan again"
		}
		if words := out.advice(l.Store, l.Layer); words != "" {
			do = words + "; then " + again
		}
		left = append(left, receipt.Left{Store: l.Store, Layer: l.Layer, Verdict: l.Verdict, Reason: withWords(fmt.Sprintf("%d %s", l.Hits, safetext.Noun(l.Hits, "hit")), []string{l.Reason}),
			Do: do + "; or where it may stay: " + attestCommand(r, l.Store, l.Layer)})
	}
	return left
}

// attestCommand is the command that attests a layer.
func attestCommand(r *Request, store, layer string) string {
	if layer != "LAYER" {
		layer = safetext.Word(layer)
	}
	return "memdesk gdpr attest " + r.ID + " --store " + store + " --layer " + layer + " --ground TEXT"
}
