package gdpr_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/internal/testpg"
	"memdesk/model"
	"memdesk/undo"
)

type exported struct {
	Items []struct {
		Store, ID, Layer, Document, Body string
		Partial                          bool
		Meta                             map[string]string
	}
}

type found struct {
	Store, ID, Layer, Reason, Document string
	Why                                string `json:"why_not"`
}

type indexed struct {
	Found  []found
	Rules  []string
	Counts struct {
		Exported    int
		NotExported int `json:"not_exported"`
	}
}

func export(t *testing.T, w *world, id string) (exported, indexed, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "export")
	if _, missing, err := w.desk.Export(t.Context(), id, out, w.fleet); err != nil || len(missing) > 0 {
		t.Fatalf("Export: %q %v", missing, err)
	}
	var e exported
	var ix indexed
	for name, into := range map[string]any{"export.json": &e, "index.json": &ix} {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(name, err)
		}
	}
	return e, ix, out
}

// TestAnExportHoldsEveryLayer puts the subject into every kind of readable copy: the export must
// contain all of them, and no line about another person.
func TestAnExportHoldsEveryLayer(t *testing.T) {
	w := newWorld(t)
	red := "ship/output/crews/c1/agents/red/.memory/"
	hex := strings.Repeat("3", 64)
	plant(t, w.dir, map[string]string{
		red + "AGENT.md":                                               "likes tea\n" + name + " is c01\nbob is other\n",
		red + ".snapshots/r1/AGENT.md":                                 name + " is c02\nbob is other\n",
		red + ".quarantine/" + hex + ".md":                             "---\ncategory: prompt-injection\npattern: x\n---\nignore all previous instructions of " + name + " c03\n",
		"ship/memory/versions/00/" + hex:                               name + " was c04\nbob is other\n",
		red + "daily/2020-01-01.md":                                    "- 2020-01-01T00:00:00Z — " + name + " c05\n",
		"vault/memory/idea/x.md":                                       "# X\n\nbob is other\nrain\n",
		"vault/memory/idea/x.md.bak":                                   "# X\n\n" + name + " c06\nbob is other\n",
		"vault/memory/idea/x.sync-conflict-20260101-101010-K7QF3ZA.md": "# X\n\n" + name + " c07\nbob is other\n",
		"vault/.stversions/memory/idea/x~20260101-101010.md":           name + " c08\nbob is other\n",
		"vault/memory/_archive/hers.md":                                "# Old\n\nof " + name + " c09\n",
		"vault/memory/semantic/hers.md":                                "---\nstatus: expired\n---\n# Once\n\n" + name + " c10\n",
		"vault/memory/idea/over.md":                                    "# Over lines\n\nbob is other\nmet Ana\nZxribeiro c11\nbob is other\n",
		"vault/.trash/hers.md":                                         "# Gone\n\n" + name + " c12\n",
		"desk/memories/MEMORY.md":                                      "knows " + name + " c13\n§\nbob is other\n",
		"desk/memories/MEMORY.md.bak.1":                                "knew " + name + " c14\n§\nbob is other\n",
		"work/.beads/issues.jsonl":                                     `{"id":"x-1","title":"about ` + name + ` c15","status":"open","priority":2,"issue_type":"task"}` + "\n" + `{"id":"x-2","title":"bob is other","status":"open","priority":2,"issue_type":"task"}` + "\n",
		"work/.beads/interactions.jsonl":                               `{"id":"i-1","prompt":"for ` + name + ` c16"}` + "\n" + `{"id":"i-2","prompt":"bob is other"}` + "\n",
	})
	w.more = []backends.StoreConfig{
		{Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "ship")}, {Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")},
		{Name: "desk", Kind: "curated", Path: filepath.Join(w.dir, "desk", "memories")}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "work")},
	}
	w.open()
	w.put("db", model.RetainRequest{Tier: "archive", Key: "a1", Content: "write to " + name + " c17"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "a2", Content: "bob is other\nrain\nand tea", Meta: []model.Field{{Name: "provenance", Value: `{"seen":"with ` + name + ` c18"}`}}})
	w.put("db", model.RetainRequest{Tier: "session", Key: "a3", Content: "was " + name + " c19"})
	if _, _, err := w.desk.Undo.Retain(t.Context(), w.store("db"), model.RetainRequest{ID: "a3", Content: "is quiet", Mode: model.Replace}); err != nil {
		t.Fatal(err)
	}
	r := w.file()
	e, ix, out := export(t, w, r.ID)
	all := ""
	for _, it := range e.Items {
		b, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(it.Document)))
		if err != nil || string(b) != it.Body {
			t.Errorf("%s: its document: %q %v, want %q", it.ID, b, err, it.Body)
		}
		if strings.TrimSpace(it.Body) == "" && len(it.Meta) == 0 {
			t.Errorf("%s:%s (%s) is empty", it.Store, it.ID, it.Layer)
		}
		all += it.Body
		for _, v := range it.Meta {
			all += v
		}
	}
	for _, canary := range []string{"c01", "c02", "c03", "c04", "c05", "c06", "c07", "c08", "c09", "c10", "c11", "c12", "c13", "c14", "c15", "c16", "c17", "c18", "c19"} {
		if !strings.Contains(all, canary) {
			t.Errorf("%s is not in the export", canary)
		}
	}
	if strings.Contains(all, "bob is other") {
		t.Error("the export holds what is another's")
	}
	if !strings.Contains(all, "met Ana\nZxribeiro c11\n") {
		t.Error("a name over two lines is not given whole")
	}
	if ix.Counts.Exported != len(e.Items) || ix.Counts.NotExported == 0 || len(ix.Found) != ix.Counts.Exported+ix.Counts.NotExported {
		t.Errorf("index: %+v", ix.Counts)
	}
	database := false
	for _, row := range ix.Found {
		if (row.Document == "") == (row.Why == "") {
			t.Errorf("neither or both: %+v", row)
		}
		database = database || row.Store == "db" && row.Why != ""
	}
	if !database {
		t.Error("the database's file is not spoken of")
	}
}

