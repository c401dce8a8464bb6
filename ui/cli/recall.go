package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/internal/atomicfile"
	"memdesk/internal/bearer"
	"memdesk/internal/safetext"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/ui/door"
)

func (a *app) recallCommand() *cobra.Command {
	var req model.RecallRequest
	hook, origins, limit, format := false, false, hookBytes, hookText
	explain := ""
	var filter operator.ItemFilter
	c := &cobra.Command{
		Use: "recall QUERY", Short: "Search as an agent would, in every store at once",
		Long: "Prints what an agent would be given, ranked over all stores, and what became of the question in each.\n" +
			"--subject, --type, --since, --until, --confidence and --archived pick among the hits of each store; so does --agent\n" +
			"where the store knows no agents. A store that knows no workspaces or crews refuses --workspace and --crew.\n" +
			"--explain says of one item which rule, tier, limit, quarantine or tokenizer kept it out, or why it is a hit.",
		Args: func(cmd *cobra.Command, args []string) error {
			if hook {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if hook {
				if err := alone(cmd, "hook", "bytes", "format"); err != nil {
					return err
				}
				return a.recallHook(cmd.Context(), strings.Join(args, " "), limit, format)
			}
			if cmd.Flags().Changed("bytes") || cmd.Flags().Changed("format") {
				return usage("--bytes and --format go with --hook")
			}
			req.Query = strings.Join(args, " ")
			if strings.TrimSpace(req.Query) == "" {
				return usage("a query must not be blank")
			}
			if explain != "" {
				if err := alone(cmd, "explain", "tier", "limit", "workspace", "crew", "agent"); err != nil {
					return err
				}
				req.AgentID = filter.Agent
				return a.explain(cmd.Context(), explain, req)
			}
			if err := filter.Check(); err != nil {
				return err
			}
			s, err := a.base()
			if err != nil {
				return err
			}
			s.SearchOnly = req.Tier == "" && filter.IsZero()
			if s, err = a.stores(cmd.Context()); err != nil {
				return err
			}
			filter.Writers = s
			answers := s.Fleet.InOrder(cmd.Context(), s.Fleet.RecallBy(cmd.Context(), func(ctx context.Context, store model.Store) (model.RecallResult, error) {
				return filter.Recall(ctx, store, req)
			}))
			a.printHits(cmd.Context(), s, backends.Fuse(answers), origins)
			t := tally{app: a, asked: true, plain: req.Tier == "" && req.WorkspaceID == "" && req.CrewID == ""}
			var without []string
			for _, ans := range answers {
				_, closed := s.Fleet.Store(ans.Store) // as in each
				t.asked = closed == nil
				t.add(ans.Err)
				a.printAnswer(ans)
				if nothing(ans) {
					without = append(without, ans.Store)
				}
			}
			if len(without) > 0 {
				a.hintf("no hit in %s: %s", plural(int64(len(without)), "store"), strings.Join(without, ", "))
			}
			return t.result()
		},
	}
	f := c.Flags()
	f.BoolVar(&hook, "hook", false, "one fenced block for an agent's session hook; without QUERY the newest items")
	f.IntVar(&limit, "bytes", hookBytes, "with --hook: at most `N` bytes")
	f.StringVar(&format, "format", hookText, "with --hook: `text|claude`; claude is for Claude Code's SessionStart hook")
	f.BoolVar(&origins, "origin", false, "also who wrote each hit last, as far as memdesk or its store knows")
	f.StringVar(&explain, "explain", "", "why this item (`REF`, or its id in the one --store) is a hit or is not, instead of the hits")
	a.filterFlags(f, &filter)
	f.StringVar(&req.Tier, "tier", "", "only this `TIER`")
	f.IntVar(&req.Limit, "limit", 0, "at most `N` hits per store, 20 at the most")
	f.StringVar(&req.WorkspaceID, "workspace", "", "only this `WORKSPACE`")
	f.StringVar(&req.CrewID, "crew", "", "only this `CREW`")
	f.StringVar(&filter.Agent, "agent", "", "only this `AGENT`'s memory; where a store knows no agents, what the agent owns or wrote")
	return c
}

type hitRow struct {
	snippetRow
	Rank    int               `json:"rank"`
	Meta    map[string]string `json:"meta"`
	Signals []string          `json:"signals"` // by which it looks planted
}

type writtenHitRow struct {
	hitRow
	writerRow
}

func (a *app) printHits(ctx context.Context, s *operator.Session, hits []backends.FusedHit, origins bool) {
	for _, h := range hits {
		r := hitRow{newSnippetRow(h.Store, h.RecallSnippet), h.Rank, model.Values(h.Meta), s.Planted(h.Snippet)}
		row, writer := any(r), writerRow{}
		if origins {
			store, _ := s.Fleet.Store(h.Store) // of one that has closed since the writer is unknown
			writer = newWriterRow(a.written(ctx, store, h.ID))
			row = writtenHitRow{r, writer}
		}
		if a.flags.json {
			a.emit("hit", row)
			continue
		}
		where := r.Ref
		if h.Line > 0 {
			where = a.text.Sprintf("%s:%d", where, h.Line).String()
		}
		a.linef("%s  %.2f", where, h.Score)
		if len(r.Signals) > 0 {
			a.linef("    looks planted: %s", strings.Join(r.Signals, ", "))
		}
		if origins {
			a.linef("    origin: %s", writer.Words)
		}
		for _, f := range h.Meta {
			a.linef("    %s: %s", f.Name, f.Value)
		}
		for _, line := range strings.Split(strings.TrimRight(h.Snippet, "\n"), "\n") {
			a.wrapf("    %s", line)
		}
	}
}

type answerRow struct {
	Store     string  `json:"store"`
	Error     *string `json:"error"`
	Total     *int64  `json:"total"` // null: unknown
	Bounded   bool    `json:"bounded"`
	BoundNote string  `json:"bound_note"`
	Hits      int     `json:"hits"`
	TookMS    float64 `json:"took_ms"`
}

// blockedRow is an item that agents do not get.
type blockedRow struct {
	Store  string `json:"store"`
	Source string `json:"source"`
}

// nothing reports a store that was searched to its end without a hit. One line names all of these.
func nothing(ans backends.Answer) bool {
	return ans.Err == nil && !ans.Result.Bounded && len(ans.Result.Hits) == 0
}

func (a *app) printAnswer(ans backends.Answer) {
	for _, q := range ans.Result.Quarantined {
		a.emit("quarantined", blockedRow{ans.Store, q})
		a.hintf("%s: %s is quarantined: agents do not get it", ans.Store, q)
	}
	a.emit("store", answerRow{ans.Store, errorValue(ans.Err), onlyIf(ans.Err == nil && ans.Result.Total != model.TotalUnknown, ans.Result.Total),
		ans.Result.Bounded, ans.Result.BoundNote, len(ans.Result.Hits), float64(ans.Took.Microseconds()) / 1000})
	switch {
	case a.flags.json, nothing(ans):
	case ans.Err != nil:
		a.failed(model.Ref{Store: ans.Store}, ans.Err)
	case ans.Result.Bounded:
		a.sayf("%s: %s; %s", ans.Store, plural(int64(len(ans.Result.Hits)), "hit"), ans.Result.BoundNote)
	case ans.Result.Total == model.TotalUnknown:
		a.sayf("%s: %s", ans.Store, plural(int64(len(ans.Result.Hits)), "hit"))
	default:
		a.sayf("%s: %s in %s", ans.Store, plural(int64(len(ans.Result.Hits)), "hit"), plural(ans.Result.Total, "item"))
	}
}

// checkRow is a rule that decides whether an item is a hit.
type checkRow struct {
	itemAt
	Rule    string           `json:"rule"`
	Verdict operator.Verdict `json:"verdict"`
	Word    string           `json:"-" col:"VERDICT"`
	Why     string           `json:"why"`
}

// explainedRow says whether an item is a hit.
type explainedRow struct {
	itemAt
	Hit       bool     `json:"hit"`
	Rank      *int     `json:"rank"`
	Score     *float64 `json:"score"`
	Hits      int      `json:"hits"`
	Total     *int64   `json:"total"` // null: unknown
	Bounded   bool     `json:"bounded"`
	BoundNote string   `json:"bound_note"`
}

// explain prints why a recall returns an item or not.
func (a *app) explain(ctx context.Context, text string, req model.RecallRequest) error {
	ref, err := model.ParseRef(text)
	if err != nil && len(a.flags.stores) == 1 { // the id alone
		ref.Store = a.flags.stores[0]
		ref.ID, err = model.DecodeID(text)
	}
	if err != nil {
		return err
	}
	s, store, ref, err := a.at(ctx, ref.String())
	if err != nil {
		return err
	}
	if err := store.CheckScope("recall", req.WorkspaceID, req.AgentID, req.CrewID); err != nil {
		return err
	}
	e, err := s.Explain(ctx, store, ref.ID, req)
	if err != nil {
		return err
	}
	tab := a.table("RULE", "VERDICT", "WHY")
	tab.whole = true
	for _, c := range e.Checks {
		tab.put("check", checkRow{newItemAt(store.Name, ref.ID), c.Rule, c.Verdict, strings.ReplaceAll(string(c.Verdict), "_", " "), c.Why})
	}
	tab.flush()
	r := explainedRow{itemAt: newItemAt(store.Name, ref.ID), Hit: e.Hit != nil, Hits: len(e.Answer.Hits),
		Total: onlyIf(e.Answer.Total != model.TotalUnknown, e.Answer.Total), Bounded: e.Answer.Bounded, BoundNote: e.Answer.BoundNote}
	word := "no hit"
	if e.Hit != nil {
		r.Rank, r.Score, word = &e.Rank, &e.Hit.Score, "a hit"
	}
	a.emit("explained", r)
	a.hintf("%s is %s", ref.String(), word)
	if e.Gone {
		return &exitError{code: exitNotFound}
	}
	return nil
}

// hookBytes is the usual size of a hook's block.
const hookBytes = 4096

// The formats of a hook (agents-door.md AD27).
const (
	hookText   = "text"
	hookClaude = "claude"
)

// hook makes one fenced block for an agent, empty where memory has nothing.
func (a *app) hook(ctx context.Context, query string, limit int) (string, error) {
	if limit < 200 {
		return "", usage("--bytes must be 200 or more")
	}
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
	a.sayEach(problems, "%s")
	return block, err
}

func (a *app) recallHook(ctx context.Context, query string, limit int, format string) error {
	if format != hookText && format != hookClaude {
		return usage("--format is %s or %s", hookText, hookClaude)
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
