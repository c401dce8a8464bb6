package hypergraph

import (
	"context"
	"slices"
	"strings"

	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

// List pages over nodes and then, when no tier is named, over edges as one list: a page may hold the
// last nodes and the first edges.
func (a *adapter) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	if err := a.begin(ctx, "list", false); err != nil {
		return model.Page{}, err
	}
	l, err := a.lister(req)
	if err != nil {
		return model.Page{}, err
	}
	at, err := l.start(req)
	if err != nil {
		return model.Page{}, err
	}
	page, err := l.page(ctx, at)
	return page, model.Wrap("list", err)
}

// lister runs one list under one request's filters.
type lister struct {
	a            *adapter
	nodes, edges bool // which halves the list includes
	listing      Listing
	limit        int
	cursors      cursor.List
}

func (a *adapter) lister(req model.PageRequest) (*lister, error) {
	if req.Scope != "" {
		return nil, model.Errorf(model.InvalidInput, "list", "unknown scope %q: this store has one scope only", req.Scope)
	}
	if req.Tier != "" {
		if err := a.checkTier("list", req.Tier); err != nil {
			return nil, err
		}
	}
	order := req.Order
	switch order {
	case "":
		order = model.OrderNewest
	case model.OrderNewest, model.OrderOldest, model.OrderID:
	default:
		return nil, model.Errorf(model.InvalidInput, "list", "unknown order %q: there are newest, oldest and id", string(order))
	}
	l := &lister{
		a:       a,
		nodes:   req.Tier != EdgeTier,
		edges:   req.Tier == "" || req.Tier == EdgeTier,
		limit:   model.PageLimit(req.Limit),
		listing: Listing{Order: order, Text: req.Query},
		cursors: cursor.ListOf("graph", req.Tier, req.Query, order, req.Hidden),
	}
	if req.Tier != "" && l.nodes {
		l.listing.Filter.Tiers = []string{req.Tier}
	}
	if !req.Hidden {
		l.listing.Filter.NotSubtypes = a.Vocabulary.Bookkeeping
		if req.Tier == "" { // a named tier hides nothing
			l.listing.Filter.Tiers = slices.DeleteFunc(slices.Clone(a.Vocabulary.Tiers), func(t string) bool {
				return t == a.Vocabulary.ArchiveTier
			})
		}
	}
	return l, nil
}

// pageStart is where a page begins, in reading direction: in the nodes or the edges, at a cursor of the
// backend or, without one, at that half's start (forward) or end (backward).
type pageStart struct {
	Edges, Back bool
	Inner       string // a backend's cursor, safe to type
}

// cursor is that of the half, a dot, and that of the backend.
func (l *lister) cursor(p pageStart) string {
	return l.cursors.Encode(cursor.Place{Before: p.Back, Mark: p.Edges}) + "." + p.Inner
}

func (l *lister) start(req model.PageRequest) (pageStart, error) {
	if req.End {
		if req.Cursor != "" {
			return pageStart{}, model.Errorf(model.InvalidInput, "list", "a page is asked for by its cursor or as the last one, not both")
		}
		return pageStart{Edges: l.edges, Back: true}, nil
	}
	if req.Cursor == "" {
		return pageStart{Edges: !l.nodes}, nil
	}
	outer, inner, whole := strings.Cut(req.Cursor, ".")
	at, err := l.cursors.Decode("list", outer)
	if err == nil && !whole {
		err = cursor.Foreign("list")
	}
	return pageStart{Edges: at.Mark, Back: at.Before, Inner: inner}, err
}

// half is a page of nodes or of edges as headers.
type half struct {
	items      []model.Header
	next, prev string // cursors of the backend
	total      model.Count
}

// page reads the half that the position is in and continues in the other when that half runs out.
func (l *lister) page(ctx context.Context, at pageStart) (model.Page, error) {
	here, err := l.half(ctx, at.Edges, at.Inner, at.Back, l.limit)
	if err != nil {
		return model.Page{}, err
	}
	if !(l.nodes && l.edges) {
		return l.join(here, half{}, at.Edges), nil
	}
	room := l.limit - len(here.items)
	crosses := room > 0 && (at.Back == at.Edges) && l.exhausted(here, at.Back)
	other, err := l.half(ctx, !at.Edges, "", at.Back, max(room, 1))
	if err != nil {
		return model.Page{}, err
	}
	if !crosses {
		// Only the other half's size was needed, and whether it has any item.
		other.next, other.prev = "", ""
		page := l.join(here, half{}, at.Edges)
		page.Total = sum(here.total, other.total)
		l.bridge(&page, here, len(other.items) > 0, at.Edges)
		return page, nil
	}
	if at.Edges {
		return l.join(other, here, false), nil
	}
	return l.join(here, other, false), nil
}

// exhausted reports whether a half ends with this page in the direction read.
func (l *lister) exhausted(h half, back bool) bool {
	if back {
		return h.prev == ""
	}
	return h.next == ""
}

// bridge adds the cursor that leads to the other half, for a page that ends at the border without
// crossing it.
func (l *lister) bridge(p *model.Page, h half, otherHasItems, edges bool) {
	if !otherHasItems {
		return
	}
	if !edges && h.next == "" {
		p.Next = l.cursor(pageStart{Edges: true})
	}
	if edges && h.prev == "" {
		p.Prev = l.cursor(pageStart{Back: true})
	}
}

// join makes a page of one half, or of the last nodes and the first edges.
func (l *lister) join(first, second half, edges bool) model.Page {
	p := model.Page{Items: append(first.items, second.items...), Total: sum(first.total, second.total)}
	if first.prev != "" {
		p.Prev = l.cursor(pageStart{Edges: edges, Back: true, Inner: first.prev})
	}
	last, inEdges := first, edges
	if len(second.items) > 0 {
		last, inEdges = second, true
	}
	if last.next != "" {
		p.Next = l.cursor(pageStart{Edges: inEdges, Inner: last.next})
	}
	return p
}

func (l *lister) half(ctx context.Context, edges bool, inner string, back bool, limit int) (half, error) {
	q := l.listing
	q.Cursor, q.Limit = inner, limit
	q.End = back && inner == ""
	if edges {
		q.Filter = NodeFilter{}
		page, err := l.a.Backend.ListEdges(ctx, q)
		if err != nil {
			return half{}, err
		}
		h := half{items: make([]model.Header, len(page.Edges)), next: page.Next, prev: page.Prev, total: page.Total}
		for i, e := range page.Edges {
			h.items[i] = l.a.edgeHeader(e)
		}
		return h, nil
	}
	page, err := l.a.Backend.ListNodes(ctx, q)
	if err != nil {
		return half{}, err
	}
	h := half{items: make([]model.Header, len(page.Nodes)), next: page.Next, prev: page.Prev, total: page.Total}
	for i, n := range page.Nodes {
		h.items[i] = l.a.nodeHeader(n)
	}
	return h, nil
}

func sum(x, y model.Count) model.Count {
	return model.Count{N: x.N + y.N, AtLeast: x.AtLeast || y.AtLeast, Unknown: x.Unknown || y.Unknown}
}
