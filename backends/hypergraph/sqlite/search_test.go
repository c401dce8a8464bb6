package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

func searchIDs(t *testing.T, s hypergraph.Ops, query string, o hypergraph.SearchOptions) string {
	t.Helper()
	res, err := s.SearchByContent(context.Background(), query, o)
	if err != nil {
		t.Errorf("%q: %v", query, err)
		return ""
	}
	var ids []string
	last := 1.0
	for _, h := range res.Hits {
		ids = append(ids, h.Node.ID)
		if h.Score < 0 || h.Score > last {
			t.Errorf("%q: scores are not falling in 0..1: %v after %v", query, h.Score, last)
		}
		last = h.Score
	}
	return strings.Join(ids, " ")
}

func TestWordSearch(t *testing.T) {
	s, _, _ := newStore(t)
	ctx := context.Background()
	for id, content := range map[string]string{
		"once":  "the needle lies in a rather long haystack of other words that say nothing at all",
		"often": "needle, Needle: NEEDLE",
		"other": "no thread here, C++ and a_b and café",
		"cjk":   "记忆系统是分层的",
		"cjk2":  "系统",
		"quote": `say "stop" AND (run* OR near)`,
	} {
		must(t, s.CreateNode(ctx, fact(id, content)))
	}
	old := fact("old", "needle of the archive")
	old.Tier = "archive"
	must(t, s.CreateNode(ctx, old))
	for query, want := range map[string]string{
		"needle":             "often once",
		"need":               "often once", // no such word: its last as a prefix
		"needle hay":         "once",
		"eedle":              "often once", // no such prefix: a substring
		"CAFE":               "other",
		"a_b":                "other",
		"b_caf":              "",
		"++":                 "other",
		"记忆":                 "cjk",
		`"stop" AND (`:       "quote",
		`run* NEAR(`:         "quote",
		`"`:                  "quote",
		`NOT`:                "once", // as the prefix of nothing,
		"content:needle":     "",
		"* ^needle":          "often once",
		"needle OR thread":   "",
		"nothing whatsoever": "",
		"\x00needle":         "often once",
	} {
		if got := searchIDs(t, s, query, hypergraph.SearchOptions{}); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if got := strings.Fields(searchIDs(t, s, "系统", hypergraph.SearchOptions{})); len(got) != 2 {
		t.Error("a run of Chinese is found by its beginning only:", got)
	}
	if got := searchIDs(t, s, "archive", hypergraph.SearchOptions{IncludeArchived: true}); got != "old" {
		t.Error(got)
	}
	if got := searchIDs(t, s, "needle", hypergraph.SearchOptions{Limit: 1}); got != "often" {
		t.Error(got)
	}
	for _, blank := range []string{"", " \n", strings.Repeat("x", 20000), "\xff"} {
		if _, err := s.SearchByContent(ctx, blank, hypergraph.SearchOptions{}); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%.20q: %v", blank, err)
		}
	}
}

// TestIndexFollowsEveryChange: code writes the text index, not triggers.
func TestIndexFollowsEveryChange(t *testing.T) {
	s, _, path := newStore(t)
	ctx := context.Background()
	n := fact("n", "alpha")
	must(t, s.CreateNode(ctx, n))
	n.Content = "beta"
	must(t, s.UpdateNode(ctx, n))
	n.Metadata = `{"tag":"gamma"}`
	must(t, s.UpdateNode(ctx, n))
	for query, want := range map[string]string{"alpha": "", "beta": "n", "gamma": "n"} {
		if got := searchIDs(t, s, query, hypergraph.SearchOptions{}); got != want {
			t.Errorf("%q: %q", query, got)
		}
	}
	must(t, s.DeleteNode(ctx, "n"))
	if got := searchIDs(t, s, "beta", hypergraph.SearchOptions{}); got != "" {
		t.Error(got)
	}
	must(t, s.Close())
	runSQL(t, path, `INSERT INTO nodes_fts (nodes_fts, rank) VALUES ('integrity-check', 1)`)
}

