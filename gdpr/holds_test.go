package gdpr_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// hold puts an item on hold as the commands do.
func (w *world) hold(request, store, id string) {
	w.t.Helper()
	h, err := w.desk.Locate(w.t.Context(), w.fleet, gdpr.Hold{Store: store, ID: id, Ground: "a claim"})
	if err == nil {
		_, err = w.desk.Hold(w.t.Context(), request, h)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// actions are a plan's steps by item.
func actions(p gdpr.Plan) map[string]gdpr.Step {
	out := map[string]gdpr.Step{}
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			out[st.Store+":"+st.ID] = st
		}
	}
	return out
}

// TestAHoldIsOnTheStoreAndNotOnItsName: a hold applies under every name, path or link of its store;
// another store of the same name has no holds.
func TestAHoldIsOnTheStoreAndNotOnItsName(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		w := newWorld(t)
		w.fill()
		link := filepath.Join(memDir(t), "link.sqlite")
		if err := os.Symlink(w.path("db"), link); err != nil {
			t.Fatal(err)
		}
		r := w.file()
		w.hold(r.ID, "db", "n2")
		if done {
			w.inScope(w.plan(r.ID))
		}
		w.more = []backends.StoreConfig{{Name: "graph", Kind: "sqlite", Path: w.path("db")}, {Name: "linked", Kind: "sqlite", Path: link}}
		w.open()
		for _, name := range []string{"db", "graph", "linked"} {
			_, err := w.store(name).Provider.Forget(t.Context(), model.ForgetRequest{ID: "n2"})
			if !model.IsRefusal(err) {
				t.Errorf("done %v, as %s: %v; want a refusal", done, name, err)
			}
			if _, err := w.store(name).Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "nobody"}); !model.IsRefusal(err) {
				t.Errorf("done %v, the cascade of %s: %v; want a refusal", done, name, err)
			}
		}
		another := model.Store{Name: "db", Kind: "sqlite", Location: filepath.Join(w.dir, "another.sqlite")}
		passed := false
		err := w.desk.Gate()(t.Context(), &model.Call{Op: model.OpForget, Store: &another, ID: "n2", Forget: &model.ForgetRequest{ID: "n2"}},
			func(context.Context) error { passed = true; return nil })
		if err != nil || !passed {
			t.Errorf("done %v, another store of that name: %v", done, err)
		}
	}
}

// TestAHoldWithoutAnAddress: where a store does not say which item a tier and a key name, a write must not go round a
// hold by naming those.
func TestAHoldWithoutAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	gate := w.desk.Gate()
	s := w.store("db")
	s.Address = nil
	passes := func(req model.RetainRequest) error {
		return gate(t.Context(), &model.Call{Op: model.OpRetain, Store: &s, ID: req.ID, Retain: &req}, func(context.Context) error { return nil })
	}
	byKey := model.RetainRequest{Tier: s.Tiers[0].Name, Key: "n2", Content: "tea", Mode: model.Replace}
	if err := passes(byKey); err != nil {
		t.Errorf("without a hold: %v", err)
	}
	w.hold(r.ID, "db", "n2")
	if err := passes(byKey); !model.IsRefusal(err) {
		t.Errorf("by tier and key: %v; want a refusal", err)
	}
	byID, creates := byKey, byKey
	byID.ID, creates.IfMatch = "n3", model.Absent
	for _, req := range []model.RetainRequest{byID, creates} {
		if err := passes(req); err != nil {
			t.Errorf("%+v: %v", req, err)
		}
	}
	plant(t, w.desk.State, map[string]string{"gdpr/requests/" + r.ID + ".json": "{"})
	if err := passes(creates); err != nil {
		t.Errorf("a new item beside a damaged request: %v", err)
	}
	if err := passes(byID); !model.IsRefusal(err) {
		t.Errorf("beside a damaged request: %v; want a refusal", err)
	}
}

