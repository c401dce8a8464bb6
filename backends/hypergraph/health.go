package hypergraph

import (
	"context"
	"errors"
	"strings"
	"time"

	"memdesk/model"
)

// healthDeadline keeps R35 for a local store: the answer has left within 200 ms,
// the time to stamp and hand it over included.
const healthDeadline = 180 * time.Millisecond

// remoteDeadline keeps it for a store behind a network: within a second.
const remoteDeadline = 950 * time.Millisecond

// errHealthTimeout is the message that R35 fixes.
var errHealthTimeout = errors.New("health check timeout")

// Health pings the backend under a deadline of its own. At most one ping runs at
// a time: one that ignores its context holds the place, and later checks time
// out instead of piling up behind it.
func (a *adapter) Health(ctx context.Context) model.HealthStatus {
	deadline := healthDeadline
	if a.Remote {
		deadline = remoteDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	err := a.ping(ctx)
	status := model.HealthStatus{OK: err == nil, CheckedAt: a.Clock.Now().UTC()}
	if err != nil {
		status.Message = a.healthWords(err)
	}
	return status
}

func (a *adapter) ping(ctx context.Context) error {
	select {
	case a.pinging <- struct{}{}:
	case <-ctx.Done():
		return healthEnd(ctx)
	}
	answer := make(chan error, 1)
	go func() { // ends with the ping; its answer waits for nobody
		defer func() { <-a.pinging }()
		answer <- a.Backend.Ping(ctx)
	}()
	select {
	case err := <-answer:
		if err != nil && ctx.Err() != nil {
			return healthEnd(ctx)
		}
		return err
	case <-ctx.Done():
		return healthEnd(ctx)
	}
}

func healthEnd(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return errors.New("health check cancelled")
	}
	return errHealthTimeout
}

// healthWords keeps the location out of the message (R15, R38).
func (a *adapter) healthWords(err error) string {
	words := err.Error()
	if strings.HasPrefix(a.Location, "/") {
		words = strings.ReplaceAll(words, a.Location, "the store")
	}
	if words == "" {
		return string(model.KindOf(err))
	}
	return words
}
