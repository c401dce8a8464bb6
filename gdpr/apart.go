package gdpr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// A store is not believed: its items are counted before the first step and after the last. Only the first
// step waits for a store that another program keeps locked; later steps just probe the lock.

// lockProbe is how long a step waits for a lock that the previous step already waited for.
const lockProbe = 250 * time.Millisecond

// patience is the longest wait for a store that answers with a rate limit.
const patience = 5 * time.Minute

func isLocked(err error) bool { return errors.Is(err, model.Locked) }

// stepOrWait carries out a step. After a rate limit it waits for the time that the store asks for, and tries
// once more. locked says that the previous step found the store locked: this step then only probes for
// lockProbe.
func (x *run) stepOrWait(ctx context.Context, s model.Store, st Step, locked bool) (string, error) {
	if locked {
		probe, cancel := context.WithTimeout(ctx, lockProbe)
		defer cancel()
		what, err := x.step(probe, s, st)
		if err != nil && probe.Err() != nil && ctx.Err() == nil {
			err = model.Errorf(model.Locked, "gdpr-erase", "the store is still locked")
		}
		return what, err
	}
	what, err := x.step(ctx, s, st)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.RateLimited || e.After <= 0 || e.After > patience {
		return what, err
	}
	if err := x.tell(ctx, Progress{Store: s.Name, What: string(st.Action), Note: "the store asks to be left alone for " + e.After.Round(time.Second).String()}); err != nil {
		return "", err
	}
	select {
	case <-time.After(e.After):
		return x.step(ctx, s, st)
	case <-ctx.Done():
		return "", model.FromContext(ctx, "gdpr-erase")
	}
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
func missingItems(ctx context.Context, s model.Store, sp StorePlan) receipt.Layer {
	gone := absent(ctx, s, sp.Missing)
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

// withLock adds a row for a store that another program keeps locked. Residue in such a store
// is pending: the steps are done when the lock is gone.
func (p *part) withLock(rows []receipt.Layer) []receipt.Layer {
	if p.locked == 0 {
		return rows
	}
	postpone(rows, "left until the store is not locked any more: ")
	return append(rows, receipt.Layer{Store: p.Store, Layer: "lock", Method: "the store was asked to change", Verdict: model.VerdictPending,
		Reason: fmt.Sprintf("another program keeps the store locked: %d steps wait for it", p.locked)})
}

// postpone makes residue pending, and says why it is left.
func postpone(rows []receipt.Layer, why string) {
	for i := range rows {
		if rows[i].Verdict == model.VerdictResidue {
			rows[i].Verdict, rows[i].Reason = model.VerdictPending, why+rows[i].Reason
		}
	}
}

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
