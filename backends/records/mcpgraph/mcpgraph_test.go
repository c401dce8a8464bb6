package mcpgraph

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memdesk/backends/backendtest"
	"memdesk/backends/internal/entity"
	"memdesk/backends/records"
	"memdesk/backends/records/recordstest"
	"memdesk/internal/atomicfile"
	"memdesk/internal/testcpu"
	"memdesk/model"
)

var must = recordstest.Must

const sample = `{"type":"entity","name":"Ada","entityType":"person","observations":["likes rye","two\nlines"],"since":1.50}
{"type":"entity","name":"pier/3","entityType":"place","observations":[]}

{"type":"entity","name":"half
{"type":"entity","name":"edge/x","entityType":"trap","observations":["met Ada"], "note":"Ada said"}
{"type":"entity","name":"Ada","entityType":"person","observations":["again"]}
{"type":"entity","name":"bare","entityType":"note"}
{"type":"future","x":1}
{"type":"relation","from":"Ada","to":"pier/3","relationType":"walks/on"}
{"type":"relation","from":"pier/3","to":"nowhere","relationType":"near"}`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g", "memory.jsonl")
	must(t, os.Mkdir(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o640))
	return path
}

func open(t *testing.T, path string) model.Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path, Locks: filepath.Join(t.TempDir(), "memdesk", "locks")})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// TestItems: lines, their items and ids (MG1, MG5).
func TestItems(t *testing.T) {
	s := open(t, write(t, sample))
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	must(t, err)
	var got []string
	for _, h := range page.Items {
		got = append(got, h.Tier+" "+model.EncodeID(h.ID)[:min(len(model.EncodeID(h.ID)), 22)])
	}
	want := []string{"entity Ada", "entity edge%2Fx", "entity pier/3", "relation edge/Ada/walks%2Fon/pi", "relation edge/pier%2F3/near/now",
		"problem problem/", "problem problem/", "problem problem/", "problem problem/"}
	for i := range got {
		if strings.HasPrefix(got[i], "problem ") {
			got[i] = got[i][:16]
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("items %q, want %q", got, want)
	}
}

// TestShapes: a line of another shape than the server writes is a problem, not an entity with less in it.
func TestShapes(t *testing.T) {
	for _, obs := range []string{`null`, `["a",null]`, `["a",1]`, `{"a":1}`, `"a"`} {
		if l := readLine([]byte(`{"type":"entity","name":"a","entityType":"b","observations":` + obs + `}`)); l.why != whyShape {
			t.Errorf("observations %s: %q, %q", obs, l.tier, l.why)
		}
	}
}

// TestBody: observations and their text convert into each other (MG2).
func TestBody(t *testing.T) {
	for _, obs := range [][]string{{}, {"one"}, {""}, {"two\nlines", "- looks like a list\n  and more"}, {"a\n\nb", "c\n"}} {
		got, err := entity.Decode(entity.Encode(obs))
		if err != nil || !slices.Equal(got, obs) {
			t.Errorf("%q comes back as %q, %v", obs, got, err)
		}
	}
	for text, line := range map[string]string{"plain": "line 1", "- a\nb": "line 2", "  x": "line 1", "- a\n-": "line 2"} {
		if _, err := entity.Decode(text); !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestEditKeepsTheRest: only one value of one line changes (MG3).
func TestEditKeepsTheRest(t *testing.T) {
	path := write(t, sample)
	must(t, os.Chmod(path, 0o640)) // whatever the umask is
	s := open(t, path)
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "Ada", Mode: model.Append, Content: "- likes rye\n- new"})
	must(t, err)
	if got, want := content(t, path), strings.Replace(sample, `["likes rye","two\nlines"]`, `["likes rye","two\nlines","new"]`, 1); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %o", info.Mode().Perm())
	}
}

// TestNewLines: new entities follow entities, new relations come last (MG4).
func TestNewLines(t *testing.T) {
	path := write(t, `{"type":"entity","name":"a","entityType":"n","observations":[]}`+"\n"+`{"type":"relation","from":"a","to":"a","relationType":"is"}`+"\n")
	s := open(t, path)
	for _, req := range []model.RetainRequest{
		{Tier: "entity", Key: "b", Mode: model.Replace, Content: "- x"},
		{ID: "edge/a/knows/b", Mode: model.Replace, Content: "a knows b"},
	} {
		_, err := s.Provider.Retain(t.Context(), req)
		must(t, err)
	}
	want := `{"type":"entity","name":"a","entityType":"n","observations":[]}
{"type":"entity","name":"b","entityType":"note","observations":["x"]}
{"type":"relation","from":"a","to":"a","relationType":"is"}
{"type":"relation","from":"a","to":"b","relationType":"knows"}
`
	for _, id := range []string{"foo" + model.Inner + "bar", "edge/a/" + model.Inner + "knows/b"} { // as typed with a needless percent sign
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: "- x"}); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if got := content(t, path); got != want {
		t.Errorf("the file is\n%s", got)
	}
	fresh := filepath.Join(t.TempDir(), "memory.jsonl")
	_, err := open(t, fresh).Provider.Retain(t.Context(), model.RetainRequest{Tier: "entity", Key: "b", Mode: model.Replace, Content: "- x"})
	must(t, err)
	if got := content(t, fresh); got != `{"type":"entity","name":"b","entityType":"note","observations":["x"]}` {
		t.Errorf("a new file is %q", got)
	}
}

