package records

import (
	"context"
	"slices"

	"memdesk/model"
)

// Graph walks the links between items of a store without vectors.
type Graph struct {
	DB DB
	// Node returns an item's header; false where there is none.
	Node func(tx Tx, id string) (model.Header, bool, error)
	// Links returns the links that begin or end at an item, filtered by the request: Other holds both ends,
	// the first leads to the second. An end that is no item is shown only by its link.
	Links func(tx Tx, id string, req model.GraphRequest) ([]model.Link, error)
}

var _ model.Graph = Graph{}

// walk goes breadth first, depth steps far, and returns the ids in the order in which it finds them.
func (g Graph) walk(tx Tx, from []string, depth int, req model.GraphRequest) (met []string, err error) {
	seen := map[string]bool{}
	ring := from
	for step := 0; ; step++ {
		var next []string
		for _, id := range ring {
			if !seen[id] {
				seen[id] = true
				met, next = append(met, id), append(next, id)
			}
		}
		if step == depth || len(next) == 0 {
			return met, nil
		}
		ring = nil
		for _, id := range next {
			links, err := g.Links(tx, id, req)
			if err != nil {
				return nil, err
			}
			for _, l := range links {
				ring = append(ring, l.Other...)
			}
		}
	}
}

// Neighbours implements model.Graph.
func (g Graph) Neighbours(ctx context.Context, id string, req model.GraphRequest) (out []model.Header, err error) {
	const op = "neighbours"
	err = g.DB.View(ctx, op, func(tx Tx) error {
		out = nil
		if _, found, err := g.Node(tx, id); err != nil || !found {
			if err == nil {
				err = model.Errorf(model.NotFound, op, "there is no entity %.200q", id)
			}
			return err
		}
		met, err := g.walk(tx, []string{id}, max(req.Depth, 1), req)
		for _, id := range met[min(1, len(met)):] {
			if len(out) == model.PageLimit(req.Limit) {
				break
			}
			h, found, err := g.Node(tx, id)
			if err != nil {
				return err
			}
			if found {
				out = append(out, h)
			}
		}
		return err
	})
	return out, model.Wrap(op, err)
}

// mostReached is how many items a subgraph may have: it is one answer, not pages.
const mostReached = 10_000

// Subgraph implements model.Graph.
func (g Graph) Subgraph(ctx context.Context, ids []string, depth int) (items []model.Header, links []model.Link, err error) {
	const op = "subgraph"
	err = g.DB.View(ctx, op, func(tx Tx) error {
		items, links = nil, nil
		met, err := g.walk(tx, ids, depth, model.GraphRequest{})
		if err != nil {
			return err
		}
		if len(met) > mostReached {
			return model.Errorf(model.InvalidInput, op, "more than %d items lie within these steps: go fewer steps, or from fewer items", mostReached)
		}
		seen := map[string]bool{}
		for _, id := range met {
			h, found, err := g.Node(tx, id)
			if err != nil {
				return err
			}
			if seen[id] = found; found {
				items = append(items, h)
			}
		}
		for _, h := range items {
			all, err := g.Links(tx, h.ID, model.GraphRequest{Outgoing: true})
			if err != nil {
				return err
			}
			links = append(links, slices.DeleteFunc(all, func(l model.Link) bool { return !seen[l.Other[0]] || !seen[l.Other[1]] })...)
		}
		return nil
	})
	return items, links, model.Wrap(op, err)
}

// Similar is Unsupported: the store keeps no vectors.
func (Graph) Similar(context.Context, string, int) (model.RecallResult, error) {
	return model.RecallResult{}, model.Errorf(model.Unsupported, "similar", "the store keeps no vectors")
}
