// Package paging cuts pages out of a list made by a walk over files, with cursors that keep their place
// while files appear and vanish. It reads nothing.
package paging

import (
	"cmp"
	"strings"
	"time"

	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

// Key is the filter and order of a list.
type Key struct {
	Tier, Scope, Query string
	Order              model.Order
	Hidden             bool
}

// KeyOf is a request's key. InvalidInput for an order that files do not have, and for the last page
// together with a cursor.
func KeyOf(req model.PageRequest) (Key, error) {
	k := Key{req.Tier, req.Scope, req.Query, cmp.Or(req.Order, model.OrderID), req.Hidden}
	switch k.Order {
	case model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest:
	default:
		return k, model.Errorf(model.InvalidInput, "list", "unknown order %q: there are id, newest, oldest and largest", k.Order)
	}
	if req.End && req.Cursor != "" {
		return k, model.Errorf(model.InvalidInput, "list", "the last page and a cursor exclude each other")
	}
	return k, nil
}

// Row holds the sort keys of a row.
type Row struct {
	ID       string
	Modified time.Time
	Size     int64
}

// List is the rows of one key in its order.
type List struct {
	Key Key
	Len int
	At  func(i int) Row
}

// Window finds the page's rows: from is inclusive, to exclusive. A cursor of another list is InvalidInput.
func (l List) Window(req model.PageRequest) (from, to int, err error) {
	limit := model.PageLimit(req.Limit)
	switch {
	case req.End:
		return max(0, l.Len-limit), l.Len, nil
	case req.Cursor == "":
		return 0, min(limit, l.Len), nil
	}
	pos, err := cursor.ListOf(l.Key).Decode("list", req.Cursor)
	if err != nil {
		return 0, 0, err
	}
	at, exact := l.search(pos)
	if pos.Before {
		return max(0, at-limit), at, nil
	}
	if exact {
		at++
	}
	return at, min(at+limit, l.Len), nil
}

// search finds a position among the rows.
func (l List) search(pos cursor.Place) (at int, exact bool) {
	at, end := 0, l.Len
	for at < end {
		mid := int(uint(at+end) >> 1)
		if l.compare(mid, pos) < 0 {
			at = mid + 1
		} else {
			end = mid
		}
	}
	return at, at < l.Len && l.compare(at, pos) == 0
}

func (l List) compare(i int, pos cursor.Place) int {
	r := l.At(i)
	c := 0
	switch l.Key.Order {
	case model.OrderNewest:
		c = cmp.Compare(pos.Number, cursor.UnixNano(r.Modified))
	case model.OrderOldest:
		c = cmp.Compare(cursor.UnixNano(r.Modified), pos.Number)
	case model.OrderLargest:
		c = cmp.Compare(pos.Number, r.Size)
	}
	return cmp.Or(c, strings.Compare(r.ID, pos.ID))
}

// Cursors are those around a page. A page that has become empty at an end of the list still leads back.
func (l List) Cursors(from, to int) (prev, next string) {
	switch {
	case from == 0:
	case from < l.Len:
		prev = l.cursor(from, "", true)
	default:
		prev = l.cursor(from-1, "\x00", true) // right after the last
	}
	switch {
	case to == l.Len:
	case to > 0:
		next = l.cursor(to-1, "", false)
	default: // right before the first
		prev, next = "", cursor.ListOf(l.Key).Encode(cursor.Place{Number: l.value(l.At(0))})
	}
	return prev, next
}

func (l List) cursor(i int, suffix string, before bool) string {
	r := l.At(i)
	return cursor.ListOf(l.Key).Encode(cursor.Place{Before: before, Number: l.value(r), ID: r.ID + suffix})
}

func (l List) value(r Row) int64 {
	switch l.Key.Order {
	case model.OrderID:
		return 0
	case model.OrderLargest:
		return r.Size
	}
	return cursor.UnixNano(r.Modified)
}
