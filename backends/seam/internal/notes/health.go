package notes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// healthDeadline is the contract's for a local store (R35).
const healthDeadline = 200 * time.Millisecond

// healthGate lets one look at the disk run at a time: a call that hangs in the
// kernel cannot be ended, so later checks wait for the same one, each to its own
// deadline, and no second goroutine joins it there.
type healthGate struct {
	mu      sync.Mutex
	pending *observation
}

// observation is one look; message may be read once done is closed.
type observation struct {
	done    chan struct{}
	message string
}

func (g *healthGate) start(observe func() string) *observation {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending != nil {
		return g.pending
	}
	o := &observation{done: make(chan struct{})}
	g.pending = o
	go func() {
		o.message = observe()
		g.mu.Lock()
		g.pending = nil
		g.mu.Unlock()
		close(o.done)
	}()
	return o
}

// Health looks whether the directories are there and can be read. It writes no
// probe (R39).
func (s *store) Health(ctx context.Context) model.HealthStatus {
	timer := time.NewTimer(healthDeadline)
	defer timer.Stop()
	const late = "health check timeout"
	message := late
	o := s.health.start(s.observe)
	select {
	case <-o.done:
		message = o.message
	case <-timer.C:
	case <-ctx.Done():
	}
	return model.HealthStatus{OK: message == "", Message: message, CheckedAt: s.clock.Now().UTC()}
}

// observe is empty for a store in order, else what is wrong and what to do.
func (s *store) observe() string {
	root, err := rootdir.Open(s.cfg.Path, nil)
	if err == nil {
		defer root.Close()
		err = root.Readable(".")
	}
	switch {
	case errors.Is(err, model.NotFound) && s.cfg.Virgin:
		return ""
	case errors.Is(err, rootdir.ErrNotDirectory):
		return "the store's directory is no directory any more; restore it"
	case errors.Is(err, model.NotFound):
		return "the store's directory is gone; mount it or correct its path"
	case errors.Is(err, model.PermissionDenied):
		return "the store's directory may not be read by this user; run as the store's own user"
	case err != nil:
		return "the store's directory cannot be read: " + err.Error()
	}
	if s.cfg.Memory != "" {
		if m, err := root.Stat(s.cfg.Memory); err != nil || m.Kind != rootdir.Directory {
			return "the memory root is gone from the vault; restore it or correct memory_root"
		}
	}
	s.mu.Lock()
	snap := s.snap
	s.mu.Unlock()
	if snap != nil && len(snap.problems) > 0 {
		return fmt.Sprintf("%d places are not looked at, first: %s", len(snap.problems), snap.problems[0])
	}
	if s.cfg.Status == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthDeadline*3/4)
	defer cancel()
	return s.cfg.Status(ctx)
}
