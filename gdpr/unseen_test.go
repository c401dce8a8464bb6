package gdpr_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// A file that appeared or changed after the plan was shown must not be removed: it stays, is reported
// as residue, and goes with the next plan.
func TestNothingUnseenIsRemoved(t *testing.T) {
	t.Parallel()
	entry := func(text string) string {
		return `{"id": "x", "subsystem": "memory", "action": "add", "summary": "add", "origin": "review", "created_at": 1, "payload": {"action": "add", "target": "memory", "content": "about ` + text + `"}}`
	}
	tests := []struct {
		name, file, before, after string
	}{
		{"crewship snapshot, new", "ship/output/crews/c1/agents/red/.memory/.snapshots/r2/AGENT.md", "", "Ask " + name + "\n"},
		{"crewship snapshot, changed", "ship/output/crews/c1/agents/red/.memory/.snapshots/r2/AGENT.md", "Ask " + name + "\n", "Ask " + name + "\nand a fact that nobody has seen\n"},
		{"crewship version, new", "ship/memory/versions/00/" + strings.Repeat("0", 64), "", "was " + name + "\n"},
		{"crewship temporary file, new", "ship/output/crews/c1/agents/red/.memory/AGENT.md.tmp.0123456789abcdef", "", "Ask " + name + " for a key\n"},
		{"vault backup, new", "vault/memory/idea/x.md.bak", "", "# X\n\n" + name + "\n"},
		{"vault backup, changed", "vault/memory/idea/x.md.bak", "# X\n\n" + name + "\n", "# X\n\n" + name + "\nand more\n"},
		{"vault old version, of a note that goes", "vault/.stversions/memory/idea/hers~20260101-101010.md", "", "# an older text without a name\n"},
		{"vault trash, new", "vault/.trash/hers.md", "", "# Gone\n\n" + name + "\n"},
		{"curated backup, new", "desk/memories/MEMORY.md.bak.1", "", "knew " + name + "\n"},
		{"curated proposal, new", "desk/pending/memory/aa.json", "", entry(name)},
		{"beads interactions, new", "work/.beads/interactions.jsonl", "", `{"id":"int-1","prompt":"for ` + name + `"}` + "\n"},
		{"beads backup, new", "work/.beads/issues.jsonl.bak", "", `{"id":"x-9","title":"old, of ` + name + `"}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			files := map[string]string{
				"ship/output/crews/c1/agents/red/.memory/AGENT.md":            "likes tea\n",
				"ship/output/crews/c1/agents/red/.memory/daily/2026-02-01.md": "- " + name + " called\n",
				"ship/memory/versions/00/" + strings.Repeat("1", 64):          "was " + name + " once\n",
				"vault/memory/idea/hers.md":                                   "# Of " + name + "\n", "vault/memory/idea/x.md": "# X\n\nrain\n",
				"work/.beads/issues.jsonl": `{"id":"x-1","title":"about ` + name + `","status":"open","priority":2,"issue_type":"task"}` + "\n" +
					`{"id":"x-2","title":"about bob","status":"open","priority":2,"issue_type":"task"}` + "\n",
				"desk/memories/MEMORY.md": "knows " + name + "\n§\nknows bob\n",
			}
			if tt.before != "" {
				files[tt.file] = tt.before
			}
			plant(t, w.dir, files)
			w.more = []backends.StoreConfig{
				{Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "ship")}, {Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")},
				{Name: "desk", Kind: "curated", Path: filepath.Join(w.dir, "desk", "memories")}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "work")},
			}
			w.open()
			p := w.plan(w.file().ID)
			plant(t, w.dir, map[string]string{tt.file: tt.after})
			out, err := w.desk.Erase(t.Context(), order(p), w.fleet, nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(filepath.Join(w.dir, tt.file)); err != nil || string(b) != tt.after {
				t.Fatalf("it is %q, %v: removed unseen", b, err)
			}
			told := slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
				return l.Verdict == model.VerdictResidue && (strings.Contains(l.Layer, filepath.Base(tt.file)) || l.Layer == "items")
			})
			if out.Status != gdpr.StatePartial || !told {
				t.Errorf("status %s, told %v", out.Status, told)
			}
			if out.Status == gdpr.StateComplete {
				return
			}
			w.complete(w.plan(p.Request))
			if left := w.traces(w.dir); len(left) > 0 {
				t.Errorf("after another plan: %q", left)
			}
		})
	}
}

// The shown plan must list every file that goes.
func TestWhatGoesStandsInThePlan(t *testing.T) {
	w := newWorld(t)
	w.fill()
	plant(t, w.dir, map[string]string{
		"vault/memory/idea/hers.md": "# Of " + name + "\n", "vault/memory/idea/hers.md.bak": "# an older text without a name\n", "vault/memory/idea/x.md": "# X\n\nrain\n",
		"vault/.stversions/memory/idea/hers~20260101-101010.md": "# an older text\n",
		"desk/memories/MEMORY.md":                               "knows " + name + "\n§\nknows bob\n", "desk/memories/MEMORY.md.bak.1": "knows " + name + "\n",
		"desk/pending/memory/aa.json":    `{"id": "x", "subsystem": "memory", "action": "add", "summary": "add", "origin": "review", "created_at": 1, "payload": {"action": "add", "target": "memory", "content": "about ` + name + `"}}`,
		"work/.beads/issues.jsonl":       `{"id":"x-1","title":"about ` + name + `","status":"open","priority":2,"issue_type":"task"}` + "\n" + `{"id":"x-2","title":"t","status":"open","priority":2,"issue_type":"task","dependencies":[{"issue_id":"x-2","depends_on_id":"x-1","type":"blocks"}]}` + "\n",
		"work/.beads/interactions.jsonl": `{"id":"int-1","prompt":"for ` + name + `"}` + "\n" + `{"id":"int-2","prompt":"x"}` + "\n",
	})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")},
		{Name: "desk", Kind: "curated", Path: filepath.Join(w.dir, "desk", "memories")}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "work")}}
	w.open()
	r := w.file()
	before := tree(t, w.dir)
	p := w.plan(r.ID)
	planning := tree(t, w.dir)
	for name, body := range planning {
		if was, there := before[name]; !strings.HasPrefix(name, "memory.sqlite") && (!there || was != body) {
			t.Errorf("planning made or changed %s", name)
		}
	}
	if len(planning) != len(before) {
		t.Errorf("planning left %d files where %d were", len(planning), len(before))
	}
	roots := map[string]string{"notes": "vault/", "desk": "desk/memories/", "work": "work/.beads/", "agent": "agent/.memory/"}
	planned := map[string]bool{"desk/pending/memory/aa.json": true} // named by the item's id
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			planned[roots[st.Store]+st.ID] = true
		}
	}
	w.complete(p)
	after := tree(t, w.dir)
	for name, body := range before {
		if strings.HasPrefix(name, "memory.sqlite") || strings.HasSuffix(name, ".lock") {
			continue
		}
		if now, ok := after[name]; (!ok || now != body) && !planned[name] && name != "desk/memories/MEMORY.md" {
			t.Errorf("%s went or changed, and no step of the plan names it", name)
		}
	}
}

// Files of a planned item that a killed run left count as planned: the next run must remove them
// without another plan.
func TestACopyOfWhatWasShownGoes(t *testing.T) {
	w := newWorld(t)
	hers := "# Of " + name + "\n\nrain\n"
	plant(t, w.dir, map[string]string{"vault/memory/idea/hers.md": hers, "vault/memory/idea/x.md": "# X\n\nrain\n", "vault/memory/idea/y.md": "# Y\n\nrain\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
	w.open()
	p := w.plan(w.file().ID)
	plant(t, w.dir, map[string]string{"vault/memory/idea/hers.md.tmp.0123456789abcdef": hers})
	w.complete(p)
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("%q", left)
	}
}

// A plan must list the effects of a scrub even where this session may not scrub.
func TestAPlanOverReadOnlyStores(t *testing.T) {
	w := newWorld(t)
	w.fill()
	plant(t, w.dir, map[string]string{
		"vault/memory/idea/hers.md": "# Of " + name + "\n", "vault/.trash/hers.md": "# Gone, of " + name + "\n", "vault/memory/idea/x.md": "# X\n\nrain\n",
		"desk/memories/MEMORY.md": "knows bob\n", "desk/memories/MEMORY.md.bak.1": "knows " + name + "\n",
		"work/.beads/issues.jsonl": `{"id":"x-2","title":"t","status":"open","priority":2,"issue_type":"task"}` + "\n", "work/.beads/interactions.jsonl": `{"id":"int-1","prompt":"for ` + name + `"}` + "\n",
		"ship/.memory/AGENT.md": "likes tea\n", "ship/.memory/.snapshots/r1/AGENT.md": "Ask " + mail + "\n",
	})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault"), ReadOnly: true}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "work"), ReadOnly: true},
		{Name: "desk", Kind: "curated", Path: filepath.Join(w.dir, "desk", "memories"), ReadOnly: true}, {Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "ship", ".memory"), ReadOnly: true}}
	w.open()
	want := map[string]bool{"notes:.trash/hers.md": true, "desk:MEMORY.md.bak.1": true, "work:interactions.jsonl": true, "ship:.snapshots/r1/AGENT.md": true}
	for _, s := range w.plan(w.file().ID).Stores {
		for _, st := range s.Steps {
			if st.Action == gdpr.Scrub {
				delete(want, st.Store+":"+st.ID)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not planned: %v", want)
	}
}

// A store that cannot be written is told once, not item by item; the same plan is carried out once it can.
func TestErasingFromAReadOnlyStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/memory/idea/a.md": "of " + name + "\n", "v/memory/idea/b.md": "of " + name + "\n", "v/memory/idea/x.md": "rain\n"})
	plant(t, w.dir, map[string]string{"desk/memories/MEMORY.md": "rain\n"}) // nothing of hers: that it cannot be scrubbed leaves nothing undone
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "v"), ReadOnly: true},
		{Name: "desk", Kind: "curated", Path: filepath.Join(w.dir, "desk", "memories"), ReadOnly: true}}
	w.open()
	p := w.plan(w.file().ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || out.Forgotten != 0 || len(out.Problems) != 2 || out.Problems[0].Replan ||
		!strings.Contains(out.Problems[0].What, "read-only") || !strings.Contains(out.Problems[0].What, "2 of its items") {
		t.Errorf("%s, %d forgotten, %q, %v", out.Status, out.Forgotten, out.Problems, err)
	}
	w.more[0].ReadOnly = false
	w.open()
	w.complete(p)
}

// goneAway is a store that goes away in the middle of a pass, while another text is on its way.
type goneAway struct{}

func (goneAway) EachText(_ context.Context, yield func(model.Text, error) bool) ([]string, error) {
	if yield(model.Text{ID: "a"}, model.Errorf(model.Unavailable, "read", "it went away")) {
		return nil, errors.New("the pass was not stopped")
	}
	yield(model.Text{ID: "b"}, model.Errorf(model.PermissionDenied, "read", "no"))
	return nil, nil
}

// TestAStoreThatGoesAwayDuringAPass: a part of a store must not pass for the whole.
func TestAStoreThatGoesAwayDuringAPass(t *testing.T) {
	w := newWorld(t)
	w.fill()
	s := w.store("db")
	s.Texts = goneAway{}
	p, err := w.desk.MakePlan(t.Context(), w.file().ID, alone(s), nil)
	if err != nil || len(p.Stores) != 1 || p.Stores[0].Error == "" {
		t.Errorf("the plan: %+v, %v; want that the store cannot be searched", p.Stores, err)
	}
}

// halfListed is a store that cannot list all that a subject has.
type halfListed struct{}

func (halfListed) Concerning(_ context.Context, keys []string, _ func(model.SubjectHit) bool) error {
	return model.Errorf(model.Unsupported, "subjects", "no more than 1000 of %s are given: open the files instead", keys[0])
}

// TestAPlanSaysWhyAStoreCannotBeSearched: trying again does not help where the store has no way, so the plan
// says what does, and names nobody.
func TestAPlanSaysWhyAStoreCannotBeSearched(t *testing.T) {
	w := newWorld(t)
	s := w.store("db")
	s.Subjects = halfListed{}
	p, err := w.desk.MakePlan(t.Context(), w.file().ID, alone(s), nil)
	if err != nil || len(p.Stores) != 1 || !strings.Contains(p.Stores[0].Error, "open the files instead") || strings.Contains(p.Stores[0].Error, ana) {
		t.Errorf("the plan: %+v, %v", p.Stores, err)
	}
}
