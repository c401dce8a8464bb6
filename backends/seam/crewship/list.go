package crewship

import (
	"context"
	"errors"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// listsKept bounds the lists that one snapshot keeps.
const listsKept = 8

// List returns one page. Sizes and times of the page are read anew.
func (s *store) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return model.Page{}, err
	}
	key, err := paging.KeyOf(req)
	if err != nil {
		return model.Page{}, err
	}
	if err := s.checkList(snap, key); err != nil {
		return model.Page{}, err
	}
	rows, bounded, err := s.rows(ctx, snap, key)
	if err != nil {
		return model.Page{}, err
	}
	list := snap.list(rows, key)
	from, to, err := list.Window(req)
	if err != nil {
		return model.Page{}, err
	}
	page := model.Page{Total: model.Count{N: int64(len(rows)), AtLeast: bounded || len(snap.problems) > 0}, Problems: slices.Clone(snap.problems)}
	if page.Items, err = s.headers(ctx, snap, rows[from:to]); err != nil {
		return model.Page{}, err
	}
	page.Prev, page.Next = list.Cursors(from, to)
	return page, nil
}

func (s *store) checkList(snap *snapshot, key paging.Key) error {
	if key.Tier != "" {
		if _, ok := s.tier(key.Tier); !ok {
			return model.Errorf(model.InvalidInput, "list", "unknown tier %q", key.Tier)
		}
	}
	if key.Scope != "" && !slices.ContainsFunc(snap.places, func(p *place) bool { return p.scope() == key.Scope }) {
		return model.Errorf(model.InvalidInput, "list", "unknown scope %q; scopes are as tiers lists them", key.Scope)
	}
	return nil
}

// rows are the positions of the list's entries in its order; bounded tells that
// a file was too large to be searched.
func (s *store) rows(ctx context.Context, snap *snapshot, key paging.Key) (rows []int32, bounded bool, err error) {
	s.mu.Lock()
	rows, ok := snap.lists[key]
	s.mu.Unlock()
	if ok {
		return rows, false, nil
	}
	rows = []int32{}
	for i := range snap.entries {
		e := &snap.entries[i]
		if key.Tier != "" && e.tier != key.Tier || key.Scope != "" && e.place.scope() != key.Scope ||
			e.hidden() && !key.Hidden && key.Tier != e.tier {
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
		slices.SortFunc(rows, func(a, b int32) int { return key.Compare(snap.entries[a].row(), snap.entries[b].row()) })
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
	r := reader{s: s}
	defer r.close()
	out = []int32{}
	for _, i := range rows {
		e := &snap.entries[i]
		if err := model.FromContext(ctx, "list"); err != nil {
			return nil, false, err
		}
		hit := strings.Contains(strings.ToLower(e.id), want)
		if !hit && e.meta.Kind == rootdir.File {
			text, f, _, err := r.content(e)
			if err != nil && !errors.Is(err, model.NotFound) && !errors.Is(err, model.PermissionDenied) {
				return nil, false, err
			}
			bounded = bounded || err != nil || f.tooBig
			hit = strings.Contains(strings.ToLower(text), want)
		}
		if hit {
			out = append(out, i)
		}
	}
	return out, bounded, nil
}

func (e *entry) row() paging.Row {
	return paging.Row{ID: e.id, Modified: e.meta.Modified, Size: e.meta.Size}
}

func (snap *snapshot) list(rows []int32, key paging.Key) paging.List {
	return paging.List{Key: key, Len: len(rows), At: func(i int) paging.Row { return snap.entries[rows[i]].row() }}
}

// headers reads the page's files for titles, flags and current sizes. A file that
// cannot be read is listed as such; one that has just vanished as it was.
func (s *store) headers(ctx context.Context, snap *snapshot, rows []int32) ([]model.Header, error) {
	out := make([]model.Header, 0, len(rows))
	r := reader{s: s}
	defer r.close()
	for _, i := range rows {
		if err := model.FromContext(ctx, "list"); err != nil {
			return nil, err
		}
		e := &snap.entries[i]
		if e.meta.Kind != rootdir.File {
			out = append(out, s.header(e, facts{}, e.meta))
			continue
		}
		f, m, err := r.facts(e)
		if err != nil {
			h := s.header(e, facts{}, e.meta)
			if !errors.Is(err, model.NotFound) {
				h.Flags = append(h.Flags, model.FlagUnreadable)
			}
			out = append(out, h)
			continue
		}
		out = append(out, s.header(e, f, m))
	}
	return out, nil
}

// Tiers counts per place and tier.
func (s *store) Tiers(ctx context.Context) ([]model.TierCount, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	type cell struct {
		p    *place
		tier string
	}
	counts := map[cell]*model.TierCount{}
	for i := range snap.entries {
		e := &snap.entries[i]
		c := counts[cell{e.place, e.tier}]
		if c == nil {
			c = &model.TierCount{Scope: e.place.scope(), ScopeTitle: snap.names.scopeTitle(e.place), Tier: e.tier}
			counts[cell{e.place, e.tier}] = c
		}
		c.Items++
		c.Bytes += e.meta.Size
	}
	out := []model.TierCount{}
	for _, p := range snap.places {
		for _, t := range s.tiers {
			if c := counts[cell{p, t.Name}]; c != nil {
				out = append(out, *c)
			}
		}
	}
	return out, nil
}

// reader reads files of a walk and keeps the directory of the last place open.
type reader struct {
	s   *store
	at  *place
	dir *rootdir.Dir
}

func (r *reader) close() {
	if r.dir != nil {
		_ = r.dir.Close()
		r.dir = nil
	}
}

func (r *reader) open(p *place) error {
	if r.dir != nil && r.at == p {
		return nil
	}
	r.close()
	dir, err := r.s.open(p)
	if err != nil {
		return err
	}
	r.dir, r.at = dir, p
	return nil
}

func (r *reader) content(e *entry) (string, facts, rootdir.Meta, error) {
	if err := r.open(e.place); err != nil {
		return "", facts{}, rootdir.Meta{}, err
	}
	return r.s.content(r.dir, e)
}

// facts reads the file only when it is not known as it is now.
func (r *reader) facts(e *entry) (facts, rootdir.Meta, error) {
	if err := r.open(e.place); err != nil {
		return facts{}, rootdir.Meta{}, err
	}
	m, err := r.dir.Stat(e.label)
	if err != nil {
		return facts{}, m, err
	}
	if f, ok := r.s.keptFacts(e.id); ok && f.stamp == m.Stamp() {
		return f, m, nil
	}
	_, f, m, err := r.s.content(r.dir, e)
	return f, m, err
}
