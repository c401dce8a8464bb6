package backends

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"memdesk/model"
)

// Answer is one store's answer to a recall, or its error.
type Answer struct {
	Store  string
	Result model.RecallResult
	Err    error
	Took   time.Duration
}

// Recall asks every open store at once and streams answers as they come; a
// failed member answers with its opening error. Each store has the deadline that
// its middleware sets. The channel is closed when all have answered or the
// context ends; abandoning it costs nothing once the context is cancelled.
func (f *Fleet) Recall(ctx context.Context, req model.RecallRequest, only ...string) <-chan Answer {
	return f.RecallBy(ctx, func(ctx context.Context, s model.Store) (model.RecallResult, error) {
		return s.Provider.Recall(ctx, req)
	}, only...)
}

// RecallBy is Recall with the caller's own question to each store.
func (f *Fleet) RecallBy(ctx context.Context, ask func(context.Context, model.Store) (model.RecallResult, error), only ...string) <-chan Answer {
	return fanOut(ctx, f.Members(), only, func(ctx context.Context, m Member) Answer {
		a := Answer{Store: m.Name, Err: m.Err}
		start := time.Now()
		if a.Err == nil {
			a.Result, a.Err = ask(ctx, m.Store)
		}
		a.Took = time.Since(start)
		return a
	})
}

// InOrder are all answers of a recall in the fleet's order; a store that did not answer before the end is there
// with the reason.
func (f *Fleet) InOrder(ctx context.Context, answers <-chan Answer) (out []Answer) {
	got := map[string]Answer{}
	for a := range answers {
		got[a.Store] = a
	}
	for _, m := range f.Members() {
		a, ok := got[m.Name]
		if !ok {
			a = Answer{Store: m.Name, Err: model.FromContext(ctx, "recall")}
		}
		out = append(out, a)
	}
	return out
}

// HealthReport is one observation of one store.
type HealthReport struct {
	Store   string
	Status  model.HealthStatus
	Latency time.Duration
}

// Late remembers which stores were late at their last check.
type Late map[string]bool

// Once reports that a store on this machine is late for the first time: it is asked again before it counts as down,
// since a busy machine is late too. A remote store is not asked again: its failure would show one check later.
func (l Late) Once(m Member, now HealthReport) bool {
	late := now.Status.State == model.HealthUnknown && filepath.IsAbs(m.Location)
	again := late && !l[now.Store]
	l[now.Store] = late
	return again
}

// Health asks every member at once and streams the answers. A member that did
// not open is reported as not OK with the reason.
func (f *Fleet) Health(ctx context.Context, only ...string) <-chan HealthReport {
	return fanOut(ctx, f.Members(), only, func(ctx context.Context, m Member) HealthReport {
		if m.Err != nil {
			return HealthReport{Store: m.Name, Status: model.NewHealth(time.Now(), model.HealthFinding{Kind: model.FindingUnreachable, Message: m.Err.Error()})}
		}
		start := time.Now()
		st := m.Store.Provider.Health(ctx).Whole()
		return HealthReport{Store: m.Name, Status: st, Latency: time.Since(start)}
	})
}

func fanOut[T any](ctx context.Context, members []Member, only []string, ask func(context.Context, Member) T) <-chan T {
	out := make(chan T)
	var wg sync.WaitGroup
	for _, m := range members {
		if len(only) > 0 && !slices.Contains(only, m.Name) {
			continue
		}
		wg.Go(func() {
			v := ask(ctx, m)
			select {
			case out <- v:
			case <-ctx.Done():
			}
		})
	}
	go func() {
		wg.Wait()
		close(out)
	}()
	return out
}

// FusedHit is a hit with its place among all stores.
type FusedHit struct {
	Store string
	Rank  int // 1-based inside its store
	model.RecallSnippet
}

// fuseK is the usual constant of reciprocal rank fusion.
const fuseK = 60

// Fuse merges answers by reciprocal rank: scores of different stores are never
// compared (R24). Ties go by store and rank, so the order is stable.
func Fuse(answers []Answer) []FusedHit {
	var hits []FusedHit
	for _, a := range answers {
		for i, h := range a.Result.Hits {
			hits = append(hits, FusedHit{Store: a.Store, Rank: i + 1, RecallSnippet: h})
		}
	}
	slices.SortStableFunc(hits, func(a, b FusedHit) int {
		return cmp.Or(
			cmp.Compare(1/float64(fuseK+b.Rank), 1/float64(fuseK+a.Rank)),
			cmp.Compare(a.Store, b.Store),
			cmp.Compare(a.Rank, b.Rank),
		)
	})
	return hits
}
