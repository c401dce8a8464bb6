package mcpgraph

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/backendtest"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/model"
)

// slowServer is a server that has read the file and writes late: finish writes that version, with a new
// entity of the server's, over the current file.
func slowServer(t *testing.T, path string) (finish func()) {
	t.Helper()
	read := content(t, path)
	return func() {
		t.Helper()
		temp := path + ".00000000000000000000000000000000.tmp"
		must(t, os.WriteFile(temp, []byte(read+"\n"+`{"type":"entity","name":"theirs","entityType":"t","observations":[]}`), 0o640))
		must(t, os.Rename(temp, path))
	}
}

const small = `{"type":"entity","name":"Ada","entityType":"person","observations":["likes rye"]}
{"type":"entity","name":"Omar","entityType":"person","observations":[]}
{"type":"relation","from":"Ada","to":"Omar","relationType":"knows"}`

// TestASlowServer: the server undoes a write after memdesk read it back. Health and the next act, of
// another process too, must report that, and the text can be written again (MG10).
func TestASlowServer(t *testing.T) {
	retain := func(id, text string) func(*testing.T, model.Store) {
		return func(t *testing.T, s model.Store) {
			_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: text})
			must(t, err)
		}
	}
	forget := func(id string) func(*testing.T, model.Store) {
		return func(t *testing.T, s model.Store) {
			_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
			must(t, err)
		}
	}
	type act = func(*testing.T, model.Store)
	for name, c := range map[string]struct {
		before     []act // the server reads after these
		acts       []act
		after      func(t *testing.T, path string) // the server's own further write
		lost, kept string                          // the item, and its text among the drafts
		command    string
	}{
		"an edit":            {acts: []act{retain("Ada", "- likes tea")}, lost: "Ada", kept: "- likes tea", command: "memdesk retain g:Ada --mode replace --kept"},
		"a new entity":       {acts: []act{retain("pier/3", "- wet")}, lost: "pier/3", kept: "- wet", command: "memdesk retain g:pier/3 --mode replace --kept"},
		"a new relation":     {acts: []act{retain("edge/Omar/likes/Ada", "Omar likes Ada")}, lost: "edge/Omar/likes/Ada", kept: "Omar likes Ada", command: "--kept"},
		"a removal":          {acts: []act{forget("Ada")}, lost: "Ada", command: "memdesk forget g:Ada"},
		"a relation's":       {acts: []act{forget("edge/Ada/knows/Omar")}, lost: "edge/Ada/knows/Omar", command: "memdesk forget g:edge/Ada/knows/Omar"},
		"two edits":          {acts: []act{retain("Ada", "- likes tea"), retain("Ada", "- likes tea\n- and rum")}, lost: "Ada", kept: "- and rum", command: "--kept"},
		"an edit of an edit": {acts: []act{retain("Ada", "- likes tea"), retain("Ada", "- likes rum")}, lost: "Ada", kept: "- likes rum", command: "--kept"},
		"the second":         {before: []act{retain("Ada", "- likes tea")}, acts: []act{retain("Ada", "- likes rum")}, lost: "Ada", kept: "- likes rum", command: "--kept"},
		"an entity with a new relation, forgotten": {acts: []act{retain("edge/Omar/likes/Ada", "Omar likes Ada"), forget("Ada")}, after: func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(`{"type":"entity","name":"Omar","entityType":"person","observations":[]}`), 0o640)) // the server has read it too
		}},
		"an edit taken back": {acts: []act{retain("Ada", "- likes tea"), retain("Ada", "- likes rye")}},
		"and another's edit of it": {acts: []act{retain("Ada", "- likes tea")}, lost: "Ada", kept: "- likes tea", command: "--kept", after: func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Replace(content(t, path), `"likes rye"`, `"likes rye","sails"`, 1)), 0o640))
		}},
		"an edit made again": {acts: []act{retain("Ada", "- likes tea")}, after: func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Replace(content(t, path), `"likes rye"`, `"likes tea","sails"`, 1)), 0o640))
		}},
		"an observation that another takes out": {acts: []act{retain("Ada", "- likes rye\n- and rum")}, after: func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Replace(content(t, path), `"likes rye"`, `"sails"`, 1)), 0o640))
		}, lost: "Ada", kept: "- and rum", command: "--kept"},
		"an edit that another puts aside": {acts: []act{retain("Ada", "- likes tea")}, after: func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Replace(content(t, path), `"likes rye"`, `"sails"`, 1)), 0o640))
		}},
		"an edit beside what it took out": {acts: []act{retain("Ada", "- likes tea")}, after: func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Replace(content(t, path), `"likes rye"`, `"likes rye","likes tea"`, 1)), 0o640))
		}},
		"an addition to an entity that another forgets": {acts: []act{retain("Ada", "- likes rye\n- and rum")}, after: func(t *testing.T, path string) {
			_, rest, _ := strings.Cut(content(t, path), "\n")
			must(t, os.WriteFile(path, []byte(rest), 0o640))
		}},
		"an entity that another forgets": {acts: []act{retain("Ada", "- likes tea")}, after: func(t *testing.T, path string) {
			_, rest, _ := strings.Cut(content(t, path), "\n")
			must(t, os.WriteFile(path, []byte(rest), 0o640))
		}},
	} {
		for how, told := range map[string]func(*testing.T, model.Store) string{
			"health": func(t *testing.T, s model.Store) (words string) {
				for range 2 { // reported as long as it lasts
					words = ""
					for _, f := range backendtest.Health(t, s).Findings {
						if f.Kind == "lost" {
							words += f.Ref + " | " + f.Message + "\n"
						}
					}
				}
				return words
			},
			"the next act": func(t *testing.T, s model.Store) string {
				res, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "other", Mode: model.Replace, Content: "- x"})
				must(t, err)
				again, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "other", Mode: model.Replace, Content: "- y"})
				must(t, err)
				if len(again.Warnings) > 0 {
					t.Errorf("the act after says it again: %q", again.Warnings)
				}
				return strings.Join(res.Warnings, "\n")
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				path, state, at := write(t, small), filepath.Join(t.TempDir(), "memdesk"), clock.NewFake(time.Now())
				process := func() model.Store {
					s, err := Open(t.Context(), Config{Name: "g", Path: path, Locks: filepath.Join(state, "locks"), Clock: at})
					must(t, err)
					t.Cleanup(func() { _ = s.Close() })
					return s
				}
				s := process()
				for _, do := range c.before {
					do(t, s)
				}
				finish := slowServer(t, path)
				for _, do := range c.acts {
					do(t, s)
				}
				at.Advance(2 * time.Second)
				finish()
				if c.after != nil {
					c.after(t, path)
				}
				words := told(t, process())
				if (words != "") != (c.lost != "") || !strings.Contains(words, c.command) || c.lost != "" && !strings.Contains(words, "was undone") {
					t.Errorf("told: %q", words)
				}
				kept, err := drafts.New(filepath.Join(state, "edit"), at, nil).Kept()
				must(t, err)
				var texts []string
				for _, k := range kept {
					p, ok := k.Purpose()
					if !ok || p.Store != "g" || p.Req.ID != c.lost {
						t.Errorf("the text that was put aside is of %+v", p)
					}
					texts = append(texts, content(t, k.Path))
				}
				if c.kept == "" && len(texts) > 0 || c.kept != "" && (len(texts) != 1 || !strings.Contains(texts[0], c.kept)) {
					t.Errorf("put aside: %q", texts)
				}
			})
		}
	}
}

