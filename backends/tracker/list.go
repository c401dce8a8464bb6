package tracker

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/cursor"
	"memdesk/backends/internal/snippet"
	"memdesk/backends/internal/title"
	"memdesk/backends/internal/window"
	"memdesk/model"
)

// problemLimit is how many unreadable lines a page names one by one.
const problemLimit = 20

// List pages over the entries of a view. The ordered ids are kept for the next page of the same list.
func (a *adapter) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	if err := a.begin(ctx, "list", false); err != nil {
		return model.Page{}, err
	}
	return a.page(ctx, "list", req, "", nil)
}

// page is List over the entries for which keep is true; what names the filter, so that a cursor belongs to
// one list.
func (a *adapter) page(ctx context.Context, op string, req model.PageRequest, what string, keep func(View, int) bool) (model.Page, error) {
	if req.Scope != "" {
		return model.Page{}, model.Errorf(model.InvalidInput, op, "unknown scope %q: this store has one scope only", req.Scope)
	}
	req.Order = cmp.Or(req.Order, OrderStore)
	if !slices.Contains(orders(), req.Order) {
		return model.Page{}, model.Errorf(model.InvalidInput, op, "unknown order %q: there are store, newest, oldest, id and largest", string(req.Order))
	}
	if plainStart(req) && keep == nil {
		if p, ok, err := a.firstPage(ctx, op, req, what); ok || err != nil {
			return p, err
		}
	}
	v, err := a.view(ctx, op)
	if err != nil {
		return model.Page{}, err
	}
	if req.Tier != "" {
		if err := a.checkTier(op, req.Tier, v); err != nil {
			return model.Page{}, err
		}
	}
	key := keyOf(req, what)
	sel, err := a.selected(ctx, op, v, req, key, keep)
	if err != nil {
		return model.Page{}, err
	}
	p, err := a.window(v, sel, req, key)
	if keep == nil && (p.Prev == "" || key.startedEarly(req.Cursor)) {
		p.Problems = problems(v, req.Hidden)
	}
	return p, model.Wrap(op, err)
}

// plainStart reports whether a request is for the first entries in the store's order.
func plainStart(req model.PageRequest) bool {
	return req.Cursor == "" && !req.End && req.Tier == "" && strings.TrimSpace(req.Query) == "" && req.Order == OrderStore
}

// firstPage shows the first entries of a backend that can return them before it has read the others; ok is
// false for any other. Its total is a lower bound, and the next page names the problems of the whole.
func (a *adapter) firstPage(ctx context.Context, op string, req model.PageRequest, what string) (p model.Page, ok bool, err error) {
	b, can := a.Backend.(Beginner)
	if !can {
		return model.Page{}, false, nil
	}
	limit := model.PageLimit(req.Limit)
	for n := limit + 1; ; n *= 2 { // hidden entries do not fill a page
		v, whole, err := b.Beginning(ctx, n)
		if err != nil || whole {
			return model.Page{}, false, model.Wrap(op, err)
		}
		var sel []int32
		for i := range v.Len() {
			if req.Hidden || !a.hidden(v.Tier(i)) {
				sel = append(sel, int32(i))
			}
		}
		if len(sel) <= limit {
			continue
		}
		key := keyOf(req, what)
		p, err := a.window(v, sel, req, key)
		if err != nil {
			return model.Page{}, false, model.Wrap(op, err)
		}
		next := cursor.Between(v.ID(int(sel[limit-1])), v.ID(int(sel[limit])), false)
		next.Mark = true
		p.Next = cursor.ListOf(key).Encode(next)
		p.Total = model.Count{N: int64(len(sel)), AtLeast: true}
		p.Problems = problems(v, req.Hidden)
		return p, true, nil
	}
}

// problems names the lines that a list leaves out. With hidden entries shown, lines that are no items are in
// the list themselves.
func problems(v View, hidden bool) []string {
	all := v.Problems(!hidden)
	if more := len(all) - problemLimit; more > 0 {
		return append(slices.Clone(all[:problemLimit]), "and "+strconv.Itoa(more)+" more places")
	}
	return all
}

// selected is a list as places in a view.
type selected struct {
	view   View
	key    listKey
	places []int32
}

// selected filters and sorts, or reuses the last page's list.
func (a *adapter) selected(ctx context.Context, op string, v View, req model.PageRequest, key listKey, keep func(View, int) bool) ([]int32, error) {
	a.mu.Lock()
	last := a.last
	a.mu.Unlock()
	if last.view == v && last.key == key {
		return last.places, nil
	}
	query := snippet.Fold(strings.TrimSpace(req.Query))
	out := make([]int32, 0, v.Len())
	for i := range v.Len() {
		if i%1024 == 0 {
			if err := model.FromContext(ctx, op); err != nil {
				return nil, err
			}
		}
		tier := v.Tier(i)
		switch {
		case req.Tier != "" && tier != req.Tier, req.Tier == "" && !req.Hidden && a.hidden(tier):
			continue
		case keep != nil && !keep(v, i), query != "" && !found(v, i, query):
			continue
		}
		out = append(out, int32(i))
	}
	sortPlaces(v, out, req.Order)
	a.mu.Lock()
	a.last = selected{view: v, key: key, places: out}
	a.mu.Unlock()
	return out, nil
}

