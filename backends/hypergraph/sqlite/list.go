package sqlite

import (
	"context"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// ListNodes implements hypergraph.Ops. Archived and bookkeeping nodes are listed
// unless the filter leaves them out.
func (o ops) ListNodes(ctx context.Context, l hypergraph.Listing) (hypergraph.NodePage, error) {
	const op = "list"
	var page hypergraph.NodePage
	if err := sqlgraph.CheckListing(op, l); err != nil {
		return page, err
	}
	err := o.view(ctx, op, func(q *query) error {
		list, dense, err := o.s.nodeList(q, l)
		if err != nil {
			return err
		}
		w, err := list.Page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.NodePage{Next: w.Next, Prev: w.Prev}
		rows := make([]int64, len(w.Rows))
		for i, r := range w.Rows {
			rows[i] = r.Row
		}
		page.Nodes = make([]hypergraph.Node, 0, len(rows))
		if err := o.s.eachNode(q, rows, func(_ int64, n hypergraph.Node) { page.Nodes = append(page.Nodes, n) }); err != nil {
			return err
		}
		page.Total, err = o.s.countNodes(q, l, list, dense)
		return err
	})
	return page, err
}

// newList is a list of a table without its filter.
func (s *Store) newList(table, alias string, keys map[model.Order]string, l hypergraph.Listing) *sqlgraph.List {
	order := sqlgraph.Order(l)
	return sqlgraph.NewList("sqlite "+table, l, sqlgraph.List{
		From: table + ` ` + alias, Alias: alias, Key: keys[order], Floats: !s.layout.own, Desc: order == model.OrderNewest,
		IDAgainst: !s.layout.own && order != model.OrderID,
	})
}

func (s *Store) nodeList(q *query, l hypergraph.Listing) (*sqlgraph.List, *denseText, error) {
	list := s.newList("nodes", "n", s.layout.nodeKey, l)
	list.Row = `n.rowid`
	f := l.Filter
	if s.layout.own && list.Key != "" {
		list.Tiers = slices.Compact(slices.Sorted(slices.Values(f.Tiers)))
		f.Tiers = nil
	}
	if err := s.addNodes(q.Op(), &list.Cond, f); err != nil || l.Text == "" {
		return list, nil, err
	}
	dense, err := s.addText(q, list, l.Text)
	return list, dense, err
}

// countNodes is exact where the counters tell or the schema has no better way than
// to look, and stops at countLimit otherwise.
func (s *Store) countNodes(q *query, l hypergraph.Listing, list *sqlgraph.List, dense *denseText) (model.Count, error) {
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
	c := list.Cond.Clone()
	c.In(s.tierColumn(), list.Tiers)
	if dense != nil {
		if n, ok, err := dense.count(q, s.tierColumn()); ok || err != nil {
			return n, err
		}
	}
	if !s.layout.own {
		_, err := q.One(`SELECT count(*) FROM nodes n`+c.Where(), c.Args, &n.N)
		return n, err
	}
	return sqlgraph.CountCapped(q, `SELECT 1 FROM nodes n`+c.Where(), c)
}

// Counts implements hypergraph.Ops: every tier of the vocabulary, empty ones
// included, then the edges. Bytes are those of contents and edge labels.
func (o ops) Counts(ctx context.Context) ([]model.TierCount, error) {
	var out []model.TierCount
	err := o.view(ctx, "count", func(q *query) error {
		got := map[string]model.TierCount{}
		text := `SELECT tier, sum(items), sum(bytes) FROM counters GROUP BY tier`
		if !o.s.layout.own {
			text = `SELECT COALESCE(tier, 'task'), count(*), sum(octet_length(content)) FROM nodes GROUP BY 1
				UNION ALL SELECT '` + hypergraph.EdgeTier + `', count(*), COALESCE(sum(octet_length(label)), 0) FROM hyperedges`
		}
		err := q.Each(text, nil, func(scan func(...any) error) error {
			var t model.TierCount
			err := scan(&t.Tier, &t.Items, &t.Bytes)
			got[t.Tier] = t
			return err
		})
		out = out[:0]
		for _, name := range append(slices.Clone(o.s.vocabulary.Tiers), hypergraph.EdgeTier) {
			t := got[name]
			t.Tier = name
			out = append(out, t)
		}
		return err
	})
	return out, err
}