// TestForget also removes relations and repeated lines of the name, listed before (MG5, MG6).
func TestForget(t *testing.T) {
	path := write(t, sample)
	s := open(t, path)
	falls, err := s.Falls(t.Context(), []string{"Ada"})
	if err != nil || len(falls) != 2 {
		t.Errorf("falls: %+v, %v", falls, err)
	}
	res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "Ada"})
	if err != nil || res.Removed != 3 {
		t.Errorf("removed %d, %v", res.Removed, err)
	}
	if got := content(t, path); strings.Contains(got, `"name":"Ada"`) || strings.Contains(got, `"from":"Ada"`) || !strings.Contains(got, "{\"type\":\"entity\",\"name\":\"half\n") {
		t.Errorf("the file is\n%s", got)
	}
}

// TestForgetTakesEveryLine: a repeated line, or a malformed one with the name, would still be the
// forgotten item, and the server's own deletion removes it too (MG5, MG6).
func TestForgetTakesEveryLine(t *testing.T) {
	const ada, rel = `{"type":"entity","name":"Ada","entityType":"p","observations":[]}`, `{"type":"relation","from":"Ada","to":"b","relationType":"is"}`
	const other = `{"type":"entity","name":"other","entityType":"p","observations":["Ada"]}`
	const loose = `{"type":"relation","from":"x","to":"y","relationType":"is"}`
	all := strings.Join([]string{rel, ada, other, rel, `{"type":"entity","name":"Ada"}`, loose, `{"type":"relation","to":"Ada"}`, ada, loose, `{"type":"future","name":"Ada"}`}, "\r\n") + "\r\n"
	for id, want := range map[string][]string{"Ada": {other, loose, loose, `{"type":"future","name":"Ada"}`}, "edge/x/is/y": {rel, ada, other, rel, `{"type":"entity","name":"Ada"}`, `{"type":"relation","to":"Ada"}`, ada, `{"type":"future","name":"Ada"}`}} {
		path := write(t, all)
		s := open(t, path)
		falls, err := s.Falls(t.Context(), []string{id})
		must(t, err)
		res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		if n := 10 - len(want); err != nil || res.Removed != int64(n) || len(falls) != n-1 {
			t.Errorf("%s: removed %d with %d named before, want %d; %v", id, res.Removed, len(falls), n, err)
		}
		if got := content(t, path); got != strings.Join(want, "\r\n")+"\r\n" {
			t.Errorf("%s: the file is\n%s", id, got)
		}
		_, err = s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "entity", Key: "new", Mode: model.Replace, Content: "- x"})
		must(t, err)
		if got := content(t, path); strings.Count(got, "\n") != strings.Count(got, "\r\n") {
			t.Errorf("a new line has not the line end of the others:\n%q", got)
		}
	}
}

// TestRestoreInPlace: the entity and then what fell with it, restored in their order, give the file of before.
func TestRestoreInPlace(t *testing.T) {
	entity := func(name string) string {
		return `{"type":"entity","name":"` + name + `","entityType":"p","observations":["x"]}`
	}
	relation := func(from, to string) string {
		return `{"type":"relation","from":"` + from + `","to":"` + to + `","relationType":"knows"}`
	}
	all := strings.Join([]string{entity("Ann"), relation("Zed", "Ann"), entity("Bob"), relation("Ann", "Bob"), "broken", relation("Bob", "Zed"), entity("Ann"),
		relation("Ann", "Ann"), relation("Zed", "Ann"), entity("Zed"), `{"type":"relation","from":"Ann","to":5}`, relation("Bob", "Ann")}, "\n") + "\n"
	for _, id := range []string{"Ann", "Bob", "Zed"} {
		path := write(t, all)
		s := open(t, path)
		falls, err := s.Falls(t.Context(), []string{id})
		must(t, err)
		ids := []string{id}
		for _, f := range falls {
			ids = append(ids, f.ID)
		}
		var back []model.RetainRequest
		for _, id := range ids {
			it, err := s.Browser.Read(t.Context(), id)
			must(t, err)
			rows, err := s.Keep(t.Context(), id)
			must(t, err)
			back = append(back, model.RetainRequest{ID: id, Content: it.Body, Mode: model.Replace, IfMatch: model.Absent, Restore: true, Beside: &model.Beside{Rows: rows}})
		}
		_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		must(t, err)
		for _, req := range back {
			_, err := s.Provider.Retain(t.Context(), req)
			must(t, err)
		}
		if got := content(t, path); got != all {
			t.Errorf("%s: the file is\n%s", id, got)
		}
	}
}

