package notes

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
func (l listing) HasScope(scope string) bool { return slices.Contains(l.s.scopes(l.snapshot), scope) }

// Select implements paging.Source.
func (l listing) Select(ctx context.Context, key paging.Key) (rows []int32, bounded bool, err error) {
	rows = make([]int32, 0, l.tree.Len())
	tier := l.labels.mark(key.Tier)
	for i, f := range l.tree.All() {
		if tier != 0 && f.Mark() != tier || key.Scope != "" && l.s.scopeAt(f) != key.Scope ||
			!key.Hidden && (hidden(f.Name()) || archived(l.labels.class(f.Tag()).status)) {
			continue
		}
		rows = append(rows, int32(i))
	}
	if key.Query == "" {
		return rows, false, nil
	}
	root, err := l.s.open("list")
	if err != nil || root == nil {
		return []int32{}, false, err
	}
	defer root.Close()
	file := func(i int32) walk.File { return l.tree.At(int(i)) }
	rows, unread := texts.Sift(rows, func(i int32) (string, walk.File) { return "", file(i) }, key.Query)
	hits, bounded, err := texts.Holding(ctx, root, nil, unread, file, key.Query)
	rows = append(rows, hits...)
	slices.Sort(rows)
	return rows, bounded, err
}

// Keys implements paging.Source.
func (l listing) Keys(i int32) (modified time.Time, size int64) {
	m := l.tree.At(int(i)).Meta()
	return m.Modified, m.Size
}

// ID implements paging.Source.
func (l listing) ID(i int32) string { return l.tree.At(int(i)).Path() }

// Problems implements paging.Source.
func (l listing) Problems() []string { return l.problems() }

// Headers implements paging.Source.
func (l listing) Headers(ctx context.Context, rows []int32) ([]model.Header, error) {
	return l.s.headers(ctx, l.snapshot, rows)
}

// headers reads the page's files for titles, flags and current sizes. An unreadable file is listed as such;
// a vanished one as it was.
func (s *store) headers(ctx context.Context, snap *snapshot, rows []int32) ([]model.Header, error) {
	out := make([]model.Header, 0, len(rows))
	root, err := s.open("list")
	if err != nil || root == nil {
		return out, err
	}
	defer root.Close()
	kept := s.heard(snap) // then its facts about a file are current
	for _, i := range rows {
		if err := model.FromContext(ctx, "list"); err != nil {
			return nil, err
		}
		e := snap.at(int(i))
		f, m, ok := s.facts.Listed(func() (*rootdir.Dir, error) { return root, nil }, e.id, e.id, e.meta, kept)
		if ok {
			e.status = f.Status // its current status, in whichever tier the walk put it
		}
		out = append(out, s.header(&e, f, m))
	}
	return out, nil
}

// Tiers counts per scope and tier.
func (s *store) Tiers(ctx context.Context) ([]model.TierCount, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	counts := window.Counts(s.scopes(snap), s.tiers, func(yield func(model.Header) bool) {
		for _, f := range snap.tree.All() {
			if !yield(model.Header{Scope: s.scopeAt(f), Tier: s.labels.tier(f.Mark()), Bytes: f.Size()}) {
				return
			}
		}
	})
	for i, c := range counts {
		counts[i].ScopeTitle = s.scopeTitle(c.Scope)
	}
	return counts, nil
}
