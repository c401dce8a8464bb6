package gdpr_test

import (
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

// A symbolic link contains no text itself. A target inside the store is searched under its own name; a
// target elsewhere is listed as out of reach. Either way the request must complete, and a later
// verification must agree.
func TestASymbolicLinkIsNamed(t *testing.T) {
	tests := []struct{ name, kind, path, link, to string }{
		{"vault note to a note", "vault", "s", "s/memory/idea/also.md", "x.md"},
		{"vault note to elsewhere", "vault", "s", "s/memory/idea/also.md", "../../../elsewhere.md"},
		{"vault directory to elsewhere", "vault", "s", "s/memory/other", "../../outside"},
		{"vault broken", "vault", "s", "s/memory/idea/broken.md", "nothing.md"},
		{"vault trash to elsewhere", "vault", "s", "s/.trash/t.md", "../../elsewhere.md"},
		{"device-local to elsewhere", "devicelocal", "s", "s/idea/also.md", "../../elsewhere.md"},
		{"crewship memory to elsewhere", "crewship", "s/output/crews/c1/agents/red/.memory", "s/output/crews/c1/agents/red/.memory/topics/t.md", "../../../../../../../../elsewhere.md"},
		{"crewship snapshot to elsewhere", "crewship", "s", "s/output/crews/c1/agents/red/.memory/.snapshots/r1/AGENT.md", "/nowhere/elsewhere.md"},
		{"curated beside the memories", "curated", "s/memories", "s/memories/old.md", "../../elsewhere.md"},
		{"curated proposal", "curated", "s/memories", "s/pending/memory/aa.json", "../../../elsewhere.md"},
		{"beads", "beads", "s", "s/.beads/old.jsonl", "../../elsewhere.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			plant(t, w.dir, map[string]string{
				"elsewhere.md": "of " + name + "\n", "outside/n.md": "of " + name + "\n",
				"s/memory/idea/hers.md": "# Of " + name + "\n", "s/memory/idea/x.md": "# X\n\nrain\n", "s/idea/hers.md": "# Of " + name + "\n", "s/idea/x.md": "# X\n\nrain\n",
				"s/output/crews/c1/agents/red/.memory/daily/2026-02-01.md": "- " + name + " called\n", "s/output/crews/c1/agents/red/.memory/AGENT.md": "likes tea\n",
				"s/memories/MEMORY.md":  "knows " + name + "\n§\nknows bob\n",
				"s/.beads/issues.jsonl": `{"id":"x-1","title":"about ` + name + `","status":"open","priority":2,"issue_type":"task"}` + "\n" + `{"id":"x-2","title":"about bob","status":"open","priority":2,"issue_type":"task"}` + "\n",
			})
			link := filepath.Join(w.dir, tt.link)
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(tt.to, link); err != nil {
				t.Fatal(err)
			}
			w.more = []backends.StoreConfig{{Name: "links", Kind: tt.kind, Path: filepath.Join(w.dir, tt.path)}}
			w.open()
			r := w.file()
			p, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Stores {
				if s.Error != "" || len(s.Problems) > 0 {
					t.Errorf("plan: %q %q", s.Error, s.Problems)
				}
			}
			out, err := w.erase(p)
			if err != nil {
				t.Fatal(err)
			}
			var row *receipt.Layer
			for _, l := range out.Layers {
				if l.Verdict != model.VerdictClean && l.Verdict != model.VerdictOutOfScope {
					t.Errorf("%+v", l)
				}
				if l.Store == "links" && filepath.Base(tt.link) == filepath.Base(l.Layer) && l.Method == "not looked at" {
					row = &l
				}
			}
			want := gdpr.StateComplete
			if slices.ContainsFunc(out.Layers, receipt.Layer.HoldsPerson) { // another program's file, beside the store
				want = gdpr.StateInScope
			}
			if out.Status != want || len(out.Problems) > 0 {
				t.Errorf("%s: %s %q %+v", out.Status, out.Reason, out.Problems, out.Layers)
			}
			if row == nil || row.Verdict != model.VerdictOutOfScope || !strings.Contains(row.Reason, "link") {
				t.Errorf("the link's row: %+v", row)
			}
			again, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet)
			if err != nil {
				t.Fatal(err)
			}
			named := false
			for _, l := range again {
				if l.Verdict != model.VerdictClean && l.Verdict != model.VerdictOutOfScope {
					t.Errorf("verified: %+v", l)
				}
				named = named || row != nil && l.Layer == row.Layer && l.Verdict == row.Verdict && l.Reason == row.Reason
			}
			if !named {
				t.Errorf("a later verification does not name the link: %+v", again)
			}
			if swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(swept)+len(problems) > 0 {
				t.Errorf("Sweep = %+v, %q, %v", swept, problems, err)
			}
			if b, err := os.ReadFile(filepath.Join(w.dir, "elsewhere.md")); err != nil || !strings.Contains(string(b), name) {
				t.Errorf("what it leads to was touched: %q %v", b, err)
			}
			if _, err := os.Lstat(link); err != nil {
				t.Errorf("the link: %v", err)
			}
		})
	}
}

