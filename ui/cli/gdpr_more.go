package cli

import (
	"context"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/sshsig"
	"memdesk/operator"
)

func (a *app) gdprExportCommand() *cobra.Command {
	out, mark, n := "", "", 0
	c := &cobra.Command{
		Use: "export REQUEST (--out DIR | --mark handed_over|deleted [--export N])", Short: "Everything about the person, for the person (Art. 15, 20); a zip when DIR ends in .zip", Args: cobra.ExactArgs(1),
		Long: "Writes everything about the person for the person. An export is a copy that no erasure reaches: receipt, report\n" +
			"and status name it until --mark says that it was handed over or deleted.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if mark != "" {
				if out != "" {
					return usage("--mark is about an export that was made: leave --out out")
				}
				return a.changeRequest(cmd.Context(), operator.Export, args[0], func(d *operator.Erasures, id string) error { return d.MarkExport(cmd.Context(), id, n, mark) })
			}
			if out == "" {
				return usage("--out is missing: which directory should be made")
			}
			d, err := a.deskFor(cmd.Context(), operator.Export)
			if err != nil {
				return err
			}
			r, err := d.Get(args[0])
			if err != nil {
				return err
			}
			if _, err := a.stores(cmd.Context()); err != nil {
				return err
			}
			n, missing, err := d.Export(cmd.Context(), r.ID, out)
			if err != nil {
				return err
			}
			for _, m := range missing {
				a.sayf("not in the export: %s", m)
			}
			if a.flags.json {
				err = a.emit("export", row{"request": r.ID, "items": n, "missing": append([]string{}, missing...)})
			} else {
				a.linef("%s: %s exported", r.ID, plural(n, "item"))
			}
			if err == nil && len(missing) > 0 {
				err = &exitError{code: exitPartial}
			}
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "the `DIR` to make, or a file ending in .zip")
	c.Flags().StringVar(&mark, "mark", "", "what became of an export: handed_over or deleted")
	c.Flags().IntVar(&n, "export", 0, "the `NUMBER` of the export that is marked (default: the only open one)")
	return c
}

func (a *app) gdprApproveCommand() *cobra.Command {
	var hash, keyFile string
	c := &cobra.Command{
		Use: "approve REQUEST --plan-hash HASH [--key FILE]", Short: "Sign the plan as a second operator", Args: cobra.ExactArgs(1),
		Long: "Signs exactly the plan of this hash with an SSH key, from a file or from the agent. The requester's own key\n" +
			"is refused, under whatever name. The signature expires, and is void when anything in the plan changes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.deskFor(cmd.Context(), operator.Approve)
			if err != nil {
				return err
			}
			r, err := d.Get(args[0])
			if err != nil {
				return err
			}
			if hash == "" {
				return usage("--plan-hash is missing: sign what you have seen, `memdesk gdpr plan %s` shows it", r.ID)
			}
			if err := a.approve(cmd.Context(), d, r, hash, keyFile); err != nil {
				return err
			}
			if r, err = d.Get(r.ID); err != nil {
				return err
			}
			return a.printRequest(r)
		},
	}
	c.Flags().StringVar(&hash, "plan-hash", "", "the `HASH` of the plan that you have seen")
	c.Flags().StringVar(&keyFile, "key", "", "your private key `FILE` (default: the agent's)")
	return c
}

func (a *app) approve(ctx context.Context, d *operator.Erasures, r gdpr.Due, hash, keyFile string) error {
	if keyFile != "" {
		signer, err := sshsig.File(backends.ExpandPath(keyFile, a.Dir, a.Env))
		if err != nil {
			return err
		}
		return d.Approve(ctx, r.ID, hash, signer)
	}
	keys, conn, err := sshsig.Agent(a.Env("SSH_AUTH_SOCK"))
	if err != nil && d.BySession(&r.Request) {
		return d.ApproveHere(ctx, r.ID, hash)
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	signer := keys[0]
	for _, k := range keys { // an agent may hold the requester's key too
		if d.MayApprove(&r.Request, sshsig.Fingerprint(k.PublicKey())) {
			signer = k
			break
		}
	}
	return d.Approve(ctx, r.ID, hash, signer)
}

func (a *app) gdprSweepCommand() *cobra.Command {
	yes, restored := false, ""
	c := &cobra.Command{
		Use: "sweep [--restored STORE]", Short: "Find erased persons who came back with a restore or a sync, and erase them again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.deskFor(cmd.Context(), operator.Sweep)
			if err != nil {
				return err
			}
			if _, err := a.stores(cmd.Context()); err != nil {
				return err
			}
			ask := func(p gdpr.Plan) error {
				items, _ := p.Count()
				return a.confirm(cmd.Context(), yes, plural(items, "item")+" of an erased person came back: erase again?")
			}
			swept, problems, err := d.Sweep(cmd.Context(), restored, ask)
			for _, w := range swept {
				if perr := a.printSwept(w); perr != nil {
					return perr
				}
			}
			for _, p := range problems {
				a.sayf("%s", p)
			}
			if err != nil {
				return err
			}
			if len(swept) == 0 && len(problems) == 0 && !a.flags.json {
				a.sayf("nobody came back")
			}
			retired, err := d.Retire(cmd.Context())
			if retired > 0 {
				a.sayf("%s reduced to a line of the register: the time that [gdpr] keep_closed gives is over", plural(int64(retired), "closed request"))
			}
			if err != nil {
				return err
			}
			for _, w := range swept {
				if w.Outcome.Status != gdpr.StateComplete {
					return &exitError{code: exitPartial}
				}
			}
			if len(problems) > 0 {
				return &exitError{code: exitPartial}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().StringVar(&restored, "restored", "", "after a restore: look through this `STORE` alone for who came back, erase them everywhere, and record that it was done")
	return c
}

func (a *app) printSwept(w gdpr.Swept) error {
	if a.flags.json {
		return a.emit("swept", row{"of": w.Of, "request": w.Request, "items": w.Items, "status": w.Outcome.Status, "reason": w.Outcome.Reason})
	}
	a.linef("%s  erased before under %s: %s, %s", w.Request, w.Of, plural(w.Items, "item"), string(w.Outcome.Status))
	return nil
}

// propose shows the names that the stores tie to the person and that were not given.
func (a *app) propose(ctx context.Context, in gdpr.Intake) error {
	s, err := a.open(ctx)
	if err != nil { // the request is filed all the same: its deadline runs
		a.sayf("no store was asked for names: %s", err)
		return nil
	}
	all, notes, err := gdpr.Propose(ctx, s.Fleet, in)
	if err != nil {
		return err
	}
	for _, p := range all {
		a.sayf("proposed: %s ties %q to this person (%s): if it is this person's and nobody else's, give it with --alias", p.Store, p.Value, p.Field)
		if a.flags.json {
			if err := a.emit("proposal", row{"store": p.Store, "field": p.Field, "value": p.Value}); err != nil {
				return err
			}
		}
	}
	for _, n := range notes {
		a.sayf("%s", n)
	}
	return nil
}
