package crewship

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// List returns one page. Sizes and times of the page are read anew.
func (s *store) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return model.Page{}, err
	}
	return snap.lists.Page(ctx, listing{s, snap}, req)
}

// listing is a snapshot as lists are made of it.
type listing struct {
	s *store
	*snapshot
}

// Check implements paging.Source.
func (l listing) Check(key paging.Key) error {
	if key.Tier != "" {
		if _, ok := l.s.tier(key.Tier); !ok {
			return model.Errorf(model.InvalidInput, "list", "unknown tier %q", key.Tier)
		}
	}
	if key.Scope != "" && !slices.ContainsFunc(l.memories, func(p *memoryDir) bool { return p.scope() == key.Scope }) {
		return model.Errorf(model.InvalidInput, "list", "unknown scope %q; scopes are as tiers lists them", key.Scope)
	}
	return nil
}

// Select implements paging.Source.
func (l listing) Select(ctx context.Context, key paging.Key) (rows []int32, bounded bool, err error) {
	rows = []int32{}
	for i := range l.entries {
		e := &l.entries[i]
		if key.Tier != "" && e.tier != key.Tier || key.Scope != "" && e.memory.scope() != key.Scope ||
			e.hidden() && !key.Hidden && key.Tier != e.tier {
			continue
		}
		rows = append(rows, int32(i))
	}
	if key.Query == "" {
		return rows, false, nil
	}
	return l.s.filter(ctx, l.snapshot, rows, key.Query)
}

// Keys implements paging.Source.
func (l listing) Keys(i int32) (modified time.Time, size int64) {
	e := &l.entries[i]
	return e.meta.Modified, e.meta.Size
}

// ID implements paging.Source.
func (l listing) ID(i int32) string { return l.entries[i].id }

// Problems implements paging.Source.
func (l listing) Problems() []string { return l.problems }

// Headers implements paging.Source.
func (l listing) Headers(ctx context.Context, rows []int32) ([]model.Header, error) {
	return l.s.headers(ctx, l.snapshot, rows)
}

// filter keeps the entries whose id or text holds the query in any letter case. They lie by memory
// directory.
func (s *store) filter(ctx context.Context, snap *snapshot, rows []int32, query string) (out []int32, bounded bool, err error) {
	out = []int32{}
	words := linesearch.Whole(query)
	for len(rows) > 0 {
		p := snap.entries[rows[0]].memory
		n := slices.IndexFunc(rows, func(i int32) bool { return snap.entries[i].memory != p })
		if n < 0 {
			n = len(rows)
		}
		hits, some, err := s.holding(ctx, snap, rows[:n], strings.ToLower(query), words)
		if err != nil {
			return nil, false, err
		}
		for i, hit := range hits {
			if hit {
				out = append(out, rows[i])
			}
		}
		bounded, rows = bounded || some, rows[n:]
	}
	return out, bounded, nil
}

// holding tells of the entries of one memory directory whether they hold the query; some could not be
// read.
func (s *store) holding(ctx context.Context, snap *snapshot, rows []int32, want string, words linesearch.Query) (hits []bool, some bool, err error) {
	dir, closed := s.open(snap.entries[rows[0]].memory)
	if closed == nil {
		defer dir.Close()
	}
	hits = make([]bool, len(rows))
	var unread atomic.Bool
	err = rootdir.InParallel(ctx, "list", dir, len(rows), func(files *rootdir.Files, n int) error {
		e := &snap.entries[rows[n]]
		if hits[n] = strings.Contains(strings.ToLower(e.id), want); hits[n] || e.meta.Kind != rootdir.File {
			return nil
		}
		var data []byte
		err := closed
		if err == nil {
			data, _, err = files.Read(rootdir.PlaceOf(e.label), readLimit)
		}
		switch {
		case err == nil:
			hits[n] = words.In(data)
		case isTooLarge(err), errors.Is(err, model.NotFound), errors.Is(err, model.PermissionDenied):
			unread.Store(true)
		default:
			return err
		}
		return nil
	})
	return hits, unread.Load(), err
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

// Tiers counts per memory directory and tier.
func (s *store) Tiers(ctx context.Context) ([]model.TierCount, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	type cell struct {
		p    *memoryDir
		tier string
	}
	counts := map[cell]*model.TierCount{}
	for i := range snap.entries {
		e := &snap.entries[i]
		c := counts[cell{e.memory, e.tier}]
		if c == nil {
			c = &model.TierCount{Scope: e.memory.scope(), ScopeTitle: snap.names.scopeTitle(e.memory), Tier: e.tier}
			counts[cell{e.memory, e.tier}] = c
		}
		c.Items++
		c.Bytes += e.meta.Size
	}
	out := []model.TierCount{}
	for _, p := range snap.memories {
		for _, t := range s.tiers {
			if c := counts[cell{p, t.Name}]; c != nil {
				out = append(out, *c)
			}
		}
	}
	return out, nil
}

// reader reads files of a walk and keeps the last memory directory open.
type reader struct {
	s   *store
	at  *memoryDir
	dir *rootdir.Dir
}

func (r *reader) close() {
	if r.dir != nil {
		_ = r.dir.Close()
		r.dir = nil
	}
}

func (r *reader) open(p *memoryDir) error {
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
	if err := r.open(e.memory); err != nil {
		return "", facts{}, rootdir.Meta{}, err
	}
	return r.s.content(r.dir, e)
}

// facts reads the file only when it is not known as it is now.
func (r *reader) facts(e *entry) (facts, rootdir.Meta, error) {
	if err := r.open(e.memory); err != nil {
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
