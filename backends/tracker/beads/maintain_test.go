package beads_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/tracker"
	"memdesk/backends/tracker/beads"
	"memdesk/internal/gitlog/gitlogtest"
	"memdesk/model"
)

// repo writes files below .beads and opens the store.
func repo(t *testing.T, files map[string]string) (model.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".beads")
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir})
	must(t, err)
	return s, dir
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// TestPairsThatAreNoFile: a deps.jsonl that is no regular file is a finding. The items are read, and nothing is written.
func TestPairsThatAreNoFile(t *testing.T) {
	for name, mk := range map[string]func(path string) error{
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink("/etc/hostname", path) },
	} {
		s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1","title":"a"}` + "\n"})
		must(t, mk(filepath.Join(dir, "deps.jsonl")))
		if got := read(t, s, "x-1"); got.Title != "a" {
			t.Errorf("%s: %+v", name, got)
		}
		if st := backendtest.Health(t, s); !st.OK || len(st.Findings) == 0 || !strings.Contains(st.Findings[0].Message, "deps.jsonl is not a regular file") {
			t.Errorf("%s: health = %+v", name, st)
		}
		if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x-1"}); !errors.Is(err, model.Conflict) {
			t.Errorf("%s: a removal: %v", name, err)
		}
	}
}

const merge = `{"id":"x-1","title":"before"}
<<<<<<< HEAD
{"id":"x-2","title":"ours"}
=======
{"id":"x-2","title":"theirs"}
>>>>>>> origin/main
{"id":"x-3","title":"one"}
{"id":"x-3","title":"two"}
`

func TestUndecidedMergeIsReportedAndNotWritten(t *testing.T) {
	s, dir := repo(t, map[string]string{"issues.jsonl": merge})
	got, err := s.Conflicts.StoreConflicts(t.Context())
	must(t, err)
	if len(got) != 2 || got[0].BaseID != "x-2" || got[0].CopyID != "x-2#2" || got[0].Tool != "git" || got[1].CopyID != "x-3#2" || got[1].BaseID != "x-3" {
		t.Fatalf("conflicts = %+v", got)
	}
	for _, c := range got {
		if _, err := s.Browser.Read(t.Context(), c.CopyID); err != nil {
			t.Errorf("the copy %q: %v", c.CopyID, err)
		}
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x-1", Mode: model.Replace, Content: "text"})
	if !errors.Is(err, model.Conflict) || !strings.Contains(err.Error(), "lines 2, 4, 6") {
		t.Errorf("a write into an undecided merge: %v", err)
	}
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x-1"})
	if !errors.Is(err, model.Conflict) {
		t.Errorf("a removal from an undecided merge: %v", err)
	}
	if content(t, filepath.Join(dir, "issues.jsonl")) != merge {
		t.Error("the file was changed")
	}
	if st := backendtest.Health(t, s); st.OK || !strings.Contains(st.Message, "merge markers") {
		t.Errorf("health = %+v", st)
	}
}

// TestMarkersWithoutItems: a marker stops every write, and its conflict names its file, wherever it stands.
func TestMarkersWithoutItems(t *testing.T) {
	const one, two = `{"id":"x-1","title":"a"}` + "\n", `{"id":"x-2","title":"b"}` + "\n"
	const pair = `{"blockerId":"x-1","blockedId":"x-2"}` + "\n"
	for name, c := range map[string]struct{ issues, deps, id, lines string }{
		"pairs":       {one + two, "<<<<<<< HEAD\n" + pair + "=======\n>>>>>>> x\n", "deps.jsonl", "deps.jsonl on lines 1, 3, 4:"},
		"half of one": {one + "=======\n" + two, "", "issues.jsonl", "issues.jsonl on lines 2:"},
		"base alone":  {one + "||||||| base\n" + two, "", "issues.jsonl", "issues.jsonl on lines 2:"},
		"empty":       {one + "<<<<<<< HEAD\n=======\n>>>>>>> x\n" + two, "", "issues.jsonl", "issues.jsonl on lines 2, 3, 4:"},
		"without end": {one + "<<<<<<< HEAD\n" + two, "", "x-2", "issues.jsonl"},
	} {
		s, dir := repo(t, map[string]string{"issues.jsonl": c.issues, "deps.jsonl": c.deps})
		got, err := s.Conflicts.StoreConflicts(t.Context())
		if err != nil || len(got) != 1 || got[0].CopyID != c.id || got[0].BaseID != c.id || !strings.Contains(got[0].Reason, c.lines) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if _, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x-1"}); !errors.Is(err, model.Conflict) || content(t, filepath.Join(dir, "deps.jsonl")) != c.deps {
			t.Errorf("%s: a removal: %v", name, err)
		}
		if st := backendtest.Health(t, s); st.OK {
			t.Errorf("%s: health = %+v", name, st)
		}
	}
}

