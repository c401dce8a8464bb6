package cli

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/internal/statedir"
	"memdesk/operator"
	"memdesk/ui/door"
)

type mcpFlags struct {
	providerFlags
	origins, aliases          []string
	scopes, tier, face, mount string
	provider                  string
}

func (a *app) serveMCPCommand() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use: "mcp", Short: "Serve the stores to agents as MCP tools, over stdio or HTTP",
		Long: "Serves every open store to agents that speak the Model Context Protocol: memory_recall, memory_retain,\n" +
			"memory_get, memory_list, memory_forget and memory_health. Every write is scanned, recorded with its writer\n" +
			"and can be undone. Without --listen it speaks over standard input and output.\n" +
			"With --listen it is HTTP at /mcp; tokens are lines \"NAME TOKEN [SCOPE,…]\" of a file that only its owner may\n" +
			"read; it is read again when it changes. An address that other machines can reach needs --tls-cert and --tls-key.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), f) },
	}
	fl := c.Flags()
	f.flags(c, "", "`ADDRESS` for HTTP; without a host it is this machine only (default: stdio)")
	fl.StringArrayVar(&f.origins, "allow-origin", nil, "web `ORIGIN` that may call (repeatable)")
	fl.StringVar(&f.provider, "provider", "", "also serve the Provider contract of this `STORE` at /v1/, to the same tokens")
	fl.StringVar(&f.scopes, "scopes", "", "what a caller over stdio may do: a `LIST` with commas of memory:recall, memory:retain, memory:forget, memory:health (default all)")
	fl.StringVar(&f.tier, "tier", "", "`TIER` of a retain that names none")
	fl.StringVar(&f.face, "face", door.Tools, "what agents see: `tools|memory`; memory is Anthropic's memory tool")
	fl.StringVar(&f.mount, "mount", "", "with --face memory: `STORE/TIER` that is /memories itself")
	fl.StringArrayVar(&f.aliases, "alias", nil, "also the tools of another `SERVER`: "+strings.Join(door.Aliases(), ", ")+" (repeatable)")
	return c
}

// check refuses flags that do not go together.
func (f mcpFlags) check() error {
	switch {
	case f.face != door.Tools && f.face != door.Memory:
		return usage("--face is %s or %s", door.Tools, door.Memory)
	case f.mount != "" && f.face != door.Memory:
		return usage("--mount goes with --face memory")
	case f.mount != "" && !strings.Contains(f.mount, "/"):
		return usage("--mount is STORE/TIER")
	case f.tier != "" && f.face == door.Memory:
		return usage("--tier goes with --face tools")
	case len(f.aliases) > 0 && f.face == door.Memory:
		return usage("--alias goes with --face tools")
	case f.listen == "" && f.provider != "":
		return usage("--provider goes with --listen")
	case f.listen == "" && (f.tokens != "" || f.cert != "" || f.key != "" || len(f.origins) > 0):
		return usage("--tokens, --tls-cert, --tls-key and --allow-origin go with --listen")
	case f.listen != "" && f.scopes != "":
		return usage("--scopes goes with stdio; over HTTP the third field of a token's line says them")
	}
	for _, al := range f.aliases {
		if !slices.Contains(door.Aliases(), al) {
			return usage("--alias is one of %s", strings.Join(door.Aliases(), ", "))
		}
	}
	return nil
}

func (a *app) serveMCP(ctx context.Context, f mcpFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	if err := a.mounted(f); err != nil {
		return err
	}
	if f.listen == "" {
		var scopes []string
		if f.scopes != "" {
			if scopes, err = bearer.ParseScopes(f.scopes); err != nil {
				return usage("%v", err)
			}
		}
		d := f.settings(a).Of(s, bearer.Caller{Name: s.Who.ID, Scopes: scopes})
		called, end := a.countCalls(ctx, s)
		defer end()
		d.Called = called
		return d.Stdio(ctx, a.Stdin, a.Stdout)
	}
	return a.listenMCP(ctx, s, f)
}

// mounted refuses a mount whose store or tier does not exist, and a default tier that no store has.
func (a *app) mounted(f mcpFlags) error {
	if f.tier != "" && !slices.ContainsFunc(a.session.Fleet.Members(), func(m backends.Member) bool {
		_, ok := m.Store.Tier(f.tier)
		return ok || m.Err != nil
	}) {
		return usage("no store has a tier %q", f.tier)
	}
	if f.mount == "" {
		return nil
	}
	store, tier, _ := strings.Cut(f.mount, "/")
	st, err := a.openStore(store)
	if err != nil {
		return err
	}
	if _, ok := st.Tier(tier); !ok {
		return usage("store %s has no tier %q", store, tier)
	}
	return nil
}

