// Package edit takes texts from a store to an editor and back, and keeps those that a store does not take.
package edit

import (
	"cmp"
	"context"
	"errors"
	"path"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	"memdesk/internal/drafts"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/quarantine/review"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/diff"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// editKind is the use of the text that comes out of the editor.
type editKind int

const (
	EditItem editKind = iota
	createItem
	appendItem
	releaseItem
	ResolveItem // the text ends a conflict and removes Second
)

// kindWords are the button of each kind, and what was done.
var kindWords = map[editKind]struct{ verb, done string }{
	EditItem: {"Save", "saved"}, createItem: {"Create", "created"}, appendItem: {"Append", "appended to"},
	releaseItem: {"Release", "released"}, ResolveItem: {"Resolve", "resolved"},
}

// Edit is one text on its way from a store to an editor and back.
type Edit struct {
	What   editKind
	Store  model.Store
	Req    model.RetainRequest // the write; IfMatch is the revision that the operator saw
	Label  string              // id of the item, or a substitute
	Kind   model.DocumentKind
	have   []model.Field // metadata as it was read, or that of a held write
	entry  operator.QuarantineEntry
	Second conflict.Copy                           // of a conflict that the text ends
	After  func(done operator.Done) func() tea.Cmd // runs when that conflict has ended

	Original string // the editor's initial text
	Base     string // the stored text that the operator's text is compared with
	Draft    *drafts.Draft
	kept     string // the kept text that this edit reopens
	baseless bool   // the initial text is unknown: Base is the item as it is now
}

// Edits take texts to an editor and back into a store.
type Edits struct {
	D       *desk.Desk
	Editing *Edit     // the editor has the terminal, or its text is being read
	Page    *Composer // the built-in editor, where it is open
}

// NoEditor says why no text can be edited in any store.
func NoEditor(d *desk.Desk) string {
	switch {
	case d.Drafts == nil:
		return "there is no state directory to keep a text in while it is edited"
	case d.Edit != nil || d.Spoken || d.Remote:
		return ""
	}
	_, why := Program(d)
	return why
}

// NoEdit says why no item of a tier can be edited, or of the store where the tier is empty.
func NoEdit(d *desk.Desk, store, tier string) string {
	s, _ := d.Fleet.Store(store)
	return cmp.Or(d.Locked(store), NoEditor(d), noSave(s, tier))
}

// NoAppend says why nothing can be appended to the items of a tier.
func NoAppend(d *desk.Desk, store, tier string) string {
	s, _ := d.Fleet.Store(store)
	return cmp.Or(NoEdit(d, store, tier), noAddition(s, tier))
}

// noSave says why the store refuses every edit of a tier's items: it is said before a text is typed.
func noSave(s model.Store, tier string) string {
	switch spec, _ := s.Tier(tier); {
	case spec.Foreign:
		return "people edit the items of tier " + tier + " outside of memdesk; memdesk only reads them"
	case spec.Sealed:
		return "no item of tier " + tier + " can be edited: the store lets it be forgotten only"
	}
	return ""
}

// noAddition says why the store takes no more text into a tier's items.
func noAddition(s model.Store, tier string) string {
	spec, known := s.Tier(tier)
	return cmp.Or(noSave(s, tier), act.When(known && !spec.Writable, "only its own writer adds to the tier "+tier))
}

// Begin opens an editor on a text from prepare, after a question where an editor may hide characters of it.
func (ed *Edits) Begin(prepare func(ctx context.Context) (*Edit, error)) tea.Cmd {
	d := ed.D
	return d.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		e, err := prepare(ctx)
		if err != nil {
			return dialog.Proposal{No: d.Esc.Sprintf("not opened: %s", prose.Reason(d.Esc, err))}
		}
		if err = draftOf(d, e, path.Base(e.Label)); err != nil {
			return dialog.Proposal{No: d.Esc.Sprintf("not opened: no file for the editor could be made: %s", d.Esc.Err(err))}
		}
		if n := safetext.Hidden(e.Original); n > 0 && !builtin(d) {
			return dialog.Proposal{Dialog: ed.hiddenDialog(e, n), Drop: e.drop}
		}
		return dialog.Proposal{Open: func() tea.Cmd { return ed.StartEditor(e) }, Drop: e.drop}
	})
}

// drop removes the draft of a text that no editor opened; the sweep takes a leftover.
func (e *Edit) drop() { _ = e.Draft.Discard() }

