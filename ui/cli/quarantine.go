package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/quarantine"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
)

func (a *app) quarantineCommand() *cobra.Command {
	show := &cobra.Command{
		Use: "show REF", Short: "One blocked item: every hit, where, and what it decodes to",
		RunE: a.onItem(a.showQuarantined),
	}
	show.Flags().BoolVar(&a.flags.raw, "raw", false, "the blocked content, unescaped, to a pipe or file: never feed it to a model")
	del := &cobra.Command{
		Use: "delete REF...", Short: "Remove entries from the quarantine (a live item is removed with forget)",
		RunE: a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
			if _, err := a.refs(args); err != nil {
				return err
			}
			if err := s.Allow(ctx, operator.Forget, "", ""); err != nil {
				return err
			}
			for _, text := range args {
				if err := a.checkFiled(ctx, text); err != nil {
					return err
				}
			}
			if err := a.confirm(ctx, "remove "+plural(int64(len(args)), "quarantine entry")+"? The live sources stay as they are."); err != nil {
				return err
			}
			return a.forgetAll(ctx, args, model.ForgetRequest{})
		}),
	}
	c := group("quarantine", "Review content that scanners blocked", a.releaseCommand(), a.listing(&cobra.Command{
		Use: "list", Short: "Filed entries, and live items that the scanner rejects",
		RunE: a.onStores(a.listQuarantine),
	}, true), show, a.asksWhy(del))
	c.AddCommand(a.signalCommands()...)
	return c
}

func (a *app) releaseCommand() *cobra.Command {
	match := ""
	c := &cobra.Command{
		Use: "release REF [FILE|-] --reason TEXT", Short: "Give agents a blocked item back: an edit that passes the scanner, with a reason",
		Long: "Writes the edited text over the live source and removes the filed entry. The text must pass the\n" +
			"scanner, since the next read would block it again. Without a FILE the source must be clean already.\n" +
			"What the edit replaces is kept for `memdesk undo`.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(a.flags.reason) == "" {
				return usage("a release needs --reason TEXT: why may agents have this")
			}
			var body *string
			if len(args) == 2 {
				text, err := a.readInput(cmd.Context(), args[1])
				if err != nil {
					return err
				}
				body = &text
			}
			s, store, ref, err := a.at(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.agree(cmd.Context(), operator.Release, store.Name, "release "+ref.String()+"? Agents get its source again.", ref); err != nil {
				return err
			}
			done, err := s.Release(cmd.Context(), store.Name, ref.ID, body, model.Revision(match), a.flags.reason)
			if err != nil && !model.IsPartial(err) { // a write that was made is printed, the rest is the error
				return err
			}
			source := model.Ref{Store: store.Name, ID: done.Item}
			a.result("released", releasedRow{newItemAt(store.Name, ref.ID), model.EncodeID(done.Item), done.Revision, done.Removed, nilIfEmpty(done.Undo)},
				"%s  released, %s removed", source.String(), plural(done.Removed, "entry"))
			a.sayUndo(done)
			return err
		},
	}
	c.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: why agents may have it (required)")
	c.Flags().StringVar(&match, "if-match", "", "only if the source is at this `REVISION`")
	return a.asks(c)
}

func (a *app) listQuarantine(ctx context.Context, s *operator.Session, _ []string) error {
	t := tally{app: a}
	tab, err := a.listed("REF", "SOURCE", "CATEGORY", "PATTERN", "AT", "LIVE", "NOTE", "EXCERPT")
	if err != nil {
		return err
	}
	tab.orSay("no blocked items")
	problems := 0
	if s.Judge != nil {
		if err := s.Judge.Problem(); err != nil {
			problems++
			a.failed(model.Ref{}, err)
		}
	}
	t.each(s.Fleet.Members(), func(store model.Store) error {
		for e, err := range review.List(ctx, store) {
			if err != nil {
				return err
			}
			if e.Problem != "" {
				problems++
			}
			if e.ID == "" {
				a.failed(model.Ref{Store: store.Name}, model.Errorf(model.Unavailable, "quarantine", "%s", e.Problem))
				continue
			}
			tab.put("quarantine", a.newEntryRow(e))
		}
		return nil
	})
	tab.partly(t.bad+t.refused+problems > 0)
	tab.flush()
	if err := t.result(); err != nil {
		return err
	}
	if problems > 0 {
		a.sayf("%s could not be read or verified", plural(int64(problems), "entry"))
		return &exitError{code: exitPartial}
	}
	return nil
}

type releasedRow struct {
	itemAt
	Source   string         `json:"source"`
	Revision model.Revision `json:"revision"`
	Removed  int64          `json:"removed"` // entries
	Undo     *string        `json:"undo"`
}

