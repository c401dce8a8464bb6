package tui

import (
	"context"
	"errors"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/undo"
)

// undos is what z takes back, and the list of what else can be.
type undos struct {
	d    *desk
	work *underway
	acts [][]string // undo entries of this session, the last act last
	some bool       // something of them was taken back
}

// stuck is why the last act of this session cannot be put back. Acts run in commands
// of their own.
type stuck struct {
	mu  sync.Mutex
	why string
}

// took notes what became of an act: one that z takes back ends what was said before.
func (s *stuck) took(esc safetext.Escaper, done Done) {
	if done.Undo == "" {
		s.set("nothing was kept for undo")
		return
	}
	s.set(esc.LineMax(done.Obstacle, prose.MaxReason).String())
}

func (s *stuck) set(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = why
}

func (s *stuck) get() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// noUndo says why z takes nothing back; what the last act left is said first.
func (us *undos) noUndo() string {
	if why := us.d.locked(""); why != "" {
		return why
	}
	switch {
	case len(us.acts) > 0:
	case us.d.stuck.get() != "":
		return "the last act cannot be put back: " + us.d.stuck.get()
	case us.some:
		return "what could be undone of this session is undone; :undo lists earlier changes"
	default:
		return "nothing was done here yet; :undo lists earlier changes"
	}
	return ""
}

// takeUndo removes an entry from what z takes back.
func (us *undos) takeUndo(id string) {
	for i := range us.acts {
		us.some = us.some || slices.Contains(us.acts[i], id)
		us.acts[i] = slices.DeleteFunc(slices.Clone(us.acts[i]), func(u string) bool { return u == id })
	}
	us.acts = slices.DeleteFunc(us.acts, func(u []string) bool { return len(u) == 0 })
}

// undoLast asks whether the last act of this session should be taken back. Where that
// one cannot be, it says so first: the act before it is another one.
func (us *undos) undoLast() tea.Cmd {
	if why := us.d.stuck.get(); why != "" {
		us.d.stuck.set("")
		return us.d.frame.refuse(act.Act{Keys: []string{"z"}, Doc: "undo the last act of this session"}, "the last act cannot be put back: "+why+". z once more is for the act before it")
	}
	d, last := us.d, us.acts[len(us.acts)-1]
	if len(last) > 1 {
		return us.undoMany(last)
	}
	id := last[0]
	return us.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) {
		rows, _, err := d.Acts.Undos(ctx)
		if err != nil {
			return nil, d.esc.Sprintf("not undone: %s", prose.Reason(d.esc, err))
		}
		i := slices.IndexFunc(rows, func(u UndoRow) bool { return u.ID == id })
		if i < 0 {
			return nil, d.esc.Sprintf("not undone: the entry %s was used already or has expired", id)
		}
		return d.undoDialog(rows[i]), safetext.Text{}
	})
}

func (d *desk) undoDialog(u UndoRow) *dialog {
	esc := d.esc
	what, title := esc.Sprintf("Restores the old text (%s bytes).", prose.Group(u.Bytes)), esc.Sprintf("Undo the %s of %s?", esc.Line(u.Op), esc.LineMax(u.Item, prose.MaxTitle))
	switch {
	case u.Op == string(undo.OpResolve):
		what = esc.Sprintf("Restores all of them as they were (%s bytes).", prose.Group(u.Bytes))
		title = esc.Sprintf("Undo the change of %s, %s among them?", prose.Plural(int64(max(u.Sides, 2)), "item"), esc.LineMax(u.Item, prose.MaxTitle))
	case !u.Existed:
		what = esc.Const("Removes the item that the change made.")
	}
	lines := []text.Line{
		{Value: title, Kind: text.Title},
		{Value: what},
		{Value: esc.Sprintf("The change: %s.", changed(d, u.At))},
	}
	where := d.environmentOf(u.Store)
	if len(where) == 0 {
		where = []text.Line{{Value: esc.Sprintf("The store: %s.", esc.Line(u.Store)), Kind: text.Note, Pin: true}}
	}
	lines = append(lines, where...)
	lines = append(lines, text.Line{Value: esc.Const("If the item has changed since, nothing is overwritten."), Kind: text.Note})
	return &dialog{
		title: esc.Const("Undo"), lines: lines,
		choices: []choice{{verb: "Undo", act: func(ctx context.Context, f filled) acted { return d.doUndo(ctx, u, f.reason) }}},
	}
}

// doUndo runs in a command.
func (d *desk) doUndo(ctx context.Context, u UndoRow, why string) acted {
	esc := d.esc
	done, err := d.Acts.Restore(ctx, u.ID, why)
	switch {
	case errors.Is(err, model.Conflict):
		return acted{text: esc.Sprintf("not undone: %s", prose.Reason(esc, err)), title: "Conflict", page: d.conflictText(ctx, model.Ref{Store: u.Store, ID: u.Item})}
	case err != nil:
		return acted{text: esc.Sprintf("not undone: %s", prose.Reason(esc, err))}
	}
	word := "put back"
	if !u.Existed {
		word = "removed again"
	}
	if done.Relations > 0 {
		word += " with " + prose.Plural(done.Relations, done.Fell)
	}
	out := acted{ok: true, undone: []string{u.ID}, text: esc.Sprintf("%s: %s; :undo lists what can be taken back", word, esc.LineMax(u.Item, prose.MaxTitle))}
	if len(done.Warnings) > 0 {
		head := []text.Line{{Value: out.text, Kind: text.Title}, {Kind: text.Blank}}
		for _, w := range done.Warnings {
			head = append(head, text.Line{Value: esc.Sprintf("!! not put back: %s", esc.LineMax(w, prose.MaxReason)), Kind: text.Warn})
		}
		out.title, out.page = "Undo", text.NewPage(head, "")
	}
	return out
}

