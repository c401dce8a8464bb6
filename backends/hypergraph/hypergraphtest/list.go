package hypergraphtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

var listCases = []Case{
	{"H6", Contract, "filters are conjunctive and an empty list is no constraint", nodeFilters},
	{"H6", Added, "years far from today keep their order and pass their filters", farYears},
	{"H6", Added, "the order is an allow-list", orderAllowList},
	{"H6", Added, "keyset pages hold every node once, in both directions, in every order", nodePages},
	{"H6", Added, "keyset pages hold every edge once, in both directions", edgePages},
	{"H6", Added, "a page after a deletion skips and repeats nothing", pagesUnderChange},
	{"H6", Added, "a cursor of another list or of nobody is InvalidInput", foreignCursor},
	{"H6", Added, "totals count the whole list under its filter", totals},
	{"H6", Added, "a text filter takes wildcards literally", textFilter},
	{"H1", Added, "streaming gives every kept node once by id and stops when told", allNodes},
}

func listAll(t *testing.T, b hypergraph.Backend, f hypergraph.NodeFilter) []string {
	t.Helper()
	p, err := b.ListNodes(t.Context(), hypergraph.Listing{Filter: f, Order: model.OrderID, Limit: 100})
	if err != nil {
		t.Fatalf("list %+v: %v", f, err)
	}
	if p.Total.Unknown || p.Total.N != int64(len(p.Nodes)) {
		t.Errorf("list %+v: total %+v with %d nodes on the only page", f, p.Total, len(p.Nodes))
	}
	return ids(p.Nodes)
}

func nodeFilters(t *testing.T, b hypergraph.Backend) {
	mk := func(id, kind, subtype, tier string, confidence float64) hypergraph.Node {
		return hypergraph.Node{ID: id, Type: kind, Subtype: subtype, Tier: tier, Content: "x", Confidence: confidence}
	}
	create(t, b,
		mk("a", "fact", "", "task", 0.1),
		mk("b", "fact", "s", "session", 0.5),
		mk("c", "entity", "s", "session", 0.9),
		mk("d", "entity", "budget_session", "archive", 1),
	)
	first, last := get(t, b, "a").CreatedAt, get(t, b, "d").CreatedAt
	type F = hypergraph.NodeFilter
	for _, c := range []struct {
		f    F
		want []string
	}{
		{F{}, []string{"a", "b", "c", "d"}},
		{F{IDs: []string{}, Types: []string{}}, []string{"a", "b", "c", "d"}},
		{F{IDs: []string{"d", "a", "no-such"}}, []string{"a", "d"}},
		{F{Types: []string{"fact"}}, []string{"a", "b"}},
		{F{Types: []string{"fact", "entity"}}, []string{"a", "b", "c", "d"}},
		{F{Tiers: []string{"session", "archive"}}, []string{"b", "c", "d"}},
		{F{Tiers: []string{"longterm"}}, []string{}},
		{F{Subtypes: []string{"s"}}, []string{"b", "c"}},
		{F{NotSubtypes: []string{"budget_session"}}, []string{"a", "b", "c"}},
		{F{NotSubtypes: []string{"s", "budget_session"}}, []string{"a"}},
		{F{MinConfidence: 0.5}, []string{"b", "c", "d"}},
		{F{Types: []string{"entity"}, Tiers: []string{"session"}, MinConfidence: 0.9}, []string{"c"}},
		{F{Types: []string{"entity"}, Subtypes: []string{"x"}}, []string{}},
		{F{CreatedAfter: first.Add(-time.Hour), CreatedBefore: last.Add(time.Hour)}, []string{"a", "b", "c", "d"}},
		{F{CreatedAfter: last.Add(time.Hour)}, []string{}},
		{F{CreatedBefore: first.Add(-time.Hour)}, []string{}},
	} {
		same(t, fmt.Sprintf("filter %+v", c.f), listAll(t, b, c.f), c.want)
	}
}

func orderAllowList(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("a", "x"))
	for _, o := range []model.Order{"content", "id; DROP TABLE nodes", "NEWEST", "id desc"} {
		_, err := b.ListNodes(t.Context(), hypergraph.Listing{Order: o, Limit: 1})
		wantKind(t, fmt.Sprintf("nodes by %q", o), err, model.InvalidInput)
		_, err = b.ListEdges(t.Context(), hypergraph.Listing{Order: o, Limit: 1})
		wantKind(t, fmt.Sprintf("edges by %q", o), err, model.InvalidInput)
	}
	get(t, b, "a")
}

