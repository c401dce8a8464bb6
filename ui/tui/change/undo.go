package change

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
	"memdesk/ui/tui/task"
	"memdesk/undo"
)

// Undos is the undo of z, and the list of other undo entries.
type Undos struct {
	D    *desk.Desk
	Work *task.Underway
	Acts [][]string               // undo entries of this session, the last act last
	some bool                     // an act of this session left the reach of z
	Back func(store, item string) // hears of each item whose change was undone; nil: nobody
}

// Refusal says why z takes nothing back; the reason of the last act comes first.
func (us *Undos) Refusal() string {
	switch why := us.D.Locked(""); {
	case why != "":
		return why
	case len(us.Acts) > 0:
	case us.D.Stuck.Get() != "":
		return "the last act cannot be put back: " + us.D.Stuck.Get()
	case us.some:
		return "nothing of this session is left for z; :undo lists what can be put back"
	default:
		return "nothing was done here yet; :undo lists earlier changes"
	}
	return ""
}

// Take removes entries from the reach of z, in one pass: an act on many items has as many.
func (us *Undos) Take(ids ...string) {
	if len(ids) == 0 {
		return
	}
	used := make(map[string]bool, len(ids))
	for _, id := range ids {
		used[id] = true
	}
	for i, all := range us.Acts {
		us.Acts[i] = slices.DeleteFunc(slices.Clone(all), func(u string) bool { return used[u] })
		us.some = us.some || len(us.Acts[i]) < len(all)
	}
	us.Acts = slices.DeleteFunc(us.Acts, func(u []string) bool { return len(u) == 0 })
}

// Last asks whether to undo the last act. It says where that cannot be undone: z once more is for the act before.
func (us *Undos) Last() tea.Cmd {
	if why := us.D.Stuck.Get(); why != "" {
		us.D.Stuck.Set("")
		return us.D.Frame.Refuse(act.Act{Keys: []string{"z"}, Doc: "undo the last act of this session"}, "the last act cannot be put back: "+why+". z once more is for the act before it")
	}
	last := us.Acts[len(us.Acts)-1]
	if len(last) > 1 {
		return us.undoMany(last)
	}
	return us.Entry(last[0])
}

// propose asks about undo entries. Those of ids that are gone leave the reach of z: the act before them is next.
func (us *Undos) propose(ids []string, prepare func([]undo.Entry) dialog.Proposal) tea.Cmd {
	d := us.D
	return d.Modal.Prepare(func(ctx context.Context) (m dialog.Proposal) {
		rows, _, err := d.Acts.Undos(ctx)
		if err != nil {
			m.No = d.Esc.Sprintf("not undone: %s", prose.Reason(d.Esc, err))
			return m
		}
		m = prepare(rows)
		have := make(map[string]bool, len(rows))
		for _, u := range rows {
			have[u.ID] = true
		}
		gone := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return have[id] })
		m.Begin = func() { us.Take(gone...) }
		return m
	})
}

// Entry asks whether to undo a change.
func (us *Undos) Entry(id string) tea.Cmd {
	d := us.D
	return us.propose([]string{id}, func(rows []undo.Entry) dialog.Proposal {
		i := slices.IndexFunc(rows, func(u undo.Entry) bool { return u.ID == id })
		if i < 0 {
			return dialog.Proposal{No: d.Esc.Sprintf("not undone: the entry %s was used already or has expired", id)}
		}
		if why := us.noRestore(rows[i]); why != "" {
			return dialog.Proposal{No: d.Esc.Sprintf("not undone: %s", why)}
		}
		return dialog.Proposal{Dialog: us.dialog(rows[i])}
	})
}

// itemsOf are the items of entries.
func itemsOf(entries ...undo.Entry) (items []undo.Side) {
	for _, u := range entries {
		items = append(items, u.AllSides()...)
	}
	return items
}

// existed reports whether any item of an entry was there before the change: undo removes all of the others.
func existed(u undo.Entry) bool {
	return slices.ContainsFunc(u.AllSides(), func(it undo.Side) bool { return it.Existed })
}

// confirmed is false where nobody knows whether the change was made.
func confirmed(u undo.Entry) bool { return u.After != "" || len(u.Sides) > 0 }

// effect says what an undo does to items: one that the change made goes, the others come back.
func effect(items []undo.Side, bytes int64) string {
	made := 0
	for _, u := range items {
		if !u.Existed {
			made++
		}
	}
	switch back := len(items) - made; {
	case made == 0 && back == 1:
		return "Restores the old text (" + prose.Size(bytes) + ")."
	case made == 0:
		return "Restores " + prose.Plural(back, "item") + " as they were before (" + prose.Size(bytes) + ")."
	case back == 0 && made == 1:
		return "Removes the item that the change made."
	case back == 0:
		return "Removes " + prose.Plural(made, "item") + " that the change made."
	default:
		return "Restores " + prose.Plural(back, "item") + " (" + prose.Size(bytes) + "), and removes " + prose.Plural(made, "item") + " that the change made."
	}
}

