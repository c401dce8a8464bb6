package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/work"
)

func (a *app) workCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "work", Short: "Work items: what is ready, what a query finds, and their changes",
		Long: "Work items, in every store that keeps some: list, find, change. With --json every command ends with a row of\n" +
			"type result: ok, and on failure an error with code, message and retryable.",
	}
	var f model.WorkFilter
	c.AddCommand(
		workFilters(&f, a.workListCommand("list", "Work items, all that the filters pass", func(ctx context.Context, d work.Desk, _ string) workList {
			return d.List(ctx, f, "")
		})),
		workFilters(&f, a.workListCommand("ready", "Work that can be begun now", func(ctx context.Context, d work.Desk, _ string) workList {
			return d.ListReady(ctx, f, "")
		})),
		workFilters(&f, a.workListCommand("search TEXT", "Items whose id, title or description holds a text, case apart", func(ctx context.Context, d work.Desk, text string) workList {
			return d.Search(ctx, text, f, "")
		})),
		a.workListCommand("query QUERY", "Items that a query finds: terms like type:bug status:open, all of them", func(ctx context.Context, d work.Desk, query string) workList {
			return d.Query(ctx, query, "")
		}),
		a.workShowCommand(), a.workCreateCommand(), a.workUpdateCommand(), a.workCloseCommand(), a.workDeleteCommand(), a.workDepsCommand(), a.workDepCommand())
	return c
}

// enveloped is an error whose envelope has been printed.
type enveloped struct{ error }

// Unwrap gives exit codes the error itself.
func (e enveloped) Unwrap() error { return e.error }

// endInResult prints the envelope of a command on work items that failed before a store was asked: its arguments
// may be wrong.
func (a *app) endInResult(c *cobra.Command, err error) {
	if strings.HasPrefix(c.CommandPath()+" ", "memdesk work ") && a.asksJSON() && !errors.As(err, new(enveloped)) {
		a.emitOf("", "result", workResultRow{Error: failureOf(err)})
	}
}

func failureOf(err error) *work.Failure {
	kind, retryable := kindOf(err)
	return &work.Failure{Code: kind.Code(), Message: err.Error(), Retryable: retryable}
}

type workList = work.Result[[]model.WorkItem]

// optional is the value of a flag whose target stays nil where the flag is not given.
type optional[T any] struct {
	to   **T
	kind string // of pflag's own
	read func(string) (T, error)
}

// Set implements pflag.Value.
func (o optional[T]) Set(text string) error {
	v, err := o.read(text)
	*o.to = &v
	return err
}

// String implements pflag.Value.
func (o optional[T]) String() string { return "" }

// Type implements pflag.Value.
func (o optional[T]) Type() string { return o.kind }

func optionalInt(to **int) optional[int] { return optional[int]{to, "int", strconv.Atoi} }

// workFilters adds the flags of a filter.
func workFilters(f *model.WorkFilter, c *cobra.Command) *cobra.Command {
	fl := c.Flags()
	fl.StringVar(&f.Type, "type", "", "only this `TYPE`")
	fl.StringVar(&f.State, "status", "", "only this `STATUS` or workflow state; queued and in_action are phases")
	fl.Var(optionalInt(&f.Priority), "priority", "only this `PRIORITY`, 0 to 4")
	fl.StringVar(&f.Label, "label", "", "only with this `LABEL`")
	fl.StringVar(&f.Assignee, "assignee", "", "only of this `ASSIGNEE`")
	fl.StringVar(&f.Owner, "owner", "", "only of this `OWNER`")
	fl.StringVar(&f.Parent, "parent", "", "only below this `ID`")
	fl.StringVar(&f.Profile, "profile", "", "only with this workflow `PROFILE`")
	return c
}

func (a *app) workListCommand(use, short string, view func(ctx context.Context, d work.Desk, text string) workList) *cobra.Command {
	limit := 0
	c := &cobra.Command{
		Use: use, Short: short,
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			return a.workEach(s, limit, func(d work.Desk) workList { return view(ctx, d, argument(args, 0)) })
		}),
	}
	c.Flags().IntVar(&limit, "limit", 0, "at most `N` per store (default 100)")
	return c
}

