package cli

import (
	"context"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"memdesk/internal/statedir"
	"memdesk/operator"
	"memdesk/ui/door"
)

// providerFlags are the flags of serve provider.
type providerFlags struct {
	listen, tokens, cert, key string
}

func (a *app) serveProviderCommand() *cobra.Command {
	var f providerFlags
	c := &cobra.Command{
		Use: "provider", Short: "Serve one store's Provider contract over HTTP",
		Long: "Serves the store that --store names to agents, as JSON over HTTP with bearer tokens: the four calls of the\n" +
			"contract and the reads that the store has (backends/remote/openapi.json describes them). What an agent changes\n" +
			"stands in the audit log under the name of its token.\n" +
			"Tokens are lines \"NAME TOKEN\" of a file that only its owner may read; it is read again when it changes.\n" +
			"Without --tokens one is made in the state directory. An address that other machines can reach needs --tls-cert and --tls-key.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error { return a.serveProvider(ctx, s, f) }),
	}
	f.flags(c, "127.0.0.1:7811", "`ADDRESS` to listen on; without a host it is this machine only")
	return c
}

// flags are those of a server over HTTP.
func (f *providerFlags) flags(c *cobra.Command, listen, where string) {
	c.Flags().StringVar(&f.listen, "listen", listen, where)
	c.Flags().StringVar(&f.tokens, "tokens", "", "`FILE` of the tokens that are let in")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "certificate `FILE`, PEM")
	c.Flags().StringVar(&f.key, "tls-key", "", "private key `FILE` of the certificate, PEM")
}

func (a *app) serveProvider(ctx context.Context, s *operator.Session, f providerFlags) error {
	members := s.Fleet.Members()
	if len(members) != 1 {
		return usage("there are %d stores: name the one to serve with --store", len(members))
	}
	if _, err := a.openStore(members[0].Name); err != nil {
		return err
	}
	g, end, err := a.guests(ctx, s, f.tokens)
	if err != nil {
		return err
	}
	defer end()
	l, scheme, err := a.listen(f)
	if err != nil {
		return err
	}
	defer l.Close() // ServeUntil closes it; here for the ways out before
	a.sayf("serving store %s on %s://%s to %s from %s", members[0].Name, scheme, l.Addr(), g.Tokens(), g.File)
	g.Watch(ctx)
	return a.serveUntil(ctx, l, g.Provider(members[0].Name))
}

// listen listens by the flags.
func (a *app) listen(f providerFlags) (net.Listener, string, error) {
	if f.cert != "" || f.key != "" {
		f.cert, f.key = a.path(f.cert), a.path(f.key)
	}
	return door.Listen(f.listen, f.cert, f.key)
}

// serveUntil serves until ctx ends and tells the service manager.
func (a *app) serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	defer a.running(ctx)()
	return door.ServeUntil(ctx, l, h)
}

// tokensFile is the file that the flag names, or the state directory's.
func (a *app) tokensFile(s *operator.Session, file string) (string, error) {
	if file != "" {
		return a.path(file), nil
	}
	if s.State == "" {
		return "", usage("%v; give --tokens FILE", statedir.ErrNoHome)
	}
	file, made, err := door.TokensFile(s.State)
	if made && err == nil {
		a.sayf("made a token for \"agent\" in %s", file)
	}
	return file, err
}

// guests opens a session for every caller of the file of tokens, and counts their calls until end.
func (a *app) guests(ctx context.Context, s *operator.Session, file string) (g *door.Guests, end func(), err error) {
	if file, err = a.tokensFile(s, file); err != nil {
		return nil, nil, err
	}
	g, err = door.Invite(ctx, file, func(ctx context.Context, name string) (*operator.Session, error) {
		v := &app{Program: a.Program, flags: a.flags, errw: a.errw, text: a.text, logger: a.logger, caller: name, beside: a.session}
		s, err := v.stores(ctx)
		if err != nil && v.session != nil {
			_ = v.session.Close() // the first error is the one that counts
		}
		return s, err
	}, a.sayf)
	if err != nil {
		return nil, nil, err
	}
	called, counted := a.countCalls(ctx, s)
	g.Called = called
	return g, func() { counted(); g.Close() }, nil
}

// countCalls counts the calls of a door until end, and closes the records of servers that were killed.
func (a *app) countCalls(ctx context.Context, s *operator.Session) (called func(verb, outcome string), end func()) {
	closed := s.CloseOrphans(ctx, func(n int, err error) {
		if n > 0 {
			a.sayf("%s of servers that are gone had no recorded outcome: closed in the audit log as unknown", plural(int64(n), "act"))
		}
		if err != nil {
			a.logf("acts without an outcome cannot be closed in the audit log: %v", err)
		}
	})
	count, counted := func(string, string) {}, func() {}
	if s.State != "" {
		count, counted = door.CountCalls(ctx, s.State, func(err error) { a.logf("the calls cannot be counted: %v", err) })
	}
	return func(verb, outcome string) {
		count(verb, outcome)
		if a.logger != nil {
			a.logger.Info("call", "verb", verb, "outcome", outcome)
		}
	}, func() { counted(); closed() }
}
