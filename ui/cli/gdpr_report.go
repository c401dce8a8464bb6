package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/atomicfile"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) gdprReportCommand() *cobra.Command {
	out, all := "", false
	c := &cobra.Command{
		Use: "report REQUEST [--out FILE]", Short: "How far a request has come: what is done, what is left and what to do",
		Long: "Of what is not complete there is no receipt, but this report: the last run's verdict of every store and layer,\n" +
			"what is left with the reason, what to do about it, and until when backups may hold the person. It names nobody\n" +
			"and is not signed. With --out the whole as a file: JSON, or a page to read and print when FILE ends in .md.",
		RunE: a.onRequest("", func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
			rep, err := d.StatusReport(ctx, r.ID)
			if err != nil {
				return err
			}
			if out != "" {
				return a.saveReport(rep, out, all)
			}
			a.printReport(rep, all)
			return nil
		}),
	}
	c.Flags().StringVar(&out, "out", "", "the `FILE` to write")
	c.Flags().BoolVar(&all, "all", false, allLayers)
	return c
}

func (a *app) saveReport(rep receipt.Report, out string, all bool) error {
	file, err := rep.JSON()
	if strings.HasSuffix(strings.ToLower(out), ".md") {
		file, err = []byte(rep.Markdown(all)), nil
	}
	if err != nil {
		return err
	}
	if err := atomicfile.Write(a.path(out), file, 0o600); err != nil {
		return model.Errorf(model.Unavailable, "report", "%s cannot be written", filepath.Base(out))
	}
	a.result("report", reportFileRow{rep.Request, len(file)}, "%s: report written", rep.Request)
	return nil
}

type reportFileRow struct {
	Request string `json:"request"`
	Bytes   int    `json:"bytes"`
}

// leftRow is what is not done, and how to finish it.
type leftRow struct {
	Store   *string `json:"store"`
	Layer   *string `json:"layer"`
	Verdict *string `json:"verdict"`
	Reason  string  `json:"reason"`
	Do      string  `json:"do"`
}

type reportRow struct {
	Request   string  `json:"request"`
	Status    string  `json:"status"`
	Reason    *string `json:"reason"`
	PlanHash  *string `json:"plan_hash"`
	Deadline  string  `json:"deadline"`
	Due       string  `json:"due"`
	Begun     *string `json:"begun"`
	Forgotten int64   `json:"forgotten"`
	Redacted  int64   `json:"redacted"`
	Held      int64   `json:"held"`
	Left      int     `json:"left"`
}

func (a *app) printReport(rep receipt.Report, all bool) {
	a.printLayers(rep.Layers, all)
	for _, s := range rep.Stores {
		a.result("store", s,
			"%s: %d forgotten, %d redacted, %d on hold, %s scrubbed", s.Store, s.Forgotten, s.Redacted, s.Held, plural(s.Rows, "row"))
	}
	a.printBackups(rep.Backups)
	for _, e := range rep.Exports { // for people it is among what is left, with the next step
		a.emit("export", e)
	}
	for _, l := range rep.Left {
		at := l.Store
		if l.Layer != "" {
			at += ": " + l.Layer
		}
		if l.Layer != "" && l.Verdict != "" {
			at += " (" + string(l.Verdict) + ")"
		}
		a.result("left", leftRow{nilIfEmpty(l.Store), nilIfEmpty(l.Layer), nilIfEmpty(string(l.Verdict)), l.Reason, l.Do},
			"left: %s: %s", orDash(at), l.Reason)
		a.tellf("  to do: %s", l.Do)
	}
	a.result("summary", reportRow{Request: rep.Request, Status: rep.State, Reason: nilIfEmpty(rep.Reason), PlanHash: nilIfEmpty(rep.Plan), Deadline: rep.Deadline,
		Due: rep.Due, Begun: nilIfEmpty(rep.Begun), Forgotten: rep.Forgotten, Redacted: rep.Redacted, Held: rep.Held, Left: len(rep.Left)},
		"%s: %s; %d forgotten, %d redacted, %d on hold; deadline %s (%s)", rep.Request, rep.State, rep.Forgotten, rep.Redacted, rep.Held, rep.Deadline, rep.Due)
}

// backupRow is a backup that may still hold the person.
type backupRow struct {
	Store        string  `json:"store"`
	Where        *string `json:"where"`
	Until        *string `json:"until"` // null: not known
	RestoreGuard *string `json:"restore_guard"`
	Note         string  `json:"note"`
}

func (a *app) printBackups(all []receipt.Backup) {
	for _, b := range all {
		a.emit("backup", backupRow{b.Store, nilIfEmpty(b.Where), nilIfEmpty(b.Until), nilIfEmpty(b.Guard), b.Reason})
	}
	for _, b := range receipt.Folded(all) {
		if !a.flags.json {
			a.wrapf("backups of %s", b.String())
		}
	}
}

// personExportRow is an export for the person.
type personExportRow struct {
	Request string   `json:"request"`
	Items   int64    `json:"items"`
	Missing []string `json:"missing"`
}

