package backendtest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"memdesk/model"
)

var listCases = []Case{
	{"L01", Added, "every item stands in the list once, forwards and backwards, in every order", listOnce},
	{"L02", Added, "the last page is the list's end", listEnd},
	{"L03", Added, "totals and tier counts add up", listTotals},
	{"L04", Added, "an unknown tier, scope, order or cursor is an error", listUnknown},
	{"L05", Added, "reading what is not there is NotFound", readAbsent},
	{"L06", Added, "a stamp changes with its item and with nothing else", stamps},
	{"L07", Added, "a header tells what the item holds", headers},
	{"L08", Added, "a query narrows the list", listQuery},
	{"L09", Added, "a cursor belongs to its list", foreignCursor},
	{"L10", Added, "one pass over the texts gives what listing and reading gives", textsAsRead},
	{"L11", Added, "the page at a cursor skips and repeats nothing that stayed when others are forgotten", pageAfterForget},
}

// fill makes items in every tier and returns their ids and tiers.
func (e *Env) fill(t TB, s model.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, ts := range e.tiers(s) {
		n := 7
		if ts.KeyRule == model.KeyIgnored {
			n = 1
		}
		for i := range n {
			out[e.put(t, s, ts, i, fmt.Sprintf("%s %s %d", ts.Name, word, i)).ID] = ts.Name
		}
	}
	if len(out) == 0 {
		t.Skip("the store has no tier that Retain writes")
	}
	return out
}

func list(t TB, s model.Store, req model.PageRequest) model.Page {
	t.Helper()
	p, err := browser(t, s).List(t.Context(), req)
	if err != nil {
		t.Fatalf("list %+v: %v", req, err)
	}
	limit := model.PageLimit(req.Limit)
	if len(p.Items) > limit {
		t.Errorf("list %+v: %d items on a page of %d", req, len(p.Items), limit)
	}
	return p
}

func pageIDs(p model.Page) []string {
	out := []string{}
	for _, h := range p.Items {
		out = append(out, h.ID)
	}
	return out
}

// walk reads the whole list, from its end when back is set, in the list's order.
func walk(t TB, s model.Store, req model.PageRequest, back bool) []string {
	t.Helper()
	var out []string
	req.End = back
	for range 1000 {
		p := list(t, s, req)
		far, near := p.Next, p.Prev
		if back {
			out, far, near = append(pageIDs(p), out...), p.Prev, p.Next
		} else {
			out = append(out, pageIDs(p)...)
		}
		if first := len(out) == len(p.Items); first != (near == "") {
			t.Errorf("list %+v: the page reached first is %v, but the cursor to what lies before it is %q", req, first, near)
		}
		if far == "" {
			return out
		}
		if len(p.Items) == 0 {
			t.Fatalf("list %+v: an empty page that leads on", req)
		}
		req.End, req.Cursor = false, far
	}
	t.Fatalf("list %+v does not end", req)
	return nil
}

func sorted(in []string) []string { return slices.Sorted(slices.Values(in)) }

