package quarantine

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// Stories groups the quarantine into stories and marks them.
type Stories struct{ D *pane.Bench }

// storyLines bounds the text of each entry in a story, in lines.
const storyLines = 6

// toldStories caches the stories of one search, so that a filter does not search again.
type toldStories struct {
	mu     sync.Mutex
	filter string
	rows   []review.Story
	missed []string
}

// look searches the stores, unless only the filter has changed.
func (t *toldStories) look(ctx context.Context, d *desk.Desk, filter string) ([]review.Story, []string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil || t.filter == filter {
		var missed []string
		rows := d.Stories.Stories(ctx, func(ref model.Ref, err error) {
			missed = append(missed, strings.TrimSuffix(ref.String(), ":")+": "+model.Reason(err))
		})
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		t.rows, t.missed = rows, missed
	}
	t.filter = filter
	return t.rows, t.missed, nil
}

func (sa *Stories) refusal() string {
	return act.When(sa.D.Stories == nil, "nothing is noted of who wrote what: stories need a state directory")
}

// List is the quarantine and the suspect texts by session or source, else by what they say.
func (sa *Stories) List(address int) desk.Listing {
	return record.Of(sa.D.Desk, storyKind(sa), address)
}

func storyKind(sa *Stories) record.Kind[review.Story] {
	var told toldStories
	kind := record.Kind[review.Story]{
		Noun: "story", Tell: tellStory, Name: "stories",
		Empty: "Nothing is blocked, and nothing looks planted.",
		Columns: []record.Column{
			{Title: "WRITTEN BY", Width: 17, Least: 12}, {Title: "ITEMS", Width: 6, Least: 6, Right: true, Dim: true}, {Title: "GIVEN", Width: 6, Least: 6, Right: true, Dim: true}, {Title: "AGE", Width: 5, Least: 5, Right: true, Dim: true, Age: true}, {Title: "THE FIRST", Width: 24, Least: 14}, {Title: "SIGNALS", Least: 14},
		},
		Traits: record.Traits[review.Story]{Badge: 6, Worst: true, Less: map[int]func(a, b review.Story) int{
			1: func(a, b review.Story) int { return cmp.Compare(len(a.Parts), len(b.Parts)) },
			2: func(a, b review.Story) int { return cmp.Compare(a.Recalled, b.Recalled) },
		}},
		Field: func(s review.Story) string { return model.Ref{Store: s.Parts[0].Store, ID: s.Parts[0].ID}.String() },
		Datum: storyDatum,
	}
	kind.Fetch = func(ctx context.Context, q operator.PageQuery) (record.Page[review.Story], error) {
		all, missed, err := told.look(ctx, sa.D.Desk, q.Filter)
		out := record.OnePage(all, func(_ int, s review.Story) (record.Row[review.Story], bool) {
			return sa.row(s), q.Matches(s.Source, s.Session, strings.Join(s.Signals, " "), storyRefs(s))
		})
		out.Problems = missed
		return out, err
	}
	kind.Detail = func(ctx context.Context, s review.Story) *text.Page { return sa.detail(ctx, s) }
	kind.Keys = func(p *record.List[review.Story]) []act.Act {
		return []act.Act{
			change.Takeback(sa.D.Work, p.None, func() change.Writer { return writingOfStory(p.Here()).Known() }),
			act.Harmless.With(func() string {
				return cmp.Or(p.None(), sa.D.Locked(""), act.When(blocked(p.Here()) == len(p.Here().Parts), "a scanner blocks all of it: release what is harmless in 4 Quarantine"))
			}, func() tea.Cmd { return sa.askHarmless(p.Here()) }),
		}
	}
	return kind
}

func writingOfStory(s review.Story) change.Writing {
	names := slices.DeleteFunc([]string{s.Source, s.Session}, func(name string) bool { return name == "" })
	return change.Writing{Source: s.Source, Names: names, Since: s.First.UTC().Format(time.RFC3339)}
}

