package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/atomicfile"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui"
)

// configRow is the configuration file, as `config path` and `config check` describe it.
type configRow struct {
	Path   string `json:"path"`
	Exists *bool  `json:"exists,omitempty"`
	OK     bool   `json:"ok,omitempty"`
	Stores *int   `json:"stores,omitempty"`
}

type versionInfoRow struct {
	Version string   `json:"version"`
	Kinds   []string `json:"kinds"`
	Go      string   `json:"go"`
}

// infoRow is the version with the paths.
type infoRow struct {
	versionInfoRow
	Config *string `json:"config"`
	State  *string `json:"state"`
	Cache  *string `json:"cache"`
}

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "The configuration file"}
	c.AddCommand(
		&cobra.Command{
			Use: "path", Short: "Where it is read from",
			RunE: func(*cobra.Command, []string) error {
				path, _ := backends.ConfigPath(a.flags.config, a.Env)
				if path == "" {
					return usage("neither HOME nor XDG_CONFIG_HOME is set to an absolute path: name a file with --config")
				}
				_, err := os.Stat(path)
				a.result("config", configRow{Path: path, Exists: new(err == nil)}, "%s", path)
				return nil
			},
		},
		&cobra.Command{
			Use: "check", Short: "Say what is wrong with it, by line and column",
			RunE: func(*cobra.Command, []string) error { return a.checkConfig() },
		},
		&cobra.Command{
			Use: "init", Short: "Write an example to start from; an existing file is never touched",
			RunE: func(*cobra.Command, []string) error { return a.initConfig() },
		})
	return c
}

func (a *app) checkConfig() error {
	path, explicit := backends.ConfigPath(a.flags.config, a.Env)
	cfg, err := backends.LoadConfig(a.Kinds, path, explicit, a.Env)
	if err != nil {
		return err
	}
	if err := checkConsole(&cfg); err != nil {
		return err
	}
	if _, err := a.base(); err != nil { // what every command needs: the scanner's model
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		a.result("config", configRow{Path: path, Exists: new(false), OK: true, Stores: new(0)}, "there is no %s: memdesk looks where stores usually live", path)
		a.hintf("`memdesk config init` writes an example")
		return nil
	}
	a.result("config", configRow{Path: path, OK: true, Stores: new(len(cfg.Stores))}, "%s: fine, %s", path, plural(int64(len(cfg.Stores)), "store"))
	return nil
}

// checkConsole says by line and column which key or view of the console cannot be used.
func checkConsole(cfg *backends.Config) error {
	if key, err := tui.CheckKeys(cfg.UI.Keys, cfg.UI.Views); err != nil {
		return cfg.Wrong("ui.keys", key, err)
	}
	if name, key, err := tui.CheckViews(cfg.UI.Views); err != nil {
		return cfg.Wrong("ui.views."+name, key, err)
	}
	return nil
}

func (a *app) initConfig() error {
	path, _ := backends.ConfigPath(a.flags.config, a.Env)
	if path == "" {
		return usage("neither HOME nor XDG_CONFIG_HOME is set to an absolute path: name a file with --config")
	}
	if a.flags.readOnly {
		return model.Refuse("config", "--read-only was given")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	err := atomicfile.Create(path, func(w io.Writer) error {
		_, err := io.WriteString(w, a.Example)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return usage("%s exists already; nothing was written", path)
	}
	if err == nil || errors.Is(err, atomicfile.ErrUnsynced) { // it is in place
		a.sayf("wrote %s: every key is explained there", path)
	}
	return err
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "The version and what it was built with",
		RunE: func(*cobra.Command, []string) error {
			a.result("version", versionInfoRow{a.Version, a.Kinds.Names(), runtime.Version()}, "memdesk %s (%s)", a.Version, runtime.Version())
			return nil
		},
	}
}

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "info", Short: "Version, paths, and where state lies",
		RunE: a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
			config, _ := backends.ConfigPath(a.flags.config, a.Env)
			if config != "" {
				config = a.path(config)
			}
			cache := statedir.Base(a.Env, "XDG_CACHE_HOME", ".cache")
			if a.flags.json {
				a.emit("info", infoRow{versionInfoRow{a.Version, a.Kinds.Names(), runtime.Version()}, nilIfEmpty(config), nilIfEmpty(s.State), nilIfEmpty(cache)})
				return nil
			}
			t := a.table("WHAT", "WHERE")
			t.whole = true // half a path leads nowhere
			for _, cells := range [][]any{{"version", a.Version + " (" + runtime.Version() + ")"}, {"configuration", config}, {"state", s.State},
				{"audit log", filepath.Join(s.State, "audit")}, {"undo", filepath.Join(s.State, "undo")}} {
				t.add(cells)
			}
			t.flush()
			return nil
		}),
	}
}