// TestAHoldOnNothing: a hold on a missing item is refused; a hold whose item has since been removed is
// reported with the command that lifts it.
func TestAHoldOnNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	if _, err := w.desk.Locate(t.Context(), w.fleet, gdpr.Hold{Store: "db", ID: "nothing-like-this", Ground: "x"}); !errors.Is(err, model.NotFound) {
		t.Errorf("Locate: %v; want NotFound", err)
	}
	for _, h := range []gdpr.Hold{{Store: "db", ID: "gone $(since)", Ground: "its item is not there"}, {Store: "gone", ID: "n2", Ground: "its store is not open"}} {
		if _, err := w.desk.Hold(t.Context(), r.ID, h); err != nil {
			t.Fatal(err)
		}
		ref := model.Ref{Store: h.Store, ID: h.ID}.String()
		if _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); !errors.Is(err, model.NotFound) || !strings.Contains(err.Error(), "gdpr unhold "+r.ID+" --item "+safetext.Word(ref)) {
			t.Errorf("%s: MakePlan = %v; want NotFound and what lifts it", ref, err)
		}
		if _, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: h.Store, ID: h.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: h.Store, ID: h.ID}); !errors.Is(err, model.NotFound) {
			t.Errorf("lifted twice: %v; want NotFound", err)
		}
	}
	w.hold(r.ID, "db", "n2")
	before := w.plan(r.ID)
	got, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n2"})
	if err != nil || got.PlanHash != "" {
		t.Fatalf("the plan stands after a hold was lifted: %q, %v", got.PlanHash, err)
	}
	if now := w.plan(r.ID); actions(before)["db:n2"].Action != gdpr.Held || actions(now)["db:n2"].Action == gdpr.Held {
		t.Errorf("before %q, after %q", actions(before)["db:n2"].Action, actions(now)["db:n2"].Action)
	}
}

// TestHoldsUnderOneName: a hold in a store must leave the hold on the item of the same id in another store that had the
// name before; each is lifted alone, and one is lifted by the name where no other is meant.
func TestHoldsUnderOneName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.file()
	hold := func(where string) gdpr.Hold { return gdpr.Hold{Store: "db", Where: where, ID: "n2", Ground: "claim"} }
	left := func(due gdpr.Due, err error, want ...string) {
		t.Helper()
		var got []string
		for _, h := range due.Holds {
			got = append(got, h.Where)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("on hold: %q, %v; want %q", got, err, want)
		}
	}
	for _, where := range []string{"one", "two", "two", "three"} {
		if _, err := w.desk.Hold(t.Context(), r.ID, hold(where)); err != nil {
			t.Fatal(err)
		}
	}
	due, err := w.desk.Unhold(t.Context(), r.ID, hold("two"))
	left(due, err, "one", "three")
	due, err = w.desk.Unhold(t.Context(), r.ID, hold("one"))
	left(due, err, "three")
	due, err = w.desk.Unhold(t.Context(), r.ID, hold("four"))
	left(due, err)
}

// TestAHoldOfAnotherRequest: one request's plan must show an item that another request holds as kept,
// with that request's id but without its ground.
func TestAHoldOfAnotherRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	bobs := w.fileFor(other)
	w.hold(bobs.ID, "db", "n4") // names both
	hers := w.file()
	p := w.plan(hers.ID)
	st := actions(p)["db:n4"]
	if st.Action != gdpr.Held || !strings.Contains(st.Ground, bobs.ID) || strings.Contains(st.Ground, "claim") {
		t.Fatalf("n4 = %+v; want it held under %s", st, bobs.ID)
	}
	if out := w.inScope(p); out.Held != 1 {
		t.Errorf("%d held; want 1", out.Held)
	}
	// A hold placed after the plan was made: the run must say which request keeps the item.
	w2 := newWorld(t)
	w2.fill()
	hers = w2.file()
	p = w2.plan(hers.ID)
	bobs = w2.fileFor(other)
	w2.hold(bobs.ID, "db", "n4")
	if out, err := w2.erase(p); err != nil || out.Status != gdpr.StatePartial || !strings.Contains(fmt.Sprint(out.Problems), bobs.ID) {
		t.Errorf("%s, %q, %v; want partial, naming %s", out.Status, out.Problems, err, bobs.ID)
	}
}