func (ed *Edits) hiddenDialog(e *Edit, n int) *dialog.Dialog {
	esc := ed.D.Esc
	return &dialog.Dialog{
		Title: esc.Const("Edit"), NoReason: true,
		Lines: []text.Line{
			{Value: esc.Sprintf("Open %s in the editor?", esc.LineMax(e.Label, prose.MaxTitle)), Kind: text.Title},
			{Value: esc.Sprintf("It holds %s. The editor gets the bytes as they are stored: what they do there is the editor's business.", prose.Plural(n, "control or invisible character")), Kind: text.Alert},
		},
		Choices:  []dialog.Choice{{Verb: "Open", Run: func() tea.Cmd { return ed.StartEditor(e) }}},
		Canceled: func() tea.Cmd { return ed.ThrowAway(e, "cancelled: nothing was changed") },
	}
}

func (ed *Edits) ThrowAway(e *Edit, word string) tea.Cmd { return ed.throw(e, word, false) }

// throw drops the operator's text; kept: also the one that was put aside.
func (ed *Edits) throw(e *Edit, word string, kept bool) tea.Cmd {
	esc := ed.D.Esc
	return ed.D.Ask(func(context.Context) any {
		if kept {
			settled(ed.D, e)
		}
		if err := e.Draft.Discard(); err != nil {
			return dialog.Acted{Quiet: true, Text: esc.Sprintf("the file of the editor could not be removed: %s", esc.Err(err))}
		}
		return dialog.Acted{Ok: true, Quiet: true, Text: esc.Const(word), Then: ed.D.Frame.RefreshSide}
	})
}

// Edited reads the written text and asks what to do with it; failed is the editor's error.
func (ed *Edits) Edited(e *Edit, failed error) tea.Cmd {
	return ed.D.Ask(func(context.Context) any {
		text, err := e.Draft.Read()
		return loop.Then(func() tea.Cmd { return ed.Wrote(e, text, err, failed) })
	})
}

// Wrote takes the text from the editor; unread is the error of reading it.
func (ed *Edits) Wrote(e *Edit, text string, unread, failed error) tea.Cmd {
	ed.Editing = nil
	esc := ed.D.Esc
	unchanged := unread == nil && text == e.Original && e.Original == e.Base // else the draft is a merge
	switch {
	case unread != nil:
		ed.D.Say(paint.ToneBad, esc.Sprintf("what was written cannot be read: %s; %s", esc.Err(unread), ed.kept(e.Draft.Path())))
		return nil
	case failed != nil && unchanged && lacking(ed.D, failed) != "":
		return ed.ThrowAway(e, lacking(ed.D, failed))
	case failed != nil && unchanged:
		return ed.ThrowAway(e, "the editor ended with an error and nothing was written: nothing was changed")
	case unchanged && e.What != releaseItem:
		return ed.ThrowAway(e, "the text is as it was: nothing was changed")
	case unchanged && e.entry.Live == review.Poisoned:
		return ed.ThrowAway(e, "nothing was changed: the source is still poisoned")
	case failed != nil:
		return ed.D.Modal.Show(ed.troubleDialog(e, esc.Sprintf("The editor ended with an error: %s. What it has written may not be all.", esc.Err(failed)), text))
	}
	return ed.D.Modal.Show(ed.reviewDialog(e, text))
}

// reviewDialog asks whether to write a text; an unacceptable text goes back to the editor.
func (ed *Edits) reviewDialog(e *Edit, text string) *dialog.Dialog {
	esc := ed.D.Esc
	switch why := ed.D.Locked(e.Store.Name); {
	case why != "": // locked, or the store closed, while the editor was open
		return ed.troubleDialog(e, esc.Sprintf("Nothing can be written now: %s", esc.LineMax(why, prose.MaxReason)), text)
	case text == "":
		return ed.troubleDialog(e, esc.Const("The text is empty, and no store keeps an empty item. d forgets one."), text)
	case !utf8.ValidString(text):
		return ed.troubleDialog(e, esc.Const("The text is not UTF-8."), text)
	}
	if e.What != appendItem {
		if _, err := model.DecodeDocument(e.Kind, text); err != nil {
			return ed.troubleDialog(e, esc.Sprintf("The text cannot be taken: %s", prose.Reason(esc, err)), text)
		}
	}
	return ed.saveDialog(e, text)
}