func (a *app) listenMCP(ctx context.Context, s *operator.Session, f mcpFlags) error {
	if f.provider != "" {
		if _, err := a.openStore(f.provider); err != nil {
			return err
		}
	}
	return a.serveGuests(ctx, s, f.providerFlags, true, func(g *door.Guests, scheme string, at net.Addr) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/", door.HTTP{Door: g.Door, Desk: g.Desks(f.settings(a)), Origins: f.origins, Called: g.Called}.Handler())
		a.sayf("serving %s on %s://%s%s to %s from %s", plural(int64(len(s.Fleet.Members())), "store"), scheme, at, door.Path, g.Tokens(), g.File)
		if f.provider != "" {
			mux.Handle("/v1/", g.Provider(f.provider))
			a.sayf("serving the contract of store %s on %s://%s/v1/", f.provider, scheme, at)
		}
		return mux
	})
}

// settings makes the settings of every caller's desk.
func (f mcpFlags) settings(a *app) door.Desk {
	return door.Desk{Clock: a.Clock, Version: a.Version, Tier: f.tier, Face: f.face, Mount: f.mount, Aliases: f.aliases}
}

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
			"Tokens are lines \"NAME TOKEN [SCOPE,…]\" of a file that only its owner may read; it is read again when it\nchanges. Scopes are memory:recall, memory:retain, memory:forget, memory:health and memory:erase; a line\nwithout scopes has all but the last, which leaves undo without a text.\n" +
			"Without --tokens one is made in the state directory. An address that other machines can reach needs --tls-cert and --tls-key.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveProvider(cmd.Context(), f) },
	}
	f.flags(c, "127.0.0.1:7811", "`ADDRESS` to listen on; without a host it is this machine only")
	return c
}

// flags adds the flags of a server over HTTP.
func (f *providerFlags) flags(c *cobra.Command, listen, where string) {
	c.Flags().StringVar(&f.listen, "listen", listen, where)
	c.Flags().StringVar(&f.tokens, "tokens", "", "`FILE` of the tokens that are let in")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "certificate `FILE`, PEM")
	c.Flags().StringVar(&f.key, "tls-key", "", "private key `FILE` of the certificate, PEM")
}

func (a *app) serveProvider(ctx context.Context, f providerFlags) error {
	s, store, err := a.onlyStore(ctx, "the one to serve")
	if err != nil {
		return err
	}
	return a.serveGuests(ctx, s, f, true, func(g *door.Guests, scheme string, at net.Addr) http.Handler {
		a.sayf("serving store %s on %s://%s to %s from %s", store.Name, scheme, at, g.Tokens(), g.File)
		return g.Provider(store.Name)
	})
}

// serveGuests serves the callers of a file of tokens over HTTP until ctx ends: callers of stores, or others, which
// need no sessions. handler says what they reach.
func (a *app) serveGuests(ctx context.Context, s *operator.Session, f providerFlags, ofStores bool, handler func(g *door.Guests, scheme string, at net.Addr) http.Handler) error {
	if f.cert != "" || f.key != "" {
		f.cert, f.key = a.path(f.cert), a.path(f.key)
	}
	l, scheme, err := door.Listen(f.listen, f.cert, f.key) // first: a refused address makes no token
	if err != nil {
		return err
	}
	g, end, err := a.guests(ctx, s, f.tokens, ofStores)
	if err != nil {
		_ = l.Close()
		return err
	}
	defer end()
	h := handler(g, scheme, l.Addr())
	g.Watch(ctx)
	return a.serveUntil(ctx, l, h)
}

// serveUntil serves until ctx ends, and notifies the service manager.
func (a *app) serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	defer a.running(ctx)()
	return door.ServeUntil(ctx, l, h)
}

// tokensFile returns the file that the flag names, or the one in the state directory.
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

// guests reads the file of tokens. For every caller of stores it opens a session, and counts the calls until end.
func (a *app) guests(ctx context.Context, s *operator.Session, file string, ofStores bool) (g *door.Guests, end func(), err error) {
	if file, err = a.tokensFile(s, file); err != nil {
		return nil, nil, err
	}
	if !ofStores {
		g, err = door.Invite(ctx, file, nil, a.sayf)
		return g, func() {}, err
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

// countCalls counts the calls of a door until end, and closes the acts of processes that were killed.
func (a *app) countCalls(ctx context.Context, s *operator.Session) (called func(verb, outcome string), end func()) {
	closed := s.CloseOrphans(ctx, func(n int, err error) {
		if n > 0 {
			a.sayf("%s of processes that are gone had no recorded outcome: closed in the audit log as unknown", plural(int64(n), "act"))
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
