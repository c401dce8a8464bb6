package hypergraph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/model"
)

// lengths embeds a text as its length and fails on request.
type lengths struct {
	asked *[]string
	fails *bool
}

func (l lengths) Embed(_ context.Context, text string) ([]float32, error) {
	*l.asked = append(*l.asked, text)
	if *l.fails {
		return nil, model.Errorf(model.Unavailable, "embed", "nobody answers")
	}
	return []float32{float32(len(text)), 1}, nil
}

func (lengths) Model() string { return "length" }

func TestAWriteEmbeds(t *testing.T) {
	var asked []string
	fails := false
	b := inmem.New(nil)
	s := hypergraph.Adapt(hypergraph.Config{Name: "mem", Kind: "inmem", Backend: b, Embedder: lengths{&asked, &fails}})
	t.Cleanup(func() { _ = s.Close() })
	write := func(r model.RetainRequest) model.RetainResult {
		t.Helper()
		r.ID = "n"
		if r.Mode == "" {
			r.Mode = model.Replace
		}
		res, err := s.Provider.Retain(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, c := range []struct {
		what  string
		req   model.RetainRequest
		fails bool
		first float32 // of the stored vector; 0: none
		warns string
		asks  int
	}{
		{"a new node", model.RetainRequest{Content: "four"}, false, 4, "", 1},
		{"the same text", model.RetainRequest{Content: "four"}, false, 4, "", 0},
		{"an addition", model.RetainRequest{Content: " and", Mode: model.Append}, false, 8, "", 1},
		{"nobody answers", model.RetainRequest{Content: "another"}, true, 0, "could not be embedded: nobody answers", 1},
		{"the same text later", model.RetainRequest{Content: "another"}, false, 7, "", 1},
		{"a vector that is brought", model.RetainRequest{Content: "brought", Beside: &model.Beside{Vector: []float32{99, 1}, VectorModel: "m"}}, false, 99, "", 0},
	} {
		asked, fails = nil, c.fails
		res := write(c.req)
		if len(asked) != c.asks {
			t.Errorf("%s: asked %q, want %d questions", c.what, asked, c.asks)
		}
		if got := strings.Join(res.Warnings, "; "); (got != "") != (c.warns != "") || !strings.Contains(got, c.warns) {
			t.Errorf("%s: warnings %q, want %q", c.what, got, c.warns)
		}
		v, name, err := b.Embedding(t.Context(), "n")
		switch {
		case c.first == 0 && !errors.Is(err, model.Unsupported):
			t.Errorf("%s: vector %v, %v; want none", c.what, v, err)
		case c.first != 0 && (err != nil || v[0] != c.first || name == ""):
			t.Errorf("%s: vector %v of %q, %v; want %v", c.what, v, name, err, c.first)
		}
	}
	if it := read(t, s, "n"); field(it, "vector") != "yes" {
		t.Errorf("the node shows vector %q", field(it, "vector"))
	}
	asked = nil
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "n", Content: poison, Mode: model.Replace}); err == nil || len(asked) > 0 {
		t.Errorf("poison: %v, and %q was sent to the embedder", err, asked)
	}
}