// A link named after the subject contains no text, but its name identifies the subject: the reason must say
// so and how to act. The removed name is replaced by a mark, which never equals an existing directory's name.
func TestALinkUnderHerName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(t, w.dir, map[string]string{
		"s/memory/idea/x.md": "# X\n\nrain\n", "s/memory/erased/x.md": "# Y\n\nrain\n",
		"s/memory/" + ana + "/hers.md": "# Of " + name + "\n", "s/memory/" + mail + "/hers.md": "# Of " + name + "\n",
	})
	plant(t, w.dir, map[string]string{
		"w/.beads/issues.jsonl": `{"id":"x-1","title":"tea","status":"open","issue_type":"task"}` + "\n", "a/.memory/AGENT.md": "tea\n", "far.md": "# Far\n\nrain\n",
	})
	links := map[string]string{"s/memory/idea/ana-zxribeiro.md": "x.md", "s/memory/idea/" + ana + ".md": "../../../far.md", "a/.memory/topics/" + ana + ".md": "../AGENT.md", "w/.beads/" + ana + ".jsonl": "../../far.md", "s/memory/" + mail + "/also.md": "../idea/x.md", "s/memory/idea/other.md": "x.md"}
	for link, to := range links {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	w.more = []backends.StoreConfig{{Name: "links", Kind: "vault", Path: filepath.Join(w.dir, "s")},
		{Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "a", ".memory")}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	out := w.inScope(p)
	again, err := w.desk.Verify(t.Context(), r.ID, ana, w.fleet, mail, name)
	if err != nil {
		t.Fatal(err)
	}
	const own, above = "its own name names the person: remove the link by hand", "a directory above it names the person: remove the link by hand"
	for what, layers := range map[string][]receipt.Layer{"erased": out.Layers, "verified": again} {
		said := map[string]string{}
		for _, l := range layers {
			if (l.Store == "links" || l.Store == "work") && l.Method == "not looked at" {
				said[l.Layer] = l.Reason
				if l.Verdict != model.VerdictOutOfScope {
					t.Errorf("%s: %+v", what, l)
				}
			}
		}
		for layer, want := range map[string]string{"[erased].jsonl": own, "memory/[erased]/also.md": above, "memory/idea/other.md": model.LinkReason} {
			if !strings.HasPrefix(said[layer], want) || !strings.Contains(said[layer], model.LinkReason) {
				t.Errorf("%s: of %s it says %q; want %q; all: %q", what, layer, said[layer], want, said)
			}
		}
	}
	// In both families of files, a link named after the subject must be removed, and its target must stay.
	for ref, link := range map[string]string{"links:memory/idea/ana-zxribeiro.md": "s/memory/idea/ana-zxribeiro.md", "links:memory/idea/" + ana + ".md": "s/memory/idea/" + ana + ".md", "ship:topics/" + ana + ".md": "a/.memory/topics/" + ana + ".md"} {
		if st := actions(p)[ref]; st.Action != gdpr.Scrub || !strings.Contains(st.Reason, "the link itself is removed") || st.Revision == "" {
			t.Errorf("plan: %s: %+v", ref, st)
		}
		if _, err := os.Lstat(filepath.Join(w.dir, link)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", link, err)
		}
	}
	for file, want := range map[string]string{"s/memory/idea/x.md": "# X\n\nrain\n", "far.md": "# Far\n\nrain\n", "a/.memory/AGENT.md": "tea\n"} {
		if got := text(t, filepath.Join(w.dir, file)); got != want {
			t.Errorf("what it led to: %s: %q", file, got)
		}
	}
	gone := false
	for _, l := range out.Layers {
		if l.Store != "links" || !strings.HasPrefix(l.Method, "empty directory removed") {
			continue
		}
		gone = gone || l.Layer == "memory/[erased]/"
		if _, err := os.Stat(filepath.Join(w.dir, "s", l.Layer)); err == nil {
			t.Errorf("%s is said to be removed, and is there", l.Layer)
		}
	}
	if !gone {
		t.Error("no row says that her directory was removed")
	}
}