// workEach asks every store that keeps work items, or those that --store names.
func (a *app) workEach(s *operator.Session, limit int, view func(work.Desk) workList) error {
	asked := a.having(s, func(store model.Store) bool { return store.Work != nil })
	if len(asked) == 0 {
		return noWork(s)
	}
	t := tally{app: a, asked: true}
	for _, m := range asked {
		if m.Err != nil {
			a.emit("result", workListRow{workResultRow{Store: &m.Name, Error: failureOf(m.Err)}, 0, list[string](nil)})
		}
	}
	t.each(asked, func(store model.Store) error {
		return a.printWork(store.Name, view(work.Desk{Store: store, Limit: cmp.Or(limit, model.DefaultPage)}))
	})
	if err := t.result(); err != nil {
		return enveloped{err}
	}
	return nil
}

// printWork prints the work items of one store and, with --json, the envelope.
func (a *app) printWork(store string, r workList) error {
	tab := a.table("REF", "STATE", "TYPE", "PRIORITY", "ASSIGNEE", "TITLE").orSay(store + ": found no work items")
	tab.partly(!r.OK || len(r.Problems) > 0)
	putAll(tab, "work", r.Data, func(b model.WorkItem) workRow { return newWorkRow(store, b) })
	a.sayEach(r.Ignored, "%s: the term %q means nothing in this language and matches everything: the result is wider than was asked", store)
	if n := int64(len(r.Data)); r.OK && r.Total > n {
		a.hintf("%s: there are %s; ask for more with --limit", store, plural(r.Total, "item"))
	}
	partial := a.incomplete(store, r.Problems)
	return cmp.Or(a.endWork(workListRow{envelope(store, r.Error), r.Total, list(r.Ignored)}, r.Error), partial)
}

type workRow struct {
	itemAt
	Title       string   `json:"title"`
	Type        string   `json:"work_type" col:"TYPE"` // every object has a type of its own
	State       string   `json:"state"`
	Status      string   `json:"status"`
	Priority    int      `json:"priority"`
	Labels      []string `json:"labels"`
	Assignee    dashed   `json:"assignee"`
	Owner       string   `json:"owner"`
	Parent      string   `json:"parent"`
	Workflow    string   `json:"workflow"`
	Profile     string   `json:"profile"`
	Description string   `json:"description"`
	Notes       string   `json:"notes"`
	Acceptance  string   `json:"acceptance"`
	Created     stamp    `json:"created"`
	Updated     stamp    `json:"updated"`
	Closed      stamp    `json:"closed"`
}

func newWorkRow(store string, b model.WorkItem) workRow {
	return workRow{itemAt: newItemAt(store, b.ID), Title: b.Title, Type: b.Type, State: b.State,
		Status: b.Status, Priority: b.Priority, Labels: b.Labels, Assignee: dashed(b.Assignee), Owner: b.Owner, Parent: b.Parent, Workflow: b.Workflow, Profile: b.Profile,
		Description: b.Description, Notes: b.Notes, Acceptance: b.Acceptance,
		Created: stamp(b.Created), Updated: stamp(b.Updated), Closed: stamp(b.Closed)}
}

// workResultRow is the envelope that ends every command on work items.
type workResultRow struct {
	Store *string       `json:"store"` // null: none was asked
	OK    bool          `json:"ok"`
	Error *work.Failure `json:"error"`
}

type workListRow struct {
	workResultRow
	Total   int64    `json:"total"`
	Ignored []string `json:"ignored"` // terms that mean nothing in the query's language
}

type workChangeRow struct {
	workResultRow
	ID   string  `json:"id"`
	Undo *string `json:"undo"`
}

func envelope(store string, failed *work.Failure) workResultRow {
	return workResultRow{&store, failed == nil, failed}
}

// endWork prints the envelope of a command with --json.
func (a *app) endWork(row any, failed *work.Failure) error {
	a.emit("result", row)
	if failed == nil {
		return nil
	}
	return enveloped{failed.Err()}
}

// changesWork adds the flags of a change. --reason is the item's own field, so the log's is --why.
func (a *app) changesWork(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.flags.reason, "why", "", "a `TEXT` for the audit log: why")
	return a.asks(c)
}

