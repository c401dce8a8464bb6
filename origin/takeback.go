package origin

import (
	"context"
	"errors"
	"slices"
	"time"

	"memdesk/model"
	"memdesk/undo"
)

// The actions of a take-back (AD20).
const (
	ActForget  = "forget"  // the source made the item
	ActRestore = "restore" // the source changed it: restore the earlier text
	ActSkip    = "skip"    // with a reason
	ActUnknown = "unknown" // nobody knows whether it was taken back; with a reason
)

// Taken is one item of a take-back.
type Taken struct {
	Store, ID string // empty where damaged notes do not tell
	Action    string
	Reason    string // for a skip, and where the outcome is not known
	At        time.Time
	change    undo.Change
	edge      bool // forgotten before its members, with which it would fall
}

// Plan finds everything that a source wrote since a time and says what a take-back would do with it. It
// changes nothing. open returns a store by its name; an item of one that it does not know is skipped.
func Plan(ctx context.Context, l *Ledger, keeper *undo.Keeper, open func(string) (model.Store, error), source string, since time.Time) ([]Taken, error) {
	type item struct {
		store, id string
		rows      []Row // since the source's first write
		at        map[Row]int
	}
	byRef := map[string]*item{}
	var order []*item
	damaged, last := Unread(0), time.Time{} // lines since then
	err := l.holding(nil, func(r Row) {
		if r.At.After(last) { // an undo appends the time of the text that it brings back
			last = r.At
		}
		if last.Before(since) {
			damaged = 0
		}
		key := r.Store + "\x00" + r.ID
		it := byRef[key]
		if it == nil {
			if r.At.Before(since) || !r.Made(source) {
				return
			}
			it = &item{store: r.Store, id: r.ID, at: map[Row]int{}}
			byRef[key] = it
			order = append(order, it)
		}
		if i, known := it.at[r]; known && i < len(it.rows) && it.rows[i] == r {
			it.rows = it.rows[:i] // an undo has brought back the text of then
		}
		it.at[r] = len(it.rows)
		it.rows = append(it.rows, r)
	}, func() { damaged++ })
	if err != nil {
		return nil, err
	}
	entries, _, err := keeper.List()
	if err != nil {
		return nil, err
	}
	var out []Taken
	for _, it := range order {
		t, err := judge(ctx, keeper, entries, open, it.store, it.id, it.rows, source)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if damaged > 0 {
		out = append(out, Taken{Action: ActSkip, At: last, Reason: damaged.Error()})
	}
	return out, nil
}

// LastWrites returns the time of each source's newest write, and nothing for a source without one.
func LastWrites(l *Ledger, sources []string) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	err := l.All(func(r Row) {
		for _, s := range sources {
			if r.Made(s) && r.At.After(out[s]) { // an undo appends the time of the text that it brings back
				out[s] = r.At
			}
		}
	})
	return out, err
}

