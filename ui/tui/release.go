package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
)

// noRelease says why the entry at the cursor cannot be released.
func noRelease(p *records[QuarantineEntry]) string {
	r, ok := p.list.current()
	if !ok {
		return p.list.nothing()
	}
	e := r.raw
	if why := p.d.noEdit(e.Store); why != "" {
		return why
	}
	switch {
	case e.ID == "":
		return "this row tells of the store, there is no entry behind it"
	case e.Live == LiveGone:
		return "its source is gone, so there is nothing to release: d deletes the entry"
	case e.SourceID == "":
		return "nobody can tell which item it came from"
	}
	return ""
}

// release opens the live source of an entry. What is saved is written over it when
// it passes the scanner, and the entry goes.
func (ed *edits) release(e QuarantineEntry) tea.Cmd {
	return ed.begin(func(ctx context.Context) (*edit, error) {
		s, it, err := ed.d.readable(ctx, model.Ref{Store: e.Store, ID: e.SourceID})
		switch {
		case err != nil:
			return nil, err
		case it.Has(model.FlagBinary):
			return nil, model.Errorf(model.Unsupported, "release", "it is not text")
		}
		return &edit{
			what: releaseItem, store: s, label: it.ID, kind: model.Opaque, entry: e, original: it.Body, base: it.Body,
			req: model.RetainRequest{ID: it.ID, Mode: model.Replace, IfMatch: it.Revision},
		}, nil
	})
}

func quarantineDatum(e QuarantineEntry) datum {
	var r datum
	r.add("store", e.Store)
	r.add("id", model.EncodeID(e.ID))
	r.add("source", e.Source)
	r.add("filed", e.Filed)
	r.add("category", e.Category)
	r.add("pattern", e.Pattern)
	r.add("sha256", e.SHA256)
	r.add("line", e.Line)
	r.add("col", e.Col)
	r.add("excerpt", e.Excerpt)
	r.add("live", string(liveness(e.Live)))
	r.add("quarantined_at", stampOf(e.At))
	r.add("bytes", e.Bytes)
	r.add("known_false_positive", e.FalsePositive)
	r.add("problem", e.Problem)
	return r
}
