// Package inmem is the hypergraph backend in memory: ordered, safe for concurrent use, without
// transactions. Its content ends with the program.
package inmem

import (
	"context"
	"iter"
	"sync"

	"memdesk/backends/hypergraph"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Store is the backend. Its zero value is not usable; New makes one.
type Store struct {
	mu     sync.RWMutex
	state  *state
	closed bool
}

// New makes an empty store with the recurse vocabulary. A nil clock is the system's.
func New(c clock.Clock) *Store {
	if c == nil {
		c = clock.System{}
	}
	return &Store{state: newState(c)}
}

// Capabilities are the published values (provider-contract.md H12).
func (s *Store) Capabilities() hypergraph.Capabilities {
	return hypergraph.Capabilities{
		VectorSearch: true, FullTextSearch: true, Transactions: false,
		ConcurrentReads: true, ConcurrentWrites: true,
		HasSubjects: true,
	}
}

// Ping fails only after Close.
func (s *Store) Ping(ctx context.Context) error {
	return s.read(ctx, "ping", func() error { return nil })
}

// Close drops the content; every later call is Unavailable.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.state = newState(s.state.clock)
	return nil
}

// WithTx runs fn under the store's lock, so that no other call sees or changes anything meanwhile.
// There is no rollback: the changes of an fn that fails or panics stay.
func (s *Store) WithTx(ctx context.Context, fn func(hypergraph.Ops) error) error {
	return s.write(ctx, "transaction", func() error { return fn(s.state) })
}

