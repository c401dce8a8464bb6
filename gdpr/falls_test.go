package gdpr_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// tie writes an edge over nodes.
func (w *world) tie(store, id, label string, nodes ...string) {
	w.t.Helper()
	var members []string
	for _, n := range nodes {
		members = append(members, fmt.Sprintf(`{"node":%q,"role":"participant"}`, n))
	}
	w.put(store, model.RetainRequest{Tier: "edges", Key: id, Content: label, Meta: []model.Field{{Name: "members", Value: "[" + strings.Join(members, ",") + "]"}}})
}

// ties fills a store with edges, some of which fall with the subject's items.
func (w *world) ties(store string) {
	w.put(store, model.RetainRequest{Tier: "longterm", Key: "h1", Content: name + " asked for a copy"})
	w.put(store, model.RetainRequest{Tier: "longterm", Key: "h2", Content: "write to " + mail})
	w.put(store, model.RetainRequest{Tier: "longterm", Key: "h3-" + ana, Content: "the id names her\nand tides\nand piers\nand boats"})
	for i := range 30 {
		w.put(store, model.RetainRequest{Tier: "longterm", Key: fmt.Sprintf("y%d", i), Content: fmt.Sprintf("note %d about tides", i)})
	}
	w.tie(store, "one", "asks", "h1", "y1")
	w.tie(store, "none", "met", "h1", "h2")
	w.tie(store, "second", "met there", "h1", "h2", "y2")
	w.tie(store, "renamed", "of", "h3-"+ana, "y3")
	w.tie(store, "named", "seen by\n"+name+"\nat the pier\nat noon", "h2", "y4")
	w.tie(store, "stays", "by the pier", "h1", "y5", "y6")
	w.tie(store, "far", "by the sea", "y5", "y6")
}

// wantExactly checks that an erasure removes exactly the items of its plan.
func (w *world) wantExactly(p gdpr.Plan) gdpr.Outcome {
	w.t.Helper()
	before := w.contents()
	var want, gone []string
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if st.Action == gdpr.Forget || st.Action == gdpr.Redact && st.NewID != "" {
				want = append(want, st.Store+":"+st.ID)
			}
		}
	}
	out := w.complete(p)
	after := w.contents()
	for ref := range before {
		if _, there := after[ref]; !there {
			gone = append(gone, ref)
		}
	}
	slices.Sort(want)
	slices.Sort(gone)
	if d := cmp.Diff(want, gone); d != "" {
		w.t.Errorf("planned, and gone:\n%s", d)
	}
	return out
}

// TestThePlanHasWhatFalls: an edge left with fewer than two members goes with its node, and the plan
// must list it.
func TestThePlanHasWhatFalls(t *testing.T) {
	for _, store := range []string{"db", "pg"} {
		t.Run(store, func(t *testing.T) {
			w := newWorld(t)
			if store == "pg" {
				w.addPostgres(testpg.DSN(t))
				w.open()
			}
			w.ties(store)
			p := w.plan(w.file().ID)
			reasons := map[string]string{}
			for _, s := range p.Stores {
				for _, st := range s.Steps {
					if st.Action == gdpr.Forget && st.Layer == "edge" {
						reasons[st.ID] = st.Reason
					}
				}
			}
			want := map[string]string{
				"edge/one":    "left with one member when h1 goes",
				"edge/none":   "left with no member when h1 and 1 more go",
				"edge/second": "left with one member when h1 and 1 more go",
				"edge/named":  "alias in body; left with one member when h2 goes",
				// an item that keeps its text under another id leaves its edges
				"edge/renamed": "names the person in members; left with one member when h3-" + ana + " goes",
			}
			if d := cmp.Diff(want, reasons); d != "" {
				t.Error(d)
			}
			out := w.wantExactly(p)
			if items, _ := p.Count(); out.Forgotten+out.Redacted != items {
				t.Errorf("%d forgotten and %d redacted of %d", out.Forgotten, out.Redacted, items)
			}
		})
	}
}

// alone is a fleet of one store.
func alone(s model.Store) *backends.Fleet {
	return backends.NewFleet([]backends.Member{{Name: s.Name, Kind: s.Kind, Store: s}}, nil)
}

