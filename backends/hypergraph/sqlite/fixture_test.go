package sqlite_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

// fixture describes what the recurse program is known to have written.
type fixture struct {
	Subjects map[string]struct {
		Tokens       []string `json:"tokens"`
		NodesContent []string `json:"nodes_content"`
	} `json:"subjects"`
	FalseFriends  []string `json:"false_friend_nodes"`
	Orphans       []string `json:"orphan_vectors"`
	WithChildren  []string `json:"decisions_with_children"`
	FewMembers    []string `json:"edges_with_fewer_than_two_members"`
	NewestNodeIDs []string `json:"newest_node_ids"`
	OldestNodeIDs []string `json:"oldest_node_ids"`
	Counts        struct {
		Nodes      int64            `json:"nodes"`
		ByType     map[string]int64 `json:"by_type"`
		ByTier     map[string]int64 `json:"by_tier"`
		BySubtype  map[string]int64 `json:"by_subtype"`
		Edges      int64            `json:"hyperedges"`
		EdgesBy    map[string]int64 `json:"edges_by_type"`
		Membership int              `json:"membership"`
		Decisions  int              `json:"decisions"`
	} `json:"counts"`
}

// openFixture copies the database of the real system and opens the copy.
func openFixture(t *testing.T, readOnly bool) (*sqlite.Store, fixture, string) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "fixtures", "recurse")
	raw, err := os.ReadFile(filepath.Join(dir, "rlm.db"))
	if err != nil {
		t.Skip("the shared fixtures are not beside this repository: " + err.Error())
	}
	path := filepath.Join(t.TempDir(), "rlm.db")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var want fixture
	expected, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(expected, &want); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, ReadOnly: readOnly})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, want, path
}

func listIDs(t *testing.T, b hypergraph.Ops, l hypergraph.Listing) []string {
	t.Helper()
	var ids []string
	for {
		p, err := b.ListNodes(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Nodes {
			ids = append(ids, n.ID)
		}
		if l.Cursor = p.Next; p.Next == "" {
			return ids
		}
	}
}

func TestFixtureCounts(t *testing.T) {
	s, want, _ := openFixture(t, true)
	ctx := context.Background()
	if s.Schema() != sqlite.RecurseSchema {
		t.Fatalf("schema %q", s.Schema())
	}
	p, err := s.ListNodes(ctx, hypergraph.Listing{Limit: 1})
	if err != nil || p.Total != (model.Count{N: want.Counts.Nodes}) {
		t.Fatalf("total %+v, %v", p.Total, err)
	}
	types, tiers, subtypes, decisions := map[string]int64{}, map[string]int64{}, map[string]int64{}, 0
	for n, err := range s.AllNodes(ctx, hypergraph.NodeFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		types[n.Type]++
		tiers[n.Tier]++
		subtypes[n.Subtype]++
		if n.Decision != nil {
			decisions++
		}
		if n.CreatedAt.IsZero() || n.UpdatedAt.IsZero() || n.CreatedAt.Location().String() != "UTC" {
			t.Errorf("%s: times %v %v", n.ID, n.CreatedAt, n.UpdatedAt)
		}
	}
	for _, d := range []string{cmp.Diff(want.Counts.ByType, types), cmp.Diff(want.Counts.ByTier, tiers), cmp.Diff(want.Counts.BySubtype, subtypes)} {
		if d != "" {
			t.Error(d)
		}
	}
	if decisions != want.Counts.Decisions {
		t.Errorf("%d decisions, want %d", decisions, want.Counts.Decisions)
	}
	counts, err := s.Counts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		if w := want.Counts.ByTier[c.Tier]; c.Tier != hypergraph.EdgeTier && c.Items != w {
			t.Errorf("tier %s: %d items, want %d", c.Tier, c.Items, w)
		}
		if c.Tier == hypergraph.EdgeTier && c.Items != want.Counts.Edges {
			t.Errorf("%d edges, want %d", c.Items, want.Counts.Edges)
		}
	}
}

func TestFixtureEdges(t *testing.T) {
	s, want, _ := openFixture(t, true)
	types, members, few := map[string]int64{}, 0, []string(nil)
	l := hypergraph.Listing{Limit: 50, Order: model.OrderOldest}
	for {
		p, err := s.ListEdges(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if p.Total.N != want.Counts.Edges {
			t.Fatalf("total %d", p.Total.N)
		}
		for _, e := range p.Edges {
			types[e.Type]++
			members += len(e.Members)
			if len(e.Members) < 2 {
				few = append(few, e.ID)
			}
		}
		if l.Cursor = p.Next; p.Next == "" {
			break
		}
	}
	slices.Sort(few)
	if d := cmp.Diff(want.Counts.EdgesBy, types) + cmp.Diff(want.FewMembers, few); d != "" || members != want.Counts.Membership {
		t.Error(members, d)
	}
}

func TestFixtureOrder(t *testing.T) {
	s, want, _ := openFixture(t, true)
	newest := listIDs(t, s, hypergraph.Listing{Order: model.OrderNewest, Limit: 7})
	oldest := listIDs(t, s, hypergraph.Listing{Order: model.OrderOldest, Limit: 1000})
	if d := cmp.Diff(want.NewestNodeIDs, newest[:10]); d != "" {
		t.Error("newest", d)
	}
	if d := cmp.Diff(want.OldestNodeIDs, oldest[:10]); d != "" {
		t.Error("oldest", d)
	}
	slices.Sort(oldest)
	slices.Sort(newest)
	if d := cmp.Diff(newest, oldest); d != "" || len(slices.Compact(newest)) != int(want.Counts.Nodes) {
		t.Error("the orders do not list the same nodes, each once", d)
	}
	if byID := listIDs(t, s, hypergraph.Listing{Order: model.OrderID, Limit: 100}); !slices.IsSorted(byID) || len(byID) != len(newest) {
		t.Error("not ordered by id")
	}
}

func TestFixtureSearchFindsSubjects(t *testing.T) {
	s, want, _ := openFixture(t, true)
	for name, subject := range want.Subjects {
		found := map[string]bool{}
		for _, token := range subject.Tokens {
			res, err := s.SearchByContent(context.Background(), token, hypergraph.SearchOptions{IncludeArchived: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range res.Hits {
				if !strings.Contains(strings.ToLower(h.Node.Content), strings.ToLower(token)) || h.Score <= 0 || h.Score > 1 {
					t.Errorf("%q: hit %s, score %v", token, h.Node.ID, h.Score)
				}
				found[h.Node.ID] = true
			}
		}
		for _, id := range subject.NodesContent {
			if !found[id] {
				t.Errorf("%s: node %s is not found", name, id)
			}
		}
	}
}
