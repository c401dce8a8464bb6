package edit

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
)

// NoRelease says why an entry cannot be released.
func NoRelease(d *desk.Desk, e operator.QuarantineEntry) string {
	switch why := NoEdit(d, e.Store); {
	case why != "":
		return why
	case e.Live == operator.LiveGone:
		return "its source is gone, so there is nothing to release: d deletes the entry"
	case e.SourceID == "":
		return "nobody can tell which item it came from"
	}
	return ""
}

// Release opens the live source of an entry. What is saved must pass the scanner, and then the entry goes.
func (ed *Edits) Release(e operator.QuarantineEntry) tea.Cmd {
	return ed.Begin(func(ctx context.Context) (*Edit, error) {
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
	})
}

func QuarantineDatum(e operator.QuarantineEntry) desk.Datum {
	return desk.DatumOf(
		"store", e.Store, "id", model.EncodeID(e.ID), "source", e.Source, "filed", e.Filed, "category", e.Category,
		"pattern", e.Pattern, "sha256", e.SHA256, "line", e.Line, "col", e.Col, "excerpt", e.Excerpt,
		"live", string(desk.LivenessOf(e.Live)), "quarantined_at", desk.StampOf(e.At), "bytes", e.Bytes,
		"known_false_positive", e.FalsePositive, "problem", e.Problem,
	)
}
