package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// completed is the number of items offered to the shell for the beginning of a reference.
const completed = 50

// complete lets the shell complete arguments and flags by the word that their usage has for them.
func (a *app) complete(c *cobra.Command) {
	if words := strings.Fields(c.Use); len(words) > 1 {
		repeats := strings.HasSuffix(words[1], "...")
		c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !repeats {
				return a.offer(cmd.Context(), strings.Join(words[2:], " "), begun)
			}
			return a.offer(cmd.Context(), strings.Trim(words[1], "()[]."), begun)
		}
	}
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		word, _ := pflag.UnquoteUsage(flag)
		if flag.Name == "store" {
			word = "STORE"
		}
		_ = c.RegisterFlagCompletionFunc(flag.Name, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			return a.offer(cmd.Context(), word, begun)
		}) // fails only for a flag that is not there
	})
	for _, sub := range c.Commands() {
		a.complete(sub)
	}
}

// offer returns the values of a word in a usage line. The shell offers files where the word names some.
func (a *app) offer(ctx context.Context, word, begun string) ([]string, cobra.ShellCompDirective) {
	const only, goesOn = cobra.ShellCompDirectiveNoFileComp, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	switch word {
	case "FORMAT":
		return []string{"json", "wide", "name"}, only
	case "KIND=LOCATION":
		return mapped(a.Kinds.Names(), func(kind string) string { return kind + "=" }), goesOn
	case "STORE":
		return a.storeNames(""), only
	case "REF":
		if store, id, found := strings.Cut(begun, ":"); found {
			return a.itemRefs(ctx, store, id), only
		}
		return a.storeNames(":"), goesOn
	case "REQUEST":
		return a.requestIDs(ctx), only
	}
	for _, file := range []string{"FILE", "DIR"} {
		if strings.Contains(word, file) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	if strings.Contains(word, "|") && word == strings.ToLower(word) {
		return strings.Split(word, "|"), only
	}
	return nil, only
}

// storeNames are the stores that would be opened, each with an end.
func (a *app) storeNames(end string) []string {
	s, err := a.base()
	if err != nil {
		return nil
	}
	configs, err := a.storeConfigs(s)
	if err != nil {
		return nil
	}
	return mapped(configs, func(c backends.StoreConfig) string { return c.Name + end })
}

// itemRefs are references to items of a store with this beginning.
func (a *app) itemRefs(ctx context.Context, store, begun string) (refs []string) {
	_, st, err := a.named(ctx, store)
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
func (a *app) requestIDs(ctx context.Context) []string {
	d, err := a.desk(ctx, "")
	if err != nil {
		return nil
	}
	all, err := d.List()
	if err != nil {
		return nil
	}
	return mapped(all, func(r gdpr.Due) string { return r.ID })
}
