package hypergraphtest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

var nodeCases = []Case{
	{"H2", Contract, "a created node reads back with every field", nodeRoundTrip},
	{"H2", Added, "content is kept byte for byte", nodeBytes},
	{"H2", Added, "a confidence of 0 stays 0", nodeZeroConfidence},
	{"H2", Contract, "an update writes every field and keeps the id", nodeUpdate},
	{"H3", Contract, "creating an existing node is AlreadyExists and changes nothing", nodeExists},
	{"H4", Added, "an absent node is NotFound", nodeAbsent},
	{"H4", Added, "values outside the schema's lists are InvalidInput", nodeInvalid},
	{"H5", Contract, "values are copies, in and out", nodeCopies},
	{"H2", Added, "decisions keep their record and their parent", decisionRoundTrip},
	{"H4", Added, "a decision with children cannot be deleted", decisionChildren},
	{"H4", Added, "deleting many does what deleting each does", deleteMany},
	{"H4", Added, "deleting many is refused for a decision that keeps a child", deleteManyParents},
	{"H1", Added, "subjects are kept where they are declared and empty elsewhere", nodeSubject},
	{"H1", Added, "counts add up per tier", counts},
	{"H11", Contract, "feature gate: unknown names are false", features},
}

// kept are the fields that the store itself sets.
var kept = cmpopts.IgnoreFields(hypergraph.Node{}, "CreatedAt", "UpdatedAt", "LastAccessed", "AccessCount", "HasVector", "RowVersion")

func nodeRoundTrip(t *testing.T, b hypergraph.Backend) {
	for i, kind := range hypergraph.Recurse().NodeTypes {
		for j, tier := range hypergraph.Recurse().Tiers {
			n := hypergraph.Node{
				ID: fmt.Sprintf("n-%d-%d", i, j), Type: kind, Subtype: "sub", Tier: tier,
				Content: "some content\nwith two lines", Confidence: 0.25,
				Provenance: `{"file":"a.go","line":3,"source":"agent"}`, Metadata: `{"k":"v"}`,
			}
			create(t, b, n)
			got := get(t, b, n.ID)
			if diff := cmp.Diff(n, got, kept); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", kind, tier, diff)
			}
			if got.CreatedAt.IsZero() || got.UpdatedAt.IsZero() {
				t.Errorf("times are not stamped: created %v, updated %v", got.CreatedAt, got.UpdatedAt)
			}
			if got.HasVector {
				t.Errorf("a new node claims to have a vector")
			}
		}
	}
}

func nodeBytes(t *testing.T, b hypergraph.Backend) {
	for i, text := range []string{"a", "no newline", "newline\n", "\r\nCRLF\r\n", " lead and trail ", "---\nfront: matter\n---\n", "日本語 🙂\u00a0é e\u0301", "tab\tquote'\"\\%_"} {
		id := fmt.Sprintf("n%d", i)
		create(t, b, node(id, text))
		if got := get(t, b, id).Content; got != text {
			t.Errorf("content: got %q, want %q", got, text)
		}
	}
}

func nodeZeroConfidence(t *testing.T, b hypergraph.Backend) {
	n := node("zero", "text")
	n.Confidence = 0
	create(t, b, n)
	if got := get(t, b, "zero").Confidence; got != 0 {
		t.Errorf("created with confidence 0, reads %v", got)
	}
}

func nodeUpdate(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("n", "before"))
	created := get(t, b, "n").CreatedAt
	n := hypergraph.Node{ID: "n", Type: "snippet", Subtype: "s", Tier: "archive", Content: "after", Confidence: 0, Provenance: `{"line":1}`, Metadata: `{"a":[1]}`}
	if err := b.UpdateNode(t.Context(), n); err != nil {
		t.Fatalf("update: %v", err)
	}
	got := get(t, b, "n")
	if diff := cmp.Diff(n, got, kept); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.CreatedAt.Equal(created) {
		t.Errorf("an update moved created_at from %v to %v", created, got.CreatedAt)
	}
	n.Subtype, n.Provenance, n.Metadata = "", "", ""
	if err := b.UpdateNode(t.Context(), n); err != nil {
		t.Fatalf("update: %v", err)
	}
	if diff := cmp.Diff(n, get(t, b, "n"), kept); diff != "" {
		t.Errorf("fields that were emptied (-want +got):\n%s", diff)
	}
}

func nodeExists(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("n", "first"))
	wantKind(t, "second create", b.CreateNode(t.Context(), node("n", "second")), model.AlreadyExists)
	if got := get(t, b, "n").Content; got != "first" {
		t.Errorf("content is now %q", got)
	}
}