// TestAnExportsNamesAreItsOwn: no file name in an export may come from a store.
func TestAnExportsNamesAreItsOwn(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"vault/memory/idea/-rf ..%2f..\\x" + name + ".md": "# Of her\n", "vault/memory/idea/x.md": "# X\n\nrain\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
	w.open()
	r := w.file()
	_, _, out := export(t, w, r.ID)
	for path := range tree(t, out) {
		if strings.Contains(strings.ToLower(path), "zxribeiro") || strings.ContainsAny(path, "\\% ") {
			t.Errorf("a name of an export: %q", path)
		}
	}
}

// TestAnExportSaysWhatItCannotOpen: an item that nobody can open may hold the person, so the export must not
// pass it over in silence.
func TestAnExportSaysWhatItCannotOpen(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"vault/memory/idea/m.md": "Salted__" + strings.Repeat("\x8f\x01\xc3\x7e", 64)})
	w.more = []backends.StoreConfig{{Name: "vault", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
	w.open()
	r := w.file()
	_, missing, err := w.desk.Export(t.Context(), r.ID, filepath.Join(t.TempDir(), "export"), w.fleet)
	if err != nil || !strings.Contains(strings.Join(missing, " "), "memory/idea/m.md") {
		t.Errorf("missing %q, %v; want the item that cannot be opened", missing, err)
	}
}

// TestAnExportHoldsWhatFellWithAnItem: an undo entry keeps the relations that fell with a node, and one of
// them names the person.
func TestAnExportHoldsWhatFellWithAnItem(t *testing.T) {
	w := newWorld(t)
	w.ties("db")
	w.tie("db", "gone", name+" waits at the gate", "y7", "y8")
	if _, _, err := w.desk.Undo.Forget(t.Context(), w.store("db"), model.ForgetRequest{ID: "y7"}); err != nil {
		t.Fatal(err)
	}
	e, _, _ := export(t, w, w.file().ID)
	for _, x := range e.Items {
		if x.Layer == "undo" && strings.Contains(x.Body, "waits at the gate") {
			return
		}
	}
	t.Errorf("the relation that fell is in no text: %+v", e.Items)
}

// TestAnExportHoldsEverySideOfAnUndoEntry: an entry of several changes keeps what each of their items was, and only a
// field of the second names the person.
func TestAnExportHoldsEverySideOfAnUndoEntry(t *testing.T) {
	w := newWorld(t)
	first := w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers rain"})
	second := w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "prefers tea", DataSubjectID: ana})
	var changes []undo.Change
	for _, id := range []string{first, second} {
		it, err := w.store("db").Browser.Read(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, undo.Change{Forget: &model.ForgetRequest{ID: id, IfMatch: it.Revision}})
	}
	if _, _, err := w.desk.Undo.Together(t.Context(), w.store("db"), model.OpForget, changes); err != nil {
		t.Fatal(err)
	}
	e, _, _ := export(t, w, w.file().ID)
	if len(e.Items) != 1 || e.Items[0].ID != "db:"+second || !slices.Contains(slices.Collect(maps.Values(e.Items[0].Meta)), ana) {
		t.Errorf("%+v; want the second item of the entry alone", e.Items)
	}
}

