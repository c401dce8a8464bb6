package sqlite

import (
	"context"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// countLimit is how far a filtered list or a search is counted; beyond it the
// count says "at least".
const countLimit = 10000

// listing is one list in SQL: which rows, in which order.
type listing struct {
	op          string
	fingerprint string
	from        string // table with alias
	rowid, id   string // columns
	key         string // leading order key, empty in the order by id
	floats      bool   // the key is a float64
	desc        bool
	// idAgainst orders equal keys by id in the direction opposite to the keys'.
	idAgainst bool
	cond      conditions
	// tiers, when set, are not in cond: each is read through its own index and the
	// streams are merged, so that a page costs the same wherever the tiers lie.
	tiers []string
	dense *denseText // set where many rows hold the text asked for
}

// row is one entry of a window.
type row struct {
	rowid int64
	place place
}

// window is a stretch of a list with the cursors around it.
type window struct {
	rowids     []int64
	next, prev string
}

// page reads the window that l's cursor, or End, points at.
func (l listing) page(q *query, from hypergraph.Listing) (window, error) {
	var c cursor
	var p *place
	c.Back = from.End
	if from.Cursor != "" {
		var at place
		var err error
		if c, at, err = parseCursor(l.op, l.fingerprint, from.Cursor, l.floats, l.key != ""); err != nil {
			return window{}, err
		}
		if c.Set {
			p = &at
		}
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
func (l listing) around(q *query, rows []row, from *place, back, more bool) (window, error) {
	var w window
	behind := false
	if from != nil {
		edge := *from
		if len(rows) > 0 && back {
			edge = rows[len(rows)-1].place
		} else if len(rows) > 0 {
			edge = rows[0].place
		}
		others, err := l.rows(q, &edge, !back, 1)
		if err != nil {
			return w, err
		}
		behind = len(others) > 0 || len(rows) == 0
	}
	for _, r := range rows {
		w.rowids = append(w.rowids, r.rowid)
	}
	ahead, rear := &w.next, &w.prev
	if back {
		ahead, rear = rear, ahead
	}
	switch {
	case len(rows) == 0 && behind: // what the cursor pointed at is gone: the way back is the whole list
		*rear = cursor{List: l.fingerprint, Back: !back}.encode()
	case len(rows) > 0:
		first, last := rows[0].place, rows[len(rows)-1].place
		if back {
			first, last = last, first
		}
		if more {
			*ahead = at(l.fingerprint, back, last)
		}
		if behind {
			*rear = at(l.fingerprint, !back, first)
		}
	}
	return w, nil
}

// rows reads up to limit rows from a place on, it excluded, walking the list
// forwards or backwards; in the order walked.
func (l listing) rows(q *query, from *place, back bool, limit int) ([]row, error) {
	if l.dense != nil {
		if rows, ok, err := l.denseRows(q, from, back, limit); ok || err != nil {
			return rows, err
		}
	}
	text, args := l.sql(from, back, limit)
	var rows []row
	err := q.Each(text, args, func(scan func(...any) error) error {
		var r row
		var f float64
		var n int64
		var err error
		switch {
		case l.key == "":
			err = scan(&r.rowid, &r.place.id)
		case l.floats:
			err = scan(&r.rowid, &r.place.id, &f)
			r.place.key = f
		default:
			err = scan(&r.rowid, &r.place.id, &n)
			r.place.key = n
		}
		rows = append(rows, r)
		return err
	})
	return rows, err
}

func (l listing) sql(from *place, back bool, limit int) (string, []any) {
	if len(l.tiers) == 0 {
		return l.branch(l.cond, from, back, limit)
	}
	var parts []string
	var args []any
	for _, t := range l.tiers {
		c := l.cond.clone()
		c.add(`n.tier = ?`, t)
		text, more := l.branch(c, from, back, limit)
		parts = append(parts, `SELECT * FROM (`+text+`)`)
		args = append(args, more...)
	}
	if len(parts) == 1 {
		return parts[0], args
	}
	order := `id` + direction(l.idDesc(back))
	if l.key != "" {
		order = `key` + direction(l.desc != back) + `, ` + order
	}
	return strings.Join(parts, ` UNION ALL `) + ` ORDER BY ` + order + ` LIMIT ?`, append(args, limit)
}

// idDesc is the direction of equal keys.
func (l listing) idDesc(back bool) bool { return (l.desc != l.idAgainst) != back }

func (l listing) branch(c conditions, from *place, back bool, limit int) (string, []any) {
	c = c.clone()
	desc, idDesc := l.desc != back, l.idDesc(back)
	columns, order := l.rowid+` AS row, `+l.id+` AS id`, l.id+direction(idDesc)
	if l.key != "" {
		columns += `, ` + l.key + ` AS key`
		order = l.key + direction(desc) + `, ` + order
	}
	switch {
	case from == nil:
	case l.key == "":
		c.add(l.id+beyond(idDesc)+`?`, from.id)
	case desc == idDesc: // one range of an index
		c.add(`(`+l.key+`, `+l.id+`)`+beyond(desc)+`(?, ?)`, from.key, from.id)
	default:
		c.add(`(`+l.key+beyond(desc)+`? OR `+l.key+` = ? AND `+l.id+beyond(idDesc)+`?)`, from.key, from.key, from.id)
	}
	return `SELECT ` + columns + ` FROM ` + l.from + ` ` + c.where() + ` ORDER BY ` + order + ` LIMIT ?`, append(c.args, limit)
}

func beyond(desc bool) string {
	if desc {
		return ` < `
	}
	return ` > `
}

func direction(desc bool) string {
	if desc {
		return ` DESC`
	}
	return ` ASC`
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
	return nil
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
		sql, err := o.s.nodeListing(q, l)
		if err != nil {
			return err
		}
		w, err := sql.page(q, l)
		if err != nil {
			return err
		}
		page = hypergraph.NodePage{Next: w.next, Prev: w.prev}
		if page.Nodes, err = o.s.nodesByRowid(q, w.rowids); err != nil {
			return err
		}
		page.Total, err = o.s.countNodes(q, l, sql)
		return err
	})
	return page, err
}

func (s *Store) nodeListing(q *query, l hypergraph.Listing) (listing, error) {
	order := l.Order
	if order == "" {
		order = model.OrderNewest
	}
	out := listing{
		op: q.Op(), fingerprint: fingerprint("nodes", l), from: `nodes n`, rowid: `n.rowid`, id: `n.id`,
		key: s.layout.nodeKey[order], floats: !s.layout.own, desc: order == model.OrderNewest,
		idAgainst: !s.layout.own && order != model.OrderID,
	}
	f := l.Filter
	if s.layout.own && out.key != "" {
		out.tiers = slices.Compact(slices.Sorted(slices.Values(f.Tiers)))
		f.Tiers = nil
	}
	var err error
	if out.cond, err = s.nodeConditions(q.Op(), f); err != nil {
		return out, err
	}
	if l.Text != "" {
		err = s.addText(q, &out, l.Text)
	}
	return out, err
}

// countNodes is exact where the counters tell or the schema has no better way than
// to look, and stops at countLimit otherwise.
func (s *Store) countNodes(q *query, l hypergraph.Listing, sql listing) (model.Count, error) {
	f := l.Filter
	counted := s.layout.own && l.Text == "" && len(f.IDs) == 0 && f.MinConfidence <= 0 &&
		f.CreatedAfter.IsZero() && f.CreatedBefore.IsZero() && f.SubjectID == ""
	var n model.Count
	if counted {
		c, err := s.counterConditions(q.Op(), f)
		if err != nil {
			return n, err
		}
		_, err = q.One(`SELECT COALESCE(sum(n.items), 0) FROM counters n `+c.where(), c.args, &n.N)
		return n, err
	}
	c := sql.cond.clone()
	c.in(s.tierColumn(), ``, sql.tiers)
	if sql.dense != nil {
		walk := sql.dense.walk.clone()
		walk.in(s.tierColumn(), ``, sql.tiers)
		if n, ok, err := sql.countDense(q, walk); ok || err != nil {
			return n, err
		}
	}
	if !s.layout.own {
		_, err := q.One(`SELECT count(*) FROM nodes n `+c.where(), c.args, &n.N)
		return n, err
	}
	return countCapped(q, `SELECT 1 FROM nodes n `+c.where(), c.args)
}

func (s *Store) counterConditions(op string, f hypergraph.NodeFilter) (conditions, error) {
	c, err := s.nodeConditions(op, f)
	c.add(`n.tier <> ?`, hypergraph.EdgeTier)
	return c, err
}

// countCapped counts the rows of a query up to countLimit.
func countCapped(q *query, text string, args []any) (model.Count, error) {
	var n model.Count
	_, err := q.One(`SELECT count(*) FROM (`+text+` LIMIT ?)`, append(slices.Clone(args), countLimit+1), &n.N)
	if n.N > countLimit {
		n = model.Count{N: countLimit, AtLeast: true}
	}
	return n, err
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