// saveDialog names the write, with the difference under it.
func (ed *Edits) saveDialog(e *Edit, words string) *dialog.Dialog {
	esc := ed.D.Esc
	var c diff.Comparison
	was := "as it is stored"
	if e.entry.Live == review.Waits {
		was = "as it was held"
	}
	c.Compare(esc, was, "as you wrote it", e.Base, words)
	name := esc.LineMax(e.Label, prose.MaxTitle)
	verb := kindWords[e.What].verb
	d := &dialog.Dialog{Title: esc.Const(verb), Body: c.Text(nil), Canceled: func() tea.Cmd { return ed.PutAside(e, "not saved") }}
	d.Choices = append([]dialog.Choice{{Verb: verb, Typed: true, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		return ed.save(ctx, e, words, f.Reason)
	}}}, ed.otherwise(e)...)
	numbers := esc.Sprintf("%s; %s bytes become %s.", safetext.Const(c.Counts()), prose.Group(len(e.Base)), prose.Group(len(words)))
	title, copies := esc.Sprintf("%s %s?", verb, name), safetext.Text{}
	switch e.What {
	case createItem:
		numbers = esc.Sprintf("This writes 1 new item (%s bytes) to the store %s.", prose.Group(len(words)), esc.Line(e.Store.Name))
	case appendItem:
		title = esc.Sprintf("Append to %s?", name)
		numbers = esc.Sprintf("This adds %s bytes at the end of 1 item of the store %s.", prose.Group(len(words)), esc.Line(e.Store.Name))
	case ResolveItem:
		title = esc.Sprintf("Resolve %s with this text?", esc.LineMax(path.Base(e.Label), prose.MaxTitle))
		d.Name = ed.D.TypedName(e.Store, e.Label)
		if e.Second.ID != e.Second.Target {
			copies = esc.Const("The copy goes; both texts are kept.")
		}
	case releaseItem:
		d.Must, d.Name = true, ed.D.TypedName(e.Store, e.Label)
		if e.entry.Live == review.Waits {
			numbers = ed.heldWords(e, words)
			break
		}
		if words == e.Base {
			numbers = esc.Const("The text is as it stands in the source. Agents get it again if the scanner passes it.")
		}
		if e.entry.Live != review.Clean {
			numbers = esc.Sprintf("%s z cannot put back what stands there now, since the scanner blocks it; its bytes are kept.", numbers)
		}
	}
	d.Lines = text.Known(text.Line{Value: title, Kind: text.Title}, text.Line{Value: numbers}, text.Line{Value: copies})
	d.Lines = append(d.Lines, ed.D.Environments(e.Store.Name)...)
	if diff.Marked(words) {
		d.Lines = append(d.Lines, text.Line{Value: esc.Const("The marks of the merge (<<<<<<<, =======, >>>>>>>) are still in the text."), Kind: text.Alert})
	}
	if n := safetext.Hidden(words); n > 0 {
		d.Lines = append(d.Lines, text.Line{Value: esc.Sprintf("The text holds %s.", prose.Plural(n, "control or invisible character")), Kind: text.Alert})
	}
	last := esc.Const("If the item has changed meanwhile, nothing is overwritten. Cancel puts your text aside.")
	if e.entry.Live == review.Waits { // its request may expect no revision
		last = esc.Const("Cancel puts your text aside, and the held write waits on.")
	}
	d.Lines = append(d.Lines, text.Line{Value: last, Kind: text.Note})
	return d
}

// otherwise are the answers that store nothing.
func (ed *Edits) otherwise(e *Edit) []dialog.Choice {
	return []dialog.Choice{
		{Verb: "Edit again", Run: func() tea.Cmd { return ed.StartEditor(e) }},
		{Verb: "Throw away", Run: func() tea.Cmd { return ed.throw(e, "your text was thrown away: nothing was changed", true) }},
	}
}

// save runs in a command.
func (ed *Edits) save(ctx context.Context, e *Edit, text, why string) dialog.Acted {
	d, esc := ed.D, ed.D.Esc
	done, err := ed.write(ctx, e, text, why)
	switch {
	case errors.Is(err, model.Conflict) && e.entry.Live != review.Waits: // a held request keeps the revision that it expects
		return dialog.Acted{Next: ed.conflictDialog(ctx, e, text)}
	case err != nil:
		line := esc.Sprintf("The store did not take it: %s", prose.Reason(esc, err))
		if !model.Unchanged(err) {
			line = esc.Sprintf("%s. Nobody knows whether it was written: look before you try again.", line)
		}
		return dialog.Acted{Next: ed.troubleDialog(e, line, text)}
	}
	_ = e.Draft.Discard() // stored text needs no draft; the sweep takes leftovers
	settled(d, e)
	out := Took(d, done, kindWords[e.What].done, cmp.Or(done.Item, e.Label), "Saved")
	if e.What == ResolveItem {
		out.Beside = e.After(done)
	}
	return out
}

