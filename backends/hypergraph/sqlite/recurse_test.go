package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/internal/clock"
	"memdesk/model"
)

// TestShapes reads every form in which recurse stores a column.
func TestShapes(t *testing.T) {
	s, _ := newRecurse(t)
	ctx := context.Background()
	at := func(h, m, sec, ns int) time.Time { return time.Date(2026, 1, 2, h, m, sec, ns, time.UTC) }
	for id, want := range map[string]hypergraph.Node{
		"a-rfc":    {Tier: "task", Metadata: `{"k":1}`, CreatedAt: at(3, 4, 5, 123456789)},
		"b-offset": {Tier: "session", Metadata: `{"k":2}`, CreatedAt: at(3, 4, 5, 200000000), HasVector: true},
		"c-space":  {Tier: "longterm", CreatedAt: at(3, 4, 6, 0)},
		"d-null":   {Tier: "task"},
		"e-odd":    {Tier: "archive", Provenance: "not json", Metadata: "[]"},
	} {
		n, err := s.GetNode(ctx, id)
		must(t, err)
		got := hypergraph.Node{Tier: n.Tier, Metadata: n.Metadata, Provenance: n.Provenance, CreatedAt: n.CreatedAt, HasVector: n.HasVector}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(id, d)
		}
	}
	g, err := s.GetNode(ctx, "h-option")
	must(t, err)
	if d := cmp.Diff(&hypergraph.Decision{Kind: "option", Confidence: 40, Files: `["a.go"]`, Branch: "main", ParentID: "g-goal", Status: "active"}, g.Decision); d != "" {
		t.Error(d)
	}
	e, err := s.GetEdge(ctx, "e2")
	must(t, err)
	if e.Label != "" || e.Metadata != `{"k":3}` || len(e.Members) != 3 || !e.CreatedAt.Equal(at(3, 4, 7, 0)) {
		t.Errorf("%+v", e)
	}
}

func TestTimesThatCannotBeReadComeLast(t *testing.T) {
	s, _ := newRecurse(t)
	for order, want := range map[model.Order][]string{
		model.OrderNewest: {"h-option", "g-goal", "c-space", "b-offset", "a-rfc", "f-budget", "d-null", "e-odd"},
		model.OrderOldest: {"f-budget", "a-rfc", "b-offset", "c-space", "g-goal", "h-option", "e-odd", "d-null"},
	} {
		if d := cmp.Diff(want, listIDs(t, s, hypergraph.Listing{Order: order, Limit: 1})); d != "" {
			t.Error(order, d)
		}
		if d := cmp.Diff(want, backwards(t, s, hypergraph.Listing{Order: order, Limit: 3})); d != "" {
			t.Error(order, d)
		}
	}
}

