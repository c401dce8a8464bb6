package hypergraph_test

import (
	"errors"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/model"
)

// TestHealthAsksTheEmbedder: without an embedder recall works by words only, so health must report it.
func TestHealthAsksTheEmbedder(t *testing.T) {
	for _, tt := range []struct {
		e     hypergraph.Embedder
		state model.HealthState
	}{
		{nil, model.HealthOK},
		{embedder{vector: []float32{1}}, model.HealthOK},
		{embedder{err: errors.New("secret key rejected")}, model.HealthDegraded},
	} {
		s := hypergraph.Adapt(hypergraph.Config{Name: "mem", Kind: "inmem", Backend: inmem.New(nil), Embedder: tt.e})
		st := backendtest.Health(t, s)
		if tt.e != nil {
			st = backendtest.Examined(t, s)
		}
		if st.State != tt.state || !st.OK || st.DeepCheckedAt.IsZero() != (tt.e == nil) {
			t.Errorf("%+v: %+v", tt.e, st)
		}
		for _, f := range st.Findings {
			if f.Kind != model.FindingEmbedder || strings.Contains(f.Message, "secret") {
				t.Errorf("%+v", f)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