// view is a page of nodes or edges as ids.
type view struct {
	ids        []string
	next, prev string
	total      model.Count
}

type lister func(hypergraph.Listing) (view, error)

func nodeLister(t *testing.T, b hypergraph.Backend) lister {
	return func(l hypergraph.Listing) (view, error) {
		p, err := b.ListNodes(t.Context(), l)
		return view{ids(p.Nodes), p.Next, p.Prev, p.Total}, err
	}
}

func edgeLister(t *testing.T, b hypergraph.Backend) lister {
	return func(l hypergraph.Listing) (view, error) {
		p, err := b.ListEdges(t.Context(), l)
		v := view{nil, p.Next, p.Prev, p.Total}
		for _, e := range p.Edges {
			v.ids = append(v.ids, e.ID)
		}
		return v, err
	}
}

// forward walks from the start and checks that every page's Prev leads back to the page before.
func forward(t *testing.T, list lister, l hypergraph.Listing, total int) []string {
	t.Helper()
	var all []string
	var before []string
	for range total + 2 {
		p, err := list(l)
		if err != nil {
			t.Fatalf("page: %v", err)
		}
		if p.total.N != int64(total) || p.total.Unknown {
			t.Errorf("total is %+v, want %d", p.total, total)
		}
		if (p.prev == "") != (len(all) == 0) {
			t.Errorf("the page after %d items has prev %q", len(all), p.prev)
		}
		if p.prev != "" {
			back := l
			back.Cursor = p.prev
			if q, err := list(back); err != nil {
				t.Fatalf("page back: %v", err)
			} else {
				same(t, "the page before", q.ids, before)
			}
		}
		all, before = append(all, p.ids...), p.ids
		if p.next == "" {
			return all
		}
		if len(p.ids) != l.Limit {
			t.Errorf("a page that is not the last has %d of %d items", len(p.ids), l.Limit)
		}
		l.Cursor = p.next
	}
	t.Fatalf("the list does not end: %d items seen of %d", len(all), total)
	return nil
}

func backward(t *testing.T, list lister, l hypergraph.Listing, total int) []string {
	t.Helper()
	var all []string
	l.End = true
	for range total + 2 {
		p, err := list(l)
		if err != nil {
			t.Fatalf("page: %v", err)
		}
		if (p.next == "") != (len(all) == 0) {
			t.Errorf("the page before the last %d items has next %q", len(all), p.next)
		}
		all = append(slices.Clone(p.ids), all...)
		if p.prev == "" {
			return all
		}
		l.End, l.Cursor = false, p.prev
	}
	t.Fatalf("the list does not end backwards: %d items seen of %d", len(all), total)
	return nil
}

func nodePages(t *testing.T, b hypergraph.Backend) {
	var made []string
	for i := range 25 {
		n := node(fmt.Sprintf("n%02d", (i*7)%25), "x")
		n.Tier = hypergraph.Recurse().Tiers[i%4]
		create(t, b, n)
		made = append(made, n.ID)
	}
	for _, f := range []hypergraph.NodeFilter{{}, {Tiers: []string{"session", "task"}}, {Tiers: []string{"archive"}}} {
		checkPages(t, nodeLister(t, b), f, listAll(t, b, f))
	}
	p, err := b.ListNodes(t.Context(), hypergraph.Listing{Order: model.OrderNewest, Limit: 100})
	if err != nil || !slices.IsSortedFunc(p.Nodes, func(x, y hypergraph.Node) int { return y.CreatedAt.Compare(x.CreatedAt) }) {
		t.Errorf("newest first is not: %q, %v", ids(p.Nodes), err)
	}
	same(t, "everything", sorted(ids(p.Nodes)), sorted(made))
}

// checkPages walks the list in every order, with page sizes that do and do not divide its length.
func checkPages(t *testing.T, list lister, f hypergraph.NodeFilter, byID []string) {
	t.Helper()
	var newest []string
	for _, order := range []model.Order{model.OrderNewest, model.OrderOldest, model.OrderID} {
		for _, limit := range []int{1, 5, 7, len(byID), len(byID) + 1} {
			l := hypergraph.Listing{Filter: f, Order: order, Limit: limit}
			what := fmt.Sprintf("%s by %d", order, limit)
			got := forward(t, list, l, len(byID))
			same(t, what+": every item once", sorted(got), byID)
			same(t, what+": backwards is the same list", backward(t, list, l, len(byID)), got)
			switch order {
			case model.OrderNewest:
				newest = got
			case model.OrderOldest:
				reversed := slices.Clone(newest)
				slices.Reverse(reversed)
				same(t, what+": oldest is newest reversed", got, reversed)
			case model.OrderID:
				same(t, what, got, byID)
			}
		}
	}
}