// Took says what an act has done to an item, and whether z can undo it; title is that of a page of warnings.
func Took(d *desk.Desk, done operator.Done, word, item, title string) dialog.Acted {
	esc := d.Esc
	undo, why := d.Stuck.Took(esc, done)
	out := dialog.Acted{Ok: true, Undo: undo, Text: esc.Sprintf("%s %s; %s", word, esc.LineMax(item, prose.MaxTitle), desk.OrElse(why, esc.Const("z undoes")))}
	if len(done.Warnings) > 0 {
		out.Title, out.Page = title, d.WarningPage(out.Text, done.Warnings)
	}
	return out
}

// write stores the text by the way that its kind demands.
func (ed *Edits) write(ctx context.Context, e *Edit, text, why string) (operator.Done, error) {
	if e.What == releaseItem {
		body := &text
		if text == e.Base {
			body = nil // release the source, or the held write, unchanged
		}
		return ed.D.Acts.Release(ctx, e.Store.Name, e.entry.ID, body, e.Req.IfMatch, why)
	}
	if e.What == ResolveItem {
		ch := conflict.Choice{Take: conflict.TakeMerged, Merged: text, BaseRev: e.Req.IfMatch}
		return ed.D.Conflicts.Resolve(ctx, e.Second, ch, why)
	}
	req := e.Req
	req.Content = text
	if e.What != appendItem {
		doc, err := model.DecodeDocument(e.Kind, text)
		if err != nil {
			return operator.Done{}, err
		}
		req.Content, req.Meta = doc.Body, writable(doc.Meta, e.have)
	}
	return ed.D.Acts.Retain(ctx, e.Store.Name, req, why)
}

// writable leaves out the fields that the store maintains, unless the operator changed them.
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

// troubleDialog says why a text cannot be stored, and keeps it.
func (ed *Edits) troubleDialog(e *Edit, what safetext.Text, words string) *dialog.Dialog {
	esc := ed.D.Esc
	choices := ed.otherwise(e)
	if words != "" && utf8.ValidString(words) {
		choices = append(choices, dialog.Choice{Verb: "Try again", Run: func() tea.Cmd { return ed.D.Modal.Show(ed.reviewDialog(e, words)) }})
	}
	return &dialog.Dialog{
		Title: esc.Const("Not saved"), NoReason: true, Choices: choices,
		Lines: []text.Line{
			{Value: esc.Sprintf("%s is not saved.", esc.LineMax(e.Label, prose.MaxTitle)), Kind: text.Title},
			{Value: what, Kind: text.Alert},
			{Value: esc.Const("Your text is safe: Cancel puts it aside and says where, Edit again goes on with it."), Kind: text.Note},
		},
		Canceled: func() tea.Cmd { return ed.PutAside(e, "not saved") },
	}
}

