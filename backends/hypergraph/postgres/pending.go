package postgres

import (
	"context"
	"iter"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/model"
)

// Pending is a database that may have no schema yet: it reads as an empty store and gets its schema
// with the first change, so that opening it leaves no trace.
type Pending struct {
	*Store
	empty *inmem.Store
	turn  chan struct{} // one token, for ready and for making the schema
	ready bool
}

// OpenPending is Open for a database that may have no schema yet.
func OpenPending(ctx context.Context, cfg Config) (*Pending, error) {
	s, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	p := &Pending{Store: s, empty: inmem.New(s.clock), turn: make(chan struct{}, 1)}
	seen, err := s.probe(ctx)
	if err == nil && (seen.version > 0 || seen.encoding != "UTF8") {
		err = s.prepare(ctx)
		p.ready = err == nil
	}
	if err != nil {
		_ = p.Close()
		return nil, err
	}
	if !p.ready {
		seen.version, seen.missing = latest(), nil
		s.mu.Lock()
		s.distributed = s.distributed || seen.engine
		s.readOnly, s.pgvector = seen.readOnly(cfg.ReadOnly), seen.pgvector
		s.notes = []string{"the database has no memdesk schema yet: it is made with the first change"}
		s.mu.Unlock()
	}
	return p, nil
}

// take waits for the turn as long as the context lasts.
func (p *Pending) take(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return model.FromContext(ctx, "open")
	}
}

// now is the store for reads.
func (p *Pending) now(ctx context.Context) hypergraph.Backend {
	if p.take(ctx) != nil {
		return p.Store // which tells that the context has ended
	}
	defer func() { <-p.turn }()
	if !p.ready { // another program may have made the schema meanwhile
		if at, err := p.Store.Schema(ctx); err == nil && at.Current == 0 {
			return p.empty
		}
		p.ready = p.Store.prepare(ctx) == nil
	}
	return p.Store
}

// made is the store for changes, with its schema.
func (p *Pending) made(ctx context.Context) (hypergraph.Backend, error) {
	if b := p.now(ctx); b == hypergraph.Backend(p.Store) {
		return b, nil
	}
	if err := p.take(ctx); err != nil {
		return nil, err
	}
	defer func() { <-p.turn }()
	if why := p.Store.ReadOnlyReason(); why != "" {
		return nil, model.Errorf(model.PermissionDenied, "open", "the store is read-only: %s", why)
	}
	if _, err := p.Store.Migrate(ctx, latest()); err != nil {
		return nil, err
	}
	p.ready = true
	return p.Store, nil
}

func (p *Pending) change(ctx context.Context, fn func(hypergraph.Backend) error) error {
	b, err := p.made(ctx)
	if err != nil {
		return err
	}
	return fn(b)
}

// Migrate implements model.Migrator.
func (p *Pending) Migrate(ctx context.Context, target int) (model.SchemaState, error) {
	if err := p.take(ctx); err != nil {
		return model.SchemaState{}, err
	}
	defer func() { <-p.turn }()
	state, err := p.Store.Migrate(ctx, target)
	p.ready = err == nil && target > 0
	return state, err
}

// Watch implements model.Watcher.
func (p *Pending) Watch(ctx context.Context) (<-chan model.Change, error) {
	if p.now(ctx) == hypergraph.Backend(p.empty) {
		return nil, model.Errorf(model.Unavailable, "watch", "the database has no memdesk schema yet: it is made with the first change")
	}
	return p.Store.Watch(ctx)
}

// WithTx implements hypergraph.Backend.
func (p *Pending) WithTx(ctx context.Context, fn func(hypergraph.Ops) error) error {
	return p.change(ctx, func(b hypergraph.Backend) error { return b.WithTx(ctx, fn) })
}

// Ping implements hypergraph.Backend: it checks that the server answers, with or without a schema.
func (p *Pending) Ping(ctx context.Context) error {
	if p.now(ctx) == hypergraph.Backend(p.Store) {
		return p.Store.Ping(ctx)
	}
	_, err := p.Store.Schema(ctx)
	return err
}

// The operations outside a transaction.

// CreateNode implements hypergraph.Ops.
func (p *Pending) CreateNode(ctx context.Context, n hypergraph.Node) error {
	return p.change(ctx, func(b hypergraph.Backend) error { return b.CreateNode(ctx, n) })
}

// UpdateNode implements hypergraph.Ops.
func (p *Pending) UpdateNode(ctx context.Context, n hypergraph.Node) error {
	return p.now(ctx).UpdateNode(ctx, n)
}

// DeleteNode implements hypergraph.Ops.
func (p *Pending) DeleteNode(ctx context.Context, id string) error {
	return p.now(ctx).DeleteNode(ctx, id)
}

// DeleteNodes implements hypergraph.Ops.
func (p *Pending) DeleteNodes(ctx context.Context, ids []string) (int64, error) {
	return p.now(ctx).DeleteNodes(ctx, ids)
}

