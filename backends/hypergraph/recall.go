package hypergraph

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// recallDepth is how far down the ranking Recall looks for hits that the scanner accepts, so that a few
// poisoned nodes cannot hide all others.
const recallDepth = 160

// Recall searches nodes as an agent does, bookkeeping ones included, and edges by label. Archived nodes
// are found only when their tier is named.
func (a *adapter) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	if err := cmp.Or(a.begin(ctx, "recall", false), a.CheckBound("recall", req.WorkspaceID, req.AgentID, req.CrewID)); err != nil {
		return model.RecallResult{}, err
	}
	if strings.TrimSpace(req.Query) == "" {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "the query is blank")
	}
	if req.Tier != "" {
		if err := a.checkTier("recall", req.Tier); err != nil {
			return model.RecallResult{}, err
		}
	}
	r := recall{a: a, query: req.Query, limit: model.ClampLimit(req.Limit), res: model.RecallResult{Hits: []model.RecallSnippet{}}}
	if req.Tier != EdgeTier {
		o := a.searchOptions(req.Tier)
		if err := r.nodes(o, func(o SearchOptions) (SearchResult, error) { return r.search(ctx, o) }); err != nil {
			return model.RecallResult{}, model.Wrap("recall", err)
		}
	}
	if req.Tier == EdgeTier || req.Tier == "" {
		if err := r.edges(ctx); err != nil {
			return model.RecallResult{}, model.Wrap("recall", err)
		}
	}
	return r.res, nil
}

func (a *adapter) searchOptions(tier string) SearchOptions {
	var o SearchOptions
	if tier != "" {
		o.Tiers = []string{tier}
		o.IncludeArchived = tier == a.Vocabulary.ArchiveTier
	}
	return o
}

// recall gathers one answer.
type recall struct {
	a     *adapter
	query string
	limit int
	res   model.RecallResult
	// The query's vector, made once.
	embedded bool
	vector   []float32
	embedErr error
}

// nodes searches, and searches deeper while rejected hits take up places.
func (r *recall) nodes(o SearchOptions, search func(SearchOptions) (SearchResult, error)) error {
	for o.Limit = r.limit; ; o.Limit = min(o.Limit*2, recallDepth) {
		found, err := search(o)
		if err != nil {
			return err
		}
		r.keep(found)
		exhausted := len(found.Hits) < o.Limit
		if len(r.res.Hits) == r.limit || exhausted {
			return nil
		}
		if o.Limit >= recallDepth {
			r.bound("the scanner rejects most of the best matches; what ranks below them was not looked at")
			return nil
		}
	}
}

// keep rebuilds the answer from one search.
func (r *recall) keep(found SearchResult) {
	r.res = model.RecallResult{Hits: []model.RecallSnippet{}, Bounded: found.Bounded, BoundNote: found.BoundNote}
	r.res.Total = found.Total.N
	if found.Total.Unknown {
		r.res.Total = model.TotalUnknown
	} else if found.Total.AtLeast {
		r.bound("counting stopped at the total shown")
	}
	for _, h := range found.Hits {
		id := NodeItemID(h.Node.ID)
		if r.a.scanner.Rejects(h.Node.Content) {
			r.res.Quarantined = append(r.res.Quarantined, id)
		} else if len(r.res.Hits) < r.limit {
			text, line := snippet.Cut(h.Node.Content, r.query)
			r.res.Hits = append(r.res.Hits, model.RecallSnippet{ID: id, Source: id, Snippet: text, Line: line, Score: clamp(h.Score)})
		}
	}
}

func (r *recall) bound(note string) {
	r.res.Bounded, r.res.BoundNote = true, joinNotes(r.res.BoundNote, note)
}

