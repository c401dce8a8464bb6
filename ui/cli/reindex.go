package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
)

// reindexCommand builds anew what stores derive from their items.
func (a *app) reindexCommand() *cobra.Command {
	tier := ""
	c := &cobra.Command{
		Use: "reindex", Short: "Build the search index of a store anew",
		Long: "Builds anew what a store derives from its items: the search index of a vault or of a device-local memory.\n" +
			"No item changes, and the old index stands until the new one is whole. Every open store that has an index\n" +
			"is asked; --store names one.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			var asked []backends.Member
			var names []string
			for _, m := range s.Fleet.Members() {
				if m.Err == nil && m.Store.Reindexer == nil && len(a.flags.stores) == 0 {
					continue // nobody named it, and it has none
				}
				asked, names = append(asked, m), append(names, m.Name)
			}
			if len(asked) == 0 {
				return model.Errorf(model.Unsupported, "reindex", "no open store has an index to build")
			}
			if err := s.Allow(ctx, operator.Reindex, "", ""); err != nil {
				return err
			}
			if err := a.confirm(ctx, "build the index of "+strings.Join(names, ", ")+" anew?"); err != nil {
				return err
			}
			var t tally
			t.each(a, asked, false, func(store model.Store) error {
				n, err := s.Reindex(ctx, store.Name, tier)
				if err == nil {
					a.result("reindexed", row{"store": store.Name, "items": n}, "%s: %s in the new index", store.Name, plural(n, "item"))
				}
				return err
			})
			return t.result()
		}),
	}
	c.Flags().StringVar(&tier, "tier", "", "only this derived `TIER` (default: every one)")
	return a.asks(c)
}