func nodeAbsent(t *testing.T, b hypergraph.Backend) {
	_, err := b.GetNode(t.Context(), "no-such")
	wantKind(t, "get", err, model.NotFound)
	wantKind(t, "update", b.UpdateNode(t.Context(), node("no-such", "x")), model.NotFound)
	wantKind(t, "delete", b.DeleteNode(t.Context(), "no-such"), model.NotFound)
	_, err = b.GetNode(t.Context(), "")
	wantKind(t, "get of the empty id", err, model.NotFound)
	create(t, b, node("n", "x"))
	if err := b.DeleteNode(t.Context(), "n"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	wantKind(t, "second delete", b.DeleteNode(t.Context(), "n"), model.NotFound)
	_, err = b.GetNode(t.Context(), "n")
	wantKind(t, "get after delete", err, model.NotFound)
}

func nodeInvalid(t *testing.T, b hypergraph.Backend) {
	for what, change := range map[string]func(*hypergraph.Node){
		"type":           func(n *hypergraph.Node) { n.Type = "knowledge" },
		"tier":           func(n *hypergraph.Node) { n.Tier = "Task" },
		"confidence > 1": func(n *hypergraph.Node) { n.Confidence = 1.5 },
		"confidence < 0": func(n *hypergraph.Node) { n.Confidence = -0.1 },
		"decision kind": func(n *hypergraph.Node) {
			n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "x", Status: "active"}
		},
		"decision status": func(n *hypergraph.Node) {
			n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal", Status: "x"}
		},
		"decision confidence": func(n *hypergraph.Node) {
			n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal", Status: "active", Confidence: 101}
		},
		"decision files": func(n *hypergraph.Node) {
			n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal", Status: "active", Files: `[1]`}
		},
		"metadata":   func(n *hypergraph.Node) { n.Metadata = `["a"]` },
		"provenance": func(n *hypergraph.Node) { n.Provenance = `null` },
		"no number":  func(n *hypergraph.Node) { n.Confidence = math.NaN() },
	} {
		n := node("n", "x")
		change(&n)
		wantKind(t, what, b.CreateNode(t.Context(), n), model.InvalidInput)
		_, err := b.GetNode(t.Context(), "n")
		wantKind(t, what+": nothing is stored", err, model.NotFound)
	}
	create(t, b, node("n", "before"))
	n := node("n", "after")
	n.Type = "knowledge"
	wantKind(t, "update", b.UpdateNode(t.Context(), n), model.InvalidInput)
	if got := get(t, b, "n"); got.Content != "before" || got.Type != "fact" {
		t.Errorf("a refused update left %q of type %q", got.Content, got.Type)
	}
}

func nodeCopies(t *testing.T, b hypergraph.Backend) {
	n := node("n", "x")
	n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal", Status: "active", Prompt: "why"}
	create(t, b, n)
	n.Decision.Prompt = "changed by the caller"
	got := get(t, b, "n")
	if got.Decision == nil || got.Decision.Prompt != "why" {
		t.Fatalf("the decision is now %+v", got.Decision)
	}
	got.Decision.Prompt = "changed by a reader"
	if again := get(t, b, "n"); again.Decision.Prompt != "why" {
		t.Errorf("a reader changed the store: %q", again.Decision.Prompt)
	}
	create(t, b, node("m", "y"))
	tie(t, b, "e", "relation", "n", "m")
	e, err := b.GetEdge(t.Context(), "e")
	if err != nil || len(e.Members) != 2 {
		t.Fatalf("edge: %+v, %v", e, err)
	}
	e.Members[0].NodeID = "changed by a reader"
	if again, _ := b.GetEdge(t.Context(), "e"); again.Members[0].NodeID != "n" {
		t.Errorf("a reader changed a membership: %+v", again.Members)
	}
}

func decision(id, parent string) hypergraph.Node {
	n := node(id, "decision "+id)
	n.Type = "decision"
	n.Decision = &hypergraph.Decision{Kind: "option", Confidence: 40, Prompt: "p", Files: `["a.go"]`, Branch: "main", Commit: "abc", ParentID: parent, Status: "completed"}
	return n
}

