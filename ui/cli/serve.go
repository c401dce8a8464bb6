package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"
	"golang.org/x/mod/sumdb/note"

	"memdesk/audit/checkpoint"
	"memdesk/audit/witness"
	"memdesk/internal/bearer"
	"memdesk/internal/statedir"
	"memdesk/operator/metrics"
	"memdesk/ui/door"
	"memdesk/ui/sshd"
)

func (a *app) serveCommand() *cobra.Command {
	c := &cobra.Command{Use: "serve", Short: "Serve the console, or a store, to others"}
	c.PersistentFlags().StringVar(&a.flags.log, "log-format", logText, "`FORM` of what the server says on standard error: text, or json for a collector of logs")
	c.AddCommand(a.serveSSHCommand(), a.serveProviderCommand(), a.serveMCPCommand(), a.serveWitnessCommand(), a.serveMetricsCommand())
	return c
}

type sshFlags struct {
	listen, keys, hostKey string
	sessions              int
}

func (a *app) serveSSHCommand() *cobra.Command {
	var f sshFlags
	c := &cobra.Command{
		Use: "ssh", Short: "Serve the console over SSH: public keys only, no shell, no forwarding",
		Long: "Serves the console to whoever has a key in --authorized-keys, a file as sshd(8) has it. The audit log\n" +
			"names the key's fingerprint, or the name that [operator] names gives it. A key whose line begins with\n" +
			"environment=\"MEMDESK_ROLE=readonly\" may look and not change anything. The file is read at every login.\n" +
			"Nothing else is served: no shell, no command, no file transfer, no forwarding.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveSSH(cmd.Context(), f) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:2222", "`ADDRESS` to listen on; without a host it is this machine only")
	c.Flags().StringVar(&f.keys, "authorized-keys", "", "`FILE` with the public keys that may come in (required)")
	c.Flags().StringVar(&f.hostKey, "host-key", "", "`FILE` with the server's private key (default: in the state directory, made at the first start)")
	c.Flags().IntVar(&f.sessions, "max-sessions", sshd.DefaultSessions, "at most `N` consoles at a time")
	return c
}

