package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"memdesk/operator"
)

func (a *app) watchCommand() *cobra.Command {
	var o operator.Watching
	c := &cobra.Command{
		Use: "watch", Short: "Events as JSON lines: new conflicts, quarantined writes, stores down and up, requests due",
		Long: "Prints one JSON object a line for each event, until it is interrupted: \"conflict\" and \"quarantined\" for what is\n" +
			"new, \"store_down\" and \"store_up\", \"request_due\" for an erasure request that comes due, and \"unseen\" and \"seen\" for\n" +
			"conflicts, quarantine or requests that could not be looked at to the end, and can be again. The first look tells\n" +
			"of stores that are down and of requests that are due; of conflicts and quarantined items only with --standing.\n" +
			"A line names items by their references and no content.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			if o.Every <= 0 || o.Within < 0 {
				return usage("--every must be more than 0, --within must not be negative")
			}
			o.Tell = func(e operator.Event) error {
				e.Facts["event"], e.Facts["at"] = e.Name, stamp(e.At)
				a.emitOf("", "event", e.Facts)
				return a.out.Flush()
			}
			return s.Watch(ctx, o)
		}),
	}
	c.Flags().DurationVar(&o.Every, "every", 10*time.Second, "`PAUSE` between two looks; one that takes longer is followed by a pause as long as itself")
	c.Flags().IntVar(&o.Within, "within", 7, "a request is due when its deadline is within this many `DAYS`")
	c.Flags().BoolVar(&o.Standing, "standing", false, "tell also of the conflicts and quarantined items that stand at the start")
	return c
}