type entryRow struct {
	itemAt
	Source        string          `json:"source"`
	SourceID      *string         `json:"source_id"`
	Filed         bool            `json:"filed"` // false: only the live item was found
	Category      string          `json:"category"`
	Pattern       string          `json:"pattern"`
	SHA256        string          `json:"sha256"`
	Bytes         int64           `json:"bytes"`
	Line          int             `json:"line"`
	Col           int             `json:"col"`
	Excerpt       string          `json:"excerpt"`
	Cut           safetext.Text   `json:"-" col:"EXCERPT"`
	Match         string          `json:"match"`
	Decoded       string          `json:"decoded"`
	Live          *bool           `json:"live"` // the source would be blocked today; null: unknown, or there is none
	LiveWord      review.Liveness `json:"-" col:"LIVE"`
	QuarantinedAt stamp           `json:"quarantined_at" col:"AT"`
	Note          dashed          `json:"-" col:"NOTE"`
	Known         bool            `json:"known_false_positive"`
	KnownReason   string          `json:"false_positive_reason"`
	Problem       string          `json:"problem"`
}

// heldRow is a quarantined entry, whole.
type heldRow struct {
	entryRow
	Score    float64           `json:"score"`
	Signals  []signal.Signal   `json:"signals"`
	Findings []foundRow        `json:"findings"`
	Fields   map[string]string `json:"fields"`
	Body     string            `json:"body"`
}

// foundRow is a passage that a rule blocks.
type foundRow struct {
	Category string `json:"category"`
	Pattern  string `json:"pattern"`
	Stage    string `json:"stage"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Match    string `json:"match"`
	Decoded  string `json:"decoded"`
}

func (a *app) newEntryRow(e review.Entry) entryRow {
	note, text := e.Problem, e.Excerpt()
	if e.FalsePositive != "" {
		note = "known false positive: " + e.FalsePositive
	}
	return entryRow{itemAt: newItemAt(e.Store, e.ID), Source: e.Source, SourceID: nilIfEmpty(model.EncodeID(e.SourceID)),
		Filed: e.Filed, Category: e.Category, Pattern: e.Pattern, SHA256: e.SHA256, Bytes: e.Bytes, Line: e.Line, Col: e.Col, Excerpt: text,
		Cut: a.text.LineMax(text, maxExcerpt), Match: e.Match, Decoded: e.Decoded, Live: onlyIf(e.Live != review.Unknown && e.Live != review.Waits, e.Live == review.Poisoned), LiveWord: e.Live, QuarantinedAt: stamp(e.At), Note: dashed(note),
		Known: e.FalsePositive != "", KnownReason: e.FalsePositive, Problem: e.Problem}
}

func (a *app) showQuarantined(ctx context.Context, desk *operator.Session, s model.Store, ref model.Ref) error {
	if err := a.checkRaw(); err != nil {
		return err
	}
	e, err := review.Read(ctx, s, ref.ID)
	if err != nil {
		return err
	}
	if a.flags.raw {
		_, err := a.out.WriteString(e.Body)
		return err
	}
	var score signal.Score
	if desk.Judge != nil {
		score = desk.HeldScore(e.ID, e.Body)
	}
	if a.flags.json {
		found := mapped(e.Findings, func(f quarantine.Finding) foundRow {
			return foundRow{f.Category, f.Pattern, f.Stage.String(), f.Start, f.End, f.Line, f.Col, f.Match, f.Decoded}
		})
		a.emit("quarantine", heldRow{a.newEntryRow(e), score.Sum, list(score.Signals), found, model.Values(e.Fields), e.Body})
		return nil
	}
	a.linef("%s", ref.String())
	a.linef("source: %s (%s)", e.Source, e.Live)
	a.linef("verdict: %s / %s   sha256 %s   quarantined %s", e.Category, e.Pattern, e.SHA256, when(e.At))
	a.fieldf("known false positive: %s", e.FalsePositive)
	a.fieldf("problem: %s", e.Problem)
	for _, f := range e.Fields {
		a.linef("  %s: %s", f.Name, a.text.LineMax(f.Value, 400))
	}
	for _, f := range e.Findings {
		a.linef("  line %d col %d  %s / %s  %q", f.Line, f.Col, f.Category, f.Pattern, f.Match)
		if f.Decoded != "" {
			a.linef("      decoded: %s", a.text.LineMax(f.Decoded, 400))
		}
	}
	for _, g := range score.Signals {
		a.linef("  signal %s %+.1f: %s", g.Name, g.Weight, g.Title)
		if passage := g.Passage(e.Body); passage != "" {
			a.linef("      in: %s", a.text.LineMax(passage, 400))
		}
		if g.Evidence != "" {
			a.linef("      see: %s", a.text.LineMax(g.Evidence, 400))
		}
	}
	a.linef("")
	a.body(e.Body)
	return nil
}

// checkFiled refuses a reference to a live item.
func (a *app) checkFiled(ctx context.Context, text string) error {
	_, s, ref, err := a.at(ctx, text)
	if err != nil {
		return err
	}
	if s.Quarantine == nil {
		return model.Errorf(model.Unsupported, "quarantine", "store %s keeps no quarantine of its own; %q is a live item: edit it, or remove it with forget", s.Name, ref.ID)
	}
	if _, err := s.Quarantine.ReadQuarantined(ctx, ref.ID); err != nil {
		if s.Browser != nil {
			if _, rerr := s.Browser.Read(ctx, ref.ID); rerr == nil {
				return usage("%q is a live item, not a quarantine entry: edit it, or remove it with forget", ref.ID)
			}
		}
		return err
	}
	return nil
}
