package gdpr_test

import (
	"archive/zip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// TestErasesOnlyWhatWasShown tries to carry out something other than the current plan. Each attempt
// must be refused and audited, and change nothing.
func TestErasesOnlyWhatWasShown(t *testing.T) {
	tests := []struct {
		what string
		try  func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error
	}{
		{"another hash", func(t *testing.T, w *world, _ gdpr.Due, p gdpr.Plan) error {
			o := order(p)
			o.PlanHash = strings.Repeat("0", 64)
			_, err := w.desk.Erase(t.Context(), o, w.fleet, nil)
			return err
		}},
		{"too little of the hash", func(t *testing.T, w *world, _ gdpr.Due, p gdpr.Plan) error {
			o := order(p)
			o.PlanHash = p.Hash[:gdpr.ShortHash-1]
			_, err := w.desk.Erase(t.Context(), o, w.fleet, nil)
			return err
		}},
		{"an older plan", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			w.put("db", model.RetainRequest{Tier: "session", Key: "n9", Content: "more of " + name})
			w.plan(r.ID)
			_, err := w.erase(p)
			return err
		}},
		{"a plan from before a hold", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n2", Ground: "claim"}); err != nil {
				t.Fatal(err)
			}
			_, err := w.erase(p)
			return err
		}},
		{"a plan from before a choice", func(t *testing.T, w *world, r gdpr.Due, p gdpr.Plan) error {
			if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "db", ID: "n4", Action: gdpr.Forget}); err != nil {
				t.Fatal(err)
			}
			_, err := w.erase(p)
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fill()
			r := w.file()
			p := w.plan(r.ID)
			before, refused := w.contents(), refusals(t, w)
			if err := tt.try(t, w, r, p); !model.IsRefusal(err) {
				t.Fatalf("%v; want a refusal", err)
			}
			if refusals(t, w) != refused+1 {
				t.Error("the refusal is not in the audit log")
			}
			for ref, body := range before {
				if w.contents()[ref] != body {
					t.Errorf("%s changed", ref)
				}
			}
		})
	}
}

// TestThePlanIsAsItWasMade edits the plan's file: a text without an approval must not be written,
// whoever edited the file.
func TestThePlanIsAsItWasMade(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	path := filepath.Join(w.desk.State, "gdpr", "plans", r.ID+".json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(b), "[erased] likes tea", "[erased] likes gin", 1)
	if edited == string(b) {
		t.Fatal("the plan holds no edited text")
	}
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.erase(p); !errors.Is(err, model.Conflict) {
		t.Errorf("an edited plan: %v; want Conflict", err)
	}
	if err := os.WriteFile(path, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); !errors.Is(err, model.Internal) {
		t.Errorf("planned again beside a damaged plan: %v; want Internal", err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
}

// TestChangedMeanwhile changes planned items before each kind of step: changed text must stay, and the
// run must be partial.
func TestChangedMeanwhile(t *testing.T) {
	tests := []struct {
		what   string
		change func(w *world, p gdpr.Plan) string // returns the item that must stay unchanged
	}{
		{"a redaction", func(w *world, _ gdpr.Plan) string {
			w.put("db", model.RetainRequest{ID: "n4", Content: "Summary:\n- " + name + " likes gin\n- " + other + " likes rum\n- the bridge\n- is long\n"})
			return "db:n4"
		}},
		{"an item stands where a new id should", func(w *world, p gdpr.Plan) string {
			for _, s := range p.Stores {
				for _, st := range s.Steps {
					if st.NewID != "" {
						w.put(st.Store, model.RetainRequest{ID: st.NewID, Tier: "session", Content: "somebody else's"})
						return st.Store + ":" + st.NewID
					}
				}
			}
			w.t.Fatal("no step gives a new id")
			return ""
		}},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t)
			w.fill()
			w.put("db", model.RetainRequest{Tier: "longterm", Key: "call-" + ana, Content: "a call\nabout rain\nand tea\nand bridges\n"})
			r := w.file()
			if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "db", ID: "call-" + ana, Action: gdpr.Redact}); err != nil {
				t.Fatal(err)
			}
			p := w.plan(r.ID)
			ref := tt.change(w, p)
			before := w.contents()[ref]
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StatePartial {
				t.Fatalf("%s, %v; want partial", out.Status, err)
			}
			if got := w.contents()[ref]; got != before {
				t.Errorf("%s: %q, was %q", ref, got, before)
			}
		})
	}
}

