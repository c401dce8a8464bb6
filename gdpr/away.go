package gdpr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// keepUnseen keeps in a new plan what the request's earlier plan found and nobody has erased, and which is out of sight now:
// its store is not open any more, is empty or cannot be searched, or a part of it may be away. It still holds the subject.
func (p *Plan) keepUnseen(ctx context.Context, old Plan, run *runLog, fleet *backends.Fleet) {
	for _, sp := range old.parts(run) {
		left := sp.left()
		now := slices.IndexFunc(p.Stores, func(o StorePlan) bool {
			return slices.Contains(o.places(), sp.Where) || o.Where == "" && o.Store == sp.Store
		})
		if now >= 0 && !(p.Stores[now].empty() && (sp.Away > 0 || sp.stay() > 0)) {
			if len(left) > 0 {
				was := *sp.StorePlan
				was.Items -= sp.did("removed")
				p.lookForMissing(ctx, now, was, left, fleet)
			}
			continue
		}
		n := max(sp.Away, int64(len(sp.Missing))) + int64(sp.remaining())
		if n == 0 {
			continue
		}
		why, do := "it is not configured any more", "configure it"
		switch {
		case now >= 0:
			why, do = "it is empty", "look whether its disk is there,"
			p.Stores = slices.Delete(p.Stores, now, now+1)
		case slices.ContainsFunc(p.Stores, func(o StorePlan) bool { return o.Store == sp.Store && o.Kind == sp.Kind }):
			why, do = "its name means another place now", "attest this where all of it was moved there; else configure the old place under a name of its own"
		}
		note := fmt.Sprintf("%s, and by the earlier plan %d of its items name the person: %s and plan again", why, n, do)
		p.Stores = append(p.Stores, StorePlan{Store: sp.Store, Kind: sp.Kind, Where: sp.Where, Items: sp.Items, Away: n, Missing: left, Notes: []string{note}})
	}
}

// lookForMissing notes which items that an earlier plan left are missing from a store of this one, where more items of the
// store are: was is the earlier plan, without what its run removed. Of a store that could not be searched all are kept.
func (p *Plan) lookForMissing(ctx context.Context, now int, was StorePlan, left []string, fleet *backends.Fleet) {
	sp := &p.Stores[now]
	s, err := fleet.Store(sp.Store)
	if err != nil || sp.Error != "" {
		sp.Missing = left
		return
	}
	here := p.found(sp.Store)
	gone := absent(ctx, s, slices.DeleteFunc(left, func(id string) bool { return here[id] }))
	known := slices.DeleteFunc(slices.Clone(was.Missing), func(id string) bool { return !slices.Contains(gone, id) })
	if sp.Missing = known; was.Items-sp.Items > int64(len(gone)-len(known)) {
		sp.Missing = gone
	}
	if n := len(sp.Missing); n > 0 {
		sp.Notes = append(sp.Notes, fmt.Sprintf("items are missing (%d): %s", n, missingReason))
	}
}

// empty reports whether a store was searched and has nothing.
func (sp *StorePlan) empty() bool {
	return sp.Error == "" && sp.Items == 0 && !slices.ContainsFunc(sp.Steps, func(st Step) bool { return st.Action != OutOfScope })
}

// stay counts the items that a store's plan leaves.
func (sp *StorePlan) stay() int64 {
	return sp.Items - sp.count(func(st *Step) bool {
		return st.Action == Forget && (st.Layer == layerItem || st.Layer == layerEdge || st.Listed)
	})
}

// partAway notices that items of the plan are gone without a step of it, and others with them: a directory may be
// away that comes back with the person. items are those that verification has looked at.
func (x *run) partAway(p *part, items int64) {
	absent := p.did("absent")
	if others := p.Items - items - p.did("removed") - absent; absent > 0 && others > 0 {
		x.replan(p.Store, "%d of the items that the plan forgets were gone, and %d more with them: look whether a part of the store is away", absent, others)
	}
}