// TestWhatIsHeldDoesNotComeBack: after the end a sweep must file nothing for a held item, and
// verification must find no residue; once the hold is lifted, the next sweep must erase the item.
func TestWhatIsHeldDoesNotComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	w.hold(r.ID, "db", "n2")
	w.hold(r.ID, "agent", "AGENT.md")
	w.inScope(w.plan(r.ID))
	for range 2 {
		if swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(swept) > 0 || len(problems) > 0 {
			t.Fatalf("Sweep = %+v, %q, %v; want nothing", swept, problems, err)
		}
	}
	if all, err := w.desk.List(); err != nil || len(all) != 1 {
		t.Errorf("%d requests, %v; want the one", len(all), err)
	}
	layers, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		if l.Verdict == model.VerdictResidue {
			t.Errorf("%+v", l)
		}
	}
	for _, h := range []gdpr.Hold{{Store: "db", ID: "n2"}, {Store: "agent", ID: "AGENT.md"}} {
		if _, err := w.desk.Unhold(t.Context(), r.ID, h); err != nil {
			t.Fatal(err)
		}
	}
	swept, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateComplete {
		t.Fatalf("Sweep = %+v, %v", swept, err)
	}
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
}

// TestASweepGoesOnWithItsOwn: the next sweep must continue an unfinished one and file no second request.
func TestASweepGoesOnWithItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	w.complete(w.plan(r.ID))
	plant(t, w.path("agent"), map[string]string{"daily/2026-02-28.md": "- " + name + "\n- quiet\n"})
	fail := true
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if fail && c.Retain != nil {
			return model.Errorf(model.Unavailable, "retain", "no answer")
		}
		return next(ctx)
	}}
	w.open()
	first, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(first) != 1 || first[0].Outcome.Status != gdpr.StatePartial {
		t.Fatalf("Sweep = %+v, %v; want partial", first, err)
	}
	fail = false
	plant(t, w.path("agent"), map[string]string{"daily/2026-03-01.md": "- " + mail + "\n- quiet\n"})
	w.open()
	second, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(second) != 1 || second[0].Request != first[0].Request || second[0].Outcome.Status != gdpr.StateComplete {
		t.Fatalf("Sweep = %+v, %v; want the same request, complete", second, err)
	}
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
}

// TestDecisionsOnMany: holding, lifting or choosing several items is one record each time, for all or none.
func TestDecisionsOnMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	w.plan(r.ID)
	records := func(kind string) (n int) {
		page, err := w.desk.Log.List(t.Context(), audit.Filter{Action: kind, Phase: audit.PhaseOutcome}, 500, "")
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Rows)
	}
	on := func(ids ...string) (out []gdpr.Hold) {
		for _, id := range ids {
			out = append(out, gdpr.Hold{Store: "db", ID: id, Ground: "a claim"})
		}
		return out
	}
	if _, err := w.desk.Hold(t.Context(), r.ID, append(on("n2"), gdpr.Hold{Store: "db", ID: "n4"})...); !errors.Is(err, model.InvalidInput) {
		t.Errorf("one without a ground: %v; want InvalidInput", err)
	}
	if now, err := w.desk.Hold(t.Context(), r.ID, on("n2", "n4")...); err != nil || len(now.Holds) != 2 || now.PlanHash != "" {
		t.Fatalf("Hold: %d holds, plan %q, %v; want 2 and none", len(now.Holds), now.PlanHash, err)
	}
	if now, err := w.desk.Hold(t.Context(), r.ID, on("n4", "n2")...); err != nil || len(now.Holds) != 2 {
		t.Fatalf("Hold again: %d holds, %v; want 2", len(now.Holds), err)
	}
	if p := actions(w.plan(r.ID)); p["db:n2"].Action != gdpr.Held || p["db:n4"].Action != gdpr.Held {
		t.Errorf("n2 %s, n4 %s; want both held", p["db:n2"].Action, p["db:n4"].Action)
	}
	if _, err := w.desk.Unhold(t.Context(), r.ID, on("n2", "n5")...); !errors.Is(err, model.NotFound) {
		t.Errorf("Unhold of one that is not held: %v; want NotFound", err)
	}
	now, err := w.desk.Unhold(t.Context(), r.ID, on("n2", "n4")...)
	if err != nil || len(now.Holds) != 0 {
		t.Fatalf("Unhold: %d holds, %v; want none", len(now.Holds), err)
	}
	if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "db", ID: "n2", Action: gdpr.Redact}, gdpr.Choice{Store: "db", ID: "n4", Action: gdpr.Forget}); err != nil {
		t.Fatal(err)
	}
	if p := actions(w.plan(r.ID)); p["db:n2"].Action != gdpr.Redact || p["db:n4"].Action != gdpr.Forget {
		t.Errorf("n2 %s, n4 %s; want redact and forget", p["db:n2"].Action, p["db:n4"].Action)
	}
	if h, u, c := records("gdpr-hold"), records("gdpr-unhold"), records("gdpr-choose"); h != 2 || u != 1 || c != 1 {
		t.Errorf("records: %d of holds, %d of a lift, %d of a choice; want 2, 1, 1", h, u, c)
	}
}