// storyRefs are the references of a story, for filters.
func storyRefs(s review.Story) string {
	var b strings.Builder
	for _, p := range s.Parts {
		b.WriteString(model.Ref{Store: p.Store, ID: p.ID}.String() + " ")
	}
	return b.String()
}

func storyWriter(esc safetext.Escaper, s review.Story) safetext.Text {
	switch {
	case s.Source == "" && len(s.Parts) > 1:
		return esc.Const("? alike texts")
	case s.Source == "":
		return esc.Const(desk.Nobody)
	}
	return esc.LineMax(s.Source, prose.MaxTitle)
}

// blocked counts the entries that a scanner has blocked; the others are suspect.
func blocked(s review.Story) (n int) {
	for _, p := range s.Parts {
		if p.Category != review.CategorySignals {
			n++
		}
	}
	return n
}

// state says in words how a story stands, by its worst part.
func state(esc safetext.Escaper, s review.Story) (paint.Tone, safetext.Text) {
	n, still, planted := len(s.Parts), 0, 0.0
	for _, p := range s.Parts {
		switch {
		case p.Category == review.CategorySignals:
			planted = max(planted, p.Sum)
		case !p.Old:
			still++
		}
	}
	switch {
	case still > 0 && still == n:
		return paint.ToneBad, esc.Const("a scanner blocks it")
	case still > 0:
		return paint.ToneBad, esc.Sprintf("%s of %s blocked", prose.Group(still), prose.Group(n))
	case planted > 0 || blocked(s) == 0:
		return paint.ToneWarn, esc.Sprintf("looks planted, score %s; nothing of it is blocked", weight(planted))
	}
	return paint.ToneGood, esc.Const("a scanner blocked it; its source is clean now")
}

func weight(w float64) string { return strconv.FormatFloat(w, 'f', 1, 64) }

func (sa *Stories) row(s review.Story) record.Row[review.Story] {
	esc := sa.D.Esc
	tone, _ := state(esc, s)
	words := make([]safetext.Text, len(s.Signals))
	for i, g := range s.Signals {
		words[i] = esc.LineMax(strings.ReplaceAll(g, "_", " "), prose.MaxTitle)
	}
	first, writer := s.Parts[0], storyWriter(esc, s)
	if s.Source != "" {
		writer = desk.WriterCell(esc, origin.Row{Writer: origin.Writer{Actor: s.Source}})
	}
	return record.Row[review.Story]{
		Key: s.Source + "\x00" + s.Session + "\x00" + first.Store + "\x00" + first.ID, Raw: s, At: s.Last,
		Tones: []paint.Tone{5: tone},
		Cells: []safetext.Text{writer, esc.Const(prose.Group(len(s.Parts))), esc.Const(prose.Group(s.Recalled)),
			esc.Const("?"), prose.NameFirst(esc, cmp.Or(first.Name, first.ID)), esc.Join(words, ", ")},
	}
}

// detail tells a story: the writer, its reach, then each entry and why, in words.
func (sa *Stories) detail(ctx context.Context, s review.Story) *text.Page {
	esc, st := sa.D.Esc, sa.D.St
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
		head = append(head, text.State(st, t, words).As(text.Note))
	}
	note(state(esc, s))
	if told := sa.toldOf(ctx, s); !told.IsEmpty() {
		note(paint.ToneWarn, told)
	} else {
		note(paint.ToneInfo, esc.Const("memdesk gave it to no agent since. Reads beside memdesk are not known."))
	}
	for _, p := range s.Parts {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.LineMax(model.Ref{Store: p.Store, ID: cmp.Or(p.Name, p.ID)}.String(), desk.MaxField), Kind: text.Title})
		body, beyond := bodyLines(esc, p)
		head = append(head, sa.whyLines(p, beyond)...)
		head = append(head, body...)
	}
	return text.NewPage(head, "")
}

// toldOf says which agents were given a story.
func (sa *Stories) toldOf(ctx context.Context, s review.Story) safetext.Text {
	if s.Recalled == 0 || sa.D.Origins == nil {
		return safetext.Text{}
	}
	var refs []model.Ref
	for _, p := range s.Parts {
		refs = append(refs, model.Ref{Store: p.Store, ID: p.ID})
	}
	return change.GivenWords(sa.D.Desk, ctx, refs, time.Time{})
}

