package beads_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memdesk/model"
)

// TestRestoreOfAnOddStatus: an edit of an item with a status and a priority that the store would not take is
// undone, and so is its removal.
func TestRestoreOfAnOddStatus(t *testing.T) {
	const line = `{"id":"odd-1","title":"Tea","status":"Open","priority":9,"issue_type":"task"}` + "\n"
	s, dir := repo(t, map[string]string{"issues.jsonl": line})
	was := read(t, s, "odd-1")
	set := func(req model.RetainRequest) {
		t.Helper()
		req.ID, req.Mode = "odd-1", model.Replace
		if _, err := s.Provider.Retain(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	meta := slices.Clone(was.Meta)
	for i, f := range meta {
		switch f.Name {
		case "status":
			meta[i].Value = "open"
		case "priority":
			meta[i].Value = "1"
		}
	}
	back := model.RetainRequest{Content: was.Body, Meta: was.Meta, Restore: true}
	set(model.RetainRequest{Content: was.Body, Meta: meta, IfMatch: was.Revision})
	set(back)
	if got := read(t, s, "odd-1"); got.Revision != was.Revision || got.Tier != was.Tier {
		t.Errorf("undone: %+v, want %+v", got, was)
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "odd-1"}); err != nil {
		t.Fatal(err)
	}
	back.IfMatch = model.Absent
	set(back)
	if got := read(t, s, "odd-1"); got.Revision != was.Revision || got.Tier != was.Tier {
		b, _ := os.ReadFile(filepath.Join(dir, "issues.jsonl"))
		t.Errorf("restored: %+v, want %+v\n%s", got, was, b)
	}
}

// TestRestoreOfAnOddName: other programs give names that no new item may have. A removed item must come back
// under its own.
func TestRestoreOfAnOddName(t *testing.T) {
	for id, line := range map[string]string{
		"memory/door/k":          `{"_type":"memory","key":"door/k","value":"v1"}`,
		"memory/ops/deploy rule": `{"_type":"memory","key":"ops/deploy rule","value":"v1"}`,
		"a/b":                    `{"id":"a/b","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
		"bd 2":                   `{"id":"bd 2","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
		"x#2":                    `{"id":"x#2","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
		"-z":                     `{"id":"-z","title":"Tea","status":"open","priority":1,"issue_type":"task"}`,
	} {
		s, _ := repo(t, map[string]string{"issues.jsonl": line + "\n"})
		was := read(t, s, id)
		if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		req := model.RetainRequest{ID: id, Content: was.Body, Meta: was.Meta, Mode: model.Replace, IfMatch: model.Absent}
		if _, err := s.Provider.Retain(t.Context(), req); err == nil {
			t.Errorf("%s is made anew", id)
		}
		req.Restore = true
		if _, err := s.Provider.Retain(t.Context(), req); err != nil {
			t.Errorf("%s: %v", id, err)
		} else if got := read(t, s, id); got.Revision != was.Revision || got.Body != was.Body {
			t.Errorf("restored: %+v, want %+v", got, was)
		}
	}
}

// TestRestoreOfARepeatedID: the handle of a repeated line is no id. The line comes back in its own bytes and place,
// with the pairs that its twin kept, or not at all.
func TestRestoreOfARepeatedID(t *testing.T) {
	const one, mid, two = `{"id":"x-a","title":"first"}` + "\n", `{"id":"x-b","title":"b"}` + "\n", `{"id":"x-a","title":"second","updated_at":"2026-01-01T00:00:00Z"}` + "\n"
	const deps = `{"blockerId":"x-b","blockedId":"x-a"}` + "\n"
	s, dir := repo(t, map[string]string{"issues.jsonl": one + mid + two + mid, "deps.jsonl": deps})
	forget := func(id string) model.RetainRequest {
		t.Helper()
		it := read(t, s, id)
		kept, err := s.Beside(t.Context(), id)
		must(t, err)
		_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		must(t, err)
		return model.RetainRequest{ID: id, Content: it.Body, Meta: it.Meta, Mode: model.Replace, IfMatch: model.Absent, Restore: true, Beside: &kept}
	}
	back := func(req model.RetainRequest) error {
		_, err := s.Provider.Retain(t.Context(), req)
		return err
	}
	stands := func(want string) {
		t.Helper()
		got := regexp.MustCompile(`"updated_at":"[^"]*"`).ReplaceAllString(content(t, filepath.Join(dir, "issues.jsonl")), `"updated_at":"2026-01-01T00:00:00Z"`)
		if d := content(t, filepath.Join(dir, "deps.jsonl")); got != want || d != deps && want == one+mid+two+mid {
			t.Errorf("%s\nwant %s\npairs %s", got, want, d)
		}
	}
	req := forget("x-a#2")
	must(t, back(req))
	stands(one + mid + two + mid)

	second := forget("x-a#2")
	bare := second
	bare.Beside = nil
	if err := back(bare); !errors.Is(err, model.Conflict) {
		t.Errorf("without its line: %v", err)
	}
	first := forget("x-a")
	if err := back(second); !errors.Is(err, model.Conflict) {
		t.Errorf("before its twin: %v", err)
	}
	stands(mid + mid)
	must(t, back(first))
	must(t, back(second))
}

// TestRestoreOfAnOddLine: other programs write lines that no write of memdesk makes. A removed one comes back in
// its own bytes and place, with its pairs between the lines that are none.
func TestRestoreOfAnOddLine(t *testing.T) {
	const first, last = `{"id":"o-1","title":"first"}` + "\n", `{"id":"o-3","title":"last"}` + "\n"
	const deps = "# ours\n" + `{"blockerId":"o-2","blockedId":"o-3"}` + "\n\n# theirs\n" + `{"blockerId":"o-7","blockedId":"o-8"}` + "\n"
	for _, line := range []string{
		`{"id":"o-2","title":"","status":"in_progress","description":"d"}`,
		`{"id":"o-2","x":1}`,
		`{"id":"o-2","title":"t","priority":"high"}`,
		`{"id":"o-2","title":"t","priority":[1]}`,
		`{"id":"o-2","title":"t","labels":[1,2]}`,
		`{"id":"o-2","title":"t","labels":["a",1,null]}`,
		`{"id":"o-2","title":"t","labels":["wf:state:shipped"]}`,
		`{"id":"o-2","title":"t","status":"In Review"}`,
		`{"id":"o-2","title":"t","status":5}`,
	} {
		s, dir := repo(t, map[string]string{"issues.jsonl": first + line + "\n" + last, "deps.jsonl": deps})
		it := read(t, s, "o-2")
		kept, err := s.Beside(t.Context(), "o-2")
		must(t, err)
		_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "o-2"})
		must(t, err)
		res, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "o-2", Content: it.Body, Meta: it.Meta, Mode: model.Replace, IfMatch: model.Absent, Restore: true, Beside: &kept})
		got := regexp.MustCompile(`,"updated_at":"[^"]*"`).ReplaceAllString(content(t, filepath.Join(dir, "issues.jsonl")), "")
		if d := content(t, filepath.Join(dir, "deps.jsonl")); err != nil || len(res.Warnings) > 0 || got != first+line+"\n"+last || d != deps {
			t.Errorf("%s: %v, %q\n%s%s", line, err, res.Warnings, got, d)
		}
	}
}

