package cli

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memdesk/internal/atomicfile"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
)

// signalCommands are the commands of `quarantine` about signals.
func (a *app) signalCommands() []*cobra.Command {
	var set, out string
	var apply float64
	replay := &cobra.Command{
		Use: "replay --set FILE.jsonl|DIR", Short: "Run texts through the gate of a scratch store: what gets in, what is flagged",
		Long: "Takes `{\"id\":…,\"content\":…}` one a line, or every *.jsonl of a directory, and writes each as an untrusted\n" +
			"agent would, into an empty store in memory, under the policy of the configuration. Labels (`label` is\n" +
			"poisoned or something else, `attack_type`) are only counted. Nothing of it reaches a store of yours.",
		RunE: a.onBase(func(ctx context.Context, s *operator.Session, _ []string) error { return a.replay(ctx, s, set) }),
	}
	replay.Flags().StringVar(&set, "set", "", "the texts: `FILE.jsonl` or a directory of them")
	calibrate := &cobra.Command{
		Use: "calibrate", Short: "What each threshold would flag of the items that are there now",
		Long: "Scores every item and says for each tier how many a threshold would hold back, and how many of them one\n" +
			"writer wrote. --apply N makes N the threshold of what untrusted writers add to these stores; tiers that are\n" +
			"loaded as instructions get one that is lower by 1.5, trusted writers one that is higher by 1.5. Before it\n" +
			"is applied, nothing waits for its words alone.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error { return a.calibrate(ctx, s, apply) }),
	}
	calibrate.Flags().Float64Var(&apply, "apply", 0, "hold back untrusted writes that score `N` or more")
	train := &cobra.Command{
		Use: "train --set DIR --out FILE", Short: "Train the wording signal on texts of your own",
		Long: "DIR holds *-clean.txt and *-poisoned.txt, one text a line, or *.jsonl with `content` and `label`. The file\n" +
			"goes into the configuration as scanner.model.",
		RunE: func(_ *cobra.Command, _ []string) error { return a.train(set, out) },
	}
	train.Flags().StringVar(&set, "set", "", "labelled texts: `DIR`")
	train.Flags().StringVar(&out, "out", "", "where the weights go: `FILE`")
	stories := &cobra.Command{
		Use: "stories", Short: "What is blocked or looks planted, grouped by who wrote it or by what it says",
		RunE: a.onStores(a.stories),
	}
	harmless := &cobra.Command{
		Use: "clear REF...", Short: "Mark items that look planted, and all that say nearly the same, as harmless",
		Long: "Notes the hash of each text with the version of the rules. It counts until the rules change; it releases\n" +
			"nothing that a store's own scanner blocks.",
		RunE: a.onStores(a.clearSuspects),
	}
	harmless.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: why they are harmless")
	keep := false
	rescan := &cobra.Command{
		Use: "rescan", Short: "What today's rules flag that the last scan did not, and the other way round",
		Long: "Scores every item and shows the difference to the scan that was kept last. --apply keeps this one.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error { return a.rescan(ctx, s, keep) }),
	}
	rescan.Flags().BoolVar(&keep, "apply", false, "keep this scan as the last one")
	return []*cobra.Command{replay, a.asks(calibrate), train, stories, a.asks(harmless), outlives(rescan)}
}

// replayedRow is the outcome of one text of a set.
type replayedRow struct {
	ID       signal.SampleID `json:"id"`
	Flagged  bool            `json:"flagged"`
	Score    float64         `json:"score"`
	Signals  []string        `json:"signals"`
	Outcome  string          `json:"outcome"`
	Recalled bool            `json:"recalled"`
}