// Load stores many nodes at once and keeps their times and counters, for imported data. It stops at the
// first refused node; the nodes before it stay.
func (s *Store) Load(ctx context.Context, nodes iter.Seq[hypergraph.Node]) error {
	return s.write(ctx, "load", func() error {
		for n := range nodes {
			if err := s.state.add(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) read(ctx context.Context, op string, fn func() error) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.open(op, fn)
}

func (s *Store) write(ctx context.Context, op string, fn func() error) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open(op, fn)
}

func (s *Store) open(op string, fn func() error) error {
	if s.closed {
		return model.Errorf(model.Unavailable, op, "the store is closed")
	}
	return fn()
}

// The operations outside a transaction: each takes the lock itself.

// CreateNode implements hypergraph.Ops.
func (s *Store) CreateNode(ctx context.Context, n hypergraph.Node) error {
	return s.write(ctx, "create node", func() error { return s.state.CreateNode(ctx, n) })
}

// GetNode implements hypergraph.Ops.
func (s *Store) GetNode(ctx context.Context, id string) (n hypergraph.Node, err error) {
	err = s.read(ctx, "get node", func() error { n, err = s.state.GetNode(ctx, id); return err })
	return n, err
}

// UpdateNode implements hypergraph.Ops.
func (s *Store) UpdateNode(ctx context.Context, n hypergraph.Node) error {
	return s.write(ctx, "update node", func() error { return s.state.UpdateNode(ctx, n) })
}

// DeleteNode implements hypergraph.Ops.
func (s *Store) DeleteNode(ctx context.Context, id string) error {
	return s.write(ctx, "delete node", func() error { return s.state.DeleteNode(ctx, id) })
}

// DeleteNodes implements hypergraph.Ops.
func (s *Store) DeleteNodes(ctx context.Context, ids []string) (n int64, err error) {
	err = s.write(ctx, "delete nodes", func() error { n, err = s.state.DeleteNodes(ctx, ids); return err })
	return n, err
}

// ListNodes implements hypergraph.Ops.
func (s *Store) ListNodes(ctx context.Context, l hypergraph.Listing) (p hypergraph.NodePage, err error) {
	err = s.read(ctx, "list nodes", func() error { p, err = s.state.ListNodes(ctx, l); return err })
	return p, err
}

// NodeIDs implements hypergraph.Ops.
func (s *Store) NodeIDs(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[string, error] {
	return ids(s.AllNodes(ctx, f))
}

// StreamNodes implements hypergraph.Ops.
func (s *Store) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	return s.AllNodes(ctx, hypergraph.NodeFilter{})
}

// AllNodes implements hypergraph.Ops. It holds no lock while the caller handles a node, so it yields
// each node as it was when its batch was copied.
func (s *Store) AllNodes(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[hypergraph.Node, error] {
	return batches(func(last *node) (batch []hypergraph.Node, next *node, err error) {
		err = s.read(ctx, "all nodes", func() (err error) { batch, next, err = s.state.batch(ctx, f, last); return err })
		return batch, next, err
	})
}

// CreateEdge implements hypergraph.Ops.
func (s *Store) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	return s.write(ctx, "create edge", func() error { return s.state.CreateEdge(ctx, e) })
}

// GetEdge implements hypergraph.Ops.
func (s *Store) GetEdge(ctx context.Context, id string) (e hypergraph.Edge, err error) {
	err = s.read(ctx, "get edge", func() error { e, err = s.state.GetEdge(ctx, id); return err })
	return e, err
}

// UpdateEdge implements hypergraph.Ops.
func (s *Store) UpdateEdge(ctx context.Context, e hypergraph.Edge) error {
	return s.write(ctx, "update edge", func() error { return s.state.UpdateEdge(ctx, e) })
}

// DeleteEdge implements hypergraph.Ops.
func (s *Store) DeleteEdge(ctx context.Context, id string) error {
	return s.write(ctx, "delete edge", func() error { return s.state.DeleteEdge(ctx, id) })
}

// ListEdges implements hypergraph.Ops.
func (s *Store) ListEdges(ctx context.Context, l hypergraph.Listing) (p hypergraph.EdgePage, err error) {
	err = s.read(ctx, "list edges", func() error { p, err = s.state.ListEdges(ctx, l); return err })
	return p, err
}

// EdgesOfAll implements hypergraph.Ops.
func (s *Store) EdgesOfAll(ctx context.Context, nodes []string) (es map[string][]string, err error) {
	err = s.read(ctx, "edges of nodes", func() error { es, err = s.state.EdgesOfAll(ctx, nodes); return err })
	return es, err
}

// EdgesOf implements hypergraph.Ops.
func (s *Store) EdgesOf(ctx context.Context, id string, limit int) (es []hypergraph.Edge, total int64, err error) {
	err = s.read(ctx, "edges of node", func() error { es, total, err = s.state.EdgesOf(ctx, id, limit); return err })
	return es, total, err
}

// AddMembership implements hypergraph.Ops.
func (s *Store) AddMembership(ctx context.Context, edge string, m hypergraph.Membership) error {
	return s.write(ctx, "add membership", func() error { return s.state.AddMembership(ctx, edge, m) })
}

// RemoveMembership implements hypergraph.Ops.
func (s *Store) RemoveMembership(ctx context.Context, edge, node string) error {
	return s.write(ctx, "remove membership", func() error { return s.state.RemoveMembership(ctx, edge, node) })
}

// SearchByContent implements hypergraph.Ops.
func (s *Store) SearchByContent(ctx context.Context, q string, o hypergraph.SearchOptions) (r hypergraph.SearchResult, err error) {
	err = s.read(ctx, "search", func() error { r, err = s.state.SearchByContent(ctx, q, o); return err })
	return r, err
}

// SearchByEmbedding implements hypergraph.Ops.
func (s *Store) SearchByEmbedding(ctx context.Context, v []float32, o hypergraph.SearchOptions) (r hypergraph.SearchResult, err error) {
	err = s.read(ctx, "search", func() error { r, err = s.state.SearchByEmbedding(ctx, v, o); return err })
	return r, err
}

// Embedding implements hypergraph.Vectors.
func (s *Store) Embedding(ctx context.Context, id string) (v []float32, modelName string, err error) {
	err = s.read(ctx, "embedding", func() error { v, modelName, err = s.state.Embedding(ctx, id); return err })
	return v, modelName, err
}

// SetEmbedding implements hypergraph.Ops.
func (s *Store) SetEmbedding(ctx context.Context, id, modelName string, v []float32) error {
	return s.write(ctx, "set embedding", func() error { return s.state.SetEmbedding(ctx, id, modelName, v) })
}

// GetConnected implements hypergraph.Ops.
func (s *Store) GetConnected(ctx context.Context, id string, o hypergraph.TraversalOptions) (ns []hypergraph.Node, err error) {
	err = s.read(ctx, "get connected", func() error { ns, err = s.state.GetConnected(ctx, id, o); return err })
	return ns, err
}

// GetSubgraph implements hypergraph.Ops.
func (s *Store) GetSubgraph(ctx context.Context, ids []string, depth int) (ns []hypergraph.Node, es []hypergraph.Edge, err error) {
	err = s.read(ctx, "get subgraph", func() error { ns, es, err = s.state.GetSubgraph(ctx, ids, depth); return err })
	return ns, es, err
}

// Counts implements hypergraph.Ops.
func (s *Store) Counts(ctx context.Context) (c []model.TierCount, err error) {
	err = s.read(ctx, "counts", func() error { c, err = s.state.Counts(ctx); return err })
	return c, err
}
