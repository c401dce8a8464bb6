package gdpr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// addFalls adds the items that the store removes together with forgotten ones: they concern nobody, and go
// all the same, so the plan must list them. One on hold keeps the items that it would go with (q.stays).
// holds: something of the store is on hold. settle recomputes what follows when going changes.
func (q *search) addFalls(ctx context.Context, m *subject.Matcher, going map[string]bool, holds bool, settle func()) error {
	q.stays, q.falls = map[string]bool{}, map[string]model.Fall{}
	if holds {
		if err := q.keepListed(ctx, m, going); err != nil {
			return err
		}
		settle()
	}
	if q.store.Falls == nil {
		return nil
	}
	known := map[string]bool{}
	for _, f := range q.found {
		known[f.Item.ID] = true
	}
	for {
		falls, err := q.store.Falls(ctx, q.removed(m, going))
		if err != nil {
			return err
		}
		var keeps []model.Fall
		for _, f := range falls {
			if q.held(f.ID) != "" && len(f.With) > 0 {
				keeps = append(keeps, f)
			}
		}
		for _, f := range keeps {
			for _, id := range f.With {
				q.stays[id], going[id] = true, false
			}
			if err := q.add(ctx, f, known, "would fall, and is on hold"); err != nil {
				return err
			}
		}
		if len(keeps) > 0 {
			settle()
			continue // fewer go now, so fewer fall with them
		}
		for _, f := range falls {
			if err := q.add(ctx, f, known, fallReason(f)); err != nil {
				return err
			}
			q.falls[f.ID], going[f.ID] = f, true
		}
		slices.SortStableFunc(q.found, byID)
		return nil
	}
}

// keepListed keeps the items that cannot go without a change of an item on hold, such as the index that lists them, or a work
// item whose record names them. Of work items it asks about those on hold, which are few: bd answers each question with an
// export of all that it has.
func (q *search) keepListed(ctx context.Context, m *subject.Matcher, going map[string]bool) error {
	removed := q.removed(m, going)
	if q.store.Rewrites == nil || len(removed) == 0 {
		return nil
	}
	if q.store.Work == nil {
		for _, id := range removed {
			edited, err := q.store.Rewrites(ctx, model.RetainRequest{ID: id})
			if err != nil {
				return err
			}
			if slices.ContainsFunc(edited, func(id string) bool { return q.held(id) != "" }) {
				q.stays[id], going[id] = true, false
			}
		}
		return nil
	}
	for id := range q.holding {
		pairs, err := q.store.Work.Dependencies(ctx, id)
		if err != nil && !errors.Is(err, model.NotFound) {
			return err
		}
		for _, d := range pairs {
			if d.Blocked == id && slices.Contains(removed, d.Blocker) {
				q.stays[d.Blocker], going[d.Blocker] = true, false
			}
		}
	}
	return nil
}

// removed are the ids that no item has afterwards: of forgotten and of renamed items.
func (q *search) removed(m *subject.Matcher, going map[string]bool) []string {
	var out []string
	for _, f := range q.found {
		id := f.Item.ID
		if f.Layer == layerQuarantine || q.held(id) != "" || q.stays[id] {
			continue
		}
		if going[id] || m.Names(id) && !keepsID(q.store, f.Item) {
			out = append(out, id)
		}
	}
	return out
}

// underNamed maps an item to its parent, where the parent stays although its id names the person: the item would fall with
// it.
func (q *search) underNamed(ctx context.Context, m *subject.Matcher, going map[string]bool) (map[string]string, error) {
	under := map[string]string{}
	if q.store.Falls == nil {
		return under, nil
	}
	var named []string
	for _, f := range q.found {
		if id := f.Item.ID; !going[id] && m.Names(id) && keepsID(q.store, f.Item) {
			named = append(named, id)
		}
	}
	if len(named) == 0 {
		return under, nil
	}
	falls, err := q.store.Falls(ctx, named)
	if err != nil {
		return nil, err
	}
	for _, f := range falls {
		if len(f.With) > 0 {
			under[f.ID] = f.With[0]
		}
	}
	return under, nil
}

// add turns a falling item into a found one, unless it is known already.
func (q *search) add(ctx context.Context, f model.Fall, known map[string]bool, why string) error {
	if known[f.ID] {
		return nil
	}
	known[f.ID] = true
	it, err := q.store.Browser.Read(ctx, f.ID)
	if errors.Is(err, model.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	q.found = append(q.found, Found{Store: q.store.Name, Item: it, Layer: layerOf(it), Reason: why})
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

// edgesFirst puts edges before the items that they tie, so each goes, or is edited, as it was planned and by
// its own step.
func edgesFirst(steps []Step) []Step {
	return foremost(steps, func(st Step) bool { return st.Layer == layerEdge })
}

// fallsFirst puts items before those that would take them along, so each goes by its own step.
func fallsFirst(ctx context.Context, s model.Store, steps []Step) ([]Step, error) {
	if s.Falls == nil {
		return steps, nil
	}
	under := map[string][]string{}
	for _, st := range steps {
		if st.Action != Forget && st.NewID == "" {
			continue
		}
		falls, err := s.Falls(ctx, []string{st.ID})
		if err != nil {
			return nil, err
		}
		for _, f := range falls {
			under[st.ID] = append(under[st.ID], f.ID)
		}
	}
	return childrenFirst(steps, under), nil
}

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
