package postgres

import (
	"context"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// countLimit is how far a list or a search is counted; beyond it the count says
// "at least".
const countLimit = 10000

// listing is one list in SQL: which rows, in which order.
type listing struct {
	op          string
	fingerprint string
	table       string // with its alias
	alias       string
	byID        bool // else by creation
	desc        bool
	cond        *conditions
	// tiers, when set, are not in cond: each is read through its own index and the
	// streams are merged, so that a page costs the same wherever the tiers lie.
	tiers []string
}

// window is a stretch of a list with the cursors around it.
type window struct {
	ids        []string
	next, prev string
}

// page reads the window that l's cursor, or End, points at.
func (l listing) page(q *query, from hypergraph.Listing) (window, error) {
	c := cursor{Back: from.End}
	if from.Cursor != "" {
		var err error
		if c, err = parseCursor(l.op, l.fingerprint, from.Cursor); err != nil {
			return window{}, err
		}
	}
	var p *place
	if c.Set {
		p = &place{c.At, c.ID}
	}
	rows, err := l.rows(q, p, c.Back, from.Limit+1)
	if err != nil {
		return window{}, err
	}
	more := len(rows) > from.Limit
	if more {
		rows = rows[:from.Limit]
	}
	if c.Back {
		slices.Reverse(rows)
	}
	return l.around(q, rows, p, c.Back, more)
}

// around adds the cursors. On the side the page was reached from, one exists only
// while rows do.
func (l listing) around(q *query, rows []place, from *place, back, more bool) (window, error) {
	var w window
	behind := false
	if from != nil {
		edge := *from
		if len(rows) > 0 && back {
			edge = rows[len(rows)-1]
		} else if len(rows) > 0 {
			edge = rows[0]
		}
		others, err := l.rows(q, &edge, !back, 1)
		if err != nil {
			return w, err
		}
		behind = len(others) > 0 || len(rows) == 0
	}
	for _, r := range rows {
		w.ids = append(w.ids, r.id)
	}
	ahead, rear := &w.next, &w.prev
	if back {
		ahead, rear = rear, ahead
	}
	switch {
	case len(rows) == 0 && behind: // what the cursor pointed at is gone: the way back is the whole list
		*rear = cursor{List: l.fingerprint, Back: !back}.encode()
	case len(rows) > 0:
		first, last := rows[0], rows[len(rows)-1]
		if back {
			first, last = last, first
		}
		if more {
			*ahead = beside(l.fingerprint, back, last)
		}
		if behind {
			*rear = beside(l.fingerprint, !back, first)
		}
	}
	return w, nil
}

// rows reads the places of up to limit rows from a place on, it excluded, walking
// the list forwards or backwards; in the order walked.
func (l listing) rows(q *query, from *place, back bool, limit int) ([]place, error) {
	text, args := l.sql(from, back, limit)
	var rows []place
	err := q.each(text, args, func(scan func(...any) error) error {
		var r place
		err := scan(&r.id, &r.at)
		rows = append(rows, r)
		return err
	})
	return rows, err
}

func (l listing) sql(from *place, back bool, limit int) (string, []any) {
	c := l.cond.clone()
	bound := c.param(limit)
	switch len(l.tiers) {
	case 0:
		text := l.branch(c, ``, from, back, bound)
		return text, c.args
	case 1: // the server takes no second LIMIT around a single part
		text := l.branch(c, ` AND `+l.alias+`.tier = `+c.param(l.tiers[0]), from, back, bound)
		return text, c.args
	}
	var parts []string
	for _, t := range l.tiers {
		parts = append(parts, `(`+l.branch(c, ` AND `+l.alias+`.tier = `+c.param(t), from, back, bound)+`)`)
	}
	return strings.Join(parts, ` UNION ALL `) + ` ORDER BY ` + l.order(``, back) + ` LIMIT ` + bound, c.args
}

func (l listing) order(prefix string, back bool) string {
	way := ` ASC`
	if l.desc != back {
		way = ` DESC`
	}
	if l.byID {
		return prefix + `id` + way
	}
	return prefix + `created_at` + way + `, ` + prefix + `id` + way
}

// branch is one statement; the parameters it needs beyond c's are added to c.
func (l listing) branch(c *conditions, more string, from *place, back bool, bound string) string {
	a := l.alias + `.`
	sign := ` > `
	if l.desc != back {
		sign = ` < `
	}
	switch {
	case from == nil:
	case l.byID:
		more += ` AND ` + a + `id` + sign + c.param(from.id)
	default:
		more += ` AND (` + a + `created_at, ` + a + `id)` + sign + `(` + c.param(from.at) + `, ` + c.param(from.id) + `)`
	}
	return `SELECT ` + a + `id, ` + a + `created_at FROM ` + l.table + c.where() + more + ` ORDER BY ` + l.order(a, back) + ` LIMIT ` + bound
}

// checkListing is InvalidInput for what no list takes.
func checkListing(op string, l hypergraph.Listing) error {
	switch {
	case l.Limit <= 0:
		return model.Errorf(model.InvalidInput, op, "a page needs a limit of 1 or more, got %d", l.Limit)
	case l.End && l.Cursor != "":
		return model.Errorf(model.InvalidInput, op, "the last page takes no cursor")
	case l.Order != "" && l.Order != model.OrderNewest && l.Order != model.OrderOldest && l.Order != model.OrderID:
		return model.Errorf(model.InvalidInput, op, "order %q is not one of newest, oldest, id", l.Order)
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
		sql := o.s.newListing(op, "nodes", "n", l)
		f := l.Filter
		if !sql.byID {
			sql.tiers = slices.Compact(slices.Sorted(slices.Values(f.Tiers)))
			f.Tiers = nil
		}
		sql.cond.nodes(f)
		if l.Text != "" {
			if err := o.s.addText(q, &sql, l.Text); err != nil {
				return err
			}
		}
		w, err := sql.page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.NodePage{Next: w.next, Prev: w.prev}
		if page.Nodes, err = o.s.nodesByID(q, w.ids); err != nil {
			return err
		}
		page.Total, err = sql.count(q)
		return err
	})
	return page, err
}

