package tracker

import (
	"context"

	"memdesk/model"
)

// Ready pages through the open items that nothing blocks and no human holds up.
// Any recorded blocker blocks, even a closed one, as the published JSONL store
// has it (B14).
func (a *adapter) Ready(ctx context.Context, req model.PageRequest) (model.Page, error) {
	if err := a.begin(ctx, "ready", false); err != nil {
		return model.Page{}, err
	}
	var in View
	var free func(int) bool
	var failed error
	page, err := a.page(ctx, "ready", req, "ready", func(v View, i int) bool {
		if v != in {
			in, free = v, readyIn(ctx, v, &failed)
		}
		return free(i)
	})
	if failed != nil {
		a.mu.Lock()
		a.last = selected{} // what could not be asked is not remembered as blocked
		a.mu.Unlock()
		return model.Page{}, model.Wrap("ready", failed)
	}
	return page, err
}

// readyIn tells which entries of a view can be begun. The first failure to ask
// for an item's pairs is kept.
func readyIn(ctx context.Context, v View, failed *error) func(int) bool {
	blocked := map[string]bool{}
	for _, d := range v.Dependencies() {
		if Blocks(d.Kind) {
			blocked[d.Blocked] = true
		}
	}
	r, one := v.(Related)
	return func(i int) bool {
		b, ok := v.Bead(i)
		if !ok || !b.Queued() || blocked[b.ID] || *failed != nil {
			return false
		}
		if !one {
			return true
		}
		pairs, err := r.Of(ctx, b.ID)
		if err != nil {
			*failed = err
			return false
		}
		for _, d := range pairs {
			if d.Blocked == b.ID && Blocks(d.Kind) {
				return false
			}
		}
		return true
	}
}

// QueryWork pages through what a query finds.
func (a *adapter) QueryWork(ctx context.Context, query string, req model.PageRequest) (model.Page, []string, error) {
	if err := a.begin(ctx, "query-work", false); err != nil {
		return model.Page{}, nil, err
	}
	q := ParseQuery(query)
	page, err := a.page(ctx, "query-work", req, "query "+query, func(v View, i int) bool {
		b, ok := v.Bead(i)
		return ok && q.Matches(b)
	})
	return page, q.Ignored, err
}

// Dependencies lists the pairs in which the item stands on either side.
func (a *adapter) Dependencies(ctx context.Context, id string) ([]model.Dependency, error) {
	if err := a.begin(ctx, "dependencies", false); err != nil {
		return nil, err
	}
	v, err := a.view(ctx, "dependencies")
	if err != nil {
		return nil, err
	}
	if v.Find(id) < 0 {
		return nil, absent("dependencies", id)
	}
	out, err := PairsOf(ctx, v, id)
	return out, model.Wrap("dependencies", err)
}
