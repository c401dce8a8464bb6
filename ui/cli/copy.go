package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/transfer"
)

type copyFlags struct {
	from, to, tier  string
	maps            []string
	replace, dryRun bool
}

func (a *app) copyCommand() *cobra.Command {
	var f copyFlags
	c := &cobra.Command{
		Use: "copy --from STORE|DIR --to STORE", Short: "Copy content from one store, or an export, to another",
		Long: "Copies item by item, archived and bookkeeping items included, after saying which tier goes where and what\n" +
			"cannot be carried. What stands in the destination already is left alone unless --replace is given. A copy that\n" +
			"was stopped is taken up by the same command: what was copied and still stands there is not copied again.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.copy(cmd.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.from, "from", "", "the `STORE` to copy from, or the directory of an export, written with a / (./DIR)")
	fl.StringVar(&f.to, "to", "", "the `STORE` to copy to")
	fl.StringVar(&f.tier, "tier", "", "only this `TIER` of the source")
	fl.StringArrayVar(&f.maps, "map", nil, "put a tier's items into another: `FROM=TO`, * for every tier that the destination has not (repeatable)")
	fl.BoolVar(&f.replace, "replace", false, "replace what stands there already and differs; it is kept for undo")
	fl.BoolVar(&f.dryRun, "dry-run", false, "read both stores and say what would become of each item; write nothing")
	return a.asksWhy(c)
}

func (a *app) copy(ctx context.Context, f copyFlags) error {
	if f.from == "" || f.to == "" {
		return usage("say from which store to which: --from STORE --to STORE")
	}
	plan, s, err := a.copyPlan(ctx, f)
	if transfer.IsExport(f.from) {
		defer func() { _ = plan.From.Close() }() // it was only read
	}
	if err != nil {
		return err
	}
	a.sayEach(plan.Words(), "%s")
	if !plan.Carries() {
		return usage("no tier of store %s goes anywhere: map one with --map FROM=TO", f.from)
	}
	if !f.dryRun {
		if err := a.agree(ctx, operator.Copy, f.to, a.text.Sprintf("copy from store %s to store %s?", f.from, f.to).String()); err != nil {
			return err
		}
	}
	return a.withJobs(ctx, func(r *jobs.Runner) error { return a.runCopy(ctx, r, s, plan, f) })
}

func (a *app) copyPlan(ctx context.Context, f copyFlags) (transfer.Plan, *operator.Session, error) {
	o := transfer.Options{Tier: f.tier, Replace: f.replace, Map: map[string]string{}}
	for _, m := range f.maps {
		from, to, ok := strings.Cut(m, "=")
		if !ok || from == "" || to == "" {
			return transfer.Plan{}, nil, usage("--map %q: write FROM=TO", m)
		}
		o.Map[from] = to
	}
	if !transfer.IsExport(f.from) {
		a.need(f.from)
	}
	s, to, err := a.named(ctx, f.to)
	if err != nil {
		return transfer.Plan{}, nil, err
	}
	var from model.Store
	if transfer.IsExport(f.from) {
		from, err = transfer.OpenExport(a.path(f.from))
	} else {
		from, err = a.openStore(f.from)
	}
	if err != nil {
		return transfer.Plan{}, nil, err
	}
	plan, err := transfer.NewPlan(from, to, o)
	plan.From = from
	return plan, s, err
}

func (a *app) exportCommand() *cobra.Command {
	out := ""
	c := &cobra.Command{
		Use: "export STORE --out DIR", Short: "Write a whole store into a directory that copy --from reads again",
		Long: "Writes every item, archived and bookkeeping items included, with its fields, times and vector: store.json\n" +
			"says what it is, items.jsonl holds one item a line. DIR must not exist. Not exported: version history,\n" +
			"quarantine entries, the agent's own log. The export is recorded, because no erasure reaches it: delete it yourself.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.export(cmd.Context(), args[0], out) },
	}
	c.Flags().StringVar(&out, "out", "", "the new directory: `DIR`")
	c.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: why")
	return c
}

func (a *app) export(ctx context.Context, store, out string) error {
	if out == "" {
		return usage("say where to: --out DIR")
	}
	s, _, err := a.named(ctx, store)
	if err != nil {
		return err
	}
	told, end := a.progress()
	dir := a.path(out)
	m, err := s.ExportStore(ctx, store, dir, a.flags.reason, func(done, total int64) {
		told(a.text.Sprintf("%d of %s written", done, plural(max(done, total), "item")).String())
	})
	end()
	if err != nil {
		return err
	}
	tab := a.table("DIRECTORY", "ITEMS", "SHA256")
	tab.put("export", storeExportRow{store, dir, m.Items, m.SHA256, m.Problems})
	tab.flush()
	for _, p := range m.Problems {
		a.errorf("%s: not exported: %s", store, p)
	}
	return partialIf(len(m.Problems) > 0)
}

type storeExportRow struct {
	Store    string   `json:"store"`
	Dir      string   `json:"dir" col:"DIRECTORY"`
	Items    int64    `json:"items"`
	SHA256   string   `json:"sha256"`
	Problems []string `json:"problems"`
}

// copiedRow counts the outcomes of a copy.
type copiedRow struct {
	Copied  int64   `json:"copied"`
	Skipped int64   `json:"skipped"`
	Failed  int64   `json:"failed"`
	Left    int64   `json:"left"`
	Job     jobs.ID `json:"job"` // empty for a dry run, which is none
	DryRun  bool    `json:"dry_run"`
}

type copyRow struct {
	ID      string          `json:"id"`
	Item    string          `json:"-" col:"ITEM"`
	To      string          `json:"to"`
	Outcome transfer.Result `json:"outcome" col:"RESULT"`
	Reason  string          `json:"reason" col:"WHY"`
}

// runCopy runs the plan as a job, or tries it, and shows its progress.
func (a *app) runCopy(ctx context.Context, r *jobs.Runner, s *operator.Session, plan transfer.Plan, f copyFlags) (err error) {
	tab := a.table("RESULT", "ITEM", "WHY")
	told, end := a.progress()
	takenUp, words := "taking up job %s, %s done before", "copied %d, skipped %d, failed %d, left behind %d"
	if f.dryRun {
		takenUp = "the copy would take up job %s, %s done before"
		words = "would be " + words + "; what the destination's own checks refuse (scanner, cap, form) fails only at the write"
	}
	copying := operator.Copying{To: f.to, Title: f.from + " to " + f.to, Options: copyOptions(f), Reason: a.flags.reason, Item: tab.outcome,
		TakenUp: func(st jobs.Status) { a.sayf(takenUp, string(st.ID), plural(int64(st.Steps), "step")) },
		Status:  func(st jobs.Status) { told(progress(st)) }}
	var done operator.Copied
	if f.dryRun {
		done.Summary, err = s.TryCopy(ctx, r, plan, copying)
	} else {
		done, err = s.Copy(ctx, r, plan, copying)
	}
	end()
	if err != nil {
		return err
	}
	tab.flush()
	a.result("summary", copiedRow{done.Copied, done.Skipped, done.Failed, done.Left, done.Job, f.dryRun}, words, done.Copied, done.Skipped, done.Failed, done.Left)
	switch {
	case f.dryRun:
		return partialIf(done.Failed+done.Left > 0)
	case done.End.State == jobs.Cancelled: // before the failed ones: nobody has looked at the others
		return &exitError{exitPartial, model.Errorf(model.Timeout, "", "stopped after %d of %s; the same command takes it up again", done.End.Done, plural(max(done.End.Done, done.End.Total), "item"))}
	case done.End.Err != nil && done.Copied > 0:
		return &exitError{exitPartial, done.End.Err}
	case done.End.Err != nil:
		return done.End.Err
	case done.Failed > 0:
		return notCopied(done.Summary)
	case done.Left > 0:
		return &exitError{exitPartial, model.E(model.Unsupported, "", errors.New("some tiers go nowhere, and their items were left; --map FROM=TO gives a tier a place"))}
	}
	return nil
}

// notCopied is the error of a copy with failed items: of the kind of one of them, and retryable where the same
// command may do better.
func notCopied(done transfer.Summary) error {
	kind, again := kindOf(done.Err)
	code, words := exitPartial, "not everything was copied"
	if done.Copied+done.Skipped == 0 {
		code, words = exitFailed, "nothing was copied"
	}
	if again {
		words += "; the same command takes up what failed"
	} else {
		words += "; mend the reasons that are printed, and the same command takes up what failed"
	}
	return &exitError{code, &model.Error{Kind: cmp.Or(kind, model.Internal), Retryable: again, Err: errors.New(words)}}
}

// copyOptions are the options by which two copies between the same stores are two jobs.
func copyOptions(f copyFlags) string {
	out := slices.Clone(f.maps)
	if f.tier != "" {
		out = append([]string{"tier " + f.tier}, out...)
	}
	if f.replace {
		out = append(out, "replacing")
	}
	return strings.Join(out, ", ")
}

// outcome prints the outcome of one item: of every item with --json, else where there is a reason.
func (t *table) outcome(x transfer.Outcome) {
	if t.a.flags.json || x.Reason != "" {
		t.put("item", copyRow{model.EncodeID(x.ID), x.ID, model.EncodeID(x.To), x.Result, x.Reason})
	}
	if len(t.rows) >= 100 {
		t.page()
	}
}
