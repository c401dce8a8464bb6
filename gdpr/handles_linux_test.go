package gdpr_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestRemovedFilesThatAreHeldOpen: bytes of a removed file that a process still holds open must be looked at, also
// beside a store that is one file, and what cannot be opened there is not clean.
func TestRemovedFilesThatAreHeldOpen(t *testing.T) {
	for what, c := range map[string]struct {
		path func(w *world) string
		body string
		want model.Verdict
	}{
		"that names the subject":       {func(w *world) string { return filepath.Join(w.path("agent"), "gone.md") }, "Ask " + name + ".\n", model.VerdictPending},
		"of a write-ahead log":         {func(w *world) string { return w.path("db") + "-journal" }, "Ask " + name + ".\n", model.VerdictPending},
		"of a tree beside it":          {func(w *world) string { return w.path("agent") + "-old.md" }, "Ask " + name + ".\n", ""},
		"that nobody can open":         {func(w *world) string { return filepath.Join(w.path("agent"), "gone.enc") }, "Salted__0123456789abcdef", model.VerdictUnaudited},
		"whose name names the subject": {func(w *world) string { return filepath.Join(w.path("agent"), name+".md") }, "Prefers tea.\n", model.VerdictPending},
		"of another person":            {func(w *world) string { return filepath.Join(w.path("agent"), "gone.md") }, "Ask " + other + ".\n", ""},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			w.fill()
			p := w.plan(w.file().ID)
			f, err := os.Create(c.path(w))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(c.body); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(f.Name()); err != nil {
				t.Fatal(err)
			}
			out, err := w.erase(p)
			if err != nil || verdictOf(out.Layers, "open handles") != c.want || (out.Status == gdpr.StateComplete) != (c.want == "") {
				t.Errorf("%s, %q, %v; want %q", out.Status, verdictOf(out.Layers, "open handles"), err, c.want)
			}
		})
	}
}

// TestARemovedLogBelowADirectoryOfThatName: the directory of a database stays, whomever it names, so its name alone must
// not keep an erasure from its end.
func TestARemovedLogBelowADirectoryOfThatName(t *testing.T) {
	w := newWorld(t)
	w.fill()
	home := backends.StoreConfig{Name: "home", Kind: "sqlite", Path: filepath.Join(w.dir, name, "kb.db")}
	kind, _ := backends.Builtin().Kind("sqlite")
	if err := errors.Join(os.Mkdir(filepath.Dir(home.Path), 0o700), kind.Create(t.Context(), home, backends.Env{Clock: w.clock})); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{home}
	w.open()
	f, err := os.Create(home.Path + "-journal")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	w.complete(w.plan(w.file().ID))
}

// TestEarlierFileOfARemovedItem: a process that still has the file of an item before its last change open keeps it, though
// that text does not name the subject. The vault is opened by a link, as a manager of dotfiles makes it; an id of Crewship's
// store is no path.
func TestEarlierFileOfARemovedItem(t *testing.T) {
	for kind, file := range map[string]string{"vault": "real/memory/idea/n.md", "crewship": "real/output/crews/c1/agents/red/.memory/AGENT.md"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			item := filepath.Join(w.dir, file)
			plant(t, w.dir, map[string]string{file: "prefers tea\n", "new.md": "Of " + name + "\n"})
			f, err := os.Open(item)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := errors.Join(os.Rename(filepath.Join(w.dir, "new.md"), item), os.Symlink("real", filepath.Join(w.dir, "link"))); err != nil {
				t.Fatal(err)
			}
			w.more = []backends.StoreConfig{{Name: "more", Kind: kind, Path: filepath.Join(w.dir, "link")}}
			w.open()
			out, err := w.erase(w.plan(w.file().ID))
			if got := verdictOf(out.Layers, "open handles"); err != nil || got != model.VerdictPending || out.Status != gdpr.StatePending {
				t.Errorf("%s, %q, %v", out.Status, got, err)
			}
			f.Close()
			w.complete(w.plan(w.file().ID))
		})
	}
}

// TestOwnFilesThatNobodyCanOpen: a file of memdesk's own state that cannot be opened is not clean; the hashes of the
// log's tree, which look like encrypted data, are, where they are as many as the file's name says.
func TestOwnFilesThatNobodyCanOpen(t *testing.T) {
	for where, want := range map[string]model.Verdict{
		"edit/left.enc":                                     model.VerdictUnaudited,
		"audit/tree/tile/0/000.p/200":                       model.VerdictClean,
		"audit/tree/tile/0/000.p/199":                       model.VerdictUnaudited,
		"audit/tree/tile/0/000.p/.200.tmp.0123456789abcdef": model.VerdictClean, // of a killed process
		"audit/tree/tile/0/x001/.000.tmp.0123456789abcdef":  model.VerdictClean,
		"audit/tree/tile/0/000.p/.199.tmp.0123456789abcdef": model.VerdictUnaudited,
	} {
		t.Run(where, func(t *testing.T) {
			w := newWorld(t)
			w.fill()
			p := w.plan(w.file().ID)
			path := filepath.Join(w.desk.State, filepath.FromSlash(where))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.Repeat([]byte("Salted__0123456789abcdef01234567"), 200), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := w.erase(p)
			if err != nil || verdictOf(out.Layers, "state") != want || (out.Status == gdpr.StateComplete) != (want == model.VerdictClean) {
				t.Errorf("%s, %q, %v; want %q", out.Status, verdictOf(out.Layers, "state"), err, want)
			}
		})
	}
}

// TestOwnFilesBehindLinks: a state directory on another disk is a link, or has links. What lies behind one is
// memdesk's own too; a link behind a link is not followed, and said.
func TestOwnFilesBehindLinks(t *testing.T) {
	move := func(t *testing.T, path string) (to string) {
		to = filepath.Join(t.TempDir(), "moved")
		if err := errors.Join(os.MkdirAll(path, 0o700), os.Rename(path, to), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
		return to
	}
	for name, c := range map[string]struct {
		dirs []string // moved, each in the last
		text string
		want model.Verdict
	}{
		"the state directory":  {[]string{"."}, "of " + name, model.VerdictResidue},
		"a part of it":         {[]string{"jobs"}, "of " + name, model.VerdictResidue},
		"the requests":         {[]string{"requests"}, "of nobody", model.VerdictClean},
		"a link behind a link": {[]string{"jobs", "old"}, "of " + name, model.VerdictUnaudited},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fill()
			p := w.plan(w.file().ID)
			dir := w.desk.State
			for _, sub := range c.dirs {
				dir = move(t, filepath.Join(dir, sub))
			}
			if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := w.erase(p)
			if err != nil || verdictOf(out.Layers, "state") != c.want || (out.Status == gdpr.StateComplete) != (c.want == model.VerdictClean) {
				t.Errorf("%s, %q, %v; want %q", out.Status, verdictOf(out.Layers, "state"), err, c.want)
			}
		})
	}
}
