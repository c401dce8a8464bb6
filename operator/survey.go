package operator

import (
	"context"
	"iter"
	"slices"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/gdpr"
	"memdesk/model"
)

// Survey reads everything that an operator must be told of, part by part: for metrics and for `watch`. It
// changes nothing and is safe for concurrent use.
type Survey struct {
	s          *Session
	quarantine *Quarantine
	conflicts  *Conflicts
	erasures   *Erasures // nil without a state directory
}

// Survey is one of the session's stores; its memory of them ends with ctx.
func (s *Session) Survey(ctx context.Context) *Survey {
	erasures, _ := s.Erasures(nil, Away{})
	return &Survey{s: s, quarantine: s.Quarantine(), conflicts: s.Conflicts(NewChanges(ctx)), erasures: erasures}
}

// Health checks every store, in the fleet's order, after trying again to open closed ones.
func (v *Survey) Health(ctx context.Context) []backends.HealthReport {
	v.s.Fleet.ReopenClosed(ctx)
	members := v.s.Fleet.Members()
	found := map[string]backends.HealthReport{}
	for r := range v.s.Fleet.Health(ctx) {
		found[r.Store] = r
	}
	var out []backends.HealthReport
	for _, m := range members {
		if r, ok := found[m.Name]; ok { // missing: the context ended first
			out = append(out, r)
		}
	}
	return out
}

// TierUse counts the items of one tier, in all scopes.
type TierUse struct {
	model.TierSpec
	Items, Bytes int64
	// Over counts the scopes whose only item of the tier is over the cap.
	Over int64
	// Largest is the size in bytes of the largest item, -1 where the store cannot say.
	Largest int64
}

// Tiers counts the content of an open store's tiers. With problems the counts are lower bounds.
func Tiers(ctx context.Context, s model.Store) (all []TierUse, problems []string, err error) {
	if s.Browser == nil {
		return nil, nil, model.Errorf(model.Unsupported, "tiers", "this store cannot be browsed")
	}
	counts, err := s.Browser.Tiers(ctx)
	if err != nil {
		return nil, nil, err
	}
	seen, err := s.Browser.List(ctx, model.PageRequest{Limit: 1, Hidden: true})
	if err != nil {
		return nil, nil, err
	}
	for _, spec := range s.Tiers {
		all = append(all, TierUse{TierSpec: spec, Largest: -1})
	}
	for _, c := range counts {
		at := slices.IndexFunc(all, func(use TierUse) bool { return use.Name == c.Tier })
		if at < 0 { // one that came into the store after it was opened
			at, all = len(all), append(all, TierUse{TierSpec: model.TierSpec{Name: c.Tier}, Largest: -1})
		}
		all[at].Items += c.Items
		all[at].Bytes += c.Bytes
		if CapKnown(all[at].TierSpec, c) && c.Bytes > all[at].Cap {
			all[at].Over++
		}
	}
	return all, seen.Problems, nil
}

// CapKnown reports whether a count tells how full a tier is: a cap is one item's, perhaps not in bytes.
func CapKnown(t model.TierSpec, c model.TierCount) bool {
	return t.Cap > 0 && t.CapUnit == model.CapBytes && c.Items == 1
}

// Sum adds up the items of the tiers that lists show, and those over their cap.
func Sum(all []TierUse) (items, over int64) {
	for _, use := range all {
		if !use.Hidden {
			items, over = items+use.Items, over+use.Over
		}
	}
	return items, over
}

// Deviations are the rules that a store does not keep, those of one reason together.
func Deviations(s model.Store) (all []model.Deviation) {
	for _, d := range s.Deviations {
		if at := slices.IndexFunc(all, func(one model.Deviation) bool { return one.Reason == d.Reason }); at >= 0 {
			all[at].Rule += " " + model.RuleName(d.Rule)
		} else {
			all = append(all, model.Deviation{Rule: model.RuleName(d.Rule), Reason: d.Reason})
		}
	}
	return all
}

// Tiers counts the items of every tier of one store, with the largest item where a tier has a cap in bytes.
func (v *Survey) Tiers(ctx context.Context, store string) (all []TierUse, problems []string, err error) {
	s, err := v.s.Fleet.Store(store)
	if err != nil {
		return nil, nil, err
	}
	if all, problems, err = Tiers(ctx, s); err != nil || !slices.Contains(s.Orders, model.OrderLargest) {
		return all, problems, err
	}
	for i, use := range all {
		if use.Cap == 0 || use.CapUnit != "" && use.CapUnit != model.CapBytes {
			continue
		}
		page, err := s.Browser.List(ctx, model.PageRequest{Tier: use.Name, Order: model.OrderLargest, Limit: 1, Hidden: true})
		switch {
		case err != nil:
			return all, problems, err
		case len(page.Items) > 0:
			all[i].Largest = page.Items[0].Bytes
		default:
			all[i].Largest = 0
		}
	}
	return all, problems, nil
}

// Quarantined yields the quarantine entries; a row with Problem set is of a store that could not be read to
// its end.
func (v *Survey) Quarantined(ctx context.Context) iter.Seq[QuarantineEntry] {
	return v.quarantine.walk(ctx)
}

// Conflicts yields the conflict copies; a row with Problem set is of a store that could not be read to its
// end.
func (v *Survey) Conflicts(ctx context.Context) iter.Seq[conflict.Copy] { return v.conflicts.walk(ctx) }

// Requests are the open erasure requests, by deadline.
func (v *Survey) Requests() ([]gdpr.Due, error) {
	if v.erasures == nil {
		return nil, nil
	}
	all, err := v.erasures.List()
	return slices.DeleteFunc(all, func(d gdpr.Due) bool { return d.Done() }), err
}

// Due are the open erasure requests whose deadline is within some days, or past.
func (v *Survey) Due(within int) ([]gdpr.Due, error) {
	if v.erasures == nil {
		return nil, nil
	}
	return v.erasures.DueWithin(within)
}

// Unlogged says why no act can be recorded, empty when it can.
func (v *Survey) Unlogged() string { return v.s.unlogged() }
