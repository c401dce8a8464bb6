package gdpr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestAStoreThatVanished: the files of a store are away while its plan is carried out. Nothing may pass, nothing is
// counted, and a plan does its work once they are back.
func TestAStoreThatVanished(t *testing.T) {
	w := newWorld(t)
	graph := filepath.Join(w.dir, "graph.jsonl")
	plant(t, w.dir, map[string]string{
		"graph.jsonl": `{"type":"entity","name":"` + name + `","entityType":"person","observations":["rye"]}` + "\n" + `{"type":"entity","name":"Quay","entityType":"place","observations":["wet"]}` + "\n",
		"v/hers.md":   name + " likes rye\n", "v/tide.md": "high at noon\n",
	})
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "mcpgraph", Path: graph}, {Name: "v", Kind: "vault", Path: filepath.Join(w.dir, "v")}}
	w.open()
	p := w.plan(w.file().ID)
	away := filepath.Join(w.dir, "away")
	if err := os.Mkdir(away, 0o700); err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(graph, filepath.Join(away, "graph.jsonl"))
	move(filepath.Join(w.dir, "v"), filepath.Join(away, "v"))
	if err := os.Mkdir(filepath.Join(w.dir, "v"), 0o700); err != nil { // a mount point without its disk
		t.Fatal(err)
	}
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StatePartial || out.Forgotten+out.Redacted > 0 || strings.Count(fmt.Sprint(out.Problems), "is empty") != 2 {
		t.Errorf("%s, %d forgotten, %q, %v; want partial", out.Status, out.Forgotten, out.Problems, err)
	}
	for _, l := range out.Layers {
		if l.Layer == "items" && l.Store != "db" && l.Verdict != model.VerdictFailed {
			t.Errorf("%+v; want failed", l)
		}
	}
	for range 2 { // a new plan takes it for no erased store either
		if out, err = w.erase(w.plan(p.Request)); err != nil || out.Status != gdpr.StateInScope || strings.Count(fmt.Sprint(out.Layers), "it is empty, and by the earlier plan 1 of its items") != 2 {
			t.Fatalf("%s, %+v, %v; want complete in scope", out.Status, out.Layers, err)
		}
	}
	move(filepath.Join(away, "graph.jsonl"), graph)
	if err := os.Remove(filepath.Join(w.dir, "v")); err != nil {
		t.Fatal(err)
	}
	move(filepath.Join(away, "v"), filepath.Join(w.dir, "v"))
	if out := w.complete(w.plan(p.Request)); out.Forgotten != 2 {
		t.Errorf("%d forgotten; want 2", out.Forgotten)
	}
}

// TestAStoreThatWasEmptied: somebody else emptied a store for good. Attested, its erasure ends.
func TestAStoreThatWasEmptied(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "v")
	plant(t, dir, map[string]string{"hers.md": name + " likes rye\n", "tide.md": "high at noon\n"})
	w.more = []backends.StoreConfig{{Name: "v", Kind: "vault", Path: dir}}
	w.open()
	p := w.plan(w.file().ID)
	for _, file := range []string{"hers.md", "tide.md"} {
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	w.inScope(w.plan(p.Request))
}

// TestAStoreThatLeftTheConfiguration: a store that still holds the person is not forgotten with its block. It is named
// until it is configured again, or somebody vouches for it.
func TestAStoreThatLeftTheConfiguration(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/hers.md": name + " likes rye\n", "v/tide.md": "high at noon\n"})
	vault := []backends.StoreConfig{{Name: "v", Kind: "vault", Path: filepath.Join(w.dir, "v")}}
	w.more = vault
	w.open()
	id := w.file().ID
	w.plan(id)
	w.more = nil
	w.open()
	for range 2 { // a further plan knows it too
		out, err := w.erase(w.plan(id))
		if err != nil || out.Status != gdpr.StateInScope {
			t.Fatalf("%s, %q, %v; want complete in scope", out.Status, out.Problems, err)
		}
		told := false
		for _, l := range out.Layers {
			told = told || l.Layer == "store v" && l.Hits == 1 && strings.Contains(l.Reason, "not configured")
		}
		if !told {
			t.Errorf("not named: %+v", out.Layers)
		}
	}
	w.more = vault
	w.open()
	w.complete(w.plan(id))

	plant(t, w.dir, map[string]string{"v/hers.md": name + " likes rye\n"})
	id = w.file().ID
	w.plan(id)
	w.more = nil
	w.open()
	w.inScope(w.plan(id)) // attested, it ends
}

