package conflicts

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/diff"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// New is the pane that triages conflict copies; find shows the conflict of an item.
func New(d *pane.Bench, at int) (p desk.Listing, find func(model.Ref) tea.Cmd) {
	rs := &resolutions{d: d, done: map[string]bool{}}
	d.Undos.Back = rs.undone
	kind := record.Kind[conflict.Copy]{
		Pane: at, Noun: "conflict",
		Empty: "Nothing is in conflict.",
		Columns: []record.Column{
			{Title: "STORE", Width: 11, Least: 9}, {Title: "BASE", Width: 23, Least: 16}, {Title: "SURE", Width: 9, Least: 9, Dim: true}, {Title: "STATE", Width: 12, Least: 12}, {Title: "AGE", Width: 5, Least: 5, Right: true, Dim: true, Age: true}, {Title: "COPY", Width: 40, Dim: true}, {Title: "TOOL", Least: 9, Dim: true},
		},
		Traits: record.Traits[conflict.Copy]{Badge: 4, Worst: true, Poll: true,
			Store: func(c conflict.Copy) string { return c.Store },
			Less: map[int]func(a, b conflict.Copy) int{
				1: func(a, b conflict.Copy) int { return list.Natural(path.Base(a.Target), path.Base(b.Target)) },
			}},
	}
	kind.Missing = cmp.Or(act.When(d.Conflicts == nil, "no source of conflicts is attached to this console: memdesk conflicts list shows them"), d.Closed(operator.ReadContent, "the texts of conflicts"))
	kind.Fetch = func(ctx context.Context, q operator.PageQuery) (record.Page[conflict.Copy], error) {
		page, err := d.Conflicts.Conflicts(ctx, q)
		if err != nil {
			return record.Page[conflict.Copy]{}, err
		}
		out := record.Page[conflict.Copy]{Next: page.Next, Total: page.Total, Problems: page.Problems, Said: list.Said{Text: d.Esc.LineMax(page.Notice, prose.MaxReason)}}
		redundant := 0
		for _, c := range page.Rows {
			out.Rows = append(out.Rows, conflictRecord(d.Desk, c))
			if c.Redundant && !c.RenameOnly() && rs.noResolve(c) == "" {
				redundant++
			}
		}
		if redundant > 0 && q.Filter == "" && out.Said.Text.IsEmpty() && !d.Spoken {
			words := d.Esc.Sprintf("%s redundant: D removes them", prose.Group(redundant))
			if out.Next != "" { // more of them may follow on another page
				words = d.Esc.Const("some are redundant: D removes them")
			}
			out.Said = list.Said{Text: words, Calm: true}
		}
		return out, nil
	}
	kind.Marking, kind.Name, kind.Field, kind.Datum = true, "conflicts", func(c conflict.Copy) string { return model.Ref{Store: c.Store, ID: c.ID}.String() }, conflictDatum
	kind.Detail = rs.conflictDetail(room{})
	kind.Facts = func(ctx context.Context, c conflict.Copy) *text.Page {
		cmp, err := d.Conflicts.Compare(ctx, c)
		head := rs.conflictHead(cmp, c)
		if err != nil {
			head = append(head, text.Line{Value: d.Esc.Sprintf("both sides cannot be read: %s", prose.Reason(d.Esc, err)), Kind: text.Alert})
		}
		return text.NewPage(head, "")
	}
	aside := &layout{}
	kind.Lay = func(p *record.List[conflict.Copy]) {
		if !aside.chosen {
			aside.beside = p.Detail.Width >= desk.WideDetail
		}
		p.Kind.Detail = rs.conflictDetail(room{aside.beside, p.Full, p.Detail.Width, p.Detail.Height})
	}
	kind.Keys = func(p *record.List[conflict.Copy]) []act.Act { return rs.conflictKeys(p, aside) }
	kind.Crumb = func(c conflict.Copy) safetext.Text {
		return d.Esc.LineMax(path.Base(cmp.Or(c.Target, c.ID)), prose.MaxTitle)
	}
	rs.list = record.New(d.Desk, kind)
	return rs.list, func(item model.Ref) tea.Cmd {
		return rs.list.Find(func(c conflict.Copy) bool { return c.Store == item.Store && (c.ID == item.ID || c.BaseID == item.ID) })
	}
}

// conflictDatum is a row for copy and export; a copy that was not compared counts as unknown.
func conflictDatum(c conflict.Copy) desk.Datum {
	known := func(there bool, v any) any {
		if !there {
			return nil
		}
		return v
	}
	return desk.DatumOf(
		"store", c.Store, "copy", model.EncodeID(c.ID), "base", known(c.BaseID != "", model.EncodeID(c.BaseID)),
		"target", known(c.Target != "", model.EncodeID(c.Target)), "confidence", string(c.Confidence),
		"reason", c.Reason, "redundant", known(c.Base != conflict.BaseUnknown, c.Redundant), "orphan", c.Orphan,
		"tool", c.Tool, "who", known(c.Who != "", c.Who), "at", desk.StampOf(c.At), "copy_bytes", c.CopySize,
		"base_bytes", c.BaseSize, "problem", known(c.Problem != "", c.Problem),
	)
}

