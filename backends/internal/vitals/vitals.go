// Package vitals answers Health within its deadline whatever the medium does: at
// most one look at it runs at a time, because a call that hangs in the kernel or
// in a driver cannot be ended (provider-contract.md R35, R38). Probes that take longer
// run in the background; the answer holds what they last found.
package vitals

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/model"
)

// The deadlines of the contract, less what it takes to stamp and hand over the
// answer.
const (
	Local  = 180 * time.Millisecond
	Remote = 950 * time.Millisecond
)

// A deep probe starts again at the earliest deepEvery after its last end and
// deepShare times its own duration later, so that it costs a twentieth of the time at most.
const (
	deepEvery = time.Minute
	deepShare = 20
	deepLimit = 5 * time.Minute
)

// closeLimit is how long Close waits for a deep probe that hangs.
const closeLimit = 2 * time.Second

// late is the message that R35 fixes.
const late = "health check timeout"

// Probe looks at one thing. It changes nothing (R39), honours its context and returns
// nothing for a store in order.
type Probe func(context.Context) []model.HealthFinding

// Gate lets one look and one deep probe run at a time. The zero value is ready.
type Gate struct {
	mu      sync.Mutex
	pending *run
	deep    *run // the one that runs now
	last    *run // the last deep probe that ended
	next    time.Time
	closed  bool
}

// run is one probe at work; findings may be read once done is closed.
type run struct {
	done     chan struct{}
	cancel   context.CancelFunc
	findings []model.HealthFinding
	ended    time.Time
	late     bool
}

// Check looks, or joins a look that still runs, and answers within the limit. now
// stamps the answer. deep, which may be nil, runs in the background: the answer holds what
// it found last, and waits for its first end no longer than the limit. The look gets a
// context that ends with the limit and is not the caller's: others may wait for the same look.
func (g *Gate) Check(ctx context.Context, limit time.Duration, now func() time.Time, look, deep Probe) model.HealthStatus {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	l, d := g.start(ctx, limit, now, look), g.startDeep(now, deep)
	findings := []model.HealthFinding{{Kind: model.FindingTimeout, Message: late, State: model.HealthUnknown}}
	select {
	case <-l.done:
		findings = slices.Clone(l.findings)
		select {
		case <-d:
		case <-timer.C:
		case <-ctx.Done():
		}
	case <-timer.C:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			findings[0].Message = "health check cancelled"
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var at time.Time
	if g.last != nil {
		at = g.last.ended
		findings = append(findings, g.last.findings...)
	}
	st := model.NewHealth(now(), findings...)
	st.DeepCheckedAt, st.Probing = at, g.last == nil && g.deep != nil
	return st
}

// Close ends a deep probe that runs, and waits for it: a store that closes leaves nothing
// at work on its medium.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	d := g.deep
	g.mu.Unlock()
	if d == nil {
		return
	}
	d.cancel()
	select {
	case <-d.done:
	case <-time.After(closeLimit):
	}
}

func (g *Gate) start(ctx context.Context, limit time.Duration, now func() time.Time, look Probe) *run {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending != nil {
		return g.pending
	}
	l := &run{done: make(chan struct{})}
	g.pending = l
	go func() { // ends with the look; nobody can end it sooner
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		l.look(ctx, now, look)
		if l.late && len(l.findings) > 0 {
			l.findings = []model.HealthFinding{{Kind: model.FindingTimeout, Message: late, State: model.HealthUnknown}}
		}
		g.mu.Lock()
		g.pending = nil
		g.mu.Unlock()
		close(l.done)
	}()
	return l
}

// startDeep begins the deep probe when it is due. The channel is closed once one has ended.
func (g *Gate) startDeep(now func() time.Time, probe Probe) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.deep == nil && probe != nil && !g.closed && !time.Now().Before(g.next) {
		ctx, cancel := context.WithTimeout(context.Background(), deepLimit)
		d := &run{done: make(chan struct{}), cancel: cancel}
		g.deep = d
		go func() { // ends with the probe, at the latest with Close
			defer cancel()
			began := time.Now()
			d.look(ctx, now, probe)
			g.mu.Lock()
			g.deep = nil
			if !d.late { // a probe that was broken off leaves the last known
				g.last = d
			}
			g.next = time.Now().Add(max(deepEvery, deepShare*time.Since(began)))
			g.mu.Unlock()
			close(d.done)
		}()
	}
	if g.last != nil || g.deep == nil {
		return done
	}
	return g.deep.done
}

// done is a channel that is closed: there is nothing to wait for.
var done = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// look runs the probe and stamps what it found.
func (r *run) look(ctx context.Context, now func() time.Time, probe Probe) {
	r.findings = few(probe(ctx))
	r.ended, r.late = now().UTC(), ctx.Err() != nil
	for i := range r.findings {
		if r.findings[i].CheckedAt.IsZero() {
			r.findings[i].CheckedAt = r.ended
		}
	}
}

// most bounds the findings of one kind: a store may have one for each of its rows.
const most = 100

// few keeps the first degraded findings of each kind, and counts the others of it in one more.
func few(all []model.HealthFinding) []model.HealthFinding {
	if len(all) <= most {
		return all
	}
	var out []model.HealthFinding
	count := map[string]int{}
	for _, f := range all {
		if f.State == model.HealthDegraded {
			count[f.Kind]++
		}
		if f.State != model.HealthDegraded || count[f.Kind] <= most {
			out = append(out, f)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		if n := count[kind] - most; n > 0 {
			out = append(out, Degraded(kind, "", fmt.Sprintf("and %d more of this kind", n))...)
		}
	}
	return out
}

// Down is the finding that a store does not serve; none for an empty message.
func Down(kind, message string) []model.HealthFinding {
	if message == "" {
		return nil
	}
	return []model.HealthFinding{{Kind: kind, Message: message, State: model.HealthDown}}
}

// Degraded is the finding that a store serves and needs a look; none for an empty message.
func Degraded(kind, ref, message string) []model.HealthFinding {
	if message == "" {
		return nil
	}
	return []model.HealthFinding{{Kind: kind, Ref: ref, Message: message, State: model.HealthDegraded}}
}

// Words is an error as a message of Health: empty for nil, and without the place
// of the store, which is no business of an agent's (R15, R38).
func Words(err error, location string) string {
	if err == nil {
		return ""
	}
	words := err.Error()
	if strings.HasPrefix(location, "/") {
		words = strings.ReplaceAll(words, location, "the store")
	}
	if words == "" {
		return string(model.KindOf(err))
	}
	return words
}
