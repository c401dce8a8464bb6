package curated

import (
	"context"
	"errors"
	"sync"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// healthDeadline is the contract's for a local store (R35).
const healthDeadline = 200 * time.Millisecond

// healthGate lets one look at the disk run at a time: a call that hangs in the
// kernel cannot be ended, so later checks wait for the same one.
type healthGate struct {
	mu      sync.Mutex
	pending *observation
}

type observation struct {
	done    chan struct{}
	message string // may be read once done is closed
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

// Health looks whether the files can be read. It writes no probe (R39).
func (s *store) Health(ctx context.Context) model.HealthStatus {
	timer := time.NewTimer(healthDeadline)
	defer timer.Stop()
	message := "health check timeout"
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
	d, err := rootdir.Open(s.path, nil)
	switch {
	case errors.Is(err, model.NotFound):
		return "the memories directory is gone; mount it or correct its path"
	case err != nil:
		return "the memories directory cannot be read: " + err.Error()
	}
	defer d.Close()
	if err := d.Readable("."); err != nil {
		return "the memories directory cannot be read: " + err.Error()
	}
	for _, name := range fileNames {
		if f := s.load(d, name); f.bad != nil {
			return name + " cannot be read: " + f.bad.Error()
		}
	}
	return ""
}