// TestManyMatches exceeds the number of matches that are ranked exactly.
func TestManyMatches(t *testing.T) {
	s, _, _ := newStore(t)
	ctx := context.Background()
	const all = 12000
	_, err := s.CreateNodes(ctx, func(yield func(hypergraph.Node) bool) {
		for i := range all {
			n := fact(fmt.Sprintf("n%05d", i), "common word")
			if i%2 == 0 {
				n.Content += " even"
			}
			if i == all-500 {
				n.Content = "common common common"
			}
			if i%4 == 1 {
				n.Tier = "archive"
			}
			if !yield(n) {
				return
			}
		}
	})
	must(t, err)
	for _, c := range []struct {
		query string
		opt   hypergraph.SearchOptions
		total model.Count
		note  string
	}{
		{"common", hypergraph.SearchOptions{Limit: 5}, model.Count{N: 9000}, "ranked among the newest 1,000 of 9,000 matches"},
		{"common", hypergraph.SearchOptions{Limit: 5, IncludeArchived: true}, model.Count{N: 10000, AtLeast: true}, "ranked among the newest 1,000 of more than 10,000 matches"},
		{"word even", hypergraph.SearchOptions{Limit: 5}, model.Count{N: 5999}, ""},
		{"common", hypergraph.SearchOptions{Limit: 5, Types: []string{"entity"}}, model.Count{}, ""},
		{"omm", hypergraph.SearchOptions{Limit: 5}, model.Count{N: 9000}, "ranked among the newest 1,000 of 9,000 matches"},
	} {
		res, err := s.SearchByContent(ctx, c.query, c.opt)
		must(t, err)
		if res.Total != c.total || res.BoundNote != c.note || res.Bounded != (c.note != "") {
			t.Errorf("%q: %+v %q, want %+v %q", c.query, res.Total, res.BoundNote, c.total, c.note)
		}
		if c.query == "common" && c.note != "" && res.Hits[0].Node.ID != fmt.Sprintf("n%05d", all-500) {
			t.Errorf("%q: first is %s", c.query, res.Hits[0].Node.ID)
		}
	}
	page, err := s.ListNodes(ctx, hypergraph.Listing{Text: "common", Limit: 3, Order: model.OrderID})
	if err != nil || page.Total != (model.Count{N: 10000, AtLeast: true}) || page.Nodes[2].ID != "n00002" {
		t.Error(page.Total, err)
	}
}

// TestListOfManyMatches walks lists of a text that most nodes contain, but none of the newest.
func TestListOfManyMatches(t *testing.T) {
	s, _, _ := newStore(t)
	const all, holding = 16000, 11500
	want := map[string][]string{}
	_, err := s.CreateNodes(context.Background(), func(yield func(hypergraph.Node) bool) {
		for i := range all {
			n := fact(fmt.Sprintf("n%05d", i*7919%all), "other")
			n.Tier = hypergraph.Recurse().Tiers[i%3]
			n.CreatedAt = began.Add(time.Duration(i) * time.Second)
			if i < holding {
				n.Content = "common"
				want["all"] = append(want["all"], n.ID)
				want[n.Tier] = append(want[n.Tier], n.ID)
			}
			if !yield(n) {
				return
			}
		}
	})
	must(t, err)
	for name, f := range map[string]hypergraph.NodeFilter{"all": {}, "session": {Tiers: []string{"session"}}} {
		l := hypergraph.Listing{Text: "common", Order: model.OrderOldest, Limit: 1000, Filter: f}
		if d := cmp.Diff(want[name], listIDs(t, s, l)); d != "" {
			t.Errorf("%s, oldest: %s", name, d)
		}
		slices.Reverse(want[name])
		l.Order = model.OrderNewest
		if d := cmp.Diff(want[name], listIDs(t, s, l)); d != "" {
			t.Errorf("%s, newest: %s", name, d)
		}
		if d := cmp.Diff(want[name], backwards(t, s, l)); d != "" {
			t.Errorf("%s, backwards: %s", name, d)
		}
		slices.Sort(want[name])
		l.Order = model.OrderID
		if d := cmp.Diff(want[name], listIDs(t, s, l)); d != "" {
			t.Errorf("%s, by id: %s", name, d)
		}
		p, err := s.ListNodes(context.Background(), l)
		must(t, err)
		if exact := int64(len(want[name])); exact > 10000 != p.Total.AtLeast || !p.Total.AtLeast && p.Total.N != exact {
			t.Errorf("%s: total %+v of %d", name, p.Total, exact)
		}
	}
}

