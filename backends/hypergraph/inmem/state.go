package inmem

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/vectors"
	"memdesk/backends/internal/snippet"
	"memdesk/internal/clock"
	"memdesk/model"
)

// state is the content without a lock; the Store holds one around every call.
type state struct {
	clock clock.Clock
	vocab hypergraph.Vocabulary

	nodes    map[string]*node
	all      order[node]
	tiers    map[string]*order[node]
	facets   map[facet]int64
	bytes    map[string]int64 // of content, per tier
	children map[string]int   // decisions per parent

	edges     map[string]*edge
	edgeOrder order[edge]
	edgeBytes int64
	memberOf  map[string]map[string]bool // node → its edges
}

// order keeps one set of entries in the two orders of lists.
type order[T any] struct{ byID, byTime *index[T] }

func (o order[T]) insert(x *T) { o.byID.insert(x); o.byTime.insert(x) }
func (o order[T]) remove(x *T) { o.byID.remove(x); o.byTime.remove(x) }

// facet is the most common filter. Its counts are kept up to date, so that totals need no scan.
type facet struct{ tier, kind, subtype string }

type node struct {
	hypergraph.Node
	text, side string // content and metadata, folded for search
	vector     []float32
	model      string  // of the program that computed the vector
	length     float64 // of the vector
}

type edge struct {
	hypergraph.Edge
	text string // label, id and metadata, folded
}

func newState(c clock.Clock) *state {
	return &state{
		clock: c, vocab: hypergraph.Recurse(),
		nodes: map[string]*node{}, all: nodeOrder(), tiers: map[string]*order[node]{},
		facets: map[facet]int64{}, bytes: map[string]int64{}, children: map[string]int{},
		edges:     map[string]*edge{},
		edgeOrder: order[edge]{newIndex(edgeByID), newIndex(edgeByTime)},
		memberOf:  map[string]map[string]bool{},
	}
}

func nodeOrder() order[node] { return order[node]{newIndex(nodeByID), newIndex(nodeByTime)} }

// now drops the monotonic reading: it would order times differently from the cursors that hold them.
func (s *state) now() time.Time { return s.clock.Now().UTC().Round(0) }

func nodeByID(a, b *node) int { return strings.Compare(a.ID, b.ID) }
func nodeByTime(a, b *node) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}
func edgeByID(a, b *edge) int { return strings.Compare(a.ID, b.ID) }
func edgeByTime(a, b *edge) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}

// copyOut copies a node so that no caller shares memory with the store (H5).
func (n *node) copyOut() hypergraph.Node {
	out := n.Node
	out.HasVector, out.AsStored, out.Forms = n.vector != nil, false, nil
	if out.Decision != nil {
		d := *out.Decision
		out.Decision = &d
	}
	return out
}

func (e *edge) copyOut() hypergraph.Edge {
	out := e.Edge
	out.Members, out.AsStored, out.Forms = slices.Clone(e.Members), false, nil
	return out
}

func notFound(op, what, id string) error {
	return model.Errorf(model.NotFound, op, "there is no %s %q", what, id)
}

// find looks up an entry for an operation.
func find[T any](ctx context.Context, op, what string, in map[string]*T, id string) (*T, error) {
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	x, ok := in[id]
	if !ok {
		return nil, notFound(op, what, id)
	}
	return x, nil
}

// CreateNode stores a new node.
func (s *state) CreateNode(ctx context.Context, n hypergraph.Node) error { return s.add(ctx, n) }

// add stores a new node with its own times; a missing one is now.
func (s *state) add(ctx context.Context, n hypergraph.Node) error {
	const op = "create node"
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if _, taken := s.nodes[n.ID]; taken {
		return model.Errorf(model.AlreadyExists, op, "there is a node %q already", n.ID)
	}
	if err := s.checkNode(op, n); err != nil {
		return err
	}
	if n.CreatedAt.IsZero() {
		n.CreatedAt = s.now()
	}
	if n.UpdatedAt.IsZero() {
		n.UpdatedAt = n.CreatedAt
	}
	n.RowVersion = 1
	x := &node{}
	s.fill(x, n)
	s.nodes[n.ID] = x
	s.all.insert(x)
	s.enter(x)
	return nil
}

func (s *state) fill(x *node, n hypergraph.Node) {
	if n.Decision != nil {
		d := *n.Decision
		n.Decision = &d
	}
	n.HasVector = false
	x.Node = n
	x.text, x.side = snippet.Fold(n.Content), snippet.Fold(n.Metadata)
}

// enter adds a node to its tier, the counts and its parent's children; leave removes it again.
func (s *state) enter(x *node) {
	t := s.tiers[x.Tier]
	if t == nil {
		o := nodeOrder()
		t = &o
		s.tiers[x.Tier] = t
	}
	t.insert(x)
	s.count(x, 1)
}

func (s *state) leave(x *node) {
	s.tiers[x.Tier].remove(x)
	s.count(x, -1)
}

func (s *state) count(x *node, by int64) {
	f := facet{x.Tier, x.Type, x.Subtype}
	if s.facets[f] += by; s.facets[f] == 0 {
		delete(s.facets, f)
	}
	s.bytes[x.Tier] += by * int64(len(x.Content))
	if x.Decision != nil && x.Decision.ParentID != "" {
		s.children[x.Decision.ParentID] += int(by)
	}
}