// effects lists what an undo does to each of several items; one needs no list.
func effects(esc safetext.Escaper, items []undo.Side) *text.Page {
	if len(items) < 2 {
		return nil
	}
	lines := make([]text.Line, len(items))
	for i, u := range items {
		word := "restore"
		if !u.Existed {
			word = "remove"
		}
		lines[i] = text.Line{Name: esc.Const(word), Value: esc.LineMax(u.Item, prose.MaxTitle)}
	}
	return text.NewPage(lines, "")
}

// did is the word for the items of an entry after its undo.
func did(u undo.Entry) string {
	var back, made bool
	for _, it := range u.AllSides() {
		back, made = back || it.Existed, made || !it.Existed
	}
	switch {
	case !made:
		return "put back"
	case !back:
		return "removed again"
	}
	return "undone"
}

// nameOf names an entry by its first item, and counts the others.
func nameOf(esc safetext.Escaper, u undo.Entry) safetext.Text {
	name := esc.LineMax(u.Item, prose.MaxTitle)
	if more := len(u.Sides) - 1; more > 0 {
		return esc.Sprintf("%s and %s more", name, prose.Group(more))
	}
	return name
}

// changeWord is what the change did, in the words of the acts: a retain has created the item or edited it.
func changeWord(u undo.Entry) string {
	switch {
	case u.Undoes:
		return "undo of " + string(u.Op)
	case u.Op == model.OpRetain && !existed(u):
		return "create"
	case u.Op == model.OpRetain:
		return "edit"
	}
	return string(u.Op)
}

func (us *Undos) dialog(u undo.Entry) *dialog.Dialog {
	d, esc := us.D, us.D.Esc
	items, title := u.AllSides(), esc.Sprintf("Undo the %s of %s?", esc.Line(changeWord(u)), esc.LineMax(u.Item, prose.MaxTitle))
	if len(items) > 1 {
		title = esc.Sprintf("Undo the %s of %s?", esc.Line(changeWord(u)), prose.Plural(len(items), "item"))
	}
	lines := []text.Line{
		{Value: title, Kind: text.Title},
		{Value: esc.Const(effect(items, u.Bytes))},
	}
	lines = append(lines, text.Line{Value: esc.Sprintf("The change: %s.", desk.Changed(d, u.At))})
	where := d.Environments(u.Store)
	if len(where) == 0 {
		where = []text.Line{{Value: esc.Sprintf("The store: %s.", esc.Line(u.Store)), Kind: text.Note, Pin: true}}
	}
	lines = append(lines, where...)
	lines = append(lines, text.Line{Value: esc.Const("If the item has changed since, nothing is overwritten."), Kind: text.Note})
	return &dialog.Dialog{
		Title: esc.Const("Undo"), Lines: lines, Body: effects(esc, items),
		Choices: []dialog.Choice{{Verb: "Undo", Act: func(ctx context.Context, f dialog.Filled) dialog.Acted { return us.undo(ctx, u, f.Reason) }}},
	}
}

// undo runs in a command.
func (us *Undos) undo(ctx context.Context, u undo.Entry, why string) dialog.Acted {
	d, esc := us.D, us.D.Esc
	done, err := d.Acts.Restore(ctx, u.ID, why)
	switch {
	case errors.Is(err, model.Conflict):
		return dialog.Acted{Undone: []string{u.ID}, Text: esc.Sprintf("not undone: %s; z leaves it out now, :undo lists it", prose.Reason(esc, err)), Title: "Conflict",
			Page: conflictText(d, ctx, model.Ref{Store: u.Store, ID: u.Item}, "since the act")}
	case err != nil:
		return dialog.Acted{Text: esc.Sprintf("not undone: %s", prose.Reason(esc, err))}
	}
	word := did(u)
	if done.Relations > 0 {
		word += " with " + prose.Plural(done.Relations, done.Fell)
	}
	out := dialog.Acted{Ok: true, Undone: []string{u.ID}, Text: esc.Sprintf("%s: %s; :undo lists what can be undone", word, nameOf(esc, u))}
	out.Beside = func() tea.Cmd {
		if us.Back != nil {
			for _, it := range u.AllSides() {
				us.Back(u.Store, it.Item)
			}
		}
		return nil
	}
	if len(done.Warnings) > 0 {
		out.Title, out.Page = "Undo", d.WarningPage(out.Text, done.Warnings)
	}
	return out
}

func (us *Undos) List(address int) desk.Listing { return record.Of(us.D, undoKind(us), address) }

