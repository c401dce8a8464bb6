package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/internal/atomicfile"
	"memdesk/internal/bearer"
	"memdesk/internal/safetext"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/door"
)

// hookBytes is the usual size of a hook's block.
const hookBytes = 4096

// The formats of a hook (agents-door.md AD27).
const (
	hookText   = "text"
	hookClaude = "claude"
)

// hook gives one fenced block for an agent; empty when there is nothing to give.
func (a *app) hook(ctx context.Context, query string, limit int) (string, error) {
	s, err := a.stores(ctx)
	if err != nil {
		return "", err
	}
	if s.Ledger == nil {
		return "", statedir.ErrNoHome
	}
	d := mcpFlags{face: door.Tools}.settings(a).Of(s, bearer.Caller{Name: s.Who.ID})
	w := s.Writer()
	w.Face = "hook"
	block, problems, err := d.Hook(ctx, query, limit, w)
	for _, p := range problems {
		a.sayf("%s", p)
	}
	return block, err
}

func (a *app) recallHook(ctx context.Context, query string, limit int, format string) error {
	switch {
	case format != hookText && format != hookClaude:
		return usage("--format is %s or %s", hookText, hookClaude)
	case limit < 200:
		return usage("--bytes must be 200 or more")
	}
	block, err := a.hook(ctx, query, limit)
	if err != nil || block == "" {
		return err
	}
	if format == hookClaude {
		return safetext.NewJSONWriter(a.out).Write(map[string]any{"hookSpecificOutput": map[string]any{
			"hookEventName": "SessionStart", "additionalContext": block}})
	}
	_, err = a.out.WriteString(block + "\n")
	return err
}

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
	after.Flags().StringVar(&source, "source", "agent", "where the text comes from: CHANNEL[:DETAIL]")
	return group("turn", "Around an agent's run: recall before it, keep what it left after it", before, a.asks(after))
}

func (a *app) turnBefore(ctx context.Context, query, out string, limit int) error {
	if limit < 200 {
		return usage("--bytes must be 200 or more")
	}
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
	if err := a.confirm(ctx, a.text.Sprintf("append %d bytes to tier %s of store %s?", len(text), tier, store.Name).String()); err != nil {
		return err
	}
	w := s.Writer().WithSource(source)
	w.Face, w.Trust, w.Agent = "turn", origin.Untrusted, true
	done, err := s.Retain(audit.WithOrigin(origin.With(ctx, w), w.Line()), store.Name, req, "")
	if err != nil {
		return err
	}
	a.result("retained", row{"store": store.Name, "id": model.EncodeID(done.Item), "bytes": done.Bytes, "revision": done.Revision, "undo": nilIfEmpty(done.Undo)},
		"%s  %d bytes", model.Ref{Store: store.Name, ID: done.Item}.String(), done.Bytes)
	a.sayUndo(done)
	return nil
}
