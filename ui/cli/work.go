package cli

import (
	"context"
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
		Long: "The published port of work items over the stores that keep them. With --json every command ends with a row of\n" +
			"type result: ok, and on failure an error with code, message and retryable.",
	}
	c.AddCommand(a.workListCommand("list", "Work items, all that the filters pass", func(ctx context.Context, d work.Desk, _ []string, f model.WorkFilter) workList {
		return d.List(ctx, f, "")
	}), a.workListCommand("ready", "Work that can be begun now", func(ctx context.Context, d work.Desk, _ []string, f model.WorkFilter) workList {
		return d.ListReady(ctx, f, "")
	}), a.workListCommand("search TEXT", "Items whose id, title or description holds a text, case apart",
		func(ctx context.Context, d work.Desk, args []string, f model.WorkFilter) workList {
			return d.Search(ctx, args[0], f, "")
		}), a.workQueryCommand(), a.workShowCommand(), a.workCreateCommand(), a.workUpdateCommand(), a.workCloseCommand(), a.workDeleteCommand(),
		a.workDepsCommand(), a.workDepCommand())
	return c
}

type (
	workList = work.Result[[]model.WorkItem]
	workView func(ctx context.Context, d work.Desk, args []string, f model.WorkFilter) workList
)

// workFilters holds the flags of a work filter.
type workFilters struct {
	model.WorkFilter
	priority int
}

func (f *workFilters) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.Type, "type", "", "only this `TYPE`")
	fl.StringVar(&f.State, "status", "", "only this `STATUS` or workflow state; queued and in_action are phases")
	fl.IntVar(&f.priority, "priority", 0, "only this `PRIORITY`, 0 to 4")
	fl.StringVar(&f.Label, "label", "", "only with this `LABEL`")
	fl.StringVar(&f.Assignee, "assignee", "", "only of this `ASSIGNEE`")
	fl.StringVar(&f.Owner, "owner", "", "only of this `OWNER`")
	fl.StringVar(&f.Parent, "parent", "", "only below this `ID`")
	fl.StringVar(&f.Profile, "profile", "", "only with this workflow `PROFILE`")
}

func (f *workFilters) filter(c *cobra.Command) model.WorkFilter {
	out := f.WorkFilter
	if c.Flags().Changed("priority") {
		out.Priority = &f.priority
	}
	return out
}

func (a *app) workListCommand(use, short string, view workView) *cobra.Command {
	limit := 0
	var f workFilters
	c := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.workEach(cmd.Context(), limit, func(d work.Desk) workList { return view(cmd.Context(), d, args, f.filter(cmd)) })
		},
	}
	c.Flags().IntVar(&limit, "limit", 0, "at most `N` per store (default 100)")
	f.flags(c)
	return c
}

func (a *app) workQueryCommand() *cobra.Command {
	limit := 0
	c := &cobra.Command{
		Use: "query QUERY", Short: "Items that a query finds: terms like type:bug status:open, all of them",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.workEach(cmd.Context(), limit, func(d work.Desk) workList { return d.Query(cmd.Context(), args[0], "") })
		},
	}
	c.Flags().IntVar(&limit, "limit", 0, "at most `N` per store (default 100)")
	return c
}

