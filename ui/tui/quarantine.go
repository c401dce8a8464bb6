package tui

import (
	"context"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// liveWords say whether the source of a quarantined item is still poisoned.
var liveWords = map[Liveness]string{
	LivePoisoned: "still poisoned: the source still holds the blocked text",
	LiveClean:    "clean now: the source passes the scanner",
	LiveGone:     "gone: there is no source any more",
	LiveUnknown:  "unknown: nobody could look at the source",
}

func liveness(l Liveness) Liveness {
	if _, ok := liveWords[l]; !ok {
		return LiveUnknown
	}
	return l
}

// newQuarantine is the pane that reviews what scanners have set aside.
func newQuarantine(d *bench, at int, stories *storyActs) *records[QuarantineEntry] {
	en := &entries{d}
	kind := recordKind[QuarantineEntry]{
		pane: at, noun: "entry", tell: tellEntry,
		empty: "Nothing is quarantined in any store that could be read. 1 Health shows stores that could not.",
		columns: []column{
			{"STORE", 11, false}, {"SOURCE", 22, false}, {"CATEGORY", 13, false}, {"NOW", 11, false}, {"AGE", 5, true}, {"RULE, MATCH", 0, false},
		},
		least: []int{11, 16, 0, 11, 5, 10}, traits: traits[QuarantineEntry]{badge: 4, poll: true, store: func(e QuarantineEntry) string { return e.Store },
			less: map[int]func(a, b QuarantineEntry) int{4: func(a, b QuarantineEntry) int { return b.At.Compare(a.At) }}},
	}
	if d.Origins != nil { // before the rule, which takes the rest
		at := len(kind.columns) - 1
		kind.columns = slices.Insert(kind.columns, at, column{"ORIGIN", originWidth, false})
		kind.least = slices.Insert(kind.least, at, 8)
	}
	if d.Quarantine == nil {
		kind.missing = "no quarantine source is attached to this console: memdesk quarantine list shows what scanners have set aside"
	}
	kind.fetch = func(ctx context.Context, q PageQuery) (span[record[QuarantineEntry]], said, error) {
		page, err := d.Quarantine.Entries(ctx, q)
		if err != nil {
			return span[record[QuarantineEntry]]{}, said{}, err
		}
		out := span[record[QuarantineEntry]]{next: page.Next, total: page.Total}
		for _, e := range page.Entries {
			out.rows = append(out.rows, quarantineRecord(d.desk, e))
		}
		return out, said{}, nil
	}
	kind.detail = func(ctx context.Context, e QuarantineEntry) *text.Page {
		full, err := d.Quarantine.Entry(ctx, e.Store, e.ID)
		return quarantineText(d.desk, e, full, err, false)
	}
	kind.facts = func(ctx context.Context, e QuarantineEntry) *text.Page {
		full, err := d.Quarantine.Entry(ctx, e.Store, e.ID)
		return quarantineText(d.desk, e, full, err, true)
	}
	kind.keys = func(p *records[QuarantineEntry]) []act.Act {
		return []act.Act{
			act.Release.With(func() string { return noRelease(p) }, func() tea.Cmd {
				r, _ := p.list.current()
				return d.edits.release(r.raw)
			}),
			act.Delete.With(func() string { return en.noDiscard(p) }, func() tea.Cmd { return en.discardHere(p) }),
			d.takebacks.key(p.none, func() func(context.Context) (writing, bool) {
				r, _ := p.list.current()
				return func(context.Context) (writing, bool) {
					if r.raw.Writer == nil {
						return writing{}, false
					}
					return writingOf(r.raw.Writer.Row), true
				}
			}),
			act.Stories.With(stories.refusal, func() tea.Cmd { return openSide(d.desk, "Stories", stories.kind()) }),
			act.SameRule.With(p.none, func() tea.Cmd {
				r, _ := p.list.current()
				rule := r.raw
				return p.marks.all(func(r record[QuarantineEntry]) bool {
					e := r.raw
					return e.Category == rule.Category && e.Pattern == rule.Pattern && e.Problem == ""
				})
			}),
		}
	}
	kind.marking, kind.name, kind.datum = true, "quarantine", quarantineDatum
	kind.field = func(raw QuarantineEntry) string { return raw.Source }
	return newRecords(d.desk, kind)
}

// entries are the acts on what stands in the quarantine.
type entries struct{ d *bench }

// noDiscard says why the entry at the cursor cannot be deleted. What the store
// has not filed is a live item: forgetting that is another act.
func (en *entries) noDiscard(p *records[QuarantineEntry]) string {
	if p.marks.n() > 0 {
		return p.d.locked("")
	}
	r, ok := p.list.current()
	if !ok {
		return p.list.nothing()
	}
	return noDiscardOf(p.d, r.raw)
}

// discardHere asks about the entry at the cursor or the marked ones.
func (en *entries) discardHere(p *records[QuarantineEntry]) tea.Cmd {
	d := en.d
	if p.marks.n() < 2 {
		r, _ := p.list.current()
		for _, m := range p.marks.kept {
			r = m
		}
		if why := noDiscardOf(d.desk, r.raw); why != "" {
			d.say(paint.ToneWarn, d.esc.Const(why))
			return nil
		}
		return en.discard(r.raw, p.marks.clear)
	}
	if why := d.noBulk(); why != "" {
		d.say(paint.ToneWarn, d.esc.Const(why))
		return nil
	}
	if why := p.marks.uncounted(); why != "" {
		d.say(paint.ToneWarn, d.esc.Const(why))
		return nil
	}
	var items []target
	entries := map[model.Ref]QuarantineEntry{}
	left := 0
	for _, id := range p.marks.order {
		e := p.marks.kept[id].raw
		if noDiscardOf(d.desk, e) != "" {
			left++ // live items, and rows that tell of a store
			continue
		}
		entries[model.Ref{Store: e.Store, ID: e.ID}] = e
		items = append(items, target{ref: model.Ref{Store: e.Store, ID: e.ID}, name: e.Source, bytes: e.Bytes, hidden: !p.marks.shown(id)})
	}
	if len(items) == 0 {
		d.say(paint.ToneWarn, d.esc.Const("none of the marked rows is an entry of a quarantine that can be deleted"))
		return nil
	}
	return d.removals.forgetMany(bulkQuestion{items: items, verb: "Delete", what: "entry", filter: p.query, left: left, begun: p.marks.clear, after: en.discarded(entries)})
}

func noDiscardOf(d *desk, e QuarantineEntry) string {
	if why := d.locked(e.Store); why != "" {
		return why
	}
	switch {
	case e.ID == "":
		return "this row tells of the store, there is no entry behind it"
	case !e.Filed:
		return "the store's quarantine holds no such entry, only the live item: forget or edit that in 2 Tiers"
	}
	return ""
}

// discard asks whether an entry of a quarantine should go.
// begun is called when it goes.
func (en *entries) discard(e QuarantineEntry, begun func()) tea.Cmd {
	d := en.d
	return en.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) {
		s, err := d.fleet.Store(e.Store)
		if err != nil {
			return nil, prose.Reason(d.esc, err)
		}
		warnings, err := d.Acts.Preview(ctx, e.Store, e.ID)
		if err != nil {
			return nil, d.esc.Sprintf("not deleted: %s", prose.Reason(d.esc, err))
		}
		return en.discardDialog(s, e, warnings, begun), safetext.Text{}
	})
}

