// Package inmem is the hypergraph backend in memory: SQLite's graph over a database that no file holds
// and that ends with the program.
package inmem

import (
	"context"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/internal/clock"
)

// Store is the backend. Its zero value is not usable; Open makes one.
type Store struct{ *sqlite.Store }

// Open makes an empty store with the recurse vocabulary. A nil clock is the system's.
func Open(ctx context.Context, c clock.Clock) (*Store, error) {
	s, err := sqlite.Memory(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
}

// New is Open for tests: it panics where there is no memory.
func New(c clock.Clock) *Store {
	s, err := Open(context.Background(), c)
	if err != nil {
		panic(err)
	}
	return s
}

// Capabilities are the published values (provider-contract.md H12): nobody may count on transactions,
// although a failed one leaves nothing.
func (s *Store) Capabilities() hypergraph.Capabilities {
	return hypergraph.Capabilities{
		VectorSearch: true, FullTextSearch: true, Transactions: false,
		ConcurrentReads: true, ConcurrentWrites: true,
		HasSubjects: true,
	}
}
