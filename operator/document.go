package operator

import (
	"context"
	"errors"

	"memdesk/model"
)

// DocumentKind is the document kind of a tier; an undeclared tier is plain bytes.
func DocumentKind(s model.Store, tier string) model.DocumentKind {
	if t, ok := s.Tier(tier); ok {
		return t.Document
	}
	return model.Opaque
}

// Decode sets content and metadata of a write from a document. An append adds text only, whatever it looks
// like. Fields that the store maintains are left out: they may have changed since the document was shown,
// which is no edit. unwritten are those that differ from the stored ones, with their stored values, so that a
// misplaced edit is noticed.
func Decode(ctx context.Context, s model.Store, req *model.RetainRequest, text string) (unwritten []model.Field, err error) {
	req.Content = text
	if req.Mode == model.Append || len(s.Tiers) == 0 {
		return nil, nil
	}
	kind := s.Tiers[0].Document
	var have []model.Field
	if req.Tier != "" {
		kind = DocumentKind(s, req.Tier)
	} else if s.Browser != nil {
		it, err := s.Browser.Read(ctx, req.ID)
		switch {
		case err == nil:
			kind, have = DocumentKind(s, it.Tier), it.Meta
		case !errors.Is(err, model.NotFound):
			return nil, err
		}
	}
	doc, err := model.DecodeDocument(kind, text)
	if err != nil {
		return nil, err
	}
	req.Content, req.Meta = doc.Body, doc.Meta
	if doc.Meta == nil || have == nil {
		return nil, nil
	}
	stored := map[string]model.Field{}
	for _, f := range have {
		stored[f.Name] = f
	}
	req.Meta = []model.Field{}
	for _, f := range doc.Meta {
		h := stored[f.Name]
		if !h.ReadOnly {
			req.Meta = append(req.Meta, f)
		} else if h.Value != f.Value {
			unwritten = append(unwritten, h)
		}
	}
	return unwritten, nil
}
