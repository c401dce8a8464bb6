package model

import (
	"context"
	"io"
)

// none is the value of an operation that only returns an error.
type none struct{}

// pair carries two results through do.
type pair[A, B any] struct {
	a A
	b B
}

type wrappedConflicts struct {
	wrapped
	next Conflicts
}

func (c wrappedConflicts) StoreConflicts(ctx context.Context) ([]StoreConflict, error) {
	return do(ctx, c.wrapped, &Call{Op: OpStoreConflicts}, c.next.StoreConflicts)
}

type wrappedSubjects struct {
	wrapped
	next Subjects
}

func (s wrappedSubjects) Concerning(ctx context.Context, subjects []string, yield func(SubjectHit) bool) error {
	_, err := do(ctx, s.wrapped, &Call{Op: OpConcerning}, func(ctx context.Context) (none, error) {
		return none{}, s.next.Concerning(ctx, subjects, yield)
	})
	return err
}

type wrappedNames struct {
	wrapped
	next Namer
}

func (n wrappedNames) Names(ctx context.Context, yield func(string) bool) ([]string, error) {
	return do(ctx, n.wrapped, &Call{Op: OpNames}, func(ctx context.Context) ([]string, error) {
		return n.next.Names(ctx, yield)
	})
}

type wrappedTexts struct {
	wrapped
	next Texts
}

func (t wrappedTexts) EachText(ctx context.Context, yield func(Text, error) bool) ([]string, error) {
	return do(ctx, t.wrapped, &Call{Op: OpTexts}, func(ctx context.Context) ([]string, error) {
		return t.next.EachText(ctx, yield)
	})
}

type wrappedGraph struct {
	wrapped
	next Graph
}

func (g wrappedGraph) Neighbours(ctx context.Context, id string, req GraphRequest) ([]Header, error) {
	return do(ctx, g.wrapped, &Call{Op: OpNeighbours, ID: id}, func(ctx context.Context) ([]Header, error) {
		return g.next.Neighbours(ctx, id, req)
	})
}

func (g wrappedGraph) Subgraph(ctx context.Context, ids []string, depth int) ([]Header, []Link, error) {
	out, err := do(ctx, g.wrapped, &Call{Op: OpSubgraph}, func(ctx context.Context) (pair[[]Header, []Link], error) {
		a, b, err := g.next.Subgraph(ctx, ids, depth)
		return pair[[]Header, []Link]{a, b}, err
	})
	return out.a, out.b, err
}

func (g wrappedGraph) Similar(ctx context.Context, id string, limit int) (RecallResult, error) {
	return do(ctx, g.wrapped, &Call{Op: OpSimilar, ID: id}, func(ctx context.Context) (RecallResult, error) {
		return g.next.Similar(ctx, id, limit)
	})
}

type wrappedWork struct {
	wrapped
	next Work
}

func (k wrappedWork) WorkItems(ctx context.Context, req WorkRequest) (WorkResult, error) {
	return do(ctx, k.wrapped, &Call{Op: OpWorkItems, ID: req.ID}, func(ctx context.Context) (WorkResult, error) {
		return k.next.WorkItems(ctx, req)
	})
}

func (k wrappedWork) Dependencies(ctx context.Context, id string) ([]Dependency, error) {
	return do(ctx, k.wrapped, &Call{Op: OpDependencies, ID: id}, func(ctx context.Context) ([]Dependency, error) {
		return k.next.Dependencies(ctx, id)
	})
}

type wrappedEvents struct {
	wrapped
	next Events
}

func (e wrappedEvents) StoreEvents(ctx context.Context, limit int) ([]StoreEvent, error) {
	return do(ctx, e.wrapped, &Call{Op: OpStoreEvents}, func(ctx context.Context) ([]StoreEvent, error) {
		return e.next.StoreEvents(ctx, limit)
	})
}

type wrappedWatcher struct {
	wrapped
	next Watcher
}

// Watch passes the caller's own context on: a watch outlives the call that begins it, so no layer may bound
// it.
func (v wrappedWatcher) Watch(ctx context.Context) (<-chan Change, error) {
	return do(ctx, v.wrapped, &Call{Op: OpWatch}, func(context.Context) (<-chan Change, error) {
		return v.next.Watch(ctx)
	})
}

type wrappedMaintainer struct {
	wrapped
	next Maintainer
}

func (m wrappedMaintainer) Layers(ctx context.Context) ([]Layer, error) {
	return do(ctx, m.wrapped, &Call{Op: OpLayers}, m.next.Layers)
}

// OpenLayer passes the caller's own context on, because the bytes are read after the call.
func (m wrappedMaintainer) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	return do(ctx, m.wrapped, &Call{Op: OpOpenLayer}, func(context.Context) (io.ReadCloser, error) {
		return m.next.OpenLayer(ctx, id)
	})
}

func (m wrappedMaintainer) Scrub(ctx context.Context, req ScrubRequest) ([]LayerResult, error) {
	c := &Call{Op: OpScrub, Scrub: &req}
	if req.Dry {
		c.Op = OpLayers // a dry run changes nothing
	}
	return do(ctx, m.wrapped, c, func(ctx context.Context) ([]LayerResult, error) {
		out, err := m.next.Scrub(ctx, req)
		for _, r := range out {
			c.Rows += r.Rows
		}
		return out, err
	})
}

type wrappedReindexer struct {
	wrapped
	next Reindexer
}

func (r wrappedReindexer) Reindex(ctx context.Context, tier string) (int64, error) {
	c := &Call{Op: OpReindex}
	return do(ctx, r.wrapped, c, func(ctx context.Context) (n int64, err error) {
		c.Rows, err = r.next.Reindex(ctx, tier)
		return c.Rows, err
	})
}

func (r wrappedReindexer) ChangedSince(ctx context.Context, mtime float64, yield func(string) bool) error {
	_, err := do(ctx, r.wrapped, &Call{Op: OpChangedSince}, func(ctx context.Context) (none, error) {
		return none{}, r.next.ChangedSince(ctx, mtime, yield)
	})
	return err
}

type wrappedRepairer struct {
	wrapped
	next Repairer
}

func (r wrappedRepairer) Broken(ctx context.Context) ([]string, error) {
	return do(ctx, r.wrapped, &Call{Op: OpBroken}, r.next.Broken)
}

func (r wrappedRepairer) SetAside(ctx context.Context, ids []string) (string, error) {
	return do(ctx, r.wrapped, &Call{Op: OpSetAside, Rows: int64(len(ids))}, func(ctx context.Context) (string, error) {
		return r.next.SetAside(ctx, ids)
	})
}

type wrappedMigrator struct {
	wrapped
	next Migrator
}

func (m wrappedMigrator) Schema(ctx context.Context) (SchemaState, error) {
	return do(ctx, m.wrapped, &Call{Op: OpSchema}, m.next.Schema)
}

func (m wrappedMigrator) Migrate(ctx context.Context, target int) (SchemaState, error) {
	now, err := m.next.Schema(ctx)
	c := &Call{Op: OpMigrate, Removes: err != nil || now.Removes(target)} // unknown is not harmless
	return do(ctx, m.wrapped, c, func(ctx context.Context) (SchemaState, error) {
		return m.next.Migrate(ctx, target)
	})
}
