package sqlgraph

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

// CountLimit bounds the count of a filtered list or a search; a larger count is "at least".
const CountLimit = 10000

// List is one list in SQL: its rows and their order.
type List struct {
	From   string // table with its alias
	Alias  string
	Row    string // column of the row's number; empty: not read
	Key    string // leading order key, empty in the order by id
	Floats bool   // the key is a float64, else an int64
	Desc   bool
	// IDAgainst orders equal keys by id in the direction opposite to the keys'.
	IDAgainst bool
	Cond      Conditions
	// Tiers, when set, are not in Cond: each tier is read through its own index and the streams are
	// merged, so that a page costs the same wherever the tiers lie.
	Tiers []string
	// Walk reads the rows in another way; ok is false where that way is unsuitable.
	Walk func(q Query, from *Position, back bool, limit int) (rows []Position, ok bool, err error)

	// Count counts the list's rows; nil counts them up to CountLimit.
	Count func(Query) (model.Count, error)

	cursors cursor.List
}

// ListNodes implements hypergraph.Ops. Archived and bookkeeping nodes are listed unless the filter
// excludes them.
func (r Reads) ListNodes(ctx context.Context, l hypergraph.Listing) (page hypergraph.NodePage, err error) {
	err = r.list(ctx, "list", l, r.NodeList, func(q Query, w Window, total model.Count) error {
		page = hypergraph.NodePage{Next: w.Next, Prev: w.Prev, Total: total}
		page.Nodes, err = r.NodesByID(q, w.IDs())
		return err
	})
	return page, err
}

// ListEdges implements hypergraph.Ops. Of the filter, IDs, Types and the times apply to edges; a filter
// on a property that only nodes have keeps none. Text is a substring of id, label or metadata.
func (r Reads) ListEdges(ctx context.Context, l hypergraph.Listing) (page hypergraph.EdgePage, err error) {
	err = r.list(ctx, "list edges", l, r.EdgeList, func(q Query, w Window, total model.Count) error {
		page = hypergraph.EdgePage{Next: w.Next, Prev: w.Prev, Total: total}
		page.Edges, err = r.EdgesByID(q, w.IDs())
		return err
	})
	return page, err
}

// list reads the page of a listing on one snapshot.
func (r Reads) list(ctx context.Context, op string, l hypergraph.Listing, begin func(Query, hypergraph.Listing) (*List, error),
	page func(Query, Window, model.Count) error) error {
	if err := r.Rules().Listing(op, l); err != nil {
		return err
	}
	return r.View(ctx, op, func(q Query) error {
		list, err := begin(q, l)
		if err != nil {
			return err
		}
		w, err := list.Page(q, l)
		if err != nil {
			return err
		}
		count := list.Count
		if count == nil {
			count = list.CountCapped
		}
		total, err := count(q)
		if err != nil {
			return err
		}
		return page(q, w, total)
	})
}

// Counts implements hypergraph.Ops: every tier of the vocabulary, empty ones included, then the edges, then
// any other tier.
// Bytes are the bytes of contents and edge labels.
func (r Reads) Counts(ctx context.Context) (out []model.TierCount, err error) {
	err = r.Read(ctx, "count", func(q Query) error {
		got := map[string]model.TierCount{}
		text, args := r.TierTotals()
		err := q.Each(text, args, func(scan func(...any) error) error {
			var t model.TierCount
			err := scan(&t.Tier, &t.Items, &t.Bytes)
			got[t.Tier] = t
			return err
		})
		out = nil
		for _, name := range append(slices.Clone(r.Rules().Vocabulary.Tiers), hypergraph.EdgeTier) {
			t := got[name]
			t.Tier = name
			out = append(out, t)
			delete(got, name)
		}
		for _, name := range slices.Sorted(maps.Keys(got)) { // a foreign writer's
			out = append(out, got[name])
		}
		return err
	})
	return out, err
}

// NewList begins the list of a listing. what names it among the lists of all databases.
func NewList(what string, l hypergraph.Listing, list List) *List {
	list.cursors = l.List(what)
	return &list
}

// Order is a listing's order, newest by default.
func Order(l hypergraph.Listing) model.Order { return cmp.Or(l.Order, model.OrderNewest) }

// Listing is InvalidInput for a listing that no list accepts.
func (r Rules) Listing(op string, l hypergraph.Listing) error {
	switch {
	case l.Limit <= 0:
		return model.Errorf(model.InvalidInput, op, "a page needs a limit of 1 or more, got %d", l.Limit)
	case l.End && l.Cursor != "":
		return model.Errorf(model.InvalidInput, op, "the last page takes no cursor")
	case l.Order != "" && l.Order != model.OrderNewest && l.Order != model.OrderOldest && l.Order != model.OrderID:
		return model.Errorf(model.InvalidInput, op, "order %q is not one of newest, oldest, id", l.Order)
	}
	return r.query(op, l.Text)
}

// Window is a part of a list with the cursors around it.
type Window struct {
	Rows       []Position
	Next, Prev string
}

// IDs are the ids of the window's rows, in their order.
func (w Window) IDs() []string {
	out := make([]string, len(w.Rows))
	for i, r := range w.Rows {
		out[i] = r.ID
	}
	return out
}

// Page reads the window that the listing's cursor, or End, points at.
func (l *List) Page(q Query, from hypergraph.Listing) (Window, error) {
	c := cursor.Place{Before: from.End}
	var p *Position
	if from.Cursor != "" {
		var at Position
		var err error
		if c, at, err = l.parse(q.Op(), from.Cursor); err != nil {
			return Window{}, err
		}
		if c.Mark {
			p = &at
		}
	}
	rows, err := l.rows(q, p, c.Before, from.Limit+1)
	if err != nil {
		return Window{}, err
	}
	more := len(rows) > from.Limit
	if more {
		rows = rows[:from.Limit]
	}
	if c.Before {
		slices.Reverse(rows)
	}
	return l.around(q, rows, p, c.Before, more)
}

