package cli

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"memdesk/internal/bearer"
	"memdesk/operator/metrics"
	"memdesk/ui/door"
)

// metricsFlags are the flags of serve metrics.
type metricsFlags struct {
	providerFlags
	every time.Duration
}

func (a *app) serveMetricsCommand() *cobra.Command {
	var f metricsFlags
	c := &cobra.Command{
		Use: "metrics", Short: "Serve metrics of the stores, the requests and the log to Prometheus",
		Long: "Serves at /metrics, in Prometheus' text form, how the stores are, what they hold, what waits for an operator,\n" +
			"how long the audit log is and how old its anchors, and what doors were asked. No label names an item, a person or\n" +
			"a caller. Values are of the last look; memdesk_look_timestamp_seconds says when each part was looked at.\n" +
			"Tokens are lines \"NAME TOKEN [SCOPE,…]\" as of serve provider; a token needs the scope memory:health.",
		Example: "  memdesk serve metrics --tokens scrape.tokens\n  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7814/metrics",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serveMetrics(cmd.Context(), f) },
	}
	f.flags(c, "127.0.0.1:7814", "`ADDRESS` to listen on; without a host it is this machine only")
	c.Flags().DurationVar(&f.every, "every", 15*time.Second, "`PAUSE` between two looks; one that takes longer is followed by a pause as long as itself")
	return c
}

func (a *app) serveMetrics(ctx context.Context, f metricsFlags) error {
	if f.every <= 0 {
		return usage("--every must be more than 0")
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	tokens, err := a.tokensFile(s, f.tokens)
	if err != nil {
		return err
	}
	g, err := door.Invite(ctx, tokens, nil, a.sayf)
	if err != nil {
		return err
	}
	l, scheme, err := a.listen(f.providerFlags)
	if err != nil {
		return err
	}
	defer l.Close() // Serve closes it; here for the ways out before
	calls := ""
	if s.State != "" {
		calls = filepath.Join(s.State, filepath.FromSlash(door.CallsFile))
	}
	m := metrics.New(s, a.Clock, calls)
	looking, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { m.Run(looking, f.every) })
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", door.Only(g.Door, bearer.ScopeHealth, m.Handler()))
	a.sayf("serving metrics of %s on %s://%s/metrics to %s from %s", plural(int64(len(s.Fleet.Members())), "store"), scheme, l.Addr(), g.Tokens(), g.File)
	g.Watch(ctx)
	return a.serveUntil(ctx, l, mux)
}
