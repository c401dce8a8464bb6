package hypergraph_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/model"
)

func TestRefusedWrites(t *testing.T) {
	s, b := open(t)
	theirs := node("theirs", "x")
	theirs.SubjectID = "q"
	add(t, b, node("a", "x"), node("b", "x"), node("binary", "half \xe2\x82"), node("bad", poison+"\ntail"), theirs)
	tie(t, b, "e", "label", "a", "b")
	edge := read(t, s, "edge/e")
	for _, c := range []struct {
		what string
		req  model.RetainRequest
		kind model.Kind
	}{
		{"a cleaning that does not say what it cleans", model.RetainRequest{ID: "bad", Content: poison}, model.InvalidInput},
		{"an edge in a node's tier", model.RetainRequest{ID: "edge/e", Tier: "task", Content: "x"}, model.InvalidInput},
		{"a node in the edges' tier", model.RetainRequest{ID: "a", Tier: "edges", Content: "x"}, model.InvalidInput},
		{"text appended to bytes", model.RetainRequest{ID: "binary", Mode: model.Append, Content: "x"}, model.InvalidInput},
		{"two tiers for a new node", model.RetainRequest{Tier: "task", Content: "x", Meta: []model.Field{{Name: "tier", Value: "session"}}}, model.InvalidInput},
		{"a subject on an edge", model.RetainRequest{ID: "edge/e", Content: "x", DataSubjectID: "p"}, model.Unsupported},
		{"an emptied label by mistake", model.RetainRequest{ID: "edge/e"}, model.InvalidInput},
		{"a poisoned field", model.RetainRequest{ID: "a", Content: "x", Meta: set(read(t, s, "a"), "metadata", `{"k":"`+poison+`"}`)}, model.InvalidInput},
		{"a poisoned field of an edge", model.RetainRequest{ID: "edge/e", Content: "x", Meta: set(edge, "metadata", `{"k":"`+poison+`"}`)}, model.InvalidInput},
		{"two subjects", model.RetainRequest{ID: "a", Content: "x", DataSubjectID: "p", Meta: set(read(t, s, "a"), "subject", "q")}, model.InvalidInput},
		{"text of another subject", model.RetainRequest{ID: "theirs", Mode: model.Append, Content: "x", DataSubjectID: "p"}, model.InvalidInput},
		{"another subject's text in its place", model.RetainRequest{ID: "theirs", Content: "y", DataSubjectID: "p"}, model.InvalidInput},
	} {
		if c.req.Mode == "" {
			c.req.Mode = model.Replace
		}
		_, err := s.Provider.Retain(t.Context(), c.req)
		wantKind(t, c.what, err, c.kind)
	}
	if !read(t, s, "binary").Has(model.FlagBinary) {
		t.Errorf("content that is not UTF-8 is not flagged")
	}
	retain(t, s, model.RetainRequest{ID: "binary", Content: "text now"})
	retain(t, s, model.RetainRequest{ID: "theirs", Content: "y", DataSubjectID: "q"})
	retain(t, s, model.RetainRequest{ID: "theirs", Content: "y", DataSubjectID: "p", Meta: set(read(t, s, "theirs"), "subject", "")})
	if res := retain(t, s, model.RetainRequest{ID: "edge/e", Meta: edge.Meta}); res.Bytes != 0 {
		t.Errorf("an edge without a label has %d bytes", res.Bytes)
	}
}

// An item that no reader would get back is refused, by whatever steps it grew.
func TestNoItemGrowsTooLargeToBeRead(t *testing.T) {
	s, b := open(t)
	half := strings.Repeat("x", hypergraph.MaxText/2)
	add(t, b, node("a", half), node("b", "x"))
	tie(t, b, "e", half, "a", "b")
	more := half + "x"
	for what, req := range map[string]model.RetainRequest{
		"an append":             {ID: "a", Mode: model.Append, Content: more},
		"an append to an edge":  {ID: "edge/e", Mode: model.Append, Content: more},
		"a new node":            {ID: "c", Mode: model.Replace, Content: half + more},
		"metadata":              {ID: "b", Mode: model.Replace, Content: "x", Meta: set(read(t, s, "b"), "metadata", `{"k":"`+half+more+`"}`)},
		"an edge with metadata": {ID: "edge/e", Mode: model.Replace, Content: "x", Meta: set(read(t, s, "edge/e"), "metadata", `{"k":"`+half+more+`"}`)},
	} {
		_, err := s.Provider.Retain(t.Context(), req)
		wantKind(t, what, err, model.InvalidInput)
	}
	for _, id := range []string{"a", "b", "edge/e"} {
		read(t, s, id)
	}
}

// A decision keeps its type while its record hangs on it.
func TestDecisionKeepsItsType(t *testing.T) {
	s, b := open(t)
	n := node("d", "x")
	n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal", Status: "active"}
	add(t, b, n)
	meta := slices.DeleteFunc(set(read(t, s, "d"), "type", "fact"), func(f model.Field) bool { return strings.HasPrefix(f.Name, "decision_") })
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "d", Content: "x", Mode: model.Replace, Meta: meta})
	wantKind(t, "another type", err, model.InvalidInput)
	if err != nil && !strings.Contains(err.Error(), "its type stays") { // the adapter says it, not the schema
		t.Errorf("the refusal does not say why: %v", err)
	}
}