// around adds the cursors. On the side that the page was reached from, a cursor exists only while rows do.
func (l *List) around(q Query, rows []Position, from *Position, back, more bool) (Window, error) {
	w := Window{Rows: rows}
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
	ahead, rear := &w.Next, &w.Prev
	if back {
		ahead, rear = rear, ahead
	}
	switch {
	case len(rows) == 0 && behind: // the cursor's rows are gone: the way back is the whole list
		*rear = l.cursors.Encode(cursor.Place{Before: !back})
	case len(rows) > 0:
		first, last := rows[0], rows[len(rows)-1]
		if back {
			first, last = last, first
		}
		if more {
			*ahead = l.Beside(back, last)
		}
		if behind {
			*rear = l.Beside(!back, first)
		}
	}
	return w, nil
}

func (l *List) rows(q Query, from *Position, back bool, limit int) ([]Position, error) {
	if l.Walk != nil {
		if rows, ok, err := l.Walk(q, from, back, limit); ok || err != nil {
			return rows, err
		}
	}
	return l.Rows(q, from, back, limit)
}

// Rows reads the positions of up to limit rows behind one, walking the list forwards or backwards, in
// the order walked.
func (l *List) Rows(q Query, from *Position, back bool, limit int) ([]Position, error) {
	text, args := l.sql(from, back, limit)
	var rows []Position
	err := q.Each(text, args, func(scan func(...any) error) error {
		var r Position
		var whole int64
		var float float64
		dest := []any{&r.ID}
		switch {
		case l.Key == "":
		case l.Floats:
			dest = append(dest, &float)
		default:
			dest = append(dest, &whole)
		}
		if l.Row != "" {
			dest = append(dest, &r.Row)
		}
		err := scan(dest...)
		switch {
		case l.Key == "":
		case l.Floats:
			r.Key = float
		default:
			r.Key = whole
		}
		rows = append(rows, r)
		return err
	})
	return rows, err
}

func (l *List) sql(from *Position, back bool, limit int) (string, []any) {
	c := l.Cond.Clone()
	bound := c.Param(limit)
	switch len(l.Tiers) {
	case 0:
		return l.branch(&c, ``, from, back, bound), c.Args
	case 1: // PostgreSQL rejects a second LIMIT around a single part
		return l.branch(&c, l.Tiers[0], from, back, bound), c.Args
	}
	var parts []string
	for _, t := range l.Tiers {
		parts = append(parts, `SELECT * FROM (`+l.branch(&c, t, from, back, bound)+`) part`)
	}
	order := `id` + direction(l.idDesc(back))
	if l.Key != "" {
		order = `key` + direction(l.Desc != back) + `, ` + order
	}
	return strings.Join(parts, ` UNION ALL `) + ` ORDER BY ` + order + ` LIMIT ` + bound, c.Args
}

// idDesc is the direction of equal keys.
func (l *List) idDesc(back bool) bool { return (l.Desc != l.IDAgainst) != back }

// OrderBy is the list's order, forwards.
func (l *List) OrderBy() string {
	id := l.Alias + `.id` + direction(l.idDesc(false))
	if l.Key == "" {
		return id
	}
	return l.Key + direction(l.Desc) + `, ` + id
}

// branch reads one tier, or all; it adds its parameters to c.
func (l *List) branch(c *Conditions, tier string, from *Position, back bool, bound string) string {
	part := Conditions{Dollar: c.Dollar, Parts: slices.Clone(c.Parts), Args: c.Args}
	if tier != "" {
		part.Add(l.Alias+`.tier = ?`, tier)
	}
	id, desc, idDesc := l.Alias+`.id`, l.Desc != back, l.idDesc(back)
	columns, order := id+` AS id`, id+direction(idDesc)
	if l.Key != "" {
		columns += `, ` + l.Key + ` AS key`
		order = l.Key + direction(desc) + `, ` + order
	}
	if l.Row != "" {
		columns += `, ` + l.Row + ` AS row`
	}
	switch {
	case from == nil:
	case l.Key == "":
		part.Add(id+beyond(idDesc)+`?`, from.ID)
	case desc == idDesc: // a single range of an index
		part.Add(`(`+l.Key+`, `+id+`)`+beyond(desc)+`(?, ?)`, from.Key, from.ID)
	default:
		part.Add(`(`+l.Key+beyond(desc)+`? OR `+l.Key+` = ? AND `+id+beyond(idDesc)+`?)`, from.Key, from.Key, from.ID)
	}
	c.Args = part.Args
	return `SELECT ` + columns + ` FROM ` + l.From + part.Where() + ` ORDER BY ` + order + ` LIMIT ` + bound
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

// CountCapped counts the list's rows up to CountLimit.
func (l *List) CountCapped(q Query) (model.Count, error) {
	c := l.Cond.Clone()
	c.In(l.Alias+`.tier`, l.Tiers)
	return CountCapped(q, `SELECT 1 FROM `+l.From+c.Where(), c)
}

// CountCapped counts the rows of a query up to CountLimit. c holds its parameters.
func CountCapped(q Query, text string, c Conditions) (model.Count, error) {
	c = c.Clone()
	var n model.Count
	text = `SELECT count(*) FROM (` + text + c.SQL(` LIMIT ?) counted`, CountLimit+1)
	_, err := q.One(text, c.Args, &n.N)
	if n.N > CountLimit {
		n = model.Count{N: CountLimit, AtLeast: true}
	}
	return n, err
}
