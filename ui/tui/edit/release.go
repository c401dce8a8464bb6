package edit

import (
	"cmp"
	"context"
	"path"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/quarantine/review"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/prose"
)

// NoRelease says why an entry cannot be released.
func NoRelease(d *desk.Desk, e operator.QuarantineEntry) string {
	switch why := NoEdit(d, e.Store, ""); {
	case why != "":
		return why
	case e.Live == review.Waits && e.Problem != "":
		return "the held write cannot be read"
	case e.Live == review.Waits: // it may make an item
		return ""
	case e.Live == review.Gone:
		return "its source is gone, so there is nothing to release: d deletes the entry"
	case e.SourceID == "":
		return "nobody can tell which item it came from"
	}
	return ""
}

// Release opens the live source of an entry, or the text of a held write. What is saved must pass the scanner, and then
// the entry goes.
func (ed *Edits) Release(e operator.QuarantineEntry) tea.Cmd {
	return ed.Begin(func(ctx context.Context) (*Edit, error) { return ed.opened(ctx, e) })
}

// opened is the text that a release is about.
func (ed *Edits) opened(ctx context.Context, e operator.QuarantineEntry) (*Edit, error) {
	if e.Live == review.Waits {
		return ed.held(ctx, e)
	}
	s, it, err := ed.D.Readable(ctx, model.Ref{Store: e.Store, ID: e.SourceID})
	switch {
	case err != nil:
		return nil, err
	case it.Has(model.FlagBinary):
		return nil, model.Errorf(model.Unsupported, "release", "it is not text")
	}
	return &Edit{
		What: releaseItem, Store: s, Label: it.ID, Kind: model.Opaque, entry: e, Original: it.Body, Base: it.Body,
		Req: model.RetainRequest{ID: it.ID, Mode: model.Replace, IfMatch: it.Revision},
	}, nil
}

// held is the text of a held write. Its item, mode and fields stay those of its request.
func (ed *Edits) held(ctx context.Context, e operator.QuarantineEntry) (*Edit, error) {
	s, err := ed.D.Fleet.Store(e.Store)
	if err != nil {
		return nil, err
	}
	full, err := ed.D.Quarantine.Entry(ctx, e.Store, e.ID)
	switch {
	case err != nil:
		return nil, err
	case full.Problem != "":
		return nil, model.Errorf(model.Unavailable, "release", "%s", full.Problem)
	case full.Held == nil: // an entry of another desk's
		return nil, model.Errorf(model.NotFound, "release", "no held write of this desk has this id")
	case !utf8.ValidString(full.Body):
		return nil, model.Errorf(model.Unsupported, "release", "it is not text")
	}
	req := full.Held.Request
	return &Edit{
		What: releaseItem, Store: s, have: req.Meta, Label: cmp.Or(full.Held.Item, req.ID, path.Join(req.Tier, req.Key), e.ID), Kind: model.Opaque, entry: e,
		Original: full.Body, Base: full.Body, Req: model.RetainRequest{ID: req.ID, Mode: req.Mode},
	}, nil
}

// heldWords say what the release of a held write does.
func (ed *Edits) heldWords(e *Edit, words string) safetext.Text {
	esc := ed.D.Esc
	where := esc.Sprintf("%s in the store %s", esc.LineMax(e.Label, prose.MaxTitle), esc.Line(e.Store.Name))
	how := esc.Sprintf("This writes %s bytes to %s, in place of anything that stands there.", prose.Group(len(words)), where)
	if e.Req.Mode == model.Append {
		how = esc.Sprintf("This adds %s bytes at the end of %s.", prose.Group(len(words)), where)
	}
	if n := len(e.have); n > 0 {
		how = esc.Sprintf("%s It also sets %s of the item.", how, prose.Plural(n, "field"))
	}
	if words == e.Base {
		return esc.Sprintf("%s The text is as it was held.", how)
	}
	return esc.Sprintf("%s You have changed the held text.", how)
}

func QuarantineDatum(e operator.QuarantineEntry) desk.Datum {
	return desk.DatumOf(
		"store", e.Store, "id", model.EncodeID(e.ID), "source", e.Source, "filed", e.Filed, "category", e.Category,
		"pattern", e.Pattern, "sha256", e.SHA256, "line", e.Line, "col", e.Col, "excerpt", e.Excerpt(),
		"live", e.Live.String(), "quarantined_at", desk.StampOf(e.At), "bytes", e.Bytes,
		"known_false_positive", e.FalsePositive != "", "problem", e.Problem,
	)
}
