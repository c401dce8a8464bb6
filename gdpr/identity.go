package gdpr

import (
	"context"
	"slices"
	"strings"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// IdentityMethods are the ways in which the requester's identity was checked. They are a closed list, because
// the receipt shows them and must not show people's free text.
var IdentityMethods = []string{"login", "known_address", "signature", "document", "in_person"}

// Identify records how this operator checked the requester's identity, and on which day (empty: today). A
// later entry replaces an earlier one; the log keeps both. Pause and Resume stop and restart the clock.
func (d *Desk) Identify(ctx context.Context, id, method, on string) (Due, error) {
	const op = "gdpr-identity"
	if !slices.Contains(IdentityMethods, method) {
		return Due{}, model.Errorf(model.InvalidInput, op, "the method of an identity check is %s", strings.Join(IdentityMethods, ", "))
	}
	now := d.Clock.Now().UTC()
	checked := day(now)
	if on != "" {
		var err error
		if checked, err = ParseDate(on); err != nil {
			return Due{}, err
		}
		if checked.After(now) {
			return Due{}, model.Errorf(model.InvalidInput, op, "an identity cannot have been checked in the future")
		}
	}
	return d.change(ctx, id, op, func(r *Request) error {
		r.Identity = &receipt.IdentityCheck{By: d.Operator.ID, Method: method, On: checked.Format(dateForm)}
		return nil
	})
}

// identityCheck is the receipt's member; nil when no check was recorded and the clock never stopped.
func (r *Request) identityCheck(now time.Time) *receipt.IdentityCheck {
	var c receipt.IdentityCheck
	if r.Identity != nil {
		c = *r.Identity
	}
	if c.StoppedDays = r.stoppedDays(now); c == (receipt.IdentityCheck{}) {
		return nil
	}
	return &c
}