// conflictDialog shows the operator's text and a concurrent change. It runs in a command.
func (ed *Edits) conflictDialog(ctx context.Context, e *Edit, words string) *dialog.Dialog {
	esc := ed.D.Esc
	now, revision, err := stored(ed.D, ctx, e)
	if err != nil && !errors.Is(err, model.NotFound) {
		return ed.troubleDialog(e, esc.Sprintf("The item has changed meanwhile, and how it is now cannot be read: %s", prose.Reason(esc, err)), words)
	}
	d := &dialog.Dialog{Title: esc.Const("Conflict"), Must: e.What == releaseItem, Name: ed.D.TypedName(e.Store, e.Label), Canceled: func() tea.Cmd { return ed.PutAside(e, "not saved") }}
	base, gone := e.Base, err != nil
	overwrite := *e
	overwrite.baseless = false
	overwrite.Base, overwrite.Original, overwrite.Req.IfMatch = now, now, revision
	copied, copyText := false, ""
	if e.What == ResolveItem { // the answer counts for both sides as they are now
		overwrite.Second.CopyRev = revision
		if e.Second.ID != e.Second.Target {
			_, it, err := ed.D.Readable(ctx, model.Ref{Store: e.Store.Name, ID: e.Second.ID})
			if err != nil {
				return ed.troubleDialog(e, esc.Sprintf("A side has changed meanwhile, and how the copy is now cannot be read: %s", prose.Reason(esc, err)), words)
			}
			copied, copyText = it.Revision != e.Second.CopyRev, it.Body
			overwrite.Second.CopyRev = it.Revision
		}
	}
	what := esc.Const("Somebody else has changed it since you opened it. Neither side is lost.")
	verb := "Overwrite"
	if gone {
		what = esc.Const("Somebody else has removed it since you opened it.")
		overwrite.Req.IfMatch, verb = model.Absent, "Write anew"
	}
	if copied && !gone && revision == e.Req.IfMatch {
		what = esc.Const("Somebody else has changed the copy since you opened it. Neither side is lost.")
	}
	d.Lines = []text.Line{
		{Value: esc.Sprintf("%s has changed.", esc.LineMax(e.Label, prose.MaxTitle)), Kind: text.Title},
		{Value: what, Kind: text.Alert},
		text.Advice(esc, "Edit again opens both. %s replaces theirs, `z` undoes. Cancel puts yours aside.", verb),
	}
	var c diff.Comparison
	var theirs diff.Change
	if !e.baseless {
		theirs = c.Section(esc, "what they have changed", "as you opened it", "as it is now", base, now)
	}
	yours := c.Section(esc, "yours against theirs", "as it is now", "as you wrote it", now, words)
	switch {
	case e.baseless && yours != (diff.Change{}):
		d.Lines = append(d.Lines, text.Line{Value: esc.Sprintf("Lines: yours %s against theirs. What you began with is not kept.", yours.Signs())})
	case theirs != (diff.Change{}) || yours != (diff.Change{}):
		d.Lines = append(d.Lines, text.Line{Value: esc.Sprintf("Lines: theirs %s since you opened it, yours %s against theirs.", theirs.Signs(), yours.Signs())})
	}
	if copied {
		c.Section(esc, "yours against the copy, which goes", "the copy as it is now", "as you wrote it", copyText, words)
	}
	d.Body = c.Text(nil)
	d.Choices = []dialog.Choice{
		{Verb: "Edit again", Act: func(context.Context, dialog.Filled) dialog.Acted {
			return ed.rebase(&overwrite, base, now, words, e.baseless)
		}},
		{Verb: verb, Typed: true, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
			return ed.save(ctx, &overwrite, words, f.Reason)
		}},
	}
	if e.What == releaseItem && gone {
		d.Choices = nil
	}
	return d
}

// rebase merges both sides into the draft and reopens it; without a base every difference is marked.
func (ed *Edits) rebase(e *Edit, base, now, text string, baseless bool) dialog.Acted {
	esc := ed.D.Esc
	merged := diff.Merge(base, now, text)
	if baseless {
		merged = diff.BothSides(now, text)
	}
	if err := e.Draft.Write(merged); err != nil {
		return dialog.Acted{Next: ed.troubleDialog(e, esc.Sprintf("Both sides cannot be written to the editor's file: %s", esc.Err(err)), text)}
	}
	e.Original = merged
	return dialog.Acted{Instead: func() tea.Cmd { return ed.StartEditor(e) }}
}

func stored(d *desk.Desk, ctx context.Context, e *Edit) (string, model.Revision, error) {
	id := e.Req.ID
	if id == "" && e.Store.Address != nil {
		id, _ = e.Store.Address(e.Req)
	}
	_, it, err := d.Readable(ctx, model.Ref{Store: e.Store.Name, ID: id})
	if err != nil {
		return "", "", err
	}
	if e.What == releaseItem {
		return it.Body, it.Revision, nil
	}
	return it.Document().Encode(e.Kind), it.Revision, nil
}

// kept says where a kept text is. A path of the server is of no use over a connection.
func (ed *Edits) kept(at string) safetext.Text {
	if ed.D.Remote {
		return ed.D.Esc.Const(":kept has it")
	}
	return ed.D.Where(at)
}

// PutAside keeps the text and says where it is.
func (ed *Edits) PutAside(e *Edit, word string) tea.Cmd {
	esc := ed.D.Esc
	return ed.D.Ask(func(context.Context) any {
		at, err := e.Draft.Keep()
		if err != nil {
			return dialog.Acted{Quiet: true, Text: esc.Sprintf("%s; your text stays, %s: %s", word, ed.kept(at), esc.Err(err))}
		}
		settled(ed.D, e) // one text is left
		return dialog.Acted{Ok: true, Quiet: true, Text: esc.Sprintf("%s; your text is kept for 30 days: %s", word, ed.kept(at)), Then: ed.D.Frame.RefreshSide}
	})
}
