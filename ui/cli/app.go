// Package cli is memdesk's command line: each command mirrors a pane of the
// console, prints data on standard output and talk on standard error, and speaks
// JSON for scripts. It holds no rule of its own; workflows and backends do.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/lines"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/sshd"
	"memdesk/ui/tui"
)

// Program is the command line's inputs.
type Program struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Env     func(string) string
	Dir     string // working directory
	Clock   clock.Clock
	Version string
	Kinds   *backends.Registry
	// Example is the commented configuration that `config init` writes.
	Example string
	// Terminal reports whether a stream is a terminal, so that talk can be asked
	// and answered there.
	Terminal func(any) bool
	// Columns is the width of the terminal at Stdout; nil: unknown, and nothing is cut to it.
	Columns func() int
	User    string
	TTY     string

	hangup chan os.Signal // SIGHUP, which does not end a server; nil without a sender
}

// Run executes one command and returns its exit code.
func (p Program) Run(ctx context.Context) int { return p.app().run(ctx) }

// app prepares one run of the program.
func (p Program) app() *app {
	a := &app{Program: p, serving: new(atomic.Bool), text: escaper(p.Env)}
	a.out, a.errw = lines.New(p.Stdout, p.Stderr)
	return a
}

func (a *app) run(ctx context.Context) int {
	root := a.root()
	if slices.ContainsFunc(a.Args, func(arg string) bool { return strings.HasPrefix(arg, cobra.ShellCompRequestCmd) }) {
		a.complete(root) // a shell asks; it may do so behind flags
	}
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetErr(a.Stderr)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go a.heedHangup(ctx, cancel)
	c, err := root.ExecuteContextC(ctx)
	if err != nil {
		a.endInResult(c, err)
		a.complain(err)
	}
	if a.session != nil {
		if cerr := a.session.Close(); cerr != nil {
			a.complain(cerr)
			err = errors.Join(err, cerr)
		}
	}
	if ferr := a.out.Flush(); ferr != nil && !errors.Is(err, ferr) {
		a.complain(ferr)
		if code := exitCode(err); code == exitDone || code == exitPartial { // what succeeded was not printed
			err = &exitError{exitFailed, ferr}
		}
	}
	return exitCode(err)
}

// escaper escapes to ASCII where the locale names a charset other than UTF-8.
func escaper(env func(string) string) safetext.Escaper {
	locale := cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG"))
	_, charset, named := strings.Cut(strings.ToLower(locale), ".")
	return safetext.Escaper{ASCII: named && !strings.HasPrefix(charset, "utf-8") && !strings.HasPrefix(charset, "utf8")}
}

// app is one run of the program.
type app struct {
	Program
	out     *lines.Writer
	errw    io.Writer // takes escaped text
	text    safetext.Escaper
	flags   globalFlags
	only    []string // names of the stores that the arguments need; empty: all
	session *operator.Session
	// unknown lists stores that discovery found and this version has no backend for.
	unknown []backends.StoreConfig
	beside  *operator.Session // of the server that this caller uses
	caller  string            // the agent that a served store acts for
	visitor *sshd.Session     // the console's operator, when another user runs the program
	behind  *background       // work that visitors leave running; nil: none can be left
	demoing bool              // the stores are the demo's
	screen  *tui.Terminal     // of the tour; nil: this process's own
	round   *watchRound       // of --watch; nil: the command runs once
	tables  map[string]*table // under --watch: they keep their widths
	logger  *slog.Logger      // of a server with --log-format json; nil: text
	serving *atomic.Bool      // a server runs: SIGHUP does not end it
}

type globalFlags struct {
	config   string
	stores   []string
	open     []string
	readOnly bool
	plain    bool
	noColor  bool
	json     bool
	quiet    bool
	yes      bool
	raw      bool // the bytes as they are
	reason   string
	output   string // json, wide, name, or empty
	sort     string // a column of the list
	log      string // of a server: text or json
	timeout  time.Duration
}

// sayf prints one escaped line on standard error. -q leaves it out.
func (a *app) sayf(format string, args ...any) {
	if a.logger != nil {
		a.logger.Info(sentence(format))
		return
	}
	if !a.flags.quiet {
		a.errorf(format, args...)
	}
}

// sayEach is sayf for each of some texts, which is the last argument of the format.
func (a *app) sayEach(texts []string, format string, args ...any) {
	for _, t := range texts {
		a.sayf(format, append(slices.Clip(args), t)...)
	}
}

