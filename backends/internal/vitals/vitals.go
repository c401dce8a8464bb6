// Package vitals answers Health within its deadline whatever the medium does: at
// most one look at it runs at a time, because a call that hangs in the kernel or
// in a driver cannot be ended (provider-contract.md R35, R38).
package vitals

import (
	"context"
	"errors"
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

// late is the message that R35 fixes.
const late = "health check timeout"

// Gate lets one look run at a time. The zero value is ready.
type Gate struct {
	mu      sync.Mutex
	pending *look
}

// look is one look at the medium; message may be read once done is closed.
type look struct {
	done    chan struct{}
	message string
}

// Check looks, or joins a look that still runs, and answers within the limit. now
// stamps the answer; observe is empty for a store in order, else says what is
// wrong and what to do. It gets a context that ends with the limit and is not the
// caller's: others may wait for the same look.
func (g *Gate) Check(ctx context.Context, limit time.Duration, now func() time.Time, observe func(context.Context) string) model.HealthStatus {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	message := late
	l := g.start(ctx, limit, observe)
	select {
	case <-l.done:
		message = l.message
	case <-timer.C:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			message = "health check cancelled"
		}
	}
	return model.HealthStatus{OK: message == "", Message: message, CheckedAt: now().UTC()}
}

func (g *Gate) start(ctx context.Context, limit time.Duration, observe func(context.Context) string) *look {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending != nil {
		return g.pending
	}
	l := &look{done: make(chan struct{})}
	g.pending = l
	go func() { // ends with the look; nobody can end it sooner
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		l.message = observe(ctx)
		if ctx.Err() != nil && l.message != "" {
			l.message = late
		}
		g.mu.Lock()
		g.pending = nil
		g.mu.Unlock()
		close(l.done)
	}()
	return l
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
