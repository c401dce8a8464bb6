package cli

import (
	"context"

	"github.com/spf13/cobra"

	"memdesk/model"
)

func (a *app) workCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "work", Short: "Work items: what is ready, what a query finds, what blocks what",
		Long: "Views over the stores that keep work items. Closing an item and its dependencies are edits of its document:\n" +
			"`memdesk show --raw`, the fields status and depends, `memdesk retain`.",
	}
	c.AddCommand(a.workListCommand("ready", "What can be begun now", cobra.NoArgs, func(ctx context.Context, s model.Store, _ []string, req model.PageRequest) (model.Page, []string, error) {
		p, err := s.Work.Ready(ctx, req)
		return p, nil, err
	}), a.workListCommand("query QUERY", "What a query in the store's language finds: terms like type:bug status:open, all of them", cobra.ExactArgs(1),
		func(ctx context.Context, s model.Store, args []string, req model.PageRequest) (model.Page, []string, error) {
			return s.Work.QueryWork(ctx, args[0], req)
		}), a.workDepsCommand())
	return c
}

type workView func(ctx context.Context, s model.Store, args []string, req model.PageRequest) (model.Page, []string, error)

func (a *app) workListCommand(use, short string, args cobra.PositionalArgs, view workView) *cobra.Command {
	limit := 0
	c := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usage("--limit must not be negative")
			}
			s, err := a.stores(cmd.Context())
			if err != nil {
				return err
			}
			var t tally
			asked := 0
			for _, m := range s.fleet.Members() {
				if m.Err == nil && m.Store.Work == nil && len(a.flags.stores) == 0 {
					continue // nobody named it, and it keeps other things
				}
				asked++
				err := m.Err
				if err == nil {
					err = a.workOf(cmd.Context(), m.Store, args, limit, view)
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
		},
	}
	c.Flags().IntVar(&limit, "limit", 0, "at most `N` per store (default 100)")
	return c
}

// workOf prints one view of one store, page by page up to the limit.
func (a *app) workOf(ctx context.Context, s model.Store, args []string, limit int, view workView) error {
	if s.Work == nil {
		return model.Errorf(model.Unsupported, "work", "this store keeps no work items")
	}
	left := limit
	if left == 0 {
		left = model.DefaultPage
	}
	req := model.PageRequest{}
	tab := a.table("REF", "TIER", "BYTES", "MODIFIED", "FLAGS", "TITLE")
	for first := true; ; first = false {
		req.Limit = min(left, model.MaxPage)
		page, ignored, err := view(ctx, s, args, req)
		if err != nil {
			return err
		}
		if first && len(ignored) > 0 {
			if err := a.ignored(s.Name, ignored); err != nil {
				return err
			}
		}
		for _, h := range page.Items {
			if err := a.printHeader(s.Name, h, tab, false); err != nil {
				return err
			}
		}
		tab.flush()
		if left -= len(page.Items); page.Next == "" || left <= 0 {
			if a.flags.json {
				return a.printPageEnd(s.Name, page)
			}
			if page.Next != "" {
				a.sayf("%s: there are %s; ask for more with --limit", s.Name, plural(page.Total.N, "item"))
			}
			return nil
		}
		req.Cursor = page.Next
	}
}

// ignored names the terms that matched everything: nothing may be changed on
// such a result.
func (a *app) ignored(store string, terms []string) error {
	for _, t := range terms {
		a.sayf("%s: the term %q means nothing in this language and matches everything: the result is wider than was asked", store, t)
	}
	if a.flags.json {
		return a.emit("query", row{"store": store, "ignored": terms})
	}
	return nil
}

func (a *app) workDepsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "deps REF", Short: "What blocks an item, and what it blocks",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, s, ref, err := a.at(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if s.Work == nil {
				return model.Errorf(model.Unsupported, "work", "store %s keeps no work items", s.Name)
			}
			pairs, err := s.Work.Dependencies(cmd.Context(), ref.ID)
			if err != nil {
				return err
			}
			tab := a.table("BLOCKER", "BLOCKED", "KIND")
			for _, d := range pairs {
				if err := tab.put(dependencyRow{Store: s.Name, Blocker: encodedID(d.Blocker), Blocked: encodedID(d.Blocked), Kind: d.Kind}); err != nil {
					return err
				}
			}
			tab.flush()
			return nil
		},
	}
}