func TestSubstringSearch(t *testing.T) {
	s, _ := newRecurse(t)
	for _, c := range []struct {
		query string
		opt   hypergraph.SearchOptions
		want  string
	}{
		{"cache", hypergraph.SearchOptions{}, "c-space b-offset a-rfc f-budget"},
		{"CACHE", hypergraph.SearchOptions{Limit: 1}, "c-space"},
		{"cache", hypergraph.SearchOptions{NotSubtypes: hypergraph.Recurse().Bookkeeping}, "c-space b-offset a-rfc"},
		{"cache", hypergraph.SearchOptions{Tiers: []string{"task"}, Types: []string{"fact"}}, "a-rfc f-budget"},
		{"100%", hypergraph.SearchOptions{}, "a-rfc"},
		{"under_score", hypergraph.SearchOptions{IncludeArchived: true}, "c-space"},
		{"nobody", hypergraph.SearchOptions{}, ""},
		{"nobody", hypergraph.SearchOptions{IncludeArchived: true}, "e-odd"},
		{`\`, hypergraph.SearchOptions{IncludeArchived: true}, ""},
	} {
		res, err := s.SearchByContent(context.Background(), c.query, c.opt)
		must(t, err)
		var ids []string
		for _, h := range res.Hits {
			ids = append(ids, h.Node.ID)
			if h.Score <= 0 || h.Score >= 1 {
				t.Errorf("%s: score %v", c.query, h.Score)
			}
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%q %+v: %s, want %s", c.query, c.opt, got, c.want)
		}
		if c.opt.Limit == 0 && res.Total.N != int64(len(ids)) || res.Bounded {
			t.Errorf("%q: %+v", c.query, res.Total)
		}
	}
}

// TestATableOfVectorsThatComesLater: recurse's command line makes it while memdesk has the file open.
func TestATableOfVectorsThatComesLater(t *testing.T) {
	s, path := newRecurse(t)
	runSQL(t, path, `CREATE TABLE node_embeddings (node_id TEXT PRIMARY KEY, embedding BLOB NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL)`,
		`INSERT INTO node_embeddings VALUES ('a-rfc', x'0000803f', 'm', 1)`)
	if err := s.DeleteNode(t.Context(), "a-rfc"); !errors.Is(err, model.Unavailable) || !strings.Contains(err.Error(), "open the store again") {
		t.Errorf("a removal that would leave the vector: %v", err)
	}
}

// TestEditDropsTheOtherWritersVector: the JSON column would keep the old text's vector, as a row of
// node_embeddings would.
func TestEditDropsTheOtherWritersVector(t *testing.T) {
	s, path := newRecurse(t)
	ctx := context.Background()
	res, err := s.SearchByEmbedding(ctx, []float32{1, 1, 0}, hypergraph.SearchOptions{})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Node.ID != "b-offset" {
		t.Fatal(res, err)
	}
	n := res.Hits[0].Node
	n.Subtype = "still the same meaning"
	must(t, s.UpdateNode(ctx, n))
	if n, err = s.GetNode(ctx, n.ID); err != nil || !n.HasVector {
		t.Fatal("an edit beside the content dropped the vector", err)
	}
	n.Content = "another meaning"
	must(t, s.UpdateNode(ctx, n))
	if n, err = s.GetNode(ctx, n.ID); err != nil || n.HasVector {
		t.Error("the vector is still there", err)
	}
	if got := peek(t, path, `SELECT typeof(embedding), length(embedding), typeof(metadata) FROM nodes WHERE id = 'b-offset'`); got[0] != "blob 0 text" {
		t.Error(got)
	}
}

func TestOddValuesOfALiveWriterMayStay(t *testing.T) {
	s, _ := newRecurse(t)
	ctx := context.Background()
	n, err := s.GetNode(ctx, "e-odd")
	must(t, err)
	n.Content = "edited"
	must(t, s.UpdateNode(ctx, n))
	n.Metadata = "[1]"
	if err := s.UpdateNode(ctx, n); model.KindOf(err) != model.InvalidInput {
		t.Error(err)
	}
}

// A column of a decision that an edit does not name keeps its NULL: 0 would be a confidence, and NULL is none.
func TestEditLeavesADecisionsOtherColumns(t *testing.T) {
	s, path := newRecurse(t, `INSERT INTO nodes (id, type, content) VALUES ('d-none', 'decision', 'paint it')`,
		`INSERT INTO decisions (node_id, decision_type, prompt) VALUES ('d-none', 'goal', 'asked')`)
	ctx := context.Background()
	n, err := s.GetNode(ctx, "d-none")
	must(t, err)
	n.Decision.Prompt = "asked again"
	must(t, s.UpdateNode(ctx, n))
	got := peek(t, path, `SELECT prompt, typeof(confidence), typeof(files), typeof(branch), typeof(commit_hash), typeof(parent_id) FROM decisions WHERE node_id = 'd-none'`)
	if got[0] != "asked again null null null null null" {
		t.Error(got)
	}
}

func TestOddIDsAreReported(t *testing.T) {
	s, _ := newRecurse(t, `INSERT INTO nodes (id, type, content) VALUES (NULL, 'fact', 'x'), (X'00ff', 'fact', 'y')`)
	if notes := strings.Join(s.Notes(), "\n"); !strings.Contains(notes, "2 nodes have no text as their id") {
		t.Error(notes)
	}
	if ids := listIDs(t, s, hypergraph.Listing{Limit: 100}); len(ids) != 8 || slices.Contains(ids, "") {
		t.Error(ids)
	}
}

// A new row is stamped no finer than the file orders; a restored row keeps its time.
func TestNewRowsAreStampedAsTheFileOrders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	runSQL(t, path, recurseDDL(t))
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Clock: clock.NewFake(at)})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	old := fact("old", "x")
	old.CreatedAt = at.Add(-time.Hour)
	for id, n := range map[string]hypergraph.Node{"new": fact("new", "x"), "old": old} {
		must(t, s.CreateNode(t.Context(), n))
		want := at.Truncate(time.Millisecond)
		if !n.CreatedAt.IsZero() {
			want = n.CreatedAt
		}
		if got, err := s.GetNode(t.Context(), id); err != nil || !got.CreatedAt.Equal(want) {
			t.Errorf("%s was made at %v, %v; want %v", id, got.CreatedAt, err, want)
		}
	}
}

// TestOddCells: SQLite keeps any type in any column, and one odd cell must not hide the rest.
func TestOddCells(t *testing.T) {
	s, _ := newRecurse(t, `UPDATE membership SET position = 'first' WHERE rowid = (SELECT min(rowid) FROM membership)`,
		`UPDATE membership SET position = 1.5 WHERE rowid = (SELECT max(rowid) FROM membership)`,
		`UPDATE nodes SET access_count = 'often' WHERE id = 'a-rfc'`, `UPDATE decisions SET confidence = NULL`)
	page, err := s.ListEdges(t.Context(), hypergraph.Listing{Limit: 100})
	if err != nil || len(page.Edges) == 0 {
		t.Errorf("%d edges, %v", len(page.Edges), err)
	}
	if ids := listIDs(t, s, hypergraph.Listing{Limit: 100}); len(ids) != 8 {
		t.Error(ids)
	}
}

// TestTiersOfALiveWriter: items of a tier that the vocabulary lacks are counted too.
func TestTiersOfALiveWriter(t *testing.T) {
	s, _ := newRecurse(t, `PRAGMA ignore_check_constraints = ON; UPDATE nodes SET tier = 'shelf' WHERE id = 'a-rfc'`)
	counts, err := s.Counts(t.Context())
	must(t, err)
	if !slices.ContainsFunc(counts, func(c model.TierCount) bool { return c.Tier == "shelf" && c.Items == 1 && c.Bytes > 0 }) {
		t.Errorf("%+v", counts)
	}
}
