package gdpr

import (
	"context"

	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// Gate is what stands between every caller and the stores: nothing that names an
// erased person is retained, nothing that a request holds back is forgotten or
// overwritten.
func (d *Desk) Gate() model.Middleware {
	suppressed := suppress.Gate(d.Suppressed())
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
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

// redaction marks the Retain of an erasure's step. What it writes is what stands there
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
