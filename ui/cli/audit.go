package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "The audit log: who did what, and whether the log is intact", a.auditListCommand(), a.auditVerifyCommand(),
		a.auditAcknowledgeCommand(), a.auditCheckpointCommand(), a.auditProveCommand(), a.auditKeyCommand(), a.auditRetireCommand())
}

// onLog runs a command on the log.
func (a *app) onLog(do func(ctx context.Context, log *audit.Log, args []string) error) command {
	return a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
		if s.Log == nil {
			return statedir.ErrNoHome
		}
		if err := s.Look(ctx, operator.ReadLog); err != nil {
			return err
		}
		return do(ctx, s.Log, args)
	})
}

type auditFlags struct {
	audit.Filter
	cursor                    string
	limit                     int
	all, recalls, storeEvents bool
}

func (a *app) auditListCommand() *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use: "list", Short: "Records, newest first, names joined where they still exist",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.recalls {
				if err := alone(cmd, "recalls", "actor", "since", "until", "sort", "watch"); err != nil {
					return err
				}
			}
			return a.onLog(func(ctx context.Context, log *audit.Log, _ []string) error { return a.auditList(ctx, log, f) })(cmd, args)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.recalls, "recalls", false, "what was given to which caller of a door, instead of records")
	fl.StringVar(&f.Actor, "actor", "", "only this `ACTOR` or key fingerprint")
	fl.StringVar(&f.Action, "action", "", "only this `ACTION`: retain, forget, …")
	fl.StringVar((*string)(&f.Result), "result", "", "only this `RESULT`: ok, partial, failed, pending, unknown, refused")
	fl.StringVar((*string)(&f.Phase), "phase", "", "only this `PHASE`: intent, outcome, note")
	a.timeVar(fl, &f.Since, "since", "only from this `TIME` on (2026-05-21, 2026-05-21T10:00:00Z or 7d)")
	a.timeVar(fl, &f.Until, "until", "only before this `TIME`")
	fl.StringVar(&f.Target, "target", "", "only what concerns this `REF`")
	fl.StringVar(&f.Subject, "subject", "", "only what concerns this person (`ID`)")
	fl.BoolVar(&f.OldestFirst, "oldest", false, "oldest first")
	fl.IntVar(&f.limit, "limit", 100, "at most `N` records")
	fl.StringVar(&f.cursor, "cursor", "", "go on at the `CURSOR` that the last page gave")
	fl.BoolVar(&f.all, "all", false, "every record")
	fl.BoolVar(&f.storeEvents, "store-events", false, "also what the stores' own systems have noted, marked as theirs")
	return a.listing(c, false)
}

// auditFilter reads the flags of a filter. It refuses a misspelt word, which would match nothing and seem to
// prove that nothing happened.
func (a *app) auditFilter(f auditFlags) (audit.Filter, error) {
	q := f.Filter
	results := []audit.Verdict{"", audit.OK, audit.Partial, audit.Failed, audit.Pending, audit.Unknown, audit.Refused}
	phases := []audit.Phase{"", audit.PhaseIntent, audit.PhaseOutcome, audit.PhaseNote}
	switch {
	case !slices.Contains(results, q.Result):
		return q, usage("--result %q: there are ok, partial, failed, pending, unknown, refused", f.Result)
	case !slices.Contains(phases, q.Phase):
		return q, usage("--phase %q: there are intent, outcome, note", f.Phase)
	case f.limit < 1:
		return q, usage("--limit must be 1 or more")
	case len(a.flags.stores) > 1:
		return q, usage("audit list takes one --store")
	case len(a.flags.stores) == 1:
		q.Store = a.flags.stores[0]
	}
	return q, nil
}