// TestAHoldUnderAnotherCrewship: a data directory and one agent's memory in it show the same file under ids whose paths
// differ.
func TestAHoldUnderAnotherCrewship(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{
		"ship/output/crews/c1/agents/red/.memory/AGENT.md":            "the claim of " + name + "\n",
		"ship/output/crews/c1/agents/red/.memory/daily/2026-02-01.md": name + " called\n",
		"ship/output/crews/c1/agents/red/.memory/pins.md":             "rye\n",
		"ship/output/solo/w1/agents/blue/.memory/lessons.md":          "none\n",
	})
	w.more = []backends.StoreConfig{
		{Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "ship")},
		{Name: "one", Kind: "crewship", Path: filepath.Join(w.dir, "ship/output/crews/c1/agents/red/.memory")},
	}
	w.open()
	r := w.file()
	w.hold(r.ID, "one", "AGENT.md")
	p := actions(w.plan(r.ID))
	for _, ref := range []string{"one:AGENT.md", "ship:crews/c1/agents/red/AGENT.md"} {
		if p[ref].Action != gdpr.Held {
			t.Errorf("%s: %q; want it held", ref, p[ref].Action)
		}
	}
	for _, req := range []model.ForgetRequest{{ID: "crews/c1/agents/red/AGENT.md"}, {DataSubjectID: ana}} {
		if _, err := w.store("ship").Provider.Forget(t.Context(), req); !model.IsRefusal(err) || !strings.Contains(err.Error(), r.ID) {
			t.Errorf("forget %+v = %v; want it refused because of the hold", req, err)
		}
	}
}

// TestAHoldUnderAnotherStore: two stores show the same file, one from a directory above. A hold in one keeps the file
// in both, also after the request is done, and from a plain forget.
func TestAHoldUnderAnotherStore(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/team/claim.md": "the claim of " + name + "\n", "v/team/tide.md": "high at noon\n", "v/rye.md": name + " likes rye\n", "v/oats.md": "none\n"})
	w.more = []backends.StoreConfig{{Name: "all", Kind: "vault", Path: filepath.Join(w.dir, "v")}, {Name: "team", Kind: "devicelocal", Path: filepath.Join(w.dir, "v", "team")}}
	w.open()
	r := w.file()
	w.hold(r.ID, "team", "claim.md")
	p := w.plan(r.ID)
	if got := actions(p)["all:team/claim.md"].Ground; !strings.HasSuffix(got, "; on hold as team:claim.md") {
		t.Errorf("the ground %q does not say which hold to lift", got)
	}
	if out := w.inScope(p); out.Held != 2 || out.Forgotten != 1 {
		t.Errorf("%d held, %d forgotten; want the file under both names held, and one forgotten", out.Held, out.Forgotten)
	}
	if text := w.contents()["all:team/claim.md"]; !strings.Contains(text, name) {
		t.Errorf("the file on hold is %q", text)
	}
	if _, err := w.store("all").Provider.Forget(t.Context(), model.ForgetRequest{ID: "team/claim.md"}); !model.IsRefusal(err) {
		t.Errorf("forget = %v; want it refused", err)
	}
	if _, err := w.store("all").Provider.Forget(t.Context(), model.ForgetRequest{ID: "team/tide.md"}); err != nil {
		t.Errorf("beside it: %v", err)
	}
}

