package tui

import (
	"context"
	"errors"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// editKind is what is done with the text that comes out of the editor.
type editKind int

const (
	editItem editKind = iota
	createItem
	appendItem
	releaseItem
	resolveItem // the text ends a conflict: second goes
)

// edit is one text on its way from a store to an editor and back.
type edit struct {
	what   editKind
	store  model.Store
	req    model.RetainRequest // how it is written; IfMatch is what was seen
	label  string              // id of the item, or what stands for it
	kind   model.DocumentKind
	have   []model.Field // metadata as it was read
	entry  QuarantineEntry
	second conflict.Copy                  // of a conflict that the text ends
	after  func(done Done) func() tea.Cmd // what follows the end of that

	original string // what the editor began with
	base     string // the stored text that the operator's is compared with
	draft    *drafts.Draft
	kept     string // the text that was put aside, where it is opened again
	baseless bool   // what the operator began with is not known any more: base is the item as it is now
}

// edits take texts to an editor and back into a store.
type edits struct {
	d       *desk
	editing *edit // the editor has the terminal, or its text is being read
}

// edited says that the editor is over.
type edited struct {
	e   *edit
	err error
}

// editor is the command line of the operator's editor, or why there is none.
func (d *desk) editor() (command, why string) {
	switch {
	case d.Drafts == nil:
		return "", "there is no state directory to keep a text in while it is edited"
	case d.edit != nil || d.spoken:
		return "", ""
	}
	return d.program()
}

// noEdit says why nothing can be edited in a store.
func (d *desk) noEdit(store string) string {
	if why := d.locked(store); why != "" {
		return why
	}
	_, why := d.editor()
	return why
}

// begin asks for an editor on a text that prepare gives; a text with characters
// that an editor may not show is asked about first.
func (ed *edits) begin(prepare func(ctx context.Context) (*edit, error)) tea.Cmd {
	from, writable, d := ed.d.frame.here(), ed.d.readOnly == "", ed.d
	return ed.d.ask(func(ctx context.Context) any {
		e, err := prepare(ctx)
		if err != nil {
			return proposal{from: from, no: d.esc.Sprintf("not opened: %s", prose.Reason(d.esc, err))}
		}
		if err = d.draftOf(e, path.Base(e.label)); err != nil {
			return proposal{from: from, no: d.esc.Sprintf("not opened: no file for the editor could be made: %s", d.esc.Err(err))}
		}
		if n := safetext.Hidden(e.original); n > 0 {
			return proposal{from: from, dialog: ed.hiddenDialog(e, n), writable: writable}
		}
		return proposal{from: from, open: func() tea.Cmd { return ed.startEditor(e) }, drop: func() { _ = e.draft.Discard() }, writable: writable}
	})
}

// extension helps an editor to choose its mode.
func extension(e *edit) string {
	if path.Ext(e.label) == "" {
		return ".md"
	}
	return ""
}

func (ed *edits) hiddenDialog(e *edit, n int) *dialog {
	esc := ed.d.esc
	return &dialog{
		title: esc.Const("Edit"), noReason: true,
		lines: []text.Line{
			{Value: esc.Sprintf("Open %s in the editor?", esc.LineMax(e.label, prose.MaxTitle)), Kind: text.Title},
			{Value: esc.Sprintf("!! It holds %s. The editor gets the bytes as they are stored: what they do there is the editor's business.", prose.Plural(int64(n), "control or invisible character")), Kind: text.Warn},
		},
		choices:  []choice{{verb: "Open", run: func() tea.Cmd { return ed.startEditor(e) }}},
		canceled: func() tea.Cmd { return ed.throwAway(e, "cancelled: nothing was changed") },
	}
}

// discardText throws the operator's text away, on demand: also where it was put aside.
func (ed *edits) discardText(e *edit) tea.Cmd {
	return ed.throw(e, "your text was thrown away: nothing was changed", ed.d.settled)
}

// throwAway removes the draft.
func (ed *edits) throwAway(e *edit, word string) tea.Cmd { return ed.throw(e, word, func(*edit) {}) }

func (ed *edits) throw(e *edit, word string, also func(*edit)) tea.Cmd {
	esc := ed.d.esc
	return ed.d.ask(func(context.Context) any {
		also(e)
		if err := e.draft.Discard(); err != nil {
			return acted{quiet: true, text: esc.Sprintf("the file of the editor could not be removed: %s", esc.Err(err))}
		}
		return acted{ok: true, quiet: true, text: esc.Const(word), then: ed.d.refreshSide}
	})
}

// edited reads what was written and asks what to do with it.
func (ed *edits) edited(m edited) tea.Cmd {
	e := m.e
	return ed.d.ask(func(context.Context) any {
		text, err := e.draft.Read()
		return onLoop(func() tea.Cmd { return ed.wrote(wrote{e, text, err, m.err}) })
	})
}

// wrote is the text that the editor has left.
type wrote struct {
	e           *edit
	text        string
	err, editor error // reading it, running the editor
}

func (ed *edits) wrote(m wrote) tea.Cmd {
	ed.editing = nil
	e, esc := m.e, ed.d.esc
	same := m.err == nil && m.text == e.original
	switch {
	case m.err != nil:
		ed.d.say(paint.ToneBad, esc.Sprintf("what was written cannot be read: %s; the file is %s", esc.Err(m.err), ed.d.where(e.draft.Path())))
		return nil
	case m.editor != nil && same && ed.d.lacking(m.editor) != "":
		return ed.throwAway(e, ed.d.lacking(m.editor))
	case m.editor != nil && same:
		return ed.throwAway(e, "the editor ended with an error and nothing was written: nothing was changed")
	case same && e.original == e.base && e.what != releaseItem:
		return ed.throwAway(e, "the text is as it was: nothing was changed")
	case m.editor != nil:
		return ed.d.modal.show(ed.troubleDialog(e, esc.Sprintf("The editor ended with an error: %s. What it has written may not be all.", esc.Err(m.editor)), m.text))
	}
	return ed.d.modal.show(ed.reviewDialog(e, m.text))
}

// reviewDialog asks whether a text is to be written; a text that cannot be taken
// is sent back.
func (ed *edits) reviewDialog(e *edit, text string) *dialog {
	esc := ed.d.esc
	switch why := ed.d.locked(e.store.Name); {
	case why != "": // it was turned on, or the store went, while the editor was open
		return ed.troubleDialog(e, esc.Sprintf("Nothing can be written now: %s", esc.LineMax(why, prose.MaxReason)), text)
	case text == "":
		return ed.troubleDialog(e, esc.Const("The text is empty, and no store keeps an empty item. d forgets one."), text)
	case !utf8.ValidString(text):
		return ed.troubleDialog(e, esc.Const("The text is not UTF-8."), text)
	}
	if e.what != appendItem {
		if _, err := model.DecodeDocument(e.kind, text); err != nil {
			return ed.troubleDialog(e, esc.Sprintf("The text cannot be taken: %s", prose.Reason(esc, err)), text)
		}
	}
	return ed.saveDialog(e, text)
}

// saveDialog names what will be written, with the difference under it.
func (ed *edits) saveDialog(e *edit, words string) *dialog {
	esc := ed.d.esc
	var c comparison
	c.compare(esc, "as it is stored", "as you wrote it", e.base, words)
	name := esc.LineMax(e.label, prose.MaxTitle)
	d := &dialog{choices: ed.saveChoices(e, words), canceled: func() tea.Cmd { return ed.putAside(e, "not saved") }}
	numbers := esc.Sprintf("%s added, %s removed; %s bytes become %s.", prose.Plural(int64(c.added), "line"), prose.Plural(int64(c.removed), "line"), prose.Group(int64(len(e.base))), prose.Group(int64(len(words))))
	title := esc.Sprintf("Save %s?", name)
	d.title = esc.Const("Save")
	switch e.what {
	case createItem:
		d.title, title = esc.Const("Create"), esc.Sprintf("Create %s?", name)
		numbers = esc.Sprintf("This writes 1 new item (%s bytes) to the store %s.", prose.Group(int64(len(words))), esc.Line(e.store.Name))
	case appendItem:
		d.title, title = esc.Const("Append"), esc.Sprintf("Append to %s?", name)
		numbers = esc.Sprintf("This adds %s bytes at the end of 1 item of the store %s.", prose.Group(int64(len(words))), esc.Line(e.store.Name))
	case resolveItem:
		d.title, title = esc.Const("Resolve"), esc.Sprintf("Resolve %s with this text?", name)
		d.name = ed.d.typedName(e.store, e.label)
		if e.second.ID != e.second.Target {
			d.lines = append(d.lines, text.Line{Value: esc.Const("The copy goes; both texts are kept."), Kind: text.Note})
		}
	case releaseItem:
		d.title, title = esc.Const("Release"), esc.Sprintf("Release %s?", name)
		d.must, d.name = true, ed.d.typedName(e.store, e.label)
		if words == e.base {
			numbers = esc.Const("The text is as it stands in the source. Agents get it again if the scanner passes it.")
		}
		if liveness(e.entry.Live) != LiveClean {
			numbers = esc.Sprintf("%s z cannot put back what stands there now, since the scanner blocks it; its bytes are kept.", numbers)
		}
	}
	d.lines = append(d.lines, text.Line{Value: title, Kind: text.Title}, text.Line{Value: numbers})
	if e.store.Environment != "" {
		d.lines = append(d.lines, environmentLine(esc, e.store.Environment, e.store.Name))
	}
	if marked(words) {
		d.lines = append(d.lines, text.Line{Value: esc.Const("!! The marks of the merge (<<<<<<<, =======, >>>>>>>) are still in the text."), Kind: text.Warn})
	}
	if n := safetext.Hidden(words); n > 0 {
		d.lines = append(d.lines, text.Line{Value: esc.Sprintf("!! The text holds %s.", prose.Plural(int64(n), "control or invisible character")), Kind: text.Warn})
	}
	d.lines = append(d.lines, text.Line{Value: esc.Const("If the item has changed meanwhile, nothing is overwritten. Cancel puts your text aside."), Kind: text.Note})
	d.body = c.text(nil)
	return d
}

func (ed *edits) saveChoices(e *edit, text string) []choice {
	verb := map[editKind]string{editItem: "Save", createItem: "Create", appendItem: "Append", releaseItem: "Release", resolveItem: "Resolve"}[e.what]
	return []choice{
		{verb: verb, typed: true, act: func(ctx context.Context, f filled) acted { return ed.save(ctx, e, text, f.reason) }},
		{verb: "Edit again", run: func() tea.Cmd { return ed.startEditor(e) }},
		{verb: "Throw away", run: func() tea.Cmd { return ed.discardText(e) }},
	}
}

// save runs in a command.
func (ed *edits) save(ctx context.Context, e *edit, text, why string) acted {
	d, esc := ed.d, ed.d.esc
	done, err := ed.write(ctx, e, text, why)
	switch {
	case errors.Is(err, model.Conflict):
		return acted{next: ed.conflictDialog(ctx, e, text)}
	case err != nil:
		line := esc.Sprintf("The store did not take it: %s", prose.Reason(esc, err))
		if !model.Unchanged(err) {
			line = esc.Sprintf("%s. Nobody knows whether it was written: look before you try again.", line)
		}
		return acted{next: ed.troubleDialog(e, line, text)}
	}
	d.stuck.took(esc, done)
	_ = e.draft.Discard() // what is stored needs no draft; the sweep takes what is left
	d.settled(e)
	out := acted{ok: true, text: esc.Sprintf("%s %s; z undoes", savedWord(e.what), esc.LineMax(orLabel(done.Item, e.label), prose.MaxTitle))}
	switch {
	case done.Undo == "":
		out.text = esc.Sprintf("%s %s; nothing was kept for undo", savedWord(e.what), esc.LineMax(orLabel(done.Item, e.label), prose.MaxTitle))
	case done.Obstacle != "":
		out.text = esc.Sprintf("%s; it cannot be undone: %s", savedWord(e.what), esc.LineMax(done.Obstacle, prose.MaxReason))
	default:
		out.undo = []string{done.Undo}
	}
	if e.what == resolveItem {
		out.beside = e.after(done)
	}
	if len(done.Warnings) > 0 {
		out.title, out.page = "Saved", d.warningPage(out.text, done.Warnings)
	}
	return out
}

func savedWord(k editKind) string {
	return map[editKind]string{editItem: "saved", createItem: "created", appendItem: "appended to", releaseItem: "released", resolveItem: "resolved"}[k]
}

func orLabel(id, label string) string {
	if id == "" {
		return label
	}
	return id
}

func (d *desk) warningPage(title safetext.Text, warnings []string) *text.Page {
	head := []text.Line{{Value: title, Kind: text.Title}, {Kind: text.Blank}}
	for _, w := range warnings {
		head = append(head, text.Line{Value: d.esc.Sprintf("!! %s", d.esc.LineMax(w, prose.MaxReason)), Kind: text.Warn})
	}
	return text.NewPage(head, "")
}

// write hands the text to the store by the way that the edit came.
func (ed *edits) write(ctx context.Context, e *edit, text, why string) (Done, error) {
	if e.what == releaseItem {
		body := &text
		if text == e.base {
			body = nil // the source is to be released as it stands
		}
		return ed.d.Acts.Release(ctx, e.store.Name, e.entry.ID, body, e.req.IfMatch, why)
	}
	if e.what == resolveItem {
		ch := conflict.Choice{Take: conflict.TakeMerged, Merged: text, BaseRev: e.req.IfMatch}
		return ed.d.Conflicts.Resolve(ctx, e.second, ch, why)
	}
	req := e.req
	req.Content = text
	if e.what != appendItem {
		doc, err := model.DecodeDocument(e.kind, text)
		if err != nil {
			return Done{}, err
		}
		req.Content, req.Meta = doc.Body, writable(doc.Meta, e.have)
	}
	return ed.d.Acts.Retain(ctx, e.store.Name, req, why)
}

// writable leaves out the fields that the store keeps by itself, as long as the
// operator has not touched them: they may have moved on.
func writable(sent, have []model.Field) []model.Field {
	if sent == nil {
		return nil
	}
	kept := map[string]string{}
	for _, f := range have {
		if f.ReadOnly {
			kept[f.Name] = f.Value
		}
	}
	out := []model.Field{}
	for _, f := range sent {
		if v, ok := kept[f.Name]; !ok || v != f.Value {
			out = append(out, f)
		}
	}
	return out
}

// troubleDialog says what stands in the way of a text and keeps it.
func (ed *edits) troubleDialog(e *edit, what safetext.Text, words string) *dialog {
	esc := ed.d.esc
	choices := []choice{
		{verb: "Edit again", run: func() tea.Cmd { return ed.startEditor(e) }},
		{verb: "Throw away", run: func() tea.Cmd { return ed.discardText(e) }},
	}
	if words != "" && utf8.ValidString(words) {
		choices = append(choices, choice{verb: "Try again", run: func() tea.Cmd { return ed.d.modal.show(ed.reviewDialog(e, words)) }})
	}
	return &dialog{
		title: esc.Const("Not saved"), noReason: true, choices: choices,
		lines: []text.Line{
			{Value: esc.Sprintf("%s is not saved.", esc.LineMax(e.label, prose.MaxTitle)), Kind: text.Title},
			{Value: esc.Sprintf("!! %s", what), Kind: text.Warn},
			{Value: esc.Const("Your text is safe: Cancel puts it aside and says where, Edit again goes on with it."), Kind: text.Note},
		},
		canceled: func() tea.Cmd { return ed.putAside(e, "not saved") },
	}
}

// conflictDialog shows both sides of a change that came in between. It runs in a
// command.
func (ed *edits) conflictDialog(ctx context.Context, e *edit, words string) *dialog {
	esc := ed.d.esc
	now, revision, err := ed.d.stored(ctx, e)
	if err != nil && !errors.Is(err, model.NotFound) {
		return ed.troubleDialog(e, esc.Sprintf("The item has changed meanwhile, and how it is now cannot be read: %s", prose.Reason(esc, err)), words)
	}
	d := &dialog{title: esc.Const("Conflict"), name: ed.d.typedName(e.store, e.label), canceled: func() tea.Cmd { return ed.putAside(e, "not saved") }}
	base, gone := e.base, err != nil
	overwrite := *e
	overwrite.baseless = false
	overwrite.base, overwrite.original, overwrite.req.IfMatch = now, now, revision
	what := esc.Const("Somebody else has changed it since you opened it. Neither side is lost.")
	verb := "Overwrite"
	if gone {
		what = esc.Const("Somebody else has removed it since you opened it.")
		overwrite.req.IfMatch, verb = model.Absent, "Write anew"
	}
	d.lines = []text.Line{
		{Value: esc.Sprintf("%s has changed.", esc.LineMax(e.label, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Sprintf("!! %s", what), Kind: text.Warn},
		{Value: esc.Sprintf("Edit again opens both. %s replaces theirs, z undoes. Cancel puts yours aside.", verb), Kind: text.Note},
	}
	var c comparison
	var theirs change
	if !e.baseless {
		theirs = c.section(esc, "what they have changed", "as you opened it", "as it is now", base, now)
	}
	yours := c.section(esc, "yours against theirs", "as it is now", "as you wrote it", now, words)
	switch {
	case e.baseless && yours != (change{}):
		d.lines = append(d.lines, text.Line{Value: esc.Sprintf("Lines: yours %s against theirs. What you began with is not kept.", yours.signs())})
	case theirs != (change{}) || yours != (change{}):
		d.lines = append(d.lines, text.Line{Value: esc.Sprintf("Lines: theirs %s since you opened it, yours %s against theirs.", theirs.signs(), yours.signs())})
	}
	d.body = c.text(nil)
	d.choices = []choice{
		{verb: "Edit again", act: func(context.Context, filled) acted { return ed.rebase(&overwrite, base, now, words, e.baseless) }},
		{verb: verb, typed: true, act: func(ctx context.Context, f filled) acted { return ed.save(ctx, &overwrite, words, f.reason) }},
	}
	if e.what == releaseItem && gone {
		d.choices = nil
	}
	return d
}

// rebase puts both sides into the draft and opens it again. Without a base every
// difference is between marks.
func (ed *edits) rebase(e *edit, base, now, text string, baseless bool) acted {
	esc := ed.d.esc
	merged, _ := merge(base, now, text)
	if baseless {
		merged = bothSides(now, text)
	}
	if err := e.draft.Write(merged); err != nil {
		return acted{next: ed.troubleDialog(e, esc.Sprintf("Both sides cannot be written to the editor's file: %s", esc.Err(err)), text)}
	}
	e.original = merged
	return acted{instead: func() tea.Cmd { return ed.startEditor(e) }}
}

// stored is the text and revision of an item now.
func (d *desk) stored(ctx context.Context, e *edit) (string, model.Revision, error) {
	id := e.req.ID
	if id == "" && e.store.Address != nil {
		id, _ = e.store.Address(e.req)
	}
	s, err := d.fleet.Store(e.store.Name)
	if err != nil {
		return "", "", err
	}
	it, err := s.Browser.Read(ctx, id)
	if err != nil {
		return "", "", err
	}
	if e.what == releaseItem {
		return it.Body, it.Revision, nil
	}
	return it.Document().Encode(e.kind), it.Revision, nil
}

// putAside keeps the text and says where.
func (ed *edits) putAside(e *edit, word string) tea.Cmd {
	esc := ed.d.esc
	return ed.d.ask(func(context.Context) any {
		at, err := e.draft.Keep()
		if err != nil {
			return acted{quiet: true, text: esc.Sprintf("%s; your text stays in %s: %s", word, ed.d.where(at), esc.Err(err))}
		}
		ed.d.settled(e) // there is one text still
		return acted{ok: true, quiet: true, text: esc.Sprintf("%s; your text is kept for 30 days: %s", word, ed.d.where(at)), then: ed.d.refreshSide}
	})
}

// where is a path as it is shown: the home directory is written ~.
func (d *desk) where(p string) safetext.Text {
	if home := d.env["HOME"]; home != "" && strings.HasPrefix(p, home+string(os.PathSeparator)) {
		p = "~" + p[len(home):]
	}
	return d.esc.Line(p)
}
