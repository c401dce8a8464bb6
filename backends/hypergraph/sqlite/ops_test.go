package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

func TestNodeRoundTrip(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		parent := hypergraph.Node{ID: "p", Type: "decision", Subtype: "goal", Tier: "session", Content: "ship", Confidence: 0.5,
			Decision: &hypergraph.Decision{Kind: "goal", Status: "active", Prompt: "why"}}
		n := hypergraph.Node{ID: "n%_ü", Type: "decision", Subtype: "option", Tier: "longterm", Content: "tomorrow\x00\nor never", Confidence: 0,
			Provenance: `{"file":"a.go"}`, Metadata: `{"k": 1}`,
			Decision: &hypergraph.Decision{Kind: "option", Confidence: 40, Files: `["a.go"]`, Branch: "main", Commit: "abc", ParentID: "p", Status: "rejected"}}
		must(t, s.CreateNode(ctx, parent))
		must(t, s.CreateNode(ctx, n))
		got, err := s.GetNode(ctx, n.ID)
		must(t, err)
		got.CreatedAt, got.UpdatedAt, got.RowVersion = time.Time{}, time.Time{}, 0
		if d := cmp.Diff(n, got); d != "" {
			t.Error(d)
		}
		if err := s.CreateNode(ctx, n); !errors.Is(err, model.AlreadyExists) {
			t.Error(err)
		}
		n.Decision = &hypergraph.Decision{Kind: "option", Confidence: 99, Status: "completed"}
		n.Content = "today"
		must(t, s.UpdateNode(ctx, n))
		got, err = s.GetNode(ctx, n.ID)
		must(t, err)
		if d := cmp.Diff(n.Decision, got.Decision); d != "" || got.Content != "today" {
			t.Error(d, got.Content)
		}
		must(t, s.DeleteNode(ctx, n.ID))
		for name, err := range map[string]error{
			"get":    second(s.GetNode(ctx, n.ID)),
			"update": s.UpdateNode(ctx, n),
			"delete": s.DeleteNode(ctx, n.ID),
			"vector": s.SetEmbedding(ctx, n.ID, "m", []float32{1}),
		} {
			if !errors.Is(err, model.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestInvalidNodes(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		must(t, s.CreateNode(context.Background(), fact("there", "x")))
		for name, change := range map[string]func(*hypergraph.Node){
			"no id":         func(n *hypergraph.Node) { n.ID = "" },
			"type":          func(n *hypergraph.Node) { n.Type = "knowledge" },
			"tier":          func(n *hypergraph.Node) { n.Tier = "" },
			"confidence":    func(n *hypergraph.Node) { n.Confidence = 1.5 },
			"metadata":      func(n *hypergraph.Node) { n.Metadata = "{" },
			"metadata list": func(n *hypergraph.Node) { n.Metadata = "[]" },
			"provenance":    func(n *hypergraph.Node) { n.Provenance = "x" },
			"id bytes":      func(n *hypergraph.Node) { n.ID = "a\xff" },
			"decision":      func(n *hypergraph.Node) { n.Decision = &hypergraph.Decision{Kind: "goal", Status: "active"} },
			"own parent": func(n *hypergraph.Node) {
				n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal", Status: "active", ParentID: n.ID}
			},
			"status": func(n *hypergraph.Node) { n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal"} },
		} {
			if name == "decision" && !s.Capabilities().HasSubjects {
				continue // recurse's table takes a row of any node
			}
			n := fact("n", "x")
			change(&n)
			if err := s.CreateNode(context.Background(), n); !errors.Is(err, model.InvalidInput) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestDecisionsFormNoCircle(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		node := func(id, parent string) hypergraph.Node {
			return hypergraph.Node{ID: id, Type: "decision", Tier: "task", Content: id, Confidence: 1,
				Decision: &hypergraph.Decision{Kind: "goal", Status: "active", ParentID: parent}}
		}
		if err := s.CreateNode(ctx, node("a", "nobody")); !errors.Is(err, model.Conflict) {
			t.Error(err)
		}
		if _, err := s.GetNode(ctx, "a"); !errors.Is(err, model.NotFound) {
			t.Error("the node of a failed create is there")
		}
		must(t, s.CreateNode(ctx, node("a", "")))
		must(t, s.CreateNode(ctx, node("b", "a")))
		must(t, s.CreateNode(ctx, node("c", "b")))
		if err := s.UpdateNode(ctx, node("a", "c")); !errors.Is(err, model.InvalidInput) {
			t.Error(err)
		}
		if err := s.DeleteNode(ctx, "a"); !errors.Is(err, model.Conflict) || !strings.Contains(err.Error(), "delete its 1 child first") {
			t.Error(err)
		}
		plain := fact("b", "no decision any more")
		if err := s.UpdateNode(ctx, plain); !errors.Is(err, model.Conflict) || !strings.Contains(err.Error(), "delete its 1 child first") {
			t.Error(err)
		}
		must(t, s.DeleteNode(ctx, "c"))
		must(t, s.UpdateNode(ctx, plain))
		must(t, s.DeleteNode(ctx, "a"))
	})
}

func TestEdges(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		for _, id := range []string{"a", "b", "c"} {
			must(t, s.CreateNode(ctx, fact(id, "node "+id)))
		}
		e := hypergraph.Edge{ID: "e", Type: "relation", Label: "knows 100%", Weight: 0, Metadata: `{"k":1}`,
			Members: []hypergraph.Membership{{NodeID: "b", Role: "subject", Position: 0}, {NodeID: "a", Role: "object", Position: 1}}}
		must(t, s.CreateEdge(ctx, e))
		got, err := s.GetEdge(ctx, "e")
		must(t, err)
		got.CreatedAt = time.Time{}
		if d := cmp.Diff(e, got); d != "" {
			t.Error(d)
		}
		lost := hypergraph.Edge{ID: "lost", Type: "relation", Members: []hypergraph.Membership{{NodeID: "a", Role: "subject"}, {NodeID: "nobody", Role: "object"}}}
		for name, c := range map[string]struct {
			err  error
			kind model.Kind
		}{
			"again":         {s.CreateEdge(ctx, e), model.AlreadyExists},
			"no node":       {s.CreateEdge(ctx, lost), model.Conflict},
			"rolled back":   {second(s.GetEdge(ctx, "lost")), model.NotFound},
			"role":          {s.AddMembership(ctx, "e", hypergraph.Membership{NodeID: "c", Role: "boss"}), model.InvalidInput},
			"twice":         {s.AddMembership(ctx, "e", hypergraph.Membership{NodeID: "a", Role: "object"}), model.AlreadyExists},
			"no edge":       {s.AddMembership(ctx, "x", hypergraph.Membership{NodeID: "a", Role: "object"}), model.NotFound},
			"no member":     {s.RemoveMembership(ctx, "e", "c"), model.NotFound},
			"update absent": {s.UpdateEdge(ctx, hypergraph.Edge{ID: "x", Type: "relation"}), model.NotFound},
			"delete absent": {s.DeleteEdge(ctx, "x"), model.NotFound},
			"weight":        {s.UpdateEdge(ctx, hypergraph.Edge{ID: "e", Type: "relation", Weight: -1}), model.InvalidInput},
		} {
			if !errors.Is(c.err, c.kind) {
				t.Errorf("%s: %v", name, c.err)
			}
		}
		must(t, s.AddMembership(ctx, "e", hypergraph.Membership{NodeID: "c", Role: "context", Position: 2}))
		must(t, s.UpdateEdge(ctx, hypergraph.Edge{ID: "e", Type: "causation", Label: "longer label", Weight: 2}))
		page, err := s.ListEdges(ctx, hypergraph.Listing{Limit: 10, Text: "LONGER", Filter: hypergraph.NodeFilter{Types: []string{"causation"}}})
		must(t, err)
		if len(page.Edges) != 1 || len(page.Edges[0].Members) != 3 || page.Total.N != 1 {
			t.Errorf("%+v", page)
		}
		must(t, s.DeleteNode(ctx, "a")) // two members are left
		if e, err := s.GetEdge(ctx, "e"); err != nil || len(e.Members) != 2 {
			t.Error(e, err)
		}
		must(t, s.DeleteNode(ctx, "b"))
		if _, err := s.GetEdge(ctx, "e"); !errors.Is(err, model.NotFound) {
			t.Error(err)
		}
		checkCounters(t, s)
	})
}

// checkCounters compares Counts with the stored rows.
func checkCounters(t *testing.T, s hypergraph.Backend) {
	t.Helper()
	ctx := context.Background()
	want := map[string][2]int64{}
	for n, err := range s.AllNodes(ctx, hypergraph.NodeFilter{}) {
		must(t, err)
		c := want[n.Tier]
		want[n.Tier] = [2]int64{c[0] + 1, c[1] + int64(len(n.Content))}
	}
	edges, err := s.ListEdges(ctx, hypergraph.Listing{Limit: 1000})
	must(t, err)
	for _, e := range edges.Edges {
		c := want[hypergraph.EdgeTier]
		want[hypergraph.EdgeTier] = [2]int64{c[0] + 1, c[1] + int64(len(e.Label))}
	}
	counts, err := s.Counts(ctx)
	must(t, err)
	for _, c := range counts {
		if w := want[c.Tier]; c.Items != w[0] || c.Bytes != w[1] {
			t.Errorf("tier %s: %d items of %d bytes, want %v", c.Tier, c.Items, c.Bytes, w)
		}
	}
	if len(counts) != 5 {
		t.Error(counts)
	}
}

// TestPaging walks every order forwards, and backwards from the end, over lists with ties.
func TestPaging(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		tiers := []string{"task", "session", "longterm", "archive"}
		_, err := s.CreateNodes(ctx, func(yield func(hypergraph.Node) bool) {
			for i := range 57 {
				n := fact(fmt.Sprintf("n%02d", (i*31)%57), fmt.Sprint("words of ", i))
				n.Tier = tiers[i%4]
				n.CreatedAt = began.Add(time.Duration(i/5) * time.Second)
				if i%10 == 3 {
					n.Subtype = "budget_session"
				}
				if !yield(n) {
					return
				}
			}
		})
		must(t, err)
		for _, f := range []hypergraph.NodeFilter{
			{}, {Tiers: []string{"session"}}, {Tiers: []string{"task", "longterm", "task"}}, {NotSubtypes: []string{"budget_session"}},
			{Subtypes: []string{"budget_session"}}, {Types: []string{"entity"}}, {CreatedAfter: began.Add(2 * time.Second), CreatedBefore: began.Add(7 * time.Second)},
			{IDs: []string{"n01", "n02", "nobody"}}, {MinConfidence: 0.5},
		} {
			for _, order := range []model.Order{"", model.OrderNewest, model.OrderOldest, model.OrderID} {
				for _, text := range []string{"", "words", "n1", "of 1"} {
					l := hypergraph.Listing{Filter: f, Order: order, Text: text, Limit: 100}
					whole, err := s.ListNodes(ctx, l)
					must(t, err)
					var want []string
					for _, n := range whole.Nodes {
						want = append(want, n.ID)
					}
					if whole.Total != (model.Count{N: int64(len(want))}) || whole.Next != "" || whole.Prev != "" {
						t.Errorf("%+v: total %+v of %d, next %q prev %q", l, whole.Total, len(want), whole.Next, whole.Prev)
					}
					l.Limit = 7
					if d := cmp.Diff(want, listIDs(t, s, l)); d != "" {
						t.Errorf("%+v forwards: %s", l, d)
					}
					if d := cmp.Diff(want, backwards(t, s, l)); d != "" {
						t.Errorf("%+v backwards: %s", l, d)
					}
				}
			}
		}
	})
}

