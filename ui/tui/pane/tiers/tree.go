package tiers

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/record"
)

// treeOrders are the orders of the tree, in words; the first is that of the stores.
var treeOrders = []string{"as the stores have it", "most items first", "most bytes first", "by name"}

// nextOrder sorts the rows below each row, and the stores, by the next order, or the one before.
func (o *overview) nextOrder(by int) tea.Cmd {
	o.order = (o.order + by + len(treeOrders)) % len(treeOrders)
	o.d.Tell("order: %s", treeOrders[o.order])
	return o.changed()
}

// drawn returns the rows as a tree, without folded rows; a filter shows matches in those too.
func (o *tree) drawn(rows []tierRow, filtered bool) []tierRow {
	var follows [3]bool // a further row at this depth, under the same row
	glyphs := o.d.St.Glyphs.Guide
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
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
	if filtered {
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
	moved := o.climb(func(r tierRow) bool { return r.branch })
	o.begun = true
	switch r := o.Here(); {
	case o.folded[r.at]:
		delete(o.folded, r.at)
	case r.branch:
		o.folded[r.at] = true
	}
	return tea.Batch(moved, o.changed())
}

// climb moves the cursor up to such a row, at most to its store.
func (o *overview) climb(such func(tierRow) bool) tea.Cmd {
	i, rows := o.Window.Sel, o.Window.Rows
	for ; i > 0 && rows[i].Raw.depth > 0 && !such(rows[i].Raw); i-- {
	}
	if i == o.Window.Sel {
		return nil
	}
	return o.Move(i - o.Window.Sel)
}

// foldAll folds every store, or unfolds everything where one is folded.
func (o *overview) foldAll() tea.Cmd {
	if len(o.folded) > 0 {
		o.begun = true
		clear(o.folded)
		return o.changed()
	}
	o.foldStores()
	return tea.Batch(o.climb(func(tierRow) bool { return o.Query != "" }), o.changed()) // a filter shows what is folded too
}

func (o *overview) foldStores() {
	o.begun = true
	for _, m := range o.d.Fleet.Members() {
		o.folded[desk.ScopeOf{Store: m.Name}] = true
	}
}

func (o *tree) ordered(rows []tierRow, depth int) []tierRow {
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

// toName moves the cursor from a store that stays for its description, or for a row below it, to the first one whose name
// has the words of the filter.
func (o *overview) toName() tea.Cmd {
	q := operator.PageQuery{Filter: o.Query}
	named := func(r record.Row[tierRow]) bool { return r.Raw.depth == 0 && q.Matches(r.Raw.at.Store) }
	r, ok := o.Window.Current()
	i := slices.IndexFunc(o.Window.Rows, named)
	if i < 0 || !ok || r.Raw.depth > 0 || named(r) || q.Filter == "" || q.Filter[0] == '!' {
		return nil
	}
	return tea.Batch(o.Window.Move(i-o.Window.Sel), o.Show())
}

// filtered keeps the rows under the filter, each with all rows above it in the tree.
func (o *tree) filtered(rows []tierRow, q operator.PageQuery) []tierRow {
	if q.Filter == "" {
		return rows
	}
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

func (o *tree) datum(r tierRow) desk.Datum {
	var items, bytes any // nil: not known
	if o.known(r) {
		items, bytes = r.items, r.bytes
	}
	return desk.DatumOf(
		"store", r.at.Store, "scope", r.at.Scope, "tier", r.at.Tier, "items", items, "bytes", bytes,
		"cap", r.spec.Cap, "cap_unit", string(r.spec.CapUnit), "hidden", r.spec.Hidden, "note", r.note.String(),
	)
}