// GetNode implements hypergraph.Ops.
func (p *Pending) GetNode(ctx context.Context, id string) (hypergraph.Node, error) {
	return p.now(ctx).GetNode(ctx, id)
}

// ListNodes implements hypergraph.Ops.
func (p *Pending) ListNodes(ctx context.Context, l hypergraph.Listing) (hypergraph.NodePage, error) {
	return p.now(ctx).ListNodes(ctx, l)
}

// AllNodes implements hypergraph.Ops.
func (p *Pending) AllNodes(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[hypergraph.Node, error] {
	return p.now(ctx).AllNodes(ctx, f)
}

// NodeIDs implements hypergraph.Ops.
func (p *Pending) NodeIDs(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[string, error] {
	return p.now(ctx).NodeIDs(ctx, f)
}

// StreamNodes implements hypergraph.Ops.
func (p *Pending) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	return p.now(ctx).StreamNodes(ctx)
}

// CreateEdge implements hypergraph.Ops.
func (p *Pending) CreateEdge(ctx context.Context, e hypergraph.Edge) error {
	return p.change(ctx, func(b hypergraph.Backend) error { return b.CreateEdge(ctx, e) })
}

// GetEdge implements hypergraph.Ops.
func (p *Pending) GetEdge(ctx context.Context, id string) (hypergraph.Edge, error) {
	return p.now(ctx).GetEdge(ctx, id)
}

// UpdateEdge implements hypergraph.Ops.
func (p *Pending) UpdateEdge(ctx context.Context, e hypergraph.Edge) error {
	return p.now(ctx).UpdateEdge(ctx, e)
}

// DeleteEdge implements hypergraph.Ops.
func (p *Pending) DeleteEdge(ctx context.Context, id string) error {
	return p.now(ctx).DeleteEdge(ctx, id)
}

// ListEdges implements hypergraph.Ops.
func (p *Pending) ListEdges(ctx context.Context, l hypergraph.Listing) (hypergraph.EdgePage, error) {
	return p.now(ctx).ListEdges(ctx, l)
}

// EdgesOfAll implements hypergraph.Ops.
func (p *Pending) EdgesOfAll(ctx context.Context, nodes []string) (map[string][]string, error) {
	return p.now(ctx).EdgesOfAll(ctx, nodes)
}

// EdgesOf implements hypergraph.Ops.
func (p *Pending) EdgesOf(ctx context.Context, node string, limit int) ([]hypergraph.Edge, int64, error) {
	return p.now(ctx).EdgesOf(ctx, node, limit)
}

// AddMembership implements hypergraph.Ops.
func (p *Pending) AddMembership(ctx context.Context, edge string, m hypergraph.Membership) error {
	return p.now(ctx).AddMembership(ctx, edge, m)
}

// RemoveMembership implements hypergraph.Ops.
func (p *Pending) RemoveMembership(ctx context.Context, edge, node string) error {
	return p.now(ctx).RemoveMembership(ctx, edge, node)
}

// SearchByContent implements hypergraph.Ops.
func (p *Pending) SearchByContent(ctx context.Context, q string, o hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	return p.now(ctx).SearchByContent(ctx, q, o)
}

// SearchByEmbedding implements hypergraph.Ops.
func (p *Pending) SearchByEmbedding(ctx context.Context, v []float32, o hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	return p.now(ctx).SearchByEmbedding(ctx, v, o)
}

// SetEmbedding implements hypergraph.Ops.
func (p *Pending) SetEmbedding(ctx context.Context, node, modelName string, v []float32) error {
	return p.now(ctx).SetEmbedding(ctx, node, modelName, v)
}

// Embedding implements hypergraph.Vectors.
func (p *Pending) Embedding(ctx context.Context, node string) ([]float32, string, error) {
	if p.now(ctx) == hypergraph.Backend(p.empty) {
		return p.empty.Embedding(ctx, node)
	}
	return p.Store.Embedding(ctx, node)
}

// GetConnected implements hypergraph.Ops.
func (p *Pending) GetConnected(ctx context.Context, id string, o hypergraph.TraversalOptions) ([]hypergraph.Node, error) {
	return p.now(ctx).GetConnected(ctx, id, o)
}

// GetSubgraph implements hypergraph.Ops.
func (p *Pending) GetSubgraph(ctx context.Context, ids []string, depth int) ([]hypergraph.Node, []hypergraph.Edge, error) {
	return p.now(ctx).GetSubgraph(ctx, ids, depth)
}

// Counts implements hypergraph.Ops.
func (p *Pending) Counts(ctx context.Context) ([]model.TierCount, error) {
	return p.now(ctx).Counts(ctx)
}

// Close implements hypergraph.Backend.
func (p *Pending) Close() error {
	_ = p.empty.Close() // it stores nothing
	return p.Store.Close()
}

var (
	_ hypergraph.Backend = (*Pending)(nil)
	_ hypergraph.Vectors = (*Pending)(nil)
	_ model.Migrator     = (*Pending)(nil)
	_ model.Watcher      = (*Pending)(nil)
)