// workOn asks, runs a change of a store, which returns the id of the item, and prints the result.
func (a *app) workOn(ctx context.Context, s *operator.Session, store model.Store, question string, do func(context.Context, work.Desk) (string, *work.Failure)) error {
	if err := a.agree(ctx, operator.ChangeWork, store.Name, question); err != nil {
		return err
	}
	ctx, desk, kept, err := s.Work(ctx, store.Name, a.flags.reason)
	if err != nil {
		return err
	}
	id, failed := do(ctx, desk)
	if failed == nil {
		a.tellf("%s", refOf(store.Name, id))
		a.sayUndo(*kept)
	}
	return a.endWork(workChangeRow{envelope(store.Name, failed), model.EncodeID(id), nilIfEmpty(kept.Undo)}, failed)
}

func (a *app) workCreateCommand() *cobra.Command {
	var d work.Draft
	c := &cobra.Command{
		Use: "create TITLE", Short: "Make a work item in the store that --store names",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			store, err := a.workStore(s)
			if err != nil {
				return err
			}
			d.Title = args[0]
			return a.workOn(ctx, s, store, "create the work item "+strconv.Quote(d.Title)+" in "+store.Name+"?",
				func(ctx context.Context, desk work.Desk) (string, *work.Failure) {
					r := desk.Create(ctx, d, "")
					return r.Data, r.Error
				})
		}),
	}
	f := c.Flags()
	f.StringVar(&d.ID, "id", "", "the `ID` of the new item; the store makes one when it is empty")
	f.StringVar(&d.Description, "description", "", "its `TEXT`")
	f.StringVar(&d.Type, "type", "", "its `TYPE` (default task)")
	f.Var(optionalInt(&d.Priority), "priority", "its `PRIORITY`, 0 to 4 (default 2)")
	f.StringArrayVar(&d.Labels, "label", nil, "a `LABEL`; repeatable")
	f.StringVar(&d.Assignee, "assignee", "", "its `ASSIGNEE`")
	f.StringVar(&d.Owner, "owner", "", "its `OWNER`")
	f.StringVar(&d.Parent, "parent", "", "the `ID` above it")
	f.StringVar(&d.Notes, "notes", "", "its notes (`TEXT`)")
	f.StringVar(&d.Acceptance, "acceptance", "", "its acceptance criteria (`TEXT`)")
	return a.changesWork(c)
}

// noWork says that no open store keeps work items, with the error of a store that could not be opened: it might.
func noWork(s *operator.Session) error {
	const none = "no open store keeps work items"
	for _, m := range s.Fleet.Members() {
		if m.Err != nil {
			return model.Errorf(model.KindOf(m.Err), "work", none+"; %s is not open: %s", m.Name, model.Reason(m.Err))
		}
	}
	return model.Errorf(model.Unsupported, "work", none)
}

// workStore finds the one store with work items, or the one that --store names.
func (a *app) workStore(s *operator.Session) (model.Store, error) {
	var names []string
	for _, m := range s.Fleet.Members() {
		if m.Store.Work != nil || len(a.flags.stores) > 0 {
			names = append(names, m.Name)
		}
	}
	switch len(names) {
	case 0:
		return model.Store{}, noWork(s)
	case 1:
		return a.openStore(names[0])
	}
	return model.Store{}, usage("%s keep work items: name one with --store", strings.Join(names, ", "))
}

func (a *app) workUpdateCommand() *cobra.Command {
	var c work.Change
	cmd := a.workRefCommand("update REF", "Change fields of a work item; what is not named stays", "change", func(ctx context.Context, d work.Desk, id string) *work.Failure {
		return d.Update(ctx, id, c, "").Error
	})
	f := cmd.Flags()
	for name, to := range map[string]**string{"title": &c.Title, "description": &c.Description, "notes": &c.Notes, "acceptance": &c.Acceptance,
		"type": &c.Type, "status": &c.State, "assignee": &c.Assignee, "owner": &c.Owner, "parent": &c.Parent} {
		f.Var(optional[string]{to, "string", func(text string) (string, error) { return text, nil }}, name, "its new `"+strings.ToUpper(name)+"`; empty takes it out where the store can")
	}
	f.Var(optionalInt(&c.Priority), "priority", "its new `PRIORITY`, 0 to 4")
	f.StringArrayVar(&c.Labels, "label", nil, "add a `LABEL`; repeatable")
	f.StringArrayVar(&c.RemoveLabels, "remove-label", nil, "take a `LABEL` away; repeatable")
	return cmd
}

