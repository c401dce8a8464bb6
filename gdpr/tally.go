package gdpr

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"memdesk/gdpr/receipt"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// carryOver saves the work under the old plan in the request, and empties the run's journal: a new plan is
// carried out from the start, even if it equals the old one because an item came back. The run's lock is
// held. After a crash between the two, the same journal is saved again under the same key.
//
// Only items that the later search did not find are counted: an item in the new plan did not go, whatever the
// store answered.
func (d *Desk) carryOver(ctx context.Context, r *Request, old, now Plan, l *runLog) error {
	key, err := d.pseudonymKey()
	if err != nil {
		return err
	}
	var done []receipt.Store
	var gone []string
	for _, p := range old.parts(l) {
		again := now.found(p.Store)
		count := receipt.Store{Store: p.Store, Kind: p.Kind, Rows: l.rows[p.at]}
		for st := range p.changed() {
			switch {
			case again[st.ID]:
			case st.Action == Forget:
				count.Forgotten++
				gone = append(gone, key.Item(p.place(), st.ID))
			default:
				count.Redacted++
			}
		}
		if count.Forgotten+count.Redacted+count.Rows > 0 {
			done = append(done, count)
		}
	}
	if len(done) > 0 {
		err := d.edit(ctx, r, func(r *Request) error {
			if r.Tally == nil {
				r.Tally = map[string][]receipt.Store{}
			}
			r.Tally[fmt.Sprintf("%.16s-%d", old.Hash, l.size)] = done
			r.Gone = including(r.Gone, gone...)
			r.PlanHash = "" // carried out once more, the old plan would count its work again
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := l.f.Truncate(0); err != nil {
		return model.E(model.Unavailable, "gdpr-plan", atomicfile.Pathless(err))
	}
	return nil
}

// addTally adds the work under earlier plans to that of this one.
func (x *run) addTally() {
	for _, key := range slices.Sorted(maps.Keys(x.r.Tally)) {
		for _, was := range x.r.Tally[key] {
			i := slices.IndexFunc(x.out.Stores, func(s receipt.Store) bool { return s.Store == was.Store })
			if i < 0 {
				i = len(x.out.Stores)
				x.out.Stores = append(x.out.Stores, receipt.Store{Store: was.Store, Kind: was.Kind})
			}
			s := &x.out.Stores[i]
			s.Forgotten, s.Redacted, s.Rows = s.Forgotten+was.Forgotten, s.Redacted+was.Redacted, s.Rows+was.Rows
			x.out.Forgotten, x.out.Redacted = x.out.Forgotten+was.Forgotten, x.out.Redacted+was.Redacted
		}
	}
}

// found are the items of a store in which a plan found the subject, and those that it misses.
func (p *Plan) found(store string) map[string]bool {
	out := map[string]bool{}
	for _, s := range p.Stores {
		for _, id := range s.Missing {
			out[id] = out[id] || s.Store == store
		}
		for _, st := range s.Steps {
			if s.Store == store && (st.changes() || st.Action == Held) {
				out[st.ID] = true
			}
		}
	}
	return out
}

// uncount subtracts counted items of a store that still exist.
func (x *run) uncount(p *part, still map[string]bool) {
	i := slices.IndexFunc(x.out.Stores, func(o receipt.Store) bool { return o.Store == p.Store })
	if i < 0 {
		return
	}
	for st := range p.changed() {
		switch {
		case !still[st.ID]:
		case st.Action == Forget:
			x.out.Stores[i].Forgotten--
			x.out.Forgotten--
		default:
			x.out.Stores[i].Redacted--
			x.out.Redacted--
		}
	}
}
