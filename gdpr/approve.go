package gdpr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/sshsig"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// Approval is a second operator's consent to a plan: a signature or, where the policy allows it, the record
// of a session that the operator's key has authenticated.
type Approval struct {
	PlanHash    string    `json:"plan_hash"`
	Fingerprint string    `json:"fingerprint"`
	Signature   string    `json:"signature,omitempty"` // armored, as ssh-keygen -Y verifies it; empty: by the session
	At          time.Time `json:"at"`
	Expires     time.Time `json:"expires"`
}

// The methods of approval.
const (
	BySignature = receipt.BySignature
	BySession   = receipt.BySession
)

// Method returns the method of the approval: BySignature or BySession.
func (a Approval) Method() string {
	if a.Signature == "" {
		return BySession
	}
	return BySignature
}

// DefaultApprovalValid is how long an approval is valid.
const DefaultApprovalValid = 7 * 24 * time.Hour

// namespace separates approvals from any other use of a key.
const namespace = "memdesk-approval"

// approvalText returns the signed text: request, plan and expiry.
func approvalText(request, plan string, expires time.Time) []byte {
	return fmt.Appendf(nil, "memdesk-approval-v1\n%s\n%s\n%s\n", request, plan, expires.UTC().Format(time.RFC3339))
}

// Approve signs the current plan with another operator's key. Refusals are audited: the requester's own key
// under any name, a key that may not sign, a plan that is not the current one.
func (d *Desk) Approve(ctx context.Context, id, planHash string, signer sshsig.Signer) (Due, error) {
	return d.approve(ctx, id, planHash, sshsig.Fingerprint(signer.PublicKey()), func(a *Approval) (err error) {
		a.Signature, err = sshsig.Sign(signer, namespace, approvalText(id, a.PlanHash, a.Expires))
		return err
	})
}

// ApproveHere approves the current plan as the operator of this session: the chained record with the key that
// authenticated the session is the approval. The policy must allow approval by session.
func (d *Desk) ApproveHere(ctx context.Context, id, planHash string) (Due, error) {
	return d.approve(ctx, id, planHash, d.Operator.Key, nil)
}

// noSession says why an approval by session is not valid here; empty when it is.
func (d *Desk) noSession(key string) string {
	switch {
	case d.Policy.Approval != BySession:
		return "the policy of erasures wants a signature: [gdpr] approval"
	case key == "":
		return "no key has authenticated this session: approve with --key FILE or from an SSH login"
	}
	return ""
}

// approve records an approval of a key; sign is nil for one by the session.
func (d *Desk) approve(ctx context.Context, id, planHash, print string, sign func(*Approval) error) (Due, error) {
	r, err := d.live(id, "gdpr-approve")
	if err != nil {
		return Due{}, err
	}
	p, err := d.Plan(id)
	if err != nil {
		return Due{}, err
	}
	if !r.Planned(planHash) || r.PlanHash != p.Hash {
		return Due{}, d.refused(ctx, &r, "gdpr-approve", "the plan is not the one that was shown: look at `memdesk gdpr plan` again")
	}
	why := d.mayNotApprove(&r, print)
	if sign == nil {
		if why = cmp.Or(d.noSession(print), why); why == "" && (d.Operator.ID == r.ByID || d.Operator.ID == r.By) {
			why = noOther
		}
	}
	if why != "" {
		return Due{}, d.refused(ctx, &r, "gdpr-approve", why)
	}
	now := d.Clock.Now().UTC()
	a := Approval{PlanHash: p.Hash, Fingerprint: print, At: now, Expires: now.Add(d.Policy.valid()).Truncate(time.Second)}
	if why, err := d.requesterDiffers(ctx, &r); err != nil {
		return Due{}, err
	} else if why != "" && d.Policy.RequireApproval {
		return Due{}, d.refused(ctx, &r, "gdpr-approve", why)
	}
	err = d.actOn(ctx, &r, "gdpr-approve", print, nil, func(context.Context) (map[string]int64, error) {
		if sign != nil {
			if err := sign(&a); err != nil {
				return nil, err
			}
		}
		return nil, d.edit(ctx, &r, func(r *Request) error {
			if r.Done() || r.PlanHash != p.Hash {
				return model.Errorf(model.Conflict, "gdpr-approve", "the plan became void while it was approved: look at `memdesk gdpr plan` again")
			}
			r.Approvals = append(slices.DeleteFunc(r.Approvals, func(o Approval) bool { return o.Fingerprint == print || o.PlanHash != p.Hash }), a)
			if r.State == StatePlanned {
				r.State = StateApproved
			}
			return nil
		})
	})
	if err != nil {
		return Due{}, err
	}
	return r.At(now), nil
}

// mayNotApprove says why a key may not sign; empty when it may. Keys count, not names: one person may have
// two names, and then has one key. A person with two keys has both under one name in the configuration.
// Without a record of who filed the request, nothing proves that the key is another person's: then no key may
// sign where a second operator is required. Elsewhere the signature opens nothing and is only recorded.
func (d *Desk) mayNotApprove(r *Request, fingerprint string) string {
	person := d.Policy.Names[fingerprint]
	switch {
	case r.ByKey == "" && d.Policy.RequireApproval:
		return noRequesterKey
	case fingerprint == r.ByKey:
		return "the key is the requester's own, whatever the name"
	case person != "" && (person == d.Policy.Names[r.ByKey] || person == r.ByID || person == r.By):
		return "the key is another one of the requester's: the configuration has both under one name"
	case len(d.Policy.Approvers) > 0 && !slices.Contains(d.Policy.Approvers, fingerprint):
		return "the key is not among those that may approve"
	}
	return ""
}