func (a *app) auditList(ctx context.Context, log *audit.Log, f auditFlags) error {
	q, err := a.auditFilter(f)
	if err != nil {
		return err
	}
	if f.recalls {
		return a.listRecalls(f.Actor, q.Since, q.Until)
	}
	tab, err := a.listed("SEQ", "TIME", "ACTOR", "ACTION", "PHASE", "RESULT", "STORE", "NAME", "REASON")
	if err != nil {
		return err
	}
	tab.orSay("no records")
	own, err := a.wantedEvents(ctx, f, q)
	if err != nil {
		return err
	}
	cursor, damaged, unsearched := f.cursor, false, 0
	for {
		page, err := log.List(ctx, q, f.limit, cursor)
		if errors.Is(err, audit.ErrBadCursor) {
			return usage("--cursor: %v", err)
		}
		if err != nil {
			return err
		}
		for _, r := range page.Rows {
			damaged = damaged || r.Damaged != ""
			var newer []operator.StoreEvent
			newer, own.rows = operator.Between(own.rows, r.TS)
			for _, e := range newer {
				tab.put("store_event", newEventRow(e))
			}
			tab.put("audit", newAuditRow(r))
		}
		unsearched += page.Unsearched
		if page.Next == "" {
			for _, e := range own.rows {
				tab.put("store_event", newEventRow(e))
			}
			own.rows = nil
		}
		tab.page()
		if page.Next == "" || !f.all {
			a.pageOfAudit(page.Next, own.left+len(own.rows), own.bounded)
			break
		}
		cursor = page.Next
	}
	tab.partly(unsearched > 0 || own.missing)
	tab.flush()
	if damaged {
		a.sayf("damaged records are marked; `memdesk audit verify` says where the chain breaks")
		return &exitError{code: exitTampered}
	}
	if unsearched > 0 {
		a.sayf("%s", operator.Unsearched(unsearched))
	}
	return partialIf(own.missing || unsearched > 0)
}

// auditPageRow says what a list of records leaves out.
type auditPageRow struct {
	Next    *string  `json:"next"` // cursor of the next page
	Left    int      `json:"store_events_left"`
	Bounded []string `json:"bounded"` // stores with more events than are read
}

// pageOfAudit says what the list leaves out: records from a cursor on, the stores' own events, and the stores
// that have more events than are read.
func (a *app) pageOfAudit(next string, left int, bounded []string) {
	if next == "" && left == 0 && len(bounded) == 0 {
		return
	}
	a.emit("page", auditPageRow{nilIfEmpty(next), left, list(bounded)})
	if next != "" {
		a.hintf("there are more; go on with --cursor %s, or take all with --all", next)
	}
	if left > 0 {
		a.hintf("%s of the stores left out: take all with --all", plural(int64(left), "older event"))
	}
	if len(bounded) > 0 {
		a.hintf("%s", operator.OnlyNewest(bounded))
	}
}

// ownEvents are the stores' own events, newest first.
type ownEvents struct {
	rows    []operator.StoreEvent
	left    int      // beyond --limit
	bounded []string // stores that have more than are read
	missing bool     // those of a store could not be read
}

// wantedEvents lists the stores' own events that the flags ask for.
func (a *app) wantedEvents(ctx context.Context, f auditFlags, q audit.Filter) (own ownEvents, err error) {
	switch {
	case !f.storeEvents:
		return own, nil
	case f.OldestFirst, f.cursor != "":
		return own, usage("--store-events lists the newest first from the beginning: leave out --oldest and --cursor")
	}
	s, err := a.stores(ctx)
	if err != nil {
		return own, err
	}
	own.rows, own.bounded = operator.StoreEvents(ctx, s.Fleet, func(store string, err error) {
		own.missing = true
		a.failed(model.Ref{Store: store}, err)
	})
	own.rows = slices.DeleteFunc(own.rows, func(e operator.StoreEvent) bool { return !e.Passes(q) })
	if !f.all && len(own.rows) > f.limit {
		own.rows, own.left = own.rows[:f.limit], len(own.rows)-f.limit
	}
	return own, nil
}