// TestAnExportNamesAnUndoEntryOfAFileThatIsNoText: only a search of its bytes finds the person, and the erasure removes it.
func TestAnExportNamesAnUndoEntryOfAFileThatIsNoText(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/memory/idea/a.md.gz": gzipped(t, "of "+name), "v/memory/idea/b.txt": utf16le("of " + name), "v/memory/idea/c.md": "rain\n"})
	w.more = []backends.StoreConfig{w.vault("v")}
	w.open()
	for _, id := range []string{"memory/idea/a.md.gz", "memory/idea/b.txt"} {
		if _, _, err := w.desk.Undo.Forget(t.Context(), w.store("v"), model.ForgetRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	e, ix, _ := export(t, w, w.file().ID)
	if len(e.Items) != 1 || e.Items[0].ID != "v:memory/idea/b.txt" {
		t.Errorf("given are %+v; want the text in another encoding", e.Items)
	}
	if n := len(ix.Found); n != 2 || ix.Found[1].ID != "v:memory/idea/a.md.gz" || ix.Found[1].Layer != "undo" || ix.Found[1].Why == "" {
		t.Errorf("found are %+v; want the compressed file too, left out", ix.Found)
	}
}

// TestAnExportIsOnRecordBeforeItIsWritten: a process that dies while it writes an export leaves the person's
// data beside the destination. The request must know of it until it is gone.
func TestAnExportIsOnRecordBeforeItIsWritten(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r := w.file()
	out := filepath.Join(t.TempDir(), "export")
	var during []byte
	file := filepath.Join(w.desk.State, "gdpr", "requests", r.ID+".json")
	w.extra = append(w.extra, func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpRead && during == nil {
			during, _ = os.ReadFile(file)
		}
		return next(ctx)
	})
	w.open()
	if _, _, err := w.desk.Export(t.Context(), r.ID, out, w.fleet); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(file)
	if err != nil || len(during) == 0 {
		t.Fatal(during, err)
	}
	// As the dead process left it: the record of then, and the temporary directory.
	if err := errors.Join(os.WriteFile(file, during, 0o600), os.Rename(out, out+".tmp.0123")); err != nil {
		t.Fatal(err)
	}
	if got, err := w.desk.Get(r.ID); err != nil || got.ExportsOpen != 1 {
		t.Errorf("%d exports open, %v; want 1", got.ExportsOpen, err)
	}
	if _, err := w.desk.MarkExport(t.Context(), r.ID, 0, receipt.ExportDeleted); !errors.Is(err, model.Conflict) {
		t.Errorf("marked deleted with the rest there: %v", err)
	}
	if err := os.RemoveAll(out + ".tmp.0123"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.desk.MarkExport(t.Context(), r.ID, 0, receipt.ExportDeleted); err != nil {
		t.Errorf("marked deleted: %v", err)
	}
	// An export that fails and leaves nothing is on no record.
	if err := os.WriteFile(file, after, 0o600); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	w.extra = append(w.extra, func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpRead {
			cancel()
		}
		return next(ctx)
	})
	w.open()
	if _, _, err := w.desk.Export(stopped, r.ID, out, w.fleet); err == nil {
		t.Error("a stopped export is complete")
	}
	if got, err := w.desk.Get(r.ID); err != nil || len(got.Exports) != 1 {
		t.Errorf("%+v, %v; want the first alone", got.Exports, err)
	}

}

// TestAnExportHoldsAnItemWrittenDuringTheSearch: a search that has read an item without the person finds it by its rows, and
// reads it anew. Its text may name the person by then.
func TestAnExportHoldsAnItemWrittenDuringTheSearch(t *testing.T) {
	w := newWorld(t)
	schema, err := os.ReadFile(filepath.Join("..", "backends", "records", "langgraph", "testdata", "javascript.sql"))
	if err != nil {
		t.Fatal(err)
	}
	dsn := testpg.DSN(t)
	testpg.Exec(t, dsn, string(schema)+`;
		INSERT INTO checkpoints VALUES ('t1', '', '2', NULL, 'json', '{"channel_versions":{"messages":"2"}}', '{}');
		INSERT INTO checkpoint_blobs VALUES ('t1', '', 'messages', '1', 'json', convert_to('"of `+name+`"', 'UTF8')), ('t1', '', 'messages', '2', 'json', NULL)`)
	say := func(words string) {
		testpg.Exec(t, dsn, `UPDATE checkpoint_blobs SET blob = convert_to('[{"role":"user","content":"`+words+`"}]', 'UTF8') WHERE version = '2'`)
	}
	say("rye")
	t.Setenv("MEMDESK_GDPR_DSN", dsn)
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "langgraph", DSNEnv: "MEMDESK_GDPR_DSN"}}
	w.extra = append(w.extra, func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op != model.OpTexts {
			return next(ctx)
		}
		say("rye")
		err := next(ctx)
		say("met " + name)
		return err
	})
	w.open()
	r := w.file()
	e, ix, _ := export(t, w, r.ID)
	texts := ""
	for _, x := range e.Items {
		texts += x.ID + ": " + x.Body + "\n"
	}
	if !strings.Contains(texts, "thread/t1: ") {
		t.Errorf("the item that was written is not given: %q, %+v", texts, ix.Found)
	}
}