func backwards(t *testing.T, s hypergraph.Ops, l hypergraph.Listing) []string {
	t.Helper()
	var ids []string
	l.End = true
	for {
		p, err := s.ListNodes(context.Background(), l)
		must(t, err)
		for _, n := range slices.Backward(p.Nodes) {
			ids = append(ids, n.ID)
		}
		if p.Prev == "" {
			slices.Reverse(ids)
			return ids
		}
		l.End, l.Cursor = false, p.Prev
	}
}

func TestCursorsAreOfTheirList(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		for i := range 5 {
			must(t, s.CreateNode(ctx, fact(fmt.Sprint("n", i), "x")))
		}
		l := hypergraph.Listing{Limit: 2}
		p, err := s.ListNodes(ctx, l)
		must(t, err)
		for name, bad := range map[string]hypergraph.Listing{
			"garbage":      {Limit: 2, Cursor: "garbage"},
			"other order":  {Limit: 2, Cursor: p.Next, Order: model.OrderID},
			"other filter": {Limit: 2, Cursor: p.Next, Filter: hypergraph.NodeFilter{Tiers: []string{"task"}}},
			"other text":   {Limit: 2, Cursor: p.Next, Text: "x"},
			"end":          {Limit: 2, Cursor: p.Next, End: true},
			"no limit":     {},
			"order":        {Limit: 2, Order: "largest"},
		} {
			if _, err := s.ListNodes(ctx, bad); !errors.Is(err, model.InvalidInput) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := s.ListEdges(ctx, bad); name != "other order" && !errors.Is(err, model.InvalidInput) {
				t.Errorf("edges, %s: %v", name, err)
			}
		}
		// The rows behind a cursor may be removed: the way back must stay.
		l.Cursor = p.Next
		for _, id := range listIDs(t, s, l) {
			must(t, s.DeleteNode(ctx, id))
		}
		p, err = s.ListNodes(ctx, l)
		must(t, err)
		if len(p.Nodes) != 0 || p.Prev == "" || p.Next != "" {
			t.Fatalf("%+v", p)
		}
		l.Cursor = p.Prev
		if p, err = s.ListNodes(ctx, l); err != nil || len(p.Nodes) != 2 || p.Prev != "" {
			t.Errorf("%+v %v", p, err)
		}
	})
}

