package inmem_test

import (
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/hypergraphtest"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/internal/clock"
)

func TestBackend(t *testing.T) {
	hypergraphtest.Run(t, func(*testing.T) hypergraph.Backend { return inmem.New(nil) })
}

// A clock that stands still gives all nodes the same creation time, so that only the ids order them.
func TestBackendWithTies(t *testing.T) {
	still := clock.Fixed(time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC))
	hypergraphtest.Run(t, func(*testing.T) hypergraph.Backend { return inmem.New(still) })
}