// TestRestoreWithoutItsLineIsTold: an item that is made anew has lost what stood beside its document.
func TestRestoreWithoutItsLineIsTold(t *testing.T) {
	s, _ := repo(t, map[string]string{"issues.jsonl": `{"id":"o-1","title":"first"}` + "\n"})
	it := read(t, s, "o-1")
	kept := model.Beside{Lines: []model.BesideLine{{Text: `{"id":"o-1","title":"another"}`}}}
	_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "o-1"})
	must(t, err)
	res, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "o-1", Content: it.Body, Meta: it.Meta, Mode: model.Replace, IfMatch: model.Absent, Restore: true, Beside: &kept})
	if err != nil || len(res.Warnings) != 1 {
		t.Errorf("%q, %v", res.Warnings, err)
	}
}

// TestLabelsThatAreNoTextsStay: an edit of another field passes them over.
func TestLabelsThatAreNoTextsStay(t *testing.T) {
	s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"o-1","title":"first","labels":["a",1]}` + "\n"})
	it := read(t, s, "o-1")
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "o-1", Content: "more", Meta: it.Meta, Mode: model.Replace, IfMatch: it.Revision})
	if got := content(t, filepath.Join(dir, "issues.jsonl")); err != nil || !strings.Contains(got, `"labels":["a",1],"description":"more"`) {
		t.Errorf("%v: %s", err, got)
	}
}

// TestAnEditThatIsUndoneLeavesNoMember: an issue without a description has none again.
func TestAnEditThatIsUndoneLeavesNoMember(t *testing.T) {
	s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"o-1","title":"first"}` + "\n"})
	for _, text := range []string{"more", ""} {
		it := read(t, s, "o-1")
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "o-1", Content: text, Meta: it.Meta, Mode: model.Replace, IfMatch: it.Revision})
		must(t, err)
	}
	if got := content(t, filepath.Join(dir, "issues.jsonl")); strings.Contains(got, "description") {
		t.Error(got)
	}
}

// TestLabelsThatAreNoUTF8ComeBack: an edit of them is undone in their own bytes.
func TestLabelsThatAreNoUTF8ComeBack(t *testing.T) {
	for _, labels := range []string{"[\"a\xff\",\"b\"]", "[\"a\xff,c\",\"b\"]"} {
		s, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"o-1","title":"first","labels":` + labels + "}\n"})
		was := read(t, s, "o-1")
		meta := slices.Clone(was.Meta)
		meta[slices.IndexFunc(meta, func(f model.Field) bool { return f.Name == "labels" })].Value = "c"
		for _, fields := range [][]model.Field{meta, was.Meta} {
			_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "o-1", Meta: fields, Mode: model.Replace, IfMatch: read(t, s, "o-1").Revision, Restore: true})
			must(t, err)
		}
		if got := content(t, filepath.Join(dir, "issues.jsonl")); !strings.Contains(got, `"labels":`+labels) {
			t.Errorf("%q", got)
		}
	}
}
