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
		return suppressed(ctx, c, next)
	}
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