// hintf is sayf without --json, where an object says the same.
func (a *app) hintf(format string, args ...any) {
	if !a.flags.json {
		a.sayf(format, args...)
	}
}

// errorf is sayf that -q does not leave out. --watch prints the same line once.
func (a *app) errorf(format string, args ...any) {
	if line := a.text.Sprintf(format, args...).String(); a.round.isNew("", line) {
		_, _ = io.WriteString(a.errw, line+"\n")
	}
}

// root builds the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "memdesk",
		Short: "The operator's desk for AI-agent memory",
		Long: "memdesk opens the stores in which AI agents remember things, shows tiers, recall, quarantine,\n" +
			"audit and health, and changes memory only through the contract that the agents use.\n" +
			"Without a command it opens the console.",
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.console(cmd.Context()) },
		Example: "  memdesk demo                                # the console on a throw-away workspace\n" +
			"  memdesk --open vault=~/Vault items -o name  # references, one per line\n" +
			"  memdesk recall \"tide tables\" --limit 5      # what an agent would be given",
	}
	f := root.PersistentFlags()
	f.StringVar(&a.flags.config, "config", "", "configuration `FILE` (else $MEMDESK_CONFIG, else ~/.config/memdesk/config.toml)")
	f.StringArrayVarP(&a.flags.stores, "store", "s", nil, "only the store of this `NAME` (repeatable)")
	f.StringArrayVar(&a.flags.open, "open", nil, "open `KIND=LOCATION` instead of what is configured or discovered (repeatable)")
	f.BoolVar(&a.flags.readOnly, "read-only", false, "refuse every change")
	f.BoolVar(&a.flags.plain, "plain", false, "ASCII only, no colours; lists one below the other")
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours")
	f.BoolVar(&a.flags.json, "json", false, "one JSON object per line; the same as -o json")
	f.BoolVarP(&a.flags.quiet, "quiet", "q", false, "no talk on standard error: data, questions and errors only")
	f.StringVarP(&a.flags.output, "output", "o", "", "`FORMAT`: json, wide (long titles whole) or name (the first column alone)")
	f.DurationVar(&a.flags.timeout, "timeout", 0, "deadline of one operation on a store, a `DURATION` (default 10s)")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if a.flags.plain {
			a.text.ASCII = true
		}
		switch a.flags.output {
		case "", "wide", "name":
		case "json":
			a.flags.json = true
		default:
			return usage("-o %s: there are json, wide and name", a.flags.output)
		}
		if err := a.openLog(); err != nil {
			return err
		}
		for _, name := range []string{"timeout", "limit", "depth"} {
			if f := c.Flag(name); f != nil && strings.HasPrefix(f.Value.String(), "-") {
				return usage("--%s must not be negative", name)
			}
		}
		return nil
	}
	root.Version, root.SilenceErrors, root.SilenceUsage = a.Version, true, true
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(a.help)
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Browse", []*cobra.Command{a.storesCommand(), a.healthCommand(), a.watchCommand(), a.tiersCommand(), a.itemsCommand(), a.showCommand(), a.historyCommand(), a.recallCommand(),
			group("graph", "Walk relations between items, in graph stores", a.neighboursCommand(), a.subgraphCommand(), a.similarCommand()), a.workCommand()}},
		{"Change", []*cobra.Command{a.retainCommand(), a.forgetCommand(), a.undoCommand(), a.copyCommand(), a.exportCommand(), a.createCommand(), a.repairCommand(), a.reindexCommand(), a.migrateCommand()}},
		{"Triage", []*cobra.Command{a.quarantineCommand(), a.conflictsCommand(), a.originCommand(), a.takebackCommand()}},
		{"Erasure and audit", []*cobra.Command{a.gdprCommand(), a.auditCommand()}},
		{"Agents and servers", []*cobra.Command{a.serveCommand(), a.mcpCommand(), a.turnCommand()}},
		{"The program", []*cobra.Command{a.demoCommand(), a.jobsCommand(), a.stateCommand(), a.configCommand(), a.infoCommand(), a.versionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
		}
		root.AddCommand(g.commands...)
		root.SetCompletionCommandGroupID(g.title) // the last one
	}
	root.AddCommand(a.manCommand())
	root.SetOut(a.out)
	root.InitDefaultCompletionCmd() // prints there; its arguments are checked as those of the others
	usageArgs(root)
	strictHelp(root)
	return root
}

