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
