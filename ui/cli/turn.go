package cli

import (
	"context"
	"memdesk/audit"
	"memdesk/internal/atomicfile"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) turnCommand() *cobra.Command {
	var query, out string
	limit := hookBytes
	before := &cobra.Command{
		Use: "before", Short: "Write what memory has on a question, fenced, for the run to read",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.turnBefore(cmd.Context(), query, out, limit) },
	}
	before.Flags().StringVar(&query, "query", "", "the run's `QUESTION`; without it the newest items")
	before.Flags().StringVar(&out, "out", "", "`FILE` to write, instead of standard output")
	before.Flags().IntVar(&limit, "bytes", hookBytes, "at most `N` bytes")
	var tier, key, source string
	after := &cobra.Command{
		Use: "after [FILE|-]", Short: "Retain what a run left, as an agent's text",
		Long: "Appends the text to the tier (and key) of the one open store, as an agent would: it is scanned, its origin is\n" +
			"noted as untrusted, and a text that needs a review waits in the quarantine (exit 6).",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.turnAfter(cmd.Context(), argument(args, 0), tier, key, source)
		},
	}
	after.Flags().StringVar(&tier, "tier", "", "the `TIER`")
	after.Flags().StringVar(&key, "key", "", "the `KEY` inside the tier")
	after.Flags().StringVar(&source, "source", "agent", "where the text comes from: `CHANNEL[:DETAIL]`")
	return group("turn", "Around an agent's run: recall before it, keep what it left after it", before, a.asks(after))
}

func (a *app) turnBefore(ctx context.Context, query, out string, limit int) error {
	block, err := a.hook(ctx, query, limit)
	if err != nil {
		return err
	}
	if block != "" {
		block += "\n"
	}
	if out == "" {
		_, err = a.out.WriteString(block)
		return err
	}
	return atomicfile.Write(a.path(out), []byte(block), os.FileMode(0o600))
}

func (a *app) turnAfter(ctx context.Context, file, tier, key, source string) error {
	if tier == "" {
		return usage("say where it goes: --tier TIER")
	}
	text, err := a.readInput(ctx, file)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		a.sayf("the run left nothing")
		return nil
	}
	req := model.RetainRequest{Tier: tier, Key: key, Content: text, Mode: model.Append}
	s, store, _, err := a.retainTarget(ctx, &req, nil)
	if err != nil {
		return err
	}
	if err := a.agree(ctx, operator.ActOf(req), store.Name, a.text.Sprintf("append %d bytes to tier %s of store %s?", len(text), tier, store.Name).String()); err != nil {
		return err
	}
	w := s.Writer().WithSource(source)
	w.Face, w.Trust, w.Agent = "turn", origin.Untrusted, true
	done, err := s.Retain(audit.WithOrigin(origin.With(ctx, w), w.Line()), store.Name, req, "")
	if err != nil {
		return err
	}
	a.result("retained", newRetainedRow(done),
		"%s  %d bytes", refOf(store.Name, done.Item), done.Bytes)
	a.sayUndo(done)
	return nil
}
