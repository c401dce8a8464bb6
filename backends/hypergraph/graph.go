package hypergraph

import (
	"context"
	"errors"
	"slices"

	"memdesk/model"
)

// Vectors is implemented by backends that hold the vectors of nodes.
type Vectors interface {
	// Embedding returns a node's vector and the model that computed it; NotFound for an absent node,
	// Unsupported for a node without a vector.
	Embedding(ctx context.Context, node string) (vector []float32, modelName string, err error)
}

// NoVector is the advice for a node without a vector.
const NoVector = "this item has no vector, so nothing can be compared with it"

// graph is the Graph facet over one backend.
type graph struct{ *adapter }

// Neighbours implements model.Graph. An edge's neighbours are its members.
func (g graph) Neighbours(ctx context.Context, id string, req model.GraphRequest) ([]model.Header, error) {
	if err := g.begin(ctx, "neighbours", false); err != nil {
		return nil, err
	}
	t, err := parseItemID("neighbours", id)
	if err != nil {
		return nil, err
	}
	limit := model.PageLimit(req.Limit)
	if t.edge {
		return g.members(ctx, t.id, limit)
	}
	o := TraversalOptions{MaxDepth: max(req.Depth, 1), EdgeTypes: req.Kinds, MaxResults: limit}
	if req.Outgoing != req.Incoming {
		o.Direction = Incoming
		if req.Outgoing {
			o.Direction = Outgoing
		}
	}
	for _, kind := range req.Kinds {
		if err := known("neighbours", "kind of relation", kind, g.Vocabulary.EdgeTypes); err != nil {
			return nil, err
		}
	}
	nodes, err := g.Backend.GetConnected(ctx, t.id, o)
	if err != nil {
		return nil, model.Wrap("neighbours", err)
	}
	return g.headers(nodes), nil
}

func (g graph) members(ctx context.Context, edge string, limit int) ([]model.Header, error) {
	e, err := g.Backend.GetEdge(ctx, edge)
	if err != nil {
		return nil, model.Wrap("neighbours", err)
	}
	var out []model.Header
	seen := map[string]bool{}
	for _, m := range e.Members {
		if seen[m.NodeID] || len(out) == limit {
			continue
		}
		seen[m.NodeID] = true
		n, err := g.Backend.GetNode(ctx, m.NodeID)
		if errors.Is(err, model.NotFound) { // a foreign writer left a member that no longer exists
			continue
		}
		if err != nil {
			return nil, model.Wrap("neighbours", err)
		}
		out = append(out, g.nodeHeader(n))
	}
	return out, nil
}

func (g graph) headers(nodes []Node) []model.Header {
	out := make([]model.Header, len(nodes))
	for i, n := range nodes {
		out[i] = g.nodeHeader(n)
	}
	return out
}

// Subgraph implements model.Graph. A named edge stands for its members.
func (g graph) Subgraph(ctx context.Context, ids []string, depth int) ([]model.Header, []model.Link, error) {
	if err := g.begin(ctx, "subgraph", false); err != nil {
		return nil, nil, err
	}
	if depth < 0 {
		return nil, nil, model.Errorf(model.InvalidInput, "subgraph", "the depth is negative: give 0 for the items themselves")
	}
	var from []string
	for _, id := range ids {
		t, err := parseItemID("subgraph", id)
		if err != nil {
			return nil, nil, err
		}
		if !t.edge {
			from = append(from, t.id)
			continue
		}
		e, err := g.Backend.GetEdge(ctx, t.id)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return nil, nil, model.Wrap("subgraph", err)
		}
		for _, m := range e.Members {
			from = append(from, m.NodeID)
		}
	}
	nodes, edges, err := g.Backend.GetSubgraph(ctx, from, depth)
	if err != nil {
		return nil, nil, model.Wrap("subgraph", err)
	}
	links := make([]model.Link, len(edges))
	for i, e := range edges {
		links[i] = model.Link{ID: EdgeItemID(e.ID), Kind: e.Type, Label: e.Label}
		for _, m := range e.Members {
			links[i].Other = append(links[i].Other, NodeItemID(m.NodeID))
		}
	}
	return g.headers(nodes), links, nil
}

// Similar implements model.Graph: it returns the nodes nearest to a node by the angle of their vectors,
// without the node itself. As in Recall, text that the scanner rejects is not shown, and archived nodes
// are skipped.
func (g graph) Similar(ctx context.Context, id string, limit int) (model.RecallResult, error) {
	const op = "similar"
	if err := g.begin(ctx, op, false); err != nil {
		return model.RecallResult{}, err
	}
	t, err := parseItemID(op, id)
	if err != nil {
		return model.RecallResult{}, err
	}
	vectors, ok := g.Backend.(Vectors)
	switch {
	case t.edge:
		return model.RecallResult{}, model.Errorf(model.Unsupported, op, "an edge has no vector: ask for one of its members")
	case !ok || !g.caps.VectorSearch:
		return model.RecallResult{}, model.Errorf(model.Unsupported, op, "this store keeps no vectors")
	}
	vector, _, err := vectors.Embedding(ctx, t.id)
	if err != nil {
		return model.RecallResult{}, model.Wrap(op, err)
	}
	if limit <= 0 || limit > model.MaxPage {
		limit = model.RecallLimit
	}
	r := recall{a: g.adapter, limit: limit, res: model.RecallResult{Hits: []model.RecallSnippet{}}}
	err = r.nodes(g.searchOptions(""), func(o SearchOptions) (SearchResult, error) {
		o.Limit++ // the node itself is usually the nearest
		found, err := g.Backend.SearchByEmbedding(ctx, vector, o)
		kept := slices.DeleteFunc(slices.Clone(found.Hits), func(h Hit) bool { return h.Node.ID == t.id })
		if len(kept) < len(found.Hits) && !found.Total.Unknown {
			found.Total.N--
		}
		found.Hits = kept
		return found, err
	})
	if err != nil {
		return model.RecallResult{}, model.Wrap(op, err)
	}
	return r.res, nil
}

// known is InvalidInput for a word outside the store's vocabulary.
func known(op, what, word string, words []string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "unknown %s %q: there are %v", what, word, words)
}
