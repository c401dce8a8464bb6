package gdpr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"memdesk/model"
)

// addFalls adds the items that the store removes together with forgotten ones: they concern nobody, and go
// all the same, so the plan must list them. One on hold keeps the items that it would go with.
func (c *decision) addFalls(ctx context.Context) error {
	if err := c.keepListed(ctx); err != nil {
		return err
	}
	if c.store.Falls == nil {
		return nil
	}
	known := map[string]bool{}
	for _, f := range c.found {
		known[f.Item.ID] = true
	}
	for {
		falls, err := c.store.Falls(ctx, c.removed())
		if err != nil {
			return err
		}
		var keeps []model.Fall
		for _, f := range falls {
			if c.held(f.ID) != "" && len(f.With) > 0 {
				keeps = append(keeps, f)
			}
		}
		for _, f := range keeps {
			c.keep(f.With...)
			if err := c.add(ctx, f, known, "would fall, and is on hold"); err != nil {
				return err
			}
		}
		if len(keeps) > 0 {
			settle(c.going, c.sealed, c.children)
			continue // fewer go now, so fewer fall with them
		}
		for _, f := range falls {
			if err := c.add(ctx, f, known, fallReason(f)); err != nil {
				return err
			}
			c.falls[f.ID], c.going[f.ID] = f, true
		}
		slices.SortStableFunc(c.found, byID)
		return nil
	}
}

// keep lets items stay for the sake of one on hold.
func (c *decision) keep(ids ...string) {
	for _, id := range ids {
		c.stays[id], c.going[id] = true, false
	}
}

// keepListed keeps the items that cannot go without a change of an item on hold, such as the index that lists them, or a work
// item whose record names them. Of work items it asks about those on hold, which are few: bd answers each question with an
// export of all that it has.
func (c *decision) keepListed(ctx context.Context) error {
	if !c.holds.any.exists() || c.store.Rewrites == nil {
		return nil
	}
	removed := c.removed()
	if len(removed) == 0 {
		return nil
	}
	if err := c.keepBeside(ctx, removed); err != nil {
		return err
	}
	settle(c.going, c.sealed, c.children)
	return nil
}

// keepBeside keeps those of the removed items that keepListed means.
func (c *decision) keepBeside(ctx context.Context, removed []string) error {
	if c.store.Work == nil {
		for _, id := range removed {
			edited, err := c.store.Rewrites(ctx, model.RetainRequest{ID: id})
			if err != nil {
				return err
			}
			if slices.ContainsFunc(edited, func(id string) bool { return c.held(id) != "" }) {
				c.keep(id)
			}
		}
		return nil
	}
	for id := range c.holding {
		c.keepBefore(id, removed)
		pairs, err := c.store.Work.Dependencies(ctx, id)
		if err != nil && !errors.Is(err, model.NotFound) {
			return err
		}
		for _, d := range pairs {
			if d.Blocked == id && slices.Contains(removed, d.Blocker) {
				c.keep(d.Blocker)
			}
		}
	}
	return nil
}

// keepBefore keeps the removed lines of a work item's id that stand before one on hold, which would get the handle before its own.
func (c *decision) keepBefore(id string, removed []string) {
	n := c.duplicate(id)
	if n == 0 {
		return
	}
	base := id[:strings.LastIndexByte(id, '#')]
	for _, r := range removed {
		if m := c.duplicate(r); r == base || m > 0 && m < n && strings.HasPrefix(r, base+"#") {
			c.keep(r)
		}
	}
}

// removed are the ids that no item has afterwards: of forgotten and of renamed items.
func (c *decision) removed() []string {
	var out []string
	for _, f := range c.found {
		id := f.Item.ID
		if f.Layer == layerQuarantine || c.held(id) != "" || c.stays[id] {
			continue
		}
		if c.going[id] || c.m.Names(id) && !keepsID(c.store, f.Item) {
			out = append(out, id)
		}
	}
	return out
}

// underNamed records the items whose parent stays although its id names the person: they would fall with it.
func (c *decision) underNamed(ctx context.Context) error {
	c.under = map[string]string{}
	var named []string
	for _, f := range c.found {
		if id := f.Item.ID; !c.going[id] && c.m.Names(id) && keepsID(c.store, f.Item) {
			named = append(named, id)
		}
	}
	if c.store.Falls == nil || len(named) == 0 {
		return nil
	}
	falls, err := c.store.Falls(ctx, named)
	for _, f := range falls {
		if len(f.With) > 0 {
			c.under[f.ID] = f.With[0]
		}
	}
	return err
}

// add turns a falling item into a found one, unless it is known already.
func (c *decision) add(ctx context.Context, fall model.Fall, known map[string]bool, why string) error {
	if known[fall.ID] {
		return nil
	}
	known[fall.ID] = true
	it, err := c.store.Browser.Read(ctx, fall.ID)
	if errors.Is(err, model.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	f := Found{Item: it, Layer: layerOf(it), Reason: why}
	c.found = append(c.found, f)
	c.actions[it.ID] = c.action(&f)
	return nil
}

// fallReason says which item takes this one along.
func fallReason(f model.Fall) string {
	left := "no member"
	if f.Left == 1 {
		left = "one member"
	}
	switch len(f.With) {
	case 0:
		return "left with " + left
	case 1:
		return fmt.Sprintf("left with %s when %s goes", left, f.With[0])
	}
	return fmt.Sprintf("left with %s when %s and %d more go", left, f.With[0], len(f.With)-1)
}

// bystander reports whether nothing in an item concerns the subject.
func (f *Found) bystander() bool { return !f.Tagged && len(f.Named) == 0 }

// fallen counts the items that go only because others do: no identifier matches them.
func (s *StorePlan) fallen() int64 { return s.count(func(st *Step) bool { return st.Fallen }) }

// takesMore refuses to remove an item that would take another existing item along: the plan's own steps for
// those come first, so the store no longer matches the plan.
func takesMore(ctx context.Context, s model.Store, st Step) error {
	if s.Falls == nil || st.Layer != layerItem || st.Action != Forget && st.NewID == "" {
		return nil
	}
	falls, err := s.Falls(ctx, []string{st.ID})
	if err != nil {
		return err
	}
	if len(falls) > 0 {
		return model.Errorf(model.Conflict, "gdpr-erase", "an item that is not in the plan as it is would go with it")
	}
	return nil
}
