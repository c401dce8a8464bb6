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
	var blocked map[string]bool
	return a.page(ctx, "ready", req, "ready", func(v View, i int) bool {
		if v != in {
			in, blocked = v, blockedIn(v)
		}
		b, ok := v.Bead(i)
		return ok && b.Queued() && !blocked[v.ID(i)]
	})
}

func blockedIn(v View) map[string]bool {
	out := map[string]bool{}
	for _, d := range v.Dependencies() {
		if Blocks(d.Kind) {
			out[d.Blocked] = true
		}
	}
	return out
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
	var out []model.Dependency
	for _, d := range v.Dependencies() {
		if d.Blocked == id || d.Blocker == id {
			out = append(out, d)
		}
	}
	return out, nil
}
