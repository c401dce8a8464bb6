// Package postgres is the hypergraph backend on a PostgreSQL server: many writers
// at once, full-text search, vectors, word of changes. Every key begins with the
// workspace; DISTRIBUTE.md tells how to spread the tables by it.
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
	// The operations outside a transaction: each reads one snapshot or is one
	// transaction of its own.
	ops

	workspace string
	clock     clock.Clock
	pool      *pgxpool.Pool
	location  string
	asked     bool // for reading only

	mu          sync.Mutex
	readOnly    string // why changes are refused, empty where they are not
	outdated    string // why the schema takes no changes before it is migrated
	version     int    // of the schema, as last seen
	notes       []string
	indexed     map[int]bool // dimensions with an index of pgvector
	pgvector    bool
	distributed bool // the rows lie on several servers (distributed.go)

	vectors sqlgraph.VectorCache

	closing sync.Once
}

// Location names host, database and workspace, never user or password.
func (s *Store) Location() string { return s.location }

// Notes tell operators what is particular about this store.
func (s *Store) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

// refusal says why nothing can be written now; empty where it can.
func (s *Store) refusal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.readOnly, s.outdated)
}

// ReadOnlyReason says in words why changes are refused, migrations too; empty where
// they are not.
func (s *Store) ReadOnlyReason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}

// Capabilities are the published values (provider-contract.md H12); the connections
// are those of the pool.
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

// Close ends the connections. Idempotent.
func (s *Store) Close() error {
	s.closing.Do(s.pool.Close)
	return nil
}

// WithTx runs fn in one transaction on one snapshot: an error or a panic rolls
// everything back (provider-contract.md H10). What fn reads by its id is locked
// until the end; where another transaction has changed something that fn writes, all
// is undone and fn runs again. After an error of the server itself nothing more is
// accepted and nothing is committed, whatever fn returns.
func (s *Store) WithTx(ctx context.Context, fn func(hypergraph.Ops) error) error {
	return s.transaction(ctx, "transaction", func(q *query) error {
		return fn(newOps(s, q))
	})
}

var _ hypergraph.Backend = (*Store)(nil)
var _ model.Migrator = (*Store)(nil)