func conflictRecord(d *desk.Desk, c conflict.Copy) record.Row[conflict.Copy] {
	esc := d.Esc
	base := esc.LineMax(path.Base(c.Target), prose.MaxTitle)
	if c.Target == "" {
		base = esc.Const("-")
	}
	own := esc.LineMax(path.Base(c.ID), prose.MaxTitle)
	stem := strings.TrimSuffix(path.Base(c.Target), path.Ext(c.Target))
	if rest, ok := strings.CutPrefix(path.Base(c.ID), stem); ok && c.ID != c.Target && !d.Spoken {
		own = esc.Sprintf("%s%s", paint.LeftOut(esc), esc.LineMax(rest, prose.MaxTitle)) // the row has the base
	}
	tool := esc.Line(c.Tool)
	if c.Problem != "" { // in the column that has room at every width
		tool = d.St.Badge(paint.ToneBad, esc.LineMax(c.Problem, prose.MaxTitle))
	}
	sure := esc.Const(strings.TrimPrefix(string(c.Confidence), string(names.Certain))) // the usual is silent: the others stand out
	return record.Row[conflict.Copy]{
		Key: key(c.Store, c.ID), Raw: c, At: c.At, Tones: []paint.Tone{3: conflictTone(c)},
		Cells: []safetext.Text{esc.Line(c.Store), base, sure, esc.Const(operator.ConflictState(c)), esc.Const("?"), own, tool},
	}
}

// noResolve says why a copy cannot be resolved.
func (rs *resolutions) noResolve(c conflict.Copy) string {
	switch why := rs.d.Locked(c.Store); {
	case why != "":
		return why
	case c.Problem != "":
		return "it could not be compared: " + c.Problem
	}
	return ""
}

// conflictKeys are the keys of this pane beside those of every list.
func (rs *resolutions) conflictKeys(p *record.List[conflict.Copy], aside *layout) []act.Act {
	d := rs.d
	can := func(more func(c conflict.Copy) string) func() string {
		return act.Unless(p.None, func() string { return rs.noResolve(p.Here()) }, func() string { return more(p.Here()) })
	}
	many := act.Unless(func() string { return d.Locked("") }, d.NoBulk)
	text := func(c conflict.Copy) string {
		switch {
		case c.Binary:
			return "one side is not text: b, c and B work on its bytes"
		case c.Orphan:
			return "it has no base to be merged with"
		}
		return noTake(c, conflict.TakeCopy)
	}
	take := func(a act.Act, t conflict.Take) act.Act {
		if p.OnMarks() {
			return a.With(many, func() tea.Cmd { return rs.takeMarked(p, t) })
		}
		return a.With(can(func(c conflict.Copy) string { return noTake(c, t) }), func() tea.Cmd { return rs.take(p.Here(), t) })
	}
	return []act.Act{
		take(act.KeepBase, conflict.TakeBase), take(act.KeepCopy, conflict.TakeCopy), take(act.KeepBoth, conflict.TakeBoth),
		act.Merge.With(can(func(c conflict.Copy) string {
			if c.Class == names.InFile && !c.Binary {
				return ""
			}
			return text(c)
		}), func() tea.Cmd { return rs.mergeConflict(p.Here()) }),
		act.EditBoth.With(can(func(c conflict.Copy) string {
			if why := text(c); why != "" && c.Class != names.InFile {
				return why
			}
			return edit.NoEdit(d.Desk, c.Store, "")
		}), func() tea.Cmd { return rs.editConflict(p.Here(), nil) }),
		{Keys: []string{"s"}, Name: "sides", Doc: "both sides beside each other, or one below the other", Do: func() tea.Cmd {
			aside.beside, aside.chosen = !aside.beside, true
			p.Outdate()
			word := "both sides one below the other; s sets them beside each other"
			if aside.beside {
				word = "both sides beside each other; s sets them one below the other"
			}
			d.Say(paint.ToneInfo, d.Esc.Const(word))
			return p.Show()
		}},
		act.Redundant.With(many, rs.dropRedundant),
	}
}

// room is the size of a conflict's detail; zero: it has a page of its own, in words.
type room struct {
	beside        bool // the sides are beside each other
	whole         bool // with all of their lines
	width, height int
}

// fewLines is the height of a detail below which the text comes before all that is said of it.
const fewLines = 11

