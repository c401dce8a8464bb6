package operator

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/model"
)

// Event is something to report. Its facts name items by their references and hold no content.
type Event struct {
	Name  string // conflict, quarantined, store_down, store_up, request_due, unseen, seen
	At    time.Time
	Facts map[string]any
}

// Watching says what to report.
type Watching struct {
	Every  time.Duration // the pause between two looks, at least as long as the look itself
	Within int           // a request is due when its deadline is within this many days
	// Standing: report also the conflicts and quarantined items present at the start.
	Standing bool
	Tell     func(Event) error // an error ends the watch
}

// Watch repeats its look and reports changes until ctx ends, which is no error. The first look reports due requests and
// failed stores, except a store that is late for the first time.
func (s *Session) Watch(ctx context.Context, o Watching) error {
	w := &watch{Watching: o, s: s, survey: s.Survey(ctx), down: map[string]bool{}, late: backends.Late{}, due: map[string]bool{}, found: map[string]map[string]bool{}, unseen: map[string]bool{}}
	for {
		start := time.Now()
		for _, look := range []func(context.Context) error{w.health, w.quarantine, w.conflicts, w.requests} {
			if err := look(ctx); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(w.Every, time.Since(start))):
		}
	}
}

// watch remembers what it has reported.
type watch struct {
	Watching
	s      *Session
	survey *Survey

	down   map[string]bool // stores
	late   backends.Late
	due    map[string]bool            // "ID", or "ID overdue"
	found  map[string]map[string]bool // references by kind of event; nil before the first look
	unseen map[string]bool            // kind of event, and store
}

func (w *watch) tell(name string, facts map[string]any) error {
	return w.Tell(Event{Name: name, At: w.s.Clock.Now(), Facts: facts})
}

func (w *watch) health(ctx context.Context) error {
	members := map[string]backends.Member{}
	for _, m := range w.s.Fleet.Members() {
		members[m.Name] = m
	}
	for _, r := range w.survey.Health(ctx) {
		if w.late.Once(members[r.Store], r) || !r.Status.OK == w.down[r.Store] {
			continue
		}
		w.down[r.Store] = !r.Status.OK
		event := "store_up"
		if !r.Status.OK {
			event = "store_down"
		}
		if err := w.tell(event, map[string]any{"store": r.Store, "state": r.Status.State}); err != nil {
			return err
		}
	}
	return nil
}

// sight is one row of a list: an event, or that the store was not read to the end.
type sight struct {
	store, id string
	unseen    bool
	facts     map[string]any
}

func (w *watch) quarantine(ctx context.Context) error {
	return list(ctx, w, "quarantined", w.survey.Quarantined(ctx), func(e QuarantineEntry) sight {
		return sight{e.Store, e.ID, e.Problem != "", map[string]any{"category": e.Category, "pattern": e.Pattern}}
	})
}

func (w *watch) conflicts(ctx context.Context) error {
	return list(ctx, w, "conflict", w.survey.Conflicts(ctx), func(c conflict.Copy) sight {
		return sight{c.Store, c.ID, c.Problem != "", map[string]any{"base": model.EncodeID(c.BaseID), "tool": c.Tool, "confidence": c.Confidence}}
	})
}

// list reports the rows that are new since the last look. The known rows of a store that was not read to the
// end are kept, so that they are no news later.
func list[T any](ctx context.Context, w *watch, event string, rows iter.Seq[T], of func(T) sight) error {
	before, looked := w.found[event]
	now, unseen := map[string]bool{}, map[string]bool{}
	for row := range rows {
		s := of(row)
		if s.unseen {
			unseen[s.store] = true
			continue
		}
		ref := model.Ref{Store: s.store, ID: s.id}.String()
		now[ref] = true
		if before[ref] || !looked && !w.Standing {
			continue
		}
		s.facts["store"], s.facts["id"] = s.store, model.EncodeID(s.id)
		if err := w.tell(event, s.facts); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	for ref := range before {
		if store, _, _ := strings.Cut(ref, ":"); unseen[store] {
			now[ref] = true
		}
	}
	w.found[event] = now
	return w.tellUnseen(event, unseen)
}

// tellUnseen reports stores that can no longer be read to the end, and those that can again.
func (w *watch) tellUnseen(event string, unseen map[string]bool) error {
	for _, r := range w.s.Fleet.Members() {
		if err := w.sees(event, !unseen[r.Name], map[string]any{"store": r.Name}); err != nil {
			return err
		}
	}
	return nil
}

// sees reports once that a part can no longer be read to the end, and once that it can again; of says what of it.
func (w *watch) sees(part string, whole bool, of map[string]any) error {
	key := fmt.Sprint(part, of)
	if whole == !w.unseen[key] {
		return nil
	}
	w.unseen[key] = !whole
	word := "seen"
	if !whole {
		word = "unseen"
	}
	of["part"] = part
	return w.tell(word, of)
}

// requests reports a request once when it comes due, and once when it is overdue.
func (w *watch) requests(context.Context) error {
	all, err := w.survey.Due(w.Within)
	if model.IsRefusal(err) { // the role does not cover requests
		return nil
	}
	if err := w.sees("request_due", err == nil, map[string]any{}); err != nil {
		return err
	}
	for _, r := range all {
		key := r.ID
		if r.Overdue {
			key += " overdue"
		}
		if w.due[key] {
			continue
		}
		w.due[key] = true
		if err := w.tell("request_due", map[string]any{"request": r.ID, "deadline": r.Deadline.Format(time.DateOnly), "due": r.Words, "overdue": r.Overdue, "state": r.State}); err != nil {
			return err
		}
	}
	return nil
}
