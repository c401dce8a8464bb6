package notes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// listKey is what a list is filtered and ordered by.
type listKey struct {
	Tier, Scope, Query string
	Order              model.Order
	Hidden             bool
}

// listsKept bounds the lists that one snapshot keeps.
const listsKept = 8

// List returns one page. Sizes and times of the page are read anew.
func (s *store) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return model.Page{}, err
	}
	key := listKey{req.Tier, req.Scope, req.Query, req.Order, req.Hidden}
	if key.Order == "" {
		key.Order = model.OrderID
	}
	if err := s.checkList(key, req); err != nil {
		return model.Page{}, err
	}
	rows, bounded, err := s.rows(ctx, snap, key)
	if err != nil {
		return model.Page{}, err
	}
	from, to, err := snap.window(rows, key, req)
	if err != nil {
		return model.Page{}, err
	}
	page := model.Page{Total: model.Count{N: int64(len(rows)), AtLeast: bounded || len(snap.problems) > 0}, Problems: slices.Clone(snap.problems)}
	if page.Items, err = s.headers(ctx, snap, rows[from:to]); err != nil {
		return model.Page{}, err
	}
	page.Prev, page.Next = snap.neighbours(rows, key, from, to)
	return page, nil
}

func (s *store) checkList(key listKey, req model.PageRequest) error {
	if key.Tier != "" {
		if _, ok := s.tier(key.Tier); !ok {
			return model.Errorf(model.InvalidInput, "list", "unknown tier %q", key.Tier)
		}
	}
	if key.Scope != "" && (s.cfg.Memory == "" || key.Scope != scopeMemory && key.Scope != scopeOperator) {
		return model.Errorf(model.InvalidInput, "list", "unknown scope %q; scopes are as tiers lists them", key.Scope)
	}
	switch key.Order {
	case model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest:
	default:
		return model.Errorf(model.InvalidInput, "list", "unknown order %q: there are id, newest, oldest and largest", key.Order)
	}
	if req.End && req.Cursor != "" {
		return model.Errorf(model.InvalidInput, "list", "the last page and a cursor exclude each other")
	}
	return nil
}

// rows are the positions of the list's entries in its order; bounded tells that
// a file was too large to be searched.
func (s *store) rows(ctx context.Context, snap *snapshot, key listKey) (rows []int32, bounded bool, err error) {
	s.mu.Lock()
	rows, ok := snap.lists[key]
	s.mu.Unlock()
	if ok {
		return rows, false, nil
	}
	rows = []int32{}
	for i := range snap.entries {
		e := &snap.entries[i]
		if key.Tier != "" && e.tier != key.Tier || key.Scope != "" && s.scopeOf(e.id) != key.Scope ||
			e.hidden() && !key.Hidden {
			continue
		}
		rows = append(rows, int32(i))
	}
	if key.Query != "" {
		if rows, bounded, err = s.filter(ctx, snap, rows, key.Query); err != nil {
			return nil, false, err
		}
	}
	if key.Order != model.OrderID {
		slices.SortFunc(rows, func(a, b int32) int { return compare(key.Order, &snap.entries[a], &snap.entries[b]) })
	}
	if !bounded { // else the next page must say so again
		s.mu.Lock()
		if len(snap.lists) >= listsKept {
			clear(snap.lists)
		}
		snap.lists[key] = rows
		s.mu.Unlock()
	}
	return rows, bounded, nil
}

// filter keeps the entries whose id or text holds the query in any letter case.
func (s *store) filter(ctx context.Context, snap *snapshot, rows []int32, query string) (out []int32, bounded bool, err error) {
	want := strings.ToLower(query)
	root, err := s.open("list")
	if err != nil || root == nil {
		return []int32{}, false, err
	}
	defer root.Close()
	hits := make([]bool, len(rows))
	var skipped atomic.Bool
	err = inParallel(ctx, "list", root, len(rows), func(files *reader, n int) error {
		e := &snap.entries[rows[n]]
		if hits[n] = strings.Contains(strings.ToLower(e.id), want); hits[n] || e.meta.Kind != rootdir.File {
			return nil
		}
		dir, name, err := files.at(e.id)
		var data []byte
		if err == nil {
			data, _, err = dir.Read(name, readLimit)
		}
		switch {
		case errors.Is(err, model.Unavailable):
			return err
		case err != nil:
			if !errors.Is(err, model.NotFound) {
				skipped.Store(true)
			}
			return nil
		}
		hits[n] = strings.Contains(strings.ToLower(string(data)), want)
		return nil
	})
	out = []int32{}
	for n, hit := range hits {
		if hit {
			out = append(out, rows[n])
		}
	}
	return out, skipped.Load(), err
}

func compare(order model.Order, a, b *entry) int {
	c := 0
	switch order {
	case model.OrderNewest:
		c = b.meta.Modified.Compare(a.meta.Modified)
	case model.OrderOldest:
		c = a.meta.Modified.Compare(b.meta.Modified)
	case model.OrderLargest:
		c = cmp.Compare(b.meta.Size, a.meta.Size)
	}
	if c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}

// position is a cursor's content: the entry at the border of a page, by what the
// list is ordered by, so that it holds its place when entries come and go.
type position struct {
	List   []byte `json:"l"` // which list
	Before bool   `json:"b"`
	Value  int64  `json:"v"`
	ID     []byte `json:"i"` // bytes, for an id need not be UTF-8
}

