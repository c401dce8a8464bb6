package hypergraphtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

var txCases = []Case{
	{"H10", Contract, "a transaction commits everything it did", txCommit},
	{"H10", Contract, "a failed transaction leaves nothing and gives its error", txError},
	{"H10", Contract, "a panic leaves nothing and passes on", txPanic},
	{"H10", Added, "a read and the write that depends on it lose no update", txNoLostUpdate},
	{"H11", Added, "concurrent writers and readers all get through", concurrency},
	{"H10", Added, "an ended context is a Timeout and changes nothing", endedContext},
}

func txCommit(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("old", "x"))
	err := b.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		create(t, tx, node("a", "x"), node("b", "x"))
		tie(t, tx, "e", "relation", "a", "b")
		if got := get(t, tx, "a"); got.Content != "x" {
			t.Errorf("a transaction does not see its own write: %+v", got)
		}
		return tx.DeleteNode(t.Context(), "old")
	})
	if err != nil {
		t.Fatalf("transaction: %v", err)
	}
	get(t, b, "a")
	if _, err := b.GetEdge(t.Context(), "e"); err != nil {
		t.Errorf("edge: %v", err)
	}
	_, err = b.GetNode(t.Context(), "old")
	wantKind(t, "the deleted node", err, model.NotFound)
}

var errStop = errors.New("stop here")

// disturb performs every kind of write once on a store that holds keep and the edge e.
func disturb(t *testing.T, tx hypergraph.Ops) {
	t.Helper()
	create(t, tx, node("new", "x"))
	n := get(t, tx, "keep")
	n.Content = "changed"
	if err := tx.UpdateNode(t.Context(), n); err != nil {
		t.Fatalf("update: %v", err)
	}
	if err := tx.DeleteNode(t.Context(), "gone"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	tie(t, tx, "e2", "relation", "keep", "new")
}

func undisturbed(t *testing.T, b hypergraph.Backend) {
	t.Helper()
	_, err := b.GetNode(t.Context(), "new")
	wantKind(t, "the created node", err, model.NotFound)
	if got := get(t, b, "keep").Content; got != "x" {
		t.Errorf("the updated node reads %q", got)
	}
	get(t, b, "gone")
	if e, err := b.GetEdge(t.Context(), "e"); err != nil || len(e.Members) != 2 {
		t.Errorf("the edge of the deleted node: %+v, %v", e, err)
	}
	_, err = b.GetEdge(t.Context(), "e2")
	wantKind(t, "the created edge", err, model.NotFound)
	same(t, "the index", hitIDs(search(t, b, "changed", hypergraph.SearchOptions{})), []string{})
}

func txError(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("keep", "x"), node("gone", "x"))
	tie(t, b, "e", "relation", "keep", "gone")
	err := b.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		disturb(t, tx)
		return fmt.Errorf("inside: %w", errStop)
	})
	if !errors.Is(err, errStop) {
		t.Errorf("the function's error is lost: %v", err)
	}
	err = b.WithTx(t.Context(), func(hypergraph.Ops) error { return model.Errorf(model.Conflict, "x", "no") })
	wantKind(t, "the function's kind", err, model.Conflict)
	if b.Capabilities().Transactions {
		undisturbed(t, b)
	}
	create(t, b, node("after", "x")) // the store still works
}

func txPanic(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("keep", "x"), node("gone", "x"))
	tie(t, b, "e", "relation", "keep", "gone")
	func() {
		defer func() {
			if v := recover(); v != "stop here" {
				t.Errorf("the panic came out as %v", v)
			}
		}()
		err := b.WithTx(t.Context(), func(tx hypergraph.Ops) error {
			disturb(t, tx)
			panic("stop here")
		})
		t.Errorf("the panic was swallowed: %v", err)
	}()
	if b.Capabilities().Transactions {
		undisturbed(t, b)
	}
	create(t, b, node("after", "x"))
}