func TestVectors(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		for id, v := range map[string][]float32{"x": {1, 0}, "xy": {1, 1}, "y": {0, 1}, "minus": {-1, 0}} {
			must(t, s.CreateNode(ctx, fact(id, id)))
			must(t, s.SetEmbedding(ctx, id, "m", v))
		}
		must(t, s.CreateNode(ctx, fact("none", "no vector")))
		ids := func(v []float32, o hypergraph.SearchOptions) (string, hypergraph.SearchResult) {
			res, err := s.SearchByEmbedding(ctx, v, o)
			must(t, err)
			var out []string
			for _, h := range res.Hits {
				out = append(out, fmt.Sprintf("%s:%.2f", h.Node.ID, h.Score))
			}
			return strings.Join(out, " "), res
		}
		if got, res := ids([]float32{2, 0}, hypergraph.SearchOptions{Limit: 3}); got != "x:1.00 xy:0.71 y:0.00" || res.Total.N != 4 {
			t.Error(got, res.Total)
		}
		if got, _ := ids([]float32{2, 0}, hypergraph.SearchOptions{}); got != "x:1.00 xy:0.71 y:0.00 minus:0.00" {
			t.Error(got)
		}
		must(t, s.CreateNode(ctx, fact("three", "of another model")))
		must(t, s.SetEmbedding(ctx, "three", "m3", []float32{1, 2, 3}))
		if got, res := ids([]float32{1, 0}, hypergraph.SearchOptions{Limit: 1}); got != "x:1.00" || !res.Bounded || res.BoundNote != "1 vectors of other dimensions were not compared" {
			t.Error(got, res.BoundNote)
		}
		nan := float32(math.NaN())
		for name, v := range map[string][]float32{"mismatch": {1, 2, 3, 4}, "empty": {}, "zero": {0, 0}, "nan": {nan, 1}, "long": make([]float32, 2049)} {
			if _, err := s.SearchByEmbedding(ctx, v, hypergraph.SearchOptions{}); !errors.Is(err, model.InvalidInput) {
				t.Errorf("%s: %v", name, err)
			}
			if name == "mismatch" {
				continue
			}
			if err := s.SetEmbedding(ctx, "x", "m", v); !errors.Is(err, model.InvalidInput) {
				t.Errorf("set %s: %v", name, err)
			}
		}
		must(t, s.SetEmbedding(ctx, "x", "", nil))
		n, err := s.GetNode(ctx, "x")
		if err != nil || n.HasVector {
			t.Error(n.HasVector, err)
		}
		must(t, s.DeleteNode(ctx, "y"))
		must(t, s.CreateNode(ctx, fact("y", "another with the same id")))
		if n, err := s.GetNode(ctx, "y"); err != nil || n.HasVector {
			t.Error("the vector of a deleted node was left", err)
		}
		if got, _ := ids([]float32{0, 1}, hypergraph.SearchOptions{}); strings.Contains(got, "y:1.00") {
			t.Error(got)
		}
		changed := fact("xy", "another text")
		must(t, s.UpdateNode(ctx, changed))
		if n, err := s.GetNode(ctx, "xy"); err != nil || n.HasVector {
			t.Error("a stale vector was left", err)
		}
	})
}

func TestVectorsNeedATable(t *testing.T) {
	s, _ := newRecurse(t)
	if err := s.SetEmbedding(context.Background(), "a-rfc", "m", []float32{1}); !errors.Is(err, model.Unsupported) {
		t.Error(err)
	}
}