// A field that is not UTF-8 must survive a round trip through a document's text.
func TestBrokenFieldBytesSurvive(t *testing.T) {
	s, b := open(t)
	n := node("n", "x")
	n.Type, n.Decision = "decision", &hypergraph.Decision{Kind: "goal", Status: "active", Branch: "caf\xe9 \xff\xfe"}
	add(t, b, n)
	it := read(t, s, "n")
	doc, err := model.DecodeDocument(model.Structured, it.Document().Encode(model.Structured))
	if err != nil {
		t.Fatal(err)
	}
	retain(t, s, model.RetainRequest{ID: "n", Content: "changed", Meta: doc.Meta})
	if got, _ := b.GetNode(t.Context(), "n"); got.Decision == nil || got.Decision.Branch != n.Decision.Branch || got.Content != "changed" {
		t.Errorf("decision %+v, content %q", got.Decision, got.Content)
	}
}

// odd is a backend that misbehaves in one way.
type odd struct {
	*inmem.Store
	score    float64 // of every hit, when not 0
	ping     error
	raced    bool               // another writer inserts during the next transaction
	onDelete context.CancelFunc // called with the first delete
	texts    int                // calls that read the texts of many nodes in a transaction
}

func (o *odd) Ping(context.Context) error { return o.ping }

func (o *odd) SearchByContent(ctx context.Context, q string, opts hypergraph.SearchOptions) (hypergraph.SearchResult, error) {
	r, err := o.Store.SearchByContent(ctx, q, opts)
	for i := range r.Hits {
		r.Hits[i].Score = o.score
	}
	return r, err
}

func (o *odd) WithTx(ctx context.Context, fn func(hypergraph.Ops) error) error {
	if o.raced {
		o.raced = false
		return model.E(model.AlreadyExists, "create node", nil)
	}
	return o.Store.WithTx(ctx, func(tx hypergraph.Ops) error { return fn(oddOps{tx, o}) })
}

type oddOps struct {
	hypergraph.Ops
	o *odd
}

func (t oddOps) DeleteNode(ctx context.Context, id string) error {
	err := t.Ops.DeleteNode(ctx, id)
	if t.o.onDelete != nil {
		t.o.onDelete()
	}
	return err
}

func (t oddOps) AllNodes(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[hypergraph.Node, error] {
	t.o.texts++
	return t.Ops.AllNodes(ctx, f)
}

// TestACascadeReadsNoTexts: it holds the write lock, so that its cost must not grow with the decisions of the store.
func TestACascadeReadsNoTexts(t *testing.T) {
	o := &odd{Store: inmem.New(nil)}
	for i := range 300 {
		n := node(fmt.Sprintf("d%03d", i), "x")
		n.SubjectID, n.Type, n.Decision = "p", "decision", &hypergraph.Decision{Kind: "goal", Status: "active"}
		if i > 0 {
			n.Decision.ParentID = fmt.Sprintf("d%03d", i-1)
		}
		add(t, o, n)
	}
	res, err := hypergraph.Adapt(hypergraph.Config{Backend: o}).Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "p"})
	if err != nil || res.Removed != 300 || o.texts > 0 {
		t.Errorf("removed %d of 300, %v; the texts of many were read %d times", res.Removed, err, o.texts)
	}
}

func TestScoresAreClamped(t *testing.T) {
	for score, want := range map[float64]float64{math.NaN(): 0, math.Inf(1): 1, -3: 0, 7: 1, 0.5: 0.5} {
		o := &odd{Store: inmem.New(nil), score: score}
		add(t, o, node("n", "marmoset"))
		res, err := hypergraph.Adapt(hypergraph.Config{Backend: o}).Provider.Recall(t.Context(), model.RecallRequest{Query: "marmoset"})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].Score != want {
			t.Errorf("score %v comes out as %+v, %v", score, res.Hits, err)
		}
	}
}

func TestHealthNamesNoPath(t *testing.T) {
	o := &odd{Store: inmem.New(nil), ping: errors.New("cannot open /srv/agents/memory.db: disk I/O error")}
	st := backendtest.Health(t, hypergraph.Adapt(hypergraph.Config{Backend: o, Location: "/srv/agents/memory.db"}))
	if st.OK || strings.Contains(st.Message, "/srv") || !strings.Contains(st.Message, "disk I/O error") {
		t.Errorf("OK=%v %q", st.OK, st.Message)
	}
}

func TestRacedCreateLooksAgain(t *testing.T) {
	o := &odd{Store: inmem.New(nil), raced: true}
	s := hypergraph.Adapt(hypergraph.Config{Backend: o})
	res, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "task", Key: "n", Content: "x", Mode: model.Append})
	if err != nil || res.Bytes != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// Without transactions there is no rollback, so a cascade that has begun to delete must finish.
func TestCascadeIsNotLeftHalfDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := &odd{Store: inmem.New(nil), onDelete: cancel}
	for _, id := range []string{"a", "b", "c"} {
		n := node(id, "x")
		n.SubjectID = "p"
		add(t, o, n)
	}
	s := hypergraph.Adapt(hypergraph.Config{Backend: o})
	res, err := s.Provider.Forget(ctx, model.ForgetRequest{DataSubjectID: "p"})
	if err != nil || res.Removed != 3 {
		t.Errorf("removed %d, %v; want all 3", res.Removed, err)
	}
}
