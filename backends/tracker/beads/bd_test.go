package beads_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/tracker/beads"
	"memdesk/backends/tracker/command"
	"memdesk/backends/tracker/trackertest"
	"memdesk/model"
	"memdesk/work"
)

// bdStore opens a store through the stand-in for bd; run calls the stand-in directly.
func bdStore(t *testing.T) (s model.Store, run func(args ...string)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".beads")
	must(t, os.Mkdir(dir, 0o755))
	name := fakeBD(t)
	s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir, Port: "cli", Command: name})
	must(t, err)
	p := command.New(command.Program{Name: name, Dir: filepath.Dir(dir)})
	return s, func(args ...string) {
		t.Helper()
		must(t, p.Change(t.Context(), "test", nil, args...))
	}
}

func meta(it model.Item, changes ...string) []model.Field {
	out := slices.Clone(it.Meta)
	for i := 0; i < len(changes); i += 2 {
		n := slices.IndexFunc(out, func(f model.Field) bool { return f.Name == changes[i] })
		if n < 0 {
			out = append(out, model.Field{Name: changes[i], Value: changes[i+1]})
			continue
		}
		out[n].Value = changes[i+1]
	}
	return out
}

func read(t *testing.T, s model.Store, id string) model.Item {
	t.Helper()
	it, err := s.Browser.Read(t.Context(), id)
	must(t, err)
	return it
}

// TestEverythingBDHoldsIsRead: comments, gates, messages and templates must be in lists and recall, but
// the last three are not work.
func TestEverythingBDHoldsIsRead(t *testing.T) {
	s, run := bdStore(t)
	run("create", "--json", "--id=bd-task", "--title=Mend the mill", "--description=the wheel")
	run("create", "--json", "--id=bd-gate", "--title=wait for Wanda", "--type=gate")
	run("create", "--json", "--id=bd-mail", "--title=mail", "--type=message", "--description=ask Wanda")
	run("create", "--json", "--id=bd-kid", "--title=kid", "--parent=bd-task")
	run("comments", "add", "--json", "--", "bd-task", "Wanda called about the mill")
	hits, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "wanda"})
	must(t, err)
	found := map[string]string{}
	for _, h := range hits.Hits {
		found[h.ID] = h.Snippet
	}
	if len(found) != 3 || !strings.Contains(found["bd-task"], "Wanda called") {
		t.Errorf("recall finds %q", found)
	}
	it := read(t, s, "bd-task")
	n := slices.IndexFunc(it.Meta, func(f model.Field) bool { return f.Name == "comments" })
	if n < 0 || !it.Meta[n].Sealed || !strings.Contains(it.Meta[n].Value, "Wanda called") {
		t.Errorf("the comments are not shown as sealed: %+v", it.Meta)
	}
	kid := read(t, s, "bd-kid")
	if n := slices.IndexFunc(kid.Meta, func(f model.Field) bool { return f.Name == "parent" }); n < 0 || kid.Meta[n].Value != "bd-task" {
		t.Errorf("the child's parent: %+v", kid.Meta)
	}
	ready, err := s.Work.WorkItems(t.Context(), model.WorkRequest{Ready: true})
	must(t, err)
	var ids []string
	for _, h := range ready.Items {
		ids = append(ids, h.ID)
	}
	if !slices.Equal(ids, []string{"bd-task", "bd-kid"}) {
		t.Errorf("ready work is %q", ids)
	}
}

// TestParentOfAnExport: bd's export names a parent only in a dependency, and the file of it must find the children too.
func TestParentOfAnExport(t *testing.T) {
	s, _ := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1","title":"one"}` + "\n" +
		`{"id":"x-2","title":"two","dependencies":[{"issue_id":"x-2","depends_on_id":"x-1","type":"parent-child"}]}` + "\n"})
	got, err := s.Work.WorkItems(t.Context(), model.WorkRequest{Filter: model.WorkFilter{Parent: "x-1"}})
	if err != nil || len(got.Items) != 1 || got.Items[0].ID != "x-2" {
		t.Errorf("children of x-1: %+v, %v", got.Items, err)
	}
}

