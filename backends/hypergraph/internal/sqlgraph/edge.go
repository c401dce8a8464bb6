package sqlgraph

import (
	"context"
	"errors"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// EdgeTable is what two databases do differently with the rows of edges.
type EdgeTable interface {
	// InsertEdge adds a row without members; made is false where the id is taken.
	InsertEdge(q Query, e hypergraph.Edge) (made bool, err error)
	// InsertMembers is NotFound for a member that is no node.
	InsertMembers(q Query, edge string, members []hypergraph.Membership) error
	// EdgeMoved keeps what the schema derives from its edges. old is nil for a new edge, now
	// for one that is gone.
	EdgeMoved(q Query, old, now *hypergraph.Edge) error
	// Revised is what an UPDATE of an edge sets beside the values: empty, or a part that
	// begins with a comma.
	Revised() string
}

// Changer runs fn in a transaction of its own, or as a step of the surrounding one.
type Changer interface {
	Change(ctx context.Context, op string, fn func(Query) error) error
}

// Writes are Reads and the changes of edges.
type Writes struct {
	Reads
	EdgeTable
	Changer
	Rules func() Rules
}

// GetEdge implements hypergraph.Ops. Inside a transaction that changes it locks the edge
// where a database locks rows.
func (r Reads) GetEdge(ctx context.Context, id string) (e hypergraph.Edge, err error) {
	err = r.Read(ctx, "get edge", func(q Query) (err error) {
		e, err = r.Edge(q, id)
		return err
	})
	return e, err
}

// Edge is GetEdge inside a query.
func (r Reads) Edge(q Query, id string) (hypergraph.Edge, error) {
	if !r.Holds(id) {
		return hypergraph.Edge{}, NoSuchEdge(q.Op(), id)
	}
	c := r.Conditions("e")
	c.Add(`e.id = ?`, id)
	edges, err := r.Edges(q, c, r.Lock(q, "e"))
	switch {
	case err != nil:
		return hypergraph.Edge{}, err
	case len(edges) == 0:
		return hypergraph.Edge{}, NoSuchEdge(q.Op(), id)
	}
	return edges[0], nil
}

// CreateEdge implements hypergraph.Ops. A member that is no node is Conflict, one that
// stands twice in the same role InvalidInput.
func (w Writes) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	const op = "create edge"
	if err := w.Rules().Edge(op, e, nil); err != nil {
		return err
	}
	return w.Change(ctx, op, func(q Query) error {
		made, err := w.InsertEdge(q, e)
		switch {
		case err != nil:
			return err
		case !made:
			return model.Errorf(model.AlreadyExists, op, "there is an edge %.200q already", e.ID)
		}
		err = w.InsertMembers(q, e.ID, e.Members)
		if errors.Is(err, model.NotFound) { // the edge itself is what was asked for
			if undo := w.drop(q, e.ID); undo != nil {
				return undo
			}
			return model.E(model.Conflict, op, errors.Unwrap(err))
		}
		if err != nil {
			return err
		}
		return w.EdgeMoved(q, nil, &e)
	})
}

// UpdateEdge implements hypergraph.Ops. Values that are as they were are not written.
func (w Writes) UpdateEdge(ctx context.Context, e hypergraph.Edge) error {
	return w.Change(ctx, "update edge", func(q Query) error {
		old, err := w.Edge(q, e.ID)
		if err != nil {
			return err
		}
		e.Members = nil
		if err := w.Rules().Edge(q.Op(), e, &old); err != nil {
			return err
		}
		if old.Type == e.Type && old.Label == e.Label && old.Weight == e.Weight && old.Metadata == e.Metadata {
			return nil
		}
		c := w.Conditions("e")
		c.Add(`e.id = ?`, e.ID)
		text := `UPDATE ` + w.Table("hyperedges") + c.SQL(` AS e SET type = ?, label = ?, weight = ?, metadata = ?`, e.Type, e.Label, e.Weight, e.Metadata) + w.Revised() + c.Where()
		if _, err := q.Exec(text, c.Args...); err != nil {
			return err
		}
		return w.EdgeMoved(q, &old, &e)
	})
}

// DeleteEdge implements hypergraph.Ops.
func (w Writes) DeleteEdge(ctx context.Context, id string) error {
	return w.Change(ctx, "delete edge", func(q Query) error { return w.RemoveEdge(q, id) })
}

// RemoveEdge is DeleteEdge inside a query.
func (w Writes) RemoveEdge(q Query, id string) error {
	old, err := w.Edge(q, id)
	if err != nil {
		return err
	}
	if err := w.drop(q, id); err != nil {
		return err
	}
	return w.EdgeMoved(q, &old, nil)
}

// drop deletes an edge's rows.
func (w Writes) drop(q Query, id string) error {
	members, edge := w.Conditions("m"), w.Conditions("e")
	members.Add(`m.hyperedge_id = ?`, id)
	edge.Add(`e.id = ?`, id)
	if _, err := q.Exec(`DELETE FROM `+w.Table("membership")+` AS m`+members.Where(), members.Args...); err != nil {
		return err
	}
	_, err := q.Exec(`DELETE FROM `+w.Table("hyperedges")+` AS e`+edge.Where(), edge.Args...)
	return err
}

// AddMembership implements hypergraph.Ops.
func (w Writes) AddMembership(ctx context.Context, edge string, m hypergraph.Membership) error {
	const op = "add member"
	if err := oneOf(op, "role", m.Role, roles); err != nil {
		return err
	}
	return w.Change(ctx, op, func(q Query) error {
		e, err := w.Edge(q, edge)
		if err != nil {
			return err
		}
		for _, have := range e.Members {
			if have.NodeID == m.NodeID && have.Role == m.Role {
				return model.Errorf(model.AlreadyExists, op, "node %.200q is a member of the edge as %s already", m.NodeID, m.Role)
			}
		}
		if err := w.InsertMembers(q, edge, []hypergraph.Membership{m}); err != nil {
			return err
		}
		return w.revise(q, edge)
	})
}

// RemoveMembership implements hypergraph.Ops: the node leaves the edge in every role; the
// edge stays, whatever is left of it.
func (w Writes) RemoveMembership(ctx context.Context, edge, node string) error {
	return w.Change(ctx, "remove member", func(q Query) error {
		gone := model.Errorf(model.NotFound, q.Op(), "node %.200q is no member of edge %.200q", node, edge)
		if !w.Holds(edge) || !w.Holds(node) {
			return gone
		}
		c := w.Conditions("m")
		c.Add(`m.hyperedge_id = ? AND m.node_id = ?`, edge, node)
		n, err := q.Exec(`DELETE FROM `+w.Table("membership")+` AS m`+c.Where(), c.Args...)
		switch {
		case err != nil:
			return err
		case n == 0:
			return gone
		}
		return w.revise(q, edge)
	})
}

// revise marks an edge whose members changed, where the schema counts versions.
func (w Writes) revise(q Query, edge string) error {
	if w.Revised() == "" {
		return nil
	}
	c := w.Conditions("e")
	c.Add(`e.id = ?`, edge)
	_, err := q.Exec(`UPDATE `+w.Table("hyperedges")+` AS e SET id = e.id`+w.Revised()+c.Where(), c.Args...)
	return err
}