func decisionRoundTrip(t *testing.T, b hypergraph.Backend) {
	create(t, b, decision("root", ""), decision("leaf", "root"))
	for _, want := range []hypergraph.Node{decision("root", ""), decision("leaf", "root")} {
		if diff := cmp.Diff(want, get(t, b, want.ID), kept); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.ID, diff)
		}
	}
	n := get(t, b, "leaf")
	n.Content, n.Decision = "changed", nil
	if err := b.UpdateNode(t.Context(), n); err != nil {
		t.Fatalf("update: %v", err)
	}
	if d := get(t, b, "leaf").Decision; d == nil || d.ParentID != "root" {
		t.Errorf("an update without a decision changed the record to %+v", d)
	}
	n.Decision = &hypergraph.Decision{Kind: "action", Confidence: 1, Status: "rejected"}
	if err := b.UpdateNode(t.Context(), n); err != nil {
		t.Fatalf("update: %v", err)
	}
	if diff := cmp.Diff(n.Decision, get(t, b, "leaf").Decision); diff != "" {
		t.Errorf("updated decision (-want +got):\n%s", diff)
	}
	page, err := b.ListNodes(t.Context(), hypergraph.Listing{Order: model.OrderID, Limit: 10})
	if err != nil || len(page.Nodes) != 2 || page.Nodes[0].Decision == nil {
		t.Errorf("a list leaves the decision out: %+v, %v", page.Nodes, err)
	}
	wantKind(t, "a parent that is not there", b.CreateNode(t.Context(), decision("lost", "nowhere")), model.Conflict)
	_, err = b.GetNode(t.Context(), "lost")
	wantKind(t, "after the refusal", err, model.NotFound)
}

func decisionChildren(t *testing.T, b hypergraph.Backend) {
	create(t, b, decision("root", ""), decision("leaf", "root"))
	for _, parent := range []string{"root", "leaf"} {
		wantKind(t, "a circle by "+parent, b.UpdateNode(t.Context(), decision("root", parent)), model.InvalidInput)
	}
	wantKind(t, "delete of the parent", b.DeleteNode(t.Context(), "root"), model.Conflict)
	if got := get(t, b, "root"); got.Decision == nil {
		t.Errorf("the refused delete took the decision record")
	}
	for _, id := range []string{"leaf", "root"} {
		if err := b.DeleteNode(t.Context(), id); err != nil {
			t.Errorf("delete %s, children first: %v", id, err)
		}
	}
}

// deleteMany compares the store with one in which each node was deleted by itself.
func deleteMany(t *testing.T, b hypergraph.Backend) {
	ctx := t.Context()
	state := func(round string) (nodes, edges []string, counted []model.TierCount) {
		all := func(kind string) []hypergraph.Node {
			var out []hypergraph.Node
			for i := range 8 {
				n := node(fmt.Sprintf("%s%s%d", round, kind, 7-i), fmt.Sprintf("text %s %d", kind, i))
				n.Tier = []string{"session", "longterm"}[i%2]
				out = append(out, n)
			}
			return out
		}
		gone, stay := all("gone"), all("stay")
		create(t, b, gone...)
		create(t, b, stay...)
		create(t, b, decision(round+"goneP", ""), decision(round+"goneC", round+"goneP"), decision(round+"stayC", ""))
		tie(t, b, round+"broken", "relation", gone[0].ID, stay[0].ID)
		tie(t, b, round+"both", "relation", gone[1].ID, gone[2].ID)
		tie(t, b, round+"kept", "relation", gone[3].ID, stay[1].ID, stay[2].ID)
		tie(t, b, round+"untouched", "relation", stay[3].ID, stay[4].ID)
		list := []string{round + "goneC", round + "goneP", round + "absent"}
		for _, n := range gone {
			list = append(list, n.ID)
		}
		if round == "many-" {
			n, err := b.DeleteNodes(ctx, list)
			if err != nil || n != int64(len(list)-1) {
				t.Fatalf("DeleteNodes = %d, %v; want %d", n, err, len(list)-1)
			}
		} else {
			for _, id := range list {
				if err := b.DeleteNode(ctx, id); err != nil && !errors.Is(err, model.NotFound) {
					t.Fatal(err)
				}
			}
		}
		for n, err := range b.AllNodes(ctx, hypergraph.NodeFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := strings.CutPrefix(n.ID, round); ok {
				nodes = append(nodes, id)
			}
		}
		page, err := b.ListEdges(ctx, hypergraph.Listing{Order: model.OrderID, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Edges {
			if id, ok := strings.CutPrefix(e.ID, round); ok {
				edges = append(edges, fmt.Sprintf("%s %d", id, len(e.Members)))
			}
		}
		if found := search(t, b, "gone", hypergraph.SearchOptions{}); len(found.Hits) > 0 {
			t.Errorf("%s: search still finds %v", round, hitIDs(found))
		}
		if counted, err = b.Counts(ctx); err != nil {
			t.Fatal(err)
		}
		return nodes, edges, counted
	}
	nodes, edges, before := state("each-")
	gotNodes, gotEdges, after := state("many-")
	same(t, "nodes", gotNodes, nodes)
	same(t, "edges", gotEdges, edges)
	for i := range before {
		if after[i].Items != 2*before[i].Items || after[i].Bytes != 2*before[i].Bytes {
			t.Errorf("counts of %s: %+v after %+v, which must be doubled", after[i].Tier, after[i], before[i])
		}
	}
	of, err := b.EdgesOfAll(ctx, []string{"many-stay6", "many-stay7", "many-stay0", "absent"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"many-stay6": {"many-kept"}}, of); diff != "" {
		t.Errorf("EdgesOfAll (-want +got):\n%s", diff)
	}
}

func deleteManyParents(t *testing.T, b hypergraph.Backend) {
	create(t, b, node("other", "text"), decision("root", ""), decision("child", "root"), decision("leaf", "child"))
	err := b.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		_, err := tx.DeleteNodes(t.Context(), []string{"child", "root"})
		return err
	})
	wantKind(t, "delete of a decision that keeps a child", err, model.Conflict)
	for _, id := range []string{"root", "child", "leaf"} {
		get(t, b, id)
	}
	for _, order := range [][]string{{"root", "leaf", "child"}, {"child", "leaf", "root"}} {
		if n, err := b.DeleteNodes(t.Context(), order); err != nil || n != 3 {
			t.Errorf("DeleteNodes(%q) = %d, %v; want 3", order, n, err)
		}
		create(t, b, decision("root", ""), decision("child", "root"), decision("leaf", "child"))
	}
}