func (a *app) gdprExportCommand() *cobra.Command {
	out, mark, n := "", "", 0
	c := &cobra.Command{
		Use: "export REQUEST (--out DIR | --mark handed_over|deleted [--export N])", Short: "Everything about the person, for the person (Art. 15, 20); a zip when DIR ends in .zip",
		Long: "Writes everything about the person for the person. An export is a copy that no erasure reaches: receipt, report\n" +
			"and status name it until --mark says that it was handed over or deleted.",
		RunE: a.onRequest(operator.Export, func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
			switch {
			case mark != "" && out != "":
				return usage("--mark is about an export that was made: leave --out out")
			case mark != "":
				return a.changed(d, r.ID, d.MarkExport(ctx, r.ID, n, mark))
			case out == "":
				return usage("--out is missing: which directory should be made")
			}
			if _, err := a.stores(ctx); err != nil {
				return err
			}
			n, missing, err := d.Export(ctx, r.ID, out)
			if err != nil {
				return err
			}
			a.sayEach(missing, "not in the export: %s")
			a.result("export", personExportRow{r.ID, n, list(missing)}, "%s: %s exported", r.ID, plural(n, "item"))
			return partialIf(len(missing) > 0)
		}),
	}
	c.Flags().StringVar(&out, "out", "", "the `DIR` to make, or a file ending in .zip")
	c.Flags().StringVar(&mark, "mark", "", "what became of an export: `handed_over|deleted`")
	c.Flags().IntVar(&n, "export", 0, "the `NUMBER` of the export that is marked (default: the only open one)")
	return outlives(c)
}

func (a *app) gdprApproveCommand() *cobra.Command {
	var hash, keyFile string
	c := a.requestCommand("approve REQUEST --plan-hash HASH [--key FILE]", "Sign the plan as a second operator",
		"Signs exactly the plan of this hash with an SSH key, from a file or from the agent. The requester's own key\n"+
			"is refused, under whatever name. The signature expires, and is void when anything in the plan changes.",
		operator.Approve, func(ctx context.Context, d *operator.Erasures, id string) error {
			if hash == "" {
				return usage("--plan-hash is missing: sign what you have seen, `memdesk gdpr plan %s` shows it", id)
			}
			if keyFile != "" {
				keyFile = a.path(keyFile)
			}
			return d.Approve(ctx, id, hash, keyFile, a.Env("SSH_AUTH_SOCK"))
		})
	c.Flags().StringVar(&hash, "plan-hash", "", "the `HASH` of the plan that you have seen, or at least its first 12 digits")
	c.Flags().StringVar(&keyFile, "key", "", "your private key `FILE` (default: the agent's)")
	return c
}

func (a *app) gdprSweepCommand() *cobra.Command {
	restored := ""
	c := &cobra.Command{
		Use: "sweep [--restored STORE]", Short: "Find erased persons who came back with a restore or a sync, and erase them again",
		RunE: a.onDesk(operator.Sweep, func(ctx context.Context, d *operator.Erasures, _ []string) error {
			if _, err := a.stores(ctx); err != nil {
				return err
			}
			ask := func(p gdpr.Plan) error {
				items, _ := p.Count()
				return a.confirm(ctx, plural(items, "item")+" of an erased person came back: erase again?")
			}
			if restored != "" {
				if _, err := a.openStore(restored); err != nil {
					return err
				}
			}
			swept, problems, err := d.Sweep(ctx, restored, ask)
			for _, w := range swept {
				a.result("swept", sweptRow{w.Of, w.Request, w.Items, w.Outcome.Status, w.Outcome.Reason},
					"%s  erased before under %s: %s, %s", w.Request, w.Of, plural(w.Items, "item"), cmp.Or(string(w.Outcome.Status), "not carried out"))
			}
			a.sayEach(problems, "%s")
			if err != nil {
				return err
			}
			if len(swept) == 0 && len(problems) == 0 {
				a.hintf("nobody came back")
			}
			retired, err := d.Retire(ctx)
			if retired > 0 {
				a.sayf("%s reduced to a line of the register: the time that [gdpr] keep_closed gives is over", plural(int64(retired), "closed request"))
			}
			if err != nil {
				return err
			}
			return partialIf(len(problems) > 0 || slices.ContainsFunc(swept, func(w gdpr.Swept) bool { return w.Outcome.Status != gdpr.StateComplete }))
		}),
	}
	c.Flags().StringVar(&restored, "restored", "", "after a restore: look through this `STORE` alone for who came back, erase them everywhere, and record that it was done")
	return a.asks(c)
}

// sweptRow is an erased person who came back and was erased again.
type sweptRow struct {
	Of      string     `json:"of"` // the request of the first erasure
	Request string     `json:"request"`
	Items   int64      `json:"items"`
	Status  gdpr.State `json:"status"`
	Reason  string     `json:"reason"`
}

// proposalRow is a name that a store ties to the person.
type proposalRow struct {
	Store string `json:"store"`
	Field string `json:"field"`
	Value string `json:"value"`
}

// propose prints aliases that the stores tie to the subject and the request lacks.
func (a *app) propose(ctx context.Context, in gdpr.Intake) error {
	s, err := a.open(ctx)
	if err != nil { // the request is filed nevertheless: its deadline runs
		a.sayf("no store was asked for names: %s", err)
		return nil
	}
	all, notes, err := gdpr.Propose(ctx, s.Fleet, in)
	if err != nil {
		return err
	}
	for _, p := range all {
		a.sayf("proposed: %s ties %q to this person (%s): if it is this person's and nobody else's, give it with --alias", p.Store, p.Value, p.Field)
		a.emit("proposal", proposalRow{p.Store, p.Field, p.Value})
	}
	a.sayEach(notes, "%s")
	return nil
}