// TestHealth reports lines by number (MG7).
func TestHealth(t *testing.T) {
	s := open(t, write(t, sample))
	text := ""
	for _, f := range backendtest.Examined(t, s).Findings {
		text += f.Message + "\n"
	}
	for _, want := range []string{"line 4 is not JSON: the memory server fails on every call", "line 6 repeats", "line 7 has not the shape", "line 8 is of an unknown type", "2 lines have keys", "1 relations lead"} {
		if !strings.Contains(text, want) {
			t.Errorf("health does not say %q:\n%s", want, text)
		}
	}
}

// TestHealthOfWhatIsNoObject: the server fails on null alone, and ignores other values (MG7).
func TestHealthOfWhatIsNoObject(t *testing.T) {
	s := open(t, write(t, "{\"type\":\"entity\",\"name\":\"bad\xff\",\"entityType\":\"T\",\"observations\":[]}\n[1,2]\nnull\n"))
	text := ""
	for _, f := range backendtest.Examined(t, s).Findings {
		text += f.Message + "\n"
	}
	for _, want := range []string{"line 1 has bytes that are not UTF-8: the memory server reads U+FFFD in their place", "line 2 is not an object: the memory server fails on null, and its next write drops another value"} {
		if !strings.Contains(text, want) {
			t.Errorf("health does not say %q:\n%s", want, text)
		}
	}
}

// TestRepair: the lines' bytes are set aside, and a forgotten line can be restored (MG8).
func TestRepair(t *testing.T) {
	path := write(t, sample)
	s := open(t, path)
	ids, err := s.Repairer.Broken(t.Context())
	if err != nil || len(ids) != 2 {
		t.Fatalf("broken: %q, %v", ids, err)
	}
	name, err := s.Repairer.SetAside(t.Context(), ids)
	must(t, err)
	aside := content(t, filepath.Join(filepath.Dir(path), name))
	if aside != "{\"type\":\"entity\",\"name\":\"half\n{\"type\":\"future\",\"x\":1}\n" || content(t, path) != sample {
		t.Errorf("set aside: %q", aside)
	}
	_, err = s.Repairer.SetAside(t.Context(), ids) // at once, as after one that was killed
	must(t, err)
	it, err := s.Browser.Read(t.Context(), ids[0])
	must(t, err)
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: ids[0]})
	must(t, err)
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: ids[0], Mode: model.Replace, Content: it.Body})
	must(t, err)
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "problem/000000000000", Mode: model.Replace, Content: "x"}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("another line under that id: %v", err)
	}
}