// workRefCommand declares a change of one item.
func (a *app) workRefCommand(use, short, verb string, do func(ctx context.Context, d work.Desk, id string) *work.Failure) *cobra.Command {
	return a.changesWork(&cobra.Command{
		Use: use, Short: short,
		RunE: a.onItem(func(ctx context.Context, s *operator.Session, store model.Store, ref model.Ref) error {
			return a.workOn(ctx, s, store, verb+" "+ref.String()+"?",
				func(ctx context.Context, d work.Desk) (string, *work.Failure) { return ref.ID, do(ctx, d, ref.ID) })
		}),
	})
}

func (a *app) workCloseCommand() *cobra.Command {
	reason := ""
	c := a.workRefCommand("close REF", "End a work item", "close", func(ctx context.Context, d work.Desk, id string) *work.Failure {
		return d.Close(ctx, id, reason, "").Error
	})
	c.Flags().StringVar(&reason, "reason", "", "why it ended, kept in the item where the store has a field for it (`TEXT`)")
	return c
}

func (a *app) workDeleteCommand() *cobra.Command {
	return a.workRefCommand("delete REF", "Remove a work item and its pairs; those in other items' own lines stay", "delete", func(ctx context.Context, d work.Desk, id string) *work.Failure {
		r := d.Delete(ctx, id, "")
		a.sayEach(r.Warnings, "warning: %s")
		return r.Error
	})
}

func (a *app) workShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get REF", Short: "One work item as the port shows it",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, store model.Store, ref model.Ref) error {
			got := work.Desk{Store: store}.Get(ctx, ref.ID, "")
			list := workList{OK: got.OK, Error: got.Error}
			if got.OK {
				list.Data, list.Total = []model.WorkItem{got.Data}, 1
			}
			return a.printWork(store.Name, list)
		}),
	}
}

// dependencyRow is one item that waits for another.
type dependencyRow struct {
	Store      string `json:"store"`
	Blocker    string `json:"blocker"`
	BlockerRef string `json:"-" col:"BLOCKER"`
	Blocked    string `json:"blocked"`
	BlockedRef string `json:"-" col:"BLOCKED"`
	Kind       string `json:"kind"`
}

func (a *app) workDepsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "deps REF", Short: "The items that block an item, and those that it blocks",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, s model.Store, ref model.Ref) error {
			r := work.Desk{Store: s}.ListDependencies(ctx, ref.ID, "", "")
			tab := a.table("BLOCKER", "BLOCKED", "KIND").orSay("no dependencies")
			tab.partly(!r.OK)
			putAll(tab, "dependency", r.Data, func(d model.Dependency) dependencyRow {
				return dependencyRow{s.Name, model.EncodeID(d.Blocker), refOf(s.Name, d.Blocker), model.EncodeID(d.Blocked), refOf(s.Name, d.Blocked), d.Kind}
			})
			return a.endWork(envelope(s.Name, r.Error), r.Error)
		}),
	}
}

func (a *app) workDepCommand() *cobra.Command {
	c := &cobra.Command{Use: "dep", Short: "Add or remove a dependency"}
	for _, v := range []struct {
		verb, short string
		do          func(d work.Desk, ctx context.Context, blocker, blocked, repo string) work.Result[work.None]
	}{
		{"add", "The second item waits for the first", work.Desk.AddDependency}, {"remove", "The second item no longer waits for the first", work.Desk.RemoveDependency},
	} {
		one := &cobra.Command{
			Use: v.verb + " BLOCKER BLOCKED", Short: v.short,
			RunE: func(cmd *cobra.Command, args []string) error {
				blocker, err := model.ParseRef(args[0])
				if err != nil {
					return err
				}
				s, store, blocked, err := a.at(cmd.Context(), args[1])
				if err != nil {
					return err
				}
				if blocker.Store != blocked.Store {
					return usage("%s and %s are in two stores: a dependency is within one", args[0], args[1])
				}
				return a.workOn(cmd.Context(), s, store, fmt.Sprintf("%s the dependency of %s on %s?", v.verb, args[1], args[0]),
					func(ctx context.Context, d work.Desk) (string, *work.Failure) {
						return blocked.ID, v.do(d, ctx, blocker.ID, blocked.ID, "").Error
					})
			},
		}
		c.AddCommand(a.changesWork(one))
	}
	return c
}
