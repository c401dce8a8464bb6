package postgres

import (
	"context"
	"errors"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// CreateEdge implements hypergraph.Ops. A member that is no node is Conflict, one
// that stands twice in the same role InvalidInput.
func (o ops) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	const op = "create edge"
	if err := rules.Edge(op, e, nil); err != nil {
		return err
	}
	if e.CreatedAt.IsZero() {
		e.CreatedAt = o.s.clock.Now()
	}
	return o.change(ctx, op, func(q *query) error {
		made, err := q.Exec(`INSERT INTO memdesk.hyperedges (workspace, id, type, label, weight, created_at, metadata)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (workspace, id) DO NOTHING`,
			o.s.workspace, e.ID, e.Type, e.Label, e.Weight, e.CreatedAt.UnixNano(), e.Metadata)
		if err != nil {
			return err
		}
		if made == 0 {
			return model.Errorf(model.AlreadyExists, op, "there is an edge %.200q already", e.ID)
		}
		err = o.s.insertMembers(q, e.ID, e.Members)
		if errors.Is(err, model.NotFound) { // the edge itself is what was asked for
			if _, undo := q.Exec(`DELETE FROM memdesk.hyperedges WHERE workspace = $1 AND id = $2`, o.s.workspace, e.ID); undo != nil {
				return undo
			}
			return model.E(model.Conflict, op, errors.Unwrap(err))
		}
		return err
	})
}

// insertMembers is NotFound, before anything is written, for a member that is no
// node. The members are locked against being removed until the commit.
func (s *Store) insertMembers(q *query, edge string, members []hypergraph.Membership) error {
	if len(members) == 0 {
		return nil
	}
	nodes, roles, positions := make([]string, len(members)), make([]string, len(members)), make([]int64, len(members))
	for i, m := range members {
		nodes[i], roles[i], positions[i] = m.NodeID, m.Role, m.Position
		if !sqlgraph.Storable(m.NodeID) {
			return sqlgraph.NoSuchNode(q.Op(), m.NodeID)
		}
	}
	there := map[string]bool{}
	err := q.Each(`SELECT id FROM memdesk.nodes WHERE workspace = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE`, []any{s.workspace, nodes},
		func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			there[id] = true
			return err
		})
	if err != nil {
		return err
	}
	for _, id := range nodes {
		if !there[id] {
			return sqlgraph.NoSuchNode(q.Op(), id)
		}
	}
	_, err = q.Exec(`INSERT INTO memdesk.membership (workspace, hyperedge_id, node_id, role, position)
		SELECT $1, $2, u.node, u.role, u.position FROM unnest($3::text[], $4::text[], $5::bigint[]) AS u(node, role, position)`,
		s.workspace, edge, nodes, roles, positions)
	return err
}

// GetEdge implements hypergraph.Ops. Inside a transaction it locks the edge.
func (o ops) GetEdge(ctx context.Context, id string) (hypergraph.Edge, error) {
	var e hypergraph.Edge
	err := o.view(ctx, "get edge", func(q *query) (err error) {
		e, err = o.s.getEdge(q, id)
		return err
	})
	return e, err
}

func (s *Store) getEdge(q *query, id string) (hypergraph.Edge, error) {
	if !sqlgraph.Storable(id) {
		return hypergraph.Edge{}, sqlgraph.NoSuchEdge(q.Op(), id)
	}
	d := dialect{s}
	c := d.Conditions("e")
	c.Add(`e.id = ?`, id)
	edges, err := s.selectEdges(q, c, d.Lock(q, "e"))
	switch {
	case err != nil:
		return hypergraph.Edge{}, err
	case len(edges) == 0:
		return hypergraph.Edge{}, sqlgraph.NoSuchEdge(q.Op(), id)
	}
	return edges[0], nil
}

// edgeColumns are read by scanEdge from the alias e: the edge, and its members in the
// order of their positions.
var edgeColumns = `e.id, e.type, ` + bounded(`e.label`) + `, e.weight, ` + bounded(`e.metadata`) + `, e.created_at, ` + oversize(`e.label`, `e.metadata`) + `,
	ARRAY(SELECT m.node_id` + ofEdge + `), ARRAY(SELECT m.role` + ofEdge + `), ARRAY(SELECT m.position::bigint` + ofEdge + `)`

