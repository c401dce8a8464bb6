package quarantine

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/quarantine/review"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// New is the pane that reviews quarantine entries.
func New(d *pane.Bench, at int, stories *Stories) desk.Listing {
	en := &entries{d}
	kind := record.Kind[operator.QuarantineEntry]{
		Pane: at, Noun: "entry", Tell: tellEntry,
		Empty: "Nothing is quarantined.",
		Columns: []record.Column{
			{Title: "STORE", Width: 11, Least: 9}, {Title: "SOURCE", Width: 22, Least: 16}, {Title: "NOW", Width: 11, Least: 11}, {Title: "AGE", Width: 5, Right: true, Dim: true, Age: true}, {Title: "RULE, MATCH", Width: 48, Least: 16},
		},
		Traits: record.Traits[operator.QuarantineEntry]{Badge: 3, Worst: true, Poll: true,
			Store: func(e operator.QuarantineEntry) string { return e.Store }},
	}
	if d.Origins != nil { // before the rule, which takes the rest
		kind.Columns = slices.Insert(kind.Columns, len(kind.Columns)-1, record.Column{Title: "ORIGIN", Width: pane.OriginWidth, Least: 8, Dim: true})
	}
	kind.Missing = cmp.Or(act.When(d.Quarantine == nil, "no quarantine source is attached to this console: memdesk quarantine list shows what scanners blocked"), d.Closed(operator.ReadContent, "what is quarantined"))
	kind.Fetch = func(ctx context.Context, q operator.PageQuery) (record.Page[operator.QuarantineEntry], error) {
		page, err := d.Quarantine.Entries(ctx, q)
		if err != nil {
			return record.Page[operator.QuarantineEntry]{}, err
		}
		out := record.Page[operator.QuarantineEntry]{Next: page.Next, Total: page.Total, Problems: page.Problems}
		for _, e := range page.Rows {
			out.Rows = append(out.Rows, quarantineRecord(d.Desk, e))
		}
		return out, nil
	}
	shown := func(facts bool) func(context.Context, operator.QuarantineEntry) *text.Page {
		return func(ctx context.Context, e operator.QuarantineEntry) *text.Page {
			full, err := d.Quarantine.Entry(ctx, e.Store, e.ID)
			return quarantineText(d.Desk, e, full, err, facts)
		}
	}
	kind.Detail, kind.Facts = shown(false), shown(true)
	kind.Keys = func(p *record.List[operator.QuarantineEntry]) []act.Act {
		out := []act.Act{
			act.Release.With(act.Unless(p.None, func() string { return edit.NoRelease(d.Desk, p.Here()) }), func() tea.Cmd { return d.Edits.Release(p.Here()) }),
			act.Delete.With(func() string { return en.noDiscard(p) }, func() tea.Cmd { return en.discardHere(p) }),
			change.Takeback(d.Work, p.None, func() change.Writer { return change.WritingOf(p.Here().Writer).Known() }),
			act.Stories.With(stories.refusal, func() tea.Cmd { return d.Frame.Beside("Stories", false, stories.List) }),
		}
		if p.Full { // nobody sees what is marked under a page
			return out
		}
		return append(out, act.SameRule.With(p.None, func() tea.Cmd {
			rule := p.Here()
			return p.Marks.All(func(r record.Row[operator.QuarantineEntry]) bool {
				e := r.Raw
				return e.Category == rule.Category && e.Pattern == rule.Pattern && e.Problem == ""
			})
		}))
	}
	kind.Crumb = func(e operator.QuarantineEntry) safetext.Text { return d.Esc.LineMax(e.Source, prose.MaxTitle) }
	kind.Marking, kind.Name, kind.Datum = true, "quarantine", edit.QuarantineDatum
	kind.Field = func(raw operator.QuarantineEntry) string { return raw.Source }
	return record.New(d.Desk, kind)
}

// entries are the acts on quarantine entries.
type entries struct{ d *pane.Bench }

// noDiscard says why the entry at the cursor cannot be deleted; what is not filed is a live item.
func (en *entries) noDiscard(p *record.List[operator.QuarantineEntry]) string {
	if p.OnMarks() {
		return p.D.Locked("")
	}
	return cmp.Or(p.None(), noDiscardOf(p.D, p.Here()))
}

