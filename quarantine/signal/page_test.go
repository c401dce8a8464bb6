package signal_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
)

// labelled is one text of a third-party set.
type labelled struct {
	Content string `json:"content"`
	Label   string `json:"label"`
	Attack  string `json:"attack_type"`
}

func (l labelled) planted() bool { return l.Label == "poisoned" }

// trigger reports whether the attack hides in a word without its own meaning.
func (l labelled) trigger() bool { return strings.Contains(l.Attack, "backdoor") }

// rate is part of whole as a figure and a percentage.
func rate(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", part, whole, 100*float64(part)/float64(whole))
}

// BenchmarkPoisoningPage measures every rule set and signal on the sets of the directory MEMDESK_POISON_SETS,
// and writes docs/poisoning.md. These third-party sets only measure; none of them trains the model.
func BenchmarkPoisoningPage(b *testing.B) {
	dir := os.Getenv("MEMDESK_POISON_SETS")
	if dir == "" {
		b.Skip("MEMDESK_POISON_SETS names no directory of labelled sets")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no *.jsonl in it: %v", err)
	}
	var page strings.Builder
	fmt.Fprintf(&page, "# Poisoned memory: what memdesk finds, and what it does not\n\n"+
		"Measured on %s with rules `%s` by `make bench` (MEMDESK_POISON_SETS). Nothing was trained on these sets. A text counts as\n"+
		"found when its score is %.1f or more, the threshold that is used before an operator calibrates.\n\n"+
		"Words alone do not tell a planted memory from an honest one: a false fact in plain words looks like a fact. What helps is who wrote it.\n"+
		"With `[door] untrusted = \"review\"`, or in a tier that is loaded as instructions, nothing of an unknown writer is let in unseen,\n"+
		"and `memdesk takeback` removes everything that one source wrote. The signals below only order what a person looks at.\n\n"+
		"Each section below is one public set of labelled texts, headed by its file's name in the directory that MEMDESK_POISON_SETS names.\n"+
		"Poisoned, backdoor trigger and clean are the set's own labels; `-` means that the set has no such text. `%s` is the version of\n"+
		"memdesk's rules for signals.\n",
		time.Now().UTC().Format(time.DateOnly), signal.RuleVersion, signal.Default, signal.RuleVersion)
	hermes := quarantine.RulesOf(quarantine.HermesRules)
	sets := []struct {
		name string
		hit  func(string) bool
	}{
		{"Crewship's rules (`upstream`)", func(s string) bool { _, hit := quarantine.Scan(s); return hit }},
		{"Hermes' rules", func(s string) bool { _, hit := hermes.Load(s); return hit }},
		{"memdesk's strict rules", func(s string) bool { return len(quarantine.Strict(s)) > 0 }},
		{"**signals**", func(s string) bool { return signal.Scorer{}.Of(s).Sum >= signal.Default }},
	}
	ofWhom := plantedOf(b)
	planted := []string{ownTexts}
	for _, file := range files {
		rows := readSet(b, file)
		var plain, hidden, clean []labelled
		for _, r := range rows {
			switch {
			case !r.planted():
				clean = append(clean, r)
			case r.trigger():
				hidden = append(hidden, r)
			default:
				plain = append(plain, r)
			}
		}
		fmt.Fprintf(&page, "\n## %s\n\n%d texts.\n\n| rules | poisoned | backdoor triggers | clean, wrongly |\n|---|---|---|---|\n",
			strings.TrimSuffix(filepath.Base(file), ".jsonl"), len(rows))
		count := func(of []labelled, hit func(string) bool) (n int) {
			for _, r := range of {
				if hit(r.Content) {
					n++
				}
			}
			return n
		}
		for _, s := range sets {
			fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", s.name, rate(count(plain, s.hit), len(plain)), rate(count(hidden, s.hit), len(hidden)), rate(count(clean, s.hit), len(clean)))
		}
		if len(plain)+len(hidden) > 0 {
			byAttack := map[string][]labelled{}
			for _, r := range slices.Concat(plain, hidden) {
				byAttack[r.Attack] = append(byAttack[r.Attack], r)
			}
			page.WriteString("\n| attack | found by signals |\n|---|---|\n")
			for _, a := range slices.Sorted(maps.Keys(byAttack)) {
				fmt.Fprintf(&page, "| %s | %s |\n", a, rate(count(byAttack[a], sets[3].hit), len(byAttack[a])))
			}
		}
		bySignal := map[string][2]int{}
		set := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		if len(plain)+len(hidden) > 0 {
			planted = append(planted, set)
		}
		for _, r := range rows {
			for _, name := range (signal.Scorer{}).Of(r.Content).Names() {
				n := bySignal[name]
				if r.planted() {
					n[0]++
					ofWhom.add(name, set)
				} else {
					n[1]++
				}
				bySignal[name] = n
			}
		}
		around := aroundOf(b, rows)
		page.WriteString("\n| signal | in poisoned | in clean |\n|---|---|---|\n")
		names := slices.SortedFunc(maps.Keys(bySignal), func(x, y string) int {
			return cmp.Or(cmp.Compare(bySignal[y][0], bySignal[x][0]), cmp.Compare(x, y))
		})
		for _, name := range names {
			fmt.Fprintf(&page, "| %s | %s | %s |\n", name, rate(bySignal[name][0], len(plain)+len(hidden)), rate(bySignal[name][1], len(clean)))
		}
		page.WriteString("\n| signal from context | in poisoned | in clean |\n|---|---|---|\n")
		for _, g := range review.ContextSignals() {
			fmt.Fprintf(&page, "| %s | %s | %s |\n", g.Name, rate(around[g.Name][0], len(plain)+len(hidden)), rate(around[g.Name][1], len(clean)))
		}
	}
	page.WriteString("\n## Signals from context\n\nThe text alone does not give these. They are looked for where an agent's write is judged, in at most 100 ms. There an append\n" +
		"is read together with the 400 bytes before it, and new titles and fields as the text is.\n\n" +
		"| signal | weight | says |\n|---|---|---|\n")
	for _, g := range review.ContextSignals() {
		fmt.Fprintf(&page, "| %s | %.0f | %s |\n", g.Name, g.Weight, g.Title)
	}
	pairs, says := contradictions(b)
	var found, wrong, real int
	for i, p := range pairs {
		_, _, got := signal.StatementsOf(p[1]).Contradicts(signal.StatementsOf(p[0]))
		switch {
		case says[i] && got:
			found++
		case got:
			wrong++
		}
		if says[i] {
			real++
		}
	}
	fmt.Fprintf(&page, "\nA sentence contradicts another when all their words agree but the value behind a linking word (is, are kept, costs), or a negation. Of the\n"+
		"pairs written for it in five languages %s are found, and %s of those that merely share words. What says it in other words is not found.\n"+
		"What it flagged wrongly in the sets above was looked at when the comparison was made: its figures there flatter.\n",
		rate(found, real), rate(wrong, len(pairs)-real))
	page.WriteString("\nThe sets have no context of their own. The figures above come from writing each set in its order into an empty store, as if somebody had\n" +
		"vouched for every text before: what they say of clean texts is a worst case, what they say of poisoned ones is chance.\n")
	page.WriteString("\n## Where the signals of a text are found\n\nNo signal is made of the words of one set: each that finds something in a set of others finds something\n" +
		"in the planted texts of the project's own, too. The share of its hits by set:\n\n| signal | " + strings.Join(planted, " | ") + " |\n|---" + strings.Repeat("|---", len(planted)) + "|\n")
	for _, name := range slices.Sorted(maps.Keys(ofWhom)) {
		all := 0
		for _, n := range ofWhom[name] {
			all += n
		}
		fmt.Fprintf(&page, "| %s |", name)
		for _, set := range planted {
			fmt.Fprintf(&page, " %s |", rate(ofWhom[name][set], all))
		}
		page.WriteString("\n")
		if ofWhom[name][ownTexts] == 0 {
			b.Errorf("%s finds nothing in the project's own texts: %v", name, ofWhom[name])
		}
	}
	page.WriteString(limits)
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "poisoning.md"), []byte(page.String()), 0o644); err != nil {
		b.Fatal(err)
	}
}