// whyLines say in words why an entry is in a story: its rule, or the signals of its text, the heaviest first. It
// quotes the passages of the signals beyond the words that are shown.
func (sa *Stories) whyLines(p review.Part, beyond []signal.Signal) []text.Line {
	esc, st := sa.D.Esc, sa.D.St
	if p.Category != review.CategorySignals {
		tone, word := paint.ToneBad, "blocked"
		if p.Old {
			tone, word = paint.ToneGood, "blocked, and clean now"
		}
		return []text.Line{text.State(st, tone, esc.Sprintf("%s: %s (%s)", word, esc.LineMax(p.Cause, prose.MaxTitle), esc.Line(p.Category))).As(text.Note)}
	}
	heaviest := func(a, b signal.Signal) int { return cmp.Compare(b.Weight, a.Weight) }
	var why []safetext.Text
	for _, g := range slices.SortedStableFunc(slices.Values(p.Found), heaviest) {
		words := esc.Sprintf("%s %s", weight(g.Weight), esc.LineMax(g.Title, prose.MaxTitle))
		if g.Evidence != "" {
			words = esc.Sprintf("%s: %s", words, esc.LineMax(g.Evidence, prose.MaxTitle))
		}
		if slices.Contains(beyond, g) {
			words = esc.Sprintf("%s: %s", words, esc.LineMax(g.Passage(p.Body), prose.MaxTitle))
		}
		why = append(why, words)
	}
	return []text.Line{{Value: esc.Join(why, ", "), Kind: text.Note}}
}

// bodyLines are the first words of an entry, with the passages of its signals marked, and the signals whose passage is
// beyond them; the wording is that of all of it.
func bodyLines(esc safetext.Escaper, p review.Part) (out []text.Line, beyond []signal.Signal) {
	passages := slices.SortedFunc(slices.Values(p.Found), func(a, b signal.Signal) int { return cmp.Compare(a.Start, b.Start) })
	passages = slices.DeleteFunc(passages, func(g signal.Signal) bool { return g.Name == "wording" })
	left := func(from, to int) {
		for _, g := range passages {
			if max(g.Start, from) < min(g.End, to) && !slices.Contains(beyond, g) {
				beyond = append(beyond, g)
			}
		}
	}
	at, skip := 0, text.NewPage(nil, p.Body).Begins()-1
	for line := range strings.Lines(p.Body) {
		start := at
		at += len(line)
		line = strings.TrimRight(line, "\r\n")
		switch {
		case skip > 0:
			skip--
			left(start, at)
			continue
		case len(out) == 0 && line == "":
			continue
		case len(out) == storyLines:
			left(start, len(p.Body))
			return append(out, text.Line{Value: esc.Const("and more"), Kind: text.Note}), beyond
		case len(line) > prose.MaxReason: // it is cut
			left(start, at)
		}
		l := text.Line{Value: esc.LineMax(line, prose.MaxReason)}
		done := 0 // what is marked of the line so far: passages overlap
		for _, g := range passages {
			if from, to := max(g.Start-start, done), min(g.End-start, len(line)); from < to {
				begin := esc.LineMax(line[:from], prose.MaxReason).Len()
				l.Runs = append(l.Runs, paint.Stretch{Start: begin, End: min(esc.LineMax(line[:to], prose.MaxReason).Len(), l.Value.Len()), Look: paint.LookMark})
				done = to
			}
		}
		out = append(out, l)
	}
	return out, beyond
}