// discardHere asks about the entry at the cursor or the marked ones.
func (en *entries) discardHere(p *record.List[operator.QuarantineEntry]) tea.Cmd {
	d := en.d
	rows, _, why := p.Chosen()
	if why != "" {
		return d.Warn("%s", why)
	}
	if len(rows) == 1 {
		if why := noDiscardOf(d.Desk, rows[0].Raw); why != "" {
			return d.Warn("%s", why)
		}
		return en.discard(rows[0].Raw, p.Marks.Clear)
	}
	if why := d.NoBulk(); why != "" {
		return d.Warn("%s", why)
	}
	var items []change.Target
	entries := map[model.Ref]operator.QuarantineEntry{}
	left, poisoned := 0, []string{}
	for _, row := range rows {
		e := row.Raw
		if noDiscardOf(d.Desk, e) != "" {
			left++ // live items, and entries of locked stores
			continue
		}
		if e.Live == review.Poisoned && !slices.Contains(poisoned, e.Store+":"+e.Source) {
			poisoned = append(poisoned, e.Store+":"+e.Source)
		}
		entries[model.Ref{Store: e.Store, ID: e.ID}] = e
		items = append(items, change.Target{Ref: model.Ref{Store: e.Store, ID: e.ID}, Name: e.Source, Bytes: e.Bytes, Hidden: !p.Marks.Shown(row.Key)})
	}
	if len(items) == 0 {
		return d.Warn("none of the marked rows is an entry of a quarantine that can be deleted")
	}
	var said []text.Line
	if n := len(poisoned); n > 0 {
		said = []text.Line{{Value: d.Esc.Sprintf("%s still poisoned, and left as it is: %s", prose.Plural(n, "source"), strings.Join(poisoned, ", ")), Kind: text.Alert}}
	}
	return change.ForgetMany(d.Work, change.Question{Items: items, Verb: "Delete", What: "entry", Filter: p.Query, Left: left, Said: said, Begun: p.Marks.Clear, After: en.discarded(entries)})
}

func noDiscardOf(d *desk.Desk, e operator.QuarantineEntry) string {
	switch why := d.Locked(e.Store); {
	case why != "":
		return why
	case !e.Filed:
		return "the store's quarantine holds no such entry, only the live item: forget or edit that in 2 Tiers"
	}
	return ""
}

// discard asks whether to delete a quarantine entry; begun is called when the deletion begins.
func (en *entries) discard(e operator.QuarantineEntry, begun func()) tea.Cmd {
	d := en.d
	return en.d.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		s, err := d.Fleet.Store(e.Store)
		if err != nil {
			return dialog.Proposal{No: prose.Reason(d.Esc, err)}
		}
		warnings, err := d.Acts.Preview(ctx, e.Store, e.ID)
		if err != nil {
			return dialog.Proposal{No: d.Esc.Sprintf("not deleted: %s", prose.Reason(d.Esc, err))}
		}
		return dialog.Proposal{Dialog: en.discardDialog(s, e, warnings, begun)}
	})
}

func (en *entries) discardDialog(s model.Store, e operator.QuarantineEntry, warnings []string, begun func()) *dialog.Dialog {
	esc := en.d.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Delete the quarantine entry of %s?", esc.LineMax(e.Source, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Sprintf("This removes 1 entry (%s bytes, rule %s) from the quarantine of the store %s. Its source stays as it is.", prose.Group(e.Bytes), esc.Line(e.Pattern), esc.Line(s.Name))},
		{Value: esc.Sprintf("Its source is %s.", esc.Const(desk.LiveWords[e.Live]))},
	}
	lines = append(lines, en.d.Environments(s.Name)...)
	lines = append(lines, text.Lines(esc, text.Alert, warnings)...)
	ref := model.Ref{Store: e.Store, ID: e.ID}
	return &dialog.Dialog{
		Title: esc.Const("Delete"), Lines: lines, Name: en.d.TypedName(s, e.Source),
		// An entry has no revision: it never changes.
		Choices: []dialog.Choice{{Verb: "Delete", Typed: true, Begin: func() tea.Cmd { begun(); return nil },
			Act: func(ctx context.Context, f dialog.Filled) dialog.Acted { return en.doDiscard(ctx, e, ref, f.Reason) }}},
	}
}

// doDiscard, in a command, also says whether the source is still poisoned, and so listed by itself.
func (en *entries) doDiscard(ctx context.Context, e operator.QuarantineEntry, ref model.Ref, why string) dialog.Acted {
	out, removed := change.DoForget(en.d.Desk, ctx, ref, "", why)
	if !out.Ok || en.d.Quarantine == nil {
		return out
	}
	if still, err := en.stillPoisoned(ctx, []operator.QuarantineEntry{e}); err == nil && len(still) > 0 {
		what := en.d.Esc.Const("entry deleted")
		if !removed {
			what = en.d.Esc.Const("the entry was gone already")
		}
		out.Text = en.d.Esc.Sprintf("%s; its source is still poisoned and stays listed", what)
	}
	return out
}

