package gdpr

import (
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