// TestAWriteThatStands: a write that stays in place must no longer be watched: the state directory
// keeps nothing of it, and a later change by others is no loss.
func TestAWriteThatStands(t *testing.T) {
	path, state, at := write(t, small), filepath.Join(t.TempDir(), "memdesk"), clock.NewFake(time.Now())
	s, err := Open(t.Context(), Config{Name: "g", Path: path, Locks: filepath.Join(state, "locks"), Clock: at})
	must(t, err)
	defer s.Close()
	held := func() (out []string) {
		must(t, filepath.WalkDir(filepath.Join(state, "edit"), func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				out = append(out, p)
			}
			return err
		}))
		return out
	}
	for _, id := range []string{"Ada", "Omar"} {
		_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		must(t, err)
	}
	for _, f := range held() { // for a removal only hashes are kept
		if b := content(t, f); strings.Contains(f+b, "Ada") || strings.Contains(f+b, "Omar") || strings.Contains(b, "rye") {
			t.Errorf("%s says what was removed: %s", f, b)
		}
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "tea", Mode: model.Replace, Content: "- green"})
	must(t, err)
	if n := len(held()); n != 4 {
		t.Errorf("%d files for two removals and a write, want 4", n)
	}
	at.Advance(time.Minute)
	if f := backendtest.Health(t, s).Findings; slices.ContainsFunc(f, func(f model.HealthFinding) bool { return f.Kind == "lost" }) {
		t.Errorf("findings %+v", f)
	}
	if left := held(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	must(t, os.WriteFile(path, []byte(small), 0o640))
	if f := backendtest.Health(t, s).Findings; slices.ContainsFunc(f, func(f model.HealthFinding) bool { return f.Kind == "lost" }) {
		t.Errorf("a change long after: %+v", f)
	}
}

// TestErasedDrafts: an erasure must reach the text of a watched write, and of a lost one.
func TestErasedDrafts(t *testing.T) {
	path, state, at := write(t, small), filepath.Join(t.TempDir(), "memdesk"), clock.NewFake(time.Now())
	s, err := Open(t.Context(), Config{Name: "g", Path: path, Locks: filepath.Join(state, "locks"), Clock: at})
	must(t, err)
	defer s.Close()
	finish := slowServer(t, path)
	for _, id := range []string{"Ada", "about Ada", "tea"} {
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: "- as " + id + " says"})
		must(t, err)
	}
	erase := func(want int) {
		t.Helper()
		n, err := drafts.New(filepath.Join(state, "edit"), at, nil).Erase(func(name string, text []byte) bool {
			return strings.Contains(name, "Ada") || strings.Contains(string(text), "Ada")
		})
		if err != nil || n != want {
			t.Errorf("%d erased, want %d; %v", n, want, err)
		}
	}
	erase(2)
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "Omar", Mode: model.Replace, Content: "- met Ada"})
	must(t, err)
	finish()
	_ = backendtest.Health(t, s)
	erase(1)
	must(t, filepath.WalkDir(state, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.Contains(p, "Ada") || strings.Contains(content(t, p), "Ada")) {
			t.Errorf("%s still names the person", p)
		}
		return err
	}))
}