// missingItems is the row of items that an earlier plan found and that are still missing; without a store where none is.
func missingItems(ctx context.Context, s model.Store, p *part) receipt.Layer {
	gone := absent(ctx, s, p.Missing)
	if len(gone) == 0 {
		return receipt.Layer{}
	}
	return receipt.Layer{Store: s.Name, Layer: "missing items", Method: "not looked at", Verdict: model.VerdictOutOfScope, Hits: int64(len(gone)), Reason: missingReason}
}

const missingReason = "by an earlier plan they name the person, and they and other items went without a run of memdesk: look whether a part of the store is away, and plan again when it is back"

// absent are those of some items that a store does not have.
func absent(ctx context.Context, s model.Store, ids []string) []string {
	if s.Browser == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		_, err := s.Browser.Read(ctx, id)
		return !errors.Is(err, model.NotFound)
	})
}

// vanished reports whether a store has no item at all where the plan leaves some, and no run has changed it: its
// disk is away, or it was replaced. An empty store proves no erasure.
func (p *part) vanished(ctx context.Context, s model.Store) bool {
	if p.did("removed")+p.did("edited") > 0 {
		return false // overDeleted has noticed what else went
	}
	if p.stay() <= 0 || s.Browser == nil {
		return false
	}
	page, err := s.Browser.List(ctx, model.PageRequest{Limit: 1, Hidden: true})
	there := err != nil || len(page.Items) > 0 || page.Next != "" // an error has its own row
	if !there && s.Names != nil {
		_, err = s.Names.Names(ctx, func(string) bool { there = true; return false })
		there = there || err != nil
	}
	return !there && !slices.ContainsFunc(p.Steps, func(st Step) bool { // an item that is in no list
		if st.Action != Redact && st.Action != Held {
			return false
		}
		_, err := s.Browser.Read(ctx, cmp.Or(st.NewID, st.ID))
		return !errors.Is(err, model.NotFound)
	})
}

const vanishedReason = "the store is empty, and the plan leaves items in it: look whether its disk is there"

// A store is not believed: its items are counted before the first step and after the last.

// sizes counts the items by scope and tier, without indexes, which come and go with the items that they list;
// nil where the store cannot count them.
func sizes(ctx context.Context, s model.Store) map[string]int64 {
	if s.Browser == nil {
		return nil
	}
	all, err := s.Browser.Tiers(ctx)
	if err != nil {
		return nil
	}
	out := map[string]int64{}
	for _, t := range all {
		if spec, _ := s.Tier(t.Tier); spec.Index {
			continue
		}
		out[strings.TrimPrefix(t.Scope+"/"+t.Tier, "/")] += t.Items
	}
	return out
}

// overDeleted notices that the store lost more items than the run removed. The run reports it as a problem,
// and the receipt states it.
func (x *run) overDeleted(ctx context.Context, s model.Store, before map[string]int64) {
	removed := x.gone
	x.gone = 0
	after := sizes(ctx, s)
	if before == nil || after == nil {
		return
	}
	fell, lost := []string{}, -removed
	for _, tier := range slices.Sorted(maps.Keys(before)) {
		lost += before[tier] - after[tier]
		if after[tier] < before[tier] {
			fell = append(fell, fmt.Sprintf("%s %d to %d", tier, before[tier], after[tier]))
		}
	}
	for tier, n := range after {
		if _, was := before[tier]; !was {
			lost -= n
		}
	}
	if lost <= 0 {
		return
	}
	words := fmt.Sprintf("%d more items are gone than the plan removes (%s): the store, or somebody else at the same time, removed them", lost, x.m.Redact(strings.Join(fell, ", "), Erased))
	x.problem(s.Name, "%s; look whether they have to be restored", words)
	if words = s.Name + ": " + words; !slices.Contains(x.r.Warnings, words) {
		x.r.Warnings = append(x.r.Warnings, words)
	}
}
