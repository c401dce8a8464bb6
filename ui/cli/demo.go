package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/model"
)

func (a *app) demoCommand() *cobra.Command {
	var dir string
	seedOnly := false
	c := &cobra.Command{
		Use: "demo", Short: "The console on a throw-away workspace with believable content",
		Long: "Writes a small company's memory into a directory of its own and opens the console on it. Without\n" +
			"--dir the directory is temporary and goes away at the end; state (audit log, undo) lies in it too,\n" +
			"so that trying things leaves no trace elsewhere.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), dir, seedOnly) },
	}
	c.Flags().StringVar(&dir, "dir", "", "write into this `DIR`, which must be empty or absent, and keep it")
	c.Flags().BoolVar(&seedOnly, "seed-only", false, "write the workspace and do not open the console")
	return c
}

func (a *app) demo(ctx context.Context, dir string, seedOnly bool) (err error) {
	if len(a.flags.open) > 0 || a.flags.config != "" {
		return usage("demo brings its own stores: --open and --config do not go with it")
	}
	switch {
	case a.flags.readOnly && dir != "":
		return model.Refuse("demo", "--read-only was given")
	case dir == "" && seedOnly:
		return usage("--seed-only needs --dir: say where")
	case dir == "":
		tmp, err := os.MkdirTemp("", "memdesk-demo-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.endDemo(tmp)) }()
		dir = filepath.Join(tmp, "workspace")
	}
	dir = backends.ExpandPath(dir, a.Dir, a.Env)
	if err := demodata.Seed(ctx, dir, a.Clock.Now()); err != nil {
		return err
	}
	if seedOnly {
		config := filepath.Join(dir, demodata.ConfigFile)
		a.result("demo", row{"dir": dir, "config": config}, "%s", dir)
		a.hintf("open it with: memdesk --config %s", config)
		return nil
	}
	if err := (&story{a: a, dir: dir, now: a.Clock.Now().UTC()}).tell(ctx); err != nil {
		return err
	}
	a.flags.config = filepath.Join(dir, demodata.ConfigFile)
	env := a.Env
	a.Env = func(key string) string {
		if key == "XDG_STATE_HOME" {
			return filepath.Join(dir, "state")
		}
		return env(key)
	}
	a.demoing = true
	ctx, stop := context.WithCancel(ctx)
	landed := make(chan struct{})
	go func() { defer close(landed); flap(ctx, dir, ferryInRange, ferryAway) }()
	defer func() { stop(); <-landed }()
	return a.console(ctx)
}

// endDemo closes the stores before their files go.
func (a *app) endDemo(dir string) error {
	var err error
	if a.session != nil {
		err = a.session.Close()
		a.session = nil
	}
	return errors.Join(err, os.RemoveAll(dir))
}
