package crewship

import (
	"context"
	"slices"
	"time"

	"memdesk/backends/internal/window"
	"memdesk/backends/seam/internal/paging"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// List returns one page, with current sizes and times.
func (s *store) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return model.Page{}, err
	}
	return snap.lists.Page(ctx, listing{s, snap}, req)
}

// listing is a snapshot, ready for lists.
type listing struct {
	s *store
	*snapshot
}

// Tiers implements paging.Source.
func (l listing) Tiers() []model.TierSpec { return l.s.tiers }

// HasScope implements paging.Source.
func (l listing) HasScope(scope string) bool {
	return slices.ContainsFunc(l.memories, func(p *memoryDir) bool { return p.scope() == scope })
}

// Select implements paging.Source.
func (l listing) Select(ctx context.Context, key paging.Key) (rows []int32, bounded bool, err error) {
	n := 0
	for _, p := range l.parts {
		n += p.tree.Len()
	}
	rows = make([]int32, 0, n)
	for _, p := range l.parts {
		if key.Scope != "" && p.memory.scope() != key.Scope {
			continue
		}
		for i, f := range p.tree.All() {
			tier := tierAt(f)
			if key.Tier != "" && tier != key.Tier || !key.Hidden && key.Tier != tier && hidden(tier, f.Name()) {
				continue
			}
			rows = append(rows, int32(p.first+i))
		}
	}
	if key.Query == "" {
		return rows, false, nil
	}
	return l.s.filter(ctx, l.snapshot, rows, key.Query)
}

// Keys implements paging.Source.
func (l listing) Keys(i int32) (modified time.Time, size int64) {
	_, f := l.at(i)
	m := f.Meta()
	return m.Modified, m.Size
}

// ID implements paging.Source.
func (l listing) ID(i int32) string {
	p, f := l.at(i)
	return p.memory.prefix + f.Path()
}

// Problems implements paging.Source.
func (l listing) Problems() []string { return l.problems }

// Headers implements paging.Source.
func (l listing) Headers(ctx context.Context, rows []int32) ([]model.Header, error) {
	return l.s.headers(ctx, l.snapshot, rows)
}

// filter keeps the files whose id or text holds the query in any letter case. It reads texts part by part.
func (s *store) filter(ctx context.Context, snap *snapshot, rows []int32, query string) (out []int32, bounded bool, err error) {
	out, rows = texts.Sift(rows, func(i int32) (string, walk.File) {
		p, f := snap.at(i)
		return p.memory.prefix, f
	}, query)
	for len(rows) > 0 {
		p := snap.partAt(rows[0])
		n, _ := slices.BinarySearch(rows, int32(p.first+p.tree.Len()))
		hits, some, err := s.holding(ctx, p, rows[:n], query)
		if err != nil {
			return nil, false, err
		}
		out, bounded, rows = append(out, hits...), bounded || some, rows[n:]
	}
	slices.Sort(out)
	return out, bounded, nil
}

func (s *store) holding(ctx context.Context, p part, rows []int32, query string) (hits []int32, bounded bool, err error) {
	dir, closed := s.open(p.memory)
	if closed == nil {
		defer dir.Close()
	}
	return texts.Holding(ctx, dir, closed, rows, func(i int32) walk.File { return p.tree.At(int(i) - p.first) }, query)
}

// headers reads the page's files for titles, flags and current sizes. An unreadable file is listed as such;
// a vanished one as it was.
func (s *store) headers(ctx context.Context, snap *snapshot, rows []int32) ([]model.Header, error) {
	out := make([]model.Header, 0, len(rows))
	r := reader{s: s}
	defer r.close()
	for _, i := range rows {
		if err := model.FromContext(ctx, "list"); err != nil {
			return nil, err
		}
		p, at := snap.at(i)
		e := p.entry(at)
		open := func() (*rootdir.Dir, error) { return r.open(e.memory) }
		f, m, _ := s.facts.Listed(open, e.id, e.label, e.meta, s.resident.Current(p.memory.path(), p.tree))
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
	var scopes []string
	titles := map[string]string{}
	for _, p := range snap.memories {
		scopes = append(scopes, p.scope())
		titles[p.scope()] = snap.names.scopeTitle(p)
	}
	counts := window.Counts(scopes, s.tiers, func(yield func(model.Header) bool) {
		for p, f := range snap.all() {
			if !yield(model.Header{Scope: p.memory.scope(), Tier: tierAt(f), Bytes: f.Size()}) {
				return
			}
		}
	})
	for i, c := range counts {
		counts[i].ScopeTitle = titles[c.Scope]
	}
	return counts, nil
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

func (r *reader) open(p *memoryDir) (dir *rootdir.Dir, err error) {
	if r.dir == nil || r.at != p {
		r.close()
		if dir, err = r.s.open(p); err != nil {
			return nil, err
		}
		r.dir, r.at = dir, p
	}
	return r.dir, nil
}

func (r *reader) content(e *entry) (string, texts.Facts, rootdir.Meta, error) {
	dir, err := r.open(e.memory)
	if err != nil {
		return "", texts.Facts{}, rootdir.Meta{}, err
	}
	return r.s.facts.Read(dir, e.id, e.label)
}
