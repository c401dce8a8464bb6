package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/internal/safetext"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/door"
)

// recallFlags are a search, and what is asked of it beside its hits.
type recallFlags struct {
	req     model.RecallRequest
	filter  operator.ItemFilter
	origins bool
	explain string // an item, instead of the hits
	hook    bool   // for an agent's session, in at most bytes
	bytes   int
	format  string
}

func (a *app) recallCommand() *cobra.Command {
	var f recallFlags
	c := &cobra.Command{
		Use: "recall QUERY", Short: "Search as an agent would, in every store at once",
		Long: "Prints what an agent would be given, ranked over all stores, and what became of the question in each.\n" +
			"--subject, --type, --since, --until, --confidence and --archived pick among the hits of each store; so does --agent\n" +
			"where the store knows no agents. A store that knows no workspaces or crews refuses --workspace and --crew.\n" +
			"--explain says of one item which rule, tier, limit, quarantine or tokenizer kept it out, or why it is a hit.",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.hook {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.req.Query = strings.Join(args, " ")
			if err := f.check(cmd); err != nil {
				return err
			}
			switch {
			case f.hook:
				return a.recallHook(cmd.Context(), f.req.Query, f.bytes, f.format)
			case f.explain != "":
				f.req.AgentID = f.filter.Agent
				return a.explain(cmd.Context(), f.explain, f.req)
			}
			return a.recall(cmd.Context(), f)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.hook, "hook", false, "one fenced block for an agent's session hook; without QUERY the newest items")
	fl.IntVar(&f.bytes, "bytes", hookBytes, "with --hook: at most `N` bytes")
	fl.StringVar(&f.format, "format", hookText, "with --hook: the form, `text|claude`; claude is for Claude Code's SessionStart hook")
	fl.BoolVar(&f.origins, "origin", false, "also who wrote each hit last, as far as memdesk or its store knows")
	fl.StringVar(&f.explain, "explain", "", "instead of the hits, why this item (`REF`, or its id in the one --store) is one or not")
	a.filterFlags(fl, &f.filter)
	fl.StringVar(&f.req.Tier, "tier", "", "only this `TIER`")
	fl.IntVar(&f.req.Limit, "limit", 0, "at most `N` hits per store, 20 at the most")
	fl.StringVar(&f.req.WorkspaceID, "workspace", "", "only this `WORKSPACE`")
	fl.StringVar(&f.req.CrewID, "crew", "", "only this `CREW`")
	fl.StringVar(&f.filter.Agent, "agent", "", "only this `AGENT`'s memory; where a store knows no agents, what the agent owns or wrote")
	return c
}

// check refuses flags that do not go together.
func (f *recallFlags) check(cmd *cobra.Command) error {
	switch {
	case f.hook:
		return alone(cmd, "hook", "bytes", "format")
	case cmd.Flags().Changed("bytes") || cmd.Flags().Changed("format"):
		return usage("--bytes and --format go with --hook")
	case strings.TrimSpace(f.req.Query) == "":
		return usage("a query must not be blank")
	case f.explain != "":
		return alone(cmd, "explain", "tier", "limit", "workspace", "crew", "agent")
	}
	return f.filter.Check()
}

// recall prints the hits of all stores, then what became of the question in each.
func (a *app) recall(ctx context.Context, f recallFlags) error {
	s, err := a.base()
	if err != nil {
		return err
	}
	s.SearchOnly = f.req.Tier == "" && f.filter.IsZero()
	if s, err = a.stores(ctx); err != nil {
		return err
	}
	f.filter.Writers = s
	answers := s.Fleet.InOrder(ctx, s.Fleet.RecallBy(ctx, func(ctx context.Context, store model.Store) (model.RecallResult, error) {
		return f.filter.Recall(ctx, store, f.req)
	}))
	a.printHits(ctx, s, backends.Fuse(answers), f.origins)
	t := tally{app: a, asked: true, plain: f.req.Tier == "" && f.req.WorkspaceID == "" && f.req.CrewID == ""}
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
