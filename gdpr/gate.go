package gdpr

import (
	"context"
	"slices"

	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// Gate stands between every caller and the stores: nothing that names an
// erased person is retained, nothing that a request holds back is forgotten,
// overwritten, scrubbed or migrated away.
func (d *Desk) Gate() model.Middleware {
	suppressed := suppress.Gate(d.Suppressed())
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Removes || c.Scrub != nil {
			if err := d.checkHeld(c); err != nil {
				return err
			}
			return next(ctx)
		}
		if c.Retain == nil && c.Forget == nil {
			return next(ctx)
		}
		if err := d.checkHold(c); err != nil {
			return err
		}
		if ctx.Value(redaction{}) != nil {
			return next(ctx)
		}
		return suppressed(ctx, c, next)
	}
}

// redaction marks the Retain of an erasure's step. It writes the text that stands there
// without one person. Another one in it may be under erasure too, and suppressed: each
// would wait for the other to be gone.
type redaction struct{}

// redacting marks a step that writes over exactly the text that was planned with.
func redacting(ctx context.Context, st Step) context.Context {
	if st.Revision == "" {
		return ctx
	}
	return context.WithValue(ctx, redaction{}, true)
}

// checkHeld refuses what would take items away beside Forget: all of them, or what a scrub
// cleans after those that were removed.
func (d *Desk) checkHeld(c *model.Call) error {
	var held string
	var err error
	if c.Removes {
		held, err = d.heldIn(c.Store)
	} else {
		for _, id := range slices.Concat(c.Scrub.Removed, c.Scrub.Edited) {
			if held, err = d.held(c.Store, id); err != nil || held != "" {
				break
			}
		}
	}
	switch {
	case err != nil:
		return model.Refuse(string(c.Op), "nobody can say what is on hold: "+err.Error())
	case held != "":
		return model.Refuse(string(c.Op), "an item of this store is on hold under request "+held)
	}
	return nil
}

// checkHold refuses to change an item that is on hold.
func (d *Desk) checkHold(c *model.Call) error {
	id := c.ID
	if id == "" && c.Retain != nil && c.Store.Address != nil {
		id, _ = c.Store.Address(*c.Retain) // a bad address is refused by the store itself
	}
	held, err := d.held(c.Store, id)
	if c.Forget != nil && c.Forget.DataSubjectID != "" {
		held, err = d.heldIn(c.Store)
	}
	if err != nil {
		return model.Refuse(string(c.Op), "nobody can say what is on hold: "+err.Error())
	}
	switch {
	case held != "" && id == "":
		return model.Refuse(string(c.Op), "an item of this store is on hold under request "+held+": forget item by item, so that it stays")
	case held != "":
		return model.Refuse(string(c.Op), "the item is on hold under request "+held)
	}
	return nil
}