func (s *state) checkNode(op string, n hypergraph.Node) error {
	if err := oneOf(op, "type", n.Type, s.vocab.NodeTypes); err != nil {
		return err
	}
	if err := oneOf(op, "tier", n.Tier, s.vocab.Tiers); err != nil {
		return err
	}
	if !(n.Confidence >= 0 && n.Confidence <= 1) {
		return model.Errorf(model.InvalidInput, op, "confidence lies in 0..1")
	}
	d := n.Decision
	switch {
	case d == nil:
		return nil
	case n.Type != hypergraph.DecisionType:
		return model.Errorf(model.InvalidInput, op, "only a node of type decision has a decision record")
	case d.Confidence < 0 || d.Confidence > 100:
		return model.Errorf(model.InvalidInput, op, "a decision's confidence lies in 0..100")
	}
	if err := oneOf(op, "decision type", d.Kind, []string{"goal", "decision", "option", "action", "outcome", "observation"}); err != nil {
		return err
	}
	if err := oneOf(op, "decision status", d.Status, []string{"active", "completed", "rejected"}); err != nil {
		return err
	}
	if d.ParentID != "" {
		if p := s.nodes[d.ParentID]; p == nil || p.Decision == nil {
			return model.Errorf(model.Conflict, op, "there is no decision %q to be the parent", d.ParentID)
		}
	}
	return nil
}

func oneOf(op, what, value string, list []string) error {
	if slices.Contains(list, value) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "%s %q is none of %s", what, value, strings.Join(list, ", "))
}

// GetNode implements hypergraph.Ops.
func (s *state) GetNode(ctx context.Context, id string) (hypergraph.Node, error) {
	x, err := find(ctx, "get node", "node", s.nodes, id)
	if err != nil {
		return hypergraph.Node{}, err
	}
	return x.copyOut(), nil
}

// UpdateNode implements hypergraph.Ops.
func (s *state) UpdateNode(ctx context.Context, n hypergraph.Node) error {
	const op = "update node"
	x, err := find(ctx, op, "node", s.nodes, n.ID)
	if err != nil {
		return err
	}
	if n.Decision == nil {
		n.Decision = x.Decision
	}
	if err := s.checkNode(op, n); err != nil {
		return err
	}
	n.CreatedAt, n.AccessCount, n.LastAccessed = x.CreatedAt, x.AccessCount, x.LastAccessed
	n.UpdatedAt, n.RowVersion = s.now(), x.RowVersion+1
	s.leave(x)
	if x.Content != n.Content {
		x.vector = nil
	}
	s.fill(x, n)
	s.enter(x)
	return nil
}

// DeleteNode implements hypergraph.Ops.
func (s *state) DeleteNode(ctx context.Context, id string) error {
	const op = "delete node"
	x, err := find(ctx, op, "node", s.nodes, id)
	if err != nil {
		return err
	}
	if n := s.children[id]; n > 0 {
		return model.Errorf(model.Conflict, op, "%d decisions hang under %q: delete them or give them another parent first", n, id)
	}
	for e := range s.memberOf[id] {
		s.dropMember(s.edges[e], id)
		if lonely(s.edges[e].Members) {
			s.dropEdge(s.edges[e])
		}
	}
	delete(s.memberOf, id)
	delete(s.children, id)
	delete(s.nodes, id)
	s.all.remove(x)
	s.leave(x)
	return nil
}

// lonely reports whether there are fewer than two members; a node in two roles is one.
func lonely(ms []hypergraph.Membership) bool {
	return !slices.ContainsFunc(ms, func(m hypergraph.Membership) bool { return m.NodeID != ms[0].NodeID })
}

// DeleteNodes implements hypergraph.Ops. Nodes removed before a failure stay removed: there are no
// transactions.
func (s *state) DeleteNodes(ctx context.Context, ids []string) (int64, error) {
	var removed int64
	for _, id := range ids {
		switch err := s.DeleteNode(ctx, id); {
		case errors.Is(err, model.NotFound):
		case err != nil:
			return removed, err
		default:
			removed++
		}
	}
	return removed, nil
}

// Counts implements hypergraph.Ops.
func (s *state) Counts(ctx context.Context) ([]model.TierCount, error) {
	if err := model.FromContext(ctx, "counts"); err != nil {
		return nil, err
	}
	var out []model.TierCount
	for _, t := range s.vocab.Tiers {
		c := model.TierCount{Tier: t, Bytes: s.bytes[t]}
		if o := s.tiers[t]; o != nil {
			c.Items = int64(o.byID.n)
		}
		out = append(out, c)
	}
	return append(out, model.TierCount{Tier: hypergraph.EdgeTier, Items: int64(len(s.edges)), Bytes: s.edgeBytes}), nil
}

// SetEmbedding implements hypergraph.Ops.
func (s *state) SetEmbedding(ctx context.Context, id, modelName string, v []float32) error {
	const op = "set embedding"
	x, err := find(ctx, op, "node", s.nodes, id)
	if err != nil {
		return err
	}
	for _, c := range v {
		if math.IsNaN(float64(c)) || math.IsInf(float64(c), 0) {
			return model.Errorf(model.InvalidInput, op, "a vector holds finite numbers only")
		}
	}
	x.vector, x.length, x.model = nil, 0, ""
	if len(v) > 0 {
		x.vector, x.length, x.model = slices.Clone(v), vectors.Length(v), modelName
	}
	return nil
}

// Embedding implements hypergraph.Vectors.
func (s *state) Embedding(ctx context.Context, id string) ([]float32, string, error) {
	const op = "embedding"
	x, ok := s.nodes[id]
	switch {
	case !ok:
		return nil, "", notFound(op, "node", id)
	case x.vector == nil:
		return nil, "", model.Errorf(model.Unsupported, op, "%s", hypergraph.NoVector)
	}
	return slices.Clone(x.vector), x.model, model.FromContext(ctx, op)
}
