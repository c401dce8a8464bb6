package postgres

import (
	"context"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// newList is a table's list without its filter.
func (s *Store) newList(table, alias string, l hypergraph.Listing) *sqlgraph.List {
	order := sqlgraph.Order(l)
	list := sqlgraph.List{From: s.Table(table) + ` ` + alias, Alias: alias, Desc: order == model.OrderNewest, Cond: s.Conditions(alias)}
	if order != model.OrderID {
		list.Key = alias + `.created_at`
	}
	return sqlgraph.NewList("postgres "+table, l, list)
}

// NodeList implements sqlgraph.Dialect.
func (d dialect) NodeList(q sqlgraph.Query, l hypergraph.Listing) (*sqlgraph.List, error) {
	list := d.newList("nodes", "n", l)
	f := l.Filter
	if list.Key != "" {
		list.Tiers = slices.Compact(slices.Sorted(slices.Values(f.Tiers)))
		f.Tiers = nil
	}
	list.Cond.Nodes(f, nodeFilterColumns)
	if l.Text == "" {
		return list, nil
	}
	return list, d.addText(q.(*query), list, l.Text)
}

// EdgeList implements sqlgraph.Dialect.
func (d dialect) EdgeList(_ sqlgraph.Query, l hypergraph.Listing) (*sqlgraph.List, error) {
	list := d.newList("hyperedges", "e", l)
	list.Cond.Edges(l.Filter, edgeFilterColumns)
	if l.Text != "" {
		like := list.Cond.Param(sqlgraph.LikePattern(l.Text))
		list.Cond.Add(`(e.label ILIKE ` + like + ` OR e.id ILIKE ` + like + ` OR e.metadata ILIKE ` + like + `)`)
	}
	return list, nil
}

// ListEdges implements hypergraph.Ops. The first page, which every recall needs, is one statement.
func (o ops) ListEdges(ctx context.Context, l hypergraph.Listing) (page hypergraph.EdgePage, err error) {
	const op = "list edges"
	if l.Cursor != "" || l.End {
		return o.Writes.ListEdges(ctx, l)
	}
	if err := rules.Listing(op, l); err != nil {
		return page, err
	}
	err = o.read(ctx, op, func(q *query) error {
		list, err := o.EdgeList(q, l)
		if err == nil {
			page, err = o.s.firstEdges(q, list, l.Limit)
		}
		return err
	})
	return page, err
}

// firstEdges reads the first page of a list and its count. Without edges there is no row, and the count is 0.
func (s *Store) firstEdges(q *query, l *sqlgraph.List, limit int) (page hypergraph.EdgePage, err error) {
	c := l.Cond.Clone()
	count := `(SELECT count(*) FROM (SELECT 1 FROM ` + l.From + c.Where() + c.SQL(` LIMIT ?) matching)`, sqlgraph.CountLimit+1)
	text := `SELECT ` + edgeSelect + `, ` + count + ` FROM ` + l.From + c.Where() + ` ORDER BY ` + l.OrderBy() + c.SQL(` LIMIT ?`, limit+1)
	err = q.Each(text, c.Args, func(scan func(...any) error) error {
		e, err := scanEdge(scan, &page.Total.N)
		page.Edges = append(page.Edges, e)
		return err
	})
	if page.Total.N > sqlgraph.CountLimit {
		page.Total = model.Count{N: sqlgraph.CountLimit, AtLeast: true}
	}
	if len(page.Edges) > limit {
		page.Edges = page.Edges[:limit]
		last := sqlgraph.Position{ID: page.Edges[limit-1].ID}
		if l.Key != "" {
			last.Key = page.Edges[limit-1].CreatedAt.UnixNano()
		}
		page.Next = l.Beside(false, last)
	}
	return page, err
}