// TestCascadeReadsAgain tags an item after the plan was made: the store's own cascade would remove it unseen.
func TestCascadeReadsAgain(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.put("db", model.RetainRequest{Tier: "session", Key: string(rune('a' + i)), Content: "tea", DataSubjectID: ana})
	}
	for i := range 20 {
		w.put("db", model.RetainRequest{Tier: "session", Key: "x" + string(rune('a'+i)), Content: "rain"})
	}
	r := w.file()
	p := w.plan(r.ID)
	if !p.Stores[0].Cascade {
		t.Fatalf("no cascade: %+v", p.Stores[0])
	}
	w.put("db", model.RetainRequest{Tier: "session", Key: "late", Content: "a gift", DataSubjectID: ana})
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s, %v; want partial", out.Status, err)
	}
	if _, ok := w.contents()["db:late"]; !ok {
		t.Error("an item that nobody had seen in the plan went")
	}
	w.complete(w.plan(r.ID))
}

// TestCascadeKeepsWhatChanged changes a planned item before the run: the store's cascade must not take a text that
// nobody has seen in the plan.
func TestCascadeKeepsWhatChanged(t *testing.T) {
	w := newWorld(t)
	for _, key := range []string{"a", "b"} {
		w.put("db", model.RetainRequest{Tier: "session", Key: key, Content: "tea", DataSubjectID: ana})
	}
	for i := range 20 {
		w.put("db", model.RetainRequest{Tier: "session", Key: "x" + string(rune('a'+i)), Content: "rain"})
	}
	r := w.file()
	p := w.plan(r.ID)
	if !p.Stores[0].Cascade {
		t.Fatalf("no cascade: %+v", p.Stores[0])
	}
	w.put("db", model.RetainRequest{ID: "a", Mode: model.Replace, Content: "tea, and the recipe of everybody", DataSubjectID: ana})
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s, %v; want partial", out.Status, err)
	}
	now := w.contents()
	if !strings.HasSuffix(now["db:a"], " tea, and the recipe of everybody") {
		t.Errorf("the changed item is %q", now["db:a"])
	}
	if _, ok := now["db:b"]; ok {
		t.Error("the item that was planned stays")
	}
	w.complete(w.plan(r.ID))
}

// TestAnotherStoreUnderTheName opens another store under the planned name.
func TestAnotherStoreUnderTheName(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"one/memory/idea/a.md": "# " + name + "\n", "two/memory/idea/a.md": "# " + name + "\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "one")}}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	w.more[0].Path = filepath.Join(w.dir, "two")
	w.open()
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s, %v; want partial", out.Status, err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "two", "memory", "idea", "a.md")); err != nil {
		t.Error("a file of a store that nobody had planned went")
	}
}