// TestAForgetSaysWhoStillNamesTheItem: only the pairs of deps.jsonl go with an item.
func TestAForgetSaysWhoStillNamesTheItem(t *testing.T) {
	s, _ := repo(t, map[string]string{"issues.jsonl": `{"id":"x-1","title":"one"}` + "\n" +
		`{"id":"x-2","title":"two","dependencies":[{"issue_id":"x-2","depends_on_id":"x-1","type":"blocks"}]}` + "\n" + `{"id":"x-3","title":"three"}` + "\n"})
	for id, want := range map[string]string{"x-1": "these items still name it in their own dependencies: x-2", "x-3": ""} {
		res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		if err != nil || strings.Join(res.Warnings, "; ") != want {
			t.Errorf("%s: %q, %v; want %q", id, res.Warnings, err, want)
		}
	}
}

// TestOneExportForAllTexts: a pass over all items must not export the store for each of them.
func TestOneExportForAllTexts(t *testing.T) {
	s, run := bdStore(t)
	for _, id := range []string{"bd-1", "bd-2", "bd-3"} {
		run("create", "--json", "--id="+id, "--title="+id)
	}
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("FAKE_BD_LOG", log)
	if s.Texts == nil {
		t.Fatal("there is no such pass")
	}
	texts := 0
	_, err := s.Texts.EachText(t.Context(), func(_ model.Text, err error) bool { texts++; return err == nil })
	if calls := content(t, log); err != nil || texts != 3 || strings.Count(calls, "\n") != 1 {
		t.Errorf("%d texts, %v, by %q", texts, err, calls)
	}
}

// TestRefusalsOfBD: each error sentence of bd must get its kind and lose its path.
func TestRefusalsOfBD(t *testing.T) {
	records := filepath.Join("testdata", "bd.jsonl")
	all, err := trackertest.Records(records)
	must(t, err)
	abs, err := filepath.Abs(records)
	must(t, err)
	t.Setenv("FAKE_BD_RECORDS", abs)
	p := command.New(command.Program{Name: fakeBD(t), Dir: t.TempDir()})
	for _, r := range all {
		err := p.Change(t.Context(), "test", nil, r.Args...)
		if got := string(model.KindOf(err)); got != r.Note {
			t.Errorf("%q is %q, want %q: %v", r.Args, got, r.Note, err)
		}
		if strings.Contains(err.Error(), "/srv") || strings.Contains(err.Error(), "Usage") || strings.Contains(err.Error(), "{") {
			t.Errorf("%q: %v", r.Args, err)
		}
		if r.Note != "internal" && !model.Unchanged(err) {
			t.Errorf("%q: whether it changed something is left open", r.Args)
		}
	}
}

// TestLabelsOfBD: a label with a comma must be refused, one with a quotation mark must stay intact, and
// a foreign one with a comma can be removed.
func TestLabelsOfBD(t *testing.T) {
	s, run := bdStore(t)
	run("create", "--json", "--id=bd-1", "--title=one", `--labels="team,ops"`)
	it := read(t, s, "bd-1")
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "bd-1", Mode: model.Replace, Content: "x", Meta: meta(it, "labels", `["a,b", "c"]`)})
	if !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), `"a,b"`) {
		t.Errorf("a label with a comma: %v", err)
	}
	if now := read(t, s, "bd-1"); now.Revision != it.Revision {
		t.Errorf("the refused write changed the item: %+v", now)
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "bd-1", Mode: model.Replace, Content: "x", Meta: meta(it, "labels", `["say \"hi\""]`)})
	must(t, err)
	if got := fieldOf(read(t, s, "bd-1"), "labels"); got != `say "hi"` {
		t.Errorf("labels %q", got)
	}
}