// stillPoisoned are the entries whose source the scanner blocks now.
func (en *entries) stillPoisoned(ctx context.Context, of []operator.QuarantineEntry) ([]operator.QuarantineEntry, error) {
	type place struct{ store, name string }
	sources, ids := map[place]bool{}, map[place]bool{}
	for q := (operator.PageQuery{Limit: model.MaxPage}); ; {
		page, err := en.d.Quarantine.Entries(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Rows {
			if r.Live != review.Poisoned {
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
	var out []operator.QuarantineEntry
	for _, e := range of {
		if sources[place{e.Store, e.Source}] || e.SourceID != "" && ids[place{e.Store, e.SourceID}] {
			out = append(out, e)
		}
	}
	return out, nil
}

// discarded says after long work how many sources are still poisoned, and so listed by themselves.
func (en *entries) discarded(entries map[model.Ref]operator.QuarantineEntry) func(ctx context.Context, gone []model.Ref) safetext.Text {
	return func(ctx context.Context, gone []model.Ref) safetext.Text {
		var of []operator.QuarantineEntry
		for _, ref := range gone {
			of = append(of, entries[ref])
		}
		still, err := en.stillPoisoned(ctx, of)
		switch {
		case err != nil:
			return en.d.Esc.Sprintf("whether their sources are still poisoned is not known: %s", prose.Reason(en.d.Esc, err))
		case len(still) == 0:
			return en.d.Esc.Const("none of their sources is poisoned now")
		}
		return en.d.Esc.Sprintf("%s still poisoned at the source, which stays listed", prose.Group(len(still)))
	}
}

func quarantineRecord(d *desk.Desk, e operator.QuarantineEntry) record.Row[operator.QuarantineEntry] {
	esc := d.Esc
	what := esc.Sprintf("%s: %s", esc.Line(e.Pattern), esc.LineMax(e.Excerpt(), prose.MaxTitle))
	tones := []paint.Tone{paint.ToneInfo, paint.ToneInfo, paint.ToneInfo}
	switch {
	case e.Problem != "":
		what = d.St.Badge(paint.ToneBad, esc.LineMax(e.Problem, prose.MaxTitle))
		tones = append(tones, paint.ToneInfo, paint.ToneBad)
	case e.FalsePositive != "":
		what = esc.Sprintf("(known false positive) %s", what)
	}
	tones[2] = map[review.Liveness]paint.Tone{review.Poisoned: paint.ToneBad, review.Clean: paint.ToneGood, review.Unknown: paint.ToneWarn, review.Waits: paint.ToneWarn}[e.Live]
	at := e.At
	if at.IsZero() && e.Writer != nil { // a live item is in no quarantine, but was written
		at = e.Writer.At
	}
	cells := []safetext.Text{esc.Line(e.Store), prose.NameFirst(esc, e.Source), esc.Const(e.Live.String()), esc.Const("?"), what}
	if d.Origins != nil {
		who := esc.Const(desk.Nobody)
		if e.Writer != nil {
			who = desk.WriterCell(esc, e.Writer.Row)
		}
		cells = slices.Insert(cells, len(cells)-1, who)
		tones = slices.Insert(tones, min(len(tones), len(cells)-2), paint.ToneInfo)
	}
	return record.Row[operator.QuarantineEntry]{
		Key: e.Store + "\x00" + e.ID, Raw: e, At: at, Tones: tones, Cells: cells}
}

type verdict struct {
	words string
	tone  paint.Tone
	kind  text.Kind
}

// verdicts say what an entry still means.
var verdicts = map[review.Liveness]verdict{
	review.Poisoned: {"still poisoned: whoever reads the source without memdesk gets this text", paint.ToneBad, text.Bad},
	review.Clean:    {"old copy: the source is clean now, only this entry is left", paint.ToneGood, text.Field},
	review.Gone:     {"old copy: the source is gone, only this entry is left", paint.ToneGood, text.Field},
	review.Unknown:  {"unknown: nobody could look at the source", paint.ToneWarn, text.Warn},
	review.Waits:    {"it waits: nothing was written", paint.ToneWarn, text.Warn},
}

// quarantineText shows an entry: the blocked text with its match under a line of why, then the rest; or all of its facts.
func quarantineText(d *desk.Desk, e operator.QuarantineEntry, full operator.QuarantineEntry, err error, facts bool) *text.Page {
	esc, st := d.Esc, d.St
	head := []text.Line{{Value: esc.LineMax(e.Source, desk.MaxField), Kind: text.Title}}
	if e.Problem != "" {
		return text.NewPage(append(head, text.Line{Value: esc.LineMax(e.Problem, prose.MaxReason), Kind: text.Alert}), "")
	}
	means := verdicts[e.Live]
	head = append(head,
		text.State(st, means.tone, esc.Const(means.words)).As(means.kind),
		text.Line{Value: esc.Sprintf("Its rule: %s (%s), at %s.", esc.LineMax(e.Pattern, prose.MaxTitle), esc.Line(e.Category), esc.Const(matchPlace(e))), Kind: text.Note})
	if e.FalsePositive != "" {
		head = append(head, text.Line{Value: esc.Const("A known false positive of the scanner."), Kind: text.Note})
	}
	var foot []text.Line
	if e.Writer != nil && d.Origins != nil {
		foot = append(foot, text.Line{Value: esc.Sprintf("Written by %s.", desk.WriterWords(d, *e.Writer)), Kind: text.Note})
	}
	if noDiscardOf(d, e) == "" && !d.Spoken { // a listener has words, not keys
		words := "`d` deletes this entry for good."
		switch {
		case e.Live == review.Waits:
			words = "`e` releases it: you edit this text, and the scanner checks it. `d` deletes this entry for good."
		case e.Live != review.Gone && e.SourceID != "":
			edit := "edit the source"
			if e.Live == review.Poisoned && e.FalsePositive == "" {
				edit = "edit the poison out of the source"
			}
			words = "`e` releases it: you " + edit + ", and the scanner checks that. `d` deletes this entry for good; the source stays as it is."
		}
		foot = append(foot, text.Advice(esc, words))
	}
	if len(foot) > 0 {
		foot = slices.Insert(foot, 0, text.Line{Kind: text.Blank})
	}
	if err != nil {
		head = append(head, text.Line{Value: esc.Sprintf("its content cannot be read: %s", prose.Reason(esc, err)), Kind: text.Alert})
	}
	if facts || err != nil {
		return text.NewPage(slices.Concat(head, foot, []text.Line{{Kind: text.Blank}}, quarantineFacts(d, e, full)), "")
	}
	if full.Decoded != "" && full.Decoded != full.Body {
		head = append(head, text.Line{Kind: text.Blank}, text.Line{Value: esc.Const("decoded, as the rule saw it"), Kind: text.Title}, text.Line{Value: esc.LineMax(full.Decoded, desk.MaxField)})
	}
	if e.Live == review.Waits { // what the release would do is in no text
		head = append(head, desk.MetaLines(esc, model.Item{Meta: full.Fields})...)
	}
	t := text.NewPage(append(head, text.Line{Kind: text.Blank}), full.Body)
	t.Foot = foot
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
func quarantineFacts(d *desk.Desk, e operator.QuarantineEntry, full operator.QuarantineEntry) []text.Line {
	esc := d.Esc
	return append([]text.Line{
		desk.Field("matched", esc.LineMax(e.Excerpt(), desk.MaxField)), desk.Field("rule", esc.LineMax(e.Pattern, desk.MaxField)),
		desk.Field("category", esc.Line(e.Category)), desk.Field("at", esc.Const(matchPlace(e))), desk.Field("source now", esc.Const(desk.LiveWords[e.Live])),
		desk.Field("store", esc.Line(e.Store)), desk.Field("blocked", esc.Const(desk.Changed(d, e.At))),
		desk.Field("size", esc.Const(prose.Size(e.Bytes))), desk.Field("sha256", esc.Line(e.SHA256)), desk.Field("entry", esc.LineMax(e.ID, desk.MaxField)),
	}, desk.MetaLines(esc, model.Item{Meta: full.Fields})...)
}

func matchPlace(e operator.QuarantineEntry) string {
	if e.Line == 0 {
		return "not known"
	}
	s := "line " + strconv.Itoa(e.Line)
	if e.Col > 0 {
		s += ", column " + strconv.Itoa(e.Col)
	}
	return s
}

func tellEntry(esc safetext.Escaper, e operator.QuarantineEntry) safetext.Text {
	if e.Problem != "" {
		return esc.Sprintf("Store %s: PROBLEM: %s.", e.Store, esc.LineMax(e.Problem, prose.MaxReason))
	}
	known := ""
	if e.FalsePositive != "" {
		known = " A known false positive."
	}
	return esc.Sprintf("%s in %s, rule %s, category %s, %s; its source is %s.%s Matched: %s", esc.LineMax(e.Source, prose.MaxTitle), e.Store, e.Pattern, e.Category,
		matchPlace(e), desk.LiveWords[e.Live], known, esc.LineMax(e.Excerpt(), prose.MaxTitle))
}