// TestNoMoreRecordsNoMoreActs removes the log in the middle of a run.
func TestNoMoreRecordsNoMoreActs(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	done := 0
	var left map[string]string
	_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(context.Context, gdpr.Progress) error {
		if done++; done == 2 {
			left = w.contents()
			if err := os.Rename(filepath.Join(w.desk.State, "audit"), filepath.Join(w.desk.State, "gone")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.desk.State, "audit"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	})
	if err == nil {
		t.Fatal("a run whose log went has no error")
	}
	if left == nil || done > 3 {
		t.Errorf("%d steps were told; want the run to end when nothing can be recorded", done)
	}
	for ref, body := range left {
		if w.contents()[ref] != body {
			t.Errorf("%s changed without a record", ref)
		}
	}
}

// TestDiedBeforeTheRequestWasClosed: receipt and identifiers both exist. The same plan must close the
// request without changing the receipt.
func TestDiedBeforeTheRequestWasClosed(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	path := filepath.Join(w.desk.State, "gdpr", "requests", r.ID+".json")
	open, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := w.complete(p)
	receipt, _, _, err := w.desk.Receipt(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(w.desk.State, "gdpr", "requests", "."+r.ID+".json.tmp.0123456789abcdef")
	for file, body := range map[string][]byte{path: open, temp: open[:len(open)/2]} {
		if err := os.WriteFile(file, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); !errors.Is(err, model.Conflict) {
		t.Errorf("a new plan of what is done: %v; want Conflict", err)
	}
	again := w.complete(p)
	if again.Forgotten != out.Forgotten || again.Redacted != out.Redacted || len(again.Layers) != len(out.Layers) {
		t.Errorf("closed with %d forgotten, %d redacted; want %d, %d", again.Forgotten, again.Redacted, out.Forgotten, out.Redacted)
	}
	if now, _, _, err := w.desk.Receipt(r.ID); err != nil || string(now) != string(receipt) {
		t.Errorf("the receipt is another one: %v", err)
	}
	if left := w.leaks(true, false); len(left) > 0 {
		t.Errorf("she is found in %q", left)
	}
}

// TestExportIsForTheOwnerOnly checks the modes of the written files.
func TestExportIsForTheOwnerOnly(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	dir := filepath.Join(t.TempDir(), "e")
	for _, out := range []string{dir, dir + ".zip"} {
		if n, missing, err := w.desk.Export(t.Context(), r.ID, out, w.fleet); err != nil || n == 0 || len(missing) > 0 {
			t.Fatalf("Export = %d, %q, %v", n, missing, err)
		}
		if _, _, err := w.desk.Export(t.Context(), r.ID, out, w.fleet); !errors.Is(err, model.AlreadyExists) {
			t.Errorf("over an export: %v; want AlreadyExists", err)
		}
		err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", filepath.Base(path), info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	z, err := zip.OpenReader(dir + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if f.Mode().Perm() != 0o600 {
			t.Errorf("%s in the zip has mode %v", f.Name, f.Mode())
		}
	}
	if !slices.Contains(names, "export.json") || len(names) < 5 {
		t.Errorf("the zip holds %q", names)
	}
}

// TestApprovalIsJudgedAgain: the right to approve is checked again when the plan is carried out.
func TestApprovalIsJudgedAgain(t *testing.T) {
	w, r, p := approvals(t)
	s, _ := newSigner(t)
	if _, err := w.desk.Approve(t.Context(), r.ID, p.Hash, s); err != nil {
		t.Fatal(err)
	}
	w.desk.Policy.Approvers = []string{"SHA256:somebody"}
	if _, err := w.erase(p); !model.IsRefusal(err) {
		t.Errorf("a key that may no longer approve: %v; want a refusal", err)
	}
	w.desk.Policy.Approvers, w.desk.Operator.Key = nil, ""
	nobody, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Received: "2026-02-20", Ground: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.Approve(t.Context(), nobody.ID, w.plan(nobody.ID).Hash, s); !model.IsRefusal(err) {
		t.Errorf("a requester without a key, any key approves: %v; want a refusal", err)
	}
	w.desk.Policy.RequireApproval = false
	if _, err := w.desk.SetPolicy(t.Context(), "one operator is left"); err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(nobody.ID))
}

// TestSelectsAStore refuses identifiers that match everything.
func TestSelectsAStore(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		w.put("db", model.RetainRequest{Tier: "session", Key: string(rune('a' + i)), Content: "a note of " + name})
	}
	r := w.file()
	if _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); !errors.Is(err, model.InvalidInput) {
		t.Errorf("identifiers that match a whole store: %v; want InvalidInput", err)
	}
	w.hold(r.ID, "db", "a")
	if _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); !errors.Is(err, model.InvalidInput) {
		t.Errorf("with one of them on hold: %v; want InvalidInput", err)
	}
	// A store about the subject alone is accepted once the operator confirms it.
	_, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
	for _, want := range []string{"every one of the 25 items of store db", "Look at the aliases", "memdesk gdpr plan " + r.ID + " --whole db"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want it to say %q", err, want)
		}
	}
	if _, err := w.desk.Whole(t.Context(), r.ID, w.store("db")); err != nil {
		t.Fatal(err)
	}
	all := w.plan(r.ID)
	if len(all.Stores[0].Notes) != 1 || len(all.OverShare(nil)) != 1 {
		t.Errorf("notes %q, %d over the share; want both told", all.Stores[0].Notes, len(all.OverShare(nil)))
	}
	bare := order(all)
	bare.ConfirmCount = 0
	_, err = w.desk.Erase(t.Context(), bare, w.fleet, nil)
	for _, want := range []string{"24 of the 25 items of db would go or change, more than 20 %", "Read the rows", "--confirm-count 24"} {
		if !model.IsRefusal(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want it to say %q", err, want)
		}
	}
	small := newWorld(t)
	for _, key := range []string{"a", "b", "c"} {
		small.put("db", model.RetainRequest{Tier: "session", Key: key, Content: "a note of " + name})
	}
	if p := small.plan(small.file().ID); len(p.Stores[0].Notes) != 1 || len(p.OverShare(nil)) != 1 {
		t.Errorf("a small store that goes as a whole: notes %q, %d over the share; want both told", p.Stores[0].Notes, len(p.OverShare(nil)))
	}
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "nowhere", Ground: "claim"}); err != nil {
		t.Fatal(err)
	}
	w.put("db", model.RetainRequest{Tier: "session", Key: "z", Content: "rain"})
	if _, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil); !errors.Is(err, model.NotFound) {
		t.Errorf("a hold on what is not there: %v; want NotFound", err)
	}
}

