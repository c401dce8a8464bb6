package sqlgraph

import (
	"context"
	"errors"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// EdgeTable holds the differences between two databases in the rows of edges.
type EdgeTable interface {
	// EdgeMoved updates the values that the schema derives from its edges. old is nil for a new edge,
	// now for a removed one.
	EdgeMoved(q Query, old, now *hypergraph.Edge) error
	// Revised is the assignment that an UPDATE of an edge adds to the values; empty where the schema
	// counts no versions.
	Revised() string
}

// VectorTable holds the differences between two databases in the vectors of nodes.
type VectorTable interface {
	// Vector reads a node's vector and the model's name; none where it has no vector.
	Vector(q Query, node string) ([]float32, string, error)
	// Indexed reports whether Compare uses an index for so many hits and dimensions.
	Indexed(dimensions, limit int) bool
	// Compare offers n the vectors of the nodes that c keeps.
	Compare(q Query, c Conditions, n *Nearest) error
	// DropVector removes a node's stored vector.
	DropVector(q Query, node string) error
	// MarkVector updates the values that the schema derives from a node's vector; nil: it has none.
	MarkVector(q Query, n hypergraph.Node, vector []float32) error
}

// Changer runs changes in a transaction of their own, or as a step of the surrounding one.
type Changer interface {
	// Change undoes all of a step that failed.
	Change(ctx context.Context, op string, fn func(Query) error) error
	// ChangeWhole costs the same for any number of changes: a step that fails after its first write ends
	// the surrounding transaction.
	ChangeWhole(ctx context.Context, op string, fn func(Query) error) error
}

// Writes are Reads and the changes.
type Writes struct {
	Reads
	NodeTable
	EdgeTable
	VectorTable
	Changer
}

// GetEdge implements hypergraph.Ops. Inside a changing transaction it locks the edge where the database
// locks rows.
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
	edges, err := r.Edges(q, c, r.Lock(q, `UPDATE OF e`))
	switch {
	case err != nil:
		return hypergraph.Edge{}, err
	case len(edges) == 0:
		return hypergraph.Edge{}, NoSuchEdge(q.Op(), id)
	}
	return edges[0], nil
}

// CreateEdge implements hypergraph.Ops. A member that is no node is Conflict, one that is listed twice
// in the same role InvalidInput.
func (w Writes) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	const op = "create edge"
	if err := w.Rules().Edge(op, e, nil); err != nil {
		return err
	}
	return w.Change(ctx, op, func(q Query) error {
		if err := w.checkMembers(q, e.Members); errors.Is(err, model.NotFound) { // the caller named the edge, not its member
			return model.E(model.Conflict, op, errors.Unwrap(err))
		} else if err != nil {
			return err
		}
		if e.CreatedAt.IsZero() {
			e.CreatedAt = w.Now()
		}
		made, err := w.Insert(q, "hyperedges", edgeColumns, w.formed(e.Forms, "hyperedges", edgeColumns, e.ID, e.Type, e.Label, e.Weight, w.Time(e.CreatedAt), e.Metadata)...)
		switch {
		case err != nil:
			return err
		case !made:
			return model.Errorf(model.AlreadyExists, op, "there is an edge %.200q already", e.ID)
		}
		if err := w.insertMembers(q, e.ID, e.Members); err != nil {
			return err
		}
		return w.EdgeMoved(q, nil, &e)
	})
}

var (
	edgeColumns   = []string{"id", "type", "label", "weight", "created_at", "metadata"}
	memberColumns = []string{"hyperedge_id", "node_id", "role", "position"}
)

// checkMembers is NotFound for a member that is no node. It locks the nodes against removal until the commit.
func (w Writes) checkMembers(q Query, members []hypergraph.Membership) error {
	there := map[string]bool{}
	for part := range slices.Chunk(members, batch) {
		var ids, found []string
		for _, m := range part {
			if !w.Holds(m.NodeID) {
				return NoSuchNode(q.Op(), m.NodeID)
			}
			ids = append(ids, m.NodeID)
		}
		c := w.Conditions("n")
		c.In(`n.id`, ids)
		if err := q.Each(`SELECT n.id FROM `+w.Table("nodes")+` n`+c.Where()+` ORDER BY n.id`+w.Lock(q, `KEY SHARE OF n`), c.Args, Collect(&found)); err != nil {
			return err
		}
		for _, id := range found {
			there[id] = true
		}
	}
	for _, m := range members {
		if !there[m.NodeID] {
			return NoSuchNode(q.Op(), m.NodeID)
		}
	}
	return nil
}

func (w Writes) insertMembers(q Query, edge string, members []hypergraph.Membership) error {
	for part := range slices.Chunk(members, batch) {
		var args []any
		for _, m := range part {
			args = append(args, w.Values(w.formed(nil, "membership", memberColumns, edge, m.NodeID, m.Role, m.Position)...)...)
		}
		if _, err := q.Exec(w.InsertSQL("membership", memberColumns, len(part), ``), args...); err != nil {
			return err
		}
	}
	return nil
}

// UpdateEdge implements hypergraph.Ops. Unchanged values are not written.
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
		var set Set
		put := w.formedSet(e.Forms, "hyperedges", &set)
		put(`type`, old.Type != e.Type, e.Type)
		put(`label`, old.Label != e.Label, e.Label)
		put(`weight`, old.Weight != e.Weight, e.Weight)
		put(`metadata`, old.Metadata != e.Metadata, e.Metadata)
		if set.Empty() {
			return nil
		}
		if err := w.rewriteEdge(q, e.ID, set); err != nil {
			return err
		}
		return w.EdgeMoved(q, &old, &e)
	})
}

// rewriteEdge writes set and, where the schema counts versions, the edge's next version.
func (w Writes) rewriteEdge(q Query, id string, set Set) error {
	if revised := w.Revised(); revised != "" {
		set.Add(revised)
	}
	if set.Empty() {
		return nil
	}
	return w.Update(q, "hyperedges", "id", id, set)
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
	if _, err := w.Delete(q, "membership", "hyperedge_id", id); err != nil {
		return err
	}
	if _, err := w.Delete(q, "hyperedges", "id", id); err != nil {
		return err
	}
	return w.EdgeMoved(q, &old, nil)
}

// AddMembership implements hypergraph.Ops.
func (w Writes) AddMembership(ctx context.Context, edge string, m hypergraph.Membership) error {
	const op = "add member"
	if err := w.Rules().role(op, m.Role, true); err != nil {
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
		members := []hypergraph.Membership{m}
		if err := w.checkMembers(q, members); err != nil {
			return err
		}
		if err := w.insertMembers(q, edge, members); err != nil {
			return err
		}
		return w.rewriteEdge(q, edge, Set{})
	})
}

// RemoveMembership implements hypergraph.Ops: the node leaves the edge in every role; the edge stays,
// however few members are left.
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
		return w.rewriteEdge(q, edge, Set{})
	})
}