// TestWriters: no write is lost among concurrent writers with their own handles (MG9).
func TestWriters(t *testing.T) {
	path := write(t, sample)
	locks := filepath.Join(t.TempDir(), "memdesk", "locks")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			s, err := Open(context.Background(), Config{Path: path, Locks: locks})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Provider.Retain(context.Background(), model.RetainRequest{Tier: "entity", Key: fmt.Sprint("w", i), Mode: model.Replace, Content: "- x"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(content(t, path), `"name":"w`); got != 20 {
		t.Errorf("%d of 20 writes are there", got)
	}
}

// TestLostWrite: a server that writes its older version over memdesk's write undoes it, and that must
// be reported (MG10).
func TestLostWrite(t *testing.T) {
	path := write(t, sample)
	f, err := openFile(path, filepath.Join(t.TempDir(), "memdesk", "locks"))
	must(t, err)
	defer f.Close()
	must(t, f.View(t.Context(), "test", func(records.Tx) error { return nil }))
	f.mu.Lock() // held as by a change
	defer f.mu.Unlock()
	ours := strings.Replace(sample, "likes rye", "likes tea", 1)
	must(t, os.WriteFile(path, []byte(strings.Replace(sample, "met Ada", "met her", 1)), 0o640)) // the server's
	if err := f.readBack(t.Context(), "retain", []byte(sample), []byte(ours), "", true); !errors.Is(err, model.Conflict) {
		t.Errorf("a lost write says %v", err)
	}
	must(t, os.WriteFile(path, []byte(ours+"\n"), 0o640))
	if err := f.readBack(t.Context(), "retain", []byte(sample), []byte(ours), "", true); err != nil {
		t.Errorf("a write that stands says %v", err)
	}
	_, without, _ := strings.Cut(sample, "\n") // the first line is forgotten, and the server writes it again
	must(t, os.WriteFile(path, []byte(sample+"\n"), 0o640))
	if err := f.readBack(t.Context(), "forget", []byte(sample), []byte(without), "", true); !errors.Is(err, model.Conflict) {
		t.Errorf("a forget that was undone says %v", err)
	}
}

// TestScrub redacts an edited line beside its observations, and removes leftovers.
func TestScrub(t *testing.T) {
	path := write(t, sample)
	dir, base := filepath.Split(path)
	left := []string{base + ".0123456789abcdef0123456789abcdef.tmp", base + ".aside-20261130T120000.000001Z.jsonl", "." + base + ".aside-20261130T120000.000001Z.jsonl.tmp.0123456789abcdef"}
	for _, name := range left {
		must(t, os.WriteFile(dir+name, []byte("Ada"), 0o600))
	}
	s := open(t, path)
	_, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Edited: []string{"edge" + model.Inner + "/x"},
		Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") },
		Redact:   func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "Ada", "[erased]")) }})
	must(t, err)
	if got := content(t, path); !strings.Contains(got, `"note":"[erased] said"`) || !strings.Contains(got, `"met Ada"`) {
		t.Errorf("the file is\n%s", got)
	}
	for _, name := range left {
		if _, err := os.Stat(dir + name); !os.IsNotExist(err) {
			t.Errorf("%s of an interrupted write or repair is still there: %v", name, err)
		}
	}
}

// TestCopies: copies beside the file and other versions' graphs in npm's cache are listed and can be read,
// and none is cleaned.
func TestCopies(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "_npx")
	const tail = "node_modules/@modelcontextprotocol/server-memory/dist"
	for _, f := range []string{"aa/" + tail + "/memory.jsonl", "aa/" + tail + "/memory.jsonl.bak", "aa/" + tail + "/memory.json", "aa/" + tail + "/index.js", "bb/" + tail + "/memory.jsonl", "cc/" + tail + "/index.js"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(cache, f)), 0o700))
		must(t, os.WriteFile(filepath.Join(cache, f), []byte(sample), 0o600))
	}
	s := open(t, filepath.Join(cache, "aa", tail, "memory.jsonl"))
	layers, err := s.Maintainer.Layers(t.Context())
	must(t, err)
	var got []string
	for _, l := range layers {
		got = append(got, string(l.Kind)+" "+l.ID)
		if l.Readable {
			r, err := s.Maintainer.OpenLayer(t.Context(), l.ID)
			must(t, err)
			must(t, r.Close())
		}
	}
	if want := []string{"derived memory.jsonl", "external memory.json", "external memory.jsonl.bak", "external npx bb", "external free blocks, backups, transcripts"}; !slices.Equal(got, want) {
		t.Errorf("layers %q, want %q", got, want)
	}
	_, err = s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") }})
	must(t, err)
	if got := content(t, filepath.Join(cache, "bb", tail, "memory.jsonl")); got != sample {
		t.Error("the other version's graph was changed")
	}
	if _, err := s.Maintainer.OpenLayer(t.Context(), "index.js"); !errors.Is(err, model.NotFound) {
		t.Errorf("the server's own code opens as a layer: %v", err)
	}
}

// TestCutOff: a last line that has no newline and is not JSON must be recognised as truncated.
func TestCutOff(t *testing.T) {
	text := ""
	for _, f := range backendtest.Examined(t, open(t, write(t, sample+`{"type":"ent`))).Findings {
		text += f.Message + "\n"
	}
	if !strings.Contains(text, "is the last one and is cut off") {
		t.Errorf("health says %s", text)
	}
}

// TestForeignFile: a foreign file is opened read-only, and the reason names its first foreign line.
func TestForeignFile(t *testing.T) {
	s := open(t, write(t, "\n{\"a\":1}\n"))
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "line 2") {
		t.Errorf("read-only %v: %s", s.ReadOnly, s.ReadOnlyReason)
	}
}

