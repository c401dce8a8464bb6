package inmem

import (
	"cmp"
	"context"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// GetConnected implements hypergraph.Ops.
func (s *state) GetConnected(ctx context.Context, id string, o hypergraph.TraversalOptions) ([]hypergraph.Node, error) {
	const op = "get connected"
	if _, ok := s.nodes[id]; !ok {
		return nil, notFound(op, "node", id)
	}
	switch o.Direction {
	case hypergraph.Both, hypergraph.Outgoing, hypergraph.Incoming:
	default:
		return nil, model.Errorf(model.InvalidInput, op, "unknown direction %q: there are outgoing and incoming", string(o.Direction))
	}
	archive := slices.Contains(o.Tiers, s.vocab.ArchiveTier)
	seen := map[string]bool{id: true}
	var out []hypergraph.Node
	ring := []string{id}
	for depth := max(o.MaxDepth, 1); depth > 0 && len(ring) > 0; depth-- {
		var next []string
		for _, at := range ring {
			if err := model.FromContext(ctx, op); err != nil {
				return nil, err
			}
			for _, to := range s.neighbours(at, o) {
				x := s.nodes[to]
				if seen[to] || x.Tier == s.vocab.ArchiveTier && !archive {
					continue
				}
				seen[to] = true
				next = append(next, to)
				if allowed(o.NodeTypes, x.Type) && allowed(o.Tiers, x.Tier) {
					out = append(out, x.copyOut())
				}
				if o.MaxResults > 0 && len(out) == o.MaxResults {
					return out, nil
				}
			}
		}
		ring = next
	}
	return out, nil
}

// neighbours are the other members of a node's edges that the requested direction admits: outgoing
// means that the node is the edge's subject, incoming its object.
func (s *state) neighbours(id string, o hypergraph.TraversalOptions) []string {
	var out []string
	for _, e := range s.edgesOf(id) {
		if !allowed(o.EdgeTypes, e.Type) || !leads(e, id, o.Direction) {
			continue
		}
		for _, m := range e.Members {
			if m.NodeID != id {
				out = append(out, m.NodeID)
			}
		}
	}
	return out
}

func leads(e *edge, id string, d hypergraph.Direction) bool {
	role := map[hypergraph.Direction]string{hypergraph.Outgoing: "subject", hypergraph.Incoming: "object"}[d]
	return slices.ContainsFunc(e.Members, func(m hypergraph.Membership) bool {
		return m.NodeID == id && (role == "" || m.Role == role)
	})
}

// edgesOf lists a node's edges by id, so that every walk takes the same order.
func (s *state) edgesOf(id string) []*edge {
	out := make([]*edge, 0, len(s.memberOf[id]))
	for e := range s.memberOf[id] {
		out = append(out, s.edges[e])
	}
	slices.SortStableFunc(out, edgeByID)
	return out
}

// GetSubgraph implements hypergraph.Ops.
func (s *state) GetSubgraph(ctx context.Context, ids []string, depth int) ([]hypergraph.Node, []hypergraph.Edge, error) {
	const op = "get subgraph"
	in := map[string]bool{}
	var nodes []hypergraph.Node
	var ring []string
	enter := func(id string) {
		if x, ok := s.nodes[id]; ok && !in[id] {
			in[id] = true
			nodes = append(nodes, x.copyOut())
			ring = append(ring, id)
		}
	}
	for _, id := range ids {
		enter(id)
	}
	for ; depth > 0 && len(ring) > 0; depth-- {
		from := ring
		ring = nil
		for _, id := range from {
			if err := cmp.Or(model.FromContext(ctx, op), hypergraph.Reach(len(nodes))); err != nil {
				return nil, nil, err
			}
			for _, to := range s.neighbours(id, hypergraph.TraversalOptions{}) {
				enter(to)
			}
		}
	}
	if err := hypergraph.Reach(len(nodes)); err != nil {
		return nil, nil, err
	}
	return nodes, s.edgesAmong(in), nil
}

// edgesAmong are the edges with at least two members in the set.
func (s *state) edgesAmong(in map[string]bool) []hypergraph.Edge {
	inside := map[*edge]int{}
	for id := range in {
		for e := range s.memberOf[id] {
			inside[s.edges[e]]++
		}
	}
	var found []*edge
	for e, n := range inside {
		if n >= 2 {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, edgeByID)
	out := make([]hypergraph.Edge, len(found))
	for i, e := range found {
		out[i] = e.copyOut()
	}
	return out
}
