package gdpr_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/gdpr"
	"memdesk/model"
)

// plant writes files below a directory.
func plant(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, body := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tree is every path below a directory with its bytes; directories end in a slash.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if e.IsDir() {
			out[name+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNamesOfFiles erases a subject whom files and directories name in their names only.
func TestNamesOfFiles(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	plant(t, vault, map[string]string{
		"memory/preference/ana-zxribeiro.md":     "# Preferences\n\nlikes tea\nand rain\nand trains\n",
		"memory/idea/call-with-ana_zxribeiro.md": "# A call\n\nabout trains\nand routers\nand cables\n",
		"memory/idea/call-with-Ana-Zxribeiro.md": "# Another call\n\nabout trains\nand routers\nand cables\n",
		"memory/people/ana-zxribeiro/shoes.md":   "# Shoes\n\nsize 38\nred\nno heels\n",
		"memory/idea/.agentmd-ana-zxribeiro.tmp": "half a note",
		"memory/idea/links.md":                   "# Links\n\n- [[ana-zxribeiro]] is new\n- [[routers]]\n- ana_zxribeiro.md\n- [[zxribeiro-ana-street]]\n",
		"memory/idea/ana-zxribeiros.md":          "# Zxribeiros\n\nanother family\n",
		"memory/idea/zxribeiro-ana-street.md":    "# A street\n\nis long\n",
		"memory/people/otto/hats.md":             "# Hats\n\ntwo\n",
		"memory/idea/routers.md":                 "# Routers\n\nforget\n",
		"memory/idea/subj-ana-zx9q-2.md":         "# Another account\n\nof somebody else\n",
		"memory/idea/cables.md":                  "# Cables\n\nare long\n",
	})
	w.open()
	before := tree(t, vault)
	// The undo entry of an earlier change to such a file contains its name.
	if _, err := w.store("notes").Provider.Retain(t.Context(), model.RetainRequest{ID: "memory/preference/ana-zxribeiro.md", Content: before["memory/preference/ana-zxribeiro.md"], Mode: model.Replace}); err != nil {
		t.Fatal(err)
	}
	r := w.file()
	p := w.plan(r.ID)
	actions := map[string]gdpr.Step{}
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			actions[st.ID] = st
		}
	}
	for id, want := range map[string]gdpr.Action{
		"memory/preference/ana-zxribeiro.md": gdpr.Forget, "memory/idea/call-with-ana_zxribeiro.md": gdpr.Redact,
		"memory/idea/call-with-Ana-Zxribeiro.md": gdpr.Redact, "memory/people/ana-zxribeiro/shoes.md": gdpr.Redact, "memory/idea/links.md": gdpr.Redact,
		"memory/idea/.agentmd-ana-zxribeiro.tmp": gdpr.Scrub,
	} {
		if actions[id].Action != want {
			t.Errorf("%s: %+v; want %s", id, actions[id], want)
		}
	}
	out := w.complete(p)
	named := false
	for _, l := range out.Layers {
		named = named || l.Store == "notes" && l.Layer == "names" && l.Verdict == model.VerdictClean && l.BytesScanned > 0
	}
	if !named {
		t.Error("the outcome says nothing of names")
	}
	after := tree(t, vault)
	for name, body := range after {
		for _, s := range []string{"ana-zxribeiro", "ana_zxribeiro"} {
			low := strings.ReplaceAll(strings.ToLower(name+body), "ana-zxribeiros", "")
			if strings.Contains(low, s) {
				t.Errorf("%s still names her", name)
			}
		}
	}
	for _, name := range []string{"memory/idea/ana-zxribeiros.md", "memory/idea/zxribeiro-ana-street.md", "memory/people/otto/hats.md", "memory/idea/routers.md", "memory/idea/subj-ana-zx9q-2.md"} {
		if after[name] != before[name] {
			t.Errorf("the bystander %s: %q", name, after[name])
		}
	}
	if got := after["memory/idea/links.md"]; got != "# Links\n\n- [[[erased]]] is new\n- [[routers]]\n- [erased].md\n- [[zxribeiro-ana-street]]\n" {
		t.Errorf("links: %q", got)
	}
	calls := 0
	for name := range after {
		if strings.HasPrefix(name, "memory/idea/call-with-erased") {
			calls++
		}
	}
	if calls != 2 {
		t.Errorf("%d of the two calls are left", calls)
	}
	for name, body := range tree(t, w.desk.State) {
		if strings.Contains(strings.ToLower(name+body), "zxribeiro") {
			t.Errorf("the state's %s still names her", name)
		}
	}
	_, err := w.store("notes").Provider.Retain(t.Context(), model.RetainRequest{ID: "memory/preference/ana-zxribeiro.md", Content: "likes tea", Mode: model.Replace})
	if !model.IsRefusal(err) {
		t.Errorf("a file under her name again: %v", err)
	}
}

// TestConflictCopyOfAnErasedPerson resolves a copy that a sync peer brought back.
func TestConflictCopyOfAnErasedPerson(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	plant(t, vault, map[string]string{"memory/idea/plan.md": "# Plan\n\nask " + name + "\nbuy tea\n", "memory/idea/other.md": "# Other\n\nx\n"})
	w.open()
	r := w.file()
	w.complete(w.plan(r.ID))
	const copyID = "memory/idea/plan.sync-conflict-20260527-083015-K3ZQ7AB.md"
	plant(t, vault, map[string]string{copyID: "# Plan\n\nask " + name + " twice\nbuy tea\n"})
	w.open()
	before := tree(t, vault)
	c, err := conflict.Find(t.Context(), w.store("notes"), copyID, conflict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, take := range []conflict.Take{conflict.TakeCopy, conflict.TakeBoth, conflict.TakeMerged} {
		_, err := conflict.Resolve(t.Context(), w.desk.Undo, w.store("notes"), c, conflict.Choice{Take: take, Merged: "# Plan\n\nask " + strings.ToUpper(name) + "\n"})
		if !model.IsRefusal(err) {
			t.Errorf("take %s: %v; want a refusal", take, err)
		}
	}
	after := tree(t, vault)
	if after["memory/idea/plan.md"] != before["memory/idea/plan.md"] {
		t.Errorf("the base changed: %q", after["memory/idea/plan.md"])
	}
	// The sweep finds the copy itself, and its undo entry goes too.
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(problems) > 0 || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateComplete {
		t.Fatalf("Sweep = %+v, %q, %v", swept, problems, err)
	}
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
}
