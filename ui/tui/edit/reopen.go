package edit

import (
	"context"
	"encoding/json"
	"errors"
	"path"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/drafts"
	"memdesk/model"
	"memdesk/ui/tui/desk"
)

// note names the item of a draft; empty for a release and a resolution, which need more than the item.
func (e *Edit) note() string {
	if e.What == releaseItem || e.What == ResolveItem {
		return ""
	}
	b, err := json.Marshal(drafts.Purpose{What: int(e.What), Store: e.Store.Name, Label: e.Label, Kind: e.Kind, Req: e.Req})
	if err != nil {
		return ""
	}
	return string(b)
}

// draftOf makes the file for the editor, with the note that lets it be opened again.
func draftOf(d *desk.Desk, e *Edit, name string) (err error) {
	if path.Ext(e.Label) == "" {
		name += ".md" // an editor chooses its mode by it
	}
	if e.Draft, err = d.Drafts.Open(name, e.Original); err != nil {
		return err
	}
	if note := e.note(); note != "" {
		if err = e.Draft.Note(note); err != nil {
			e.drop()
		}
	}
	return err
}

// purposeOf reads the note of a kept text.
func purposeOf(k drafts.Kept) (o drafts.Purpose, ok bool) {
	if o, ok = k.Purpose(); !ok {
		return o, false
	}
	what := editKind(o.What)
	return o, what == EditItem || what == createItem || what == appendItem
}

// noReopen says why a kept text cannot be reopened.
func (ed *Edits) noReopen(k drafts.Kept) string {
	o, known := purposeOf(k)
	if !known {
		return "this text does not tell its item, or belongs to a release or a conflict: y copies it, and memdesk retain writes the file"
	}
	return NoEdit(ed.D, o.Store, "")
}

// reopen opens a kept text again, on the revision that was seen then: a change since shows both sides.
func (ed *Edits) reopen(k drafts.Kept) tea.Cmd {
	d := ed.D
	return ed.Begin(func(ctx context.Context) (*Edit, error) {
		o, ok := purposeOf(k)
		if !ok {
			return nil, model.Errorf(model.Unsupported, "reopen", "this text does not tell its item")
		}
		text, err := d.Drafts.ReadKept(k.Name)
		if err != nil {
			return nil, model.Errorf(model.Unavailable, "reopen", "%s", d.Esc.Err(err).String())
		}
		s, err := d.Fleet.Store(o.Store)
		if err != nil {
			return nil, err
		}
		e := &Edit{What: editKind(o.What), Store: s, Label: o.Label, Kind: o.Kind, Req: o.Req, Original: text, kept: k.Name}
		if e.What == createItem {
			return e, nil
		}
		_, it, err := d.Readable(ctx, model.Ref{Store: o.Store, ID: o.Req.ID})
		switch {
		case errors.Is(err, model.NotFound):
			e.baseless = true // the save asks what to do about it
			return e, nil
		case err != nil:
			return nil, err
		case e.What == appendItem: // it is appended to the current text
			e.Req.IfMatch = ""
			return e, nil
		}
		e.have, e.Base = it.Meta, it.Document().Encode(o.Kind)
		e.baseless = it.Revision != o.Req.IfMatch
		return e, nil
	})
}

// settled removes the kept text once its successor is stored, discarded or put aside.
func settled(d *desk.Desk, e *Edit) {
	if e.kept != "" {
		_ = d.Drafts.Drop(e.kept) // the sweep takes leftovers
		e.kept = ""
	}
}
