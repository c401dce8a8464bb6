package sqlite

import (
	"context"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// GetConnected implements hypergraph.Ops: breadth-first, nearest first, without the
// start node. Archived nodes are neither returned nor walked through unless Tiers
// names the archive (recurse.md, "Behaviour"); other filters choose what is
// returned, not what is walked through.
func (o ops) GetConnected(ctx context.Context, id string, t hypergraph.TraversalOptions) ([]hypergraph.Node, error) {
	var out []hypergraph.Node
	err := o.view(ctx, "connected", func(q *query) error {
		if _, _, err := o.s.getNode(q, id); err != nil {
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
	archive := slices.Contains(t.Tiers, s.vocabulary.ArchiveTier)
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
			if n.Tier == s.vocabulary.ArchiveTier && !archive {
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

// idBatch keeps one statement's parameters few.
const idBatch = 500

// neighbours are the other members of the edges that ids are members of, sorted.
// Outgoing means that the id is the edge's subject, incoming its object
// (provider-contract.md H8).
func (s *Store) neighbours(q *query, ids []string, t hypergraph.TraversalOptions) ([]string, error) {
	found := map[string]bool{}
	for batch := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.in(`m.node_id`, ``, batch)
		c.in(`e.type`, ``, t.EdgeTypes)
		switch t.Direction {
		case hypergraph.Outgoing:
			c.add(`m.role = 'subject'`)
		case hypergraph.Incoming:
			c.add(`m.role = 'object'`)
		case hypergraph.Both:
		default:
			return nil, model.Errorf(model.InvalidInput, q.Op(), "direction %.40q is not outgoing or incoming", string(t.Direction))
		}
		err := q.Each(`SELECT DISTINCT o.node_id FROM membership m JOIN hyperedges e ON e.id = m.hyperedge_id
			JOIN membership o ON o.hyperedge_id = m.hyperedge_id AND o.node_id <> m.node_id `+c.where(), c.args,
			func(scan func(...any) error) error {
				var id string
				err := scan(&id)
				found[id] = true
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	out := make([]string, 0, len(found))
	for id := range found {
		out = append(out, id)
	}
	slices.Sort(out)
	return out, nil
}

// nodesByID reads nodes in the order of ids; those that are not there are left out.
func (s *Store) nodesByID(q *query, ids []string) ([]hypergraph.Node, error) {
	got := map[string]hypergraph.Node{}
	for batch := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.in(`n.id`, ``, batch)
		rows, err := s.selectNodes(q, c.where(), c.args)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			got[r.node.ID] = r.node
		}
	}
	out := make([]hypergraph.Node, 0, len(got))
	for _, id := range ids {
		if n, ok := got[id]; ok {
			out = append(out, n)
		}
	}
	return out, nil
}

// GetSubgraph implements hypergraph.Ops: the nodes up to depth edges away from ids,
// archived ones included, by id, and every edge whose members are all among them.
// An id that is not there is left out.
func (o ops) GetSubgraph(ctx context.Context, ids []string, depth int) ([]hypergraph.Node, []hypergraph.Edge, error) {
	var nodes []hypergraph.Node
	var edges []hypergraph.Edge
	err := o.view(ctx, "subgraph", func(q *query) error {
		reach := map[string]bool{}
		frontier := slices.Clone(ids)
		for _, id := range ids {
			reach[id] = true
		}
		for ; depth > 0 && len(frontier) > 0; depth-- {
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
		edges, err = o.s.edgesWithin(q, all, reach)
		return err
	})
	return nodes, edges, err
}

func (s *Store) edgesWithin(q *query, ids []string, reach map[string]bool) ([]hypergraph.Edge, error) {
	var rowids []int64
	for batch := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.in(`m.node_id`, ``, batch)
		if err := q.Each(`SELECT DISTINCT e.rowid FROM membership m JOIN hyperedges e ON e.id = m.hyperedge_id `+c.where(), c.args,
			collectInts(&rowids)); err != nil {
			return nil, err
		}
	}
	slices.Sort(rowids)
	edges, err := s.edgesByRowid(q, slices.Compact(rowids))
	if err != nil {
		return nil, err
	}
	edges = slices.DeleteFunc(edges, func(e hypergraph.Edge) bool {
		return slices.ContainsFunc(e.Members, func(m hypergraph.Membership) bool { return !reach[m.NodeID] })
	})
	slices.SortStableFunc(edges, func(a, b hypergraph.Edge) int { return strings.Compare(a.ID, b.ID) })
	return edges, nil
}
