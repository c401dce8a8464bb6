package transfer_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/internal/testpg"
	"memdesk/model"
	"memdesk/transfer"
)

// kept is the data of a node that a graph store keeps beside its document.
type kept struct {
	Content                    string
	Created, Updated, Accessed time.Time
	Count                      int64
	Vector                     []float32
	Model                      string
}

func allKept(t *testing.T, b hypergraph.Backend) map[string]kept {
	t.Helper()
	out := map[string]kept{}
	for n, err := range b.AllNodes(t.Context(), hypergraph.NodeFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		k := kept{Content: n.Content, Created: n.CreatedAt, Updated: n.UpdatedAt, Accessed: n.LastAccessed, Count: n.AccessCount}
		if n.HasVector {
			if k.Vector, k.Model, err = b.(hypergraph.Vectors).Embedding(t.Context(), n.ID); err != nil {
				t.Fatal(err)
			}
		}
		out[n.ID] = k
	}
	return out
}

// TestCopyCarriesWhatIsBeside: vectors, times, access counts and empty nodes must be exported and
// restored, by every kind of graph store.
func TestCopyCarriesWhatIsBeside(t *testing.T) {
	file := func(name string) hypergraph.Backend {
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), name), Create: true})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	server, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(testpg.DSN(t)), Workspace: "beside"})
	if err != nil {
		t.Fatal(err)
	}
	legs := []hypergraph.Backend{file("first.db"), server, inmem.New(nil), file("last.db")}
	stores := make([]model.Store, len(legs))
	for i, b := range legs {
		stores[i] = hypergraph.Adapt(hypergraph.Config{Name: fmt.Sprint("s", i), Kind: "sqlite", Backend: b})
		t.Cleanup(func() { _ = stores[i].Close() })
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	for i := range 12 {
		n := hypergraph.Node{ID: fmt.Sprintf("n%02d", i), Type: "fact", Tier: "task", Content: strings.Repeat("x", i), Confidence: 1,
			CreatedAt: at.Add(time.Duration(i) * time.Minute), UpdatedAt: at.Add(time.Hour), AccessCount: int64(i)}
		if i > 0 {
			n.LastAccessed = at.Add(2 * time.Hour)
		}
		if err := legs[0].CreateNode(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := legs[0].SetEmbedding(t.Context(), n.ID, "model-1", []float32{float32(i), 0.5}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := allKept(t, legs[0])
	for i := range legs[1:] {
		sum, all, err := run(t, stores[i], stores[i+1], transfer.Options{}, &memory{})
		if err != nil || sum.Copied != int64(len(want)) || sum.Failed > 0 {
			t.Fatalf("leg %d: %+v, %v: %+v", i, sum, err, all)
		}
		if d := cmp.Diff(want, allKept(t, legs[i+1])); d != "" {
			t.Errorf("leg %d (-want +got):\n%s", i, d)
		}
	}
}

// events is a log of that length, the newest event first.
type events int

func (n events) StoreEvents(_ context.Context, limit int) ([]model.StoreEvent, error) {
	var out []model.StoreEvent
	for i := int(n); i > 0 && len(out) < limit; i-- {
		out = append(out, model.StoreEvent{At: time.Unix(int64(i), 0).UTC(), Name: "promote", Payload: []model.Field{{Name: "node_ids", Value: fmt.Sprintf(`["n%d"]`, i)}}})
	}
	return out, nil
}

// TestCopyCarriesTheLog: every event of the source's own log must arrive, the oldest first, in items
// that lists hide; it must go unchanged to the next graph, and must not be copied twice.
func TestCopyCarriesTheLog(t *testing.T) {
	var stores []model.Store
	legs := []hypergraph.Backend{inmem.New(nil), inmem.New(nil), inmem.New(nil)}
	for i, b := range legs {
		stores = append(stores, hypergraph.Adapt(hypergraph.Config{Name: fmt.Sprint("s", i), Kind: "inmem", Backend: b}))
	}
	stores[0].Events = events(2500)
	done := &memory{}
	for i, want := range []transfer.Summary{{Copied: 3}, {Copied: 3}} {
		if sum, all, err := run(t, stores[i], stores[i+1], transfer.Options{}, done); err != nil || sum != want {
			t.Fatalf("leg %d: %+v, %v: %+v", i, sum, err, all)
		}
	}
	var lines []string
	for n, err := range legs[2].AllNodes(t.Context(), hypergraph.NodeFilter{}) {
		if err != nil || n.Subtype != "evolution_log" || n.Tier != "archive" || n.CreatedAt.Unix()%1000 != 1 {
			t.Errorf("%+v, %v", n, err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(n.Content, "\n"), "\n")...)
	}
	if len(lines) != 2500 || lines[0] != `{"at":"1970-01-01T00:00:01Z","event":"promote","fields":{"node_ids":"[\"n1\"]"}}` || !strings.Contains(lines[2499], "n2500") {
		t.Errorf("%d lines, the first %q", len(lines), lines[:min(len(lines), 1)])
	}
	if page, err := stores[1].Browser.List(t.Context(), model.PageRequest{Limit: 10}); err != nil || len(page.Items) > 0 {
		t.Errorf("a log in a list: %+v, %v", page.Items, err)
	}
	stores[0].Events = events(2501) // the last part has grown
	sum, all, err := run(t, stores[0], stores[1], transfer.Options{Replace: true}, done)
	if err != nil || sum != (transfer.Summary{Copied: 1, Skipped: 2}) {
		t.Errorf("again: %+v, %v: %+v", sum, err, all)
	}
	plan, err := transfer.NewPlan(stores[0], stores[1], transfer.Options{})
	if err != nil || !slices.ContainsFunc(plan.Words(), func(w string) bool { return strings.Contains(w, "evolution_log") }) {
		t.Errorf("the log is announced: %q, %v", plan.Words(), err)
	}
}
