package tiers

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/prose"
)

// treeOrders are the orders of the tree, in words; the first is that of the stores.
var treeOrders = []string{"as the stores have it", "most items first", "most bytes first", "by name"}

// nextOrder sorts the rows below each row, and the stores, by the next order, or the one before.
func (o *overview) nextOrder(by int) tea.Cmd {
	o.order = (o.order + by + len(treeOrders)) % len(treeOrders)
	o.d.Tell("order: %s", treeOrders[o.order])
	o.build()
	return o.show()
}

// drawn returns the rows as a tree, without folded rows; a filter shows matches in those too.
func (o *overview) drawn(rows []tierRow) []tierRow {
	var follows [3]bool // a further row at this depth, under the same row
	glyphs, most := o.d.St.Glyphs.Guide, int64(0)
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		most = max(most, r.items)
		r.branch = i+1 < len(rows) && rows[i+1].depth > r.depth
		for d := 1; d <= r.depth; d++ {
			switch {
			case d < r.depth && follows[d]:
				r.guide += glyphs[0]
			case d < r.depth:
				r.guide += "  "
			case follows[d]:
				r.guide += glyphs[1]
			default:
				r.guide += glyphs[2]
			}
		}
		follows[r.depth] = true
		clear(follows[r.depth+1:])
	}
	o.items = max(len(prose.Group(most)), len("ITEMS")) + 2
	if o.Query != "" {
		return rows
	}
	under := -1 // the depth of the folded row that the rows are under
	return slices.DeleteFunc(rows, func(r tierRow) bool {
		if under >= 0 && r.depth > under {
			return true
		}
		if under = -1; o.folded[r.at] {
			under = r.depth
		}
		return false
	})
}

// fold folds or unfolds the row at the cursor; on a tier, the row above it, which gets the cursor.
func (o *overview) fold() tea.Cmd {
	var moved tea.Cmd
	i := o.table.Sel
	for ; i > 0 && !o.rows[i].branch && o.rows[i].depth > 0; i-- {
	}
	if i != o.table.Sel {
		moved = o.table.Move(i - o.table.Sel)
	}
	switch at := o.rows[i].at; {
	case o.folded[at]:
		delete(o.folded, at)
	case o.rows[i].branch:
		o.folded[at] = true
	}
	o.build()
	return tea.Batch(moved, o.show())
}

// foldAll folds every store, or unfolds everything where one is folded.
func (o *overview) foldAll() tea.Cmd {
	if len(o.folded) > 0 {
		clear(o.folded)
	} else {
		for _, m := range o.d.Fleet.Members() {
			o.folded[desk.ScopeOf{Store: m.Name}] = true
		}
	}
	o.build()
	return o.show()
}

func (o *overview) ordered(rows []tierRow, depth int) []tierRow {
	if o.order == 0 || len(rows) == 0 {
		return rows
	}
	var groups [][]tierRow
	for _, r := range rows {
		if r.depth == depth || len(groups) == 0 {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], r)
	}
	slices.SortStableFunc(groups, func(a, b []tierRow) int {
		switch o.order {
		case 1:
			return cmp.Compare(b[0].items, a[0].items)
		case 2:
			return cmp.Compare(b[0].bytes, a[0].bytes)
		}
		return strings.Compare(a[0].name.String(), b[0].name.String())
	})
	var out []tierRow
	for _, g := range groups {
		out = append(append(out, g[0]), o.ordered(g[1:], depth+1)...)
	}
	return out
}

func (o *overview) filter() operator.PageQuery {
	words, not := strings.CutPrefix(o.Query, "!")
	return operator.PageQuery{Filter: strings.TrimSpace(words), Not: not}
}

// toName moves the cursor from a store that stays for its description, or for a row below it, to the first one whose name
// has the words of the filter.
func (o *overview) toName() {
	q := o.filter()
	named := func(r tierRow) bool { return r.depth == 0 && q.Matches(r.at.Store) }
	if r, ok := o.current(); !ok || r.depth > 0 || q.Filter == "" || q.Not || named(r) {
		return
	}
	if i := slices.IndexFunc(o.rows, named); i >= 0 {
		o.table.Sel = i
		o.table.Clamp(1)
	}
}

// filtered keeps the rows under the filter, each with all rows above it in the tree.
func (o *overview) filtered(rows []tierRow) []tierRow {
	if o.Query == "" {
		return rows
	}
	q := o.filter()
	keep := make([]bool, len(rows))
	var above [3]int // the current ancestor at each depth
	notes := ""
	for i, r := range rows {
		above[r.depth] = i
		if r.depth == 1 {
			notes = r.note.String() // the words of a scope match for its tiers too
		}
		full := ""
		if r.over > 0 {
			full = "over"
		}
		if keep[i] = q.Matches(r.at.Store, r.at.Scope, r.at.Tier, notes, r.note.String(), full); keep[i] {
			for d := range r.depth {
				keep[above[d]] = true
			}
		}
	}
	out := rows[:0:0]
	for i, r := range rows {
		if keep[i] {
			out = append(out, r)
		}
	}
	return out
}

// treePlace is a row of the tree, and its line of the screen.
type treePlace struct {
	at   desk.ScopeOf
	line int
}

// apply applies a filter; an empty one shows all, with the cursor back at its place unless it was moved.
func (o *overview) apply(query string) tea.Cmd {
	o.Filter.Focus = false
	return o.narrow(query)
}

// narrow applies a filter and leaves the input unchanged.
func (o *overview) narrow(query string) tea.Cmd {
	if strings.Trim(query, "! ") == "" {
		query = ""
	}
	if r, ok := o.current(); ok && o.Query == "" && query != "" {
		o.before = &treePlace{r.at, o.table.Sel - o.table.Top}
	}
	o.Query = query
	o.build()
	o.toName()
	if was := o.before; was != nil && query == "" {
		o.before, o.wanted = nil, was.at
		o.reach()
		o.table.Top = o.table.Sel - was.line
		o.table.Clamp(1)
	}
	return o.show()
}

func (o *overview) typed() tea.Cmd { return o.narrow(strings.TrimSpace(o.Typing().Value())) }

// crumbs say which filter and order are in force.
func (o *overview) crumbs() []safetext.Text {
	var out []safetext.Text
	if o.order > 0 {
		out = append(out, o.d.Esc.Const(treeOrders[o.order]))
	}
	if o.Query != "" {
		out = append(out, o.d.Esc.Sprintf("/%s", o.Query))
	}
	return out
}

// exportTree writes the rows as shown; a row above tiers counts those below it.
func (o *overview) exportTree() tea.Cmd {
	rows := make([]desk.Datum, len(o.rows))
	for i, r := range o.rows {
		rows[i] = o.datum(r)
	}
	return o.d.Exports.ExportTable("tiers", func(_ context.Context, write func(desk.Datum) error) ([]safetext.Text, error) {
		for _, r := range rows {
			if err := write(r); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

func (o *overview) datum(r tierRow) desk.Datum {
	var items, bytes any // nil: not known
	if o.known(r) {
		items, bytes = r.items, r.bytes
	}
	return desk.DatumOf(
		"store", r.at.Store, "scope", r.at.Scope, "tier", r.at.Tier, "items", items, "bytes", bytes,
		"cap", r.spec.Cap, "cap_unit", string(r.spec.CapUnit), "hidden", r.spec.Hidden, "note", r.note.String(),
	)
}