func fieldOf(it model.Item, name string) string {
	for _, f := range it.Meta {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// TestOneActOrNone: when one of several calls of a write is refused, no part of the write may stay.
func TestOneActOrNone(t *testing.T) {
	s, run := bdStore(t)
	for _, id := range []string{"bd-1", "bd-2", "bd-3"} {
		run("create", "--json", "--id="+id, "--title="+id, "--labels=old")
	}
	run("dep", "add", "--json", "--", "bd-2", "bd-1")
	for name, tt := range map[string]struct {
		id      string
		changes []string
		kind    model.Kind
	}{
		"an unknown blocker":  {"bd-1", []string{"title", "changed", "depends", "bd-9"}, model.NotFound},
		"itself":              {"bd-1", []string{"title", "changed", "depends", "bd-1"}, model.InvalidInput},
		"a cycle":             {"bd-1", []string{"title", "changed", "labels", "new", "depends", "bd-3, bd-2"}, model.InvalidInput},
		"closing the blocked": {"bd-2", []string{"title", "changed", "notes", "n", "depends", "bd-1, bd-3", "status", "closed"}, model.Conflict},
		"an unknown status":   {"bd-3", []string{"title", "changed", "status", "odd"}, model.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			before := read(t, s, tt.id)
			_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: tt.id, Mode: model.Replace, Content: "new text", Meta: meta(before, tt.changes...)})
			if model.KindOf(err) != tt.kind || !model.Unchanged(err) {
				t.Errorf("%v is %q, want %q", err, model.KindOf(err), tt.kind)
			}
			if now := read(t, s, tt.id); now.Revision != before.Revision {
				t.Errorf("something stayed: %+v, before %+v", now, before)
			}
		})
	}
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "open", Key: "bd-new", Mode: model.Replace, Content: "x",
		Meta: []model.Field{{Name: "status", Value: "odd"}}})
	if !errors.Is(err, model.InvalidInput) {
		t.Errorf("a new item with an unknown status: %v", err)
	}
	if _, err := s.Browser.Read(t.Context(), "bd-new"); !errors.Is(err, model.NotFound) {
		t.Errorf("the new item stayed: %v", err)
	}
}

// TestFailedRollbackIsSaid: a failed rollback must not look like a plain refusal.
func TestFailedRollbackIsSaid(t *testing.T) {
	s, run := bdStore(t)
	run("create", "--json", "--id=bd-1", "--title=one")
	run("create", "--json", "--id=bd-2", "--title=two")
	run("dep", "add", "--json", "--", "bd-2", "bd-1")
	records := filepath.Join(t.TempDir(), "bd.jsonl")
	must(t, os.WriteFile(records, []byte(`{"args":["update","--json","--title=one","--","bd-1"],"exit":1,"stderr":"Error: disk full"}`+"\n"), 0o600))
	t.Setenv("FAKE_BD_RECORDS", records)
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "bd-1", Mode: model.Replace, Content: "", Meta: meta(read(t, s, "bd-1"), "title", "changed", "depends", "bd-2")})
	if model.Unchanged(err) || !strings.Contains(err.Error(), "disk full") || !strings.Contains(err.Error(), "cycle") {
		t.Errorf("%v", err)
	}
}

// TestClosedBlockerBlocksNoMore: bd hands out an item whose blockers are closed, so it must be ready work.
func TestClosedBlockerBlocksNoMore(t *testing.T) {
	s, run := bdStore(t)
	for _, id := range []string{"bd-1", "bd-2", "bd-3"} {
		run("create", "--json", "--id="+id, "--title="+id)
	}
	run("dep", "add", "--json", "--", "bd-2", "bd-1")
	run("dep", "add", "--json", "--", "bd-3", "bd-2")
	run("close", "--json", "--", "bd-1")
	ready, err := s.Work.WorkItems(t.Context(), model.WorkRequest{Ready: true})
	if err != nil || len(ready.Items) != 1 || ready.Items[0].ID != "bd-2" {
		t.Errorf("ready: %+v, %v", ready.Items, err)
	}
}

// TestFailedRemovalIsNoAbsence: a refusal with the words of an absent thing must not count as an absent item while bd
// still lists the item.
func TestFailedRemovalIsNoAbsence(t *testing.T) {
	s, run := bdStore(t)
	run("create", "--json", "--id=bd-1", "--title=one")
	records := filepath.Join(t.TempDir(), "bd.jsonl")
	must(t, os.WriteFile(records, []byte(`{"args":["delete","--force","--json","--","bd-1"],"exit":1,"stderr":"Error: opening database: stat dolt: no such file or directory"}`+"\n"), 0o600))
	t.Setenv("FAKE_BD_RECORDS", records)
	if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "bd-1"}); err == nil {
		t.Errorf("%+v without an error", res)
	}
}

