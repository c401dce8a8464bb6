package cli

import (
	"context"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/work"
)

func (a *app) workCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "work", Short: "Work items: what is ready, what a query finds, and their changes",
		Long: "The published port of work items over the stores that keep them. With --json every command ends with a row of\n" +
			"type result: ok, and on failure an error with code, message and retryable.",
	}
	c.AddCommand(a.workListCommand("list", "Work items, all that the filters pass", cobra.NoArgs, func(ctx context.Context, d work.Desk, _ []string, f model.WorkFilter) workList {
		return d.List(ctx, f, "")
	}), a.workListCommand("ready", "Work that can be begun now", cobra.NoArgs, func(ctx context.Context, d work.Desk, _ []string, f model.WorkFilter) workList {
		return d.ListReady(ctx, f, "")
	}), a.workListCommand("search TEXT", "Items whose id, title or description holds a text, case apart", cobra.ExactArgs(1),
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

// workFilters are the filters of the port as flags.
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

func (a *app) workListCommand(use, short string, args cobra.PositionalArgs, view workView) *cobra.Command {
	limit := 0
	var f workFilters
	c := &cobra.Command{
		Use: use, Short: short, Args: args,
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
	var t tally
	asked := 0
	for _, m := range s.Fleet.Members() {
		if m.Err == nil && m.Store.Work == nil && len(a.flags.stores) == 0 {
			continue // nobody named it, and it keeps other things
		}
		asked++
		err := m.Err
		if err == nil {
			err = a.printWork(m.Name, view(work.Desk{Store: m.Store, Limit: limit}))
		}
		t.addAsked(err)
		if err != nil {
			a.failed(model.Ref{Store: m.Name}, err)
		}
	}
	if asked == 0 {
		return model.Errorf(model.Unsupported, "work", "no open store keeps work items")
	}
	return t.result()
}

// printWork prints the items of one store and, for scripts, the envelope.
func (a *app) printWork(store string, r workList) error {
	tab := a.table("REF", "STATE", "TYPE", "PRIORITY", "ASSIGNEE", "TITLE")
	for _, b := range r.Data {
		tab.put(workRow{store, b})
	}
	tab.flush()
	for _, term := range r.Ignored {
		a.sayf("%s: the term %q means nothing in this language and matches everything: the result is wider than was asked", store, term)
	}
	if n := int64(len(r.Data)); r.OK && r.Total > n && !a.flags.json {
		a.sayf("%s: there are %s; ask for more with --limit", store, plural(r.Total, "item"))
	}
	return finished(a, store, r, row{"total": r.Total, "ignored": append([]string{}, r.Ignored...)})
}

// workRow is a work item.
type workRow struct {
	store string
	model.WorkItem
}

func (workRow) kind() string { return "work" }

func (b workRow) cells() []any {
	return []any{model.Ref{Store: b.store, ID: b.ID}.String(), b.State, b.Type, b.Priority, orDash(b.Assignee), b.Title}
}

func (b workRow) fields() row {
	return row{"store": b.store, "id": model.EncodeID(b.ID), "title": b.Title, "work_type": b.Type, "state": b.State, "status": b.Status, "priority": b.Priority,
		"labels": b.Labels, "assignee": b.Assignee, "owner": b.Owner, "parent": b.Parent, "workflow": b.Workflow, "profile": b.Profile,
		"description": b.Description, "notes": b.Notes, "acceptance": b.Acceptance,
		"created": stamp(b.Created), "updated": stamp(b.Updated), "closed": stamp(b.Closed)}
}

// finished prints the envelope for scripts and gives the error for the exit code.
func finished[T any](a *app, store string, r work.Result[T], more row) error {
	if !a.flags.json {
		return r.Err()
	}
	out := row{"store": store, "ok": r.OK, "error": nil}
	for k, v := range more {
		out[k] = v
	}
	if r.Error != nil {
		out["error"] = map[string]any{"code": r.Error.Code, "message": r.Error.Message, "retryable": r.Error.Retryable}
	}
	a.emit("result", out)
	return r.Err()
}
