package gdpr

import (
	"cmp"
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
		if err := d.checkHold(ctx, c); err != nil {
			return err
		}
		if ctx.Value(redaction{}) != nil {
			return next(ctx)
		}
		return suppressed(ctx, c, next)
	}
}

// redaction marks the Retain of an erasure's step, which may pass the suppression list: it writes the stored
// text without its subject. The text may also name another suppressed subject under erasure; without the mark
// each erasure would wait for the other.
type redaction struct{}

// redacting marks a step that overwrites exactly the text of the plan.
func redacting(ctx context.Context, st Step) context.Context {
	if st.Revision == "" {
		return ctx
	}
	return context.WithValue(ctx, redaction{}, true)
}

// checkHeld refuses calls other than Forget that would take a held item away: those that remove everything,
// and a scrub after removed or edited items. A scrub loses the subject's ids where anything is on hold: a
// medium's own erasure is a cascade, and nothing proves that it spares a held item.
func (d *Desk) checkHeld(c *model.Call) error {
	holds, err := d.holdsIn(c.Store)
	held := holds.any.request
	if !c.Removes {
		if held != "" {
			c.Scrub.Subjects, held = nil, ""
		}
		for _, id := range slices.Concat(c.Scrub.Removed, c.Scrub.Edited) {
			held = cmp.Or(held, holds.by(id))
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

// checkHold refuses to change an item that is on hold, or a file on hold by a new item.
func (d *Desk) checkHold(ctx context.Context, c *model.Call) error {
	id := c.ID
	if id == "" && c.Retain != nil && c.Store.Address != nil {
		id, _ = c.Store.Address(*c.Retain) // the store itself refuses a bad address
	}
	unnamed := c.Retain != nil && id == "" && c.Store.Address == nil && c.Retain.IfMatch != model.Absent
	cascade := c.Forget != nil && c.Forget.DataSubjectID != ""
	isNew := id == "" && !unnamed && !cascade
	holds, err := d.holdsIn(c.Store)
	held := holds.by(id)
	switch {
	case isNew:
		held = holds.added.request
	case unnamed, cascade:
		held = holds.any.request
	}
	if err != nil && !isNew { // a damaged request keeps nobody from adding items
		return model.Refuse(string(c.Op), "nobody can say what is on hold: "+err.Error())
	}
	switch {
	case held == "" && id != "":
		return checkBeside(ctx, c, id, holds)
	case held != "" && isNew:
		return model.Refuse(string(c.Op), "a new item would change a file that is on hold under request "+held)
	case held != "" && unnamed:
		return model.Refuse(string(c.Op), "an item of this store is on hold under request "+held+", and the store does not say which one a tier and a key name: write to the item by its id")
	case held != "" && id == "":
		return model.Refuse(string(c.Op), "an item of this store is on hold under request "+held+": forget item by item, so that it stays")
	case held != "":
		return model.Refuse(string(c.Op), "the item is on hold under request "+held)
	}
	return nil
}

// checkBeside refuses to forget an item that would take one on hold along, and a change that would write one
// beside its own.
func checkBeside(ctx context.Context, c *model.Call, id string, holds storeHolds) error {
	if !holds.any.exists() {
		return nil
	}
	var others []string
	if c.Forget != nil && c.Store.Falls != nil {
		falls, err := c.Store.Falls(ctx, []string{id})
		if err != nil {
			return err
		}
		for _, f := range falls {
			others = append(others, f.ID)
		}
	}
	if c.Store.Rewrites != nil {
		req := model.RetainRequest{ID: id}
		if c.Retain != nil {
			req = *c.Retain
		}
		edited, err := c.Store.Rewrites(ctx, req)
		if err != nil {
			return err
		}
		others = append(others, edited...)
	}
	for _, other := range others {
		if held := holds.by(other); held != "" {
			return model.Refuse(string(c.Op), "an item that would go or change with it is on hold under request "+held)
		}
	}
	return nil
}