// TestAPathThatALinkLeadsTo: the text of a link is the store's own, so a path in it that names the subject must be told.
func TestAPathThatALinkLeadsTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, path, dir string }{
		{"devicelocal", "s", "s/memory/idea"}, {"vault", "s", "s/memory/idea"}, {"curated", "s/memories", "s/memories"}, {"curated", "s/memories", "s/pending/memory"}, {"beads", "s", "s/.beads"},
	} {
		w := newWorld(t)
		plant(t, w.dir, map[string]string{"s/memory/idea/hers.md": "of " + name + "\n", "s/memories/MEMORY.md": "of " + name + "\n", "s/pending/memory/a.json": "{}\n",
			"s/.beads/issues.jsonl": `{"id":"x-1","title":"about ` + name + `","status":"open","priority":2,"issue_type":"task"}` + "\n"})
		for link, to := range map[string]string{"hers2.md": "/home/" + name + "/notes.md", "other.md": "/home/bo/notes.md"} {
			if err := os.Symlink(to, filepath.Join(w.dir, tt.dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		w.more = []backends.StoreConfig{{Name: "links", Kind: tt.kind, Path: filepath.Join(w.dir, tt.path)}}
		w.open()
		r := w.file()
		out, err := w.erase(w.plan(r.ID))
		if err != nil || out.Status != "complete_in_scope" {
			t.Errorf("%s: %s, %q, %v", tt.dir, out.Status, out.Problems, err)
		}
		looked := gdpr.Looked{Store: "links", Ground: "Art. 17(3)(e)"}
		for _, l := range out.Layers {
			if strings.HasSuffix(l.Layer, "hers2.md") {
				looked.Layers = append(looked.Layers, l.Layer)
			}
			if hers := strings.HasSuffix(l.Layer, "hers2.md"); strings.HasSuffix(l.Layer, "other.md") && l.Hits != 0 || hers && (l.Hits != 1 || !strings.Contains(l.Reason, "the path that it leads to")) {
				t.Errorf("%s: %+v", tt.dir, l)
			}
		}
		if _, err := w.desk.Attest(t.Context(), r.ID, w.fleet, looked); err != nil {
			t.Errorf("%s: %v", tt.dir, err)
		}
		out, err = w.erase(w.plan(r.ID))
		if err != nil || slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
			return strings.HasSuffix(l.Layer, "hers2.md") && l.Verdict != model.VerdictAttested
		}) {
			t.Errorf("%s: attested: %v, %+v", tt.dir, err, out.Layers)
		}
	}
}
