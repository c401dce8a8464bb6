package inmem

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/cursor"
	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// checkEvery is the number of entries that a scan passes between checks of the context.
const checkEvery = 4096

// countLimit is where the count of a text's matches stops.
const countLimit = 10_000

// place is where an entry stands in an order. A mark says that the entry itself belongs to the page.
func place(o model.Order, t time.Time, id string, before, self bool) cursor.Place {
	p := cursor.Place{Before: before, Mark: self, ID: id}
	if o != model.OrderID { // a time need not fit into 64 bits of nanoseconds
		p.Number, p.Text = t.Unix(), strconv.Itoa(t.Nanosecond())
	}
	return p
}

// placed reads a cursor of this list, and the time in it.
func placed(op string, list cursor.List, l hypergraph.Listing) (p cursor.Place, t time.Time, err error) {
	if p, err = list.Decode(op, l.Cursor); err != nil || l.Order == model.OrderID {
		return p, t, err
	}
	nanos, err := strconv.ParseInt(p.Text, 10, 64)
	if err != nil {
		return p, t, cursor.Foreign(op)
	}
	return p, time.Unix(p.Number, nanos), nil
}

// source is one kind of entry as the pager needs it.
type source[T any] struct {
	kind    string
	indexes []*index[T]
	compare func(a, b *T) int
	keep    func(*T) bool
	key     func(*T) (time.Time, string)
	probe   func(time.Time, string) *T
}

type window[T any] struct {
	items      []*T
	next, prev string
}

// page reads a window. Its cost depends on the page and on what the filter drops, not on the page's depth.
func page[T any](ctx context.Context, op string, src source[T], l hypergraph.Listing) (window[T], error) {
	if l.Limit <= 0 {
		return window[T]{}, model.Errorf(model.InvalidInput, op, "a page needs a limit of one item or more")
	}
	m, list := cursor.Place{Before: l.End}, l.List(src.kind)
	var from *T
	if l.Cursor != "" {
		var t time.Time
		var err error
		if m, t, err = placed(op, list, l); err != nil {
			return window[T]{}, err
		}
		if l.End {
			return window[T]{}, model.Errorf(model.InvalidInput, op, "a page has a cursor or is the last one, not both")
		}
		from = src.probe(t, m.ID)
	}
	down := l.Order == model.OrderNewest // the list runs against the index
	items, more, err := src.take(ctx, op, from, m.Mark, m.Before != down, l.Limit)
	if err != nil {
		return window[T]{}, err
	}
	if m.Before {
		slices.Reverse(items)
	}
	w := window[T]{items: items}
	border := func(x *T, back, self bool) string {
		t, id := src.key(x)
		return list.Encode(place(l.Order, t, id, back, self))
	}
	// behind reports whether any entry lies on the side that the page was reached from.
	edge, inclusive := from, !m.Mark
	if len(items) > 0 {
		edge, inclusive = items[0], false
		if m.Before {
			edge = items[len(items)-1]
		}
	}
	behind := false
	if edge != nil && from != nil {
		there, _, err := src.take(ctx, op, edge, inclusive, m.Before == down, 1)
		if err != nil {
			return window[T]{}, err
		}
		behind = len(there) > 0
	}
	ahead := more
	if m.Before {
		ahead, behind = behind, more
	}
	// From here on ahead is Next and behind is Prev.
	if ahead {
		if len(items) > 0 {
			w.next = border(items[len(items)-1], false, false)
		} else {
			w.next = border(from, false, !m.Mark)
		}
	}
	if behind {
		if len(items) > 0 {
			w.prev = border(items[0], true, false)
		} else {
			w.prev = border(from, true, !m.Mark)
		}
	}
	return w, nil
}

// take collects up to limit kept entries and reports whether one more follows.
func (src source[T]) take(ctx context.Context, op string, from *T, self, back bool, limit int) ([]*T, bool, error) {
	w := walk(src.indexes, src.compare, from, self, back)
	var out []*T
	for seen := 0; ; seen++ {
		if seen%checkEvery == checkEvery-1 {
			if err := model.FromContext(ctx, op); err != nil {
				return nil, false, err
			}
		}
		x := w.next()
		if x == nil {
			return out, false, nil
		}
		if !src.keep(x) {
			continue
		}
		if len(out) == limit {
			return out, true, nil
		}
		out = append(out, x)
	}
}