func undoKind(us *Undos) record.Kind[undo.Entry] {
	d := us.D
	return record.Kind[undo.Entry]{
		Noun: "change",
		Tell: func(esc safetext.Escaper, u undo.Entry) safetext.Text {
			return esc.Sprintf("%s of %s in %s, %s, %s", changeWord(u), nameOf(esc, u), u.Store, prose.Moment(u.At), keptSize(u))
		},
		Empty: "Nothing is kept: no change of the last weeks can be undone.",
		Columns: []record.Column{
			{Title: "AGE", Width: 5, Least: 5, Right: true, Dim: true, Age: true}, {Title: "CHANGE", Width: 16, Least: 8}, {Title: "STORE", Width: 12, Least: 8}, {Title: "SIZE", Width: 10, Right: true, Dim: true}, {Title: "ITEM", Least: 18},
		},
		Traits: record.Traits[undo.Entry]{Less: map[int]func(a, b undo.Entry) int{
			3: func(a, b undo.Entry) int { return cmp.Compare(a.Bytes, b.Bytes) }}},
		Crumb:  func(u undo.Entry) safetext.Text { return d.Esc.LineMax(path.Base(u.Item), prose.MaxTitle) },
		Fetch:  us.fetch,
		Detail: func(_ context.Context, raw undo.Entry) *text.Page { return undoText(d, raw) },
		Name:   "undo", Field: func(raw undo.Entry) string { return raw.ID },
		Datum: func(u undo.Entry) desk.Datum {
			return desk.DatumOf("undo", u.ID, "store", u.Store, "id", model.EncodeID(u.Item), "op", string(u.Op), "at", desk.StampOf(u.At), "expires", desk.StampOf(u.Expires),
				"bytes", u.Bytes, "existed", existed(u), "confirmed", confirmed(u), "obstacle", u.Obstacle)
		},
		Keys: func(p *record.List[undo.Entry]) []act.Act {
			return []act.Act{act.Restore.With(act.Unless(p.None, func() string { return us.noRestore(p.Here()) }), func() tea.Cmd {
				ask := d.Modal.Show(us.dialog(p.Here()))
				if p.Full { // the entry goes, and the page must not show another one
					ask = tea.Batch(p.Back(), ask)
				}
				return ask
			})}
		},
	}
}

// noRestore says why a change cannot be taken back.
func (us *Undos) noRestore(u undo.Entry) string {
	switch why := us.D.Locked(u.Store); {
	case why != "":
		return why
	case u.Obstacle != "":
		return "it cannot be undone: " + u.Obstacle
	}
	return ""
}

// fetch returns all entries as one page: they are few, one file each.
func (us *Undos) fetch(ctx context.Context, q operator.PageQuery) (record.Page[undo.Entry], error) {
	rows, damaged, err := us.D.Acts.Undos(ctx)
	if err != nil {
		return record.Page[undo.Entry]{}, err
	}
	page := record.OnePage(rows, func(_ int, u undo.Entry) (record.Row[undo.Entry], bool) {
		return undoRecord(us.D, u), q.Matches(prose.Moment(u.At), u.ID, u.Store, u.Item, changeWord(u))
	})
	if damaged > 0 {
		page.Said.Text = us.D.Esc.Sprintf("%s cannot be read: memdesk undo list names them", prose.Plural(damaged, "damaged entry"))
	}
	return page, nil
}

// keptSize is the size of the text before; nothing was before an item that the change made.
func keptSize(u undo.Entry) string {
	if !existed(u) {
		return "-"
	}
	return prose.Size(u.Bytes)
}

func undoRecord(d *desk.Desk, u undo.Entry) record.Row[undo.Entry] {
	esc := d.Esc
	name := prose.NameFirst(esc, u.Item)
	if dir, base := path.Split(u.Item); len(u.Sides) > 1 {
		if base == "" { // an id may end in a slash
			dir, base = "", dir
		}
		name = esc.Sprintf("%s and %s more  %s", esc.LineMax(base, prose.MaxTitle), prose.Group(len(u.Sides)-1), esc.LineMax(dir, prose.MaxTitle))
	}
	return record.Row[undo.Entry]{Key: u.ID, Raw: u, At: u.At, Cells: []safetext.Text{
		{}, esc.Line(changeWord(u)), esc.Line(u.Store), esc.Const(keptSize(u)), name,
	}}
}

func undoText(d *desk.Desk, u undo.Entry) *text.Page {
	esc := d.Esc
	head := []text.Line{{Value: esc.LineMax(u.Item, desk.MaxField), Kind: text.Title}}
	switch {
	case u.Obstacle != "":
		head = append(head, text.Line{Value: esc.Sprintf("It cannot be put back: %s", esc.LineMax(u.Obstacle, prose.MaxReason)), Kind: text.Warn})
	case !confirmed(u):
		head = append(head, text.Line{Value: esc.Const("Nobody knows whether this change was made: putting it back looks first."), Kind: text.Warn})
	case len(u.Sides) > 1 || !existed(u):
		head = append(head, text.Line{Value: esc.Sprintf("Putting back: %s", esc.Const(effect(u.AllSides(), u.Bytes))), Kind: text.Note})
	}
	return text.NewPage(append(head,
		desk.Field("change", esc.Line(changeWord(u))), desk.Field("store", esc.Line(u.Store)), desk.Field("when", esc.Const(desk.Changed(d, u.At))),
		desk.Field("kept until", esc.Const(prose.Moment(u.Expires))), desk.Field("size", esc.Const(keptSize(u))),
		desk.Field("entry", esc.Line(u.ID)),
	), "")
}

func (us *Undos) Open() tea.Cmd {
	if us.D.Acts == nil {
		return us.D.Warn("no undo is attached to this console: memdesk undo list shows it")
	}
	return us.D.Frame.Beside("Undo", false, us.List)
}