// ownErasure is a store's medium with an erasure of its own.
type ownErasure struct {
	model.Maintainer
	asked [][]string
}

func (m *ownErasure) Scrub(_ context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	m.asked = append(m.asked, req.Subjects)
	return nil, nil
}

// TestAMediumsOwnErasureSparesNobodysHold: it goes by the subject's id and names no item, so a scrub does not
// ask for it where an item is on hold; the rest of the scrub goes on.
func TestAMediumsOwnErasureSparesNobodysHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	m := &ownErasure{}
	s := w.store("db")
	s.Maintainer = m
	s = s.Wrap(w.desk.Gate())
	scrub := func() {
		if _, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Subjects: []string{ana}, Removed: []string{"n9"}}); err != nil {
			t.Fatal(err)
		}
	}
	scrub()
	w.hold(w.file().ID, "db", "n2")
	scrub()
	if fmt.Sprint(m.asked) != fmt.Sprint([][]string{{ana}, nil}) {
		t.Errorf("the medium is asked to erase %q", m.asked)
	}
}

// TestAMediumsOwnErasureIsOfTheStoresInThePlan: a store in which the plan changes nothing is not asked for it.
func TestAMediumsOwnErasureIsOfTheStoresInThePlan(t *testing.T) {
	w := newWorld(t)
	asked := map[string][]string{}
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpScrub {
			asked[c.Store.Name] = c.Scrub.Subjects
		}
		return next(ctx)
	}}
	w.agent(map[string]string{"AGENT.md": "prefers tea\n", "daily/2026-02-01.md": "quiet\n"})
	w.open()
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "about " + name})
	w.complete(w.plan(w.file().ID))
	if got, ok := asked["agent"]; !ok || len(got) > 0 || len(asked["db"]) == 0 {
		t.Errorf("asked with the ids %q", asked)
	}
}

// TestAWriteBesideAHold: a whole file and a proposal change entries other than the item they name. One on hold
// stays, and a write that keeps it passes.
func TestAWriteBesideAHold(t *testing.T) {
	w := newWorld(t)
	memories, pending := filepath.Join(w.dir, "cur", "memories"), filepath.Join(w.dir, "cur", "pending", "memory")
	for path, text := range map[string]string{
		filepath.Join(memories, "MEMORY.md"): "knows " + name + "\n§\nknows bob",
		filepath.Join(pending, "aa.json"):    `{"subsystem":"memory","action":"remove","payload":{"action":"remove","target":"memory","old_text":"` + name + `"}}`,
		filepath.Join(pending, "bb.json"):    `{"subsystem":"memory","action":"remove","payload":{"action":"remove","target":"memory","old_text":"bob"}}`,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	w.more = []backends.StoreConfig{{Name: "cur", Kind: "curated", Path: memories}}
	w.open()
	s := w.store("cur")
	page, err := s.Browser.List(t.Context(), model.PageRequest{Tier: "MEMORY", Query: name})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	w.hold(w.file().ID, "cur", page.Items[0].ID)
	approve := func(id string) error {
		it, err := s.Browser.Read(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		it.Meta[0].Value = "approved"
		_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: it.Body, Meta: it.Meta, IfMatch: it.Revision})
		return err
	}
	whole := func(text string) error {
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "MEMORY.md", Mode: model.Replace, Content: text})
		return err
	}
	if err := whole("knows bob"); !model.IsRefusal(err) {
		t.Errorf("the file without the entry: %v; want a refusal", err)
	}
	if err := approve("pending/aa"); !model.IsRefusal(err) {
		t.Errorf("a proposal to remove it: %v; want a refusal", err)
	}
	if err := whole("knows " + name + "\n§\nknows bob\n§\nlikes tea"); err != nil {
		t.Errorf("the file with the entry: %v", err)
	}
	if err := approve("pending/bb"); err != nil {
		t.Errorf("a proposal about another entry: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(memories, "MEMORY.md")); err != nil || string(got) != "knows "+name+"\n§\nlikes tea" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// TestVerifyKnowsTheHoldsOfNow: a plan that a later hold, or its end, has made void must not judge.
func TestVerifyKnowsTheHoldsOfNow(t *testing.T) {
	w := newWorld(t)
	id := w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	r := w.file()
	w.plan(r.ID)
	verdicts := func() (items, held model.Verdict) {
		t.Helper()
		rows, err := w.desk.Verify(t.Context(), r.ID, "", w.fleet)
		if err != nil {
			t.Fatal(err)
		}
		rows = slices.DeleteFunc(rows, func(l receipt.Layer) bool { return l.Store != "db" })
		return verdictOf(rows, "items"), verdictOf(rows, "held items")
	}
	w.hold(r.ID, "db", id)
	if items, held := verdicts(); items != model.VerdictClean || held != model.VerdictOutOfScope {
		t.Errorf("held after the plan: items %q, held items %q", items, held)
	}
	w.plan(r.ID)
	if _, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: id}); err != nil {
		t.Fatal(err)
	}
	if items, held := verdicts(); items != model.VerdictResidue || held != "" {
		t.Errorf("lifted after the plan: items %q, held items %q", items, held)
	}
}