func edgePages(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("a", "x"), node("b", "x"))
	var want []string
	for i := range 12 {
		id := fmt.Sprintf("e%02d", (i*5)%12)
		tie(t, b, id, "relation", "a", "b")
		want = append(want, id)
	}
	checkPages(t, edgeLister(t, b), hypergraph.NodeFilter{}, sorted(want))
	p, err := b.ListEdges(t.Context(), hypergraph.Listing{Order: model.OrderID, Limit: 2})
	if err != nil || len(p.Edges) != 2 || len(p.Edges[0].Members) != 2 {
		t.Errorf("listed edges come without members: %+v, %v", p.Edges, err)
	}
}

func pagesUnderChange(t *testing.T, b hypergraph.Backend) {
	for i := range 9 {
		create(t, b, node(fmt.Sprint("n", i), "x"))
	}
	l := hypergraph.Listing{Order: model.OrderID, Limit: 3}
	p, err := b.ListNodes(t.Context(), l)
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	for _, id := range []string{"n2", "n3"} { // the border itself, and the next id
		if err := b.DeleteNode(t.Context(), id); err != nil {
			t.Fatalf("delete: %v", err)
		}
	}
	l.Cursor = p.Next
	p, err = b.ListNodes(t.Context(), l)
	if err != nil {
		t.Fatalf("next page: %v", err)
	}
	same(t, "the page after the deleted border", ids(p.Nodes), []string{"n4", "n5", "n6"})
	l.Cursor = p.Prev
	p, err = b.ListNodes(t.Context(), l)
	if err != nil {
		t.Fatalf("page before: %v", err)
	}
	same(t, "and back", ids(p.Nodes), []string{"n0", "n1"})
}

func foreignCursor(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("a", "x"), node("b", "x"), node("c", "x"))
	p, err := b.ListNodes(t.Context(), hypergraph.Listing{Order: model.OrderNewest, Limit: 1})
	if err != nil || p.Next == "" {
		t.Fatalf("list: %+v, %v", p, err)
	}
	_, err = b.ListNodes(t.Context(), hypergraph.Listing{Order: model.OrderID, Limit: 1, Cursor: p.Next})
	wantKind(t, "a cursor of another order", err, model.InvalidInput)
	_, err = b.ListNodes(t.Context(), hypergraph.Listing{Order: model.OrderNewest, Text: "x", Limit: 1, Cursor: p.Next})
	wantKind(t, "a cursor of another filter", err, model.InvalidInput)
	_, err = b.ListEdges(t.Context(), hypergraph.Listing{Order: model.OrderNewest, Limit: 1, Cursor: p.Next})
	wantKind(t, "a cursor of the nodes", err, model.InvalidInput)
	for _, c := range []string{"x", "!!", "e30", "' OR 1=1 --"} {
		_, err = b.ListNodes(t.Context(), hypergraph.Listing{Order: model.OrderNewest, Limit: 1, Cursor: c})
		wantKind(t, fmt.Sprintf("nodes at %q", c), err, model.InvalidInput)
		_, err = b.ListEdges(t.Context(), hypergraph.Listing{Order: model.OrderNewest, Limit: 1, Cursor: c})
		wantKind(t, fmt.Sprintf("edges at %q", c), err, model.InvalidInput)
	}
}

func totals(t *testing.T, b hypergraph.Backend) {
	for i := range 30 {
		n := node(fmt.Sprint("n", i), fmt.Sprint("text ", i%3))
		if i%2 == 0 {
			n.Tier = "session"
		}
		create(t, b, n)
	}
	for _, c := range []struct {
		f    hypergraph.NodeFilter
		text string
		want int64
	}{
		{hypergraph.NodeFilter{}, "", 30},
		{hypergraph.NodeFilter{Tiers: []string{"session"}}, "", 15},
		{hypergraph.NodeFilter{Tiers: []string{"session"}}, "text 0", 5},
		{hypergraph.NodeFilter{MinConfidence: 0.5}, "text", 30},
		{hypergraph.NodeFilter{}, "no such text", 0},
	} {
		p, err := b.ListNodes(t.Context(), hypergraph.Listing{Filter: c.f, Text: c.text, Order: model.OrderNewest, Limit: 2})
		if err != nil || p.Total != (model.Count{N: c.want}) {
			t.Errorf("%+v %q: total %+v, %v; want %d", c.f, c.text, p.Total, err, c.want)
		}
	}
}