// tinyDetail is the height of a detail below which the difference has all lines but one: the question has the warning.
const tinyDetail = 6

// conflictDetail is a copy: both sides compared, under one line that names them. i shows the rest.
func (rs *resolutions) conflictDetail(at room) func(context.Context, conflict.Copy) *text.Page {
	d := rs.d
	return func(ctx context.Context, c conflict.Copy) *text.Page {
		cmp, err := d.Conflicts.Compare(ctx, c)
		if err != nil {
			return text.NewPage(append(rs.conflictHead(cmp, c), text.Line{Kind: text.Blank}, text.Line{Value: d.Esc.Sprintf("both sides cannot be read: %s", prose.Reason(d.Esc, err)), Kind: text.Alert}), "")
		}
		head, low := append(rs.conflictBrief(c), text.Line{Kind: text.Blank}), at.height > 0 && at.height < fewLines
		switch {
		case cmp.Binary:
			return text.NewPage(append(head, text.Advice(d.Esc, "One side is not text. `b`, `c` and `B` resolve it as bytes.")), "")
		case c.Class == names.InFile && at != room{}: // who hears it hears the whole text
			if m, err := mergingOf(cmp); err == nil {
				if low { // the list has its name
					head = head[1:]
				}
				return m.detail(d.Esc, head)
			}
			return text.NewPage(head, cmp.CopyText)
		case c.Class == names.InFile || c.Orphan:
			return text.NewPage(head, cmp.CopyText)
		case cmp.Redundant:
			return text.NewPage(append(head, text.Line{Value: d.Esc.Const("Both are the same, byte for byte:"), Kind: text.Note}), cmp.BaseText)
		case at.beside:
			height := at.height
			if at.whole {
				height = 0
			}
			return text.NewPage(slices.Concat(head[:1], rs.sides(cmp, at.width, height), []text.Line{{Kind: text.Blank}}, head[1:len(head)-1], frontLines(d.Esc, cmp)), "")
		}
		diff := diff.Comparison{Unnamed: at != room{}}
		tiny := low && at.height < tinyDetail
		switch {
		case tiny:
			diff.Around = -1
		case low:
			diff.Around = 1
		}
		diff.Compare(d.Esc, "base: "+path.Base(cmp.BaseID), "copy: "+path.Base(cmp.ID), cmp.BaseText, cmp.CopyText)
		if !diff.Unnamed {
			return diff.Text(slices.Concat(head[:len(head)-1], frontLines(d.Esc, cmp), []text.Line{{Value: diff.CopyWords(d.Esc), Kind: text.Note}, {Kind: text.Blank}}))
		}
		head = []text.Line{text.State(d.St, conflictTone(c), d.Esc.Sprintf("%s, %s", desk.OrElse(d.Esc.Line(c.Tool), d.Esc.Const(operator.ConflictState(c))), diff.CopyWords(d.Esc))).As(text.Note)}
		if warnings := rs.warnings(c); len(warnings) > 0 && !tiny {
			first := warnings[0]
			if low { // the texts come before the rest of the warning
				first.Value = d.Esc.Trunc(first.Value, max(at.width, paint.MinWidth-2)-paint.BadgeSign)
			}
			head = append(head, first)
		}
		if !low {
			head = slices.Concat(rs.conflictBrief(c)[:1], head, rs.outcome(c))
		}
		return diff.Text(head)
	}
}

// detail shows both sides of each block of markers, and not the text around them.
func (m merging) detail(esc safetext.Escaper, head []text.Line) *text.Page {
	var c diff.Comparison
	for i, h := range m.Hunks {
		if h.Open() {
			m.compare(esc, &c, i)
		}
	}
	return c.Text(head)
}

// layout says how the sides of a conflict are arranged: by the width, until the operator chooses.
type layout struct{ beside, chosen bool }

// conflictTitle names the copy, or the item with markers.
func conflictTitle(esc safetext.Escaper, c conflict.Copy) text.Line {
	line := text.Line{Value: esc.LineMax(path.Base(c.ID), desk.MaxField), Kind: text.Title}
	if c.Class != names.InFile {
		line.Value = esc.Sprintf("the copy: %s", line.Value)
	}
	return line
}

// conflictBrief holds the facts to know before the texts are compared; i shows the rest.
func (rs *resolutions) conflictBrief(c conflict.Copy) []text.Line {
	d := rs.d
	esc := d.Esc
	head := []text.Line{
		conflictTitle(esc, c),
		text.State(d.St, conflictTone(c), esc.Sprintf("%s, %s: %s", esc.Const(operator.ConflictState(c)), desk.OrElse(esc.Line(c.Tool), esc.Const("by no known tool")), esc.LineMax(c.Reason, desk.MaxField))).As(text.Note),
	}
	return append(append(head, rs.outcome(c)...), rs.warnings(c)...)
}