// found is the published search: a substring of id, title or description, ignoring case (B16).
func found(v View, i int, folded string) bool {
	if strings.Contains(snippet.Fold(v.ID(i)), folded) {
		return true
	}
	name, body := v.Texts(i)
	return strings.Contains(snippet.Fold(name), folded) || strings.Contains(snippet.Fold(body), folded)
}

// sortPlaces makes the order total: equal entries are ordered by place.
func sortPlaces(v View, places []int32, order model.Order) {
	switch order {
	case model.OrderID:
		slices.SortFunc(places, func(x, y int32) int { return strings.Compare(v.ID(int(x)), v.ID(int(y))) })
	case model.OrderNewest:
		byKey(places, func(i int32) int64 { return -instant(v, i) }, -1)
	case model.OrderOldest:
		byKey(places, func(i int32) int64 { return instant(v, i) }, 1)
	case model.OrderLargest:
		byKey(places, func(i int32) int64 { return -v.Head(int(i)).Bytes }, 1)
	}
}

func instant(v View, i int32) int64 {
	at := v.Updated(int(i))
	if at.IsZero() {
		return -math.MaxInt64 // unknown age: older than everything
	}
	return at.UnixMicro() // nanoseconds wrap round before 1678 and after 2261
}

// byKey sorts by a number that is computed once per entry; ties go by place.
func byKey(places []int32, key func(int32) int64, ties int) {
	type keyed struct {
		key   int64
		place int32
	}
	all := make([]keyed, len(places))
	for n, i := range places {
		all[n] = keyed{key(i), i}
	}
	slices.SortFunc(all, func(x, y keyed) int {
		return cmp.Or(cmp.Compare(x.key, y.key), ties*cmp.Compare(x.place, y.place))
	})
	for n := range all {
		places[n] = all[n].place
	}
}

// listKey tells lists apart by what they were asked for; what names the filter.
type listKey struct {
	tier, query string
	order       model.Order
	hidden      bool
	what        string
}

func keyOf(req model.PageRequest, what string) listKey {
	return listKey{req.Tier, req.Query, req.Order, req.Hidden, what}
}

// startedEarly reports whether a cursor comes from a page that was shown before everything was read.
func (k listKey) startedEarly(text string) bool {
	p, err := cursor.ListOf(k).Decode("list", text)
	return err == nil && p.Mark
}

// window cuts one page.
func (a *adapter) window(v View, sel []int32, req model.PageRequest, key listKey) (model.Page, error) {
	list := window.List{Cursors: cursor.ListOf(key), Len: len(sel), At: func(i int) (int64, string) { return 0, v.ID(int(sel[i])) }}
	list.Index = func(id string) int {
		if i := v.Find(id); i >= 0 {
			return slices.Index(sel, int32(i))
		}
		return -1
	}
	p, from, to, err := list.Cut(req)
	if err != nil {
		return p, err
	}
	p.Items, p.Total = make([]model.Header, 0, to-from), model.Count{N: int64(len(sel))}
	for _, i := range sel[from:to] {
		p.Items = append(p.Items, a.header(v, int(i)))
	}
	return p, nil
}

func (a *adapter) header(v View, i int) model.Header {
	h := v.Head(i)
	name, body := v.Texts(i)
	return a.headerOf(h, name, body)
}

func (a *adapter) headerOf(h Head, name, body string) model.Header {
	out := model.Header{ID: h.ID, Tier: h.Tier, Title: title.Line(h.Title), Bytes: h.Bytes, Modified: h.Modified, Stamp: h.Stamp}
	if h.Archived {
		out.Flags = append(out.Flags, model.FlagArchived)
	}
	switch {
	case h.Kind == Line && h.Problem == "":
		out.Flags = append(out.Flags, model.FlagBookkeeping, model.FlagReadOnly)
	case h.Kind == Line:
		out.Flags = append(out.Flags, model.FlagUnreadable)
	}
	if !utf8.ValidString(name) || !utf8.ValidString(body) {
		out.Flags = append(out.Flags, model.FlagBinary)
	}
	if a.rejects(name, body) {
		out.Flags = append(out.Flags, model.FlagBlocked)
	}
	return out
}

// rejects reports whether agents must not see the entry.
func (a *adapter) rejects(name, body string) bool {
	return a.scanner.Rejects(body) || name != "" && a.scanner.Rejects(name)
}
