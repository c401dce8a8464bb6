package model

import (
	"context"
	"errors"
	"time"
)

// Op names what a call does, for logs and policies.
type Op string

// The operations that a middleware sees. Only Retain and Forget change memory.
const (
	OpRetain          Op = "retain"
	OpRecall          Op = "recall"
	OpForget          Op = "forget"
	OpHealth          Op = "health"
	OpList            Op = "list"
	OpRead            Op = "read"
	OpTiers           Op = "tiers"
	OpRevisions       Op = "revisions"
	OpReadRevision    Op = "read-revision"
	OpQuarantined     Op = "quarantined"
	OpReadQuarantined Op = "read-quarantined"
	OpStoreConflicts  Op = "store-conflicts"
	OpConcerning      Op = "concerning"
	OpNames           Op = "names"
	OpTexts           Op = "texts"
	OpNeighbours      Op = "neighbours"
	OpSubgraph        Op = "subgraph"
	OpSimilar         Op = "similar"
	OpWorkItems       Op = "work-items"
	OpDependencies    Op = "dependencies"
	OpStoreEvents     Op = "store-events"
	OpWatch           Op = "watch"
	OpLayers          Op = "layers"
	OpOpenLayer       Op = "open-layer"
	OpScrub           Op = "scrub"
	OpReindex         Op = "reindex"
	OpChangedSince    Op = "changed-since"
	OpBroken          Op = "broken"
	OpSetAside        Op = "set-aside"
	OpSchema          Op = "schema"
	OpMigrate         Op = "migrate"
)

// Mutates reports whether the operation goes through one of the three doors:
// Retain, Forget, Maintain.
func (o Op) Mutates() bool {
	switch o {
	case OpRetain, OpForget, OpScrub, OpReindex, OpSetAside, OpMigrate:
		return true
	}
	return false
}

// Streams reports whether the operation takes as long as the size of its store, or the speed of its caller,
// demands: no fixed deadline fits it, only its context ends it.
func (o Op) Streams() bool {
	switch o {
	case OpNames, OpTexts, OpConcerning, OpChangedSince, OpWatch, OpLayers, OpOpenLayer, OpScrub, OpReindex, OpMigrate:
		return true
	}
	return false
}

// Call is one operation on its way through the middleware. Requests are the caller's; results are filled in
// once next has returned without error.
type Call struct {
	Store *Store // the store before it was wrapped; never nil
	Op    Op
	ID    string // the item, where the operation names one

	Retain *RetainRequest // with OpRetain
	Forget *ForgetRequest // with OpForget
	Scrub  *ScrubRequest  // with OpScrub
	Page   *PageRequest   // with OpList
	// Removes: the call removes the items' tables, whatever they contain (a migration down).
	Removes bool

	Retained *RetainResult
	Forgot   *ForgetResult
	Listed   *Page // with OpList; the middleware may replace its Items, and must not change them in place
	Rows     int64 // with a call of Maintain: records removed, rewritten or indexed
}

// Middleware runs around every operation of a store. It calls next at most once;
// an error without calling next refuses the operation. For Health the returned
// error becomes the message of a status that is not OK.
type Middleware func(ctx context.Context, c *Call, next func(context.Context) error) error

// Wrap returns the store with m around its Provider and every facet it has. With
// several, the first is outermost.
func (s Store) Wrap(m ...Middleware) Store {
	for i := len(m) - 1; i >= 0; i-- {
		s = s.wrap(m[i])
	}
	return s
}

func (s Store) wrap(m Middleware) Store {
	w := wrapped{store: &s, around: m}
	out := s
	facet(&out.Provider, func(next Provider) Provider { return wrappedProvider{w, next} })
	facet(&out.Browser, func(next Browser) Browser { return wrappedBrowser{w, next} })
	facet(&out.History, func(next History) History { return wrappedHistory{w, next} })
	facet(&out.Quarantine, func(next Quarantine) Quarantine { return wrappedQuarantine{w, next} })
	facet(&out.Conflicts, func(next Conflicts) Conflicts { return wrappedConflicts{w, next} })
	facet(&out.Subjects, func(next Subjects) Subjects { return wrappedSubjects{w, next} })
	facet(&out.Names, func(next Namer) Namer { return wrappedNames{w, next} })
	facet(&out.Texts, func(next Texts) Texts { return wrappedTexts{w, next} })
	facet(&out.Graph, func(next Graph) Graph { return wrappedGraph{w, next} })
	facet(&out.Work, func(next Work) Work { return wrappedWork{w, next} })
	facet(&out.Events, func(next Events) Events { return wrappedEvents{w, next} })
	facet(&out.Watcher, func(next Watcher) Watcher { return wrappedWatcher{w, next} })
	facet(&out.Maintainer, func(next Maintainer) Maintainer { return wrappedMaintainer{w, next} })
	facet(&out.Reindexer, func(next Reindexer) Reindexer { return wrappedReindexer{w, next} })
	facet(&out.Repairer, func(next Repairer) Repairer { return wrappedRepairer{w, next} })
	facet(&out.Migrator, func(next Migrator) Migrator { return wrappedMigrator{w, next} })
	return out
}

