package gdpr

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"memdesk/model"
)

// Two rules protect a store from an identifier that matches too much. Both ask whether the identifiers are
// those of one person, and differ in how sure the answer must be:
//
//   - Where more than a share of a store goes (Policy.MaxShare, a fifth), the operator must type the number
//     of all items of the plan, which proves that the plan was read.
//   - Where everything in a store goes, and it has wholeStore items or more, the plan is refused until
//     somebody confirms by the store's name that it is about this subject alone (Whole). A smaller store
//     may well be, such as an agent's notes on one customer, and is not refused: the plan says that
//     everything goes, and the number must be typed as above. Redacted items count too: a name in every
//     text is not the name of one person.

// DefaultMaxShare is the share of a store from which the number must be typed.
const DefaultMaxShare = 0.2

// wholeStore is the number of items from which a plan that takes everything is refused.
const wholeStore = 20

// share is the permitted share of a store.
func share(max *float64) float64 {
	if max == nil {
		return DefaultMaxShare
	}
	return *max
}

// OverShare are the stores of which more than the permitted share would go.
func (p *Plan) OverShare(max *float64) []StorePlan {
	var out []StorePlan
	for _, s := range p.Stores {
		if s.Items > 0 && float64(s.Targets) > share(max)*float64(s.Items) {
			out = append(out, s)
		}
	}
	return out
}

// ShareWords explains why a store of OverShare needs confirmation; the caller says what to type.
func (s StorePlan) ShareWords(max *float64) string {
	part := strconv.FormatFloat(100*share(max), 'f', -1, 64)
	return fmt.Sprintf("%d of the %d items of %s would go or change, more than %s %%: that is right where much of it is about this person, and wrong where an identifier is also somebody else's or a plain word. Read the rows of %s first",
		s.Targets, s.Items, s.Store, part, s.Store)
}

// checkWhole applies the second rule.
func (d *Desk) checkWhole(r *Request, p *Plan) error {
	for i, s := range p.Stores {
		if s.Items < 2 || s.Targets-s.fallen()+s.held() < s.Items {
			continue
		}
		switch {
		case slices.ContainsFunc(s.places(), func(where string) bool { return slices.Contains(r.Whole, where) }):
			p.Stores[i].Notes = append(s.Notes, fmt.Sprintf("the identifiers match every one of its %d items, and somebody has said that it is about this person alone", s.Items))
		case s.Items >= wholeStore:
			return model.Errorf(model.InvalidInput, "gdpr-plan",
				"the identifiers match every one of the %d items of store %s: that selects a store, not a person. Look at the aliases: one may be a plain word or somebody else's too; then withdraw the request and file it without. If the store is about this person alone, say so: `memdesk gdpr plan %s --whole %s`",
				s.Items, s.Store, r.ID, s.Store)
		default:
			p.Stores[i].Notes = append(s.Notes, fmt.Sprintf("the identifiers match every one of its %d items, which can be right in so small a store (from %d on it is refused): read the rows whether they are of this person alone", s.Items, wholeStore))
		}
	}
	return nil
}

// Whole records that a store is about the subject alone, so that a plan may take all of it. An earlier plan
// becomes void. NotFound when no open store has this name.
func (d *Desk) Whole(ctx context.Context, id string, store model.Store) (Due, error) {
	where := store.Identity()
	return d.change(ctx, id, "gdpr-whole", func(r *Request) error {
		if !slices.Contains(r.Whole, where) {
			r.Whole = append(r.Whole, where)
			r.void()
		}
		return nil
	})
}