// TestASetWithoutItsEnd ends where another set begins.
func TestASetWithoutItsEnd(t *testing.T) {
	s, _ := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1","title":"a"}` + "\n<<<<<<< HEAD\n" + `{"id":"x-2","title":"b"}` + "\n<<<<<<< HEAD\n" + `{"id":"x-3","title":"c"}` + "\n=======\n>>>>>>> x\n" + `{"id":"x-4","title":"d"}` + "\n"})
	got, err := s.Conflicts.StoreConflicts(t.Context())
	if err != nil || len(got) != 2 || got[0].CopyID != "x-2" || got[1].CopyID != "x-3" || !strings.Contains(got[0].Reason, "on lines 2 to 2 ") || !strings.Contains(got[1].Reason, "on lines 4 to 7 ") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestUnreadPairsAreTold: a line of deps.jsonl that is no pair is in no list, so a list of hidden entries tells it too;
// an unread line is told by every search that leaves it out.
func TestUnreadPairsAreTold(t *testing.T) {
	s, _ := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1","title":"a"}` + "\n" + `{"id":"x-2","title":"cut`, "deps.jsonl": "no pair\n"})
	for hidden, want := range map[bool]int{false: 2, true: 1} {
		if page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: hidden}); err != nil || len(page.Problems) != want {
			t.Errorf("hidden %t: %q, %v", hidden, page.Problems, err)
		}
	}
	for tier, want := range map[string]string{"": "searched: 2;", "open": "searched: 2;", tracker.TierLine: "searched: 1;"} {
		if res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "cut", Tier: tier}); err != nil || !res.Bounded || !strings.Contains(res.BoundNote, want) {
			t.Errorf("recall in %q: %+v, %v", tier, res, err)
		}
	}
	if res, err := s.Work.WorkItems(t.Context(), model.WorkRequest{}); err != nil || len(res.Problems) != 2 {
		t.Errorf("work: %q, %v", res.Problems, err)
	}
}

// TestUnreadLinesAreNotHealthy: a store that leaves lines out must say so, and be in order again once they are.
func TestUnreadLinesAreNotHealthy(t *testing.T) {
	const good, foreign = `{"id":"x-1","title":"a"}` + "\n", `{"_type":"foreign"}` + "\n"
	s, dir := repo(t, map[string]string{"issues.jsonl": good + foreign})
	if st := backendtest.Health(t, s); st.State != model.HealthOK {
		t.Errorf("lines of another kind: %+v", st)
	}
	must(t, os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(good+"{torn\n"+foreign+`{"title":"no id"}`+"\n"), 0o644))
	st := backendtest.Health(t, s)
	if !st.OK || st.State != model.HealthDegraded || len(st.Findings) != 1 || !strings.Contains(st.Findings[0].Message, ": 2; the first: ") || !strings.Contains(st.Findings[0].Message, "line 2 of issues.jsonl") {
		t.Errorf("health = %+v", st)
	}
	must(t, os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(good), 0o644))
	if st := backendtest.Health(t, s); st.State != model.HealthOK {
		t.Errorf("repaired: %+v", st)
	}
}

func TestScrub(t *testing.T) {
	s, dir := repo(t, map[string]string{
		"issues.jsonl":                   `{"id":"x-1","title":"a"}` + "\n",
		"deps.jsonl":                     `{"blockerId":"x-9","blockedId":"x-1"}` + "\n" + `{"blockerId":"x-1","blockedId":"x-2"}` + "\nbroken\n",
		"interactions.jsonl":             `{"id":"int-1","issue_id":"x-9","prompt":"p"}` + "\r\n" + `{"id":"int-2","prompt":"for Ines Falk"}` + "\n" + `{"id":"int-3","issue_id":"x-90"}`,
		"issues.jsonl.bak":               `{"id":"x-9","title":"old"}` + "\n" + `{"id":"x-1","title":"a"}` + "\n",
		".memdesk-issues.jsonl.tmp.0011": "left by a crash",
		"beads.db":                       "binary",
		"issues.jsonl.gz":                "\x1f\x8b\n" + `"x-9"` + "\n",
		"embeddeddolt/noms":              "binary",
		"metadata.json":                  "{}",
	})
	res, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"x-9"}, Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("Ines Falk")) }})
	must(t, err)
	verdicts := map[string]model.Verdict{}
	for _, r := range res {
		verdicts[r.Layer] = r.Verdict
		if r.Verdict != model.VerdictClean && r.Reason == "" {
			t.Errorf("%s is %s without a reason", r.Layer, r.Verdict)
		}
	}
	for layer, want := range map[string]model.Verdict{
		"issues.jsonl": model.VerdictClean, "deps.jsonl": model.VerdictClean, "interactions.jsonl": model.VerdictClean, "issues.jsonl.bak": model.VerdictClean,
		"beads.db": model.VerdictOutOfScope, "embeddeddolt/": model.VerdictOutOfScope, "metadata.json": model.VerdictOutOfScope,
		"issues.jsonl.gz":                model.VerdictOutOfScope,
		".memdesk-issues.jsonl.tmp.0011": model.VerdictClean,
	} {
		if verdicts[layer] != want {
			t.Errorf("%s: %q, want %q", layer, verdicts[layer], want)
		}
	}
	for name, want := range map[string]string{
		"issues.jsonl":       `{"id":"x-1","title":"a"}` + "\n",
		"deps.jsonl":         `{"blockerId":"x-1","blockedId":"x-2"}` + "\nbroken\n",
		"interactions.jsonl": `{"id":"int-3","issue_id":"x-90"}`,
		"issues.jsonl.bak":   `{"id":"x-1","title":"a"}` + "\n",
		"issues.jsonl.gz":    "\x1f\x8b\n" + `"x-9"` + "\n",
	} {
		if got := content(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".memdesk-issues.jsonl.tmp.0011")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary file is still there: %v", err)
	}
	again, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"x-9"}})
	must(t, err)
	for _, r := range again {
		if r.Rows != 0 {
			t.Errorf("the second scrub removed %d rows of %s", r.Rows, r.Layer)
		}
	}
}

func TestLayersAreRead(t *testing.T) {
	s, dir := repo(t, map[string]string{"issues.jsonl": "{}\n", "backup/old.jsonl": "x\n"})
	must(t, os.Symlink("/etc/hostname", filepath.Join(dir, "link")))
	layers, err := s.Maintainer.Layers(t.Context())
	must(t, err)
	seen := map[string]model.Layer{}
	for _, l := range layers {
		seen[l.ID] = l
		if !l.Readable {
			if _, err := s.Maintainer.OpenLayer(t.Context(), l.ID); err == nil {
				t.Errorf("%s is not readable and opens", l.ID)
			}
			continue
		}
		r, err := s.Maintainer.OpenLayer(t.Context(), l.ID)
		must(t, err)
		b, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		if int64(len(b)) != l.Bytes {
			t.Errorf("%s has %d bytes, said to have %d", l.ID, len(b), l.Bytes)
		}
	}
	if seen["issues.jsonl"].Kind != model.LayerItem || seen["backup/old.jsonl"].Kind != model.LayerDerived || seen["link"].Readable || seen["link"].Reason == "" {
		t.Errorf("layers = %+v", layers)
	}
	for _, id := range []string{"../x", "/etc/passwd", "no-such-file"} {
		if _, err := s.Maintainer.OpenLayer(t.Context(), id); err == nil {
			t.Errorf("layer %q opens", id)
		}
	}
}

// TestLayersRunNothingOfGit: a missing object of a partial clone makes git fetch it, by a command of the
// repository's own configuration.
func TestLayersRunNothingOfGit(t *testing.T) {
	s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1","title":"a"}` + "\n"})
	ran := gitlogtest.Partial(t, filepath.Dir(dir), "HEAD^{tree}")
	_, err := s.Maintainer.Layers(t.Context())
	must(t, err)
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a command of the repository's configuration ran")
	}
}