// askHarmless asks whether the texts of a story, and nearly the same texts, are harmless.
func (sa *Stories) askHarmless(s review.Story) tea.Cmd {
	return sa.D.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		var refs []model.Ref
		for _, p := range s.Parts {
			if p.Category == review.CategorySignals {
				refs = append(refs, model.Ref{Store: p.Store, ID: p.ID})
			}
		}
		texts, alike, err := sa.D.Stories.Family(ctx, refs, func(model.Ref, error) {})
		if err != nil {
			return dialog.Proposal{No: prose.Reason(sa.D.Esc, err)}
		}
		n := int64(len(texts))
		lines := []text.Line{
			{Value: sa.D.Esc.Sprintf("Mark %s as harmless?", prose.Plural(n, "text")), Kind: text.Title},
			{Value: sa.D.Esc.Const("What is marked is listed no more until the rules change. No item is changed, and nothing that a scanner blocks is released.")},
		}
		if alike > 0 {
			lines = append(lines, text.Line{Value: sa.D.Esc.Sprintf("%s of them for saying nearly the same as the others.", prose.Group(alike))})
		}
		return dialog.Proposal{Dialog: &dialog.Dialog{Title: sa.D.Esc.Const("Harmless"), Lines: lines, Must: true, Choices: []dialog.Choice{{Verb: "Mark", Typed: true, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
			n := prose.Plural(n, "text")
			if err := sa.D.Stories.ClearTexts(ctx, texts, f.Reason); err != nil {
				return dialog.Acted{Text: sa.D.Esc.Sprintf("not marked: %s", prose.Reason(sa.D.Esc, err))}
			}
			return dialog.Acted{Ok: true, Text: sa.D.Esc.Sprintf("%s marked as harmless", n)}
		}}}}}
	})
}

// AskRescan shows where today's rules differ from the kept scan, and keeps today's on request.
func (sa *Stories) AskRescan() tea.Cmd {
	if why := sa.refusal(); why != "" {
		return sa.D.Warn("%s", why)
	}
	return sa.D.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		esc := sa.D.Esc
		var missed int64
		changes, flagged, last, err := sa.D.Stories.Difference(ctx, func(model.Ref, error) { missed++ })
		if err != nil {
			return dialog.Proposal{No: prose.Reason(esc, err)}
		}
		before := "No earlier scan was kept."
		if last.Rules != "" {
			before = "The last scan that was kept was by " + last.Rules + "."
		}
		lines := []text.Line{
			{Value: esc.Const("Keep today's scan?"), Kind: text.Title},
			{Value: esc.Sprintf("%s flagged by today's rules (%s). %s", prose.Plural(len(flagged), "item"), signal.RuleVersion, before)},
		}
		if missed > 0 {
			lines = append(lines, text.Line{Value: esc.Sprintf("%s could not be searched to the end.", prose.Plural(missed, "place")), Kind: text.Warn})
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
		return dialog.Proposal{Dialog: &dialog.Dialog{Title: esc.Const("Rescan"), Lines: lines, Body: text.NewPage(rows, ""), NoReason: true, Choices: []dialog.Choice{{Verb: "Keep", Act: func(ctx context.Context, _ dialog.Filled) dialog.Acted {
			if err := sa.D.Stories.KeepScan(ctx, flagged); err != nil {
				return dialog.Acted{Text: esc.Sprintf("not kept: %s", prose.Reason(esc, err))}
			}
			return dialog.Acted{Ok: true, Text: esc.Const("today's scan is the one that the next is compared with")}
		}}}}}
	})
}

func storyDatum(s review.Story) desk.Datum {
	return desk.DatumOf(
		"source", s.Source, "session", s.Session, "entries", int64(len(s.Parts)), "recalled", int64(s.Recalled),
		"signals", s.Signals, "first", desk.StampOf(s.First), "last", desk.StampOf(s.Last),
		"refs", strings.Fields(storyRefs(s)),
	)
}

func tellStory(esc safetext.Escaper, s review.Story) safetext.Text {
	return esc.Sprintf("%s by %s, given to agents %s. Signals: %s. The first: %s", prose.Plural(len(s.Parts), "item"), storyWriter(esc, s),
		prose.Plural(s.Recalled, "time"), esc.LineMax(strings.Join(s.Signals, ", "), prose.MaxReason), esc.LineMax(model.Ref{Store: s.Parts[0].Store, ID: s.Parts[0].ID}.String(), prose.MaxTitle))
}
