package sqlite

import (
	"context"
	"errors"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

func (l layout) edgeSelect() string {
	return `SELECT e.rowid, e.id, e.type, COALESCE(` + bounded(`e.label`) + `, ''), COALESCE(CAST(e.weight AS REAL), 1.0),
		COALESCE(CAST(` + bounded(`e.metadata`) + ` AS TEXT), ''), ` + l.edgeCreated + `, ` + oversize(`e.label`, `e.metadata`) + ` FROM hyperedges e `
}

func scanEdge(scan func(...any) error) (int64, hypergraph.Edge, error) {
	var rowid int64
	var e hypergraph.Edge
	var created any
	err := scan(&rowid, &e.ID, &e.Type, &e.Label, &e.Weight, &e.Metadata, &created, &e.Oversize)
	e.CreatedAt = moment(created)
	return rowid, e, err
}

// CreateEdge implements hypergraph.Ops. A member that is no node is
// Conflict, one that stands twice in the same role InvalidInput.
func (o ops) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	const op = "create edge"
	if err := o.s.checkEdge(op, e, nil); err != nil {
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
		return noSuchNode(q.Op(), m.NodeID)
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
	var rowids []int64
	err := q.Each(`SELECT rowid FROM hyperedges WHERE id = ?`, []any{id}, collectInts(&rowids))
	if err != nil {
		return hypergraph.Edge{}, err
	}
	edges, err := s.edgesByRowid(q, rowids)
	switch {
	case err != nil:
		return hypergraph.Edge{}, err
	case len(edges) == 0:
		return hypergraph.Edge{}, noSuchEdge(q.Op(), id)
	}
	return edges[0], nil
}

func noSuchEdge(op, id string) error {
	return model.Errorf(model.NotFound, op, "there is no edge %.200q", id)
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
		if err := o.s.checkEdge(q.Op(), e, &old); err != nil {
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
	if err := oneOf(op, "role", m.Role, roles); err != nil {
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

// EdgesOf implements hypergraph.Ops, newest first.
func (o ops) EdgesOf(ctx context.Context, node string, limit int) ([]hypergraph.Edge, int64, error) {
	var edges []hypergraph.Edge
	var total int64
	err := o.view(ctx, "edges", func(q *query) error {
		if _, err := q.One(`SELECT count(DISTINCT hyperedge_id) FROM membership WHERE node_id = ?`, []any{node}, &total); err != nil {
			return err
		}
		var rowids []int64
		if err := q.Each(`SELECT e.rowid FROM hyperedges e WHERE e.id IN (SELECT hyperedge_id FROM membership WHERE node_id = ?)
			ORDER BY `+o.s.layout.edgeKey[model.OrderNewest]+` DESC, e.id DESC LIMIT ?`, []any{node, max(limit, 0)}, collectInts(&rowids)); err != nil {
			return err
		}
		var err error
		edges, err = o.s.edgesByRowid(q, rowids)
		return err
	})
	return edges, total, err
}

// ListEdges implements hypergraph.Ops. Of the filter, IDs, Types and the times
// apply to edges; a filter for a property that only nodes have keeps none. Text is a
// substring of id, label or metadata.
func (o ops) ListEdges(ctx context.Context, l hypergraph.Listing) (hypergraph.EdgePage, error) {
	const op = "list edges"
	var page hypergraph.EdgePage
	if err := checkListing(op, l); err != nil {
		return page, err
	}
	err := o.view(ctx, op, func(q *query) error {
		sql, err := o.s.edgeListing(op, l)
		if err != nil {
			return err
		}
		w, err := sql.page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.EdgePage{Next: w.next, Prev: w.prev}
		if page.Edges, err = o.s.edgesByRowid(q, w.rowids); err != nil {
			return err
		}
		page.Total, err = o.s.countEdges(q, sql)
		return err
	})
	return page, err
}

func (s *Store) edgeListing(op string, l hypergraph.Listing) (listing, error) {
	order := l.Order
	if order == "" {
		order = model.OrderNewest
	}
	out := listing{
		op: op, fingerprint: fingerprint("edges", l), from: `hyperedges e`, rowid: `e.rowid`, id: `e.id`,
		key: s.layout.edgeKey[order], floats: !s.layout.own, desc: order == model.OrderNewest,
		idAgainst: !s.layout.own && order != model.OrderID,
	}
	f := l.Filter
	if n := len(f.IDs) + len(f.Types); n > maxIDs {
		return out, model.Errorf(model.InvalidInput, op, "a filter takes at most %d values, this one has %d", maxIDs, n)
	}
	c := &out.cond
	if !s.layout.own {
		c.add(`typeof(e.id) = 'text'`)
	}
	c.in(`e.id`, ``, f.IDs)
	c.in(`e.type`, ``, f.Types)
	s.addTimes(c, `e.created_at`, f.CreatedAfter, f.CreatedBefore)
	if len(f.Subtypes) > 0 || f.SubjectID != "" || f.MinConfidence > 0 || len(f.Tiers) > 0 && !oneTier(f.Tiers, hypergraph.EdgeTier) {
		c.add(`0`)
	}
	if l.Text != "" {
		if err := checkQueryLength(op, l.Text); err != nil {
			return out, err
		}
		text := likePattern(l.Text)
		c.add(`(`+like(`e.label`)+` OR e.id LIKE ? ESCAPE '\' OR `+like(`e.metadata`)+`)`, text, text, text)
	}
	return out, nil
}

func oneTier(tiers []string, name string) bool {
	for _, t := range tiers {
		if t == name {
			return true
		}
	}
	return false
}

// countEdges is exact where nothing is filtered, and in recurse files; counters
// serve the own schema.
func (s *Store) countEdges(q *query, sql listing) (model.Count, error) {
	var n model.Count
	switch {
	case !s.layout.own:
		_, err := q.One(`SELECT count(*) FROM hyperedges e `+sql.cond.where(), sql.cond.args, &n.N)
		return n, err
	case len(sql.cond.parts) == 0:
		_, err := q.One(`SELECT COALESCE(sum(items), 0) FROM counters WHERE tier = ?`, []any{hypergraph.EdgeTier}, &n.N)
		return n, err
	}
	return countCapped(q, `SELECT 1 FROM hyperedges e `+sql.cond.where(), sql.cond.args)
}

// edgesByRowid reads edges with their members, in the order of the rowids.
func (s *Store) edgesByRowid(q *query, rowids []int64) ([]hypergraph.Edge, error) {
	if len(rowids) == 0 {
		return nil, nil
	}
	list := jsonInts(rowids)
	got := make(map[int64]*hypergraph.Edge, len(rowids))
	err := q.Each(s.layout.edgeSelect()+`WHERE e.rowid IN (SELECT value FROM json_each(?))`, []any{list},
		func(scan func(...any) error) error {
			rowid, e, err := scanEdge(scan)
			got[rowid] = &e
			return err
		})
	if err != nil {
		return nil, err
	}
	err = q.Each(`SELECT e.rowid, m.node_id, COALESCE(m.role, ''), COALESCE(m.position, 0)
		FROM hyperedges e JOIN membership m ON m.hyperedge_id = e.id
		WHERE e.rowid IN (SELECT value FROM json_each(?))
		ORDER BY e.rowid, COALESCE(m.position, 0), m.node_id, m.role`, []any{list},
		func(scan func(...any) error) error {
			var rowid int64
			var m hypergraph.Membership
			if err := scan(&rowid, &m.NodeID, &m.Role, &m.Position); err != nil {
				return err
			}
			if e := got[rowid]; e != nil {
				e.Members = append(e.Members, m)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	out := make([]hypergraph.Edge, 0, len(rowids))
	for _, r := range rowids {
		if e := got[r]; e != nil {
			out = append(out, *e)
		}
	}
	return out, nil
}

func collectInts(into *[]int64) func(func(...any) error) error {
	return func(scan func(...any) error) error {
		var n int64
		err := scan(&n)
		*into = append(*into, n)
		return err
	}
}