// TestAHoldOnAnIDLikeAHash: an id may look like the hash of one, and nobody but its store says how ids look.
func TestAHoldOnAnIDLikeAHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.file()
	for _, key := range []string{"hmac:1", "hmac:01234567:0123456789abcdef0123456789abcdef"} {
		id := w.put("db", model.RetainRequest{Tier: "session", Key: key, Content: "rain"})
		if id != key {
			t.Fatalf("its id is %s", id)
		}
		if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: id, Ground: "a claim"}); err != nil { // of a store elsewhere: without a file
			t.Fatal(err)
		}
		if _, err := w.store("db").Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); !errors.Is(err, model.PermissionDenied) {
			t.Errorf("%s, on hold, was forgotten: %v", id, err)
		}
	}
}

// TestWhatIsHeldEndsInScope: in a file of many items, and in a file of its own that says nothing else, an item on hold must
// not stay a residue that nobody can attest.
func TestWhatIsHeldEndsInScope(t *testing.T) {
	t.Parallel()
	issue := func(id, title string) string {
		return `{"id":"` + id + `","title":"` + title + `","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}` + "\n"
	}
	for kind, c := range map[string]struct {
		files map[string]string
		path  string
		held  func(id string) bool
	}{
		"curated": {map[string]string{"s/USER.md": "Bob likes rye\n§\n" + name + " likes tea in the yard", "s/MEMORY.md": "Tea for " + name, "s/notes.txt": "about " + name}, "s", func(id string) bool { return strings.HasPrefix(id, "USER.md/") }},
		"beads":   {map[string]string{"s/.beads/issues.jsonl": issue("w-1", "ask "+name) + issue("w-2", "tell "+name) + issue("w-3", "rye")}, "s", func(id string) bool { return id == "w-1" }},
		"vault":   {map[string]string{"s/memory/idea/m.md": name + "\n", "s/memory/idea/n.md": "by " + name + "\n"}, "s", func(id string) bool { return strings.HasSuffix(id, "/m.md") }},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			plant(t, w.dir, c.files)
			w.more = []backends.StoreConfig{{Name: "s", Kind: kind, Path: filepath.Join(w.dir, c.path)}}
			w.open()
			r := w.file()
			for ref := range actions(w.plan(r.ID)) {
				if id := strings.TrimPrefix(ref, "s:"); c.held(id) {
					w.hold(r.ID, "s", id)
				}
			}
			out, err := w.erase(w.plan(r.ID))
			if err != nil || out.Status != gdpr.StateInScope || out.Held != 1 || out.Forgotten+out.Redacted == 0 {
				t.Errorf("%s, %d on hold, %d forgotten, %d redacted, %v; want complete in scope", out.Status, out.Held, out.Forgotten, out.Redacted, err)
			}
			for _, l := range out.Layers {
				if l.Verdict == model.VerdictResidue || l.Verdict == model.VerdictUnaudited {
					t.Errorf("%+v", l)
				}
			}
		})
	}
}

// countedWork counts the questions about dependencies.
type countedWork struct {
	model.Work
	asked *int
}

func (c countedWork) Dependencies(ctx context.Context, id string) ([]model.Dependency, error) {
	*c.asked++
	return c.Work.Dependencies(ctx, id)
}

