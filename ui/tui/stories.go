package tui

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// StorySource groups what is blocked and what looks planted by who wrote it, or by what it
// says. It is safe for concurrent use.
type StorySource interface {
	// Stories looks through all stores, the largest story first; note is told what could not
	// be looked at.
	Stories(ctx context.Context, note func(model.Ref, error)) []review.Story
	// Family are the texts of some items and of all suspects that say nearly the same, alike
	// of them for that.
	Family(ctx context.Context, refs []model.Ref, note func(model.Ref, error)) (texts []string, alike int, err error)
	// ClearTexts marks texts as harmless until the rules change.
	ClearTexts(ctx context.Context, texts []string, reason string) error
	// Difference compares today's rules with the scan that was kept last; flagged is for KeepScan.
	Difference(ctx context.Context, note func(model.Ref, error)) (changes []operator.Change, flagged []string, last review.Scan, err error)
	// KeepScan makes a scan the one that is compared with.
	KeepScan(ctx context.Context, flagged []string) error
}

// storyActs group the quarantine into stories and mark them.
type storyActs struct{ d *bench }

// storyLines is how much of a text a story shows of each of its entries, in lines.
const storyLines = 6

// toldStories are the stories of one look, so that a filter does not look again.
type toldStories struct {
	mu     sync.Mutex
	filter string
	rows   []review.Story
	missed []string
}

// look looks through the stores unless only the filter is another.
func (t *toldStories) look(ctx context.Context, d *desk, filter string) ([]review.Story, []string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil || t.filter == filter {
		var missed []string
		rows := d.Stories.Stories(ctx, func(ref model.Ref, err error) {
			missed = append(missed, strings.TrimSuffix(ref.String(), ":")+": "+err.Error())
		})
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		t.rows, t.missed = rows, missed
	}
	t.filter = filter
	return t.rows, t.missed, nil
}

func (sa *storyActs) refusal() string {
	if sa.d.Stories == nil {
		return "nothing is noted of who wrote what: stories need a state directory"
	}
	return ""
}

// kind is the quarantine grouped: what one session or source wrote, else texts that are
// alike, with what looks planted beside what is blocked.
func (sa *storyActs) kind() recordKind[review.Story] {
	var told toldStories
	kind := recordKind[review.Story]{
		noun: "story", tell: tellStory, name: "stories",
		empty: "Nothing is blocked, and nothing looks planted.",
		columns: []column{
			{"WRITTEN BY", 17, false}, {"ITEMS", 6, true}, {"GIVEN", 6, true}, {"AGE", 5, true}, {"THE FIRST", 24, false}, {"SIGNALS", 0, false},
		},
		least: []int{12, 6, 6, 5, 14, 14},
		traits: traits[review.Story]{badge: 6, less: map[int]func(a, b review.Story) int{
			1: func(a, b review.Story) int { return cmp.Compare(len(a.Parts), len(b.Parts)) },
			2: func(a, b review.Story) int { return cmp.Compare(a.Recalled, b.Recalled) },
			3: func(a, b review.Story) int { return b.Last.Compare(a.Last) },
		}},
		field: func(s review.Story) string { return model.Ref{Store: s.Parts[0].Store, ID: s.Parts[0].ID}.String() },
		datum: storyDatum,
	}
	kind.fetch = func(ctx context.Context, q PageQuery) (span[record[review.Story]], said, error) {
		all, missed, err := told.look(ctx, sa.d.desk, q.Filter)
		out := span[record[review.Story]]{problems: missed}
		for _, s := range all {
			if r := sa.row(s); q.Matches(s.Source, s.Session, strings.Join(s.Signals, " "), storyRefs(s)) {
				out.rows = append(out.rows, r)
			}
		}
		out.total = model.Count{N: int64(len(out.rows))}
		return out, said{}, err
	}
	kind.detail = func(ctx context.Context, s review.Story) *text.Page { return sa.detail(ctx, s) }
	kind.keys = func(p *records[review.Story]) []act.Act {
		return []act.Act{
			sa.d.takebacks.key(p.none, func() func(context.Context) (writing, bool) {
				r, _ := p.list.current()
				return func(context.Context) (writing, bool) { return writingOfStory(r.raw), true }
			}),
			act.Harmless.With(func() string { return sa.noHarmless(p) }, func() tea.Cmd {
				r, _ := p.list.current()
				return sa.askHarmless(r.raw)
			}),
		}
	}
	return kind
}

