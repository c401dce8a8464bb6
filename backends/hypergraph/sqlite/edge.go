package sqlite

import (
	"context"
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

// InsertEdge implements sqlgraph.EdgeTable.
func (d dialect) InsertEdge(q sqlgraph.Query, e hypergraph.Edge) (bool, error) {
	var there int64
	if _, err := q.One(`SELECT count(*) FROM hyperedges WHERE id = ?`, []any{e.ID}, &there); err != nil || there > 0 {
		return false, err
	}
	made := d.layout.kept(e.CreatedAt)
	if made == nil {
		made = d.layout.stamp(d.clock.Now())
	}
	_, err := q.Exec(`INSERT INTO hyperedges (id, type, label, weight, created_at, metadata) VALUES (?, ?, ?, ?, ?, ?)`,
		e.ID, e.Type, e.Label, e.Weight, made, e.Metadata)
	return err == nil, err
}

// InsertMembers implements sqlgraph.EdgeTable.
func (dialect) InsertMembers(q sqlgraph.Query, edge string, members []hypergraph.Membership) error {
	for _, m := range members {
		var node bool
		if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM nodes WHERE id = ?)`, []any{m.NodeID}, &node); err != nil {
			return err
		}
		if !node {
			return sqlgraph.NoSuchNode(q.Op(), m.NodeID)
		}
		if _, err := q.Exec(`INSERT INTO membership (hyperedge_id, node_id, role, position) VALUES (?, ?, ?, ?)`, edge, m.NodeID, m.Role, m.Position); err != nil {
			return err
		}
	}
	return nil
}

// EdgeMoved implements sqlgraph.EdgeTable: it moves the own schema's counters.
func (d dialect) EdgeMoved(q sqlgraph.Query, old, now *hypergraph.Edge) error {
	if !d.layout.own {
		return nil
	}
	if old != nil {
		if err := count(q, hypergraph.EdgeTier, old.Type, "", -1, -int64(len(old.Label))); err != nil {
			return err
		}
	}
	if now == nil {
		return nil
	}
	return count(q, hypergraph.EdgeTier, now.Type, "", 1, int64(len(now.Label)))
}

// Revised implements sqlgraph.EdgeTable.
func (dialect) Revised() string { return `` }

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
