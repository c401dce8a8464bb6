package gdpr

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"memdesk/audit"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// The policy decides who may erase, and it comes from a configuration that every operator can copy and
// change. So the log records each policy and who set it; a policy that demanded approval is replaced only by
// an act of its own.

// policyAction is the log's action for setting a policy.
const policyAction = "gdpr-policy"

// rules are the policy as a receipt states it.
func (p Policy) rules() receipt.Policy {
	out := receipt.Policy{Approval: p.RequireApproval, Approvers: slices.Sorted(slices.Values(p.Approvers)), ApprovalValid: p.valid().String(), MaxShare: share(p.MaxShare)}
	if p.Approval == BySession { // keep the hash of a policy without it
		out.Method = BySession
	}
	b, err := json.Marshal(out)
	if err != nil { // numbers and strings always encode
		panic(err)
	}
	out.Hash = fmt.Sprintf("%x", sha256.Sum256(append([]byte("memdesk-policy-v1\x00"), b...)))
	return out
}

// valid is how long an approval is valid.
func (p Policy) valid() time.Duration {
	if p.ApprovalValid <= 0 {
		return DefaultApprovalValid
	}
	return p.ApprovalValid
}

// onRecord is the newest record of an act that fits; false for none.
func (d *Desk) onRecord(ctx context.Context, f audit.Filter, fits func(audit.Row) bool) (audit.Row, bool, error) {
	if d.Log == nil {
		return audit.Row{}, false, nil
	}
	cursor := ""
	for {
		page, err := d.Log.List(ctx, f, 1000, cursor)
		if errors.Is(err, context.Canceled) { // by the caller: nothing is wrong with the log
			return audit.Row{}, false, model.Ended("gdpr", err)
		}
		if err != nil {
			return audit.Row{}, false, model.Refuse("gdpr", "the audit log cannot be asked: "+err.Error())
		}
		for _, row := range page.Rows {
			if row.Damaged == "" && fits(row) {
				return row, true, nil
			}
		}
		if cursor = page.Next; cursor == "" {
			return audit.Row{}, false, nil
		}
	}
}

// policyInForce returns the policy with the record that set it. The first policy, and one after a policy that
// demanded no approval, is recorded here; one that replaces a policy with approval is refused until SetPolicy
// has recorded it.
func (d *Desk) policyInForce(ctx context.Context, r *Request, op string) (receipt.Policy, error) {
	now := d.Policy.rules()
	last, found, err := d.lastPolicy(ctx)
	if err != nil {
		return now, err
	}
	switch {
	case found && last.Plan == now.Hash:
	case found && last.Counts["approval"] != 0:
		return now, d.refused(ctx, r, op, fmt.Sprintf("the policy of erasures was changed since %s set it in record %d of the audit log: `memdesk gdpr policy --accept --reason TEXT` records the change", last.Actor, last.Seq))
	default:
		if err := d.notePolicy(ctx, now, ""); err != nil {
			return now, err
		}
		if last, found, err = d.lastPolicy(ctx); err != nil || !found {
			return now, err
		}
	}
	now.Record, now.By = last.Seq, last.Actor
	return now, nil
}

// firstPolicy records the policy where the log has none: a request is carried out under the policy that it
// was filed under, or under one whose change is on record.
func (d *Desk) firstPolicy(ctx context.Context) error {
	_, found, err := d.lastPolicy(ctx)
	if err != nil || found {
		return err
	}
	return d.notePolicy(ctx, d.Policy.rules(), "")
}

func (d *Desk) lastPolicy(ctx context.Context) (audit.Row, bool, error) {
	return d.onRecord(ctx, audit.Filter{Action: policyAction}, func(row audit.Row) bool { return row.Result == audit.OK })
}