// workEach asks every store that keeps work items, or those that --store names.
func (a *app) workEach(ctx context.Context, limit int, view func(work.Desk) workList) error {
	if limit < 0 {
		return usage("--limit must not be negative")
	}
	if limit == 0 {
		limit = model.DefaultPage
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	asked := a.having(s, func(store model.Store) bool { return store.Work != nil })
	if len(asked) == 0 {
		return model.Errorf(model.Unsupported, "work", "no open store keeps work items")
	}
	var t tally
	t.each(a, asked, true, func(store model.Store) error {
		return a.printWork(store.Name, view(work.Desk{Store: store, Limit: limit}))
	})
	return t.result()
}

// printWork prints the work items of one store and, with --json, the envelope.
func (a *app) printWork(store string, r workList) error {
	tab := a.table("REF", "STATE", "TYPE", "PRIORITY", "ASSIGNEE", "TITLE")
	for _, b := range r.Data {
		tab.put("work", workRow(store, b))
	}
	tab.flush()
	for _, term := range r.Ignored {
		a.sayf("%s: the term %q means nothing in this language and matches everything: the result is wider than was asked", store, term)
	}
	if n := int64(len(r.Data)); r.OK && r.Total > n {
		a.hintf("%s: there are %s; ask for more with --limit", store, plural(r.Total, "item"))
	}
	return finished(a, store, r, row{"total": r.Total, "ignored": list(r.Ignored)})
}

// workRow is a work item.
func workRow(store string, b model.WorkItem) row {
	return row{"store": store, "id": model.EncodeID(b.ID), "ref": cell(refOf(store, b.ID)), "title": b.Title, "work_type": b.Type, "type": cell(b.Type), "state": b.State,
		"status": b.Status, "priority": b.Priority, "labels": b.Labels, "assignee": dash(b.Assignee), "owner": b.Owner, "parent": b.Parent, "workflow": b.Workflow, "profile": b.Profile,
		"description": b.Description, "notes": b.Notes, "acceptance": b.Acceptance,
		"created": stamp(b.Created), "updated": stamp(b.Updated), "closed": stamp(b.Closed)}
}

// finished prints the envelope with --json and returns the error for the exit code.
func finished[T any](a *app, store string, r work.Result[T], more row) error {
	out := row{"store": store, "ok": r.OK, "error": nil}.with(more)
	if r.Error != nil {
		out["error"] = row{"code": r.Error.Code, "message": r.Error.Message, "retryable": r.Error.Retryable}
	}
	a.emit("result", out)
	return r.Err()
}

// changesWork adds the flags of a change. --reason is the item's own field, so the log's is --why.
func (a *app) changesWork(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.flags.reason, "why", "", "why, for the audit log")
	return a.asks(c)
}

// workOn asks, runs a change of a store and prints the result.
func workOn[T any](a *app, ctx context.Context, s *operator.Session, store model.Store, question string, do func(context.Context, work.Desk) work.Result[T], id func(work.Result[T]) string) error {
	if err := a.agree(ctx, operator.ChangeWork, store.Name, question); err != nil {
		return err
	}
	ctx, desk, kept, err := s.Work(ctx, store.Name, a.flags.reason)
	if err != nil {
		return err
	}
	r := do(ctx, desk)
	if r.OK && !a.flags.json {
		a.linef("%s", model.Ref{Store: store.Name, ID: id(r)}.String())
		a.sayUndo(*kept)
	}
	return finished(a, store.Name, r, row{"id": model.EncodeID(id(r)), "undo": nilIfEmpty(kept.Undo)})
}

func (a *app) workCreateCommand() *cobra.Command {
	var d work.Draft
	priority := 0
	c := &cobra.Command{
		Use: "create TITLE", Short: "Make a work item in the store that --store names",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.stores(cmd.Context())
			if err != nil {
				return err
			}
			store, err := a.workStore(s)
			if err != nil {
				return err
			}
			d.Title = args[0]
			if cmd.Flags().Changed("priority") {
				d.Priority = &priority
			}
			return workOn(a, cmd.Context(), s, store, "create the work item "+strconv.Quote(d.Title)+" in "+store.Name+"?",
				func(ctx context.Context, desk work.Desk) work.Result[string] { return desk.Create(ctx, d, "") },
				func(r work.Result[string]) string { return r.Data })
		},
	}
	f := c.Flags()
	f.StringVar(&d.ID, "id", "", "the `ID` of the new item; the store makes one when it is empty")
	f.StringVar(&d.Description, "description", "", "its `TEXT`")
	f.StringVar(&d.Type, "type", "", "its `TYPE` (default task)")
	f.IntVar(&priority, "priority", 0, "its `PRIORITY`, 0 to 4 (default 2)")
	f.StringArrayVar(&d.Labels, "label", nil, "a `LABEL`; repeatable")
	f.StringVar(&d.Assignee, "assignee", "", "its `ASSIGNEE`")
	f.StringVar(&d.Owner, "owner", "", "its `OWNER`")
	f.StringVar(&d.Parent, "parent", "", "the `ID` above it")
	f.StringVar(&d.Notes, "notes", "", "its notes (`TEXT`)")
	f.StringVar(&d.Acceptance, "acceptance", "", "its acceptance criteria (`TEXT`)")
	return a.changesWork(c)
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
		return model.Store{}, model.Errorf(model.Unsupported, "work", "no open store keeps work items")
	case 1:
		return a.openStore(names[0])
	}
	return model.Store{}, usage("%s keep work items: name one with --store", strings.Join(names, ", "))
}