// TestMemoryHasNoFields: bd keeps a memory's text alone, so a field must be refused and not lost.
func TestMemoryHasNoFields(t *testing.T) {
	s, _ := bdStore(t)
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "memory", Key: "k", Mode: model.Replace, Content: "text", Meta: []model.Field{{Name: "notes", Value: "red"}}})
	if !errors.Is(err, model.InvalidInput) {
		t.Errorf("the field is taken: %v", err)
	}
}

// TestKeysLookDifferent: a new key has no character that no screen shows, so no two keys look the same.
func TestKeysLookDifferent(t *testing.T) {
	s, _ := repo(t, map[string]string{"issues.jsonl": ""})
	for key, good := range map[string]bool{"k": true, "k%41": true, "é-テ": true, "k\u200b": false, "\u202ek": false, "k\u2028": false, "k\xff": false} {
		for _, tier := range []string{"memory", "open"} {
			_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: tier, Key: key, Mode: model.Replace, Content: "text"})
			if good != (err == nil) || !good && !errors.Is(err, model.InvalidInput) {
				t.Errorf("key %q in %s: %v", key, tier, err)
			}
		}
	}
}

// TestNewIDs: a new item gets an id like those of the program that made the others.
func TestNewIDs(t *testing.T) {
	for name, tt := range map[string]struct{ ids, form string }{
		"bd's":      {"harbor-0a1 harbor-0a1.1 harbor-wisp-9zz", "harbor-"},
		"Foolery's": {"beads-mc3k2f9a-x1y2 beads-mc3k2f9b-x1y2 harbor-0a1", "beads-"},
		"nobody's":  {"", "beads-"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines string
			for _, id := range strings.Fields(tt.ids) {
				lines += lineFor("open", id, "text") + "\n"
			}
			_, dir := repo(t, map[string]string{"issues.jsonl": lines})
			s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir})
			must(t, err)
			got, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "open", Mode: model.Replace, Content: "new"})
			must(t, err)
			if !strings.HasPrefix(got.ID, tt.form) || strings.Contains(got.ID, "wisp") {
				t.Errorf("the new id is %q", got.ID)
			}
		})
	}
}

