package postgres

import (
	"context"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// checkListing is InvalidInput for what no list takes.
func checkListing(op string, l hypergraph.Listing) error {
	if err := sqlgraph.CheckListing(op, l); err != nil {
		return err
	}
	return checkQuery(op, l.Text)
}

// ListNodes implements hypergraph.Ops. Archived and bookkeeping nodes are listed
// unless the filter leaves them out.
func (o ops) ListNodes(ctx context.Context, l hypergraph.Listing) (hypergraph.NodePage, error) {
	const op = "list"
	var page hypergraph.NodePage
	if err := checkListing(op, l); err != nil {
		return page, err
	}
	err := o.view(ctx, op, func(q *query) error {
		list := o.s.newList("nodes", "n", l)
		f := l.Filter
		if list.Key != "" {
			list.Tiers = slices.Compact(slices.Sorted(slices.Values(f.Tiers)))
			f.Tiers = nil
		}
		list.Cond.Nodes(f, nodeFilterColumns)
		if l.Text != "" {
			if err := o.s.addText(q, list, l.Text); err != nil {
				return err
			}
		}
		w, err := list.Page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.NodePage{Next: w.Next, Prev: w.Prev}
		if page.Nodes, err = o.NodesByID(q, w.IDs()); err != nil {
			return err
		}
		page.Total, err = count(q, list)
		return err
	})
	return page, err
}

// newList is a list of a table without its filter.
func (s *Store) newList(table, alias string, l hypergraph.Listing) *sqlgraph.List {
	order := sqlgraph.Order(l)
	list := sqlgraph.List{From: dialect{s}.Table(table) + ` ` + alias, Alias: alias, Desc: order == model.OrderNewest, Cond: dialect{s}.Conditions(alias)}
	if order != model.OrderID {
		list.Key = alias + `.created_at`
	}
	return sqlgraph.NewList("postgres "+table, l, list)
}

// count is exact up to sqlgraph.CountLimit.
func count(q *query, l *sqlgraph.List) (model.Count, error) {
	c := l.Cond.Clone()
	c.In(l.Alias+`.tier`, l.Tiers)
	return sqlgraph.CountCapped(q, `SELECT 1 FROM `+l.From+c.Where(), c)
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
	if l.Cursor == "" && !l.End { // the first page, as every recall asks for it, is one statement
		err := o.read(ctx, op, func(q *query) (err error) {
			page, err = o.s.firstEdges(q, o.s.edgeList(l), l.Limit)
			return err
		})
		return page, err
	}
	err := o.view(ctx, op, func(q *query) error {
		list := o.s.edgeList(l)
		w, err := list.Page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.EdgePage{Next: w.Next, Prev: w.Prev}
		if page.Edges, err = o.EdgesByID(q, w.IDs()); err != nil {
			return err
		}
		page.Total, err = count(q, list)
		return err
	})
	return page, err
}

func (s *Store) edgeList(l hypergraph.Listing) *sqlgraph.List {
	list := s.newList("hyperedges", "e", l)
	list.Cond.Edges(l.Filter, edgeFilterColumns)
	if l.Text != "" {
		like := list.Cond.Param(likePattern(l.Text))
		list.Cond.Add(`(e.label ILIKE ` + like + ` OR e.id ILIKE ` + like + ` OR e.metadata ILIKE ` + like + `)`)
	}
	return list
}

// firstEdges reads the first page of a list and its count. Without an edge there is no
// row, and the count is 0.
func (s *Store) firstEdges(q *query, l *sqlgraph.List, limit int) (page hypergraph.EdgePage, err error) {
	c := l.Cond.Clone()
	count := `(SELECT count(*) FROM (SELECT 1 FROM ` + l.From + c.Where() + c.SQL(` LIMIT ?) matching)`, sqlgraph.CountLimit+1)
	text := `SELECT ` + edgeColumns + `, ` + count + ` FROM ` + l.From + c.Where() + ` ORDER BY ` + l.OrderBy() + c.SQL(` LIMIT ?`, limit+1)
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
		last := sqlgraph.Place{ID: page.Edges[limit-1].ID}
		if l.Key != "" {
			last.Key = page.Edges[limit-1].CreatedAt.UnixNano()
		}
		page.Next = l.Beside(false, last)
	}
	return page, err
}

// Counts implements hypergraph.Ops: every tier of the vocabulary, empty ones
// included, then the edges. Bytes are those of contents and edge labels.
func (o ops) Counts(ctx context.Context) ([]model.TierCount, error) {
	var out []model.TierCount
	err := o.read(ctx, "count", func(q *query) error {
		got := map[string]model.TierCount{}
		err := q.Each(`SELECT n.tier, count(*), sum(octet_length(n.content))::bigint FROM memdesk.nodes n WHERE n.workspace = $1 GROUP BY n.tier
			UNION ALL SELECT $2::text, count(*), COALESCE(sum(octet_length(e.label)), 0)::bigint FROM memdesk.hyperedges e WHERE e.workspace = $1`,
			[]any{o.s.workspace, hypergraph.EdgeTier}, func(scan func(...any) error) error {
				var t model.TierCount
				err := scan(&t.Tier, &t.Items, &t.Bytes)
				got[t.Tier] = t
				return err
			})
		out = out[:0]
		for _, name := range append(slices.Clone(vocabulary.Tiers), hypergraph.EdgeTier) {
			t := got[name]
			t.Tier = name
			out = append(out, t)
		}
		return err
	})
	return out, err
}
