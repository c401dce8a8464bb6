package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
)

// storeEventsKept is how many of a store's own events are looked at, the newest.
const storeEventsKept = 1000

// storeEvent is an event that a store's own system has noted: Crewship's journal,
// recurse's evolution log, the interactions beside beads, what became of a gateway's
// calls. The operator log holds none of them.
type storeEvent struct {
	store string
	model.StoreEvent
}

// storeEvents asks every store that keeps events, the newest first; failed is told
// of those that do not answer.
func storeEvents(ctx context.Context, fleet *backends.Fleet, failed func(store string, err error)) []storeEvent {
	var out []storeEvent
	for _, m := range fleet.Members() {
		if m.Err != nil || m.Store.Events == nil {
			continue
		}
		all, err := m.Store.Events.StoreEvents(ctx, storeEventsKept)
		if err != nil {
			failed(m.Name, err)
			continue
		}
		for _, e := range all {
			out = append(out, storeEvent{m.Name, e})
		}
	}
	slices.SortStableFunc(out, func(a, b storeEvent) int { return b.At.Compare(a.At) })
	return out
}

// between takes the events from the front that are newer than a moment; a zero moment
// takes all.
func between(events []storeEvent, after time.Time) (front, rest []storeEvent) {
	n := len(events)
	if !after.IsZero() {
		n = slices.IndexFunc(events, func(e storeEvent) bool { return !e.At.After(after) })
		if n < 0 {
			n = len(events)
		}
	}
	return events[:n], events[n:]
}

// passes reports whether an event passes a filter of the operator log: it has an
// action and a time, and nothing else that the log's records have.
func (e storeEvent) passes(q audit.Filter) bool {
	switch {
	case q.Actor != "", q.Result != "", q.Phase != "", q.Subject != "", q.Target != "":
		return false
	case q.Action != "" && q.Action != e.Name:
		return false
	case !q.Since.IsZero() && e.At.Before(q.Since), !q.Until.IsZero() && !e.At.Before(q.Until):
		return false
	}
	return true
}

// words are the payload in one line.
func (e storeEvent) words() string {
	var out []string
	for _, f := range e.Payload {
		out = append(out, f.Name+"="+f.Value)
	}
	return strings.Join(out, " ")
}

func (a *app) printStoreEvent(e storeEvent, tab *table) error {
	if a.flags.json {
		return a.emit("store_event", row{"source": "store", "store": e.store, "ts": stamp(e.At), "action": e.Name, "payload": fieldMap(e.Payload)})
	}
	tab.add("-", when(e.At), "(the store)", e.Name, "-", "-", e.store, cmp.Or(e.words(), "-"), "")
	return nil
}