func same(t TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func listOnce(t TB, e *Env) {
	s := e.open(t)
	browser(t, s)
	made := e.fill(t, s)
	var want []string
	for id := range made {
		want = append(want, id)
	}
	slices.Sort(want)
	orders := append([]model.Order{""}, s.Orders...)
	for _, order := range orders {
		for _, limit := range []int{1, 3, 5, 0} {
			req := model.PageRequest{Order: order, Limit: limit, Hidden: true}
			got := walk(t, s, req, false)
			same(t, fmt.Sprintf("order %q by %d: every item once", order, limit), sorted(got), want)
			same(t, fmt.Sprintf("order %q by %d: backwards", order, limit), walk(t, s, req, true), got)
			if order == model.OrderID {
				same(t, "order id", got, want)
			}
		}
	}
	if len(s.Orders) > 0 {
		same(t, "the default order", walk(t, s, model.PageRequest{Hidden: true}, false), walk(t, s, model.PageRequest{Hidden: true, Order: s.Orders[0]}, false))
	}
	if slices.Contains(s.Orders, model.OrderNewest) && slices.Contains(s.Orders, model.OrderOldest) {
		newest := walk(t, s, model.PageRequest{Hidden: true, Order: model.OrderNewest}, false)
		slices.Reverse(newest)
		same(t, "oldest is newest reversed", walk(t, s, model.PageRequest{Hidden: true, Order: model.OrderOldest}, false), newest)
	}
	for _, ts := range e.tiers(s) {
		var in []string
		for id, tier := range made {
			if tier == ts.Name {
				in = append(in, id)
			}
		}
		req := model.PageRequest{Tier: ts.Name, Limit: 2, Hidden: true}
		got := walk(t, s, req, false)
		same(t, "tier "+ts.Name, sorted(got), sorted(in))
		same(t, "tier "+ts.Name+" backwards", walk(t, s, req, true), got)
	}
}

func listEnd(t TB, e *Env) {
	s := e.open(t)
	browser(t, s)
	if p := list(t, s, model.PageRequest{Hidden: true}); len(p.Items) != 0 || p.Next != "" || p.Prev != "" || p.Total.N != 0 {
		t.Errorf("the list of an empty store is %+v", p)
	}
	list(t, s, model.PageRequest{End: true})
	e.fill(t, s)
	all := walk(t, s, model.PageRequest{Hidden: true}, false)
	end := list(t, s, model.PageRequest{Hidden: true, End: true, Limit: 3})
	same(t, "the last page", pageIDs(end), all[max(0, len(all)-3):])
	if end.Next != "" {
		t.Errorf("the last page leads on")
	}
	if len(all) <= 3 {
		return
	}
	back := list(t, s, model.PageRequest{Hidden: true, Cursor: end.Prev, Limit: 3})
	forth := list(t, s, model.PageRequest{Hidden: true, Cursor: back.Next, Limit: 3})
	same(t, "back and forth", pageIDs(forth), pageIDs(end))
	_, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true, End: true, Cursor: end.Prev})
	wantKind(t, "the end and a cursor at once", err, model.InvalidInput)
}

func listTotals(t TB, e *Env) {
	s := e.open(t)
	b := browser(t, s)
	made := e.fill(t, s)
	p := list(t, s, model.PageRequest{Hidden: true, Limit: 2})
	switch n := int64(len(made)); {
	case p.Total.Unknown:
	case p.Total.AtLeast && p.Total.N > n, !p.Total.AtLeast && p.Total.N != n:
		t.Errorf("the total is %+v, want %d", p.Total, n)
	}
	want := map[string]model.TierCount{}
	for id, tier := range made {
		c := want[tier]
		c.Items++
		c.Bytes += int64(len(read(t, s, id).Body))
		want[tier] = c
	}
	counts, err := b.Tiers(t.Context())
	if err != nil {
		t.Fatalf("tiers: %v", err)
	}
	got := map[string]model.TierCount{}
	for _, c := range counts {
		sum := got[c.Tier]
		sum.Items += c.Items
		sum.Bytes += c.Bytes
		got[c.Tier] = sum
	}
	for _, ts := range s.Tiers {
		if g, w := got[ts.Name], want[ts.Name]; g.Items != w.Items || g.Bytes != w.Bytes {
			t.Errorf("tier %q counts %d items of %d bytes, want %d of %d", ts.Name, g.Items, g.Bytes, w.Items, w.Bytes)
		}
		p := list(t, s, model.PageRequest{Tier: ts.Name, Hidden: true, Limit: 1})
		if !p.Total.Unknown && !p.Total.AtLeast && p.Total.N != want[ts.Name].Items {
			t.Errorf("tier %q lists a total of %d, want %d", ts.Name, p.Total.N, want[ts.Name].Items)
		}
	}
}

func listUnknown(t TB, e *Env) {
	s := e.open(t)
	b := browser(t, s)
	e.fill(t, s)
	for _, req := range []model.PageRequest{
		{Tier: "no-such-tier"}, {Scope: "no-such-scope"}, {Order: "no-such-order"}, {Order: "NEWEST"},
		{Cursor: "no-such-cursor"}, {Cursor: "!"}, {Cursor: "e30"}, {Cursor: "bnVsbA"},
		{Cursor: "eyJsIjoiM2hoemJicmZuNjdxZiIsInQiOjAsImsiOiJPdmVuIDEifQ"}, {Cursor: "vKy4TpXGAIDQ6_70gPrqMXJlbGVhc2VzLm1k"}, // of earlier versions
		{Cursor: "3a22o5hubmcpi..eyJsIjoiM3FzMWZrbWNiZndsZiIsImkiOiJkZWNpc2lvbi0wMTUwIiwicyI6dHJ1ZX0"},
	} {
		_, err := b.List(t.Context(), req)
		wantKind(t, fmt.Sprintf("list %+v", req), err, model.InvalidInput)
	}
}

