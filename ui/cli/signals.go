package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memdesk/internal/atomicfile"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/quarantine/signal"
)

// signalCommands are the parts of `quarantine` that weigh signals.
func (a *app) signalCommands() []*cobra.Command {
	var set, out string
	var apply float64
	replay := &cobra.Command{
		Use: "replay --set FILE.jsonl|DIR", Short: "Run texts through the gate of a scratch store: what gets in, what is flagged",
		Long: "Takes `{\"id\":…,\"content\":…}` one a line, or every *.jsonl of a directory, and writes each as an untrusted\n" +
			"agent would, into an empty store in memory, under the policy of the configuration. Labels (`label` is\n" +
			"poisoned or something else, `attack_type`) are only counted. Nothing of it reaches a store of yours.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.replay(cmd.Context(), set) },
	}
	replay.Flags().StringVar(&set, "set", "", "the texts: `FILE.jsonl` or a directory of them")
	calibrate := &cobra.Command{
		Use: "calibrate", Short: "What each threshold would flag of the items that are there now",
		Long: "Scores every item and says for each tier how many a threshold would hold back, and how many of them one\n" +
			"writer wrote. --apply N makes N the threshold of what untrusted writers add to these stores; tiers that are\n" +
			"loaded as instructions get one that is lower by 1.5, trusted writers one that is higher by 1.5. Before it\n" +
			"is applied, nothing waits for its words alone.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.calibrate(cmd.Context(), apply) },
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
		Use: "stories", Short: "Blocked and suspect items, grouped by who wrote them or by what they say",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stories(cmd.Context()) },
	}
	harmless := &cobra.Command{
		Use: "clear REF...", Short: "Mark suspect items, and all that say nearly the same, as harmless",
		Long: "Notes the hash of each text with the version of the rules. It counts until the rules change; it releases\n" +
			"nothing that a store's own scanner blocks.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.clearSuspects(cmd.Context(), args)
		},
	}
	harmless.Flags().StringVar(&a.flags.reason, "reason", "", "why they are harmless, for the audit log")
	keep := false
	rescan := &cobra.Command{
		Use: "rescan", Short: "What today's rules flag that the last scan did not, and the other way round",
		Long: "Scores every item and shows the difference to the scan that was kept last. --apply keeps this one.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.rescan(cmd.Context(), keep) },
	}
	rescan.Flags().BoolVar(&keep, "apply", false, "keep this scan as the last one")
	return []*cobra.Command{replay, a.asks(calibrate), train, stories, a.asks(harmless), rescan}
}

// sample is one text of a set.
type sample struct {
	ID      sampleID `json:"id"`
	Content string   `json:"content"`
	Label   string   `json:"label"`
	Attack  string   `json:"attack_type"`
}

// sampleID is an id of a set: a string, or anything else as it is written, since many number
// their texts.
type sampleID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *sampleID) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	*id = sampleID(text)
	return nil
}

// samples reads a set: a file of JSON lines, or a directory of them.
func samples(path string) ([]sample, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, model.E(model.NotFound, "set", err)
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.jsonl")); err != nil || len(files) == 0 {
			return nil, usage("no *.jsonl is in %s", path)
		}
	}
	var out []sample
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for n := 1; lines.Scan(); n++ {
			line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
			if line == "" {
				continue
			}
			var e sample
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				_ = f.Close()
				return nil, usage("%s line %d is no JSON object with id and content: %v", filepath.Base(name), n, err)
			}
			out = append(out, e)
		}
		err = errors.Join(lines.Err(), f.Close())
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// replayed counts what became of the texts of one label.
type replayed struct{ entries, let, held, refused, flagged, recalled int64 }

