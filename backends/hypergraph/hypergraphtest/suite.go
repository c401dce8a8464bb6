// Package hypergraphtest is the conformance suite of hypergraph backends: the H rules of provider-contract.md
// as named cases. It tests the promises and declarations of a backend, not how it stores.
package hypergraphtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// Mark is the source of a rule: stated by the published contract, required only by upstream's code, or
// added here.
type Mark string

// The marks of provider-contract.md.
const (
	Contract Mark = "c"
	Upstream Mark = "u"
	Added    Mark = "a"
)

// Case is one rule.
type Case struct {
	Rule string
	Mark Mark
	Name string
	Run  func(t *testing.T, b hypergraph.Backend)
}

// Run runs every case against a fresh, empty, writable backend from open. The suite closes it.
func Run(t *testing.T, open func(t *testing.T) hypergraph.Backend) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(fmt.Sprintf("%s(%s) %s", c.Rule, c.Mark, c.Name), func(t *testing.T) {
			b := open(t)
			t.Cleanup(func() {
				if err := b.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.Run(t, b)
		})
	}
}

// Cases returns all cases.
func Cases() []Case {
	return slices.Concat(nodeCases, edgeCases, listCases, searchCases, graphCases, txCases)
}

// node is a valid node of the default vocabulary.
func node(id, content string) hypergraph.Node {
	return hypergraph.Node{ID: id, Type: "fact", Tier: "task", Content: content, Confidence: 1}
}

func create(t *testing.T, o hypergraph.Ops, nodes ...hypergraph.Node) {
	t.Helper()
	for _, n := range nodes {
		if err := o.CreateNode(t.Context(), n); err != nil {
			t.Fatalf("create node %q: %v", n.ID, err)
		}
	}
}

// tie makes an edge with the first node as subject and the others as objects.
func tie(t *testing.T, o hypergraph.Ops, id, kind string, nodes ...string) {
	t.Helper()
	e := hypergraph.Edge{ID: id, Type: kind, Label: "label of " + id, Weight: 1}
	for i, n := range nodes {
		role := "object"
		if i == 0 {
			role = "subject"
		}
		e.Members = append(e.Members, hypergraph.Membership{NodeID: n, Role: role, Position: int64(i)})
	}
	if err := o.CreateEdge(t.Context(), e); err != nil {
		t.Fatalf("create edge %q: %v", id, err)
	}
}

func get(t *testing.T, o hypergraph.Ops, id string) hypergraph.Node {
	t.Helper()
	n, err := o.GetNode(t.Context(), id)
	if err != nil {
		t.Fatalf("get node %q: %v", id, err)
	}
	return n
}

func wantKind(t *testing.T, what string, err error, kind model.Kind) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: got %v, want an error of kind %q", what, err, string(kind))
	}
	var e *model.Error
	if err != nil && !errors.As(err, &e) {
		t.Errorf("%s: %T is no *model.Error", what, err)
	}
}

// ids are the ids of nodes in their order.
func ids(nodes []hypergraph.Node) []string {
	out := []string{}
	for _, n := range nodes {
		out = append(out, n.ID)
	}
	return out
}

func hitIDs(r hypergraph.SearchResult) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, h.Node.ID)
	}
	return out
}

func sorted(in []string) []string { return slices.Sorted(slices.Values(in)) }

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// cancelled is a context that has ended.
func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