// TestAHeldItemKeepsItsDependencies: an erasure must not take the dependency on another item out of the line of one on hold.
func TestAHeldItemKeepsItsDependencies(t *testing.T) {
	t.Parallel()
	issue := func(id, text, more string) string {
		return `{"id":"` + id + `","title":"a call","description":"` + text + `","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"` + more + "}\n"
	}
	held := issue("w-1", "ask "+name, `,"dependencies":[{"issue_id":"w-1","depends_on_id":"w-2","type":"blocks"}]`)
	w := newWorld(t)
	plant(t, w.dir, map[string]string{
		"s/.beads/issues.jsonl": held + issue("w-2", "tell "+name, "") + issue("w-3", "write to "+name, "") + issue("w-4", "call "+name, ""),
		"s/.beads/deps.jsonl":   `{"blockerId":"w-3","blockedId":"w-1"}` + "\n",
	})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "beads", Path: filepath.Join(w.dir, "s")}}
	w.open()
	r := w.file()
	w.hold(r.ID, "s", "w-1")
	p := w.plan(r.ID)
	for ref, want := range map[string]gdpr.Action{"s:w-1": gdpr.Held, "s:w-2": gdpr.Redact, "s:w-3": gdpr.Redact, "s:w-4": gdpr.Forget} {
		if got := actions(p)[ref].Action; got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
	s, asked := w.store("s"), 0
	rewrites := s.Rewrites
	s.Rewrites = func(ctx context.Context, req model.RetainRequest) ([]string, error) {
		asked++
		return rewrites(ctx, req)
	}
	s.Work = countedWork{s.Work, &asked}
	if again, err := w.desk.MakePlan(t.Context(), r.ID, alone(s), nil); err != nil || asked != 1 {
		t.Errorf("a plan asks %d times what changes with what: %+v, %v; want once for what is on hold", asked, again.Stores, err)
	}
	for _, id := range []string{"w-2", "w-3", "w-4"} {
		w.hold(r.ID, "s", id)
	}
	asked = 0
	if _, err := w.desk.MakePlan(t.Context(), r.ID, alone(s), nil); err != nil || asked != 0 {
		t.Errorf("a plan that removes nothing asks %d times what changes with what, %v", asked, err)
	}
	for _, id := range []string{"w-2", "w-3", "w-4"} {
		if _, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: "s", ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	p = w.plan(r.ID)
	if _, err := w.store("s").Provider.Forget(t.Context(), model.ForgetRequest{ID: "w-3"}); !errors.Is(err, model.PermissionDenied) {
		t.Errorf("an item on which one on hold depends was forgotten: %v", err)
	}
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StateInScope {
		t.Errorf("%s, %v", out.Status, err)
	}
	files := tree(t, filepath.Join(w.dir, "s"))
	if !strings.HasPrefix(files[".beads/issues.jsonl"], held) || !strings.Contains(files[".beads/deps.jsonl"], `"w-3"`) {
		t.Errorf("the item on hold depends on other items now: %s%s", files[".beads/issues.jsonl"], files[".beads/deps.jsonl"])
	}
}

// TestAHeldLineKeepsItsHandle: a line before one on hold that has the same id must stay, because the one on hold would get its
// handle and be no longer on hold.
func TestAHeldLineKeepsItsHandle(t *testing.T) {
	t.Parallel()
	line := func(text string) string {
		return `{"id":"w-1","title":"a call","description":"` + text + " " + name + `","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}` + "\n"
	}
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"s/.beads/issues.jsonl": line("ask") + line("tell") + line("call")})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "beads", Path: filepath.Join(w.dir, "s")}}
	w.open()
	r := w.file()
	w.hold(r.ID, "s", "w-1#2")
	p := w.plan(r.ID)
	for ref, want := range map[string]gdpr.Action{"s:w-1": gdpr.Redact, "s:w-1#2": gdpr.Held, "s:w-1#3": gdpr.Forget} {
		if got := actions(p)[ref].Action; got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
	if _, err := w.store("s").Provider.Forget(t.Context(), model.ForgetRequest{ID: "w-1"}); !errors.Is(err, model.PermissionDenied) {
		t.Errorf("the line before the one on hold was forgotten: %v", err)
	}
	if out, err := w.erase(p); err != nil || out.Status != gdpr.StateInScope {
		t.Errorf("%s, %v", out.Status, err)
	}
	if got := tree(t, filepath.Join(w.dir, "s"))[".beads/issues.jsonl"]; strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, line("tell")) {
		t.Error(got)
	}
}