func writingOfStory(s review.Story) writing {
	w := writing{source: s.Source, since: s.First.UTC().Format(time.RFC3339)}
	for _, name := range []string{s.Source, s.Session} {
		if name != "" {
			w.names = append(w.names, name)
		}
	}
	return w
}

// storyRefs are the references of a story, for filters.
func storyRefs(s review.Story) string {
	var b strings.Builder
	for _, p := range s.Parts {
		b.WriteString(model.Ref{Store: p.Store, ID: p.ID}.String() + " ")
	}
	return b.String()
}

// storyWriter is whose story it is.
func storyWriter(esc safetext.Escaper, s review.Story) safetext.Text {
	switch {
	case s.Source == "" && len(s.Parts) > 1:
		return esc.Const("? alike texts")
	case s.Source == "":
		return esc.Const(nobody)
	}
	return esc.LineMax(s.Source, prose.MaxTitle)
}

// blocked counts the entries that a scanner has blocked; the others only look planted.
func blocked(s review.Story) (n int) {
	for _, p := range s.Parts {
		if p.Category != review.CategorySignals {
			n++
		}
	}
	return n
}

func (sa *storyActs) row(s review.Story) record[review.Story] {
	esc, tone := sa.d.esc, paint.ToneWarn
	if blocked(s) > 0 {
		tone = paint.ToneBad
	}
	words := make([]safetext.Text, len(s.Signals))
	for i, g := range s.Signals {
		words[i] = esc.LineMax(strings.ReplaceAll(g, "_", " "), prose.MaxTitle)
	}
	first := s.Parts[0]
	return record[review.Story]{
		key: s.Source + "\x00" + s.Session + "\x00" + first.Store + "\x00" + first.ID, raw: s,
		tones: []paint.Tone{paint.ToneInfo, paint.ToneInfo, paint.ToneInfo, paint.ToneInfo, paint.ToneInfo, tone},
		cells: []safetext.Text{storyWriter(esc, s), esc.Const(prose.Group(int64(len(s.Parts)))), esc.Const(prose.Group(int64(s.Recalled))),
			esc.Const(sa.d.time.Age(s.Last)), prose.NameFirst(esc, cmp.Or(first.Name, first.ID)), esc.Join(words, ", ")},
	}
}

// detail tells a story: who, how far it went, then each entry with why, in words.
func (sa *storyActs) detail(ctx context.Context, s review.Story) *text.Page {
	esc, st := sa.d.esc, sa.d.st
	n := int64(len(s.Parts))
	title := esc.Sprintf("%s by %s", prose.Plural(n, "item"), storyWriter(esc, s))
	if s.Session != "" {
		title = esc.Sprintf("%s in session %s", title, esc.LineMax(s.Session, prose.MaxTitle))
	}
	if s.Source == "" {
		title = esc.Sprintf("%s, nobody knows by whom", prose.Plural(n, "item"))
		if n > 1 {
			title = esc.Sprintf("%s that say nearly the same, nobody knows by whom", prose.Plural(n, "item"))
		}
	}
	head := []text.Line{{Value: title, Kind: text.Title}}
	note := func(t paint.Tone, words safetext.Text) {
		head = append(head, text.Line{Value: st.Badge(t, words), Kind: text.Note})
	}
	switch b := blocked(s); {
	case b == len(s.Parts):
		note(paint.ToneBad, esc.Const("a scanner blocks it"))
	case b > 0:
		note(paint.ToneBad, esc.Sprintf("%s of %s blocked", prose.Group(int64(b)), prose.Group(n)))
	default:
		note(paint.ToneWarn, esc.Const("looks planted; nothing of it is blocked"))
	}
	if told := sa.toldOf(ctx, s); !told.IsEmpty() {
		note(paint.ToneWarn, told)
	} else {
		note(paint.ToneGood, esc.Const("given to no agent since"))
	}
	for _, p := range s.Parts {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.LineMax(model.Ref{Store: p.Store, ID: cmp.Or(p.Name, p.ID)}.String(), maxField), Kind: text.Title})
		head = append(head, sa.whyLines(p)...)
		head = append(head, bodyLines(esc, p.Body)...)
	}
	return text.NewPage(head, "")
}