func (en *entries) discardDialog(s model.Store, e QuarantineEntry, warnings []string, begun func()) *dialog {
	esc := en.d.esc
	lines := []text.Line{
		{Value: esc.Sprintf("Delete the quarantine entry of %s?", esc.LineMax(e.Source, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Sprintf("This removes 1 entry (%s bytes, rule %s) from the quarantine of the store %s. Its source stays as it is.", prose.Group(e.Bytes), esc.Line(e.Pattern), esc.Line(s.Name))},
		{Value: esc.Sprintf("The source now is %s.", esc.Const(liveWords[liveness(e.Live)]))},
	}
	if s.Environment != "" {
		lines = append(lines, environmentLine(esc, s.Environment, s.Name))
	}
	for _, w := range warnings {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! %s", esc.LineMax(w, prose.MaxReason)), Kind: text.Warn})
	}
	ref := model.Ref{Store: e.Store, ID: e.ID}
	return &dialog{
		title: esc.Const("Delete"), lines: lines, name: en.d.typedName(s, e.Source),
		// An entry has no revision: it never changes.
		choices: []choice{{verb: "Delete", typed: true, begin: func() tea.Cmd { begun(); return nil },
			act: func(ctx context.Context, f filled) acted { return en.doDiscard(ctx, e, ref, f.reason) }}},
	}
}

// doDiscard runs in a command. A source that is still poisoned is listed by itself when
// its entry has gone: without a word that would look as if nothing had happened.
func (en *entries) doDiscard(ctx context.Context, e QuarantineEntry, ref model.Ref, why string) acted {
	out := en.d.doForget(ctx, ref, "", why)
	if !out.ok || en.d.Quarantine == nil {
		return out
	}
	if still, err := en.stillPoisoned(ctx, []QuarantineEntry{e}); err == nil && len(still) > 0 {
		out.text = en.d.esc.Const("entry deleted; its source is still poisoned and stays listed")
	}
	return out
}

// stillPoisoned are those of some entries whose source the scanner blocks now.
func (en *entries) stillPoisoned(ctx context.Context, of []QuarantineEntry) ([]QuarantineEntry, error) {
	type place struct{ store, name string }
	sources, ids := map[place]bool{}, map[place]bool{}
	for q := (PageQuery{Limit: model.MaxPage}); ; {
		page, err := en.d.Quarantine.Entries(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Entries {
			if r.Live != LivePoisoned {
				continue
			}
			sources[place{r.Store, r.Source}] = true
			for _, id := range []string{r.SourceID, r.ID} {
				if id != "" {
					ids[place{r.Store, id}] = true
				}
			}
		}
		if q.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	var out []QuarantineEntry
	for _, e := range of {
		if sources[place{e.Store, e.Source}] || e.SourceID != "" && ids[place{e.Store, e.SourceID}] {
			out = append(out, e)
		}
	}
	return out, nil
}

// discarded tells after long work how many sources of the entries that went are still
// poisoned: those are listed by themselves now.
func (en *entries) discarded(entries map[model.Ref]QuarantineEntry) func(ctx context.Context, gone []model.Ref) safetext.Text {
	return func(ctx context.Context, gone []model.Ref) safetext.Text {
		var of []QuarantineEntry
		for _, ref := range gone {
			of = append(of, entries[ref])
		}
		still, err := en.stillPoisoned(ctx, of)
		switch {
		case err != nil:
			return en.d.esc.Sprintf("whether their sources are still poisoned is not known: %s", prose.Reason(en.d.esc, err))
		case len(still) == 0:
			return en.d.esc.Const("none of their sources is poisoned now")
		}
		return en.d.esc.Sprintf("%s still poisoned at the source, which stays listed", prose.Group(int64(len(still))))
	}
}

func quarantineRecord(d *desk, e QuarantineEntry) record[QuarantineEntry] {
	esc := d.esc
	what := esc.Sprintf("%s: %s", esc.Line(e.Pattern), esc.LineMax(e.Excerpt, prose.MaxTitle))
	tones := []paint.Tone{paint.ToneInfo, paint.ToneInfo, paint.ToneWarn, paint.ToneInfo}
	switch {
	case e.Problem != "":
		what = esc.Sprintf("!! %s", esc.LineMax(e.Problem, prose.MaxTitle))
		tones = append(tones, paint.ToneInfo, paint.ToneBad)
	case e.FalsePositive:
		what = esc.Sprintf("(known false positive) %s", what)
	}
	live := liveness(e.Live)
	switch live {
	case LivePoisoned:
		tones[3] = paint.ToneBad
	case LiveClean:
		tones[3] = paint.ToneGood
	case LiveUnknown:
		tones[3] = paint.ToneWarn
	}
	cells := []safetext.Text{esc.Line(e.Store), prose.NameFirst(esc, e.Source), esc.Line(e.Category), esc.Const(string(live)), esc.Const(d.time.Age(e.At)), what}
	if d.Origins != nil {
		cells = slices.Insert(cells, len(cells)-1, entryCell(esc, e.Writer))
		tones = slices.Insert(tones, min(len(tones), len(cells)-2), paint.ToneInfo)
	}
	return record[QuarantineEntry]{
		key: e.Store + "\x00" + e.ID, raw: e, tones: tones, cells: cells}
}

// quarantineText shows an entry: what was blocked, with the match in it, under a line of
// why. facts are all that is known of the entry instead.
func quarantineText(d *desk, e QuarantineEntry, full QuarantineDetail, err error, facts bool) *text.Page {
	esc, st := d.esc, d.st
	live := liveness(e.Live)
	head := []text.Line{{Value: esc.LineMax(e.Source, maxField), Kind: text.Title}}
	if e.Problem != "" {
		return text.NewPage(append(head, text.Line{Value: esc.Sprintf("!! %s", esc.LineMax(e.Problem, prose.MaxReason)), Kind: text.Warn}), "")
	}
	tone, kind := paint.ToneBad, text.Warn
	switch live {
	case LiveClean, LiveGone:
		tone, kind = paint.ToneGood, text.Note
	case LiveUnknown:
		tone = paint.ToneWarn
	}
	head = append(head,
		text.Line{Value: st.Badge(tone, esc.Const(liveWords[live])), Kind: kind},
		text.Line{Value: st.Badge(paint.ToneBad, esc.Sprintf("%s (%s) at %s", esc.LineMax(e.Pattern, prose.MaxTitle), esc.Line(e.Category), esc.Const(matchPlace(e)))), Kind: text.Note})
	if e.FalsePositive {
		head = append(head, text.Line{Value: esc.Const("A known false positive of the scanner."), Kind: text.Note})
	}
	if e.Writer != nil && d.Origins != nil {
		head = append(head, text.Line{Value: esc.Sprintf("Written by %s.", writerWords(d, *e.Writer)), Kind: text.Note})
	}
	if err != nil {
		head = append(head, text.Line{Value: esc.Sprintf("!! its content cannot be read: %s", prose.Reason(esc, err)), Kind: text.Warn})
	}
	if facts || err != nil {
		return text.NewPage(append(append(head, text.Line{Kind: text.Blank}), quarantineFacts(d, e, full)...), "")
	}
	if full.Decoded != "" && full.Decoded != full.Body {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("decoded, as the rule saw it"), Kind: text.Title}, text.Line{Value: esc.LineMax(full.Decoded, maxField)})
	}
	head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("Quarantined text (match highlighted)"), Kind: text.Note})
	t := text.NewPage(head, full.Body)
	for _, s := range full.Spans {
		if n := len(t.Marks); n > 0 && s.Start <= t.Marks[n-1].End {
			t.Marks[n-1].End = max(t.Marks[n-1].End, s.End)
		} else if s.Start < s.End && s.End <= len(full.Body) {
			t.Marks = append(t.Marks, text.Mark{Start: s.Start, End: s.End})
		}
	}
	return t
}