// undoKind is the list of what can be put back.
func (us *undos) undoKind() recordKind[UndoRow] {
	d := us.d
	kind := recordKind[UndoRow]{
		noun: "change", tell: tellUndo,
		empty: "Nothing is kept: no change of the last weeks can be taken back.",
		columns: []column{
			{"WHEN", 21, false}, {"CHANGE", 8, false}, {"STORE", 12, false}, {"SIZE", 10, true}, {"ITEM", 0, false},
		},
		least: []int{21, 8, 8, 0, 18},
		fetch: func(ctx context.Context, q PageQuery) (span[record[UndoRow]], said, error) {
			return d.fetchUndos(ctx, q)
		},
		detail: func(_ context.Context, raw UndoRow) *text.Page { return undoText(d, raw) },
		name:   "undo", field: func(raw UndoRow) string { return raw.ID }, datum: undoDatum,
	}
	kind.keys = func(p *records[UndoRow]) []act.Act {
		return []act.Act{act.Restore.With(func() string { return us.noRestore(p) }, func() tea.Cmd {
			r, _ := p.list.current()
			u := r.raw
			return us.d.modal.propose(func(context.Context) (*dialog, safetext.Text) { return d.undoDialog(u), safetext.Text{} })
		})}
	}
	return kind
}

func (us *undos) noRestore(p *records[UndoRow]) string {
	r, ok := p.list.current()
	if !ok {
		return p.list.nothing()
	}
	u := r.raw
	switch why := us.d.locked(u.Store); {
	case why != "":
		return why
	case u.Obstacle != "":
		return "it cannot be undone: " + u.Obstacle
	case !u.Confirmed:
		return "the change was never confirmed: compare with `memdesk undo show " + u.ID + "` and write by hand"
	}
	return ""
}

// fetchUndos gives all entries as one page: they are few, and each is one file.
func (d *desk) fetchUndos(ctx context.Context, q PageQuery) (span[record[UndoRow]], said, error) {
	rows, damaged, err := d.Acts.Undos(ctx)
	if err != nil {
		return span[record[UndoRow]]{}, said{}, err
	}
	var out span[record[UndoRow]]
	for _, u := range rows {
		if q.Matches(u.ID, u.Store, u.Item, u.Op) {
			out.rows = append(out.rows, undoRecord(d, u))
		}
	}
	out.total = model.Count{N: int64(len(out.rows))}
	var notice said
	if damaged > 0 {
		notice.text = d.esc.Sprintf("%s cannot be read: memdesk undo list names them", prose.Plural(int64(damaged), "damaged entry"))
	}
	return out, notice, nil
}

func undoRecord(d *desk, u UndoRow) record[UndoRow] {
	esc := d.esc
	return record[UndoRow]{key: u.ID, raw: u, cells: []safetext.Text{
		esc.Const(prose.Moment(u.At)), esc.Line(u.Op), esc.Line(u.Store), esc.Const(prose.Size(u.Bytes)), esc.LineMax(u.Item, prose.MaxTitle),
	}}
}

func undoText(d *desk, u UndoRow) *text.Page {
	esc := d.esc
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	head := []text.Line{{Value: esc.LineMax(u.Item, maxField), Kind: text.Title}}
	switch {
	case u.Obstacle != "":
		head = append(head, text.Line{Value: esc.Sprintf("It cannot be put back: %s", esc.LineMax(u.Obstacle, prose.MaxReason)), Kind: text.Warn})
	case !u.Confirmed:
		head = append(head, text.Line{Value: esc.Const("Nobody knows whether this change was made."), Kind: text.Warn})
	case !u.Existed:
		head = append(head, text.Line{Value: esc.Const("The change made the item: putting back removes it."), Kind: text.Note})
	}
	return text.NewPage(append(head,
		field("change", esc.Line(u.Op)), field("store", esc.Line(u.Store)), field("when", esc.Const(changed(d, u.At))),
		field("kept until", esc.Const(prose.Moment(u.Expires))), field("size", esc.Sprintf("%s (%s bytes)", prose.Size(u.Bytes), prose.Group(u.Bytes))),
		field("entry", esc.Line(u.ID)),
	), "")
}

func (us *undos) openUndos() tea.Cmd {
	if us.d.Acts == nil {
		us.d.say(paint.ToneWarn, us.d.st.Esc.Const("no undo is attached to this console: memdesk undo list shows it"))
		return nil
	}
	return openSide(us.d, "Undo", us.undoKind())
}

func undoDatum(u UndoRow) datum {
	var r datum
	r.add("undo", u.ID)
	r.add("store", u.Store)
	r.add("id", model.EncodeID(u.Item))
	r.add("op", u.Op)
	r.add("at", stampOf(u.At))
	r.add("expires", stampOf(u.Expires))
	r.add("bytes", u.Bytes)
	r.add("existed", u.Existed)
	r.add("confirmed", u.Confirmed)
	r.add("obstacle", u.Obstacle)
	return r
}

// tellUndo is an entry of the undo store as a sentence.
func tellUndo(esc safetext.Escaper, e UndoRow) safetext.Text {
	return esc.Sprintf("%s of %s in %s, %s, %s", e.Op, esc.LineMax(e.Item, prose.MaxTitle), e.Store, prose.Moment(e.At), prose.Size(e.Bytes))
}
