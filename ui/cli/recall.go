package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) recallCommand() *cobra.Command {
	var req model.RecallRequest
	hook, origins, limit, format := false, false, hookBytes, hookText
	explain := ""
	var pick itemFilterFlags
	c := &cobra.Command{
		Use: "recall QUERY", Short: "Search as an agent would, in every store at once",
		Long: "Prints what an agent would be given, ranked over all stores, and what became of the question in each.\n" +
			"--subject, --type, --since, --until, --confidence and --archived pick among the hits of each store.\n" +
			"--explain says of one item which rule, tier, limit, quarantine or tokenizer kept it out, or why it is a hit.",
		Example: strings.Join([]string{
			"memdesk recall \"tide tables\" --limit 5",
			"memdesk recall deploy --tier decision --since 2026-11-01",
			"memdesk recall \"deploy window\" --explain notes:memory/fix/gate.md",
		}, "\n"),
		Args: func(cmd *cobra.Command, args []string) error {
			if hook {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if hook {
				return a.recallHook(cmd.Context(), strings.Join(args, " "), limit, format)
			}
			req.Query = strings.Join(args, " ")
			if strings.TrimSpace(req.Query) == "" {
				return usage("a query must not be blank")
			}
			if explain != "" {
				return a.explain(cmd.Context(), explain, req)
			}
			filter, err := pick.filter()
			if err != nil {
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
			answers := a.ask(cmd.Context(), s, req)
			for i, ans := range answers {
				answers[i] = filter.Answer(cmd.Context(), storeOf(s, ans.Store), ans)
			}
			a.printHits(cmd.Context(), s, backends.Fuse(answers), origins)
			var t tally
			for _, ans := range answers {
				t.addAsked(ans.Err)
				a.printAnswer(ans)
			}
			return t.result()
		},
	}
	f := c.Flags()
	f.BoolVar(&hook, "hook", false, "one fenced block for an agent's session hook; without QUERY the newest items")
	f.IntVar(&limit, "bytes", hookBytes, "with --hook: at most `N` bytes")
	f.StringVar(&format, "format", hookText, "with --hook: text, or claude for Claude Code's SessionStart hook")
	f.BoolVar(&origins, "origin", false, "also who wrote each hit last, as far as memdesk or its store knows")
	f.StringVar(&explain, "explain", "", "why this item (`REF`, or its id in the one --store) is a hit or is not, instead of the hits")
	pick.add(f)
	f.StringVar(&req.Tier, "tier", "", "only this `TIER`")
	f.IntVar(&req.Limit, "limit", 0, "at most `N` hits per store, 20 at the most")
	f.StringVar(&req.WorkspaceID, "workspace", "", "only this `WORKSPACE`")
	f.StringVar(&req.CrewID, "crew", "", "only this `CREW`")
	f.StringVar(&req.AgentID, "agent", "", "only this `AGENT`")
	return c
}

// ask collects every answer in the fleet's order; a store that did not answer
// before the end is there with the reason.
func (a *app) ask(ctx context.Context, s *operator.Session, req model.RecallRequest) []backends.Answer {
	got := map[string]backends.Answer{}
	for ans := range s.Fleet.Recall(ctx, req) {
		got[ans.Store] = ans
	}
	var out []backends.Answer
	for _, m := range s.Fleet.Members() {
		ans, ok := got[m.Name]
		if !ok {
			ans = backends.Answer{Store: m.Name, Err: model.FromContext(ctx, "recall")}
		}
		out = append(out, ans)
	}
	return out
}

func (a *app) printHits(ctx context.Context, s *operator.Session, hits []backends.FusedHit, origins bool) {
	for _, h := range hits {
		planted := a.session.Planted(h.Snippet)
		if a.flags.json {
			r := row{"store": h.Store, "id": model.EncodeID(h.ID), "source": h.Source, "snippet": h.Snippet,
				"line": h.Line, "score": h.Score, "rank": h.Rank, "meta": fieldMap(h.Meta), "signals": planted}
			if origins {
				r["origin"] = originValue(a.written(ctx, storeOf(s, h.Store), h.ID))
			}
			a.emit("hit", r)
			continue
		}
		where := model.Ref{Store: h.Store, ID: h.ID}.String()
		if h.Line > 0 {
			where = a.text.Sprintf("%s:%d", where, h.Line).String()
		}
		a.linef("%s  %.2f", where, h.Score)
		if len(planted) > 0 {
			a.linef("    looks planted: %s", strings.Join(planted, ", "))
		}
		if origins {
			a.linef("    origin: %s", originWords(a.written(ctx, storeOf(s, h.Store), h.ID)))
		}
		for _, f := range h.Meta {
			a.linef("    %s: %s", f.Name, f.Value)
		}
		for _, line := range strings.Split(strings.TrimRight(h.Snippet, "\n"), "\n") {
			a.linef("    %s", line)
		}
	}
}

func (a *app) printAnswer(ans backends.Answer) {
	for _, q := range ans.Result.Quarantined {
		if a.flags.json {
			a.emit("quarantined", row{"store": ans.Store, "source": q})
		} else {
			a.sayf("%s: %s is quarantined: agents do not get it", ans.Store, q)
		}
	}
	if a.flags.json {
		r := row{"store": ans.Store, "error": nil, "total": ans.Result.Total, "bounded": ans.Result.Bounded,
			"bound_note": ans.Result.BoundNote, "hits": len(ans.Result.Hits), "took_ms": float64(ans.Took.Microseconds()) / 1000}
		if ans.Err != nil {
			r["error"], r["total"] = ans.Err.Error(), nil
		} else if ans.Result.Total == model.TotalUnknown {
			r["total"] = nil
		}
		a.emit("store", r)
		return
	}
	switch {
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

// storeOf is an open store; a name alone for one that has closed meanwhile.
func storeOf(s *operator.Session, name string) model.Store {
	if out, err := s.Fleet.Store(name); err == nil {
		return out
	}
	return model.Store{Name: name}
}
