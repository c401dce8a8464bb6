package hypergraph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/model"
)

func headerIDs(in []model.Header) []string {
	out := []string{}
	for _, h := range in {
		out = append(out, h.ID)
	}
	return slices.Sorted(slices.Values(out))
}

func wantIDs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// tied is a → b → c, with b and odd in one context edge.
func tied(t *testing.T) (model.Store, *inmem.Store) {
	s, b := open(t)
	add(t, b, node("a", "alpha"), node("b", "beta"), node("c", "gamma"), node("edge/odd", "odd"))
	for id, e := range map[string]hypergraph.Edge{
		"ab": {Type: "causation", Members: []hypergraph.Membership{{NodeID: "a", Role: "subject"}, {NodeID: "b", Role: "object"}}},
		"bc": {Type: "causation", Members: []hypergraph.Membership{{NodeID: "b", Role: "subject"}, {NodeID: "c", Role: "object"}}},
		"bo": {Type: "context", Members: []hypergraph.Membership{{NodeID: "b", Role: "participant"}, {NodeID: "edge/odd", Role: "participant"}}},
	} {
		e.ID, e.Weight = id, 1
		if err := b.CreateEdge(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return s, b
}

func TestNeighbours(t *testing.T) {
	s, _ := tied(t)
	for _, c := range []struct {
		id   string
		req  model.GraphRequest
		want []string
	}{
		{"a", model.GraphRequest{}, []string{"b"}},
		{"a", model.GraphRequest{Depth: 2}, []string{"b", "c", "node/edge/odd"}},
		{"b", model.GraphRequest{Outgoing: true}, []string{"c"}},
		{"b", model.GraphRequest{Incoming: true}, []string{"a"}},
		{"b", model.GraphRequest{Outgoing: true, Incoming: true}, []string{"a", "c", "node/edge/odd"}},
		{"b", model.GraphRequest{Kinds: []string{"context"}}, []string{"node/edge/odd"}},
		{"edge/bo", model.GraphRequest{}, []string{"b", "node/edge/odd"}},
		{"node/edge/odd", model.GraphRequest{}, []string{"b"}},
	} {
		got, err := s.Graph.Neighbours(t.Context(), c.id, c.req)
		if err != nil {
			t.Fatalf("%s %+v: %v", c.id, c.req, err)
		}
		wantIDs(t, c.id, headerIDs(got), c.want...)
	}
	for id, kind := range map[string]model.Kind{"nobody": model.NotFound, "edge/nobody": model.NotFound, "/x": model.InvalidInput} {
		if _, err := s.Graph.Neighbours(t.Context(), id, model.GraphRequest{}); !errors.Is(err, kind) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := s.Graph.Neighbours(t.Context(), "a", model.GraphRequest{Kinds: []string{"knows"}}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("an unknown kind: %v", err)
	}
}

func TestSubgraph(t *testing.T) {
	s, _ := tied(t)
	items, links, err := s.Graph.Subgraph(t.Context(), []string{"a", "edge/bc", "nobody", "edge/nobody"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "items", headerIDs(items), "a", "b", "c")
	var got []string
	for _, l := range links {
		got = append(got, l.ID)
		if len(l.Other) != 2 {
			t.Errorf("%s ties %q", l.ID, l.Other)
		}
	}
	wantIDs(t, "links", got, "edge/ab", "edge/bc")
	if _, _, err := s.Graph.Subgraph(t.Context(), []string{"a"}, -1); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a negative depth: %v", err)
	}
}

func TestSimilar(t *testing.T) {
	s, b := open(t)
	add(t, b, node("me", "x"), node("near", "the near one"), node("far", "x"), node("bare", "x"), node("bad", poison))
	for id, v := range map[string][]float32{"me": {1, 0}, "near": {1, 0.1}, "far": {0, 1}, "bad": {1, 0}} {
		if err := b.SetEmbedding(t.Context(), id, "m", v); err != nil {
			t.Fatal(err)
		}
	}
	res, err := s.Graph.Similar(t.Context(), "me", 2)
	if err != nil || len(res.Hits) != 2 || res.Hits[0].ID != "near" || res.Hits[1].ID != "far" || !slices.Equal(res.Quarantined, []string{"bad"}) || res.Total != 3 {
		t.Errorf("%+v, %v", res, err)
	}
	for i := range 5 { // rejected ones, nearer than the rest
		id := fmt.Sprint("worse", i)
		add(t, b, node(id, poison))
		if err := b.SetEmbedding(t.Context(), id, "m", []float32{1, 0}); err != nil {
			t.Fatal(err)
		}
	}
	res, err = s.Graph.Similar(t.Context(), "me", 2)
	if err != nil || len(res.Hits) != 2 || res.Hits[0].ID != "near" || res.Hits[1].ID != "far" || res.Total != 8 {
		t.Errorf("behind rejected ones: %+v, %v", res, err)
	}
	for id, kind := range map[string]model.Kind{"bare": model.Unsupported, "nobody": model.NotFound, "edge/x": model.Unsupported} {
		if _, err := s.Graph.Similar(t.Context(), id, 2); !errors.Is(err, kind) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// counted returns one vector or an error, and counts its calls.
type counted struct {
	vector []float32
	err    error
	asked  int
}

func (e *counted) Embed(context.Context, string) ([]float32, error) {
	e.asked++
	return e.vector, e.err
}

func TestRecallSaysItsWay(t *testing.T) {
	b := inmem.New(nil)
	e := &counted{vector: []float32{1, 0}}
	s := hypergraph.Adapt(hypergraph.Config{Name: "mem", Kind: "inmem", Backend: b, Embedder: e})
	defer s.Close()
	recall := func() model.RecallResult {
		res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "ferret"})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	add(t, b, node("word", "a ferret"), node("meaning", "a small hunting animal"))
	if res := recall(); res.Bounded || len(res.Hits) != 1 {
		t.Errorf("without a vector in the store: %+v", res)
	}
	if err := b.SetEmbedding(t.Context(), "meaning", "m", []float32{1, 0}); err != nil {
		t.Fatal(err)
	}
	e.asked = 0
	res := recall()
	if len(res.Hits) != 2 || res.Hits[0].ID != "meaning" || !strings.Contains(res.BoundNote, "by text and by meaning") || e.asked != 1 {
		t.Errorf("hybrid: %+v, asked %d times", res, e.asked)
	}
	e.err = model.Errorf(model.Unavailable, "embed", "the server sleeps")
	if res := recall(); len(res.Hits) != 1 || !strings.Contains(res.BoundNote, "text alone") || !strings.Contains(res.BoundNote, "the server sleeps") {
		t.Errorf("an embedder that fails: %+v", res)
	}
	e.err, e.vector = nil, []float32{1, 0, 0}
	if res := recall(); len(res.Hits) != 1 || !strings.Contains(res.BoundNote, "dimensions") {
		t.Errorf("an embedder of another model: %+v", res)
	}
}
