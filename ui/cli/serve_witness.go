package cli

import (
	"context"
	"net"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"memdesk/audit/checkpoint"
	"memdesk/audit/witness"
	"memdesk/ui/door"
)

// witnessFlags are the flags of serve witness.
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
		Example: "memdesk serve witness --listen :7813 --state /var/lib/witness --log desk1.key",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serveWitness(cmd.Context(), f) },
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

// logKeys are the verifier keys in files.
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

// readLogKeys reads the keys again on each hang-up signal, until ctx ends. Keys that cannot be read
// change nothing: a witness only signs what continues what it has seen.
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
