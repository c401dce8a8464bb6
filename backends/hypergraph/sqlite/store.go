package sqlite

import (
	"context"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/litefile"
	"memdesk/internal/clock"
)

// Kind is the schema of an open file.
type Kind string

// The schemas.
const (
	RecurseSchema Kind = "recurse" // a live agent's, never altered
	OwnSchema     Kind = "own"     // schema.go
)

// Config says which file to open and how.
type Config struct {
	// Path is the database, or a directory that holds rlm.db or memory.db.
	Path string
	// Create makes a missing or empty file a new store of the own schema.
	Create bool
	// ReadOnly refuses every change and opens the file without write access.
	ReadOnly bool
	// Clock stamps what is written; nil is the system's.
	Clock clock.Clock
}

// Store is an open database. It implements hypergraph.Backend and is safe for
// concurrent use: reads share a pool of connections, changes queue on one.
type Store struct {
	// The operations outside a transaction: each reads one snapshot or runs in its own transaction.
	ops

	kind       Kind
	clock      clock.Clock
	vocabulary hypergraph.Vocabulary
	notes      []string
	layout     layout
	file       *litefile.File
	inMemory   bool

	cache vectorCache
}

// maxVectorDimensions is the published limit (provider-contract.md H12).
const maxVectorDimensions = 2048

// Schema is the kind of database that is open.
func (s *Store) Schema() Kind { return s.kind }

// Path is the file that is open: of a directory, the one that was chosen.
func (s *Store) Path() string { return s.file.Path }

// Notes say which file is open and which files are beside it.
func (s *Store) Notes() []string { return slices.Clone(s.notes) }

// Vocabulary returns the values that the file's CHECK lists admit: an older recurse file refuses the
// reasoning edge types.
func (s *Store) Vocabulary() hypergraph.Vocabulary {
	v := s.vocabulary
	v.NodeTypes, v.EdgeTypes = slices.Clone(v.NodeTypes), slices.Clone(v.EdgeTypes)
	v.Tiers, v.Bookkeeping = slices.Clone(v.Tiers), slices.Clone(v.Bookkeeping)
	return v
}

// ReadOnlyReason says in words why changes are refused; empty where they are allowed.
func (s *Store) ReadOnlyReason() string { return s.file.ReadOnlyReason() }

// Capabilities are the published values (provider-contract.md H12). A recurse file has no column for a
// node's subject.
func (s *Store) Capabilities() hypergraph.Capabilities {
	return hypergraph.Capabilities{
		VectorSearch:        true,
		FullTextSearch:      true,
		Transactions:        true,
		ConcurrentReads:     true,
		ConcurrentWrites:    false,
		HasSubjects:         s.kind == OwnSchema,
		MaxConnections:      litefile.MaxReaders + 1,
		MaxVectorDimensions: maxVectorDimensions,
	}
}

// Ping reads one row of the schema, changing nothing.
func (s *Store) Ping(ctx context.Context) error {
	return s.view(ctx, "ping", func(q *query) error {
		var n int64
		_, err := q.One(`SELECT count(*) FROM (SELECT 1 FROM nodes LIMIT 1)`, nil, &n)
		return err
	})
}

// Close releases the file. SQLite's -wal and -shm are removed unless they existed before or another
// program still uses them.
func (s *Store) Close() error {
	s.cache.close()
	return s.file.Close()
}

// WithTx runs fn in one immediate transaction: an error or a panic rolls everything back
// (provider-contract.md H10). An operation that fails inside undoes its own changes, and fn may
// continue; after a failure of the database itself (a full disk, an interrupt) every further operation
// is refused and nothing is committed, whatever fn returns.
func (s *Store) WithTx(ctx context.Context, fn func(hypergraph.Ops) error) error {
	return s.changing(ctx, "transaction", func(q *query) error {
		return fn(newOps(s, q))
	})
}

var _ hypergraph.Backend = (*Store)(nil)
