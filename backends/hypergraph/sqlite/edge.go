package sqlite

import (
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

func (l layout) edgeSelect() string {
	return `SELECT e.id, COALESCE(e.type, ''), COALESCE(` + sqlgraph.Bounded(`e.label`) + `, ''), COALESCE(CAST(e.weight AS REAL), 1.0),
		COALESCE(CAST(` + sqlgraph.Bounded(`e.metadata`) + ` AS TEXT), ''), ` + l.edgeCreated + `, ` + sqlgraph.Oversize(`e.label`, `e.metadata`) + ` FROM hyperedges e`
}

func scanEdge(scan func(...any) error) (hypergraph.Edge, error) {
	var e hypergraph.Edge
	var created any
	err := scan(&e.ID, &e.Type, &e.Label, &e.Weight, &e.Metadata, &created, &e.Oversize)
	e.CreatedAt = moment(created)
	return e, err
}

// EdgeMoved implements sqlgraph.EdgeTable: it updates the own schema's counters.
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

// EdgeList implements sqlgraph.Dialect.
func (d dialect) EdgeList(q sqlgraph.Query, l hypergraph.Listing) (*sqlgraph.List, error) {
	list := d.newList("hyperedges", "e", d.layout.edgeKey, l)
	list.Count = func(q sqlgraph.Query) (model.Count, error) { return d.countEdges(q, list) }
	f, c := l.Filter, &list.Cond
	if n := len(f.IDs) + len(f.Types); n > maxIDs {
		return nil, model.Errorf(model.InvalidInput, q.Op(), "a filter takes at most %d values, this one has %d", maxIDs, n)
	}
	if !d.layout.own {
		c.Add(`typeof(e.id) = 'text'`)
	}
	c.Edges(f, d.layout.edgeFilter())
	if l.Text != "" {
		text := sqlgraph.LikePattern(l.Text)
		c.Add(`(`+like(`e.label`)+` OR e.id LIKE ? ESCAPE '\' OR `+like(`e.metadata`)+`)`, text, text, text)
	}
	return list, nil
}

// countEdges is exact without a filter, and in recurse files; the own schema uses its counters.
func (s *Store) countEdges(q sqlgraph.Query, l *sqlgraph.List) (model.Count, error) {
	var n model.Count
	switch c := l.Cond; {
	case !s.layout.own:
		_, err := q.One(`SELECT count(*) FROM hyperedges e`+c.Where(), c.Args, &n.N)
		return n, err
	case len(c.Parts) == 0:
		_, err := q.One(`SELECT COALESCE(sum(items), 0) FROM counters WHERE tier = ?`, []any{hypergraph.EdgeTier}, &n.N)
		return n, err
	default:
		return l.CountCapped(q)
	}
}

// selectEdges reads edges of a condition over the alias e, with their members.
func (s *Store) selectEdges(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Edge, error) {
	var out []hypergraph.Edge
	index := map[string]int{}
	var ids []string
	if err := q.Each(s.layout.edgeSelect()+c.Where()+rest, c.Args, func(scan func(...any) error) error {
		e, err := scanEdge(scan)
		index[e.ID] = len(out)
		out, ids = append(out, e), append(ids, e.ID)
		return err
	}); err != nil {
		return nil, err
	}
	for part := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.In(`m.hyperedge_id`, part)
		if err := q.Each(`SELECT m.hyperedge_id, COALESCE(m.node_id, ''), COALESCE(m.role, ''), COALESCE(CAST(m.position AS INTEGER), 0) AS place FROM membership m`+c.Where()+`
			ORDER BY m.hyperedge_id, place, m.node_id, m.role`, c.Args, func(scan func(...any) error) error {
			var edge string
			var m hypergraph.Membership
			err := scan(&edge, &m.NodeID, &m.Role, &m.Position)
			if i, ok := index[edge]; ok && err == nil {
				out[i].Members = append(out[i].Members, m)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// idBatch bounds the parameters of one statement.
const idBatch = 500
