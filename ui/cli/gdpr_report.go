package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

func (a *app) gdprReportCommand() *cobra.Command {
	out, all := "", false
	c := &cobra.Command{
		Use: "report REQUEST [--out FILE]", Short: "How far a request has come: what is done, what is left and what to do", Args: cobra.ExactArgs(1),
		Long: "Of what is not complete there is no receipt, but this report: the last run's verdict of every store and layer,\n" +
			"what is left with the reason, what to do about it, and until when backups may hold the person. It names nobody\n" +
			"and is not signed. With --out the whole as a file: JSON, or a page to read and print when FILE ends in .md.",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.desk()
			if err != nil {
				return err
			}
			r, err := d.Get(args[0])
			if err != nil {
				return err
			}
			rep, err := d.StatusReport(cmd.Context(), r.ID)
			if err != nil {
				return err
			}
			if out != "" {
				return a.saveReport(rep, out, all)
			}
			return a.printReport(rep, all)
		},
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
	if err := atomicfile.Write(backends.ExpandPath(out, a.Dir, a.Env), file, 0o600); err != nil {
		return model.Errorf(model.Unavailable, "report", "%s cannot be written", filepath.Base(out))
	}
	if a.flags.json {
		return a.emit("report", row{"request": rep.Request, "bytes": len(file)})
	}
	a.linef("%s: report written", rep.Request)
	return nil
}

func (a *app) printReport(rep receipt.Report, all bool) error {
	if err := a.printLayers(rep.Layers, all); err != nil {
		return err
	}
	for _, s := range rep.Stores {
		if a.flags.json {
			if err := a.emit("store", row{"store": s.Store, "kind": s.Kind, "forgotten": s.Forgotten, "redacted": s.Redacted, "held": s.Held, "rows": s.Rows}); err != nil {
				return err
			}
			continue
		}
		a.linef("%s: %d forgotten, %d redacted, %d on hold, %s scrubbed", s.Store, s.Forgotten, s.Redacted, s.Held, plural(s.Rows, "row"))
	}
	for _, b := range rep.Backups {
		if a.flags.json {
			if err := a.emit("backup", row{"store": b.Store, "until": nilIfEmpty(b.Until), "note": b.Reason}); err != nil {
				return err
			}
			continue
		}
		a.linef("backups of %s", b.String())
	}
	for _, e := range rep.Exports {
		if a.flags.json {
			if err := a.emit("export", row{"n": e.N, "made": e.Made, "items": e.Items, "state": e.State}); err != nil {
				return err
			}
		}
	}
	for _, l := range rep.Left {
		if a.flags.json {
			if err := a.emit("left", row{"store": nilIfEmpty(l.Store), "layer": nilIfEmpty(l.Layer), "verdict": nilIfEmpty(string(l.Verdict)), "reason": l.Reason, "do": l.Do}); err != nil {
				return err
			}
			continue
		}
		at := l.Store
		if l.Layer != "" {
			at += ": " + l.Layer + " (" + string(l.Verdict) + ")"
		}
		a.linef("left: %s: %s", orDash(at), l.Reason)
		a.linef("  to do: %s", l.Do)
	}
	if a.flags.json {
		return a.emit("summary", row{"request": rep.Request, "status": rep.State, "reason": nilIfEmpty(rep.Reason), "plan_hash": nilIfEmpty(rep.Plan), "deadline": rep.Deadline,
			"due": rep.Due, "begun": nilIfEmpty(rep.Begun), "forgotten": rep.Forgotten, "redacted": rep.Redacted, "held": rep.Held, "left": len(rep.Left)})
	}
	a.linef("%s: %s; %d forgotten, %d redacted, %d on hold; deadline %s (%s)", rep.Request, rep.State, rep.Forgotten, rep.Redacted, rep.Held, rep.Deadline, rep.Due)
	return nil
}