func txNoLostUpdate(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("n", "."))
	const writers, rounds = 6, 5
	each(t, writers, func(int) error {
		for range rounds {
			err := retry(func() error {
				return b.WithTx(t.Context(), func(tx hypergraph.Ops) error {
					n, err := tx.GetNode(t.Context(), "n")
					if err != nil {
						return err
					}
					n.Content += "x"
					return tx.UpdateNode(t.Context(), n)
				})
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if got, want := get(t, b, "n").Content, "."+strings.Repeat("x", writers*rounds); got != want {
		t.Errorf("%d of %d appends survived", len(got)-1, len(want)-1)
	}
}

// retry repeats fn while another writer's lock blocks it: a backend without concurrent writes may
// answer nothing else.
func retry(fn func() error) error {
	var err error
	for range 100 {
		if err = fn(); !errors.Is(err, model.Locked) {
			return err
		}
	}
	return err
}

// each runs fn concurrently and reports every error.
func each(t *testing.T, n int, fn func(i int) error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = fn(i) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("worker %d: %v", i, err)
		}
	}
}

func concurrency(t *testing.T, b hypergraph.Backend) {
	ctx := t.Context()
	create(t, b, node("hub", "needle"))
	each(t, 6, func(i int) error {
		for j := range 6 {
			id := fmt.Sprintf("w%d-%d", i, j)
			steps := []func() error{
				func() error { return b.CreateNode(ctx, node(id, "needle "+id)) },
				func() error {
					return b.CreateEdge(ctx, hypergraph.Edge{ID: "e" + id, Type: "relation", Weight: 1, Members: []hypergraph.Membership{
						{NodeID: "hub", Role: "subject"}, {NodeID: id, Role: "object", Position: 1}}})
				},
				func() error {
					_, err := b.SearchByContent(ctx, "needle", hypergraph.SearchOptions{Limit: 3})
					return err
				},
				func() error {
					_, err := b.ListNodes(ctx, hypergraph.Listing{Order: model.OrderNewest, Limit: 5})
					return err
				},
				func() error { _, _, err := b.EdgesOf(ctx, "hub", 3); return err },
				func() error {
					_, err := b.GetConnected(ctx, "hub", hypergraph.TraversalOptions{MaxDepth: 2})
					return err
				},
				func() error {
					if j%2 == 0 {
						return nil
					}
					return b.DeleteNode(ctx, id)
				},
			}
			for _, step := range steps {
				if err := retry(step); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if got := listAll(t, b, hypergraph.NodeFilter{}); len(got) != 1+6*3 {
		t.Errorf("%d nodes are left, want %d", len(got), 1+6*3)
	}
	if _, total, err := b.EdgesOf(ctx, "hub", 1); err != nil || total != 6*3 {
		t.Errorf("%d edges are left, %v; want %d", total, err, 6*3)
	}
}

func endedContext(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("a", "x"), node("b", "x"))
	tie(t, b, "e", "relation", "a", "b")
	ctx := cancelled(t)
	only := func(_ any, err error) error { return err }
	for what, err := range map[string]error{
		"create":      b.CreateNode(ctx, node("c", "x")),
		"get":         only(b.GetNode(ctx, "a")),
		"update":      b.UpdateNode(ctx, node("a", "changed")),
		"delete":      b.DeleteNode(ctx, "a"),
		"list":        only(b.ListNodes(ctx, hypergraph.Listing{Order: model.OrderID, Limit: 1})),
		"get edge":    only(b.GetEdge(ctx, "e")),
		"delete edge": b.DeleteEdge(ctx, "e"),
		"list edges":  only(b.ListEdges(ctx, hypergraph.Listing{Order: model.OrderID, Limit: 1})),
		"search":      only(b.SearchByContent(ctx, "x", hypergraph.SearchOptions{})),
		"connected":   only(b.GetConnected(ctx, "a", hypergraph.TraversalOptions{})),
		"counts":      only(b.Counts(ctx)),
		"with tx":     b.WithTx(ctx, func(tx hypergraph.Ops) error { return tx.DeleteNode(context.WithoutCancel(ctx), "b") }),
	} {
		wantKind(t, what, err, model.Timeout)
	}
	same(t, "nodes", listAll(t, b, hypergraph.NodeFilter{}), []string{"a", "b"})
	if got := get(t, b, "a").Content; got != "x" {
		t.Errorf("the node reads %q", got)
	}
}