func (s *Store) newListing(op, table, alias string, l hypergraph.Listing) listing {
	order := l.Order
	if order == "" {
		order = model.OrderNewest
	}
	return listing{
		op: op, fingerprint: fingerprint(table, l), table: `memdesk.` + table + ` ` + alias, alias: alias,
		byID: order == model.OrderID, desc: order == model.OrderNewest, cond: s.conditions(alias),
	}
}

// count is exact up to countLimit.
func (l listing) count(q *query) (model.Count, error) {
	c := l.cond.clone()
	c.in(l.alias+`.tier`, l.tiers)
	return countCapped(q, `SELECT 1 FROM `+l.table+c.where(), c)
}

// countCapped counts the rows of a query up to countLimit.
func countCapped(q *query, text string, c *conditions) (model.Count, error) {
	c = c.clone()
	var n model.Count
	_, err := q.one(`SELECT count(*) FROM (`+text+` LIMIT `+c.param(countLimit+1)+`) rows`, c.args, &n.N)
	if n.N > countLimit {
		n = model.Count{N: countLimit, AtLeast: true}
	}
	return n, err
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
			page, err = o.s.firstEdges(q, o.s.edgeListing(op, l), l.Limit)
			return err
		})
		return page, err
	}
	err := o.view(ctx, op, func(q *query) error {
		sql := o.s.edgeListing(op, l)
		w, err := sql.page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.EdgePage{Next: w.next, Prev: w.prev}
		if page.Edges, err = o.s.edgesByID(q, w.ids); err != nil {
			return err
		}
		page.Total, err = sql.count(q)
		return err
	})
	return page, err
}

func (s *Store) edgeListing(op string, l hypergraph.Listing) listing {
	sql := s.newListing(op, "hyperedges", "e", l)
	c, f := sql.cond, l.Filter
	c.in(`e.id`, f.IDs)
	c.in(`e.type`, f.Types)
	c.times(`e.created_at`, f.CreatedAfter, f.CreatedBefore)
	if len(f.Subtypes) > 0 || f.SubjectID != "" || f.MinConfidence > 0 || len(f.Tiers) > 0 && !slices.Contains(f.Tiers, hypergraph.EdgeTier) {
		c.none()
	}
	if l.Text != "" {
		like := c.param(likePattern(l.Text))
		c.parts = append(c.parts, `(e.label ILIKE `+like+` OR e.id ILIKE `+like+` OR e.metadata ILIKE `+like+`)`)
	}
	return sql
}

// firstEdges reads the first page of a list and its count. Without an edge there is no
// row, and the count is 0.
func (s *Store) firstEdges(q *query, l listing, limit int) (page hypergraph.EdgePage, err error) {
	c := l.cond.clone()
	count := `(SELECT count(*) FROM (SELECT 1 FROM ` + l.table + c.where() + ` LIMIT ` + c.param(countLimit+1) + `) matching)`
	err = q.each(`SELECT `+edgeColumns+`, `+count+` FROM `+l.table+c.where()+` ORDER BY `+l.order(`e.`, false)+` LIMIT `+c.param(limit+1), c.args,
		func(scan func(...any) error) error {
			e, err := scanEdge(scan, &page.Total.N)
			page.Edges = append(page.Edges, e)
			return err
		})
	if page.Total.N > countLimit {
		page.Total = model.Count{N: countLimit, AtLeast: true}
	}
	if len(page.Edges) > limit {
		page.Edges = page.Edges[:limit]
		last := page.Edges[limit-1]
		page.Next = beside(l.fingerprint, false, place{last.CreatedAt.UnixNano(), last.ID})
	}
	return page, err
}

// edgesByID reads edges in the order of ids.
func (s *Store) edgesByID(q *query, ids []string) ([]hypergraph.Edge, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	c := s.conditions("e")
	c.add(`e.id = ANY(`, `)`, ids)
	edges, err := s.selectEdges(q, c, ``)
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortStableFunc(edges, func(a, b hypergraph.Edge) int { return place[a.ID] - place[b.ID] })
	return edges, err
}

// Counts implements hypergraph.Ops: every tier of the vocabulary, empty ones
// included, then the edges. Bytes are those of contents and edge labels.
func (o ops) Counts(ctx context.Context) ([]model.TierCount, error) {
	var out []model.TierCount
	err := o.read(ctx, "count", func(q *query) error {
		got := map[string]model.TierCount{}
		err := q.each(`SELECT n.tier, count(*), sum(octet_length(n.content))::bigint FROM memdesk.nodes n WHERE n.workspace = $1 GROUP BY n.tier
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