// facet wraps a facet that the store has.
func facet[F any](f *F, wrap func(next F) F) {
	if any(*f) != nil {
		*f = wrap(*f)
	}
}

type wrapped struct {
	store  *Store
	around Middleware
}

// do runs fn inside the middleware and returns its value.
func do[T any](ctx context.Context, w wrapped, c *Call, fn func(context.Context) (T, error)) (T, error) {
	c.Store = w.store
	var out T
	err := w.around(ctx, c, func(ctx context.Context) (err error) {
		out, err = fn(ctx)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}

type wrappedProvider struct {
	wrapped
	next Provider
}

func (p wrappedProvider) Retain(ctx context.Context, req RetainRequest) (RetainResult, error) {
	c := &Call{Op: OpRetain, ID: req.ID, Retain: &req}
	return do(ctx, p.wrapped, c, func(ctx context.Context) (RetainResult, error) {
		res, err := p.next.Retain(ctx, req)
		if err == nil {
			c.Retained = &res
		}
		return res, err
	})
}

func (p wrappedProvider) Recall(ctx context.Context, req RecallRequest) (RecallResult, error) {
	return do(ctx, p.wrapped, &Call{Op: OpRecall}, func(ctx context.Context) (RecallResult, error) {
		return p.next.Recall(ctx, req)
	})
}

func (p wrappedProvider) Forget(ctx context.Context, req ForgetRequest) (ForgetResult, error) {
	c := &Call{Op: OpForget, ID: req.ID, Forget: &req}
	return do(ctx, p.wrapped, c, func(ctx context.Context) (ForgetResult, error) {
		res, err := p.next.Forget(ctx, req)
		if err == nil {
			c.Forgot = &res
		}
		return res, err
	})
}

func (p wrappedProvider) Health(ctx context.Context) HealthStatus {
	seen, err := do(ctx, p.wrapped, &Call{Op: OpHealth}, func(ctx context.Context) (HealthStatus, error) {
		return p.next.Health(ctx), nil
	})
	switch {
	case errors.Is(err, Timeout): // the store may still answer, and nobody waits for it (R35)
		return NewHealth(time.Now(), HealthFinding{Kind: FindingTimeout, Message: "health check timeout", State: HealthUnknown})
	case err != nil:
		return NewHealth(time.Now(), HealthFinding{Kind: FindingUnreachable, Message: err.Error()})
	}
	return seen.Whole()
}

type wrappedBrowser struct {
	wrapped
	next Browser
}

func (b wrappedBrowser) List(ctx context.Context, req PageRequest) (Page, error) {
	c := &Call{Op: OpList, Page: &req}
	page, err := do(ctx, b.wrapped, c, func(ctx context.Context) (Page, error) {
		page, err := b.next.List(ctx, req)
		if err == nil {
			c.Listed = &page
		}
		return page, err
	})
	if err != nil || c.Listed == nil {
		return page, err
	}
	return *c.Listed, nil
}

func (b wrappedBrowser) Read(ctx context.Context, id string) (Item, error) {
	return do(ctx, b.wrapped, &Call{Op: OpRead, ID: id}, func(ctx context.Context) (Item, error) {
		return b.next.Read(ctx, id)
	})
}

func (b wrappedBrowser) Tiers(ctx context.Context) ([]TierCount, error) {
	return do(ctx, b.wrapped, &Call{Op: OpTiers}, b.next.Tiers)
}

type wrappedHistory struct {
	wrapped
	next History
}

func (h wrappedHistory) Revisions(ctx context.Context, id string) (Versions, error) {
	return do(ctx, h.wrapped, &Call{Op: OpRevisions, ID: id}, func(ctx context.Context) (Versions, error) {
		return h.next.Revisions(ctx, id)
	})
}

func (h wrappedHistory) ReadRevision(ctx context.Context, id, version string) (Item, error) {
	return do(ctx, h.wrapped, &Call{Op: OpReadRevision, ID: id}, func(ctx context.Context) (Item, error) {
		return h.next.ReadRevision(ctx, id, version)
	})
}

type wrappedQuarantine struct {
	wrapped
	next Quarantine
}

func (q wrappedQuarantine) Quarantined(ctx context.Context) ([]Quarantined, error) {
	return do(ctx, q.wrapped, &Call{Op: OpQuarantined}, q.next.Quarantined)
}

func (q wrappedQuarantine) ReadQuarantined(ctx context.Context, id string) (Quarantined, error) {
	return do(ctx, q.wrapped, &Call{Op: OpReadQuarantined, ID: id}, func(ctx context.Context) (Quarantined, error) {
		return q.next.ReadQuarantined(ctx, id)
	})
}