// TestANewPairStandsWhereItsProgramReads: Foolery reads deps.jsonl alone, bd the line alone.
func TestANewPairStandsWhereItsProgramReads(t *testing.T) {
	const two = `{"id":"x-2","title":"b"}` + "\n"
	for one, want := range map[string]string{
		`{"id":"x-1","title":"a","labels":["wf:state:planning"]}`:               `{"blockerId":"x-1","blockedId":"x-2"}` + "\n",
		`{"id":"x-1","dependencies":[{"depends_on_id":"x-2","type":"tracks"}]}`: "",
		`{"id":"x-1","title":"a","metadata":{"created_by":"ann"}}`:              `{"blockerId":"x-1","blockedId":"x-2"}` + "\n",
		`{"id":"x-1","title":"a","created_by":"ann"}`:                           "",
	} {
		s, dir := repo(t, map[string]string{"issues.jsonl": one + "\n" + two})
		it := read(t, s, "x-2")
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x-2", Mode: model.Replace, Meta: meta(it, "depends", "x-1")})
		must(t, err)
		got, _ := os.ReadFile(filepath.Join(dir, "deps.jsonl"))
		if inside := strings.Contains(content(t, filepath.Join(dir, "issues.jsonl")), `"depends_on_id":"x-1"`); string(got) != want || inside != (want == "") {
			t.Errorf("%s: %q, in the line %t", one, got, inside)
		}
		if got := read(t, s, "x-2"); !slices.Contains(got.Meta, model.Field{Name: "depends", Value: "x-1"}) {
			t.Errorf("depends: %+v", got.Meta)
		}
	}
}

