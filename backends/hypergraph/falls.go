package hypergraph

import (
	"context"
	"errors"
	"slices"

	"memdesk/model"
)

// falls lists the edges that would go with items: those left with fewer than two members (recurse.md,
// Deletion). It predicts DeleteNode's rule.
func (a *adapter) falls(ctx context.Context, ids []string) ([]model.Fall, error) {
	const op = "falls"
	if err := a.begin(ctx, op, false); err != nil {
		return nil, err
	}
	going := map[itemID]bool{}
	var nodes []string
	for _, id := range ids {
		t, err := parseItemID(op, id)
		if err != nil {
			return nil, err
		}
		if !t.edge && !going[t] {
			nodes = append(nodes, t.id)
		}
		going[t] = true
	}
	var out []model.Fall
	for part := range slices.Chunk(nodes, concerningBatch) {
		edges, err := a.Backend.EdgesOfAll(ctx, part)
		if err != nil {
			return nil, model.Wrap(op, err)
		}
		for _, node := range part {
			for _, id := range edges[node] {
				edge := itemID{edge: true, id: id}
				if going[edge] {
					continue
				}
				going[edge] = true // each edge is checked once
				f, err := a.fall(ctx, edge, going)
				switch {
				case errors.Is(err, model.NotFound): // removed by another writer
				case err != nil:
					return nil, model.Wrap(op, err)
				case f.Left < 2:
					out = append(out, f)
				}
			}
		}
	}
	return out, nil
}

// fall counts the members that an edge would keep. A node in two roles is one member.
func (a *adapter) fall(ctx context.Context, edge itemID, going map[itemID]bool) (model.Fall, error) {
	f := model.Fall{ID: edge.String()}
	e, err := a.Backend.GetEdge(ctx, edge.id)
	if err != nil {
		return f, err
	}
	seen := map[string]bool{}
	for _, m := range e.Members {
		switch n := (itemID{id: m.NodeID}); {
		case seen[m.NodeID]:
		case going[n]:
			f.With = append(f.With, n.String())
		default:
			f.Left++
		}
		seen[m.NodeID] = true
	}
	return f, nil
}
