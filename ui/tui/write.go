package tui

import (
	"context"
	"errors"
	"path"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// kindOf is how items of a tier are written as text; a tier that the store does
// not declare is plain bytes.
func kindOf(s model.Store, tier string) model.DocumentKind {
	if t, ok := s.Tier(tier); ok {
		return t.Document
	}
	return model.Opaque
}

// readable reads an item for an act.
func (d *desk) readable(ctx context.Context, ref model.Ref) (model.Store, model.Item, error) {
	s, err := d.fleet.Store(ref.Store)
	if err != nil {
		return s, model.Item{}, err
	}
	if s.Browser == nil {
		return s, model.Item{}, model.Errorf(model.Unsupported, "read", "this store cannot show single items")
	}
	it, err := s.Browser.Read(ctx, ref.ID)
	return s, it, err
}

// editItem opens an item in the editor; the save expects it as it was opened.
func (ed *edits) editItem(ref model.Ref) tea.Cmd {
	return ed.begin(func(ctx context.Context) (*edit, error) {
		s, it, err := ed.d.readable(ctx, ref)
		switch {
		case err != nil:
			return nil, err
		case it.Has(model.FlagBinary):
			return nil, model.Errorf(model.Unsupported, "edit", "it is not text; x exports it")
		}
		kind := kindOf(s, it.Tier)
		text := it.Document().Encode(kind)
		return &edit{
			what: editItem, store: s, label: it.ID, kind: kind, have: it.Meta, original: text, base: text,
			req: model.RetainRequest{ID: it.ID, Mode: model.Replace, IfMatch: it.Revision},
		}, nil
	})
}

// appendItem opens an empty text whose content is added to an item.
func (ed *edits) appendItem(ref model.Ref) tea.Cmd {
	return ed.begin(func(ctx context.Context) (*edit, error) {
		s, it, err := ed.d.readable(ctx, ref)
		if err != nil {
			return nil, err
		}
		return &edit{
			what: appendItem, store: s, label: it.ID, kind: model.Opaque,
			req: model.RetainRequest{ID: it.ID, Mode: model.Append, IfMatch: it.Revision},
		}, nil
	})
}

// createIn asks for tier and key and opens an empty text.
func (ed *edits) createIn(at scopeOf) tea.Cmd {
	d := ed.d
	return ed.d.modal.propose(func(context.Context) (*dialog, safetext.Text) {
		s, err := d.fleet.Store(at.store)
		if err != nil {
			return nil, prose.Reason(d.esc, err)
		}
		return ed.createDialog(s, at), safetext.Text{}
	})
}

func (ed *edits) createDialog(s model.Store, at scopeOf) *dialog {
	esc := ed.d.esc
	lines := []text.Line{{Value: esc.Sprintf("Create an item in the store %s?", esc.Line(s.Name)), Kind: text.Title}}
	if at.scope != "" {
		lines = append(lines, text.Line{Value: esc.Sprintf("It belongs to %s.", esc.LineMax(at.scope, prose.MaxTitle))})
	}
	if s.Environment != "" {
		lines = append(lines, environmentLine(esc, s.Environment, s.Name))
	}
	lines = append(lines, text.Line{Value: esc.Const("The editor opens next; nothing is written before you have seen it again. Tiers:"), Kind: text.Note})
	tier, only := at.tier, ""
	for _, t := range s.Tiers {
		if !t.Writable || t.OwnerMakes || t.Hidden && t.Name != at.tier {
			continue
		}
		lines = append(lines, text.Line{Value: esc.Sprintf("%s: %s", esc.Line(t.Name), keyWords(esc, t))})
		if only == "" {
			only = t.Name
		} else {
			only = "-"
		}
	}
	if tier == "" && only != "-" {
		tier = only
	}
	d := &dialog{
		title: esc.Const("Create"), lines: lines, noReason: true, form: true,
		fields: []field{{label: esc.Const("tier: ")}, {label: esc.Const("key: ")}},
	}
	d.fields[0].input.Set(tier)
	d.choices = []choice{{verb: "Write it", act: func(ctx context.Context, f filled) acted {
		return ed.create(ctx, s, at, strings.TrimSpace(f.fields[0]), strings.TrimSpace(f.fields[1]))
	}}}
	return d
}

// keyWords says what the items of a tier are addressed by.
func keyWords(esc safetext.Escaper, t model.TierSpec) safetext.Text {
	text := esc.Const("a key is needed")
	switch t.KeyRule {
	case model.KeyIgnored:
		text = esc.Const("no key, one item")
	case model.KeyOptional:
		text = esc.Const("a key, or none: the store makes one")
	}
	if t.KeyHint != "" {
		text = esc.Sprintf("%s (%s)", text, esc.LineMax(t.KeyHint, prose.MaxTitle))
	}
	return text
}

// create checks what was filled in and opens the editor. It runs in a command.
func (ed *edits) create(ctx context.Context, s model.Store, at scopeOf, tier, key string) acted {
	esc := ed.d.esc
	const ofTier, ofKey = 0, 1
	wrongIn := func(field int, what safetext.Text) acted {
		d := ed.createDialog(s, scopeOf{at.store, at.scope, tier})
		d.fields[field].wrong = what
		d.fields[0].input.Set(tier)
		d.fields[1].input.Set(key)
		return acted{next: d}
	}
	spec, ok := s.Tier(tier)
	switch {
	case !ok:
		return wrongIn(ofTier, esc.Sprintf("The store has no tier %q.", tier))
	case !spec.Writable:
		return wrongIn(ofTier, esc.Sprintf("Only its own writer fills the tier %s.", esc.Line(tier)))
	case spec.KeyRule == model.KeyRequired && key == "":
		return wrongIn(ofKey, esc.Sprintf("The tier %s needs a key.", esc.Line(tier)))
	case spec.KeyRule == model.KeyIgnored:
		key = ""
	}
	req := model.RetainRequest{Tier: tier, Key: key, Mode: model.Replace, IfMatch: model.Absent}
	req.WorkspaceID, req.CrewID, req.AgentID = owners(at.scope)
	label := tier
	if key != "" {
		label = tier + "/" + key
	}
	if s.Address != nil {
		id, err := s.Address(req)
		if err != nil {
			return wrongIn(ofKey, prose.Reason(esc, err))
		}
		if id != "" {
			label = id
			if s.Browser != nil {
				if _, err := s.Browser.Read(ctx, id); err == nil {
					return wrongIn(ofKey, esc.Sprintf("%s is there already: e edits it.", esc.LineMax(id, prose.MaxTitle)))
				} else if !errors.Is(err, model.NotFound) {
					return wrongIn(ofKey, prose.Reason(esc, err))
				}
			}
		}
		if id == "" {
			req.IfMatch = "" // the store makes the id, so there is nothing to expect
		}
	}
	e := &edit{what: createItem, store: s, req: req, label: label, kind: spec.Document}
	if err := ed.d.draftOf(e, path.Base(label)); err != nil {
		return wrongIn(ofKey, esc.Sprintf("No file for the editor could be made: %s.", esc.Err(err)))
	}
	return acted{instead: func() tea.Cmd { return ed.startEditor(e) }}
}

// owners reads whose a scope is, by the published names of scopes:
// crews/<id>/agents/<slug>, crews/<id>/shared, solo/<ws>/<slug>, workspace/<ws>.
func owners(scope string) (workspace, crew, agent string) {
	switch p := strings.Split(scope, "/"); {
	case len(p) == 4 && p[0] == "crews" && p[2] == "agents":
		return "", p[1], p[3]
	case len(p) == 3 && p[0] == "crews" && p[2] == "shared":
		return "", p[1], ""
	case len(p) == 3 && p[0] == "solo":
		return p[1], "", p[2]
	case len(p) == 2 && p[0] == "workspace":
		return p[1], "", ""
	}
	return "", "", ""
}