func (d *Desk) notePolicy(ctx context.Context, p receipt.Policy, reason string) error {
	if d.Log == nil {
		return model.Refuse(policyAction, "there is no audit log")
	}
	approval := int64(0)
	if p.Approval {
		approval = 1
	}
	e := audit.Entry{Action: policyAction, Plan: p.Hash, Reason: reason, Counts: map[string]int64{"approval": approval, "approvers": int64(len(p.Approvers))}}
	if err := d.Log.Note(ctx, e, audit.Result{Verdict: audit.OK, Counts: e.Counts}); err != nil {
		return unrecorded("it could not be recorded", err)
	}
	return nil
}

// unrecorded is the error of a policy that the log did not take: a refusal, but where the caller ended the act.
func unrecorded(what string, err error) error {
	if errors.Is(err, context.Canceled) {
		return model.Ended(policyAction, err)
	}
	return model.Refuse(policyAction, what+": "+err.Error())
}

// PolicyState is the configured policy and whether it is the one on record.
type PolicyState struct {
	receipt.Policy
	InForce bool
}

// PolicyNow returns the configured policy and the record of who set it. It records nothing.
func (d *Desk) PolicyNow(ctx context.Context) (PolicyState, error) {
	out := PolicyState{Policy: d.Policy.rules()}
	last, found, err := d.lastPolicy(ctx)
	if err != nil {
		return out, err
	}
	out.InForce = !found || last.Plan == out.Hash
	if found {
		out.Record, out.By = last.Seq, last.Actor
	}
	return out, nil
}

// SetPolicy records that the configured policy is in force from now on, who says so and why.
func (d *Desk) SetPolicy(ctx context.Context, reason string) (PolicyState, error) {
	if reason == "" {
		return PolicyState{}, model.Errorf(model.InvalidInput, policyAction, "a change of the policy needs its reason")
	}
	if err := d.notePolicy(ctx, d.Policy.rules(), reason); err != nil {
		return PolicyState{}, err
	}
	return d.PolicyNow(ctx)
}

// requesterDiffers says how a request's file differs from the log: the chained record, not the file beside
// it, says who filed it. Empty where they agree.
func (d *Desk) requesterDiffers(ctx context.Context, r *Request) (string, error) {
	const tell = "withdraw the request and file it anew"
	want := ""
	if r.ByKey != "" {
		var err error
		if want, err = d.Log.HashTarget(r.ByKey); err != nil {
			return "", model.Refuse("gdpr", err.Error())
		}
	}
	action := "gdpr-request"
	if r.Of != "" {
		action = "gdpr-sweep"
	}
	var row audit.Row
	found := false
	_, _, err := d.onRecord(ctx, audit.Filter{Action: action, Phase: audit.PhaseIntent}, func(o audit.Row) bool {
		if o.Scope == r.ID { // the oldest counts: later sweeps continue the request
			row, found = o, true
		}
		return false
	})
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the audit log has no record of who filed the request: " + tell, nil
	case row.Target != want:
		return "the request's file names another key than the audit log does, which was written when it was filed: " + tell, nil
	}
	return "", nil
}

// approvalOnRecord says why the log does not confirm an approval; empty where it does. Of one by session the record is the
// approval: the time in the request's file is not believed.
func (d *Desk) approvalOnRecord(ctx context.Context, r *Request, a Approval) (string, error) {
	session := a.Method() == BySession
	f := audit.Filter{Action: "gdpr-approve", Target: a.Fingerprint, Phase: audit.PhaseIntent}
	if session {
		f.Phase, f.Result = "", audit.OK
	}
	row, found, err := d.onRecord(ctx, f, func(row audit.Row) bool {
		return row.Scope == r.ID && row.Plan == a.PlanHash && (!session || row.ActorKey == a.Fingerprint)
	})
	switch {
	case err != nil:
		return "", err
	case !found:
		return "the audit log has no record of the approval: approve the plan again", nil
	case session && !d.Clock.Now().Before(row.TS.Add(d.Policy.valid())):
		return "the approval has expired", nil
	case session && (Approval{At: row.TS}).tooNew(d.Clock.Now()):
		return clockAhead, nil
	}
	return "", nil
}