func textFilter(t *testing.T, b hypergraph.Backend) {
	meta := node("meta", "nothing here")
	meta.Metadata = `{"tag":"Zebra"}`
	create(t, b, node("pct", "it is 100%_done now"), node("plain", "it is 100 and done"), node("abc", "abc"), node("a_c", "a_c"), meta)
	for text, want := range map[string][]string{
		"100%_done": {"pct"},
		"a_c":       {"a_c"},
		"ZEBRA":     {"meta"},
		"IT IS 100": {"pct", "plain"},
		"pct":       {"pct"},
	} {
		p, err := b.ListNodes(t.Context(), hypergraph.Listing{Text: text, Order: model.OrderID, Limit: 10})
		if err != nil {
			t.Fatalf("list %q: %v", text, err)
		}
		same(t, fmt.Sprintf("text %q", text), ids(p.Nodes), want)
	}
}

func allNodes(t *testing.T, b hypergraph.Backend) {
	var want []string
	for i := range 30 {
		n := node(fmt.Sprintf("n%02d", (i*11)%30), "x")
		if i%2 == 0 {
			n.Tier = "archive"
		}
		create(t, b, n)
		want = append(want, n.ID)
	}
	collect := func(o hypergraph.Ops, f hypergraph.NodeFilter, most int) []string {
		var got []string
		for n, err := range o.AllNodes(t.Context(), f) {
			if err != nil {
				t.Fatalf("all nodes: %v", err)
			}
			if got = append(got, n.ID); len(got) == most {
				break
			}
		}
		return got
	}
	same(t, "all", collect(b, hypergraph.NodeFilter{}, 100), sorted(want))
	for _, f := range []hypergraph.NodeFilter{{}, {Tiers: []string{"archive"}}} {
		var got []string
		for id, err := range b.NodeIDs(t.Context(), f) {
			if err != nil {
				t.Fatalf("ids: %v", err)
			}
			got = append(got, id)
		}
		same(t, "ids", got, collect(b, f, 100))
	}
	var streamed []string
	for n, err := range b.StreamNodes(t.Context()) {
		if err != nil || n.Content != "x" {
			t.Fatalf("stream: %+v, %v", n, err)
		}
		streamed = append(streamed, n.ID)
	}
	same(t, "streamed", sorted(streamed), sorted(want))
	same(t, "stopped", collect(b, hypergraph.NodeFilter{}, 3), sorted(want)[:3])
	if got := collect(b, hypergraph.NodeFilter{Tiers: []string{"archive"}}, 100); len(got) != 15 {
		t.Errorf("archive holds %d of 15", len(got))
	}
	err := b.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		same(t, "inside a transaction", collect(tx, hypergraph.NodeFilter{}, 100), sorted(want))
		return nil
	})
	if err != nil {
		t.Errorf("transaction: %v", err)
	}
	for _, err := range b.AllNodes(cancelled(t), hypergraph.NodeFilter{}) {
		wantKind(t, "with an ended context", err, model.Timeout)
		return
	}
	t.Errorf("with an ended context the stream is empty and without error")
}

// farYears are beyond the nanoseconds that a 64-bit number counts from 1970.
func farYears(t *testing.T, b hypergraph.Backend) {
	for id, year := range map[string]int{"old": 1500, "mid": 2026, "far": 9999} {
		at := time.Date(year, 5, 21, 8, 0, 0, 0, time.UTC)
		create(t, b, hypergraph.Node{ID: id, Type: "fact", Tier: "task", Content: "x", Confidence: 1, CreatedAt: at, UpdatedAt: at, LastAccessed: at})
	}
	for _, c := range []struct {
		f    hypergraph.NodeFilter
		want []string
	}{
		{hypergraph.NodeFilter{}, []string{"far", "mid", "old"}},
		{hypergraph.NodeFilter{CreatedAfter: time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{"far", "mid"}},
		{hypergraph.NodeFilter{CreatedBefore: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{"mid", "old"}},
	} {
		p, err := b.ListNodes(t.Context(), hypergraph.Listing{Filter: c.f, Order: model.OrderNewest, Limit: 100})
		if err != nil || !slices.Equal(ids(p.Nodes), c.want) {
			t.Errorf("%+v: %v, %v, want %v", c.f, ids(p.Nodes), err, c.want)
		}
	}
}