// judge decides about one item whose rows begin with the source's first write.
func judge(ctx context.Context, keeper *undo.Keeper, entries []undo.Entry, open func(string) (model.Store, error), store, id string, rows []Row, source string) (Taken, error) {
	t := Taken{Store: store, ID: id, Action: ActSkip, At: rows[0].At}
	s, err := open(store)
	if errors.Is(err, model.NotFound) {
		t.Reason = "no store is open under this name"
		return t, nil
	}
	if err != nil {
		t.Reason = "the store cannot be opened"
		return t, nil
	}
	if s.Browser == nil {
		t.Reason = "the store cannot show its items"
		return t, nil
	}
	now, err := s.Browser.Read(ctx, id)
	gone := errors.Is(err, model.NotFound)
	for n := len(rows) - 1; n > 0 && rows[n].Revision == ""; n-- {
		if was := rows[n-1].Revision; err == nil && was == now.Revision || gone && was == model.Absent {
			rows = rows[:n] // the changes without a known outcome were not made
			break
		}
	}
	last := rows[len(rows)-1]
	switch {
	case last.Revision == "" && !(gone && rows[0].Created):
		t.Reason = "whether its last change was made is not known: compare it with its undo entry"
		return t, nil
	case gone && (rows[0].Created || last.Revision != model.Absent || !last.Made(source)):
		t.Reason = "it is gone already"
		return t, nil
	case err != nil && ctx.Err() != nil:
		return t, err
	case err != nil && !gone:
		t.Reason = "it cannot be read: " + err.Error()
		return t, nil
	case slices.ContainsFunc(rows, func(r Row) bool { return !r.Made(source) }):
		t.Reason = "somebody else changed it since"
		return t, nil
	case err != nil: // the source forgot it
		return restore(keeper, entries, s, t, rows[0], model.Absent)
	case now.Revision != last.Revision:
		t.Reason = "it was changed since, and nobody noted by whom"
		return t, nil
	case !rows[0].Created:
		return restore(keeper, entries, s, t, rows[0], now.Revision)
	}
	t.Action, t.edge = ActForget, now.Has(model.FlagEdge)
	t.change.Forget = &model.ForgetRequest{ID: id, IfMatch: now.Revision}
	return t, nil
}

// restore finds the text from before a write among the undo entries, the newest first. A later write may have
// left the same revision; its entry keeps a text of the source's own.
func restore(keeper *undo.Keeper, entries []undo.Entry, s model.Store, t Taken, first Row, now model.Revision) (Taken, error) {
	for _, e := range entries {
		if e.Store != t.Store || e.At.After(first.At) {
			continue
		}
		c, err := keeper.Reverse(s, e, t.ID, first.Revision)
		switch {
		case errors.Is(err, model.NotFound):
			continue // another item's, or expired meanwhile
		case errors.Is(err, model.Unsupported):
			t.Reason = "the text before cannot be put back: " + err.Error()
			return t, nil
		case err != nil:
			t.Reason = "the text before cannot be read: " + err.Error()
			return t, nil
		}
		c.Retain.IfMatch = now
		t.Action, t.change = ActRestore, c
		return t, nil
	}
	t.Reason = "the text before is not kept any more"
	return t, nil
}

// Count counts the items of a plan by action.
func Count(plan []Taken) map[string]int64 {
	counts := map[string]int64{}
	for _, t := range plan {
		counts[t.Action]++
	}
	return counts
}

// Take carries out the plan of one store under one undo entry, and returns it; empty when nothing was done. An item
// that cannot be taken back, such as one that its writer changes again meanwhile, becomes a skip of the plan: it must
// not keep all others from being taken back. One whose answer was lost becomes ActUnknown.
func Take(ctx context.Context, keeper *undo.Keeper, s model.Store, plan []Taken) (undo.Entry, error) {
	var edges, items []int // in the plan
	for i, t := range plan {
		switch {
		case t.Store != s.Name || t.Action == ActSkip:
		case t.edge:
			edges = append(edges, i)
		default:
			items = append(items, i)
		}
	}
	order := append(edges, items...)
	if len(order) == 0 {
		return undo.Entry{}, nil
	}
	changes := make([]undo.Change, len(order))
	for n, i := range order {
		changes[n] = plan[i].change
	}
	left, e, err := keeper.Possible(Restoring(ctx), s, undo.OpTakeback, changes)
	if refused := left[0]; len(left) == len(changes) && model.IsRefusal(refused) { // by the whole store
		return undo.Entry{}, refused
	}
	for n, why := range left {
		t := &plan[order[n]]
		switch t.Reason = why.Error(); {
		case model.IsPartial(why): // it was made
			continue
		case errors.Is(why, model.Conflict):
			t.Reason = "it was changed meanwhile: take back again"
		case !model.Unchanged(why):
			t.Action, t.Reason = ActUnknown, "whether it was taken back is not known: look at it, then take back again: "+t.Reason
			continue
		}
		t.Action = ActSkip
	}
	return e, err
}