func (a *app) serveSSH(ctx context.Context, f sshFlags) error {
	if f.keys == "" {
		return usage("say who may come in: --authorized-keys FILE")
	}
	if f.sessions < 1 {
		return usage("--max-sessions must be 1 or more")
	}
	keysFile := a.path(f.keys)
	keys := func() ([]sshd.AuthorizedKey, error) {
		known, err := sshd.ReadAuthorizedKeys(keysFile)
		if err != nil {
			err = fmt.Errorf("%s: %w", keysFile, err)
		}
		return known, err
	}
	known, err := keys()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	// Errors of the configuration are printed now, not to the first visitor.
	own, err := a.stores(ctx)
	if err != nil {
		return err
	}
	err = own.Close()
	own.Fleet = nil // every visitor has stores of its own
	if err != nil {
		return err
	}
	if err := checkConsole(&own.Config); err != nil {
		return err
	}
	hostKey, err := a.hostKey(own.State, f.hostKey)
	if err != nil {
		return err
	}
	a.behind = &background{ctx: ctx}
	defer a.behind.wg.Wait()
	server, err := sshd.New(sshd.Options{
		HostKey: hostKey, Keys: keys, Sessions: f.sessions, Console: a.receive,
		Log: a.logf,
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", door.LocalAddress(f.listen))
	if err != nil {
		return usage("cannot listen: %v", err)
	}
	a.sayf("serving the console on %s to %s; host key %s", l.Addr(), plural(int64(len(known)), "key"), ssh.FingerprintSHA256(hostKey.PublicKey()))
	if host, _, err := net.SplitHostPort(l.Addr().String()); err == nil && !net.ParseIP(host).IsLoopback() {
		a.sayf("this address can be reached from other machines")
	}
	// Every login reads the file of keys, so SIGHUP has nothing to do.
	defer a.running(ctx)()
	return server.Serve(ctx, l)
}

func (a *app) hostKey(state, path string) (ssh.Signer, error) {
	if path != "" {
		return sshd.HostKey(a.path(path))
	}
	if state == "" {
		return nil, usage("%v; give --host-key FILE", statedir.ErrNoHome)
	}
	if err := statedir.Ensure(state); err != nil {
		return nil, err
	}
	return sshd.HostKey(filepath.Join(state, "ssh", "host_ed25519"))
}

// receive runs one visitor's console. The visitor has a session of its own, so that the log records
// every change under the visitor's name.
func (a *app) receive(ctx context.Context, s sshd.Session) (err error) {
	v := &app{Program: a.Program, flags: a.flags, errw: io.Discard, visitor: &s, behind: a.behind}
	v.Stdin, v.Stdout, v.Stderr = s.Input, s.Output, io.Discard
	v.User, v.TTY = s.User, s.Name()
	v.Terminal = func(any) bool { return true }
	v.Env = visitorEnv(a.Env, s.Environ)
	v.text = escaper(v.Env)
	if v.flags.plain {
		v.text.ASCII = true
	}
	defer func() {
		if v.session != nil {
			err = errors.Join(err, v.session.Close())
		}
	}()
	return v.console(ctx)
}

// visitorEnv is the server's environment with the visitor's variables for terminal, locale and login.
func visitorEnv(env func(string) string, sent []string) func(string) string {
	return func(key string) string {
		theirs := slices.Contains([]string{"TERM", "LANG", "COLORTERM", "NO_COLOR", "SSH_USER_AUTH", "SSH_TTY"}, key) || strings.HasPrefix(key, "LC_")
		if !theirs {
			return env(key)
		}
		for _, kv := range sent {
			if v, ok := strings.CutPrefix(kv, key+"="); ok {
				return v
			}
		}
		return ""
	}
}

type witnessFlags struct {
	listen, state string
	logs          []string
	trust         bool
}

func (a *app) serveWitnessCommand() *cobra.Command {
	var f witnessFlags
	c := &cobra.Command{
		Use: "witness", Short: "Watch other desks' audit logs: cosign what continues, refuse what was rolled back",
		Long: "Keeps the newest checkpoint of each log that it knows and signs the next one only when it continues it\n" +
			"(c2sp.org/tlog-witness). It sees sizes and hashes, no record. Two desks can watch each other. It prints its\n" +
			"verifier key when it starts: the other desk's [[audit.anchor]] wants it.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveWitness(cmd.Context(), f) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7813", "`ADDRESS` to listen on; without a host it is this machine only")
	c.Flags().StringVar(&f.state, "state", "", "`DIR` for its key and what it has seen (required)")
	c.Flags().StringArrayVar(&f.logs, "log", nil, "`FILE` with the verifier key of a log, as `memdesk audit key` prints it (repeatable)")
	c.Flags().BoolVar(&f.trust, "trust-first", false, "take any log with the key that it shows the first time")
	return c
}

func (a *app) serveWitness(ctx context.Context, f witnessFlags) error {
	if f.state == "" {
		return usage("say where the witness keeps its state: --state DIR")
	}
	if len(f.logs) == 0 && !f.trust {
		return usage("say which logs it serves: --log FILE, or --trust-first")
	}
	known, err := a.logKeys(f.logs)
	if err != nil {
		return err
	}
	w, err := witness.Open(witness.Options{Dir: a.path(f.state), Logs: known, Trust: f.trust, Clock: a.Clock,
		Note: a.logf})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer w.Close()
	l, err := net.Listen("tcp", door.LocalAddress(f.listen))
	if err != nil {
		return usage("cannot listen: %v", err)
	}
	a.linef("%s", w.VerifierKey())
	if err := a.out.Flush(); err != nil {
		return err
	}
	a.sayf("watching %s on http://%s", plural(int64(len(known)), "log"), l.Addr())
	go a.readLogKeys(ctx, w, f.logs, door.Hangups(ctx))
	return a.serveUntil(ctx, l, w)
}

// logKeys reads verifier keys from files.
func (a *app) logKeys(files []string) (known []note.Verifier, err error) {
	for _, name := range files {
		b, err := os.ReadFile(a.path(name))
		if err != nil {
			return nil, usage("%v", err)
		}
		some, err := checkpoint.Verifiers(b)
		if err != nil {
			return nil, usage("%s: %v", name, err)
		}
		known = append(known, some...)
	}
	return known, nil
}

// readLogKeys reads the keys again on each hang-up signal, until ctx ends. An unreadable file changes
// nothing, because a witness signs only what continues a log that it has seen.
func (a *app) readLogKeys(ctx context.Context, w *witness.Witness, files []string, hangup <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		}
		known, err := a.logKeys(files)
		if err != nil {
			a.logf("the keys of the logs are as they were: %v", err)
			continue
		}
		w.Know(known)
		a.logf("read the keys again: %s", plural(int64(len(known)), "log"))
	}
}

func (a *app) serveMetricsCommand() *cobra.Command {
	var f providerFlags
	every := 15 * time.Second
	c := &cobra.Command{
		Use: "metrics", Short: "Serve metrics of the stores, the requests and the log to Prometheus",
		Long: "Serves at /metrics, in Prometheus' text form, how the stores are, what they hold, what waits for an operator,\n" +
			"how long the audit log is and how old its anchors, and what doors were asked. No label names an item, a person or\n" +
			"a caller. Values are of the last look; memdesk_look_timestamp_seconds says when each part was looked at.\n" +
			"Tokens are lines \"NAME TOKEN [SCOPE,…]\" as of serve provider; a token needs the scope memory:health.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMetrics(cmd.Context(), f, every) },
	}
	f.flags(c, "127.0.0.1:7814", "`ADDRESS` to listen on; without a host it is this machine only")
	c.Flags().DurationVar(&every, "every", every, "`PAUSE` between two looks; one that takes longer is followed by a pause as long as itself")
	return c
}

func (a *app) serveMetrics(ctx context.Context, f providerFlags, every time.Duration) error {
	if every <= 0 {
		return usage("--every must be more than 0")
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	calls := ""
	if s.State != "" {
		calls = filepath.Join(s.State, filepath.FromSlash(door.CallsFile))
	}
	m := metrics.New(s, a.Clock, calls)
	looking, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	return a.serveGuests(ctx, s, f, false, func(g *door.Guests, scheme string, at net.Addr) http.Handler {
		wg.Go(func() { m.Run(looking, every) })
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", door.Only(g.Door, bearer.ScopeHealth, m.Handler()))
		a.sayf("serving metrics of %s on %s://%s/metrics to %s from %s", plural(int64(len(s.Fleet.Members())), "store"), scheme, at, g.Tokens(), g.File)
		return mux
	})
}