type auditRow struct {
	Source    string           `json:"source"` // memdesk
	Seq       uint64           `json:"seq"`
	TS        stamp            `json:"ts" col:"TIME"`
	Actor     string           `json:"actor"`
	ActorKey  string           `json:"actor_key"`
	Role      string           `json:"role"`
	Action    string           `json:"action"`
	Store     dashed           `json:"store"`
	Tier      string           `json:"tier"`
	Target    string           `json:"target"`
	Subject   string           `json:"subject"`
	Name      string           `json:"name"`
	NameWords string           `json:"-" col:"NAME"`
	NameState audit.NameState  `json:"name_state"`
	Reason    string           `json:"reason"`
	Why       string           `json:"-" col:"REASON"` // with the origin
	Origin    string           `json:"origin"`
	Session   string           `json:"session"`
	Phase     audit.Phase      `json:"phase"`
	Intent    uint64           `json:"intent"`
	Result    dashed           `json:"result"`
	Class     string           `json:"class"`
	Counts    map[string]int64 `json:"counts"`
	Prev      string           `json:"prev"`
	Hash      string           `json:"hash"`
	Damaged   string           `json:"damaged"`
}

func newAuditRow(r audit.Row) auditRow {
	name, why := operator.NameWords(r), r.Reason
	if r.Damaged != "" {
		name = "DAMAGED: " + r.Damaged
	}
	if r.Origin != "" {
		why = strings.TrimSpace(why + " [" + r.Origin + "]")
	}
	return auditRow{Source: "memdesk", Seq: r.Seq, TS: stamp(r.TS), Actor: r.Actor, ActorKey: r.ActorKey, Role: r.Role, Action: r.Action, Store: dashed(r.Store),
		Tier: r.Tier, Target: r.Target, Subject: r.Subject, Name: r.Name, NameWords: orDash(name), NameState: r.NameState, Reason: r.Reason, Why: why,
		Origin: r.Origin, Session: r.Session, Phase: r.Phase, Intent: r.Link, Result: dashed(r.Result), Class: r.Class, Counts: r.Counts,
		Prev: r.Prev, Hash: r.Hash, Damaged: r.Damaged}
}

func orDash(s string) string { return cmp.Or(s, "-") }

type acknowledgedRow struct {
	Reason   string `json:"reason"`
	FirstBad uint64 `json:"first_bad"`
}

func (a *app) auditAcknowledgeCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "acknowledge", Short: "Take note of a broken chain, so that changes are possible again",
		Long: "Records in a new segment that an operator has seen the break. A break inside the log stays,\nand `audit verify` goes on naming it.",
		RunE: a.onLog(func(ctx context.Context, log *audit.Log, _ []string) error {
			if a.flags.reason == "" {
				return usage("give --reason: what happened to the log")
			}
			if err := a.session.May(operator.Acknowledge); err != nil {
				return err
			}
			rep, err := log.Verify(ctx)
			if err == nil && (rep.OK || rep.Acknowledged) {
				switch {
				case rep.Tiles == "":
					return usage("there is nothing to acknowledge: the chain is intact, or its break has been acknowledged")
				case !rep.TilesLost:
					return usage("there is nothing to acknowledge: %s", rep.Tiles)
				}
			}
			if err := a.confirm(ctx, "take note of the break and go on in a new segment?"); err != nil {
				return err
			}
			if err := a.session.Acknowledge(ctx, a.flags.reason); err != nil {
				return err
			}
			a.emit("acknowledged", acknowledgedRow{rep.Reason, rep.FirstBad})
			return nil
		}),
	}
	c.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: what happened")
	return a.asks(c)
}

// eventRow is an event from a store's own system.
type eventRow struct {
	Source  string            `json:"source"` // store
	Store   string            `json:"store"`
	TS      stamp             `json:"ts" col:"TIME"`
	Action  string            `json:"action"`
	Payload map[string]string `json:"payload"`
	Actor   string            `json:"-" col:"ACTOR"`
	Words   dashed            `json:"-" col:"NAME"`
	// What only memdesk's own records have.
	Seq    dashed `json:"-" col:"SEQ"`
	Phase  dashed `json:"-" col:"PHASE"`
	Result dashed `json:"-" col:"RESULT"`
	Reason string `json:"-" col:"REASON"`
}

func newEventRow(e operator.StoreEvent) eventRow {
	return eventRow{Source: "store", Store: e.Store, TS: stamp(e.At), Action: e.Name, Payload: model.Values(e.Payload), Actor: "(the store)", Words: dashed(e.Words())}
}