// TestBrokenLinesAlone: a file in which memdesk's removal left only broken lines is not foreign: the
// next memdesk must restore the entity and repair the file. Other broken lines in the same file make it
// foreign again.
func TestBrokenLinesAlone(t *testing.T) {
	const ada, broken = `{"type":"entity","name":"Ada","entityType":"note","observations":["x"]}`, `{"type":"entity","name":"half`
	path, locks := write(t, broken+"\n"+ada), filepath.Join(t.TempDir(), "memdesk", "locks")
	process := func() model.Store {
		s, err := Open(t.Context(), Config{Path: path, Locks: locks})
		must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	forget := func(id string) {
		t.Helper()
		_, err := process().Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		must(t, err)
	}
	forget("Ada")
	_, err := process().Provider.Retain(t.Context(), model.RetainRequest{ID: "Ada", Mode: model.Replace, Content: "- x"})
	if err != nil || !strings.Contains(content(t, path), ada) {
		t.Errorf("the undo: %v\n%s", err, content(t, path))
	}
	forget("Ada")
	ids, err := process().Repairer.Broken(t.Context())
	if err != nil || len(ids) != 1 {
		t.Fatalf("broken: %q, %v", ids, err)
	}
	forget(ids[0])
	if got := content(t, path); got != "" {
		t.Errorf("after the repair: %q", got)
	}
	must(t, os.WriteFile(path, []byte(`{"type":"entity","name":"another`), 0o640))
	if s := process(); !s.ReadOnly {
		t.Error("other bytes are taken for those that memdesk left")
	}
}

// TestGraph walks relations and skips missing ends.
func TestGraph(t *testing.T) {
	s := open(t, write(t, sample))
	near, err := s.Graph.Neighbours(t.Context(), "Ada", model.GraphRequest{Depth: 2})
	if err != nil || len(near) != 1 || near[0].ID != "pier/3" {
		t.Errorf("neighbours %+v, %v", near, err)
	}
	var wide strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&wide, `{"type":"entity","name":"n%d","entityType":"x","observations":[]}`+"\n"+`{"type":"relation","from":"n0","to":"n%d","relationType":"knows"}`+"\n", i, i)
	}
	if _, _, err := open(t, write(t, wide.String())).Graph.Subgraph(t.Context(), []string{"n0"}, 1); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a subgraph of 10,001 items: %v", err)
	}
	items, links, err := s.Graph.Subgraph(t.Context(), []string{"Ada"}, 1)
	if err != nil || len(items) != 2 || len(links) != 1 {
		t.Errorf("subgraph %+v %+v, %v", items, links, err)
	}
}

// TestReadingLeavesNothing: reading makes and touches no file.
func TestReadingLeavesNothing(t *testing.T) {
	path := write(t, sample)
	s := open(t, path)
	_, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "RYE"})
	must(t, err)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || content(t, path) != sample {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

// TestAWriteBetween: the server's write between a change's read and write must stay, and so must the
// change; a change that is then refused must leave the server's version (MG9).
func TestAWriteBetween(t *testing.T) {
	for name, refuse := range map[string]bool{"made again": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			path := write(t, sample)
			f, err := openFile(path, filepath.Join(t.TempDir(), "memdesk", "locks"))
			must(t, err)
			defer f.Close()
			const theirs, mine = `{"type":"entity","name":"theirs","entityType":"t","observations":[]}`, `{"type":"entity","name":"mine","entityType":"t","observations":[]}`
			runs := 0
			err = f.Change(t.Context(), "test", func(tx records.Tx) error {
				g := tx.(graphTx)
				if runs++; runs == 1 {
					must(t, os.WriteFile(path, []byte(strings.TrimSuffix(sample, "\n")+"\n"+theirs), 0o640))
				} else if refuse {
					return model.Errorf(model.Conflict, "test", "it changed")
				}
				return g.InsertLine(len(g.lines), []byte(mine))
			})
			got := content(t, path)
			if runs != 2 || !strings.Contains(got, theirs) || strings.Contains(got, mine) == refuse || (err != nil) != refuse {
				t.Errorf("after %d runs, %v:\n%s", runs, err, got)
			}
		})
	}
}

