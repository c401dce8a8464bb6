// Package paging cuts pages out of a list made by a walk over files, with cursors that keep their place
// while files appear and vanish. It reads nothing.
package paging

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"memdesk/backends/internal/cursor"
	"memdesk/backends/internal/window"
	"memdesk/model"
)

// Key is the filter and order of a list.
type Key struct {
	Tier, Scope, Query string
	Order              model.Order
	Hidden             bool
}

// keyOf is a request's key. InvalidInput for an order that files do not have.
func keyOf(req model.PageRequest) (Key, error) {
	k := Key{req.Tier, req.Scope, req.Query, cmp.Or(req.Order, model.OrderID), req.Hidden}
	switch k.Order {
	case model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest:
		return k, nil
	}
	return k, model.Errorf(model.InvalidInput, "list", "unknown order %q: there are id, newest, oldest and largest", k.Order)
}

// Source is the result of one walk over files, in the order of ids.
type Source interface {
	// Tiers are those that a list may name, and HasScope reports whether it may name a scope.
	Tiers() []model.TierSpec
	HasScope(scope string) bool
	// Select returns the positions of a list's entries, in the order of ids. It is bounded when a file could
	// not be searched.
	Select(ctx context.Context, key Key) (rows []int32, bounded bool, err error)
	// Keys returns the sort keys of the entry at a position, and ID its id.
	Keys(i int32) (modified time.Time, size int64)
	ID(i int32) string
	// Headers reads the entries at these positions again, one header for each.
	Headers(ctx context.Context, rows []int32) ([]model.Header, error)
	// Problems are the places that could not be walked, in words.
	Problems() []string
}

// listsKept bounds the kept lists of one source.
const listsKept = 8

// Lists are the lists of one source, kept while it lives. The zero value is empty.
// It is safe for concurrent use.
type Lists struct {
	mu   sync.Mutex
	kept map[Key][]int32
}

// Page is the page for req. Its total is a lower bound where a place or a file could not be read.
func (l *Lists) Page(ctx context.Context, src Source, req model.PageRequest) (model.Page, error) {
	key, err := keyOf(req)
	if err != nil {
		return model.Page{}, err
	}
	if key.Tier != "" {
		if _, err := window.Known("list", src.Tiers(), key.Tier); err != nil {
			return model.Page{}, err
		}
	}
	if key.Scope != "" && !src.HasScope(key.Scope) {
		return model.Page{}, model.Errorf(model.InvalidInput, "list", "unknown scope %q; scopes are as tiers lists them", key.Scope)
	}
	rows, bounded, err := l.rows(ctx, src, key)
	if err != nil {
		return model.Page{}, err
	}
	list := window.List{Cursors: cursor.ListOf(key), Len: len(rows), At: func(i int) (int64, string) {
		return key.value(src, rows[i]), src.ID(rows[i])
	}}
	page, from, to, err := list.Cut(req)
	if err != nil {
		return page, err
	}
	page.Problems = slices.Clone(src.Problems())
	page.Total = model.Count{N: int64(len(rows)), AtLeast: bounded || len(page.Problems) > 0}
	if page.Items, err = src.Headers(ctx, rows[from:to]); err != nil {
		return model.Page{}, err
	}
	return page, nil
}

// rows are the positions of a list's entries in its order.
func (l *Lists) rows(ctx context.Context, src Source, key Key) (rows []int32, bounded bool, err error) {
	l.mu.Lock()
	rows, ok := l.kept[key]
	l.mu.Unlock()
	if ok {
		return rows, false, nil
	}
	if rows, bounded, err = src.Select(ctx, key); err != nil {
		return nil, false, err
	}
	if key.Order != model.OrderID {
		key.sort(src, rows)
	}
	if bounded { // the next page must say so again
		return rows, true, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil || len(l.kept) >= listsKept {
		l.kept = map[Key][]int32{}
	}
	l.kept[key] = rows
	return rows, false, nil
}

// sort puts rows that are in the order of ids into the key's; ties stay as they are.
func (k Key) sort(src Source, rows []int32) {
	type keyed struct {
		value int64
		row   int32
	}
	all := make([]keyed, len(rows))
	for i, r := range rows {
		all[i] = keyed{k.value(src, r), r}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.row, b.row)) })
	for i, e := range all {
		rows[i] = e.row
	}
}

func (k Key) value(src Source, row int32) int64 {
	modified, size := src.Keys(row)
	return window.Value(k.Order, modified, size)
}