// TestAStoreThatMoved: another place under the store's name may be all of it or a copy, so the old one stays named, and
// the report says what to do where it was moved.
func TestAStoreThatMoved(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/hers.md": name + " likes rye\n", "v/tide.md": "high at noon\n"})
	w.more = []backends.StoreConfig{{Name: "v", Kind: "vault", Path: filepath.Join(w.dir, "v")}}
	w.open()
	id := w.file().ID
	w.plan(id)
	if err := os.Rename(filepath.Join(w.dir, "v"), filepath.Join(w.dir, "new")); err != nil {
		t.Fatal(err)
	}
	w.more[0].Path = filepath.Join(w.dir, "new")
	w.open()
	if out := w.inScope(w.plan(id)); out.Forgotten != 1 || !strings.Contains(fmt.Sprint(out.Layers), "attest this where all of it was moved there") {
		t.Errorf("%d forgotten, %+v", out.Forgotten, out.Layers)
	}
}

// TestAPartOfAStoreThatVanished: a directory is away with the person's note and with others. The run says so, and so
// does each plan that is made meanwhile; a note that somebody else deleted is no such case.
func TestAPartOfAStoreThatVanished(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "v")
	plant(t, dir, map[string]string{"sub/hers.md": name + " likes rye\n", "sub/tide.md": "high at noon\n", "oats.md": "none\n"})
	w.more = []backends.StoreConfig{{Name: "v", Kind: "vault", Path: dir}}
	w.open()
	p := w.plan(w.file().ID)
	away := filepath.Join(w.dir, "away")
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []bool{true, false} { // the directory goes before the run, or before a new plan
		move(filepath.Join(dir, "sub"), away)
		if run {
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StatePartial || !strings.Contains(fmt.Sprint(out.Problems), "1 more with them") {
				t.Errorf("%s, %q, %v; want partial", out.Status, out.Problems, err)
			}
		}
		for range 2 {
			p := w.plan(p.Request)
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StateInScope || out.Forgotten+out.Redacted > 0 || strings.Count(fmt.Sprint(out.Layers), "look whether a part of the store is away") != 1 {
				t.Fatalf("%s, %d forgotten, %d redacted, %+v, %v; want complete in scope", out.Status, out.Forgotten, out.Redacted, out.Layers, err)
			}
			if !strings.Contains(fmt.Sprint(p.Stores), "items are missing (1)") {
				t.Errorf("the plan does not say it: %+v", p.Stores)
			}
		}
		move(away, filepath.Join(dir, "sub"))
		p = w.plan(p.Request)
	}
	if err := os.Remove(filepath.Join(dir, "sub", "hers.md")); err != nil {
		t.Fatal(err)
	}
	w.complete(p)
}

// TestAPartOfAStoreThatWasRemoved: somebody else removed the directory for good, or edited the note that came back.
// Attested, or without the name, its erasure ends.
func TestAPartOfAStoreThatWasRemoved(t *testing.T) {
	for _, back := range []bool{false, true} {
		w := newWorld(t)
		dir := filepath.Join(w.dir, "v")
		plant(t, dir, map[string]string{"sub/hers.md": name + " likes rye\n", "sub/tide.md": "high at noon\n", "oats.md": "none\n"})
		w.more = []backends.StoreConfig{{Name: "v", Kind: "vault", Path: dir}}
		w.open()
		id := w.file().ID
		w.plan(id)
		if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
			t.Fatal(err)
		}
		p := w.plan(id)
		if back {
			plant(t, dir, map[string]string{"sub/hers.md": "rye\n"})
			w.complete(p)
		} else {
			w.inScope(p)
		}
	}
}