func TestSubjects(t *testing.T) {
	s, _, _ := newStore(t)
	ctx := context.Background()
	n := fact("a", "about Ana")
	n.SubjectID = "ana"
	must(t, s.CreateNode(ctx, n))
	must(t, s.CreateNode(ctx, fact("b", "about nobody")))
	if ids := listIDs(t, s, hypergraph.Listing{Limit: 10, Filter: hypergraph.NodeFilter{SubjectID: "ana"}}); !slices.Equal(ids, []string{"a"}) {
		t.Error(ids)
	}
	r, _ := newRecurse(t)
	if err := r.CreateNode(ctx, n); !errors.Is(err, model.Unsupported) {
		t.Error(err)
	}
	if ids := listIDs(t, r, hypergraph.Listing{Limit: 10, Filter: hypergraph.NodeFilter{SubjectID: "ana"}}); len(ids) != 0 {
		t.Error(ids)
	}
}

func TestRowVersionMovesWithEveryChange(t *testing.T) {
	s, c, _ := newStore(t)
	ctx := context.Background()
	n := fact("n", "one")
	must(t, s.CreateNode(ctx, n))
	c.Advance(time.Hour)
	must(t, s.UpdateNode(ctx, n)) // nothing differs
	got, err := s.GetNode(ctx, "n")
	must(t, err)
	if got.RowVersion != 1 || !got.UpdatedAt.Equal(began) {
		t.Error(got.RowVersion, got.UpdatedAt)
	}
	n.Tier = "archive"
	must(t, s.UpdateNode(ctx, n))
	if got, err = s.GetNode(ctx, "n"); err != nil || got.RowVersion != 2 || !got.UpdatedAt.Equal(began.Add(time.Hour)) || !got.CreatedAt.Equal(began) {
		t.Error(got, err)
	}
	checkCounters(t, s)
}
