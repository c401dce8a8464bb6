package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
)

// storeEventsKept bounds a store's own events to the newest.
const storeEventsKept = 1000

// OnlyNewest says that stores have more events than StoreEvents lists.
func OnlyNewest(stores []string) string {
	return fmt.Sprintf("only the newest %d events are listed of %s", storeEventsKept, strings.Join(stores, ", "))
}

// StoreEvent is an event of a store's own system: Crewship's journal, recurse's evolution log, the
// interactions beside beads, the results of a gateway's calls. The audit log holds none of them.
type StoreEvent struct {
	Store string
	model.StoreEvent
}

// StoreEvents asks every store that keeps events, the newest first; failed hears of those that do not answer.
// bounded names the stores that have more than the newest.
func StoreEvents(ctx context.Context, fleet *backends.Fleet, failed func(store string, err error)) (out []StoreEvent, bounded []string) {
	for _, m := range fleet.Members() {
		if m.Err != nil || m.Store.Events == nil {
			continue
		}
		all, err := m.Store.Events.StoreEvents(ctx, storeEventsKept+1)
		if err != nil {
			failed(m.Name, err)
			continue
		}
		if len(all) > storeEventsKept {
			all, bounded = all[:storeEventsKept], append(bounded, m.Name)
		}
		for _, e := range all {
			out = append(out, StoreEvent{m.Name, e})
		}
	}
	slices.SortStableFunc(out, func(a, b StoreEvent) int { return b.At.Compare(a.At) })
	return out, bounded
}

// Between splits off the leading events newer than a moment; a zero moment takes all.
func Between(events []StoreEvent, after time.Time) (front, rest []StoreEvent) {
	n := len(events)
	if !after.IsZero() {
		n = slices.IndexFunc(events, func(e StoreEvent) bool { return !e.At.After(after) })
		if n < 0 {
			n = len(events)
		}
	}
	return events[:n], events[n:]
}

// Passes reports whether an event passes a filter of the audit log: of the log's fields an event has only
// action and time.
func (e StoreEvent) Passes(q audit.Filter) bool {
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

// Words are the payload in one line.
func (e StoreEvent) Words() string {
	var out []string
	for _, f := range e.Payload {
		out = append(out, f.Name+"="+f.Value)
	}
	return strings.Join(out, " ")
}