// TestThePlanOverHTTPIsTheSame: the same graph, opened directly and over HTTP by the Provider contract,
// must give the same steps, falling edges included.
func TestThePlanOverHTTPIsTheSame(t *testing.T) {
	w := newWorld(t)
	open := func(c backends.StoreConfig) model.Store {
		t.Helper()
		kind, _ := backends.Builtin().Kind(c.Kind)
		c.Name = "near"
		s, err := kind.Open(t.Context(), c, backends.Env{Clock: w.clock})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	near := open(backends.StoreConfig{Kind: "inmem"})
	srv := httptest.NewServer(backends.Serve(backends.Served{Callers: []backends.Caller{{Name: "op", Token: model.NewSecret("tok-2f8e1c55")}}, Store: func(backends.Caller) model.Store { return near }}))
	t.Cleanup(srv.Close)
	t.Setenv("MEMDESK_GDPR_TOKEN", "tok-2f8e1c55")
	far := open(backends.StoreConfig{Kind: "remote", BaseURL: srv.URL, TokenEnv: "MEMDESK_GDPR_TOKEN"})
	if far.Falls == nil {
		t.Fatal("the far store cannot say what falls")
	}
	steps := func(s model.Store) []gdpr.Step {
		w.fleet = alone(s)
		id := w.file().ID
		var out []gdpr.Step
		for _, sp := range w.plan(id).Stores {
			for _, st := range sp.Steps {
				if st.Layer == "item" || st.Layer == "edge" {
					out = append(out, st)
				}
			}
		}
		return out
	}
	w.fleet = alone(near)
	w.ties("near")
	here := steps(near)
	if n := len(here); n < 7 {
		t.Fatalf("%d steps", n)
	}
	if d := cmp.Diff(here, steps(far)); d != "" {
		t.Errorf("-near +far:\n%s", d)
	}
	out := w.complete(w.plan(w.file().ID))
	if out.Forgotten+out.Redacted != int64(len(here)) {
		t.Errorf("%d forgotten, %d redacted of %d", out.Forgotten, out.Redacted, len(here))
	}
}

// TestAnEdgeOnHoldKeepsItsMembers: an edge on hold must not fall with an item.
func TestAnEdgeOnHoldKeepsItsMembers(t *testing.T) {
	w := newWorld(t)
	w.ties("db")
	r := w.file()
	for _, id := range []string{"edge/one", "edge/renamed"} {
		if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: id, Ground: "a claim"}); err != nil {
			t.Fatal(err)
		}
	}
	before := w.contents()
	p := w.plan(r.ID)
	if _, err := w.erase(p); err != nil {
		t.Fatal(err)
	}
	after := w.contents()
	for _, id := range []string{"db:edge/one", "db:edge/renamed"} {
		if after[id] != before[id] {
			t.Errorf("%s was %q, is %q", id, before[id], after[id])
		}
	}
	if got := after["db:h1"]; got == "" || strings.Contains(got, name) {
		t.Errorf("h1: %q", got)
	}
	if _, there := after["db:h3-"+ana]; !there {
		t.Error("a member of an edge on hold has another id")
	}
	if _, there := after["db:h2"]; there {
		t.Error("h2 is left, which nothing held needs")
	}
}

// TestANewEdgeIsNotTakenAlong: an edge that is new or changed since the plan must stay, and so must the
// items whose removal would make it fall.
func TestANewEdgeIsNotTakenAlong(t *testing.T) {
	w := newWorld(t)
	w.ties("db")
	p := w.plan(w.file().ID)
	w.tie("db", "late", "said at the pier", "h1", "y7")
	it, err := w.store("db").Browser.Read(t.Context(), "edge/none")
	if err != nil {
		t.Fatal(err)
	}
	w.put("db", model.RetainRequest{ID: it.ID, Content: "met again", IfMatch: it.Revision})
	out, err := w.erase(p)
	if err != nil || out.Status == gdpr.StateComplete || len(out.Problems) == 0 {
		t.Errorf("%s, %q, %v; want problems", out.Status, out.Problems, err)
	}
	after := w.contents()
	for _, id := range []string{"db:edge/late", "db:edge/none", "db:h1", "db:h2"} {
		if _, there := after[id]; !there {
			t.Errorf("%s is gone", id)
		}
	}
	w.wantExactly(w.plan(p.Request))
}

// TestARecurseErasureTakesWhatItSays erases a subject from a database that recurse itself wrote.
func TestARecurseErasureTakesWhatItSays(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.dir, "rlm.db")
	b, err := os.ReadFile(filepath.Join(fixtures(t, "recurse", new(any)), "rlm.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{{Name: "rlm", Kind: "sqlite", Path: path}}
	w.open()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: "subj-ana", Aliases: []string{"Ana Ribeiro", "ana.ribeiro@example.test", "RC-ANA-5512"}, Received: "2026-02-20", Ground: "asked"})
	if err != nil {
		t.Fatal(err)
	}
	w.wantExactly(w.plan(r.ID))
}