// toldOf says to whom a story was given.
func (sa *storyActs) toldOf(ctx context.Context, s review.Story) safetext.Text {
	if s.Recalled == 0 || sa.d.Origins == nil {
		return safetext.Text{}
	}
	var refs []model.Ref
	for _, p := range s.Parts {
		refs = append(refs, model.Ref{Store: p.Store, ID: p.ID})
	}
	return sa.d.takebacks.givenWords(ctx, refs, time.Time{})
}

// whyLines say in words why an entry is in a story.
func (sa *storyActs) whyLines(p review.Part) []text.Line {
	esc, st := sa.d.esc, sa.d.st
	if p.Category != review.CategorySignals {
		return []text.Line{{Value: st.Badge(paint.ToneBad, esc.Sprintf("blocked: %s (%s)", esc.LineMax(p.Cause, prose.MaxTitle), esc.Line(p.Category))), Kind: text.Warn}}
	}
	out := []text.Line{{Value: st.Badge(paint.ToneWarn, esc.Sprintf("score %s, because it", strconv.FormatFloat(p.Sum, 'f', 1, 64))), Kind: text.Note}}
	for _, g := range p.Found {
		why := esc.Sprintf("%s (%s)", esc.LineMax(g.Title, prose.MaxTitle), strconv.FormatFloat(g.Weight, 'f', 1, 64))
		if g.Evidence != "" {
			why = esc.Sprintf("%s: %s", why, esc.LineMax(g.Evidence, prose.MaxTitle))
		} else if g.Start < g.End && g.End <= len(p.Body) {
			why = esc.Sprintf("%s: %s", why, esc.LineMax(p.Body[g.Start:g.End], prose.MaxTitle))
		}
		out = append(out, text.Line{Name: esc.LineMax(strings.ReplaceAll(g.Name, "_", " "), prose.MaxTitle), Value: why})
	}
	return out
}

// bodyLines are the beginning of a text.
func bodyLines(esc safetext.Escaper, body string) []text.Line {
	var out []text.Line
	for line := range strings.Lines(strings.TrimSpace(body)) {
		if len(out) == storyLines {
			return append(out, text.Line{Value: esc.Const("and more"), Kind: text.Note})
		}
		out = append(out, text.Line{Value: esc.LineMax(strings.TrimRight(line, "\r\n"), prose.MaxReason)})
	}
	return out
}

// noHarmless says why a story cannot be marked as harmless.
func (sa *storyActs) noHarmless(p *records[review.Story]) string {
	if why := p.none(); why != "" {
		return why
	}
	if why := sa.d.locked(""); why != "" {
		return why
	}
	if r, _ := p.list.current(); blocked(r.raw) == len(r.raw.Parts) {
		return "a scanner blocks all of it: release what is harmless in 4 Quarantine"
	}
	return ""
}

