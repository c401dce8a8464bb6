// Package window cuts pages out of a list that is in memory: forwards and backwards,
// with cursors that belong to the list they come from.
package window

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

// orders are those of Value. Any other is a store's own, in which its rows are given.
var orders = []model.Order{model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest}

// Value is a row's place in an order; a list goes up by it.
func Value(order model.Order, modified time.Time, size int64) int64 {
	switch order {
	case model.OrderNewest:
		return ^cursor.UnixNano(modified) // the reverse order: a minus overflows
	case model.OrderOldest:
		return cursor.UnixNano(modified)
	case model.OrderLargest:
		return ^size
	}
	return 0
}

// List is a list in its order. At gives a row's value and id; the id decides between equals.
type List struct {
	Cursors cursor.List
	Len     int
	At      func(i int) (value int64, id string)
	// Index is the number of the row with an id, or -1, in a list whose order is no value of its rows; nil in any other.
	Index func(id string) int
}

// Cut finds the rows of the page that is asked for, and its cursors: from is inclusive, to exclusive. A cursor of
// another list is InvalidInput.
func (l List) Cut(req model.PageRequest) (page model.Page, from, to int, err error) {
	limit := model.PageLimit(req.Limit)
	switch {
	case req.End && req.Cursor != "":
		return page, 0, 0, model.Errorf(model.InvalidInput, "list", "the last page and a cursor exclude each other")
	case req.End:
		from, to = max(0, l.Len-limit), l.Len
	case req.Cursor == "":
		to = min(limit, l.Len)
	default:
		pos, err := l.Cursors.Decode("list", req.Cursor)
		if err != nil {
			return page, 0, 0, err
		}
		at, err := l.border(pos)
		if err != nil {
			return page, 0, 0, err
		}
		if pos.Before {
			from, to = max(0, at-limit), at
		} else {
			from, to = at, min(at+limit, l.Len)
		}
	}
	page.Prev, page.Next = l.around(from, to)
	return page, from, to, nil
}

// border is the number of rows above a place.
func (l List) border(pos cursor.Place) (int, error) {
	if l.Index != nil {
		return pos.Border("list", l.Len, l.Index)
	}
	at, exact := sort.Find(l.Len, func(i int) int {
		value, id := l.At(i)
		return cmp.Or(cmp.Compare(pos.Number, value), strings.Compare(pos.ID, id))
	})
	if exact && !pos.Before {
		at++
	}
	return at, nil
}

// around are the cursors of a page. A page that has become empty at an end of the list still leads back.
func (l List) around(from, to int) (prev, next string) {
	if from > 0 {
		prev = l.cursor(from, true)
	}
	if to < l.Len {
		next = l.cursor(to, false)
	}
	return prev, next
}

// cursor is the place below a number of rows.
func (l List) cursor(rows int, before bool) string {
	var place cursor.Place
	switch {
	case l.Index != nil:
		place = cursor.Between(l.id(rows-1), l.id(rows), before)
	case before && rows < l.Len:
		place = l.place(rows, "")
	case before: // right after the last
		place = l.place(rows-1, "\x00")
	case rows > 0:
		place = l.place(rows-1, "")
	default: // right before the first
		place.Number, _ = l.At(0)
	}
	place.Before = before
	return l.Cursors.Encode(place)
}

func (l List) place(i int, suffix string) cursor.Place {
	value, id := l.At(i)
	return cursor.Place{Number: value, ID: id + suffix}
}

// id is a row's, or empty outside of the list.
func (l List) id(i int) (id string) {
	if i >= 0 && i < l.Len {
		_, id = l.At(i)
	}
	return id
}

// Row is a header with its value in the list's order.
type Row struct {
	model.Header
	Value int64
}

// Page sorts the rows, unless they are in a store's own order, and cuts out the page that is asked for. Problems make
// the total a lower bound.
func Page(rows []Row, req model.PageRequest, problems []string) (model.Page, error) {
	list := List{Cursors: cursor.ListOf(req.Tier, req.Query, req.Order, req.Hidden), Len: len(rows), At: func(i int) (int64, string) { return rows[i].Value, rows[i].ID }}
	if slices.Contains(orders, req.Order) {
		slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Value, b.Value), strings.Compare(a.ID, b.ID)) })
	} else {
		list.Index = func(id string) int { return slices.IndexFunc(rows, func(r Row) bool { return r.ID == id }) }
	}
	page, from, to, err := list.Cut(req)
	if err != nil {
		return page, err
	}
	page.Items, page.Problems = []model.Header{}, problems
	page.Total = model.Count{N: int64(len(rows)), AtLeast: len(problems) > 0}
	for _, r := range rows[from:to] {
		page.Items = append(page.Items, r.Header)
	}
	return page, nil
}

// Tier finds a tier by its name.
func Tier(tiers []model.TierSpec, name string) (model.TierSpec, bool) {
	if i := slices.IndexFunc(tiers, func(t model.TierSpec) bool { return t.Name == name }); i >= 0 {
		return tiers[i], true
	}
	return model.TierSpec{}, false
}

// Known is Tier, with InvalidInput for a tier that is not declared.
func Known(op string, tiers []model.TierSpec, name string) (model.TierSpec, error) {
	t, ok := Tier(tiers, name)
	switch {
	case ok:
		return t, nil
	case name == "":
		return t, model.Errorf(model.InvalidInput, op, "the tier is missing; there are %s", TierNames(tiers))
	}
	return t, model.Errorf(model.InvalidInput, op, "unknown tier %q; there are %s", name, TierNames(tiers))
}

// TierNames lists the names of tiers for people.
func TierNames(tiers []model.TierSpec) string {
	names := make([]string, len(tiers))
	for i, t := range tiers {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// Counts are items and bytes by scope and tier, in these orders; what has no items is left out.
func Counts(scopes []string, tiers []model.TierSpec, all iter.Seq[model.Header]) []model.TierCount {
	counts := map[[2]string]*model.TierCount{}
	for h := range all {
		at := [2]string{h.Scope, h.Tier}
		c := counts[at]
		if c == nil {
			c = &model.TierCount{Scope: h.Scope, Tier: h.Tier}
			counts[at] = c
		}
		c.Items++
		c.Bytes += h.Bytes
	}
	out := []model.TierCount{}
	for _, scope := range scopes {
		for _, t := range tiers {
			if c := counts[[2]string{scope, t.Name}]; c != nil {
				out = append(out, *c)
			}
		}
	}
	return out
}

// Names gives the ids to yield until it has enough.
func Names(all iter.Seq[model.Header], yield func(id string) bool) {
	for h := range all {
		if !yield(h.ID) {
			return
		}
	}
}