func checkOrder(op string, o model.Order) error {
	switch o {
	case model.OrderNewest, model.OrderOldest, model.OrderID:
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "unknown order %q: there are newest, oldest and id", string(o))
}

// ListNodes implements hypergraph.Ops.
func (s *state) ListNodes(ctx context.Context, l hypergraph.Listing) (hypergraph.NodePage, error) {
	const op = "list nodes"
	if err := model.FromContext(ctx, op); err != nil {
		return hypergraph.NodePage{}, err
	}
	if err := checkOrder(op, l.Order); err != nil {
		return hypergraph.NodePage{}, err
	}
	keep := nodeFilter(l.Filter, l.Text)
	src := source[node]{
		kind: "nodes", indexes: s.nodeIndexes(l.Filter.Tiers, l.Order), compare: nodeByTime, keep: keep,
		key:   func(x *node) (time.Time, string) { return x.CreatedAt, x.ID },
		probe: func(t time.Time, id string) *node { return &node{Node: hypergraph.Node{ID: id, CreatedAt: t}} },
	}
	if l.Order == model.OrderID {
		src.compare = nodeByID
	}
	w, err := page(ctx, op, src, l)
	if err != nil {
		return hypergraph.NodePage{}, err
	}
	p := hypergraph.NodePage{Next: w.next, Prev: w.prev, Nodes: make([]hypergraph.Node, len(w.items))}
	for i, x := range w.items {
		p.Nodes[i] = x.copyOut()
	}
	p.Total, err = s.countNodes(ctx, l.Filter, l.Text, src)
	return p, err
}

func (s *state) nodeIndexes(tiers []string, o model.Order) []*index[node] {
	pick := func(x order[node]) *index[node] {
		if o == model.OrderID {
			return x.byID
		}
		return x.byTime
	}
	if len(tiers) == 0 {
		return []*index[node]{pick(s.all)}
	}
	var out []*index[node]
	for _, t := range slices.Compact(slices.Sorted(slices.Values(tiers))) {
		if x := s.tiers[t]; x != nil {
			out = append(out, pick(*x))
		}
	}
	return out
}

// countNodes adds up the facets where the filter has no other condition; otherwise it scans, up to
// countLimit when a text is searched for.
func (s *state) countNodes(ctx context.Context, f hypergraph.NodeFilter, text string, src source[node]) (model.Count, error) {
	if plain := f; text == "" && len(plain.IDs) == 0 && plain.MinConfidence == 0 && plain.CreatedAfter.IsZero() &&
		plain.CreatedBefore.IsZero() && plain.SubjectID == "" {
		var n int64
		for k, c := range s.facets {
			if allowed(f.Tiers, k.tier) && allowed(f.Types, k.kind) && allowed(f.Subtypes, k.subtype) && !slices.Contains(f.NotSubtypes, k.subtype) {
				n += c
			}
		}
		return model.Count{N: n}, nil
	}
	items, more, err := src.take(ctx, "list nodes", nil, false, false, countLimit)
	return model.Count{N: int64(len(items)), AtLeast: more}, err
}

func allowed(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }

func nodeFilter(f hypergraph.NodeFilter, text string) func(*node) bool {
	text = snippet.Fold(text)
	ids := map[string]bool{}
	for _, id := range f.IDs {
		ids[id] = true
	}
	return func(x *node) bool {
		switch {
		case len(ids) > 0 && !ids[x.ID],
			!allowed(f.Types, x.Type), !allowed(f.Tiers, x.Tier), !allowed(f.Subtypes, x.Subtype),
			slices.Contains(f.NotSubtypes, x.Subtype),
			x.Confidence < f.MinConfidence,
			!f.CreatedAfter.IsZero() && !x.CreatedAt.After(f.CreatedAfter),
			!f.CreatedBefore.IsZero() && !x.CreatedAt.Before(f.CreatedBefore),
			f.SubjectID != "" && x.SubjectID != f.SubjectID:
			return false
		}
		return text == "" || strings.Contains(x.text, text) || strings.Contains(x.side, text) || strings.Contains(snippet.Fold(x.ID), text)
	}
}