// TestAHeldLineThatIsNoItemKeepsItsHandle: so must one of equal lines that nobody can read.
func TestAHeldLineThatIsNoItemKeepsItsHandle(t *testing.T) {
	t.Parallel()
	text := "half a line of " + name
	sum := sha256.Sum256([]byte(text))
	first := fmt.Sprintf("line/%x", sum[:8])
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"s/.beads/issues.jsonl": text + "\n" + text + "\n"})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "beads", Path: filepath.Join(w.dir, "s")}}
	w.open()
	w.hold(w.file().ID, "s", first+"#2")
	if _, err := w.store("s").Provider.Forget(t.Context(), model.ForgetRequest{ID: first}); !errors.Is(err, model.PermissionDenied) {
		t.Errorf("the line before the one on hold was forgotten: %v", err)
	}
}

// TestAHoldOnAFileOfManyItems: a vault has a file as one item, and another kind has its entries, lines or rows. A hold in
// either keeps both from a plan, from a plain forget and from a write.
func TestAHoldOnAFileOfManyItems(t *testing.T) {
	t.Parallel()
	type held struct{ store, id string }
	entity := func(name, more string) string {
		return `{"type":"entity","name":"` + name + `","entityType":"p","observations":["` + more + `"]}` + "\n"
	}
	for _, tt := range []struct {
		kind, path, file, text string
	}{
		{"devicelocal", "v", "rye.md", name + " likes rye"}, // the whole, by the same id
		{"curated", "v", "MEMORY.md", name + " likes rye\n§\nhigh tide"},
		{"mcpgraph", "v/memory.jsonl", "memory.jsonl", entity("../../tide", name+" came") + entity("oats", "rye")},
		{"beads", "v", "issues.jsonl", `{"id":"w-1","title":"ask","description":"` + name + `","status":"open"}` + "\n" + `{"id":"w-2","title":"tide","status":"open"}` + "\n"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			plant(t, w.dir, map[string]string{"v/" + tt.file: tt.text})
			w.more = []backends.StoreConfig{
				{Name: "whole", Kind: "vault", Path: filepath.Join(w.dir, "v")},
				{Name: "parts", Kind: tt.kind, Path: filepath.Join(w.dir, tt.path)},
			}
			w.open()
			var ids []string
			for ref, text := range w.contents() {
				if id, ok := strings.CutPrefix(ref, "parts:"); ok && strings.Contains(ref+text, name) {
					ids = append(ids, id)
				}
			}
			if len(ids) == 0 {
				t.Fatal("no part names the person")
			}
			for _, h := range []held{{"whole", tt.file}, {"parts", ids[0]}} {
				r := w.file()
				w.hold(r.ID, h.store, h.id)
				p := actions(w.plan(r.ID))
				for _, ref := range []string{"whole:" + tt.file, "parts:" + ids[0]} {
					if p[ref].Action != gdpr.Held {
						t.Errorf("%s on hold, %s: %q; want it held", h.store, ref, p[ref].Action)
					}
					own := ref == h.store+":"+h.id
					if as := "; on hold as " + h.store + ":" + h.id; strings.HasSuffix(p[ref].Ground, as) == own {
						t.Errorf("%s on hold, %s has the ground %q; want %q only where it is another store's", h.store, ref, p[ref].Ground, as)
					}
				}
				for _, o := range []held{{"whole", tt.file}, {"parts", ids[0]}} {
					if _, err := w.store(o.store).Provider.Forget(t.Context(), model.ForgetRequest{ID: o.id}); !model.IsRefusal(err) {
						t.Errorf("%s on hold, forget %s = %v; want it refused", h.store, o.store, err)
					}
				}
				if _, err := w.desk.Unhold(t.Context(), r.ID, gdpr.Hold{Store: h.store, ID: h.id}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
