package hypergraph

import (
	"context"

	"memdesk/model"
)

// wordIndex is the derived tier of a store: the index of words, and the counts that a backend keeps beside it.
const wordIndex = "words"

// reindexer is the facet of a backend that can build its index of words anew.
type reindexer struct{ a *adapter }

// Reindex implements model.Reindexer.
func (r reindexer) Reindex(ctx context.Context, tier string) (int64, error) {
	if err := r.a.begin(ctx, "reindex", true); err != nil {
		return 0, err
	}
	if tier != "" && tier != wordIndex {
		return 0, model.Errorf(model.InvalidInput, "reindex", "%q is no derived tier: there is %s", tier, wordIndex)
	}
	return r.a.Reindex(ctx)
}

// ChangedSince implements model.Reindexer. Edges keep no time of their last change, so every edge is among the ids.
func (r reindexer) ChangedSince(ctx context.Context, mtime float64, yield func(id string) bool) error {
	for req := (model.PageRequest{Hidden: true, Order: model.OrderID, Limit: model.MaxPage}); ; {
		page, err := r.a.List(ctx, req)
		if err != nil {
			return err
		}
		for _, h := range page.Items {
			if changed := float64(h.Modified.UnixNano())/1e9 >= mtime; (changed || h.Tier == EdgeTier) && !yield(h.ID) {
				return nil
			}
		}
		if req.Cursor = page.Next; req.Cursor == "" {
			return nil
		}
	}
}
