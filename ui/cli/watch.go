package cli

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
)

func (a *app) watchCommand() *cobra.Command {
	var every time.Duration
	var within int
	var standing bool
	c := &cobra.Command{
		Use: "watch", Short: "Events as JSON lines: new conflicts, quarantined writes, stores down and up, requests due",
		Long: "Prints one JSON object a line for each event, until it is interrupted: \"conflict\" and \"quarantined\" for what is\n" +
			"new, \"store_down\" and \"store_up\", \"request_due\" for an erasure request that comes due, and \"unseen\" and \"seen\" for\n" +
			"a store whose conflicts or quarantine could not be looked at to the end, and can be again. The first look tells of\n" +
			"stores that are down and of requests that are due; of conflicts and quarantined items only with --standing.\n" +
			"A line names items by their references and no content.",
		Example: "memdesk watch | while read -r event; do notify-send memdesk \"$event\"; done",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every <= 0 || within < 0 {
				return usage("--every must be more than 0, --within must not be negative")
			}
			s, err := a.stores(cmd.Context())
			if err != nil {
				return err
			}
			w := &watch{app: a, survey: s.Survey(cmd.Context()), within: within, standing: standing,
				down: map[string]bool{}, due: map[string]bool{}, found: map[string]map[string]bool{}, unseen: map[string]bool{}}
			return w.run(cmd.Context(), every)
		},
	}
	c.Flags().DurationVar(&every, "every", 10*time.Second, "`PAUSE` between two looks; one that takes longer is followed by a pause as long as itself")
	c.Flags().IntVar(&within, "within", 7, "a request is due when its deadline is within this many `DAYS`")
	c.Flags().BoolVar(&standing, "standing", false, "tell also of the conflicts and quarantined items that stand at the start")
	return c
}

// watch remembers what it has told.
type watch struct {
	app      *app
	survey   *operator.Survey
	within   int
	standing bool

	down   map[string]bool            // stores
	due    map[string]bool            // "ID", or "ID overdue"
	found  map[string]map[string]bool // references by kind of event; nil before the first look
	unseen map[string]bool            // kind of event and store
}

// run looks and tells until ctx ends, which is no error.
func (w *watch) run(ctx context.Context, every time.Duration) error {
	for {
		start := time.Now()
		for _, look := range []func(context.Context) error{w.health, w.quarantine, w.conflicts, w.requests} {
			if err := look(ctx); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return nil
			}
			if err := w.app.out.Flush(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(every, time.Since(start))):
		}
	}
}

// tell prints one event.
func (w *watch) tell(event string, r row) error {
	r["event"], r["at"] = event, stamp(w.app.Clock.Now())
	w.app.emit("event", r)
	return nil
}

func (w *watch) health(ctx context.Context) error {
	for _, r := range w.survey.Health(ctx) {
		if !r.Status.OK == w.down[r.Store] {
			continue
		}
		w.down[r.Store] = !r.Status.OK
		event := "store_up"
		if !r.Status.OK {
			event = "store_down"
		}
		if err := w.tell(event, row{"store": r.Store, "state": r.Status.State}); err != nil {
			return err
		}
	}
	return nil
}

// sight is one row of a list: what to tell, or that the store was not seen to the end.
type sight struct {
	store, id string
	unseen    bool
	facts     row
}

func (w *watch) quarantine(ctx context.Context) error {
	return w.list(ctx, "quarantined", func(yield func(sight) bool) {
		for e := range w.survey.Quarantined(ctx) {
			if !yield(sight{e.Store, e.ID, e.Problem != "", row{"category": e.Category, "pattern": e.Pattern}}) {
				return
			}
		}
	})
}

func (w *watch) conflicts(ctx context.Context) error {
	return w.list(ctx, "conflict", func(yield func(sight) bool) {
		for c := range w.survey.Conflicts(ctx) {
			if !yield(sight{c.Store, c.ID, c.Problem != "", row{"base": encodedID(c.BaseID), "tool": c.Tool, "confidence": c.Confidence}}) {
				return
			}
		}
	})
}

// list tells of the rows that were not there at the last look. What a store that was not seen to
// the end has shown before is not forgotten, so that it is no news when it comes back.
func (w *watch) list(ctx context.Context, event string, rows iter.Seq[sight]) error {
	before, looked := w.found[event]
	now, unseen := map[string]bool{}, map[string]bool{}
	for s := range rows {
		if s.unseen {
			unseen[s.store] = true
			continue
		}
		ref := encodedID(s.id).in(s.store)
		now[ref] = true
		if before[ref] || !looked && !w.standing {
			continue
		}
		s.facts["store"], s.facts["id"] = s.store, encodedID(s.id)
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

// tellUnseen tells of stores that can no longer be seen to the end, and of those that can again.
func (w *watch) tellUnseen(event string, unseen map[string]bool) error {
	for _, r := range w.app.session.Fleet.Members() {
		key := event + " " + r.Name
		if unseen[r.Name] == w.unseen[key] {
			continue
		}
		w.unseen[key] = unseen[r.Name]
		word := "seen"
		if unseen[r.Name] {
			word = "unseen"
		}
		if err := w.tell(word, row{"store": r.Name, "part": event}); err != nil {
			return err
		}
	}
	return nil
}

// requests tells once of a request that comes due, and once when it is overdue.
func (w *watch) requests(context.Context) error {
	all, err := w.survey.Due(w.within)
	if model.IsRefusal(err) { // the role does not cover requests
		return nil
	}
	if err != nil {
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
		if err := w.tell("request_due", row{"request": r.ID, "deadline": r.Deadline.Format(time.DateOnly), "due": r.Words, "overdue": r.Overdue, "state": r.State}); err != nil {
			return err
		}
	}
	return nil
}
