// Package postgres is the hypergraph backend on a PostgreSQL server: concurrent writers, full-text
// search, vectors, change notifications. Every key begins with the workspace; DISTRIBUTE.md explains
// how to distribute the tables by it.
package postgres

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Store is an opened workspace. It implements hypergraph.Backend and is safe for
// concurrent use.
type Store struct {
	// The operations outside a transaction: each reads one snapshot or runs in its own transaction.
	ops

	workspace string
	clock     clock.Clock
	pool      *pgxpool.Pool
	location  string
	asked     bool // opened read-only by request

	mu          sync.Mutex
	readOnly    string // why changes are refused; empty where they are allowed
	outdated    string // why the schema takes no changes before a migration
	version     int    // of the schema, as last seen
	notes       []string
	indexed     map[int]bool // dimensions with a pgvector index
	pgvector    bool
	distributed bool // the rows are on several servers (distributed.go)

	vectors sqlgraph.VectorCache

	closing sync.Once
}

// Location names host, database and workspace, never user or password.
func (s *Store) Location() string { return s.location }

// Notes say what is particular about this store.
func (s *Store) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

// refusal says why nothing can be written now; empty where writing is possible.
func (s *Store) refusal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.readOnly, s.outdated)
}

// ReadOnlyReason says in words why changes and migrations are refused; empty where they are allowed.
func (s *Store) ReadOnlyReason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}

// Capabilities are the published values (provider-contract.md H12); the number of connections is the pool's.
func (s *Store) Capabilities() hypergraph.Capabilities {
	return hypergraph.Capabilities{
		VectorSearch:        true,
		FullTextSearch:      true,
		Transactions:        true,
		ConcurrentReads:     true,
		ConcurrentWrites:    true,
		ChangeNotifications: true,
		HasSubjects:         true,
		MaxConnections:      int(s.pool.Config().MaxConns),
		MaxVectorDimensions: maxVectorDimensions,
	}
}

// Ping reads one row of the schema, changing nothing.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "ping", func(q *query) error {
		var n int64
		_, err := q.One(`SELECT count(*) FROM (SELECT 1 FROM memdesk.nodes WHERE workspace = $1 LIMIT 1) one`, []any{s.workspace}, &n)
		return err
	})
}

// Close closes the connections. Idempotent.
func (s *Store) Close() error {
	s.closing.Do(s.pool.Close)
	return nil
}

// WithTx runs fn in one transaction on one snapshot: an error or a panic rolls everything back
// (provider-contract.md H10). Rows that fn reads by id are locked until the end; where another transaction
// has changed a row that fn writes, everything is undone and fn runs again. After an error of the server
// itself every further operation is refused and nothing is committed, whatever fn returns.
func (s *Store) WithTx(ctx context.Context, fn func(hypergraph.Ops) error) error {
	return s.transaction(ctx, "transaction", func(q *query) error {
		return fn(newOps(s, q))
	})
}

var _ hypergraph.Backend = (*Store)(nil)
var _ model.Migrator = (*Store)(nil)
