package cli

import (
	"context"
	"path/filepath"
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
	a.result("report", row{"request": rep.Request, "bytes": len(file)}, "%s: report written", rep.Request)
	return nil
}

func (a *app) printReport(rep receipt.Report, all bool) {
	a.printLayers(rep.Layers, all)
	for _, s := range rep.Stores {
		a.tell(reportStore(s))
	}
	for _, b := range rep.Backups {
		a.tell(reportBackup(b))
	}
	for _, e := range rep.Exports {
		a.tell(reportExport(e))
	}
	for _, l := range rep.Left {
		a.tell(reportLeft(l))
	}
	a.tell(reportSummary(rep))
}

// What a report says beside its layers, a line or two each.
type (
	reportStore   receipt.Store
	reportBackup  receipt.Backup
	reportExport  receipt.Export
	reportLeft    receipt.Left
	reportSummary receipt.Report
)

func (reportStore) kind() string { return "store" }

func (s reportStore) fields() row {
	return row{"store": s.Store, "kind": s.Kind, "forgotten": s.Forgotten, "redacted": s.Redacted, "held": s.Held, "rows": s.Rows}
}

func (s reportStore) say(a *app) {
	a.linef("%s: %d forgotten, %d redacted, %d on hold, %s scrubbed", s.Store, s.Forgotten, s.Redacted, s.Held, plural(s.Rows, "row"))
}

func (reportBackup) kind() string { return "backup" }

func (b reportBackup) fields() row {
	return row{"store": b.Store, "where": nilIfEmpty(b.Where), "until": nilIfEmpty(b.Until), "restore_guard": nilIfEmpty(b.Guard), "note": b.Reason}
}

func (b reportBackup) say(a *app) { a.linef("backups of %s", receipt.Backup(b).String()) }

func (reportExport) kind() string { return "export" }

func (e reportExport) fields() row {
	return row{"n": e.N, "made": e.Made, "items": e.Items, "state": e.State}
}

func (reportExport) say(*app) {} // it is among what is left, with what there is to do

func (reportLeft) kind() string { return "left" }

func (l reportLeft) fields() row {
	return row{"store": nilIfEmpty(l.Store), "layer": nilIfEmpty(l.Layer), "verdict": nilIfEmpty(string(l.Verdict)), "reason": l.Reason, "do": l.Do}
}

func (l reportLeft) say(a *app) {
	at := l.Store
	if l.Layer != "" {
		at += ": " + l.Layer + " (" + string(l.Verdict) + ")"
	}
	a.linef("left: %s: %s", orDash(at), l.Reason)
	a.linef("  to do: %s", l.Do)
}

func (reportSummary) kind() string { return "summary" }

func (r reportSummary) fields() row {
	return row{"request": r.Request, "status": r.State, "reason": nilIfEmpty(r.Reason), "plan_hash": nilIfEmpty(r.Plan), "deadline": r.Deadline,
		"due": r.Due, "begun": nilIfEmpty(r.Begun), "forgotten": r.Forgotten, "redacted": r.Redacted, "held": r.Held, "left": len(r.Left)}
}

func (r reportSummary) say(a *app) {
	a.linef("%s: %s; %d forgotten, %d redacted, %d on hold; deadline %s (%s)", r.Request, r.State, r.Forgotten, r.Redacted, r.Held, r.Deadline, r.Due)
}
