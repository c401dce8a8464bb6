package sqlite

import (
	"context"
	"errors"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

func (l layout) edgeSelect() string {
	return `SELECT e.id, e.type, COALESCE(` + bounded(`e.label`) + `, ''), COALESCE(CAST(e.weight AS REAL), 1.0),
		COALESCE(CAST(` + bounded(`e.metadata`) + ` AS TEXT), ''), ` + l.edgeCreated + `, ` + oversize(`e.label`, `e.metadata`) + ` FROM hyperedges e`
}

func scanEdge(scan func(...any) error) (hypergraph.Edge, error) {
	var e hypergraph.Edge
	var created any
	err := scan(&e.ID, &e.Type, &e.Label, &e.Weight, &e.Metadata, &created, &e.Oversize)
	e.CreatedAt = moment(created)
	return e, err
}

// CreateEdge implements hypergraph.Ops. A member that is no node is
// Conflict, one that stands twice in the same role InvalidInput.
func (o ops) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	const op = "create edge"
	if err := o.s.rules().Edge(op, e, nil); err != nil {
		return err
	}
	return o.change(ctx, op, func(q *query) error {
		var there int64
		if _, err := q.One(`SELECT count(*) FROM hyperedges WHERE id = ?`, []any{e.ID}, &there); err != nil {
			return err
		}
		if there > 0 {
			return model.Errorf(model.AlreadyExists, op, "there is an edge %.200q already", e.ID)
		}
		if _, err := q.Exec(`INSERT INTO hyperedges (id, type, label, weight, created_at, metadata) VALUES (?, ?, ?, ?, ?, ?)`,
			e.ID, e.Type, e.Label, e.Weight, o.s.newEdgeTime(e), e.Metadata); err != nil {
			return err
		}
		if err := o.s.countEdge(q, e, 1); err != nil {
			return err
		}
		for _, m := range e.Members {
			err := o.s.insertMember(q, e.ID, m)
			if errors.Is(err, model.NotFound) { // the edge itself is what was asked for
				return model.E(model.Conflict, op, errors.Unwrap(err))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// newEdgeTime is when a new edge was made: as it says, else now.
func (s *Store) newEdgeTime(e hypergraph.Edge) any {
	if e.CreatedAt.IsZero() {
		return s.layout.stamp(s.clock.Now())
	}
	return s.layout.kept(e.CreatedAt)
}

// countEdge moves the own schema's counters by one edge.
func (s *Store) countEdge(q *query, e hypergraph.Edge, sign int64) error {
	if !s.layout.own {
		return nil
	}
	return count(q, hypergraph.EdgeTier, e.Type, "", sign, sign*int64(len(e.Label)))
}

func (s *Store) insertMember(q *query, edge string, m hypergraph.Membership) error {
	var node, there bool
	if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM nodes WHERE id = ?),
		EXISTS (SELECT 1 FROM membership WHERE hyperedge_id = ? AND node_id = ? AND role = ?)`,
		[]any{m.NodeID, edge, m.NodeID, m.Role}, &node, &there); err != nil {
		return err
	}
	switch {
	case !node:
		return sqlgraph.NoSuchNode(q.Op(), m.NodeID)
	case there:
		return model.Errorf(model.AlreadyExists, q.Op(), "node %.200q is a member of the edge as %s already", m.NodeID, m.Role)
	}
	_, err := q.Exec(`INSERT INTO membership (hyperedge_id, node_id, role, position) VALUES (?, ?, ?, ?)`, edge, m.NodeID, m.Role, m.Position)
	return err
}

// GetEdge implements hypergraph.Ops.
func (o ops) GetEdge(ctx context.Context, id string) (hypergraph.Edge, error) {
	var e hypergraph.Edge
	err := o.view(ctx, "get edge", func(q *query) (err error) {
		e, err = o.s.getEdge(q, id)
		return err
	})
	return e, err
}

func (s *Store) getEdge(q *query, id string) (hypergraph.Edge, error) {
	var c conditions
	c.Add(`e.id = ?`, id)
	edges, err := s.selectEdges(q, c, ``)
	switch {
	case err != nil:
		return hypergraph.Edge{}, err
	case len(edges) == 0:
		return hypergraph.Edge{}, sqlgraph.NoSuchEdge(q.Op(), id)
	}
	return edges[0], nil
}

// UpdateEdge implements hypergraph.Ops. Values that are as they were are not
// written.
func (o ops) UpdateEdge(ctx context.Context, e hypergraph.Edge) error {
	return o.change(ctx, "update edge", func(q *query) error {
		old, err := o.s.getEdge(q, e.ID)
		if err != nil {
			return err
		}
		e.Members = nil
		if err := o.s.rules().Edge(q.Op(), e, &old); err != nil {
			return err
		}
		if old.Type == e.Type && old.Label == e.Label && old.Weight == e.Weight && old.Metadata == e.Metadata {
			return nil
		}
		if _, err := q.Exec(`UPDATE hyperedges SET type = ?, label = ?, weight = ?, metadata = ? WHERE id = ?`,
			e.Type, e.Label, e.Weight, e.Metadata, e.ID); err != nil {
			return err
		}
		if err := o.s.countEdge(q, old, -1); err != nil {
			return err
		}
		return o.s.countEdge(q, e, 1)
	})
}

// DeleteEdge implements hypergraph.Ops.
func (o ops) DeleteEdge(ctx context.Context, id string) error {
	return o.change(ctx, "delete edge", func(q *query) error { return o.s.deleteEdge(q, id) })
}

func (s *Store) deleteEdge(q *query, id string) error {
	old, err := s.getEdge(q, id)
	if err != nil {
		return err
	}
	if _, err := q.Exec(`DELETE FROM membership WHERE hyperedge_id = ?`, id); err != nil {
		return err
	}
	if _, err := q.Exec(`DELETE FROM hyperedges WHERE id = ?`, id); err != nil {
		return err
	}
	return s.countEdge(q, old, -1)
}

// AddMembership implements hypergraph.Ops.
func (o ops) AddMembership(ctx context.Context, edge string, m hypergraph.Membership) error {
	const op = "add member"
	if err := sqlgraph.Role(op, m.Role); err != nil {
		return err
	}
	return o.change(ctx, op, func(q *query) error {
		if _, err := o.s.getEdge(q, edge); err != nil {
			return err
		}
		return o.s.insertMember(q, edge, m)
	})
}

// RemoveMembership implements hypergraph.Ops: the node leaves the edge in every
// role; the edge stays, whatever is left of it.
func (o ops) RemoveMembership(ctx context.Context, edge, node string) error {
	return o.change(ctx, "remove member", func(q *query) error {
		n, err := q.Exec(`DELETE FROM membership WHERE hyperedge_id = ? AND node_id = ?`, edge, node)
		if err == nil && n == 0 {
			err = model.Errorf(model.NotFound, q.Op(), "node %.200q is no member of edge %.200q", node, edge)
		}
		return err
	})
}

// ListEdges implements hypergraph.Ops. Of the filter, IDs, Types and the times
// apply to edges; a filter for a property that only nodes have keeps none. Text is a
// substring of id, label or metadata.
func (o ops) ListEdges(ctx context.Context, l hypergraph.Listing) (hypergraph.EdgePage, error) {
	const op = "list edges"
	var page hypergraph.EdgePage
	if err := sqlgraph.CheckListing(op, l); err != nil {
		return page, err
	}
	err := o.view(ctx, op, func(q *query) error {
		list, err := o.s.edgeList(op, l)
		if err != nil {
			return err
		}
		w, err := list.Page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.EdgePage{Next: w.Next, Prev: w.Prev}
		if page.Edges, err = o.EdgesByID(q, w.IDs()); err != nil {
			return err
		}
		page.Total, err = o.s.countEdges(q, list)
		return err
	})
	return page, err
}

func (s *Store) edgeList(op string, l hypergraph.Listing) (*sqlgraph.List, error) {
	list := s.newList("hyperedges", "e", s.layout.edgeKey, l)
	f, c := l.Filter, &list.Cond
	if n := len(f.IDs) + len(f.Types); n > maxIDs {
		return nil, model.Errorf(model.InvalidInput, op, "a filter takes at most %d values, this one has %d", maxIDs, n)
	}
	if !s.layout.own {
		c.Add(`typeof(e.id) = 'text'`)
	}
	c.Edges(f, s.layout.edgeFilter())
	if l.Text != "" {
		if err := checkQueryLength(op, l.Text); err != nil {
			return nil, err
		}
		text := likePattern(l.Text)
		c.Add(`(`+like(`e.label`)+` OR e.id LIKE ? ESCAPE '\' OR `+like(`e.metadata`)+`)`, text, text, text)
	}
	return list, nil
}

// countEdges is exact where nothing is filtered, and in recurse files; counters
// serve the own schema.
func (s *Store) countEdges(q *query, l *sqlgraph.List) (model.Count, error) {
	var n model.Count
	switch c := l.Cond; {
	case !s.layout.own:
		_, err := q.One(`SELECT count(*) FROM hyperedges e`+c.Where(), c.Args, &n.N)
		return n, err
	case len(c.Parts) == 0:
		_, err := q.One(`SELECT COALESCE(sum(items), 0) FROM counters WHERE tier = ?`, []any{hypergraph.EdgeTier}, &n.N)
		return n, err
	default:
		return sqlgraph.CountCapped(q, `SELECT 1 FROM hyperedges e`+c.Where(), c)
	}
}

// selectEdges reads edges of a condition over the alias e, with their members.
func (s *Store) selectEdges(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Edge, error) {
	var out []hypergraph.Edge
	place := map[string]int{}
	var ids []string
	if err := q.Each(s.layout.edgeSelect()+c.Where()+rest, c.Args, func(scan func(...any) error) error {
		e, err := scanEdge(scan)
		place[e.ID] = len(out)
		out, ids = append(out, e), append(ids, e.ID)
		return err
	}); err != nil {
		return nil, err
	}
	for part := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.In(`m.hyperedge_id`, part)
		if err := q.Each(`SELECT m.hyperedge_id, m.node_id, COALESCE(m.role, ''), COALESCE(m.position, 0) FROM membership m`+c.Where()+`
			ORDER BY m.hyperedge_id, COALESCE(m.position, 0), m.node_id, m.role`, c.Args, func(scan func(...any) error) error {
			var edge string
			var m hypergraph.Membership
			err := scan(&edge, &m.NodeID, &m.Role, &m.Position)
			if i, ok := place[edge]; ok && err == nil {
				out[i].Members = append(out[i].Members, m)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// idBatch keeps one statement's parameters few.
const idBatch = 500