func (k listKey) sum() []byte {
	data, _ := json.Marshal(k) // strings and a bool always encode
	sum := sha256.Sum256(data)
	return sum[:12]
}

// neighbours are the cursors beside a page. A page that has become empty at an
// end of the list still leads back.
func (snap *snapshot) neighbours(rows []int32, key listKey, from, to int) (prev, next string) {
	switch {
	case from == 0:
	case from < len(rows):
		prev = snap.cursor(key, rows[from], "", true)
	default:
		prev = snap.cursor(key, rows[from-1], "\x00", true) // just behind the last
	}
	switch {
	case to == len(rows):
	case to > 0:
		next = snap.cursor(key, rows[to-1], "", false)
	default:
		prev, next = "", snap.start(key, rows[0])
	}
	return prev, next
}

func (snap *snapshot) cursor(key listKey, row int32, suffix string, before bool) string {
	e := &snap.entries[row]
	return position{key.sum(), before, valueOf(key.Order, e), []byte(e.id + suffix)}.String()
}

// start is the cursor just before the first row.
func (snap *snapshot) start(key listKey, first int32) string {
	return position{key.sum(), false, valueOf(key.Order, &snap.entries[first]), nil}.String()
}

func valueOf(order model.Order, e *entry) int64 {
	if order == model.OrderLargest {
		return e.meta.Size
	}
	return e.meta.Modified.UnixNano()
}

// String is the opaque form of a position.
func (p position) String() string {
	data, _ := json.Marshal(p) // bytes, a number and a bool always encode
	return base64.RawURLEncoding.EncodeToString(data)
}

// window finds the page's rows: from is inclusive, to exclusive.
func (snap *snapshot) window(rows []int32, key listKey, req model.PageRequest) (from, to int, err error) {
	limit := model.PageLimit(req.Limit)
	switch {
	case req.End:
		return max(0, len(rows)-limit), len(rows), nil
	case req.Cursor == "":
		return 0, min(limit, len(rows)), nil
	}
	bad := model.Errorf(model.InvalidInput, "list", "the cursor is not this list's: take it from a page with the same filter and order")
	data, err := base64.RawURLEncoding.DecodeString(req.Cursor)
	if err != nil {
		return 0, 0, bad
	}
	var pos position
	if json.Unmarshal(data, &pos) != nil || !slices.Equal(pos.List, key.sum()) {
		return 0, 0, bad
	}
	at, exact := slices.BinarySearchFunc(rows, pos, func(row int32, pos position) int {
		return comparePosition(key.Order, &snap.entries[row], pos)
	})
	if pos.Before {
		return max(0, at-limit), at, nil
	}
	if exact {
		at++
	}
	return at, min(at+limit, len(rows)), nil
}

func comparePosition(order model.Order, e *entry, pos position) int {
	c := 0
	switch order {
	case model.OrderNewest:
		c = cmp.Compare(pos.Value, e.meta.Modified.UnixNano())
	case model.OrderOldest:
		c = cmp.Compare(e.meta.Modified.UnixNano(), pos.Value)
	case model.OrderLargest:
		c = cmp.Compare(pos.Value, e.meta.Size)
	}
	if c != 0 {
		return c
	}
	return strings.Compare(e.id, string(pos.ID))
}

// headers reads the page's files for titles, flags and current sizes. A file that
// cannot be read is listed as such; one that has just vanished as it was.
func (s *store) headers(ctx context.Context, snap *snapshot, rows []int32) ([]model.Header, error) {
	out := make([]model.Header, 0, len(rows))
	root, err := s.open("list")
	if err != nil || root == nil {
		return out, err
	}
	defer root.Close()
	for _, i := range rows {
		if err := model.FromContext(ctx, "list"); err != nil {
			return nil, err
		}
		e := &snap.entries[i]
		if e.meta.Kind != rootdir.File {
			out = append(out, s.header(e, facts{}, e.meta))
			continue
		}
		f, m, err := s.currentFacts(root, e.id)
		if err != nil {
			h := s.header(e, facts{}, e.meta)
			if !errors.Is(err, model.NotFound) {
				h.Flags = append(h.Flags, model.FlagUnreadable)
			}
			out = append(out, h)
			continue
		}
		now := *e
		now.head = f.head // as it is, wherever the walk put it
		out = append(out, s.header(&now, f, m))
	}
	return out, nil
}

// Tiers counts per scope and tier.
func (s *store) Tiers(ctx context.Context) ([]model.TierCount, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	type cell struct{ scope, tier string }
	counts := map[cell]*model.TierCount{}
	for i := range snap.entries {
		e := &snap.entries[i]
		at := cell{s.scopeOf(e.id), e.tier}
		c := counts[at]
		if c == nil {
			c = &model.TierCount{Scope: at.scope, ScopeTitle: s.scopeTitle(at.scope), Tier: e.tier}
			counts[at] = c
		}
		c.Items++
		c.Bytes += e.meta.Size
	}
	out := []model.TierCount{}
	for _, scope := range []string{"", scopeMemory, scopeOperator} {
		for _, t := range s.tiers {
			if c := counts[cell{scope, t.Name}]; c != nil {
				out = append(out, *c)
			}
		}
	}
	return out, nil
}
