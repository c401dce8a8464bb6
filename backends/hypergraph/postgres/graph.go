package postgres

import (
	"context"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// GetConnected implements hypergraph.Ops: breadth first, nearest first, by id within
// one distance, without the start node. Archived nodes are neither returned nor walked
// through unless Tiers names the archive (recurse.md, Behaviour); other filters choose
// what is returned, not what is walked through.
func (o ops) GetConnected(ctx context.Context, id string, t hypergraph.TraversalOptions) ([]hypergraph.Node, error) {
	var out []hypergraph.Node
	err := o.view(ctx, "connected", func(q *query) error {
		if _, err := o.s.getNode(q, id); err != nil {
			return err
		}
		var err error
		out, err = o.s.walk(q, id, t)
		return err
	})
	return out, err
}

func (s *Store) walk(q *query, id string, t hypergraph.TraversalOptions) ([]hypergraph.Node, error) {
	var out []hypergraph.Node
	archive := slices.Contains(t.Tiers, vocabulary.ArchiveTier)
	seen := map[string]bool{id: true}
	frontier := []string{id}
	for depth := 0; depth < max(t.MaxDepth, 1) && len(frontier) > 0; depth++ {
		near, err := s.neighbours(q, frontier, t)
		if err != nil {
			return nil, err
		}
		near = slices.DeleteFunc(near, func(n string) bool { return seen[n] })
		nodes, err := s.nodesByID(q, near)
		if err != nil {
			return nil, err
		}
		frontier = frontier[:0]
		for _, n := range nodes {
			seen[n.ID] = true
			if n.Tier == vocabulary.ArchiveTier && !archive {
				continue
			}
			frontier = append(frontier, n.ID)
			if len(t.NodeTypes) > 0 && !slices.Contains(t.NodeTypes, n.Type) || len(t.Tiers) > 0 && !slices.Contains(t.Tiers, n.Tier) {
				continue
			}
			out = append(out, n)
			if t.MaxResults > 0 && len(out) == t.MaxResults {
				return out, nil
			}
		}
	}
	return out, nil
}

// neighbours are the other members of the edges that ids are members of, sorted.
// Outgoing means that the id is the edge's subject, incoming its object
// (provider-contract.md H8).
func (s *Store) neighbours(q *query, ids []string, t hypergraph.TraversalOptions) ([]string, error) {
	c := s.conditions("m")
	c.add(`m.node_id = ANY(`, `)`, ids)
	c.in(`e.type`, t.EdgeTypes)
	switch t.Direction {
	case hypergraph.Outgoing:
		c.parts = append(c.parts, `m.role = 'subject'`)
	case hypergraph.Incoming:
		c.parts = append(c.parts, `m.role = 'object'`)
	case hypergraph.Both:
	default:
		return nil, model.Errorf(model.InvalidInput, q.op, "direction %.40q is not outgoing or incoming", string(t.Direction))
	}
	var out []string
	err := q.each(`SELECT DISTINCT o.node_id FROM memdesk.membership m
		JOIN memdesk.hyperedges e ON e.workspace = m.workspace AND e.id = m.hyperedge_id
		JOIN memdesk.membership o ON o.workspace = m.workspace AND o.hyperedge_id = m.hyperedge_id AND o.node_id <> m.node_id`+c.where(), c.args, collect(&out))
	slices.Sort(out)
	return out, err
}

// GetSubgraph implements hypergraph.Ops: the nodes up to depth edges away from ids,
// archived ones included, by id, and every edge of which two members at least are
// among them.
func (o ops) GetSubgraph(ctx context.Context, ids []string, depth int) ([]hypergraph.Node, []hypergraph.Edge, error) {
	var nodes []hypergraph.Node
	var edges []hypergraph.Edge
	err := o.view(ctx, "subgraph", func(q *query) error {
		reach := map[string]bool{}
		frontier := storables(ids)
		for _, id := range frontier {
			reach[id] = true
		}
		for left := depth; left > 0 && len(frontier) > 0; left-- {
			near, err := o.s.neighbours(q, frontier, hypergraph.TraversalOptions{})
			if err != nil {
				return err
			}
			frontier = slices.DeleteFunc(near, func(id string) bool { return reach[id] })
			for _, id := range frontier {
				reach[id] = true
			}
		}
		all := make([]string, 0, len(reach))
		for id := range reach {
			all = append(all, id)
		}
		slices.Sort(all)
		var err error
		if nodes, err = o.s.nodesByID(q, all); err != nil {
			return err
		}
		edges, err = o.s.edgesAmong(q, all)
		return err
	})
	return nodes, edges, err
}

func (s *Store) edgesAmong(q *query, ids []string) ([]hypergraph.Edge, error) {
	c := s.conditions("e")
	c.add(`e.id IN (SELECT m.hyperedge_id FROM memdesk.membership m WHERE m.workspace = $1 AND m.node_id = ANY(`,
		`) GROUP BY m.hyperedge_id HAVING count(DISTINCT m.node_id) >= 2)`, ids)
	edges, err := s.selectEdges(q, c, ``)
	slices.SortStableFunc(edges, func(a, b hypergraph.Edge) int { return strings.Compare(a.ID, b.ID) })
	return edges, err
}
