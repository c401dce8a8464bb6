package inmem

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

var roles = []string{"subject", "object", "context", "participant"}

// CreateEdge implements hypergraph.Ops.
func (s *state) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	const op = "create edge"
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if _, taken := s.edges[e.ID]; taken {
		return model.Errorf(model.AlreadyExists, op, "there is an edge %q already", e.ID)
	}
	if err := s.checkEdge(op, e); err != nil {
		return err
	}
	for i, m := range e.Members {
		if err := s.checkMember(op, m, e.Members[:i]); err != nil {
			return err
		}
	}
	e.Members = slices.Clone(e.Members)
	sortMembers(e.Members)
	if e.CreatedAt.IsZero() {
		e.CreatedAt = s.now()
	}
	x := &edge{Edge: e, text: edgeText(e)}
	s.edges[e.ID] = x
	s.edgeOrder.insert(x)
	s.edgeBytes += int64(len(e.Label))
	for _, m := range e.Members {
		s.join(m.NodeID, e.ID)
	}
	return nil
}

func (s *state) join(node, edge string) {
	if s.memberOf[node] == nil {
		s.memberOf[node] = map[string]bool{}
	}
	s.memberOf[node][edge] = true
}

func edgeText(e hypergraph.Edge) string {
	return snippet.Fold(e.Label + "\x00" + e.ID + "\x00" + e.Metadata)
}

func sortMembers(ms []hypergraph.Membership) {
	slices.SortStableFunc(ms, func(a, b hypergraph.Membership) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), strings.Compare(a.NodeID, b.NodeID), strings.Compare(a.Role, b.Role))
	})
}

func (s *state) checkEdge(op string, e hypergraph.Edge) error {
	if err := oneOf(op, "type", e.Type, s.vocab.EdgeTypes); err != nil {
		return err
	}
	if !(e.Weight >= 0) {
		return model.Errorf(model.InvalidInput, op, "a weight is 0 or more")
	}
	return nil
}

func (s *state) checkMember(op string, m hypergraph.Membership, others []hypergraph.Membership) error {
	if err := oneOf(op, "role", m.Role, roles); err != nil {
		return err
	}
	if _, ok := s.nodes[m.NodeID]; !ok {
		return model.Errorf(model.Conflict, op, "there is no node %q to be a member", m.NodeID)
	}
	for _, o := range others {
		if o.NodeID == m.NodeID && o.Role == m.Role {
			return model.Errorf(model.InvalidInput, op, "node %q is %s twice", m.NodeID, m.Role)
		}
	}
	return nil
}

// GetEdge implements hypergraph.Ops.
func (s *state) GetEdge(ctx context.Context, id string) (hypergraph.Edge, error) {
	x, err := find(ctx, "get edge", "edge", s.edges, id)
	if err != nil {
		return hypergraph.Edge{}, err
	}
	return x.copyOut(), nil
}

// UpdateEdge implements hypergraph.Ops.
func (s *state) UpdateEdge(ctx context.Context, e hypergraph.Edge) error {
	const op = "update edge"
	x, err := find(ctx, op, "edge", s.edges, e.ID)
	if err != nil {
		return err
	}
	if err := s.checkEdge(op, e); err != nil {
		return err
	}
	s.edgeBytes += int64(len(e.Label)) - int64(len(x.Label))
	x.Type, x.Label, x.Weight, x.Metadata = e.Type, e.Label, e.Weight, e.Metadata
	x.text = edgeText(x.Edge)
	return nil
}

// DeleteEdge implements hypergraph.Ops.
func (s *state) DeleteEdge(ctx context.Context, id string) error {
	const op = "delete edge"
	x, err := find(ctx, op, "edge", s.edges, id)
	if err != nil {
		return err
	}
	s.dropEdge(x)
	return nil
}

func (s *state) dropEdge(x *edge) {
	for _, m := range x.Members {
		delete(s.memberOf[m.NodeID], x.ID)
	}
	delete(s.edges, x.ID)
	s.edgeOrder.remove(x)
	s.edgeBytes -= int64(len(x.Label))
}

// dropMember removes every role of a node from an edge and reports whether it had any.
func (s *state) dropMember(x *edge, node string) bool {
	n := len(x.Members)
	x.Members = slices.DeleteFunc(x.Members, func(m hypergraph.Membership) bool { return m.NodeID == node })
	delete(s.memberOf[node], x.ID)
	return len(x.Members) < n
}

// AddMembership implements hypergraph.Ops.
func (s *state) AddMembership(ctx context.Context, id string, m hypergraph.Membership) error {
	const op = "add membership"
	x, err := find(ctx, op, "edge", s.edges, id)
	if err != nil {
		return err
	}
	if _, ok := s.nodes[m.NodeID]; !ok {
		return notFound(op, "node", m.NodeID)
	}
	for _, o := range x.Members {
		if o.NodeID == m.NodeID && o.Role == m.Role {
			return model.Errorf(model.AlreadyExists, op, "node %q is %s of edge %q already", m.NodeID, m.Role, id)
		}
	}
	if err := s.checkMember(op, m, nil); err != nil {
		return err
	}
	x.Members = append(x.Members, m)
	sortMembers(x.Members)
	s.join(m.NodeID, id)
	return nil
}

// RemoveMembership implements hypergraph.Ops.
func (s *state) RemoveMembership(ctx context.Context, id, node string) error {
	const op = "remove membership"
	x, err := find(ctx, op, "edge", s.edges, id)
	if err != nil {
		return err
	}
	if !s.dropMember(x, node) {
		return model.Errorf(model.NotFound, op, "node %q is no member of edge %q", node, id)
	}
	return nil
}

// EdgesOf implements hypergraph.Ops. The edges are ordered by id.
func (s *state) EdgesOf(ctx context.Context, node string, limit int) ([]hypergraph.Edge, int64, error) {
	if err := model.FromContext(ctx, "edges of node"); err != nil {
		return nil, 0, err
	}
	ids := make([]string, 0, len(s.memberOf[node]))
	for id := range s.memberOf[node] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []hypergraph.Edge
	for _, id := range ids[:min(max(limit, 0), len(ids))] {
		out = append(out, s.edges[id].copyOut())
	}
	return out, int64(len(ids)), nil
}

// EdgesOfAll implements hypergraph.Ops.
func (s *state) EdgesOfAll(ctx context.Context, nodes []string) (map[string][]string, error) {
	if err := model.FromContext(ctx, "edges of nodes"); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, n := range nodes {
		if of := s.memberOf[n]; len(of) > 0 {
			out[n] = slices.Sorted(maps.Keys(of))
		}
	}
	return out, nil
}
