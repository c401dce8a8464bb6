package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memdesk/backends/demodata"
	"memdesk/gdpr"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/tour"
	"memdesk/ui/tui"
)

type demoRow struct {
	Dir    string `json:"dir"`
	Config string `json:"config"`
}

func (a *app) demoCommand() *cobra.Command {
	var dir string
	seedOnly, guided := false, false
	c := &cobra.Command{
		Use: "demo", Short: "The console on a throw-away workspace with believable content",
		Long: "Writes a small company's memory into a directory of its own and opens the console on it. Without\n" +
			"--dir the directory is temporary and goes away at the end; state (audit log, undo, requests) lies in it\n" +
			"too, so that trying things leaves no trace elsewhere. The store ferry goes out of reach now and then: that\n" +
			"is how a store that is down looks. --seed-only writes the stores alone, without requests and audit log.\n" +
			"A later command on a DIR keeps its state in $XDG_STATE_HOME/memdesk: set that variable to DIR/state for a\n" +
			"trial, or your own audit log and list of erased persons take up the demo's. --tour goes through three jobs by itself, in ninety\n" +
			"seconds: it types into the console and says what for; any key ends it, and the console is yours.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), dir, seedOnly, guided) },
	}
	c.Flags().StringVar(&dir, "dir", "", "write into this `DIR`, which must be empty or absent, and keep it")
	c.Flags().BoolVar(&seedOnly, "seed-only", false, "write the workspace and do not open the console")
	c.Flags().BoolVar(&guided, "tour", false, "show three jobs by itself, with captions, before the console is yours")
	return c
}

func (a *app) demo(ctx context.Context, dir string, seedOnly, guided bool) (err error) {
	in, typed := a.Stdin.(*os.File)
	out, drawn := a.Stdout.(*os.File)
	if len(a.flags.open) > 0 || a.flags.config != "" {
		return usage("demo brings its own stores: --open and --config do not go with it")
	}
	if guided && drawn && a.Terminal(out) {
		if err := tour.Room(out); err != nil {
			return usage("%v", err)
		}
	}
	switch {
	case a.flags.readOnly && dir != "":
		return model.Refuse("demo", "--read-only was given")
	case guided && (seedOnly || !typed || !drawn || !a.Terminal(in) || !a.Terminal(out)):
		return usage("--tour needs a terminal, and the console on it")
	case dir == "" && seedOnly:
		return usage("--seed-only needs --dir: say where")
	case dir == "":
		tmp, err := os.MkdirTemp("", "memdesk-demo-")
		if err != nil {
			return err
		}
		defer func() {
			if a.session != nil { // the stores close before their files go
				err = errors.Join(err, a.session.Close())
				a.session = nil
			}
			err = errors.Join(err, os.RemoveAll(tmp))
		}()
		dir = filepath.Join(tmp, "workspace")
	}
	dir = a.path(dir)
	if err := demodata.Seed(ctx, dir, a.Clock.Now()); err != nil {
		return err
	}
	if seedOnly {
		config := filepath.Join(dir, demodata.ConfigFile)
		a.result("demo", demoRow{dir, config}, "%s", dir)
		a.hintf("open it with: XDG_STATE_HOME=%s memdesk --config %s", filepath.Join(dir, "state"), config)
		return nil
	}
	if err := a.story(dir).Tell(ctx); err != nil {
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
	go func() { defer close(landed); demodata.Flap(ctx, dir) }()
	defer func() { stop(); <-landed }()
	if guided {
		return tour.Play(ctx, in, out, func(t tui.Terminal) error {
			a.screen = &t
			return a.console(ctx)
		})
	}
	return a.console(ctx)
}

// story is the week before the demo, whose commands run in this process.
func (a *app) story(dir string) *demodata.Story {
	s := &demodata.Story{Dir: dir, Now: a.Clock.Now().UTC(), Env: a.Env}
	due := s.Now.AddDate(0, 0, 1)
	day := due.AddDate(0, 0, -27)
	for gdpr.AddMonths(day, 1).After(due) {
		day = day.AddDate(0, 0, -1)
	}
	s.Received = day.Format(time.DateOnly)
	s.Run = func(ctx context.Context, c demodata.Call) (_ []byte, _ string, code int) {
		var out, talk bytes.Buffer
		p := a.Program
		p.Args, p.Env, p.Clock = c.Args, c.Env, shifted{p.Clock, c.Back}
		p.Stdin, p.Stdout, p.Stderr = strings.NewReader(c.Input), &out, &talk
		p.Terminal = func(any) bool { return false }
		run := p.app()
		run.caller = c.Agent
		code = run.run(ctx)
		return out.Bytes(), talk.String(), code
	}
	return s
}

// shifted is another clock, set back.
type shifted struct {
	clock.Clock
	back time.Duration
}

// Now implements clock.Clock.
func (s shifted) Now() time.Time { return s.Clock.Now().Add(-s.back) }