// asks adds the flag --yes, without which confirm asks.
func (a *app) asks(c *cobra.Command) *cobra.Command { return a.asksUnless(c, "do not ask") }

// asksUnless is asks with another meaning of --yes.
func (a *app) asksUnless(c *cobra.Command, usage string) *cobra.Command {
	c.Flags().BoolVar(&a.flags.yes, "yes", false, usage)
	return outlives(c)
}

// outlives makes a command that changes something go on and record its outcome when nobody reads its output any more
// (`| head -1`): a SIGPIPE that is caught leaves only the error of the write.
func outlives(c *cobra.Command) *cobra.Command {
	c.PreRun = func(*cobra.Command, []string) { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
	return c
}

// asksWhy adds the flags --yes and --reason.
func (a *app) asksWhy(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: why")
	return a.asks(c)
}

// path makes a path that the operator typed absolute and expands ~.
func (a *app) path(name string) string { return backends.ExpandPath(name, a.Dir, a.Env) }

// confirm asks on the terminal, or demands --yes where there is none.
func (a *app) confirm(ctx context.Context, question string) error {
	if a.flags.yes {
		return nil
	}
	answer, err := a.askLine(ctx, question+" [y/N] ", usage("there is no terminal to ask on: %s Give --yes if so", question))
	if err != nil {
		return err
	}
	if s := strings.ToLower(answer); s != "y" && s != "yes" {
		return &exitError{exitRefused, errors.New("not done: the answer was not yes")}
	}
	return nil
}

// agree refuses an act that is not allowed, then asks. A refusal is recorded for each item, for the store without one.
func (a *app) agree(ctx context.Context, act operator.Act, store, question string, items ...model.Ref) error {
	s, err := a.base()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		items = []model.Ref{{Store: store}}
	}
	for _, ref := range items {
		err = cmp.Or(err, s.Allow(ctx, act, ref.Store, ref.ID)) // each is recorded
	}
	if err != nil {
		return err
	}
	return a.confirm(ctx, question)
}

// askLine reads one line from the terminal; unasked is the error where there is none.
func (a *app) askLine(ctx context.Context, question string, unasked error) (string, error) {
	if !a.Terminal(a.Stdin) || !a.Terminal(a.Stderr) {
		return "", unasked
	}
	_, _ = io.WriteString(a.Stderr, a.text.Line(question).String())
	answer, err := interruptible(ctx, func() (string, error) {
		s, err := bufio.NewReader(a.Stdin).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return s, err
	})
	return strings.TrimSpace(answer), err
}

// maxInput is the largest document that retain takes from a file or a pipe.
const maxInput = 64 << 20

// readInput reads a file, or standard input for "-", up to maxInput.
func (a *app) readInput(ctx context.Context, name string) (string, error) {
	if name == "" && a.Terminal(a.Stdin) {
		return "", usage("no content: give a FILE, or - and type it")
	}
	b, err := interruptible(ctx, func() ([]byte, error) {
		in := a.Stdin
		if name != "" && name != "-" {
			f, err := os.Open(a.path(name))
			if err != nil {
				return nil, usage("%v", err)
			}
			defer f.Close()
			in = f
		}
		return io.ReadAll(io.LimitReader(in, maxInput+1))
	})
	if err != nil {
		return "", err
	}
	if len(b) > maxInput {
		return "", usage("the input is larger than %d bytes; nothing was written", maxInput)
	}
	return string(b), nil
}

// NewProgram is the program of this process: its arguments, streams, environment,
// directory and user, over the kinds of a registry. A program with kinds of its own
// registers them beside backends.Builtin and runs this.
func NewProgram(kinds *backends.Registry) Program {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	dir, _ := os.Getwd() // empty when it is gone: only relative locations need it
	return Program{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: os.Getenv, Dir: dir, Clock: clock.System{}, Version: "dev", Kinds: kinds,
		Terminal: func(stream any) bool {
			f, ok := stream.(*os.File)
			return ok && term.IsTerminal(int(f.Fd()))
		},
		Columns: func() int {
			width, _, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0
			}
			return width
		},
		User: name, TTY: ttyName(),
	}
}

// ttyName names the terminal for the audit log of an unauthenticated operator.
func ttyName() string {
	if p, err := os.Readlink("/proc/self/fd/0"); err == nil && term.IsTerminal(0) {
		return strings.TrimPrefix(p, "/dev/")
	}
	return strings.TrimPrefix(os.Getenv("SSH_TTY"), "/dev/")
}