// askHarmless asks whether the texts of a story, and those that say nearly the same, are
// harmless.
func (sa *storyActs) askHarmless(s review.Story) tea.Cmd {
	return sa.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) {
		var refs []model.Ref
		for _, p := range s.Parts {
			if p.Category == review.CategorySignals {
				refs = append(refs, model.Ref{Store: p.Store, ID: p.ID})
			}
		}
		texts, alike, err := sa.d.Stories.Family(ctx, refs, func(model.Ref, error) {})
		if err != nil {
			return nil, prose.Reason(sa.d.esc, err)
		}
		n := int64(len(texts))
		lines := []text.Line{
			{Value: sa.d.esc.Sprintf("Mark %s as harmless?", prose.Plural(n, "text")), Kind: text.Title},
			{Value: sa.d.esc.Const("What is marked is listed no more until the rules change. No item is changed, and nothing that a scanner blocks is released.")},
		}
		if alike > 0 {
			lines = append(lines, text.Line{Value: sa.d.esc.Sprintf("%s of them for saying nearly the same as the others.", prose.Group(int64(alike)))})
		}
		return &dialog{title: sa.d.esc.Const("Harmless"), lines: lines, must: true, choices: []choice{{verb: "Mark", act: func(ctx context.Context, f filled) acted {
			n := prose.Plural(n, "text")
			if err := sa.d.Stories.ClearTexts(ctx, texts, f.reason); err != nil {
				return acted{text: sa.d.esc.Sprintf("not marked: %s", prose.Reason(sa.d.esc, err))}
			}
			return acted{ok: true, text: sa.d.esc.Sprintf("%s marked as harmless", n)}
		}}}}, safetext.Text{}
	})
}

// askRescan shows what today's rules judge otherwise than the scan that was kept, and keeps
// today's where that is wanted.
func (sa *storyActs) askRescan() tea.Cmd {
	if why := sa.refusal(); why != "" {
		sa.d.say(paint.ToneWarn, sa.d.st.Esc.Const(why))
		return nil
	}
	return sa.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) {
		esc := sa.d.esc
		var missed int64
		changes, flagged, last, err := sa.d.Stories.Difference(ctx, func(model.Ref, error) { missed++ })
		if err != nil {
			return nil, prose.Reason(esc, err)
		}
		lines := []text.Line{
			{Value: esc.Const("Keep today's scan?"), Kind: text.Title},
			{Value: esc.Sprintf("%s flagged under rules %s; the last scan was under %s.", prose.Plural(int64(len(flagged)), "item"), signal.RuleVersion, cmp.Or(last.Rules, "none"))},
		}
		if missed > 0 {
			lines = append(lines, text.Line{Value: esc.Sprintf("%s could not be looked at.", prose.Plural(missed, "place")), Kind: text.Warn})
		}
		rows := []text.Line{{Value: esc.Const("Nothing is judged otherwise than in the last scan.")}}
		if len(changes) > 0 {
			rows = nil
		}
		for _, c := range changes {
			word := "no longer"
			if c.Now {
				word = "flagged now"
			}
			rows = append(rows, text.Line{Name: esc.Const(word), Value: esc.Sprintf("%s: %s", esc.LineMax(model.Ref{Store: c.Store, ID: c.ID}.String(), prose.MaxTitle), esc.Line(cmp.Or(strings.Join(c.Score.Names(), ", "), "no signal")))})
		}
		return &dialog{title: esc.Const("Rescan"), lines: lines, body: text.NewPage(rows, ""), noReason: true, choices: []choice{{verb: "Keep", act: func(ctx context.Context, _ filled) acted {
			if err := sa.d.Stories.KeepScan(ctx, flagged); err != nil {
				return acted{text: esc.Sprintf("not kept: %s", prose.Reason(esc, err))}
			}
			return acted{ok: true, text: esc.Const("today's scan is the one that the next is compared with")}
		}}}}, safetext.Text{}
	})
}

func storyDatum(s review.Story) datum {
	var r datum
	r.add("source", s.Source)
	r.add("session", s.Session)
	r.add("entries", int64(len(s.Parts)))
	r.add("recalled", int64(s.Recalled))
	r.add("signals", s.Signals)
	r.add("first", stampOf(s.First))
	r.add("last", stampOf(s.Last))
	r.add("refs", strings.Fields(storyRefs(s)))
	return r
}

// tellStory is a story as a sentence.
func tellStory(esc safetext.Escaper, s review.Story) safetext.Text {
	return esc.Sprintf("%s by %s, given to agents %s. Signals: %s. The first: %s", prose.Plural(int64(len(s.Parts)), "item"), storyWriter(esc, s),
		prose.Plural(int64(s.Recalled), "time"), esc.LineMax(strings.Join(s.Signals, ", "), prose.MaxReason), esc.LineMax(model.Ref{Store: s.Parts[0].Store, ID: s.Parts[0].ID}.String(), prose.MaxTitle))
}