const ofEdge = ` FROM memdesk.membership m WHERE m.workspace = e.workspace AND m.hyperedge_id = e.id ORDER BY m.position, m.node_id, m.role`

func scanEdge(scan func(...any) error, more ...any) (hypergraph.Edge, error) {
	var e hypergraph.Edge
	var created int64
	var nodes, roles []string
	var positions []int64
	err := scan(append([]any{&e.ID, &e.Type, &e.Label, &e.Weight, &e.Metadata, &created, &e.Oversize, &nodes, &roles, &positions}, more...)...)
	e.CreatedAt = time.Unix(0, created).UTC()
	for i := range nodes {
		e.Members = append(e.Members, hypergraph.Membership{NodeID: nodes[i], Role: roles[i], Position: positions[i]})
	}
	return e, err
}

// selectEdges reads edges of a condition over the alias e with their members.
func (s *Store) selectEdges(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Edge, error) {
	var out []hypergraph.Edge
	err := q.Each(`SELECT `+edgeColumns+` FROM memdesk.hyperedges e`+c.Where()+rest, c.Args, func(scan func(...any) error) error {
		e, err := scanEdge(scan)
		out = append(out, e)
		return err
	})
	return out, err
}

// UpdateEdge implements hypergraph.Ops.
func (o ops) UpdateEdge(ctx context.Context, e hypergraph.Edge) error {
	return o.change(ctx, "update edge", func(q *query) error {
		old, err := o.s.getEdge(q, e.ID)
		if err != nil {
			return err
		}
		e.Members = nil
		if err := rules.Edge(q.Op(), e, &old); err != nil {
			return err
		}
		_, err = q.Exec(`UPDATE memdesk.hyperedges SET type = $3, label = $4, weight = $5, metadata = $6, row_version = row_version + 1
			WHERE workspace = $1 AND id = $2`, o.s.workspace, e.ID, e.Type, e.Label, e.Weight, e.Metadata)
		return err
	})
}

// DeleteEdge implements hypergraph.Ops.
func (o ops) DeleteEdge(ctx context.Context, id string) error {
	return o.change(ctx, "delete edge", func(q *query) error {
		if !sqlgraph.Storable(id) {
			return sqlgraph.NoSuchEdge(q.Op(), id)
		}
		n, err := q.Exec(`DELETE FROM memdesk.hyperedges WHERE workspace = $1 AND id = $2`, o.s.workspace, id)
		if err == nil && n == 0 {
			err = sqlgraph.NoSuchEdge(q.Op(), id)
		}
		return err
	})
}

// AddMembership implements hypergraph.Ops.
func (o ops) AddMembership(ctx context.Context, edge string, m hypergraph.Membership) error {
	const op = "add member"
	if err := sqlgraph.Role(op, m.Role); err != nil {
		return err
	}
	return o.change(ctx, op, func(q *query) error {
		e, err := o.s.getEdge(q, edge)
		if err != nil {
			return err
		}
		for _, have := range e.Members {
			if have.NodeID == m.NodeID && have.Role == m.Role {
				return model.Errorf(model.AlreadyExists, q.Op(), "node %.200q is a member of the edge as %s already", m.NodeID, m.Role)
			}
		}
		if err := o.s.insertMembers(q, edge, []hypergraph.Membership{m}); err != nil {
			return err
		}
		return o.s.touchEdge(q, edge)
	})
}

// RemoveMembership implements hypergraph.Ops: the node leaves the edge in every
// role; the edge stays, whatever is left of it.
func (o ops) RemoveMembership(ctx context.Context, edge, node string) error {
	return o.change(ctx, "remove member", func(q *query) error {
		var n int64
		var err error
		if sqlgraph.Storable(edge) && sqlgraph.Storable(node) {
			n, err = q.Exec(`DELETE FROM memdesk.membership WHERE workspace = $1 AND hyperedge_id = $2 AND node_id = $3`, o.s.workspace, edge, node)
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return model.Errorf(model.NotFound, q.Op(), "node %.200q is no member of edge %.200q", node, edge)
		}
		return o.s.touchEdge(q, edge)
	})
}

// touchEdge marks an edge whose members changed.
func (s *Store) touchEdge(q *query, edge string) error {
	_, err := q.Exec(`UPDATE memdesk.hyperedges SET row_version = row_version + 1 WHERE workspace = $1 AND id = $2`, s.workspace, edge)
	return err
}
