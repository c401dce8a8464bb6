package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memdesk/model"
)

// completed is the number of items offered to the shell for the beginning of a reference.
const completed = 50

// complete lets the shell complete arguments and flags by the word that their usage has for them.
func (a *app) complete(c *cobra.Command) {
	words := strings.Fields(c.Use)
	if len(words) > 1 {
		if f := a.completer(strings.Trim(words[1], "[].")); f != nil {
			repeats := strings.HasSuffix(words[1], "...")
			c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 && !repeats {
					return nil, cobra.ShellCompDirectiveDefault // of the words after the first, some are files
				}
				return f(cmd, args, begun)
			}
		}
	}
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		word, _ := pflag.UnquoteUsage(flag)
		if flag.Name == "store" {
			word = "STORE"
		}
		if f := a.completer(word); f != nil {
			_ = c.RegisterFlagCompletionFunc(flag.Name, f) // fails only for a flag that is not there
		}
	})
	for _, sub := range c.Commands() {
		a.complete(sub)
	}
}

// completer offers the values of a word in a usage line; nil: unknown.
func (a *app) completer(word string) cobra.CompletionFunc {
	const only, goesOn = cobra.ShellCompDirectiveNoFileComp, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	switch word {
	case "FORMAT":
		return cobra.FixedCompletions([]string{"json", "wide", "name"}, only)
	case "KIND=LOCATION":
		return func(*cobra.Command, []string, string) (kinds []string, next cobra.ShellCompDirective) {
			for _, k := range a.Kinds.Names() {
				kinds = append(kinds, k+"=")
			}
			return kinds, goesOn
		}
	case "STORE":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return a.storeNames(""), only
		}
	case "REF":
		return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			if store, id, found := strings.Cut(begun, ":"); found {
				return a.itemRefs(cmd.Context(), store, id), only
			}
			return a.storeNames(":"), goesOn
		}
	case "REQUEST":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return a.requestIDs(), only
		}
	}
	return nil
}

// storeNames are the stores that would be opened, each with an end.
func (a *app) storeNames(end string) (names []string) {
	s, err := a.base()
	if err != nil {
		return nil
	}
	configs, err := a.storeConfigs(s)
	if err != nil {
		return nil
	}
	for _, c := range configs {
		names = append(names, c.Name+end)
	}
	return names
}

// itemRefs are references to items of a store with this beginning.
func (a *app) itemRefs(ctx context.Context, store, begun string) (refs []string) {
	a.only = []string{store}
	s, err := a.stores(ctx)
	if err != nil {
		return nil
	}
	st, err := s.Fleet.Store(store)
	if err != nil || st.Browser == nil {
		return nil
	}
	page, err := st.Browser.List(ctx, model.PageRequest{Query: begun, Limit: completed})
	if err != nil {
		return nil
	}
	for _, h := range page.Items {
		ref := model.Ref{Store: store, ID: h.ID}.String()
		if harmless := a.text.Line(ref).String() == ref; harmless && strings.HasPrefix(ref, store+":"+begun) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// requestIDs are the erasure requests.
func (a *app) requestIDs() (ids []string) {
	d, err := a.desk(context.Background(), "")
	if err != nil {
		return nil
	}
	all, err := d.List()
	if err != nil {
		return nil
	}
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}
