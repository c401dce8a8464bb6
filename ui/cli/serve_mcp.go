package cli

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/operator"
	"memdesk/ui/door"
)

// mcpFlags are the flags of serve mcp.
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
		Example: "  memdesk --open sqlite=notes.db serve mcp --tier session\n" +
			"  memdesk serve mcp --listen 127.0.0.1:7812 --tokens tokens",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), f) },
	}
	fl := c.Flags()
	f.flags(c, "", "`ADDRESS` for HTTP; without a host it is this machine only (default: stdio)")
	fl.StringArrayVar(&f.origins, "allow-origin", nil, "web `ORIGIN` that may call (repeatable)")
	fl.StringVar(&f.provider, "provider", "", "also serve the Provider contract of this `STORE` at /v1/, to the same tokens")
	fl.StringVar(&f.scopes, "scopes", "", "`LIST` of what a caller over stdio may: memory:recall,memory:retain,memory:forget,memory:health (default all)")
	fl.StringVar(&f.tier, "tier", "", "`TIER` of a retain that names none")
	fl.StringVar(&f.face, "face", door.Tools, "tools, or memory for Anthropic's memory tool")
	fl.StringVar(&f.mount, "mount", "", "with --face memory: `STORE/TIER` that is /memories itself")
	fl.StringArrayVar(&f.aliases, "alias", nil, "also the tools of another server: "+strings.Join(door.Aliases(), ", ")+" (repeatable)")
	return c
}

// check refuses flags that mean nothing.
func (f mcpFlags) check() error {
	switch {
	case f.face != door.Tools && f.face != door.Memory:
		return usage("--face is %s or %s", door.Tools, door.Memory)
	case f.mount != "" && f.face != door.Memory:
		return usage("--mount goes with --face memory")
	case f.mount != "" && !strings.Contains(f.mount, "/"):
		return usage("--mount is STORE/TIER")
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
	if err := f.mounted(s.Fleet); err != nil {
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

// mounted refuses a mount that is not there.
func (f mcpFlags) mounted(fleet *backends.Fleet) error {
	if f.mount == "" {
		return nil
	}
	store, tier, _ := strings.Cut(f.mount, "/")
	st, err := fleet.Store(store)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if _, ok := st.Tier(tier); !ok {
		return usage("store %s has no tier %q", store, tier)
	}
	return nil
}

func (a *app) listenMCP(ctx context.Context, s *operator.Session, f mcpFlags) error {
	if f.provider != "" {
		if _, err := s.Fleet.Store(f.provider); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	g, end, err := a.guests(ctx, s, f.tokens)
	if err != nil {
		return err
	}
	defer end()
	l, scheme, err := a.listen(f.providerFlags)
	if err != nil {
		return err
	}
	defer l.Close() // ServeUntil closes it; here for the ways out before
	mux := http.NewServeMux()
	mux.Handle("/", door.HTTP{Door: g.Door, Desk: g.Desks(f.settings(a)), Origins: f.origins, Called: g.Called}.Handler())
	a.sayf("serving %s on %s://%s%s to %s from %s", plural(int64(len(s.Fleet.Members())), "store"), scheme, l.Addr(), door.Path, g.Tokens(), g.File)
	if f.provider != "" {
		mux.Handle("/v1/", g.Provider(f.provider))
		a.sayf("serving the contract of store %s on %s://%s/v1/", f.provider, scheme, l.Addr())
	}
	g.Watch(ctx)
	return a.serveUntil(ctx, l, mux)
}

// settings are those of the desks that a door gives to its callers.
func (f mcpFlags) settings(a *app) door.Desk {
	return door.Desk{Clock: a.Clock, Version: a.Version, Tier: f.tier, Face: f.face, Mount: f.mount, Aliases: f.aliases}
}