// edges adds the newest edges whose label contains the query, and looks on while rejected ones take up places. They are
// unranked, so they follow the nodes and score no better than the last of these.
func (r *recall) edges(ctx context.Context) error {
	room := r.limit - len(r.res.Hits)
	l := Listing{Text: r.query, Order: model.OrderNewest, Limit: max(room, 1)}
	page, err := r.a.Backend.ListEdges(ctx, l)
	if err != nil {
		return err
	}
	switch {
	case page.Total.Unknown:
		r.res.Total = model.TotalUnknown
	case r.res.Total != model.TotalUnknown:
		r.res.Total += page.Total.N
		if page.Total.AtLeast {
			r.bound("counting the edges stopped before their end")
		}
	}
	score := 1.0
	if n := len(r.res.Hits); n > 0 {
		score = r.res.Hits[n-1].Score
	}
	for looked := 0; ; {
		for _, e := range page.Edges {
			if len(r.res.Hits) >= r.limit {
				return nil
			}
			looked++
			id := EdgeItemID(e.ID)
			if r.a.scanner.Rejects(e.Label) {
				r.res.Quarantined = append(r.res.Quarantined, id)
				continue
			}
			text, line := snippet.Cut(e.Label, r.query)
			r.res.Hits = append(r.res.Hits, model.RecallSnippet{ID: id, Source: id, Snippet: text, Line: line, Score: score})
		}
		switch {
		case page.Next == "" || len(r.res.Hits) >= r.limit:
			return nil
		case looked >= recallDepth:
			r.bound("the scanner rejects most of the newest relations; older ones were not looked at")
			return nil
		}
		l.Cursor, l.Limit = page.Next, recallDepth-looked
		if page, err = r.a.Backend.ListEdges(ctx, l); err != nil {
			return err
		}
	}
}

func clamp(score float64) float64 {
	if !(score > 0) { // a NaN is no score either
		return 0
	}
	return min(score, 1)
}

// search ranks by content, and fuses that with the ranking by vectors when the query can be embedded and the
// store has vectors (H15). A failing embedder costs only the semantic half, and the answer says so.
func (r *recall) search(ctx context.Context, o SearchOptions) (SearchResult, error) {
	text, err := r.a.Backend.SearchByContent(ctx, r.query, o)
	if err != nil || r.a.Embedder == nil || !r.a.caps.VectorSearch {
		return text, err
	}
	if !r.embedded {
		r.vector, r.embedErr = r.a.Embedder.Embed(ctx, r.query)
		r.embedded = true
	}
	err = r.embedErr
	var close SearchResult
	if err == nil {
		close, err = r.a.Backend.SearchByEmbedding(ctx, r.vector, o)
	}
	if err != nil {
		if end := model.FromContext(ctx, "recall"); end != nil {
			return SearchResult{}, end
		}
		text.Bounded = true
		text.BoundNote = joinNotes(text.BoundNote, "ranked by text alone, semantic search did not answer: "+reason(err))
		return text, nil
	}
	if len(close.Hits) == 0 { // no vectors among the candidates: H15
		return text, nil
	}
	return fuse(text, close, o.Limit), nil
}

// reason is the innermost error's text; a foreign error's text is not shown.
func reason(err error) string {
	var e *model.Error
	if errors.As(err, &e) && e.Err != nil {
		return e.Err.Error()
	}
	return string(model.KindOf(err))
}

// The weights of recurse's hybrid search (recurse.md, Behaviour).
const (
	fuseK        = 60
	fuseSemantic = 0.7
	fuseText     = 1 - fuseSemantic
)

// fusedNote names the method of a hybrid search.
const fusedNote = "ranked by text and by meaning together, the best of each"

// fuse is reciprocal rank fusion, scaled so that the best of both lists is 1.
func fuse(text, semantic SearchResult, limit int) SearchResult {
	byID := map[string]*Hit{}
	var fused []*Hit
	add := func(hits []Hit, weight float64) {
		for i, h := range hits {
			f, ok := byID[h.Node.ID]
			if !ok {
				f = &Hit{Node: h.Node}
				byID[h.Node.ID] = f
				fused = append(fused, f)
			}
			f.Score += weight * (fuseK + 1) / float64(fuseK+1+i)
		}
	}
	add(semantic.Hits, fuseSemantic)
	add(text.Hits, fuseText)
	slices.SortStableFunc(fused, func(x, y *Hit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Node.ID, y.Node.ID))
	})
	out := SearchResult{
		Total:     model.Count{Unknown: true}, // a vector search ranks every node, so it has no count of matches
		Bounded:   true,
		BoundNote: joinNotes(joinNotes(fusedNote, text.BoundNote), semantic.BoundNote),
	}
	for _, h := range fused[:min(limit, len(fused))] {
		out.Hits = append(out.Hits, *h)
	}
	return out
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
