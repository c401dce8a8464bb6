package tui

import (
	"context"
	"encoding/json"
	"errors"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/drafts"
	"memdesk/model"
)

// note is what the draft of a text is told of it; empty where the text belongs to more
// than one item: a release has its entry, a resolution its copy.
func (e *edit) note() string {
	if e.what == releaseItem || e.what == resolveItem {
		return ""
	}
	b, err := json.Marshal(drafts.Purpose{What: int(e.what), Store: e.store.Name, Label: e.label, Kind: e.kind, Req: e.req})
	if err != nil {
		return ""
	}
	return string(b)
}

// draftOf makes the file for the editor, with the note that lets it be opened again.
func (d *desk) draftOf(e *edit, name string) (err error) {
	if e.draft, err = d.Drafts.Open(name+extension(e), e.original); err != nil {
		return err
	}
	if note := e.note(); note != "" {
		return e.draft.Note(note)
	}
	return nil
}

// purposeOf reads the note of a text that was put aside.
func purposeOf(k drafts.Kept) (o drafts.Purpose, ok bool) {
	if o, ok = k.Purpose(); !ok {
		return o, false
	}
	what := editKind(o.What)
	return o, what == editItem || what == createItem || what == appendItem
}

// noReopen says why a text that was put aside cannot be opened again.
func (ed *edits) noReopen(p *records[drafts.Kept]) string {
	r, ok := p.list.current()
	if !ok {
		return p.list.nothing()
	}
	o, known := purposeOf(r.raw)
	if !known {
		return "this text does not tell its item, or belongs to a release or a conflict: y copies it, and memdesk retain writes the file"
	}
	return ed.d.noEdit(o.Store)
}

// reopen opens a text that was put aside in the editor again. What is saved then is
// compared with the revision that the operator saw when it was written: a change that
// came since shows both sides, as it would have then.
func (ed *edits) reopen(k drafts.Kept) tea.Cmd {
	d := ed.d
	return ed.begin(func(ctx context.Context) (*edit, error) {
		o, ok := purposeOf(k)
		if !ok {
			return nil, model.Errorf(model.Unsupported, "reopen", "this text does not tell its item")
		}
		text, err := d.Drafts.ReadKept(k.Name)
		if err != nil {
			return nil, model.Errorf(model.Unavailable, "reopen", "%s", d.esc.Err(err).String())
		}
		s, err := d.fleet.Store(o.Store)
		if err != nil {
			return nil, err
		}
		e := &edit{what: editKind(o.What), store: s, label: o.Label, kind: o.Kind, req: o.Req, original: text, kept: k.Name}
		if e.what == createItem {
			return e, nil
		}
		_, it, err := d.readable(ctx, model.Ref{Store: o.Store, ID: o.Req.ID})
		switch {
		case errors.Is(err, model.NotFound):
			e.baseless = true // saving asks what to do about that
			return e, nil
		case err != nil:
			return nil, err
		case e.what == appendItem: // goes behind whatever stands there
			e.req.IfMatch = it.Revision
			return e, nil
		}
		e.have, e.base = it.Meta, it.Document().Encode(o.Kind)
		e.baseless = it.Revision != o.Req.IfMatch
		return e, nil
	})
}

// settled removes the text that was put aside once what became of it is stored, thrown
// away or put aside anew.
func (d *desk) settled(e *edit) {
	if e.kept != "" {
		_ = d.Drafts.Drop(e.kept) // the sweep takes what is left
		e.kept = ""
	}
}