// TestTwoProcessesSuppress adds subjects from several processes at once, each with its own list: none
// may be lost.
func TestTwoProcessesSuppress(t *testing.T) {
	dir := t.TempDir()
	key, err := suppress.LoadKey(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	const hands, persons = 4, 8
	var wg sync.WaitGroup
	for h := range hands {
		wg.Go(func() {
			l := suppress.Open(filepath.Join(dir, "list.json"), filepath.Join(dir, "key"))
			for i := range persons {
				id := "subj-" + string(rune('a'+h)) + string(rune('a'+i))
				if err := l.Add(key, key.Pseudonym(id), "er-1", at("2026-03-01T12:00:00Z").Now(), id); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := suppress.Open(filepath.Join(dir, "list.json"), filepath.Join(dir, "key")).Persons()
	if err != nil || len(all) != hands*persons {
		t.Errorf("%d persons, %v; want %d", len(all), err, hands*persons)
	}
}

// TestIntentComesFirst reads the audit log at the first step of a run, before any change: the intent
// must already be there.
func TestIntentComesFirst(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	p := w.plan(r.ID)
	var intents, outcomes int
	look := func() {
		t.Helper()
		page, err := w.desk.Log.List(t.Context(), audit.Filter{}, 500, "")
		if err != nil {
			t.Fatal(err)
		}
		intents, outcomes = 0, 0
		for _, row := range page.Rows {
			if row.Action != "gdpr-erase" {
				continue
			}
			if row.Phase == audit.PhaseIntent {
				intents++
			} else {
				outcomes++
			}
		}
	}
	told := false
	_, err := w.desk.Erase(t.Context(), order(p), w.fleet, func(context.Context, gdpr.Progress) error {
		if !told {
			told = true
			if look(); intents != 1 || outcomes != 0 {
				t.Errorf("at the first step: %d intents, %d outcomes; want 1 and 0", intents, outcomes)
			}
		}
		return nil
	})
	if err != nil || !told {
		t.Fatalf("told %v, %v", told, err)
	}
	if look(); intents != 1 || outcomes != 1 {
		t.Errorf("at the end: %d intents, %d outcomes; want 1 and 1", intents, outcomes)
	}
}

// TestUnknownIsNotClean: a layer that was not scrubbed, or residue in memdesk's own files, must keep a
// request incomplete.
func TestUnknownIsNotClean(t *testing.T) {
	faulty := func(op model.Op, store string) model.Middleware {
		return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			if c.Op == op && c.Store.Name == store {
				return model.Errorf(model.PermissionDenied, string(op), "not allowed")
			}
			return next(ctx)
		}
	}
	tests := []struct {
		what string
		end  func(w *world)
	}{
		{"a scrub that failed", func(w *world) { w.extra = []model.Middleware{faulty(model.OpScrub, "notes")} }},
		{"a file of the state", func(w *world) {
			plant(w.t, w.desk.State, map[string]string{"jobs/left.txt": "for " + name + "\n"})
		}},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			plant(t, w.dir, map[string]string{"notes/memory/idea/a.md": "# " + name + "\n", "notes/memory/idea/b.md": "# Tea\n", "notes/memory/idea/c.md": "# Rain\n"})
			w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "notes")}}
			w.open()
			r := w.file()
			p := w.plan(r.ID)
			tt.end(w)
			w.open()
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StatePartial {
				t.Errorf("%s, %v; want partial: %+v", out.Status, err, out.Layers)
			}
			if _, _, _, err := w.desk.Receipt(r.ID); !errors.Is(err, model.NotFound) {
				t.Errorf("a receipt: %v", err)
			}
		})
	}
}

// TestProblemsHoldNoPath: the outcome is shown to others, and the place of the state directory is nobody's business.
func TestProblemsHoldNoPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	p := w.plan(w.file().ID)
	plant(t, w.desk.State, map[string]string{"events/gw.jsonl/x": "no file of events\n"})
	out, err := w.erase(p)
	if err != nil || len(out.Problems) != 1 || !strings.Contains(out.Problems[0].What, "events of stores") || strings.Contains(out.Problems[0].What, w.desk.State) {
		t.Errorf("%q, %v", out.Problems, err)
	}
}

// TestAShareOfZero: a written zero asks for the number at every erasure; no share at all means the default.
func TestAShareOfZero(t *testing.T) {
	p := gdpr.Plan{Stores: []gdpr.StorePlan{{Store: "db", Items: 100, Targets: 1}, {Store: "graph", Items: 5}}}
	zero := 0.0
	if got := p.OverShare(&zero); len(got) != 1 || !strings.Contains(got[0].ShareWords(&zero), "1 of the 100 items of db would go or change, more than 0 %") {
		t.Errorf("with 0: %v; want db", got)
	}
	if got := p.OverShare(nil); len(got) != 0 {
		t.Errorf("by default: %v; want none", got)
	}
}