// noOther is why an operator cannot approve the own request in another session: each login may have a key of its own,
// where an authority makes them.
const noOther = "the operator of this session filed the request"

// noRequesterKey is why a request that was filed without a key cannot be approved.
const noRequesterKey = "no key of the requester is on record, so nobody can say that this one is another person's: withdraw the request and file it anew with --key FILE or from an SSH login"

// requester returns the fingerprint of the key that files a request: the session's, or that of signer. A
// signing key may have been made for this one request, so where approvers are listed the configuration must
// know it.
func (d *Desk) requester(signer sshsig.Signer) (string, error) {
	if signer == nil {
		return d.Operator.Key, nil
	}
	print := sshsig.Fingerprint(signer.PublicKey())
	if d.Operator.Key != "" && d.Operator.Key != print {
		return "", model.Errorf(model.InvalidInput, "gdpr", "this session has a key of its own: leave --key out")
	}
	if len(d.Policy.Approvers) > 0 && d.Policy.Names[print] == "" && !slices.Contains(d.Policy.Approvers, print) {
		return "", model.Errorf(model.InvalidInput, "gdpr", "nobody knows this key: list it under [operator] names in the configuration")
	}
	text := fmt.Appendf(nil, "memdesk-request-v1\n%s\n", d.Clock.Now().UTC().Format(time.RFC3339Nano))
	sig, err := sshsig.Sign(signer, "memdesk-request", text)
	if err != nil {
		return "", err
	}
	if key, err := sshsig.Verify(sig, "memdesk-request", text); err != nil || sshsig.Fingerprint(key) != print {
		return "", model.Errorf(model.PermissionDenied, "gdpr", "the key does not sign")
	}
	return print, nil
}

// Unattested says why nobody could approve a request that is filed in this session; empty where somebody
// could, or where no approval is needed.
func (d *Desk) Unattested() string {
	if !d.Policy.RequireApproval || d.Operator.Key != "" {
		return ""
	}
	return "this session has no key, so nobody could approve the request: file it with `memdesk gdpr request --key FILE` or from an SSH login"
}

// counts reports whether the current plan has an approval that has not expired.
func (r *Request) counts(now time.Time) bool {
	return slices.ContainsFunc(r.Approvals, func(a Approval) bool { return a.PlanHash == r.PlanHash && now.Before(a.Expires) && !a.tooNew(now) })
}

// tooNew reports whether an approval was given by a clock that was ahead: it would count for as long as that was.
func (a Approval) tooNew(now time.Time) bool { return a.At.After(now.Add(time.Hour)) }

// approval is the approval under which a plan may be carried out; nil, and the reason, for none. The request's
// file is not believed: every signature is checked again.
func (d *Desk) approval(ctx context.Context, r *Request, plan string) (ok *Approval, why string, err error) {
	if why, err := d.requesterDiffers(ctx, r); err != nil || why != "" {
		return nil, why, err
	}
	why = "nobody else has approved this plan"
	for _, a := range r.Approvals {
		if why, err = d.invalid(ctx, r, a, plan); err != nil {
			return nil, "", err
		}
		if why == "" {
			return &a, "", nil
		}
	}
	return nil, why, nil
}

// invalid says why an approval does not count for a plan; empty where it does.
func (d *Desk) invalid(ctx context.Context, r *Request, a Approval, plan string) (why string, err error) {
	switch {
	case a.PlanHash != plan:
		return "the plan has changed since it was approved", nil
	case !d.Clock.Now().Before(a.Expires):
		return "the approval has expired", nil
	case a.tooNew(d.Clock.Now()):
		return clockAhead, nil
	}
	if a.Method() == BySession {
		why = d.noSession(a.Fingerprint)
	} else if key, err := sshsig.Verify(a.Signature, namespace, approvalText(r.ID, plan, a.Expires)); err != nil || sshsig.Fingerprint(key) != a.Fingerprint {
		why = "the approval's signature does not fit this request and plan"
	}
	if why = cmp.Or(why, d.mayNotApprove(r, a.Fingerprint)); why != "" {
		return why, nil
	}
	return d.approvalOnRecord(ctx, r, a)
}

// clockAhead says why an approval from the future is not valid.
const clockAhead = "the approval has a time that is yet to come: the clock was ahead; approve the plan again"

// underApproval reports whether a sweep's request is covered by the approval of the erasure that it repeats. An
// erasure that needed no approval covers none. The request's file is not believed: the log has the record of
// the sweep, and every identifier is one of the person who was erased.
func (d *Desk) underApproval(ctx context.Context, r *Request) (bool, error) {
	if r.Of == "" {
		return false, nil
	}
	_, rec, _, err := d.Receipt(r.Of)
	if err != nil || rec.Request != r.Of || rec.Approver == nil || rec.Subject != r.Pseudonym {
		return false, nil //nolint:nilerr // without that receipt nothing covers it
	}
	if why, err := d.requesterDiffers(ctx, r); err != nil || why != "" {
		return false, err
	}
	ix, err := d.Suppressed().Now()
	if err != nil {
		return false, err
	}
	for _, t := range r.Terms() {
		if !slices.ContainsFunc(ix.Find(true, t), func(m suppress.Match) bool { return m.Person.Pseudonym == rec.Subject }) {
			return false, nil
		}
	}
	return true, nil
}

// MayApprove reports whether a key could approve a request at all.
func (d *Desk) MayApprove(r *Request, fingerprint string) bool {
	return d.mayNotApprove(r, fingerprint) == ""
}
