package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"memdesk/internal/statedir"
	"memdesk/ui/door"
	"memdesk/ui/sshd"
)

func (a *app) serveCommand() *cobra.Command {
	c := &cobra.Command{Use: "serve", Short: "Serve the console, or a store, to others"}
	c.PersistentFlags().StringVar(&a.flags.log, "log-format", logText, "`FORM` of what the server says on standard error: text, or json for a collector of logs")
	c.AddCommand(a.serveSSHCommand(), a.serveProviderCommand(), a.serveMCPCommand(), a.serveWitnessCommand(), a.serveMetricsCommand())
	return c
}

// sshFlags are the flags of serve ssh.
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
	c.Flags().IntVar(&f.sessions, "max-sessions", sshd.DefaultSessions, "how many consoles there are at a time")
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
	keys := func() ([]sshd.AuthorizedKey, error) { return sshd.ReadAuthorizedKeys(keysFile) }
	known, err := keys()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	// What is wrong with the configuration is said here, not to the first who comes.
	own, err := a.stores(ctx)
	if err != nil {
		return err
	}
	err = own.Close()
	own.Fleet = nil // every visitor has stores of its own
	if err != nil {
		return err
	}
	hostKey, err := a.hostKey(f.hostKey)
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
	// The file of the keys is read at every login: there is nothing to read again, and no reason to end.
	defer a.running(ctx)()
	return server.Serve(ctx, l)
}

func (a *app) hostKey(path string) (ssh.Signer, error) {
	if path != "" {
		return sshd.HostKey(a.path(path))
	}
	s, err := a.base()
	if err != nil {
		return nil, err
	}
	if s.State == "" {
		return nil, usage("%v; give --host-key FILE", statedir.ErrNoHome)
	}
	if err := statedir.Ensure(s.State); err != nil {
		return nil, err
	}
	return sshd.HostKey(filepath.Join(s.State, "ssh", "host_ed25519"))
}

// receive runs one visitor's console: stores, log and role are opened for this
// visitor alone, so that every change stands under the visitor's own name.
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

// visitorEnv is the server's environment, except for what speaks of a terminal or
// of who is at it: that is the visitor's.
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