// TestAWriteOverAWrite: the exchange returns a server's write, and the server writes again over the
// exchanged file before the next exchange. Both of its writes must stay, with or without the change.
func TestAWriteOverAWrite(t *testing.T) {
	one := func(name, obs string) string {
		return fmt.Sprintf(`{"type":"entity","name":"%s","entityType":"t","observations":["%s"]}`, name, obs)
	}
	for name, c := range map[string]struct {
		refuse        bool
		first, second func(string) string // the server's two writes
		want          []string
	}{
		"adds": {false, func(s string) string { return s + "\n" + one("first", "") }, func(s string) string { return s + "\n" + one("second", "") },
			[]string{one("shared", "a"), one("first", ""), one("second", ""), one("mine", "")}},
		"a refused change": {true, func(s string) string { return s + "\n" + one("first", "") }, func(s string) string { return s + "\n" + one("second", "") },
			[]string{one("shared", "a"), one("first", ""), one("second", "")}},
		"observations of one entity": {false, func(s string) string { return strings.Replace(s, `"a"`, `"a","b"`, 1) }, func(s string) string { return strings.Replace(s, `"a"`, `"a","c"`, 1) },
			[]string{one("shared", `a","b","c`), one("mine", "")}},
		"a deletion": {false, func(string) string { return one("other", "") }, func(s string) string { return s + "\n" + one("second", "") },
			[]string{one("other", ""), one("second", ""), one("mine", "")}},
		"a write of what was there before": {false, func(s string) string { return s + "\n" + one("first", "") }, func(string) string { return one("shared", "a") + "\n" + one("first", "") + "\n" + one("second", "") },
			[]string{one("shared", "a"), one("first", ""), one("second", ""), one("mine", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, one("shared", "a"))
			f, err := openFile(path, filepath.Join(t.TempDir(), "memdesk", "locks"))
			must(t, err)
			defer f.Close()
			swaps, aside := 0, path+".aside"
			f.swap = func(path string, want, data []byte) ([]byte, string, error) {
				switch swaps++; swaps {
				case 1:
					came := []byte(c.first(string(want)))
					must(t, os.WriteFile(path, data, 0o640))
					must(t, os.WriteFile(aside, came, 0o640))
					return came, aside, nil
				case 2:
					if _, err := os.Stat(aside); err != nil {
						t.Errorf("the server's write is in no file: %v", err)
					}
					must(t, os.WriteFile(path, []byte(c.second(string(want))), 0o640))
				}
				return atomicfile.Swap(path, want, data)
			}
			runs := 0
			err = f.Change(t.Context(), "test", func(tx records.Tx) error {
				if runs++; runs > 1 && c.refuse {
					return model.Errorf(model.Conflict, "test", "it changed")
				}
				return tx.(graphTx).InsertLine(len(tx.(graphTx).lines), []byte(one("mine", "")))
			})
			if _, missing := os.Stat(aside); missing == nil {
				t.Error("the displaced file stays, though its content is in the file")
			}
			got := strings.Split(content(t, path), "\n")
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) || (err != nil) != c.refuse {
				t.Errorf("%v:\n%s\nwanted\n%s", err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestAServerThatWritesAllTheTime: a change that may still be in the file must not be told as one that was not
// made.
func TestAServerThatWritesAllTheTime(t *testing.T) {
	f, err := openFile(write(t, sample), filepath.Join(t.TempDir(), "memdesk", "locks"))
	must(t, err)
	defer f.Close()
	swaps := 0
	f.swap = func(path string, want, data []byte) ([]byte, string, error) {
		swaps++
		must(t, os.WriteFile(path, data, 0o640))
		return fmt.Appendf(nil, `{"type":"entity","name":"theirs %d","entityType":"t","observations":[]}`, swaps), "", nil
	}
	err = f.Change(t.Context(), "test", func(tx records.Tx) error {
		return tx.(graphTx).InsertLine(len(tx.(graphTx).lines), []byte(`{"type":"entity","name":"mine","entityType":"t","observations":[]}`))
	})
	if err == nil || model.Unchanged(model.Wrap("retain", err)) {
		t.Errorf("%v", err)
	}
}

// TestAWriteThatMayNotLast must be told, though it is in the file.
func TestAWriteThatMayNotLast(t *testing.T) {
	path := write(t, sample)
	f, err := openFile(path, filepath.Join(t.TempDir(), "memdesk", "locks"))
	must(t, err)
	defer f.Close()
	f.swap = func(path string, want, data []byte) ([]byte, string, error) {
		must(t, os.WriteFile(path, data, 0o640))
		return want, "", fmt.Errorf("%w: the disk fails", atomicfile.ErrUnsynced)
	}
	mine := `{"type":"entity","name":"mine","entityType":"t","observations":[]}`
	err = f.Change(t.Context(), "test", func(tx records.Tx) error {
		return tx.(graphTx).InsertLine(len(tx.(graphTx).lines), []byte(mine))
	})
	if err == nil || model.Unchanged(err) || !strings.Contains(content(t, path), mine) {
		t.Errorf("%v: %s", err, content(t, path))
	}
}

// TestIndexFollows: after any change of the file, lines and index must equal those of a fresh read,
// with repeated names that come and go.
func TestIndexFollows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var lines []string
	one := func() string {
		switch n := rnd.IntN(5); rnd.IntN(7) {
		case 0:
			return fmt.Sprintf(`{"type":"relation","from":"e%d","to":"e%d","relationType":"r"}`, n, n+1)
		case 1:
			return fmt.Sprintf("broken %d", n%2)
		case 2:
			return ""
		case 3:
			return fmt.Sprintf(`{"type":"entity","name":"e%d","entityType":"t"}`, n)
		default:
			return fmt.Sprintf(`{"type":"entity","name":"e%d","entityType":"t","observations":["%d"]}`, rnd.IntN(40), rnd.IntN(3))
		}
	}
	index := func(f *file) (out []string) {
		must(t, f.View(t.Context(), "test", func(tx records.Tx) error {
			return tx.Each(`SELECT tier || '|' || key || '|' || body || '|' || name || '|' || origin || '|' || target || '|' || CASE tier WHEN 'problem' THEN line ELSE '' END || '|' || why FROM items ORDER BY 1`, nil, func(scan func(...any) error) error {
				var row string
				err := scan(&row)
				out = append(out, row)
				return err
			})
		}))
		return out
	}
	path := write(t, "")
	f, err := openFile(path, "")
	must(t, err)
	defer f.Close()
	spliced := 0
	for range 400 {
		switch at := rnd.IntN(len(lines) + 1); {
		case rnd.IntN(3) == 0 && at < len(lines):
			lines = slices.Delete(lines, at, min(at+1+rnd.IntN(3), len(lines)))
		case rnd.IntN(3) == 0 && at < len(lines):
			lines[at] = one()
		default:
			lines = slices.Insert(lines, at, one())
		}
		data := []byte(strings.Join(lines, "\n"))
		if _, _, _, ok := splice(f.lines, data); ok && len(f.lines) > 0 {
			spliced++
		}
		must(t, os.WriteFile(path, data, 0o600))
		f.read = false
		got := index(f)
		other, err := openFile(path, "")
		must(t, err)
		want := index(other)
		must(t, other.Close())
		if !slices.Equal(got, want) {
			t.Fatalf("of\n%s\nthe index is\n%s\nand read anew\n%s", data, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for i, l := range f.lines {
			if w := other.lines[i]; l.id != w.id || l.number != w.number || l.why != w.why || string(l.raw) != string(w.raw) {
				t.Fatalf("line %d is %+v, read anew %+v", i+1, l, w)
			}
		}
	}
	if spliced < 100 {
		t.Errorf("%d of 400 changes were read as such", spliced)
	}
}

// TestCarryKeepsRepeatedLines: a line that stands twice with the same bytes is in all three versions.
func TestCarryKeepsRepeatedLines(t *testing.T) {
	e := func(name string) string {
		return `{"type":"entity","name":"` + name + `","entityType":"t","observations":[]}`
	}
	for name, twice := range map[string]string{"not JSON": "bad", "an entity": e("twin")} {
		version := func(lines ...string) []byte {
			return []byte(strings.Join(append(lines, twice, twice, twice), "\n"))
		}
		got := carry(version(e("a")), version(e("a"), e("b")), version(e("a"), e("c")))
		if strings.Count(string(got), twice) != 3 || !strings.Contains(string(got), `"b"`) || !strings.Contains(string(got), `"c"`) {
			t.Errorf("%s: %s", name, got)
		}
		if undone(version(e("a")), version(e("a"), e("b")), version(e("a"), e("b"), e("c"))) {
			t.Errorf("%s: a change that is there counts as undone", name)
		}
	}
}

// TestCarryInALargeEntity: the time may grow with the number of observations only.
func TestCarryInALargeEntity(t *testing.T) {
	var many []string
	for i := range 100_000 {
		many = append(many, fmt.Sprintf(`"fact %d"`, i))
	}
	version := func(more ...string) []byte {
		return []byte(`{"type":"entity","name":"a","entityType":"t","observations":[` + strings.Join(append(many, more...), ",") + `]}`)
	}
	var got []byte
	if took := testcpu.Spent(func() { got = carry(version(), version(`"mine"`), version(`"theirs"`)) }); took > 10*time.Second {
		t.Errorf("it takes %v", took)
	}
	if want := version(`"theirs"`, `"mine"`); string(got) != string(want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// TestAnEntityWithoutAName: no id is empty, so the line is a problem, which can be read and forgotten.
func TestAnEntityWithoutAName(t *testing.T) {
	s := open(t, write(t, `{"type":"entity","name":"","entityType":"note","observations":["asks for Maren Holt"]}`+"\n"+`{"type":"entity","name":"Ada","entityType":"person","observations":["sails"]}`))
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	must(t, err)
	for _, h := range page.Items {
		if h.ID == "" {
			t.Fatalf("an item has no id: %+v", h)
		}
		if h.Tier != problemTier {
			continue
		}
		it, err := s.Browser.Read(t.Context(), h.ID)
		if must(t, err); !strings.Contains(it.Body, "Maren Holt") {
			t.Errorf("it is read as %q", it.Body)
		}
		if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: h.ID}); err != nil || res.Removed != 1 {
			t.Errorf("forgotten: %+v, %v", res, err)
		}
	}
	if page, err = s.Browser.List(t.Context(), model.PageRequest{}); err != nil || len(page.Items) != 1 {
		t.Errorf("left: %+v, %v", page.Items, err)
	}
}

// TestWhereNothingMayBeWritten: the graph must be read-only and say why, before a change is tried.
func TestWhereNothingMayBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o700)
	s, err := Open(t.Context(), Config{Path: filepath.Join(dir, "memory.jsonl"), Locks: t.TempDir()})
	must(t, err)
	defer s.Close()
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "may not write") || s.Tiers[0].Writable {
		t.Errorf("read-only %v: %q", s.ReadOnly, s.ReadOnlyReason)
	}
}

// TestSomethingElseInTheFilesPlace must neither be waited for nor be read without a bound.
func TestSomethingElseInTheFilesPlace(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link":      func(path string) error { return os.Symlink(path+".else", path) },
		"a huge file": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, sample)
			must(t, os.WriteFile(path+".else", []byte(sample), 0o600))
			f, err := openFile(path, "")
			must(t, err)
			defer f.Close()
			must(t, os.Remove(path))
			must(t, put(path))
			if err := f.View(t.Context(), "test", func(records.Tx) error { return nil }); err == nil {
				t.Error("it was read")
			}
		})
	}
}