func readAbsent(t TB, e *Env) {
	s := e.open(t)
	b := browser(t, s)
	for _, ts := range e.tiers(s) {
		id := e.put(t, s, ts, 0, "text").ID
		e.drop(t, s, id)
		_, err := b.Read(t.Context(), id)
		wantKind(t, fmt.Sprintf("read %q", id), err, model.NotFound)
	}
	for _, id := range []string{"", "../../etc/passwd", "/etc/passwd", "a\x00b", "\xff"} {
		_, err := b.Read(t.Context(), id)
		wantKind(t, fmt.Sprintf("read %q", id), err, model.NotFound, model.InvalidInput, model.PermissionDenied)
	}
}

func stampOf(t TB, s model.Store, id string) string {
	t.Helper()
	for _, h := range everything(t, s) {
		if h.ID == id {
			return h.Stamp
		}
	}
	t.Fatalf("item %q is not listed", id)
	return ""
}

func stamps(t TB, e *Env) {
	s := e.open(t)
	browser(t, s)
	for _, ts := range e.tiers(s) {
		id := e.put(t, s, ts, 0, "one").ID
		first := stampOf(t, s, id)
		e.recall(t, s, e.query("one"))
		read(t, s, id)
		if again := stampOf(t, s, id); again != first || first == "" {
			t.Errorf("tier %q: looking moved the stamp from %q to %q", ts.Name, first, again)
		}
		e.put(t, s, ts, 0, "two") // of equal size and at the same time: the clock is no excuse
		second := stampOf(t, s, id)
		e.put(t, s, ts, 0, "three")
		if third := stampOf(t, s, id); first == second || second == third {
			t.Errorf("tier %q: three contents have the stamps %q, %q and %q", ts.Name, first, second, third)
		}
	}
}

func headers(t TB, e *Env) {
	s := e.open(t)
	browser(t, s)
	for _, ts := range e.tiers(s) {
		e.put(t, s, ts, 0, "A title é\n\nand a body\n")
	}
	for _, h := range everything(t, s) {
		it := read(t, s, h.ID)
		if h.Bytes != int64(len(it.Body)) || it.Bytes != h.Bytes {
			t.Errorf("item %q: the list says %d bytes, reading %d, the body has %d", h.ID, h.Bytes, it.Bytes, len(it.Body))
		}
		if h.Tier != it.Tier || h.Scope != it.Scope || h.ID != it.ID || h.Title != it.Title {
			t.Errorf("item %q: the list says %+v, reading %+v", h.ID, h, it.Header)
		}
		if _, declared := s.Tier(h.Tier); !declared {
			t.Errorf("item %q is of the undeclared tier %q", h.ID, h.Tier)
		}
		if h.Revision != "" && h.Revision != it.Revision {
			t.Errorf("item %q: the list says revision %q, reading %q", h.ID, h.Revision, it.Revision)
		}
		if it.Revision == "" {
			t.Errorf("item %q reads without a revision", h.ID)
		}
		if len(it.Links) > model.LinkLimit || it.LinksTotal < int64(len(it.Links)) {
			t.Errorf("item %q: %d links of %d", h.ID, len(it.Links), it.LinksTotal)
		}
	}
}

func listQuery(t TB, e *Env) {
	s := e.open(t)
	browser(t, s)
	ts := e.anyTier(t, s)
	yes := e.put(t, s, ts, 0, "the "+word+" text").ID
	if ts.KeyRule != model.KeyIgnored {
		e.put(t, s, ts, 1, "something else")
	}
	same(t, "list with a query", pageIDs(list(t, s, model.PageRequest{Query: word, Hidden: true})), []string{yes})
	same(t, "list with a query nobody answers", pageIDs(list(t, s, model.PageRequest{Query: "nobody-wrote-this", Hidden: true})), []string{})
}

