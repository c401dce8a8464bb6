package edit

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// EditItem opens an item in the editor; the save expects the revision that was opened.
func (ed *Edits) EditItem(ref model.Ref) tea.Cmd {
	return ed.Begin(func(ctx context.Context) (*Edit, error) {
		s, it, err := ed.D.Readable(ctx, ref)
		switch {
		case err != nil:
			return nil, err
		case it.Has(model.FlagBinary):
			return nil, model.Errorf(model.Unsupported, "edit", "it is not text; x exports it")
		}
		if why := noSave(s, it.Tier); why != "" {
			return nil, model.Errorf(model.Unsupported, "edit", "%s", why)
		}
		kind := operator.DocumentKind(s, it.Tier)
		text := it.Document().Encode(kind)
		return &Edit{
			What: EditItem, Store: s, Label: it.ID, Kind: kind, have: it.Meta, Original: text, Base: text,
			Req: model.RetainRequest{ID: it.ID, Mode: model.Replace, IfMatch: it.Revision},
		}, nil
	})
}

// AppendItem opens an empty text to append. It expects no revision: others may append meanwhile.
func (ed *Edits) AppendItem(ref model.Ref) tea.Cmd {
	return ed.Begin(func(ctx context.Context) (*Edit, error) {
		s, it, err := ed.D.Readable(ctx, ref)
		if err != nil {
			return nil, err
		}
		if why := noAddition(s, it.Tier); why != "" {
			return nil, model.Errorf(model.Unsupported, "append", "%s", why)
		}
		return &Edit{
			What: appendItem, Store: s, Label: it.ID, Kind: model.Opaque,
			Req: model.RetainRequest{ID: it.ID, Mode: model.Append},
		}, nil
	})
}

// CreateIn asks for tier and key and opens an empty text.
func (ed *Edits) CreateIn(at desk.ScopeOf) tea.Cmd {
	s, err := ed.D.Fleet.Store(at.Store)
	if err != nil {
		return ed.D.Warn("%s", prose.Reason(ed.D.Esc, err))
	}
	return ed.D.Modal.Show(ed.createDialog(s, at))
}

func (ed *Edits) createDialog(s model.Store, at desk.ScopeOf) *dialog.Dialog {
	esc := ed.D.Esc
	lines := []text.Line{{Value: esc.Sprintf("Create an item in the store %s?", esc.Line(s.Name)), Kind: text.Title}}
	if at.Scope != "" {
		lines = append(lines, text.Line{Value: esc.Sprintf("It belongs to %s.", esc.LineMax(at.Scope, prose.MaxTitle))})
	}
	lines = append(append(lines, ed.D.Environments(s.Name)...),
		text.Line{Value: esc.Const("Nothing is written before you have seen it again. Tiers:"), Kind: text.Note})
	open := slices.DeleteFunc(slices.Clone(s.Tiers), func(t model.TierSpec) bool { return !t.Writable || t.OwnerMakes || t.Hidden && t.Name != at.Tier })
	tier := at.Tier
	if i := slices.IndexFunc(open, func(t model.TierSpec) bool { return t.Name == tier }); i >= 0 {
		open = open[i : i+1]
	}
	if tier == "" && len(open) == 1 {
		tier = open[0].Name
	}
	for len(open) > 0 { // tiers beside each other that want the same key share a line
		names, rule := esc.Line(open[0].Name), keyWords(esc, open[0])
		for open = open[1:]; len(open) > 0 && keyWords(esc, open[0]) == rule; open = open[1:] {
			names = esc.Sprintf("%s, %s", names, esc.Line(open[0].Name))
		}
		lines = append(lines, text.Line{Value: esc.Sprintf("%s: %s", names, rule)})
	}
	d := &dialog.Dialog{
		Title: esc.Const("Create"), Lines: lines, NoReason: true, Form: true,
		Fields: []dialog.Field{{Label: esc.Const("tier: ")}, {Label: esc.Const("key: ")}},
	}
	d.Fields[0].Input.Set(tier)
	d.Choices = []dialog.Choice{{Verb: "Open the editor", Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		return ed.create(ctx, s, at, strings.TrimSpace(f.Fields[0]), strings.TrimSpace(f.Fields[1]))
	}}}
	return d
}

// keyWords says how the items of a tier are addressed.
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

// create checks the form and opens the editor. It runs in a command.
func (ed *Edits) create(ctx context.Context, s model.Store, at desk.ScopeOf, tier, key string) dialog.Acted {
	esc := ed.D.Esc
	const ofTier, ofKey = 0, 1
	wrongIn := func(field int, what safetext.Text) dialog.Acted {
		d := ed.createDialog(s, desk.ScopeOf{Store: at.Store, Scope: at.Scope, Tier: tier})
		d.Fields[field].Wrong = what
		d.Fields[0].Input.Set(tier)
		d.Fields[1].Input.Set(key)
		return dialog.Acted{Next: d}
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
	req.WorkspaceID, req.CrewID, req.AgentID = operator.Owners(at.Scope)
	label := tier
	if key != "" {
		label = tier + "/" + key
	}
	if s.Address != nil {
		id, err := s.Address(req)
		if err != nil {
			return wrongIn(ofKey, prose.Reason(esc, err))
		}
		if id == "" {
			req.IfMatch = "" // the store makes the id, so no revision is expected
		} else {
			label = id
			if s.Browser != nil {
				if _, err := s.Browser.Read(ctx, id); err == nil {
					return wrongIn(ofKey, esc.Sprintf("%s is there already: e edits it.", esc.LineMax(id, prose.MaxTitle)))
				} else if !errors.Is(err, model.NotFound) {
					return wrongIn(ofKey, prose.Reason(esc, err))
				}
			}
		}
	}
	e := &Edit{What: createItem, Store: s, Req: req, Label: label, Kind: spec.Document}
	if err := draftOf(ed.D, e, path.Base(label)); err != nil {
		return wrongIn(ofKey, esc.Sprintf("No file for the editor could be made: %s.", esc.Err(err)))
	}
	return dialog.Acted{Instead: func() tea.Cmd { return ed.StartEditor(e) }}
}
