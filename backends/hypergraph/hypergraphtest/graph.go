package hypergraphtest

import (
	"strconv"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

var graphCases = []Case{
	{"H8", Contract, "traversal honours direction, depth, edge types, node types, tiers and results", connected},
	{"H8", Upstream, "archived nodes are not walked through", connectedArchive},
	{"H8", Added, "a circle ends", connectedCircle},
	{"H1", Contract, "a subgraph holds the nodes in reach and the edges among them", subgraph},
	{"H1", Contract, "a subgraph of too many nodes is refused", subgraphBound},
}

// chain makes a → b → c → d with one more node beside a.
func chain(t *testing.T, b hypergraph.Backend) {
	for _, id := range []string{"a", "b", "c", "d", "side"} {
		n := node(id, "x")
		if id == "c" {
			n.Type, n.Tier = "entity", "longterm"
		}
		create(t, b, n)
	}
	tie(t, b, "ab", "causation", "a", "b")
	tie(t, b, "bc", "causation", "b", "c")
	tie(t, b, "cd", "causation", "c", "d")
	tie(t, b, "side-a", "relation", "side", "a")
}

func connected(t *testing.T, b hypergraph.Backend) {
	chain(t, b)
	type O = hypergraph.TraversalOptions
	for _, c := range []struct {
		name string
		from string
		o    O
		want []string
	}{
		{"depth 0 acts as 1", "a", O{}, []string{"b", "side"}},
		{"depth 1", "a", O{MaxDepth: 1}, []string{"b", "side"}},
		{"depth 2", "a", O{MaxDepth: 2}, []string{"b", "c", "side"}},
		{"depth 9", "a", O{MaxDepth: 9}, []string{"b", "c", "d", "side"}},
		{"outgoing", "a", O{Direction: hypergraph.Outgoing, MaxDepth: 9}, []string{"b", "c", "d"}},
		{"incoming", "a", O{Direction: hypergraph.Incoming, MaxDepth: 9}, []string{"side"}},
		{"incoming from the end", "d", O{Direction: hypergraph.Incoming, MaxDepth: 2}, []string{"b", "c"}},
		{"edge type", "a", O{EdgeTypes: []string{"relation"}, MaxDepth: 9}, []string{"side"}},
		{"node type", "b", O{NodeTypes: []string{"entity"}}, []string{"c"}},
		{"tier", "b", O{Tiers: []string{"longterm"}}, []string{"c"}},
	} {
		got, err := b.GetConnected(t.Context(), c.from, c.o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		same(t, c.name, sorted(ids(got)), c.want)
	}
	got, err := b.GetConnected(t.Context(), "a", O{MaxDepth: 9, MaxResults: 2})
	if err != nil || len(got) != 2 {
		t.Errorf("at most two: %q, %v", ids(got), err)
	}
	_, err = b.GetConnected(t.Context(), "no-such", O{})
	wantKind(t, "from nobody", err, model.NotFound)
}

func connectedArchive(t *testing.T, b hypergraph.Backend) {
	chain(t, b)
	n := get(t, b, "b")
	n.Tier = "archive"
	if err := b.UpdateNode(t.Context(), n); err != nil {
		t.Fatalf("update: %v", err)
	}
	got, err := b.GetConnected(t.Context(), "a", hypergraph.TraversalOptions{MaxDepth: 9})
	if err != nil {
		t.Fatalf("connected: %v", err)
	}
	same(t, "around the archived node", ids(got), []string{"side"})
}

func connectedCircle(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("a", "x"), node("b", "x"), node("c", "x"))
	tie(t, b, "ab", "relation", "a", "b")
	tie(t, b, "bc", "relation", "b", "c")
	tie(t, b, "ca", "relation", "c", "a")
	got, err := b.GetConnected(t.Context(), "a", hypergraph.TraversalOptions{MaxDepth: 1000})
	if err != nil {
		t.Fatalf("connected: %v", err)
	}
	same(t, "everyone but the start, once", sorted(ids(got)), []string{"b", "c"})
}

func subgraphBound(t *testing.T, b hypergraph.Backend) {
	around := make([]string, 10_001)
	err := b.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		for i := range around {
			around[i] = "n" + strconv.Itoa(i)
			create(t, tx, node(around[i], "x"))
		}
		tie(t, tx, "hub", "relation", around...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.GetSubgraph(t.Context(), around[:1], 1)
	wantKind(t, "10,001 nodes", err, model.InvalidInput)
	if nodes, _, err := b.GetSubgraph(t.Context(), around[1:], 0); err != nil || len(nodes) != 10_000 {
		t.Errorf("10,000 nodes: %d, %v", len(nodes), err)
	}
}

func subgraph(t *testing.T, b hypergraph.Backend) {
	chain(t, b)
	for _, c := range []struct {
		name  string
		ids   []string
		depth int
		nodes []string
		edges []string
	}{
		{"depth 0", []string{"a", "b"}, 0, []string{"a", "b"}, []string{"ab"}},
		{"depth 1", []string{"b"}, 1, []string{"a", "b", "c"}, []string{"ab", "bc"}},
		{"everything", []string{"d"}, 9, []string{"a", "b", "c", "d", "side"}, []string{"ab", "bc", "cd", "side-a"}},
		{"nobody", []string{"no-such"}, 3, []string{}, []string{}},
	} {
		nodes, edges, err := b.GetSubgraph(t.Context(), c.ids, c.depth)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		same(t, c.name+": nodes", sorted(ids(nodes)), c.nodes)
		got := []string{}
		for _, e := range edges {
			got = append(got, e.ID)
			if len(e.Members) != 2 {
				t.Errorf("%s: edge %s comes with members %+v", c.name, e.ID, e.Members)
			}
		}
		same(t, c.name+": edges", sorted(got), c.edges)
	}
}