// NodeIDs implements hypergraph.Ops.
func (s *state) NodeIDs(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[string, error] {
	return ids(s.AllNodes(ctx, f))
}

func ids(nodes iter.Seq2[hypergraph.Node, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for n, err := range nodes {
			if !yield(n.ID, err) {
				return
			}
		}
	}
}

// StreamNodes implements hypergraph.Ops.
func (s *state) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	return s.AllNodes(ctx, hypergraph.NodeFilter{})
}

// AllNodes implements hypergraph.Ops inside a transaction.
func (s *state) AllNodes(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[hypergraph.Node, error] {
	return batches(func(last *node) ([]hypergraph.Node, *node, error) { return s.batch(ctx, f, last) })
}

// batches streams the batches that read returns, each behind the last batch's entry, until that entry is nil.
func batches(read func(last *node) ([]hypergraph.Node, *node, error)) iter.Seq2[hypergraph.Node, error] {
	return func(yield func(hypergraph.Node, error) bool) {
		var last *node
		for {
			batch, next, err := read(last)
			if err != nil {
				yield(hypergraph.Node{}, err)
				return
			}
			for _, n := range batch {
				if !yield(n, nil) {
					return
				}
			}
			if last = next; last == nil {
				return
			}
		}
	}
}

// streamBatch is how many nodes AllNodes copies under one lock.
const streamBatch = 512

// batch copies the next kept nodes by id and returns the entry to continue behind, nil at the end.
func (s *state) batch(ctx context.Context, f hypergraph.NodeFilter, last *node) ([]hypergraph.Node, *node, error) {
	src := source[node]{indexes: s.nodeIndexes(f.Tiers, model.OrderID), compare: nodeByID, keep: nodeFilter(f, "")}
	items, more, err := src.take(ctx, "all nodes", last, false, false, streamBatch)
	if err != nil {
		return nil, nil, err
	}
	out := make([]hypergraph.Node, len(items))
	for i, x := range items {
		out[i] = x.copyOut()
	}
	if !more {
		return out, nil, nil
	}
	return out, &node{Node: hypergraph.Node{ID: items[len(items)-1].ID}}, nil
}

// ListEdges implements hypergraph.Ops.
func (s *state) ListEdges(ctx context.Context, l hypergraph.Listing) (hypergraph.EdgePage, error) {
	const op = "list edges"
	if err := model.FromContext(ctx, op); err != nil {
		return hypergraph.EdgePage{}, err
	}
	if err := checkOrder(op, l.Order); err != nil {
		return hypergraph.EdgePage{}, err
	}
	text, f := snippet.Fold(l.Text), l.Filter
	src := source[edge]{
		kind: "edges", indexes: []*index[edge]{s.edgeOrder.byTime}, compare: edgeByTime,
		key:   func(x *edge) (time.Time, string) { return x.CreatedAt, x.ID },
		probe: func(t time.Time, id string) *edge { return &edge{Edge: hypergraph.Edge{ID: id, CreatedAt: t}} },
		keep: func(x *edge) bool {
			return strings.Contains(x.text, text) && allowed(f.IDs, x.ID) &&
				(f.CreatedAfter.IsZero() || x.CreatedAt.After(f.CreatedAfter)) &&
				(f.CreatedBefore.IsZero() || x.CreatedAt.Before(f.CreatedBefore))
		},
	}
	if l.Order == model.OrderID {
		src.indexes, src.compare = []*index[edge]{s.edgeOrder.byID}, edgeByID
	}
	w, err := page(ctx, op, src, l)
	if err != nil {
		return hypergraph.EdgePage{}, err
	}
	p := hypergraph.EdgePage{Next: w.next, Prev: w.prev, Edges: make([]hypergraph.Edge, len(w.items)), Total: model.Count{N: int64(len(s.edges))}}
	for i, x := range w.items {
		p.Edges[i] = x.copyOut()
	}
	if text != "" || len(f.IDs) > 0 || !f.CreatedAfter.IsZero() || !f.CreatedBefore.IsZero() {
		items, more, err := src.take(ctx, op, nil, false, false, countLimit)
		if err != nil {
			return hypergraph.EdgePage{}, err
		}
		p.Total = model.Count{N: int64(len(items)), AtLeast: more}
	}
	return p, nil
}