func (a *app) replay(ctx context.Context, path string) error {
	if path == "" {
		return usage("say which texts: --set FILE.jsonl or a directory")
	}
	s, err := a.base()
	if err != nil {
		return err
	}
	judge := s.Judge
	if judge == nil {
		return statedir.ErrNoHome
	}
	set, err := samples(path)
	if err != nil {
		return err
	}
	gate, err := origin.Scratch(ctx, a.Kinds, origin.Rules{ReviewAll: s.Config.Door.Untrusted == "review"})
	if err != nil {
		return err
	}
	defer func() { _ = gate.Close() }()
	sums, all := map[string]*replayed{}, &replayed{}
	for _, e := range set {
		score, err := judge.Score(ctx, e.Content)
		if err != nil {
			return err
		}
		flagged := score.Sum >= signal.Default && !judge.IsCleared(e.Content)
		outcome, err := gate.Write(ctx, e.Content)
		if err != nil {
			return err
		}
		recalled := false
		if outcome == origin.Stored {
			if recalled, err = gate.Recalled(ctx, e.Content); err != nil {
				return err
			}
		}
		label := e.Label
		if e.Attack != "" && e.Attack != "none" {
			label += " " + e.Attack
		}
		if sums[label] == nil {
			sums[label] = &replayed{}
		}
		for _, c := range []*replayed{all, sums[label]} {
			c.count(outcome, flagged, recalled)
		}
		if a.flags.json {
			names := score.Names()
			a.emit("entry", row{"id": e.ID, "flagged": flagged, "score": round(score.Sum), "signals": names, "outcome": outcome, "recalled": recalled})
		}
	}
	a.sayf("flagged: a score of %g or more, the default threshold (a scratch store is not calibrated)", signal.Default)
	tab := a.table("LABEL", "ENTRIES", "LET IN", "HELD", "REFUSED", "RECALLED", "FLAGGED")
	for _, label := range slices.Sorted(maps.Keys(sums)) {
		c := sums[label]
		if a.flags.json {
			a.emit("label", c.row(label))
			continue
		}
		tab.add(orDash(label), c.entries, c.let, c.held, c.refused, c.recalled, c.flagged)
	}
	if a.flags.json {
		a.emit("summary", all.row(""))
		return nil
	}
	tab.add("all", all.entries, all.let, all.held, all.refused, all.recalled, all.flagged)
	tab.flush()
	return nil
}

func (c *replayed) count(outcome string, flagged, recalled bool) {
	c.entries++
	switch outcome {
	case origin.Stored:
		c.let++
	case origin.Refused:
		c.refused++
	default:
		c.held++
	}
	if flagged {
		c.flagged++
	}
	if recalled {
		c.recalled++
	}
}

func (c *replayed) row(label string) row {
	return row{"label": label, "entries": c.entries, "let_in": c.let, "held": c.held, "refused": c.refused, "recalled": c.recalled, "flagged": c.flagged, "rules": signal.RuleVersion}
}

// round keeps two decimals of a score.
func round(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }

func (a *app) calibrate(ctx context.Context, apply float64) error {
	if apply < 0 {
		return usage("a threshold is above 0")
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	var t tally
	var open []model.Store
	tab := a.table("STORE", "TIER", "ITEMS", "THRESHOLD", "WOULD FLAG", "BY ONE WRITER")
	note := a.noting(&t)
	for _, m := range s.Fleet.Members() {
		if m.Err != nil {
			note(model.Ref{Store: m.Name}, m.Err)
			continue
		}
		open = append(open, m.Store)
		tiers, err := s.Calibration(ctx, m.Store)
		if err != nil {
			note(model.Ref{Store: m.Name}, err)
		} else {
			t.add(nil)
		}
		for _, c := range tiers {
			for i, at := range operator.Steps {
				writer, most := c.Most(i)
				tab.put(calibrationRow{Store: c.Store, Tier: c.Tier, Items: c.Items, Threshold: at, Flagged: c.Flagged[i], Writer: writer, WriterFlagged: most})
			}
		}
	}
	tab.flush()
	if apply > 0 {
		question := "hold back untrusted writes to " + plural(int64(len(open)), "store") + " that score " + strconv.FormatFloat(apply, 'g', -1, 64) + " or more?"
		if err := a.confirm(ctx, question); err != nil {
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

// noting counts a failure and says it.
func (a *app) noting(t *tally) func(model.Ref, error) {
	return func(ref model.Ref, err error) {
		t.add(err)
		a.failed(ref, err)
	}
}

// calibrationRow is what one threshold would flag of one tier.
type calibrationRow struct {
	Store         string  `json:"store"`
	Tier          string  `json:"tier"`
	Items         int64   `json:"items"`
	Threshold     float64 `json:"threshold"`
	Flagged       int64   `json:"flagged"`
	Writer        string  `json:"writer"`
	WriterFlagged int64   `json:"writer_flagged"`
}

func (calibrationRow) kind() string { return "calibration" }

func (r calibrationRow) cells() []any {
	who := "-"
	if r.Writer != "" {
		who = plural(r.WriterFlagged, "item") + " by " + r.Writer
	}
	return []any{r.Store, r.Tier, r.Items, r.Threshold, r.Flagged, who}
}

func (a *app) train(set, out string) error {
	if set == "" || out == "" {
		return usage("say what to train on and where the weights go: --set DIR --out FILE")
	}
	examples, err := labelled(set)
	if err != nil {
		return err
	}
	planted := 0
	for _, e := range examples {
		if e.Planted {
			planted++
		}
	}
	if planted == 0 || planted == len(examples) {
		return usage("%s has %d texts and %d of them are poisoned: both kinds are needed", set, len(examples), planted)
	}
	var b strings.Builder
	if err := signal.Train(&b, examples); err != nil {
		return err
	}
	if err := atomicfile.Write(out, []byte(b.String()), 0o644); err != nil {
		return err
	}
	a.sayf("trained on %s, %d of them poisoned: set scanner.model to this file", plural(int64(len(examples)), "text"), planted)
	return nil
}

// labelled reads texts with labels: *-clean.txt and *-poisoned.txt, and *.jsonl.
func labelled(dir string) ([]signal.Example, error) {
	var out []signal.Example
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		clean, poisoned := strings.HasSuffix(path, "-clean.txt"), strings.HasSuffix(path, "-poisoned.txt")
		switch {
		case clean || poisoned:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(b)) {
				out = append(out, signal.Example{Text: strings.TrimSpace(line), Planted: poisoned})
			}
		case strings.HasSuffix(path, ".jsonl"):
			set, err := samples(path)
			if err != nil {
				return err
			}
			for _, e := range set {
				if e.Label == "" {
					return usage("%s: entry %q has no label", filepath.Base(path), e.ID)
				}
				out = append(out, signal.Example{Text: e.Content, Planted: e.Label == "poisoned"})
			}
		}
		return nil
	})
	return out, err
}

func (a *app) stories(ctx context.Context) error {
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	var t tally
	for i, story := range s.Stories(ctx, a.noting(&t)) {
		t.add(nil)
		if a.flags.json {
			entries := []any{}
			for _, p := range story.Parts {
				entries = append(entries, row{"store": p.Store, "id": model.EncodeID(p.ID), "category": p.Category, "pattern": p.Cause,
					"score": round(p.Sum), "signals": p.Signals, "recalled": p.Recalled})
			}
			a.emit("story", row{"story": i + 1, "source": story.Source, "session": story.Session, "entries": entries,
				"signals": story.Signals, "first": stamp(story.First), "last": stamp(story.Last), "recalled": story.Recalled})
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
			a.linef("  %s  %s", model.Ref{Store: p.Store, ID: p.ID}.String(), strings.Join(p.Signals, ", "))
			a.linef("      %s", a.text.LineMax(strings.TrimSpace(p.Body), 160))
		}
		if story.Source != "" && !story.First.IsZero() {
			a.linef("  take it back: memdesk takeback --source %q --since %s --dry-run", story.Source, story.First.UTC().Format(time.RFC3339))
		}
	}
	return t.result()
}

func (a *app) clearSuspects(ctx context.Context, args []string) error {
	if strings.TrimSpace(a.flags.reason) == "" {
		return usage("give --reason: why are they harmless")
	}
	refs := make([]model.Ref, len(args))
	for i, text := range args {
		var err error
		if refs[i], err = model.ParseRef(text); err != nil {
			return err
		}
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	var t tally
	texts, alike, err := s.Family(ctx, refs, a.noting(&t))
	if err != nil {
		return err
	}
	t.add(nil)
	if err := a.confirm(ctx, "mark "+plural(int64(len(texts)), "text")+" as harmless, "+plural(int64(alike), "text")+" of them for being alike?"); err != nil {
		return err
	}
	if err := s.ClearTexts(ctx, texts, a.flags.reason); err != nil {
		return err
	}
	a.sayf("%s marked as harmless under rules %s", plural(int64(len(texts)), "text"), signal.RuleVersion)
	return t.result()
}

func (a *app) rescan(ctx context.Context, keep bool) error {
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	var t tally
	changes, flagged, last, err := s.Difference(ctx, a.noting(&t))
	if err != nil {
		return err
	}
	t.add(nil)
	tab := a.table("REF", "CHANGE", "SCORE", "SIGNALS")
	for _, c := range changes {
		tab.put(rescanRow{Store: c.Store, ID: encodedID(c.ID), Change: changeWord(c.Now), Score: round(c.Score.Sum), Signals: c.Score.Names()})
	}
	tab.flush()
	if keep {
		if err := s.KeepScan(ctx, flagged); err != nil {
			return err
		}
	}
	a.sayf("%s flagged under rules %s; the last scan was under %s", plural(int64(len(flagged)), "item"), signal.RuleVersion, orDash(last.Rules))
	return t.result()
}

func changeWord(now bool) string {
	if now {
		return "newly flagged"
	}
	return "no longer flagged"
}

// rescanRow is an item that today's rules judge otherwise.
type rescanRow struct {
	Store   string    `json:"store"`
	ID      encodedID `json:"id"`
	Change  string    `json:"change"`
	Score   float64   `json:"score"`
	Signals []string  `json:"signals"`
}

func (rescanRow) kind() string { return "rescan" }

func (r rescanRow) cells() []any {
	return []any{r.ID.in(r.Store), r.Change, r.Score, strings.Join(r.Signals, ", ")}
}
