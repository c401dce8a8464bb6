package curated

import (
	"cmp"
	"context"
	"slices"

	"memdesk/backends/seam/internal/linesearch"
	"memdesk/model"
)

// Recall searches the entries, case-insensitive: an entry matches when it holds every word. Entries that
// the scanner rejects give no text and are named whether or not they match. Proposals are no memory yet,
// and not searched.
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	query, err := linesearch.New(req.Query)
	if err != nil {
		return model.RecallResult{}, err
	}
	if _, ok := fileOf(req.Tier); !ok && req.Tier != "" {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "unknown tier %q; there are %s and %s", req.Tier, TierMemory, TierUser)
	}
	if err := unscoped.Check("recall", req.WorkspaceID, req.CrewID, req.AgentID); err != nil {
		return model.RecallResult{}, err
	}
	files, err := s.both(ctx, "recall")
	if err != nil {
		return model.RecallResult{}, err
	}
	out := model.RecallResult{Hits: []model.RecallSnippet{}}
	for _, f := range files {
		if req.Tier != "" && tierOf(f.name) != req.Tier {
			continue
		}
		if f.bad != nil {
			out.Bounded, out.BoundNote = true, f.name+" could not be read"
			continue
		}
		for _, e := range f.entries {
			id := f.name + "/" + e.hash
			if _, rejected := rules.Load(e.text); rejected {
				out.Quarantined = append(out.Quarantined, id)
				continue
			}
			if h, ok := query.Piece(e.text); ok {
				h.ID, h.Source = id, id
				out.Hits = append(out.Hits, h)
			}
		}
	}
	out.Total = int64(len(out.Hits))
	slices.SortStableFunc(out.Hits, func(a, b model.RecallSnippet) int { return cmp.Compare(b.Score, a.Score) })
	out.Hits = out.Hits[:min(len(out.Hits), model.ClampLimit(req.Limit))]
	return out, nil
}
