package sqlite

import (
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// newList is a table's list without its filter.
func (s *Store) newList(table, alias string, keys map[model.Order]string, l hypergraph.Listing) *sqlgraph.List {
	order := sqlgraph.Order(l)
	return sqlgraph.NewList("sqlite "+table, l, sqlgraph.List{
		From: table + ` ` + alias, Alias: alias, Key: keys[order], Floats: !s.layout.own, Desc: order == model.OrderNewest,
		IDAgainst: !s.layout.own && order != model.OrderID,
	})
}

// NodeList implements sqlgraph.Dialect.
func (d dialect) NodeList(q sqlgraph.Query, l hypergraph.Listing) (*sqlgraph.List, error) {
	list := d.newList("nodes", "n", d.layout.nodeKey, l)
	f := l.Filter
	if d.layout.own && list.Key != "" {
		list.Tiers = slices.Compact(slices.Sorted(slices.Values(f.Tiers)))
		f.Tiers = nil
	}
	if err := d.addNodes(q.Op(), &list.Cond, f); err != nil {
		return nil, err
	}
	var dense *denseText
	if l.Text != "" {
		var err error
		if dense, err = d.addText(q, list, l.Text); err != nil {
			return nil, err
		}
	}
	list.Count = func(q sqlgraph.Query) (model.Count, error) { return d.countNodes(q, l, list, dense) }
	return list, nil
}

// countNodes is exact where the counters apply or the file is recurse's, whose rows are counted;
// otherwise it stops at CountLimit.
func (s *Store) countNodes(q sqlgraph.Query, l hypergraph.Listing, list *sqlgraph.List, dense *denseText) (model.Count, error) {
	f := l.Filter
	counted := s.layout.own && l.Text == "" && len(f.IDs) == 0 && f.MinConfidence <= 0 &&
		f.CreatedAfter.IsZero() && f.CreatedBefore.IsZero() && f.SubjectID == ""
	var n model.Count
	if counted {
		var c conditions
		if err := s.addNodes(q.Op(), &c, f); err != nil {
			return n, err
		}
		c.Add(`n.tier <> ?`, hypergraph.EdgeTier)
		_, err := q.One(`SELECT COALESCE(sum(n.items), 0) FROM counters n`+c.Where(), c.Args, &n.N)
		return n, err
	}
	if dense != nil {
		if n, ok, err := dense.count(q, s.TierColumn()); ok || err != nil {
			return n, err
		}
	}
	if !s.layout.own {
		_, err := q.One(`SELECT count(*) FROM nodes n`+list.Cond.Where(), list.Cond.Args, &n.N)
		return n, err
	}
	return list.CountCapped(q)
}

// unsorted ends a query over rows with the length of a text, inside one that groups them: SQLite then sorts the lengths, and not
// the texts, of which it would make a copy in a temporary file.
const unsorted = ` LIMIT -1`

// TierTotals implements sqlgraph.Dialect.
func (d dialect) TierTotals() (string, []any) {
	if d.layout.own {
		return `SELECT tier, sum(items), sum(bytes) FROM counters GROUP BY tier`, nil
	}
	return `SELECT tier, count(*), sum(bytes) FROM (SELECT COALESCE(tier, 'task') AS tier, octet_length(content) AS bytes FROM nodes` + unsorted + `) GROUP BY 1
		UNION ALL SELECT '` + hypergraph.EdgeTier + `', count(*), COALESCE(sum(octet_length(label)), 0) FROM hyperedges`, nil
}