// TestWorkflowLabelMoves: status and workflow label agree after every write, and the changed one leads.
func TestWorkflowLabelMoves(t *testing.T) {
	for name, tt := range map[string]struct {
		status, labels string
		changes        []string
		wantStatus     string
		wantLabels     string
	}{
		"close":                  {"open", "keep, wf:state:ready_for_planning, wf:profile:autopilot", []string{"status", "closed"}, "closed", "keep, wf:state:shipped, wf:profile:autopilot"},
		"reopen":                 {"closed", "wf:state:shipped, wf:profile:autopilot", []string{"status", "open"}, "open", "wf:state:ready_for_planning, wf:profile:autopilot"},
		"reopen without profile": {"closed", "wf:state:abandoned", []string{"status", "open"}, "open", "wf:state:ready_for_implementation"},
		"begin":                  {"open", "wf:state:ready_for_planning, wf:profile:semiauto", []string{"status", "in_progress"}, "in_progress", "wf:state:planning, wf:profile:semiauto"},
		"begin without planning": {"open", "wf:state:ready_for_implementation, wf:profile:autopilot_no_planning", []string{"status", "in_progress"}, "in_progress", "wf:state:implementation, wf:profile:autopilot_no_planning"},
		"defer":                  {"open", "wf:state:ready_for_planning", []string{"status", "deferred"}, "deferred", "wf:state:deferred"},
		"block":                  {"open", "wf:state:ready_for_planning", []string{"status", "blocked"}, "blocked", "wf:state:blocked"},
		"two labels become one":  {"open", "wf:state:ready_for_planning, wf:state:planning", []string{"status", "closed"}, "closed", "wf:state:shipped"},
		"no label gets none":     {"open", "keep", []string{"status", "closed"}, "closed", "keep"},
		"capital letters":        {"open", "WF:State:planning", []string{"status", "closed"}, "closed", "wf:state:shipped"},
		"the same label twice":   {"closed", "wf:state:shipped, wf:state:planning", []string{"status", "in_progress"}, "in_progress", "wf:state:implementation"},
		"an added state leads":   {"open", "wf:state:ready_for_planning, wf:profile:autopilot, dock", []string{"labels", "wf:state:ready_for_planning, wf:profile:autopilot, dock, wf:state:implementation"}, "in_progress", "wf:state:implementation, wf:profile:autopilot, dock"},
		"an added profile leads": {"open", "wf:state:ready_for_planning, wf:profile:autopilot", []string{"labels", "wf:state:ready_for_planning, wf:profile:autopilot, wf:profile:semiauto"}, "open", "wf:state:ready_for_planning, wf:profile:semiauto"},
		"the label leads":        {"open", "wf:state:ready_for_planning", []string{"labels", "wf:state:shipped"}, "closed", "wf:state:shipped"},
		"both agree":             {"open", "wf:state:ready_for_planning", []string{"labels", "wf:state:shipment_review", "status", "in_progress"}, "in_progress", "wf:state:shipment_review"},
		"another field":          {"hooked", "wf:state:planning", []string{"title", "other"}, "hooked", "wf:state:planning"},
	} {
		t.Run(name, func(t *testing.T) {
			line := `{"id":"b-1","title":"t","status":` + quoted(tt.status) + `,"labels":[`
			for i, l := range strings.Split(tt.labels, ", ") {
				if i > 0 {
					line += ","
				}
				line += quoted(l)
			}
			_, dir := repo(t, map[string]string{"issues.jsonl": line + `],"closed_at":"2026-01-01T00:00:00Z"}` + "\n"})
			s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir})
			must(t, err)
			it := read(t, s, "b-1")
			_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "b-1", Mode: model.Replace, Content: "x", Meta: meta(it, tt.changes...)})
			must(t, err)
			it = read(t, s, "b-1")
			if it.Tier != tt.wantStatus || fieldOf(it, "labels") != tt.wantLabels {
				t.Errorf("status %s, labels %s; want %s, %s", it.Tier, fieldOf(it, "labels"), tt.wantStatus, tt.wantLabels)
			}
			if open := it.Tier != "closed" && tt.status == "closed"; open && fieldOf(it, "closed_at") != "" {
				t.Error("an open item keeps the time of its end")
			}
		})
	}
	_, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"b-1","title":"t","status":"open","labels":["wf:state:planning"]}` + "\n"})
	s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir})
	must(t, err)
	it := read(t, s, "b-1")
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "b-1", Mode: model.Replace, Content: "x", Meta: meta(it, "status", "closed", "labels", "wf:state:deferred")})
	if !errors.Is(err, model.InvalidInput) {
		t.Errorf("a label and a status that say two things: %v", err)
	}
}

// TestTheLabelIsTheTruth: the label decides which work is ready, as in Foolery.
func TestTheLabelIsTheTruth(t *testing.T) {
	_, dir := repo(t, map[string]string{"issues.jsonl": `{"id":"b-1","title":"t","status":"closed","labels":["wf:state:ready_for_planning"]}
{"id":"b-2","title":"t","status":"open","labels":["wf:state:shipped"]}
{"id":"b-3","title":"t","status":"open","labels":["wf:state:implementation"]}
{"id":"b-4","title":"t","status":"open"}
`})
	s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir})
	must(t, err)
	var ids []string
	for _, b := range (work.Desk{Store: s}).ListReady(t.Context(), model.WorkFilter{}, "").Data {
		ids = append(ids, b.ID)
	}
	if !slices.Equal(ids, []string{"b-1", "b-4"}) {
		t.Errorf("ready: %q", ids)
	}
}

// TestDeclaredOfAReader: a read-only store declares no change (B7, B8).
func TestDeclaredOfAReader(t *testing.T) {
	for name, readOnly := range map[string]bool{"writable": false, "stub": true} {
		_, dir := repo(t, map[string]string{"issues.jsonl": ""})
		s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: dir, ReadOnly: readOnly})
		must(t, err)
		can := s.Capabilities()
		for _, c := range []string{"canCreate", "canUpdate", "canDelete", "canClose", "canManageDependencies", "canManageLabels"} {
			if can[c] == readOnly {
				t.Errorf("%s: %s is %v", name, c, can[c])
			}
		}
		if !can["canSearch"] || !can["canQuery"] || !can["canListReady"] || s.Limits["maxConcurrency"] != 1 {
			t.Errorf("%s: %v, %v", name, can, s.Limits)
		}
	}
}