func foreignCursor(t TB, e *Env) {
	s := e.open(t)
	b := browser(t, s)
	e.fill(t, s)
	p := list(t, s, model.PageRequest{Hidden: true, Limit: 1})
	if p.Next == "" {
		t.Skip("the list has one page only")
	}
	_, err := b.List(t.Context(), model.PageRequest{Hidden: true, Limit: 1, Cursor: p.Next, Query: "other"})
	wantKind(t, "a cursor of the list without a query", err, model.InvalidInput)
	if len(s.Orders) > 1 {
		_, err = b.List(t.Context(), model.PageRequest{Hidden: true, Limit: 1, Cursor: p.Next, Order: s.Orders[1]})
		wantKind(t, "a cursor of another order", err, model.InvalidInput)
	}
}

func pageAfterForget(t TB, e *Env) {
	for _, order := range append([]model.Order{""}, e.open(t).Orders...) {
		s := e.open(t)
		browser(t, s)
		ts := e.anyTier(t, s)
		if ts.KeyRule == model.KeyIgnored {
			t.Skip("no declared tier has keys")
		}
		for i := range 9 {
			e.put(t, s, ts, i, fmt.Sprint("text ", i))
		}
		req := model.PageRequest{Tier: ts.Name, Order: order, Limit: 2, Hidden: true}
		all := walk(t, s, req, false)
		at := func(r model.PageRequest, cursor string) model.Page {
			r.Cursor = cursor
			return list(t, s, r)
		}
		last := req
		last.End = true
		first, end := list(t, s, req), list(t, s, last)
		second := at(req, first.Next)
		n := len(all)
		for _, c := range []struct {
			gone   []int // by their numbers in the list
			cursor string
			want   []string
		}{
			{[]int{0}, first.Next, all[2:4]},     // above the border
			{[]int{1}, first.Next, all[2:4]},     // and at it
			{[]int{2, 4}, second.Next, all[5:7]}, // below it
			{[]int{n - 1}, end.Prev, all[n-4 : n-2]},
			{[]int{n - 2}, end.Prev, all[n-4 : n-2]},
		} {
			for _, i := range c.gone {
				e.drop(t, s, all[i])
			}
			same(t, fmt.Sprintf("order %q: the page at the cursor, without %d", order, c.gone), pageIDs(at(req, c.cursor)), c.want)
		}
	}
}

func textsAsRead(t TB, e *Env) {
	s := e.open(t)
	if s.Texts == nil {
		t.Skip("the store has no pass over its texts")
	}
	b := browser(t, s)
	e.fill(t, s)
	want := map[string]bool{}
	for _, id := range walk(t, s, model.PageRequest{Hidden: true}, false) {
		want[id] = true
	}
	if s.Names != nil {
		if _, err := s.Names.Names(t.Context(), func(id string) bool { want[id] = true; return true }); err != nil {
			t.Fatalf("names: %v", err)
		}
	}
	var mu sync.Mutex
	got := map[string]bool{}
	problems, err := s.Texts.EachText(t.Context(), func(text model.Text, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if got[text.ID] || !want[text.ID] {
			t.Errorf("%q comes twice, or is in no list", text.ID)
		}
		got[text.ID] = true
		it, rerr := b.Read(t.Context(), text.ID)
		if err != nil || rerr != nil {
			t.Errorf("%q: %v; read: %v", text.ID, err, rerr)
			return true
		}
		if text.Body != it.Body || text.Binary != it.Has(model.FlagBinary) || len(text.Meta)+len(it.Meta) > 0 && !reflect.DeepEqual(text.Meta, it.Meta) {
			t.Errorf("%q: the pass gives %+v, a read %+v", text.ID, text, it)
		}
		if text.Whole != nil {
			it.Links, it.LinksTotal = nil, 0
			if whole := text.Whole(); !reflect.DeepEqual(whole, it) {
				t.Errorf("%q: the whole item is %+v, a read gives %+v", text.ID, whole, it)
			}
		}
		return true
	})
	if err != nil || len(problems) > 0 {
		t.Errorf("texts: %q, %v", problems, err)
	}
	same(t, "texts", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	if _, err := s.Texts.EachText(t.Context(), func(model.Text, error) bool { return false }); err != nil {
		t.Errorf("a pass that its caller ends: %v", err)
	}
}