func (a *app) replay(ctx context.Context, s *operator.Session, path string) error {
	if path == "" {
		return usage("say which texts: --set FILE.jsonl or a directory")
	}
	set, err := interruptible(ctx, func() ([]signal.Sample, error) { return signal.ReadSet(a.path(path)) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return model.E(model.NotFound, "set", err)
	case err != nil:
		return usage("%v", err)
	}
	sums, all := map[string]*operator.ReplayCount{}, &operator.ReplayCount{}
	err = s.Replay(ctx, set, func(r operator.Replayed) {
		if sums[r.Kind()] == nil {
			sums[r.Kind()] = &operator.ReplayCount{}
		}
		sums[r.Kind()].Add(r)
		all.Add(r)
		a.emit("entry", replayedRow{r.ID, r.Flagged, round(r.Score.Sum), r.Score.Names(), r.Outcome, r.Recalled})
	})
	if err != nil {
		return err
	}
	a.sayf("flagged: a score of %g or more, the default threshold (a scratch store is not calibrated)", signal.Default)
	tab := a.table("LABEL", "ENTRIES", "LET IN", "HELD", "REFUSED", "RECALLED", "FLAGGED")
	for _, label := range slices.Sorted(maps.Keys(sums)) {
		tab.put("label", labelRow{label, orDash(label), *sums[label], signal.RuleVersion})
	}
	tab.put("summary", labelRow{"", "all", *all, signal.RuleVersion})
	tab.flush()
	return nil
}

// labelRow counts the outcomes of one label, or of all.
type labelRow struct {
	Label string `json:"label"`
	Name  string `json:"-" col:"LABEL"`
	operator.ReplayCount
	Rules string `json:"rules"`
}

// round rounds a score to two decimals.
func round(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }

// calibrationRow counts what a threshold would hold back in a tier.
type calibrationRow struct {
	Store         string  `json:"store"`
	Tier          string  `json:"tier"`
	Items         int64   `json:"items"`
	Threshold     float64 `json:"threshold"`
	Flagged       int64   `json:"flagged" col:"WOULD FLAG"`
	Writer        string  `json:"writer"` // the one with the most of them
	WriterFlagged int64   `json:"writer_flagged"`
	ByOneWriter   string  `json:"-" col:"BY ONE WRITER"`
}

func (a *app) calibrate(ctx context.Context, s *operator.Session, apply float64) error {
	if !(apply >= 0) || math.IsInf(apply, 0) { // NaN is neither
		return usage("a threshold is a number above 0")
	}
	t := tally{app: a}
	var open []model.Store
	tab := a.table("STORE", "TIER", "ITEMS", "THRESHOLD", "WOULD FLAG", "BY ONE WRITER")
	t.each(s.Fleet.Members(), func(store model.Store) error {
		open = append(open, store)
		tiers, err := s.Calibration(ctx, store)
		for _, c := range tiers {
			for i, at := range operator.Steps {
				writer, most := c.Most(i)
				who := "-"
				if writer != "" {
					who = plural(most, "item") + " by " + writer
				}
				tab.put("calibration", calibrationRow{c.Store, c.Tier, c.Items, at, c.Flagged[i], writer, most, who})
			}
		}
		if err != nil && len(tiers) > 0 {
			a.failed(model.Ref{Store: store.Name}, err)
			return &exitError{code: exitPartial}
		}
		return err
	})
	tab.flush()
	if apply > 0 {
		question := "hold back untrusted writes to " + plural(int64(len(open)), "store") + " that score " + strconv.FormatFloat(apply, 'g', -1, 64) + " or more?"
		if err := a.agree(ctx, operator.Calibrate, "", question); err != nil {
			return err
		}
		n, err := s.SetThreshold(ctx, open, apply)
		if err != nil {
			return err
		}
		a.sayf("the thresholds of %s are set; rules %s", plural(int64(n), "tier"), signal.RuleVersion)
	}
	return t.result()
}

func (a *app) train(set, out string) error {
	if set == "" || out == "" {
		return usage("say what to train on and where the weights go: --set DIR --out FILE")
	}
	examples, planted, err := signal.ReadExamples(a.path(set))
	if err != nil {
		return usage("%v", err)
	}
	var b strings.Builder
	if err := signal.Train(&b, examples); err != nil {
		return err
	}
	if err := atomicfile.Write(a.path(out), []byte(b.String()), 0o644); err != nil {
		return err
	}
	a.sayf("trained on %s, %d of them poisoned: set scanner.model to this file", plural(int64(len(examples)), "text"), planted)
	return nil
}

// storyRow is a group of held entries that belong together.
type storyRow struct {
	Story    int       `json:"story"`
	Source   string    `json:"source"`
	Session  string    `json:"session"`
	Entries  []toldRow `json:"entries"`
	Signals  []string  `json:"signals"`
	First    stamp     `json:"first"`
	Last     stamp     `json:"last"`
	Recalled int       `json:"recalled"`
}

type toldRow struct {
	itemAt
	Category string   `json:"category"`
	Pattern  string   `json:"pattern"`
	Score    float64  `json:"score"`
	Signals  []string `json:"signals"`
	Recalled int      `json:"recalled"`
}

func (a *app) stories(ctx context.Context, s *operator.Session, _ []string) error {
	t := tally{app: a}
	all := s.Stories(ctx, t.note)
	var sources []string
	for _, story := range all {
		sources = append(sources, story.Source)
	}
	var wrote map[string]time.Time
	if s.Ledger != nil && !a.flags.json {
		slices.Sort(sources)
		var err error
		if wrote, err = origin.LastWrites(s.Ledger, slices.Compact(sources)); err != nil { // only hints need it
			a.errorf("who wrote last is not known: %s", brief(err))
		}
	}
	for i, story := range all {
		t.add(nil)
		if a.flags.json {
			entries := mapped(story.Parts, func(p review.Part) toldRow {
				return toldRow{newItemAt(p.Store, p.ID), p.Category, p.Cause, round(p.Sum), p.Signals, p.Recalled}
			})
			a.emit("story", storyRow{i + 1, story.Source, story.Session, entries, story.Signals, stamp(story.First), stamp(story.Last), story.Recalled})
			continue
		}
		who := "of unknown writers, alike"
		if story.Source != "" {
			who = "by " + story.Source
			if story.Session != "" {
				who += ", session " + story.Session
			}
		}
		a.linef("story %d: %s %s, recalled %s", i+1, plural(int64(len(story.Parts)), "entry"), who, plural(int64(story.Recalled), "time"))
		for _, p := range story.Parts {
			a.linef("  %s  %s", refOf(p.Store, p.ID), strings.Join(p.Signals, ", "))
			a.wrapf("      %s", a.text.LineMax(strings.TrimSpace(p.Body), 160))
		}
		if story.Source == "" || story.First.IsZero() || s.Ledger == nil {
			continue
		}
		if at, noted := wrote[story.Source]; !noted || at.Before(story.First) {
			continue // the store alone says who wrote it
		}
		// The writer chose the source. One that is not shown as it is cannot be copied.
		if source := safetext.Word(story.Source); a.text.Line(source).String() == source {
			a.linef("  take it back: memdesk takeback --source %s --since %s --dry-run", source, story.First.UTC().Format(time.RFC3339))
		}
	}
	return t.result()
}

// clearedRow counts the texts that were marked as harmless; Alike are those among them that nobody named.
type clearedRow struct {
	Texts int    `json:"texts"`
	Alike int    `json:"alike"`
	Rules string `json:"rules"`
}

func (a *app) clearSuspects(ctx context.Context, s *operator.Session, args []string) error {
	if strings.TrimSpace(a.flags.reason) == "" {
		return usage("give --reason: why are they harmless")
	}
	refs, err := parseRefs(args)
	if err != nil {
		return err
	}
	t := tally{app: a}
	texts, alike, err := s.Family(ctx, refs, t.note)
	if err != nil {
		return err
	}
	t.add(nil)
	if err := a.agree(ctx, operator.Clear, "", "mark "+plural(int64(len(texts)), "text")+" as harmless, "+plural(int64(alike), "text")+" of them for being alike?"); err != nil {
		return err
	}
	if err := s.ClearTexts(ctx, texts, a.flags.reason); err != nil {
		return err
	}
	a.emit("cleared", clearedRow{len(texts), alike, signal.RuleVersion})
	a.sayf("%s marked as harmless under rules %s", plural(int64(len(texts)), "text"), signal.RuleVersion)
	return t.result()
}

// rescanRow is an item that the rules judge otherwise than before.
type rescanRow struct {
	itemAt
	Change  string   `json:"change"`
	Score   float64  `json:"score"`
	Signals []string `json:"signals"`
	Names   string   `json:"-" col:"SIGNALS"`
}

func (a *app) rescan(ctx context.Context, s *operator.Session, keep bool) error {
	if keep && a.narrowed(s) {
		return usage("--apply keeps the scan of every store: leave --store and --open out")
	}
	t := tally{app: a}
	whole := true
	changes, flagged, last, err := s.Difference(ctx, func(at model.Ref, err error) {
		t.note(at, err)
		whole = whole && (at.ID != "" || strings.Contains(err.Error(), model.LinkProblem)) // one item changes little, a part of a store much
	})
	if err != nil {
		return err
	}
	t.add(nil)
	tab := a.table("REF", "CHANGE", "SCORE", "SIGNALS")
	for _, c := range changes {
		word := "no longer flagged"
		if c.Now {
			word = "newly flagged"
		}
		tab.put("rescan", rescanRow{newItemAt(c.Store, c.ID), word, round(c.Score.Sum), c.Score.Names(), strings.Join(c.Score.Names(), ", ")})
	}
	tab.flush()
	switch {
	case keep && !whole: // the next scan would call what the others hold newly flagged
		a.sayf("this scan is not kept: not every store was read")
	case keep:
		if err := s.KeepScan(ctx, flagged); err != nil {
			return err
		}
	}
	before := "no earlier scan was kept"
	if last.Rules != "" {
		before = "the last scan that was kept was by " + last.Rules
	}
	a.sayf("%s flagged by today's rules (%s); %s", plural(int64(len(flagged)), "item"), signal.RuleVersion, before)
	return t.result()
}
