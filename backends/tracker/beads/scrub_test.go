package beads_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/tracker/beads"
	"memdesk/model"
)

func itemsResult(t *testing.T, m model.Maintainer, req model.ScrubRequest) model.LayerResult {
	t.Helper()
	res, err := m.Scrub(t.Context(), req)
	must(t, err)
	for _, r := range res {
		if r.Layer == "issues.jsonl" {
			return r
		}
	}
	t.Fatalf("issues.jsonl is in no result: %+v", res)
	return model.LayerResult{}
}

// TestScrubTakesOutWhatOthersSay must remove the references to removed items and nothing else, byte for byte.
func TestScrubTakesOutWhatOthersSay(t *testing.T) {
	const (
		gone  = `{"issue_id":"x-1","depends_on_id":"x-9","type":"blocks"}`
		other = `{ "depends_on_id":"x-3", "n":1.50e3 }`
		third = `["odd"]`
	)
	for _, tt := range []struct{ name, have, want string }{
		{"the first", `{"id":"x-1", "dependencies" : [ ` + gone + ` , ` + other + `  ,` + third + ` ],"z":1}`, `{"id":"x-1", "dependencies" : [ ` + other + `  ,` + third + ` ],"z":1}`},
		{"between", `{"id":"x-1","dependencies":[` + other + ` , ` + gone + `,` + gone + ` ,  ` + third + `]}`, `{"id":"x-1","dependencies":[` + other + ` ,  ` + third + `]}`},
		{"the last", `{"id":"x-1","dependencies":[` + other + `,` + gone + ` ]}`, `{"id":"x-1","dependencies":[` + other + ` ]}`},
		{"the only one", `{"id":"x-1","dependencies":[` + gone + `],"z":"` + "\xff" + `"}`, `{"id":"x-1","z":"` + "\xff" + `"}`},
		{"beside an empty array", `{"id":"x-1","dependencies":[[],` + gone + `]}`, `{"id":"x-1","dependencies":[[]]}`},
		{"its own side", `{"id":"x-1","dependencies":[{"issue_id":"x-9","depends_on_id":"x-3"},` + other + `]}`, `{"id":"x-1","dependencies":[` + other + `]}`},
		{"a parent", `{"id":"x-1","parent":"x-9","title":"t"}`, `{"id":"x-1","title":"t"}`},
		{"an id that names the person", `{"id":"x-1","dependencies":[{"depends_on_id":"falk-1"},` + other + `]}`, `{"id":"x-1","dependencies":[` + other + `]}`},
		{"nothing to take", `{"id":"x-1","dependencies":[ ` + other + ` ],"parent":"x-90"}`, `{"id":"x-1","dependencies":[ ` + other + ` ],"parent":"x-90"}`},
	} {
		rest := "broken x\r\n" + `{"id":"x-3"}` + "\r\n"
		s, dir := repo(t, map[string]string{"issues.jsonl": rest + tt.have + "\n\n" + `{"id":"x-4"}`})
		req := model.ScrubRequest{Removed: []string{"x-9"}, Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("falk")) }}
		res := itemsResult(t, s.Maintainer, req)
		if res.Verdict != model.VerdictClean || (res.Rows > 0) != (tt.have != tt.want) {
			t.Errorf("%s: %+v", tt.name, res)
		}
		if got, want := content(t, filepath.Join(dir, "issues.jsonl")), rest+tt.want+"\n\n"+`{"id":"x-4"}`; got != want {
			t.Errorf("%s:\n%q, want\n%q", tt.name, got, want)
		}
		if again := itemsResult(t, s.Maintainer, req); again.Rows != 0 {
			t.Errorf("%s, again: %+v", tt.name, again)
		}
	}
}

// TestScrubLeavesWhatIsStillTrue: an id in use again, a text that mentions the removed item, an
// undecided merge, bd's own export.
func TestScrubLeavesWhatIsStillTrue(t *testing.T) {
	const line = `{"id":"x-1","dependencies":[{"depends_on_id":"x-9"}]}` + "\n"
	for _, tt := range []struct {
		name, text string
		want       model.Verdict
		says       string
	}{
		{"the id is there again", line + `{"id":"x-9"}` + "\n", model.VerdictResidue, "2 lines"},
		{"a text", `{"id":"x-1","notes":["x-9"]}` + "\n", model.VerdictResidue, "1 lines"},
		{"an undecided merge", line + "<<<<<<< HEAD\n", model.VerdictFailed, "merge markers"},
	} {
		s, dir := repo(t, map[string]string{"issues.jsonl": tt.text})
		res := itemsResult(t, s.Maintainer, model.ScrubRequest{Removed: []string{"x-9"}})
		if res.Verdict != tt.want || !strings.Contains(res.Reason, tt.says) || res.Rows != 0 {
			t.Errorf("%s: %+v", tt.name, res)
		}
		if got := content(t, filepath.Join(dir, "issues.jsonl")); got != tt.text {
			t.Errorf("%s: the file holds %q", tt.name, got)
		}
	}
	_, dir := repo(t, map[string]string{"issues.jsonl": line, "metadata.json": "{}"})
	s, err := beads.Open(t.Context(), beads.Config{Path: dir, Port: "cli", Command: fakeBD(t)})
	must(t, err)
	res := itemsResult(t, s.Maintainer, model.ScrubRequest{Removed: []string{"x-9"}})
	if res.Verdict != model.VerdictResidue || content(t, filepath.Join(dir, "issues.jsonl")) != line {
		t.Errorf("bd's export: %+v", res)
	}
	if _, err := os.Stat(filepath.Join(dir, "deps.jsonl")); err == nil {
		t.Error("a deps.jsonl was made")
	}
}