// TestLinesOfAGraphGoByThemselves: repeated lines would go with their entity or the first of them, so the plan
// has them before it. A key that the server does not know is redacted in its line.
func TestLinesOfAGraphGoByThemselves(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.dir, "memory.jsonl")
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, `{"type":"entity","name":"pier %d","entityType":"place","observations":["x"]}`+"\n", i)
	}
	fmt.Fprintf(&text, `{"type":"entity","name":"tea","entityType":"drink","observations":["x"],"by":%q,"n":1.50}`+"\n", ana)
	fmt.Fprintf(&text, `{"type":"relation","from":"tea","to":"pier 1","relationType":"at","by":%q}`+"\n", ana)
	for range 3 {
		fmt.Fprintf(&text, `{"type":"entity","name":%q,"entityType":"person","observations":["x"]}`+"\n", name)
		fmt.Fprintf(&text, `{"type":"relation","from":%q,"to":"tea","relationType":"likes"}`+"\n", name)
		text.WriteString("cut off " + ana + "\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "mcpgraph", Path: path}}
	w.open()
	w.wantExactly(w.plan(w.file().ID))
	b, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(string(b), `"observations":["x"],"by":"[erased]","n":1.50}`+"\n"+`{"type":"relation","from":"tea","to":"pier 1","relationType":"at","by":"[erased]"}`+"\n") {
		t.Errorf("%v, the file is\n%s", err, b)
	}
}

// TestForgettingTakesNoHeldItemAlong: a relation on hold would go with its last but one member, so nobody may
// forget that one; a member of no such relation may go.
func TestForgettingTakesNoHeldItemAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ties("db")
	r := w.file()
	w.hold(r.ID, "db", "edge/far")
	if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: "y6"}); !model.IsRefusal(err) {
		t.Errorf("forget y6 = %v; want a refusal", err)
	}
	if _, err := w.store("db").Browser.Read(t.Context(), "edge/far"); err != nil {
		t.Errorf("the relation on hold: %v", err)
	}
	for _, id := range []string{"y4", "nobody"} {
		if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); err != nil {
			t.Errorf("forget %s: %v", id, err)
		}
	}
}

// TestMembersOfAThreadThatStays: another's thread has an id that names the subject and that only its program gives. What
// belongs to it goes with it when the operator chooses so, and until then stays as it is and in its thread.
func TestMembersOfAThreadThatStays(t *testing.T) {
	w := newWorld(t)
	path := liteStore(t, w, "mastra", `CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT, title TEXT, metadata TEXT, createdAt TEXT, updatedAt TEXT)`,
		`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT, createdAt TEXT, resourceId TEXT)`,
		`CREATE TABLE mastra_thread_state (threadId TEXT, type TEXT, value TEXT)`,
		`INSERT INTO mastra_threads VALUES ('with `+name+`', 'bob', 'rye', NULL, '', '')`,
		`INSERT INTO mastra_messages VALUES ('m1', 'with `+name+`', '{"format":2,"parts":[{"type":"text","text":"oats of `+name+`"}]}', 'user', 'v2', '', 'bob'), ('m2', 'with `+name+`', '{"format":2,"parts":[]}', 'user', 'v2', '', 'bob'),
			('m3', 'gone `+name+`', '{"format":2,"parts":[]}', 'user', 'v2', '', 'bob')`,
		`INSERT INTO mastra_thread_state VALUES ('with `+name+`', 'x', '1')`)
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	if st := actions(p)["mastra:message/m2"]; st.Action != gdpr.Redact || !strings.Contains(st.Reason, "it belongs to thread/with") {
		t.Errorf("the message: %+v", st)
	}
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StatePartial {
		t.Errorf("%s, %v", out.Status, err)
	}
	const kept = "with " + name + ":oats of [erased] with " + name + ":none gone [erased]:none with " + name
	if got := cell(t, path, `SELECT group_concat(thread_id || ':' || COALESCE(json_extract(content, '$.parts[0].text'), 'none'), ' ') || ' ' || (SELECT threadId FROM mastra_thread_state) FROM (SELECT * FROM mastra_messages ORDER BY id)`); got != kept {
		t.Errorf("without a choice: %s; want %s", got, kept)
	}
	if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "mastra", ID: "thread/with " + name, Action: gdpr.Forget}); err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(r.ID))
	if got := cell(t, path, `SELECT group_concat(id, ' ') || (SELECT count(*) FROM mastra_thread_state) FROM mastra_messages`); got != "m30" {
		t.Errorf("after the choice: %s; want m3 alone", got)
	}
}