func (a *app) workUpdateCommand() *cobra.Command {
	var c work.Change
	values := map[string]*string{}
	priority := 0
	cmd := &cobra.Command{
		Use: "update REF", Short: "Change fields of a work item; what is not named stays",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, store, ref, err := a.at(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for name, into := range map[string]**string{"title": &c.Title, "description": &c.Description, "notes": &c.Notes, "acceptance": &c.Acceptance,
				"type": &c.Type, "status": &c.State, "assignee": &c.Assignee, "owner": &c.Owner, "parent": &c.Parent} {
				if cmd.Flags().Changed(name) {
					*into = values[name]
				}
			}
			if cmd.Flags().Changed("priority") {
				c.Priority = &priority
			}
			return workOn(a, cmd.Context(), s, store, "change "+args[0]+"?",
				func(ctx context.Context, d work.Desk) work.Result[model.WorkItem] {
					return d.Update(ctx, ref.ID, c, "")
				},
				func(work.Result[model.WorkItem]) string { return ref.ID })
		},
	}
	f := cmd.Flags()
	for _, name := range []string{"title", "description", "notes", "acceptance", "type", "status", "assignee", "owner", "parent"} {
		values[name] = f.String(name, "", "its new "+name+"; empty takes it out where the store can")
	}
	f.IntVar(&priority, "priority", 0, "its new priority, 0 to 4")
	f.StringArrayVar(&c.Labels, "label", nil, "add a `LABEL`; repeatable")
	f.StringArrayVar(&c.RemoveLabels, "remove-label", nil, "take a `LABEL` away; repeatable")
	return a.changesWork(cmd)
}

// workRefCommand declares a change that needs only the item.
func (a *app) workRefCommand(use, short, verb string, do func(context.Context, work.Desk, string) work.Result[work.None]) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, store, ref, err := a.at(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return workOn(a, cmd.Context(), s, store, verb+" "+args[0]+"?",
				func(ctx context.Context, d work.Desk) work.Result[work.None] { return do(ctx, d, ref.ID) },
				func(work.Result[work.None]) string { return ref.ID })
		},
	}
	return a.changesWork(c)
}

func (a *app) workCloseCommand() *cobra.Command {
	reason := ""
	c := a.workRefCommand("close REF", "End a work item", "close", func(ctx context.Context, d work.Desk, id string) work.Result[work.None] {
		return d.Close(ctx, id, reason, "")
	})
	c.Flags().StringVar(&reason, "reason", "", "why it ended, kept in the item where the store has a field for it (`TEXT`)")
	return c
}

func (a *app) workDeleteCommand() *cobra.Command {
	return a.workRefCommand("delete REF", "Remove a work item and the pairs that name it", "delete", func(ctx context.Context, d work.Desk, id string) work.Result[work.None] {
		return d.Delete(ctx, id, "")
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

func (a *app) workDepsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "deps REF", Short: "The items that block an item, and those that it blocks",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, s model.Store, ref model.Ref) error {
			r := work.Desk{Store: s}.ListDependencies(ctx, ref.ID, "", "")
			tab := a.table("BLOCKER", "BLOCKED", "KIND")
			for _, d := range r.Data {
				tab.put("dependency", row{"store": s.Name, "blocker": as{model.EncodeID(d.Blocker), refOf(s.Name, d.Blocker)},
					"blocked": as{model.EncodeID(d.Blocked), refOf(s.Name, d.Blocked)}, "kind": d.Kind})
			}
			tab.flush()
			return finished(a, s.Name, r, nil)
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
				return workOn(a, cmd.Context(), s, store, fmt.Sprintf("%s the dependency of %s on %s?", v.verb, args[1], args[0]),
					func(ctx context.Context, d work.Desk) work.Result[work.None] {
						return v.do(d, ctx, blocker.ID, blocked.ID, "")
					},
					func(work.Result[work.None]) string { return blocked.ID })
			},
		}
		c.AddCommand(a.changesWork(one))
	}
	return c
}
