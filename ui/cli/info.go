package cli

import (
	"context"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/statedir"
	"memdesk/operator"
)

// infoCommand prints version and paths.
func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "info", Short: "Version, paths, and where state lies",
		RunE: a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
			config, _ := backends.ConfigPath(a.flags.config, a.Env)
			cache := statedir.Base(a.Env, "XDG_CACHE_HOME", ".cache")
			if a.flags.json {
				a.emit("info", row{"version": a.Version, "go": runtime.Version(), "config": nilIfEmpty(config), "state": nilIfEmpty(s.State), "cache": nilIfEmpty(cache), "kinds": a.Kinds.Names()})
				return nil
			}
			t := a.table("WHAT", "WHERE")
			for _, cells := range [][]any{{"version", a.Version + " (" + runtime.Version() + ")"}, {"configuration", config}, {"state", s.State},
				{"audit log", filepath.Join(s.State, "audit")}, {"undo", filepath.Join(s.State, "undo")}, {"cache", cache}} {
				t.add(cells)
			}
			t.flush()
			return nil
		}),
	}
}