// TestMembersThatAreNoField: a person in a member that is no field must be found in the item, and taken out of
// its line: a duplicate that does not count, and a name that front matter cannot contain.
func TestMembersThatAreNoField(t *testing.T) {
	for _, tt := range []struct{ have, want string }{
		{`{"id":"x-1","title":"by falk","title":"t"}`, `{"id":"x-1","title":"by [erased]","title":"t"}`},
		{`{"id":"x-1","title":"t","seen by":"falk"}`, `{"id":"x-1","title":"t","seen by":"[erased]"}`},
		{`{"id":"x-1","title":"t","x":"falk","x":1}`, `{"id":"x-1","title":"t","x":"[erased]","x":1}`},
	} {
		s, dir := repo(t, map[string]string{"issues.jsonl": tt.have + "\n"})
		it, err := s.Browser.Read(t.Context(), "x-1")
		must(t, err)
		if !strings.Contains(fmt.Sprint(it.Meta), "falk") {
			t.Errorf("%s: the item shows %+v", tt.have, it.Meta)
		}
		itemsResult(t, s.Maintainer, model.ScrubRequest{Edited: []string{"x-1"},
			Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("falk")) },
			Redact:   func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("falk"), []byte("[erased]")) }})
		if got := content(t, filepath.Join(dir, "issues.jsonl")); got != tt.want+"\n" {
			t.Errorf("the line is %s", got)
		}
	}
}

// TestScrubOfAnotherExport: a removed item's line goes, and another item's stays without what it says of the
// subject and of the removed item.
func TestScrubOfAnotherExport(t *testing.T) {
	const (
		removed   = `{"id":"x-9","title":"old"}` + "\n"
		bystander = `{"id":"x-2", "title":"two","dependencies":[{"issue_id":"x-2","depends_on_id":"x-9"},{"issue_id":"x-2","depends_on_id":"x-3"}],"owner":"falk"}` + "\r\n"
		left      = `{"id":"x-2", "title":"two","dependencies":[{"issue_id":"x-2","depends_on_id":"x-3"}],"owner":"-"}` + "\r\n"
		mentions  = `{"id":"x-3","notes":["x-9"]}` + "\n"
		record    = `{"id":"int-1","title":"t","issue_id":"x-9"}` + "\n"
	)
	for _, tt := range []struct {
		file, text, want string
		verdict          model.Verdict
	}{
		{"issues.jsonl.bak", removed + bystander, left, model.VerdictClean},
		{"beads.jsonl", bystander + removed, left, model.VerdictClean},
		{"beads.jsonl", mentions + removed, mentions, model.VerdictResidue},
		{"interactions.jsonl", record, "", model.VerdictClean},
	} {
		s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"x-2"}` + "\n", tt.file: tt.text})
		res, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"x-9"}, Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("falk")) },
			Redact: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("falk"), []byte("-")) }})
		must(t, err)
		if got := content(t, filepath.Join(dir, tt.file)); got != tt.want {
			t.Errorf("%s holds %q, want %q", tt.file, got, tt.want)
		}
		for _, r := range res {
			if r.Layer == tt.file && r.Verdict != tt.verdict {
				t.Errorf("%+v, want %s", r, tt.verdict)
			}
		}
	}
}

// TestScrubBesideAWriter: what another program writes in place while the scrub works must stay.
func TestScrubBesideAWriter(t *testing.T) {
	const was, now = `{"blockerId":"x-9","blockedId":"x-1"}` + "\n" + `{"blockerId":"x-1","blockedId":"x-2"}` + "\n", `{"blockerId":"x-9","blockedId":"x-1"}` + "\n" + `{"blockerId":"x-1","blockedId":"x-3"}` + "\n"
	s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1"}` + "\n", "deps.jsonl": was})
	asked := 0
	_, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"x-9"}, May: func(string, []byte) bool {
		if asked++; asked == 1 {
			must(t, os.WriteFile(filepath.Join(dir, "deps.jsonl"), []byte(now), 0o644))
		}
		return true
	}})
	must(t, err)
	if got, want := content(t, filepath.Join(dir, "deps.jsonl")), `{"blockerId":"x-1","blockedId":"x-3"}`+"\n"; got != want {
		t.Errorf("deps.jsonl holds %q, want %q", got, want)
	}
}