// ownTexts names the planted texts of testdata.
const ownTexts = "testdata"

// hitsBySet counts the hits of each signal in the planted texts of each set.
type hitsBySet map[string]map[string]int

func (h hitsBySet) add(name, set string) {
	if h[name] == nil {
		h[name] = map[string]int{}
	}
	h[name][set]++
}

// plantedOf are the hits in the planted texts of testdata.
func plantedOf(b *testing.B) hitsBySet {
	out := hitsBySet{}
	files, err := filepath.Glob(filepath.Join("testdata", "memories", "*-poisoned.txt"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no planted texts in testdata: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, name := range (signal.Scorer{}).Of(strings.TrimSpace(line)).Names() {
				out.add(name, ownTexts)
			}
		}
	}
	return out
}

// vouching is a history in which every writer is trusted and none writes often.
type vouching struct{}

func (vouching) Vouched(model.Item) bool  { return true }
func (vouching) Lately(time.Duration) int { return 0 }

// aroundOf counts the signals from context, in poisoned and in clean texts, when a set is written in its
// order into an empty store.
func aroundOf(b *testing.B, rows []labelled) map[string][2]int {
	out := map[string][2]int{}
	at := 0
	gate, err := origin.Scratch(b.Context(), backends.Builtin(), origin.Rules{Suspect: func(ctx context.Context, w review.Write) review.Verdict {
		w.History = vouching{}
		for _, g := range review.Around(ctx, w) {
			n := out[g.Name]
			if rows[at].planted() {
				n[0]++
			} else {
				n[1]++
			}
			out[g.Name] = n
		}
		return review.Verdict{}
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer gate.Close()
	for i, r := range rows {
		at = i
		if _, err := gate.Write(b.Context(), r.Content); err != nil {
			b.Fatal(err)
		}
	}
	return out
}

const limits = `
## What stays unfound

- **Backdoor triggers**: an ordinary text with a word that only the attacker's other half understands. No word rule finds them; origin does.
- **Plain false facts** and bad advice without a telltale: about half.
- **Other languages** than English, German, French, Spanish and Chinese: of those only addresses, tags and hidden characters are seen.
- **Honest corrections** look like false ones: "Correction: the meeting is on Tuesday at 9, not on Monday." is flagged.
- **Whoever reads this page** can write around it. The signals are public, and each is easy to avoid alone.

The weights of the wording signal are trained on the texts in ` + "`quarantine/signal/testdata`" + ` (` + "`make poison-model`" + `); those texts, in five
languages, were written for it. Held out by fifths, the signals find about half of them at less than 1 % of the clean ones.
Train it on your own with ` + "`memdesk quarantine train`" + `, and see with ` + "`memdesk quarantine calibrate`" + ` what a threshold would flag in your
stores before it holds anything back.
`

func readSet(b *testing.B, file string) []labelled {
	f, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var rows []labelled
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r labelled
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			b.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}