// TestDropOfManyLines: the time of a forget must grow with the lines, not with lines times relations.
func TestDropOfManyLines(t *testing.T) {
	f, err := openFile(filepath.Join(t.TempDir(), "memory.jsonl"), t.TempDir())
	must(t, err)
	defer f.index.Close()
	var ids []string
	for i := range 100_000 {
		id := fmt.Sprintf("edge/Ada/knows/%06d", i)
		ids, f.lines = append(ids, id), append(f.lines, line{id: id, tier: relationTier})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // ends the reading of the new file: only the choice of lines is measured
	if took := testcpu.Spent(func() { _ = drop(graphTx{file: f, ctx: ctx}, ids) }); took > 5*time.Second {
		t.Errorf("100,000 lines take %v", took)
	}
}

// TestFallsOfManyRelations: the time of a plan must grow with the relations, not with lines times relations.
func TestFallsOfManyRelations(t *testing.T) {
	const many = 20_000
	ids := []string{"Ada"}
	text := `{"type":"entity","name":"Ada","entityType":"p","observations":[]}` + "\n"
	var lines strings.Builder
	for i := range many {
		ids = append(ids, fmt.Sprintf("edge/Ada/knows/%06d", i), ids[0])
		fmt.Fprintf(&lines, `{"type":"relation","from":"Ada","to":"%06d","relationType":"knows"}`+"\n", i)
	}
	s := open(t, write(t, text+lines.String()))
	var falls []model.Fall
	var err error
	if took := testcpu.Spent(func() { falls, err = s.Falls(t.Context(), ids) }); err != nil || len(falls) != 0 || took > 8*time.Second {
		t.Errorf("%d fall, %v, in %v", len(falls), err, took)
	}
}

// TestAChangeAfterAChange: a change of memdesk's that follows another one within its wait is no loss of it, in whatever
// process; a write of the server's between the two is one.
func TestAChangeAfterAChange(t *testing.T) {
	locks := filepath.Join(t.TempDir(), "memdesk", "locks")
	for name, c := range map[string]struct{ another, server bool }{"in the same process": {}, "in another process": {another: true}, "behind the server": {server: true}} {
		t.Run(name, func(t *testing.T) {
			path := write(t, small)
			open := func() model.Store {
				s, err := Open(t.Context(), Config{Path: path, Locks: locks})
				must(t, err)
				t.Cleanup(func() { _ = s.Close() })
				return s
			}
			first := open()
			second := first
			if c.another {
				second = open()
			}
			finish := slowServer(t, path)
			done := make(chan error)
			go func() {
				_, err := first.Provider.Retain(t.Context(), model.RetainRequest{ID: "new", Mode: model.Replace, Content: "- x"})
				done <- err
			}()
			for !strings.Contains(content(t, path), `"new"`) {
				runtime.Gosched()
			}
			id := "new"
			if c.server {
				finish()
				id = "Omar"
			}
			_, err := second.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
			must(t, err)
			if err := <-done; c.server != errors.Is(err, model.Conflict) || !c.server && err != nil {
				t.Errorf("the first change: %v", err)
			}
		})
	}
}
