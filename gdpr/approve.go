package gdpr

import "time"

// Approval is a second operator's signature over a plan.
type Approval struct {
	PlanHash    string    `json:"plan_hash"`
	Fingerprint string    `json:"fingerprint"`
	Signature   string    `json:"signature"` // armored, as ssh-keygen -Y verifies it
	At          time.Time `json:"at"`
	Expires     time.Time `json:"expires"`
}

// approved is the signature over a plan, nil for none.
func (r *Request) approved(plan string) *Approval {
	for i := range r.Approvals {
		if r.Approvals[i].PlanHash == plan {
			return &r.Approvals[i]
		}
	}
	return nil
}

// unapproved says why a plan may not be carried out yet; empty when it may.
func (d *Desk) unapproved(r *Request, plan string) string {
	if r.approved(plan) == nil {
		return "nobody else has approved this plan"
	}
	return ""
}