// quarantineFacts are the fields of an entry, the evidence first.
func quarantineFacts(d *desk, e QuarantineEntry, full QuarantineDetail) []text.Line {
	esc, live := d.esc, liveness(e.Live)
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	return append([]text.Line{
		field("matched", esc.LineMax(e.Excerpt, maxField)), field("rule", esc.LineMax(e.Pattern, maxField)),
		field("category", esc.Line(e.Category)), field("at", esc.Const(matchPlace(e))), field("source now", esc.Const(liveWords[live])),
		field("store", esc.Line(e.Store)), field("blocked", esc.Const(changed(d, e.At))),
		field("size", esc.Const(prose.Size(e.Bytes))), field("sha256", esc.Line(e.SHA256)), field("entry", esc.LineMax(e.ID, maxField)),
	}, metaLines(esc, model.Item{Meta: full.Fields})...)
}

func matchPlace(e QuarantineEntry) string {
	if e.Line == 0 {
		return "not known"
	}
	s := "line " + strconv.Itoa(e.Line)
	if e.Col > 0 {
		s += ", column " + strconv.Itoa(e.Col)
	}
	return s
}

// tellEntry is an entry of the quarantine as a sentence.
func tellEntry(esc safetext.Escaper, e QuarantineEntry) safetext.Text {
	if e.Problem != "" {
		return esc.Sprintf("Store %s: PROBLEM: %s.", e.Store, esc.LineMax(e.Problem, prose.MaxReason))
	}
	known := ""
	if e.FalsePositive {
		known = " A known false positive."
	}
	return esc.Sprintf("%s in %s, rule %s, category %s, %s; its source is %s.%s Matched: %s", esc.LineMax(e.Source, prose.MaxTitle), e.Store, e.Pattern, e.Category,
		matchPlace(e), liveWords[liveness(e.Live)], known, esc.LineMax(e.Excerpt, prose.MaxTitle))
}