// outcome says what each key does with the two texts.
func (rs *resolutions) outcome(c conflict.Copy) []text.Line {
	words := "`b` removes the copy, `c` replaces the base with it, `B` keeps both."
	switch {
	case rs.d.Spoken || rs.noResolve(c) != "": // a listener has words, not keys
		return nil
	case c.Class == names.InFile:
		words = "`m` chooses a side at each of its markers, `e` opens the text."
	case c.Orphan:
		words = "`c` gives the copy the base's name, `B` a new one."
	case c.RenameOnly():
		words = "`b` renames the copy, `c` also replaces the base with it, `B` keeps both."
	}
	return []text.Line{text.Advice(rs.d.Esc, words+" `z` undoes it.")}
}

func (rs *resolutions) warnings(c conflict.Copy) (out []text.Line) {
	esc := rs.d.Esc
	out = text.Known(text.Line{Value: esc.LineMax(c.Problem, prose.MaxReason), Kind: text.Alert})
	if !c.Returned.IsZero() {
		out = append(out, text.Line{Value: esc.Sprintf("It has come back: it was resolved %s. Resolve it again once every device has synced.", desk.Changed(rs.d.Desk, c.Returned)), Kind: text.Alert})
	}
	return append(out, text.Lines(esc, text.Alert, c.Cautions)...)
}

// conflictTone is the urgency of a copy's state.
func conflictTone(c conflict.Copy) paint.Tone {
	return []paint.Tone{paint.ToneBad, paint.ToneWarn, paint.ToneInfo, paint.ToneGood}[operator.ConflictRank(c)]
}

// conflictHead is all facts about a copy, the evidence first.
func (rs *resolutions) conflictHead(cmp conflict.Comparison, c conflict.Copy) []text.Line {
	d := rs.d
	esc := d.Esc
	head := []text.Line{
		conflictTitle(esc, c),
		desk.Field(string(c.Confidence), esc.LineMax(c.Reason, desk.MaxField)),
	}
	head = append(head, rs.warnings(c)...)
	for _, t := range c.Twins {
		head = append(head, text.Line{Value: esc.Sprintf("the same bytes stand in %s", esc.LineMax(path.Base(t), prose.MaxTitle)), Kind: text.Note})
	}
	if c.Target != "" && c.Class != names.InFile {
		word := "base"
		if c.Orphan {
			word = "base, gone"
		}
		head = append(head, desk.Field(word, esc.LineMax(c.Target, desk.MaxField)))
	}
	tools := c.Tool
	if len(c.Also) > 0 {
		tools += ", or " + strings.Join(c.Also, ", ")
	}
	head = append(head, desk.Field("tool", esc.Line(tools)))
	head = append(head, text.Known(desk.Field("made by", esc.LineMax(c.Who, prose.MaxTitle)))...)
	for i, s := range c.Chain {
		if len(c.Chain) > 1 {
			head = append(head, desk.Field("step", esc.Sprintf("%s: %s", esc.Const(prose.Group(i+1)), esc.LineMax(s.Name, prose.MaxTitle))))
		}
	}
	head = append(head, desk.Field("copy", esc.Sprintf("%s, %s", prose.Size(c.CopySize), desk.Changed(d.Desk, c.CopyTime))))
	if !c.Orphan && c.Class != names.InFile {
		head = append(head, desk.Field("base", esc.Sprintf("%s, %s", prose.Size(c.BaseSize), desk.Changed(d.Desk, c.BaseTime))))
		switch {
		case cmp.Threefold():
			head = append(head, desk.Field("ancestor", esc.LineMax(cmp.Origin, prose.MaxTitle)))
		case cmp.Unknown != "":
			head = append(head, desk.Field("ancestor", esc.Sprintf("not known: %s", esc.LineMax(cmp.Unknown, prose.MaxTitle))))
		}
	}
	return append(append(head, desk.Field("store", esc.Line(c.Store))), frontLines(esc, cmp)...)
}

// frontLines are the differing metadata, the base's value first.
func frontLines(esc safetext.Escaper, cmp conflict.Comparison) []text.Line {
	var out []text.Line
	for _, f := range cmp.Front {
		if !f.Same() {
			out = append(out, text.Line{Name: esc.LineMax(f.Name, 20), Value: esc.Sprintf("%s | %s", sideValue(esc, f.Base, f.InBase), sideValue(esc, f.Copy, f.InCopy)), Kind: text.Note})
		}
	}
	return out
}

func sideValue(esc safetext.Escaper, v string, there bool) safetext.Text {
	if !there {
		return esc.Const("(not there)")
	}
	return esc.LineMax(v, prose.MaxTitle)
}