// TestABlockerWithACommaGoes: a list of one id that has a comma is not one of two.
func TestABlockerWithACommaGoes(t *testing.T) {
	s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"a,b","title":"a"}` + "\n" +
		`{"id":"x-2","title":"b","dependencies":[{"issue_id":"x-2","depends_on_id":"a,b","type":"blocks"}]}` + "\n"})
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x-2", Mode: model.Replace, Meta: meta(read(t, s, "x-2"), "depends", "")})
	must(t, err)
	if got := content(t, filepath.Join(dir, "issues.jsonl")); strings.Contains(got, "depends_on_id") {
		t.Errorf("the pair stays: %s", got)
	}
}

// TestAPriorityOfAnotherSpelling: to a reader of JSON 3.0 is the integer 3.
func TestAPriorityOfAnotherSpelling(t *testing.T) {
	for raw, want := range map[string]int{"3.0": 3, "1e0": 1, "2.5": 2, "7": 2, `"1"`: 2, "-0": 0, "1e99": 2} {
		s, _ := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1","title":"a","priority":` + raw + "}\n"})
		if res, err := s.Work.WorkItems(t.Context(), model.WorkRequest{}); err != nil || len(res.Items) != 1 || res.Items[0].Priority != want {
			t.Errorf("%s: %+v, %v", raw, res.Items, err)
		}
	}
}