func TestGraph(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		ctx := context.Background()
		for _, id := range []string{"a", "b", "c", "d", "far"} {
			n := fact(id, id)
			if id == "d" {
				n.Tier = "archive"
			}
			must(t, s.CreateNode(ctx, n))
		}
		edge := func(id, kind, from, to string) {
			must(t, s.CreateEdge(ctx, hypergraph.Edge{ID: id, Type: kind, Weight: 1, Members: []hypergraph.Membership{
				{NodeID: from, Role: "subject"}, {NodeID: to, Role: "object", Position: 1}}}))
		}
		edge("ab", "relation", "a", "b")
		edge("ca", "causation", "c", "a")
		edge("bd", "relation", "b", "d")
		edge("dfar", "relation", "d", "far")
		for _, c := range []struct {
			o    hypergraph.TraversalOptions
			want string
		}{
			{hypergraph.TraversalOptions{}, "b c"},
			{hypergraph.TraversalOptions{Direction: hypergraph.Outgoing}, "b"},
			{hypergraph.TraversalOptions{Direction: hypergraph.Incoming}, "c"},
			{hypergraph.TraversalOptions{EdgeTypes: []string{"causation"}}, "c"},
			{hypergraph.TraversalOptions{MaxDepth: 5}, "b c"}, // the archived d blocks the walk
			{hypergraph.TraversalOptions{MaxDepth: 5, Tiers: []string{"task", "archive"}}, "b c d far"},
			{hypergraph.TraversalOptions{MaxDepth: 5, MaxResults: 1}, "b"},
			{hypergraph.TraversalOptions{NodeTypes: []string{"entity"}}, ""},
		} {
			nodes, err := s.GetConnected(ctx, "a", c.o)
			must(t, err)
			var ids []string
			for _, n := range nodes {
				ids = append(ids, n.ID)
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("%+v: %s, want %s", c.o, got, c.want)
			}
		}
		if _, err := s.GetConnected(ctx, "nobody", hypergraph.TraversalOptions{}); !errors.Is(err, model.NotFound) {
			t.Error(err)
		}
		if _, err := s.GetConnected(ctx, "a", hypergraph.TraversalOptions{Direction: "sideways"}); !errors.Is(err, model.InvalidInput) {
			t.Error(err)
		}
		nodes, edges, err := s.GetSubgraph(ctx, []string{"b", "nobody"}, 1)
		must(t, err)
		if len(nodes) != 3 || len(edges) != 2 || edges[0].ID != "ab" || len(edges[0].Members) != 2 {
			t.Errorf("%d nodes, %+v", len(nodes), edges)
		}
		of, total, err := s.EdgesOf(ctx, "a", 1)
		if err != nil || total != 2 || len(of) != 1 {
			t.Error(of, total, err)
		}
	})
}

// TestAPageOfAHub: the first neighbours of a hub must cost a page, not every neighbour's text.
func TestAPageOfAHub(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	runSQL(t, path, recurseDDL(t), `INSERT INTO nodes (id, type, content) VALUES ('hub', 'fact', 'hub')`,
		`WITH RECURSIVE n(i) AS (VALUES (1000) UNION ALL SELECT i + 1 FROM n WHERE i < 3999)
			INSERT INTO nodes (id, type, content) SELECT 'n' || i, 'fact', CAST(zeroblob(10000) AS TEXT) FROM n`,
		`INSERT INTO hyperedges (id, type, label) VALUES ('e', 'relation', 'all')`, `INSERT INTO membership (hyperedge_id, node_id, role, position) SELECT 'e', id, 'participant', 0 FROM nodes`)
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, ReadOnly: true})
	must(t, err)
	defer s.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := s.GetConnected(t.Context(), "hub", hypergraph.TraversalOptions{MaxResults: 5})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err != nil || len(got) != 5 || got[0].ID != "n1000" || took > 20<<20 {
		t.Errorf("%d neighbours, %v, with %d bytes of memory; there are 30 MB of neighbours", len(got), err, took)
	}
}