func nodeSubject(t *testing.T, b hypergraph.Backend) {
	n := node("n", "x")
	n.SubjectID = "person-1"
	err := b.CreateNode(t.Context(), n)
	if !b.Capabilities().HasSubjects {
		if err == nil && get(t, b, "n").SubjectID != "" {
			t.Errorf("a store without subject keys returns one")
		}
		return
	}
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	other := node("o", "x")
	other.SubjectID = "person-10"
	create(t, b, other, node("p", "x"))
	var got []string
	for n, err := range b.AllNodes(t.Context(), hypergraph.NodeFilter{SubjectID: "person-1"}) {
		if err != nil {
			t.Fatalf("all nodes: %v", err)
		}
		got = append(got, n.ID)
	}
	same(t, "nodes of the person", got, []string{"n"})
	n.SubjectID = ""
	if err := b.UpdateNode(t.Context(), n); err != nil || get(t, b, "n").SubjectID != "" {
		t.Errorf("a subject that was emptied reads %q, %v", get(t, b, "n").SubjectID, err)
	}
}

func counts(t *testing.T, b hypergraph.Backend) {
	a := node("b", "12345678")
	a.Tier = "archive"
	create(t, b, node("a", "1234"), a, node("c", "é"))
	tie(t, b, "e", "relation", "a", "b")
	check := func(when string, want map[string][2]int64) {
		t.Helper()
		got, err := b.Counts(t.Context())
		if err != nil {
			t.Fatalf("counts: %v", err)
		}
		seen := map[string][2]int64{}
		for _, c := range got {
			if c.Items != 0 || c.Bytes != 0 {
				seen[c.Tier] = [2]int64{c.Items, c.Bytes}
			}
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	label := int64(len("label of e"))
	check("after creation", map[string][2]int64{"task": {2, 6}, "archive": {1, 8}, hypergraph.EdgeTier: {1, label}})
	moved := node("a", "123456")
	moved.Tier = "session"
	if err := b.UpdateNode(t.Context(), moved); err != nil {
		t.Fatalf("update: %v", err)
	}
	check("after a move", map[string][2]int64{"task": {1, 2}, "session": {1, 6}, "archive": {1, 8}, hypergraph.EdgeTier: {1, label}})
	if err := b.DeleteNode(t.Context(), "b"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	check("after a delete", map[string][2]int64{"task": {1, 2}, "session": {1, 6}})
}

func features(t *testing.T, b hypergraph.Backend) {
	c := b.Capabilities()
	for name, want := range map[string]bool{
		"vector_search": c.VectorSearch, "fts": c.FullTextSearch, "transactions": c.Transactions,
		"": false, "FTS": false, "streaming": false, "time_travel": false,
	} {
		if got := c.Has(name); got != want {
			t.Errorf("Has(%q) = %v, want %v", name, got, want)
		}
	}
	if err := b.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
	if err := b.Ping(cancelled(t)); err == nil {
		t.Errorf("ping with an ended context answers nil")
	}
}
