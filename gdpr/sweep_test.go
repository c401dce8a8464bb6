package gdpr_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// After a restore one store is searched, and the log must have the record.
func TestASweepAfterARestore(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	r := w.file()
	w.complete(w.plan(r.ID))
	back := filepath.Join(w.dir, "s", "memory", "fix", "b.md")
	plant(t, w.dir, map[string]string{"s/memory/fix/b.md": name + " is back\n", "t/memory/fix/a.md": name + " is elsewhere\n"})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "vault", Path: filepath.Join(w.dir, "s")}, {Name: "t", Kind: "vault", Path: filepath.Join(w.dir, "t")}}
	w.open()
	if _, _, err := w.desk.Sweep(t.Context(), w.fleet, "nothing", nil); !errors.Is(err, model.NotFound) {
		t.Errorf("a store of no name: %v", err)
	}
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "db", nil)
	if err != nil || len(swept) != 0 || len(problems) != 0 {
		t.Errorf("a store to which nobody came back: %+v %q %v", swept, problems, err)
	}
	if swept, _, err = w.desk.Sweep(t.Context(), w.fleet, "s", nil); err != nil || len(swept) != 1 {
		t.Fatalf("%+v %v", swept, err)
	}
	if _, err := os.Stat(back); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	page, err := w.desk.Log.List(t.Context(), audit.Filter{Action: "gdpr-restored", Phase: audit.PhaseOutcome, Store: "s"}, 10, "")
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Counts["persons"] != 1 {
		t.Errorf("%+v %v", page.Rows, err)
	}
}

// TestASweepGoesOnAfterARefusal: the other person is erased again, and the refusal of the first names a request in which
// it can be answered.
func TestASweepGoesOnAfterARefusal(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.put("db", model.RetainRequest{Tier: "longterm", Key: fmt.Sprintf("x%d", i), Content: "routers"})
	}
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "asked by " + other})
	w.complete(w.plan(w.file().ID))
	bob := w.fileFor(other)
	w.complete(w.plan(bob.ID))
	files := map[string]string{"b/memory/fix/bob.md": "of " + other + "\n", "b/memory/fix/rain.md": "rain\n"}
	for i := range 22 {
		files[fmt.Sprintf("v/n%d.md", i)] = "of " + name + "\n"
	}
	plant(t, w.dir, files)
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "v")}, {Name: "b", Kind: "vault", Path: filepath.Join(w.dir, "b")}}
	w.open()
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if !errors.Is(err, model.InvalidInput) || len(swept) != 2 || len(problems) != 0 || swept[0].Outcome.Status != "" || swept[1].Outcome.Status != gdpr.StateComplete {
		t.Fatalf("%+v, %q, %v; want the first refused and the second complete", swept, problems, err)
	}
	if !strings.Contains(err.Error(), "memdesk gdpr plan "+swept[0].Request+" --whole notes") {
		t.Error(err)
	}
	if _, err := w.desk.Whole(t.Context(), swept[0].Request, w.store("notes")); err != nil {
		t.Fatal(err)
	}
	swept, problems, err = w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(swept) != 1 || len(problems) != 0 || swept[0].Outcome.Status != gdpr.StateComplete {
		t.Errorf("%+v, %q, %v; want it complete", swept, problems, err)
	}
}

// TestADeclinedSweepLiftsNothing: the person stays on the list, also where the request that put them there counts as
// withdrawn.
func TestADeclinedSweepLiftsNothing(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	r := w.file()
	w.complete(w.plan(r.ID))
	editRequest(t, w, r.ID, func(m map[string]any) { m["state"] = gdpr.StateWithdrawn })
	plant(t, w.dir, map[string]string{"s/memory/fix/b.md": name + " is back\n", "s/memory/fix/c.md": "rain\n"})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "vault", Path: filepath.Join(w.dir, "s")}}
	w.open()
	no := errors.New("no")
	for range 2 {
		if swept, _, err := w.desk.Sweep(t.Context(), w.fleet, "", func(gdpr.Plan) error { return no }); !errors.Is(err, no) || len(swept) != 1 {
			t.Fatalf("%d came back, %v; want one, declined", len(swept), err)
		}
	}
}

// TestASweepFindsMoreOfAPerson: an identifier that joins a begun sweep's request makes its plan void.
func TestASweepFindsMoreOfAPerson(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	r := w.file()
	w.complete(w.plan(r.ID))
	note := filepath.Join(w.dir, "s", "memory", "fix", "b.md")
	plant(t, w.dir, map[string]string{"s/memory/fix/b.md": name + " is back\n", "s/memory/fix/c.md": "rain\n"})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "vault", Path: filepath.Join(w.dir, "s")}}
	w.extra = []model.Middleware{func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Forget != nil {
			return model.Errorf(model.Unavailable, "forget", "no answer")
		}
		return next(ctx)
	}}
	w.open()
	swept, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StatePartial {
		t.Fatalf("%+v, %v; want partial", swept, err)
	}
	if err := os.WriteFile(note, []byte(name+" wrote from "+mail+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.desk.Policy.Recipients = []gdpr.Recipient{{Name: name}} // no plan can be made
	if _, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); !errors.Is(err, model.InvalidInput) {
		t.Fatalf("%v; want a refused plan", err)
	}
	if got, err := w.desk.Get(swept[0].Request); err != nil || len(got.Aliases) == 0 || got.PlanHash != "" {
		t.Errorf("%d aliases, plan %q, %v; want a void plan", len(got.Aliases), got.PlanHash, err)
	}
}

// TestASweepOfManySpellings: spellings that one search finds are one identifier of the request. Without that, the
// search of this note takes half a minute.
func TestASweepOfManySpellings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	w.complete(w.plan(w.file().ID))
	var note strings.Builder
	for i := range 1 << 11 { // each letter in another case, and with a mark or without
		for k, c := range name {
			if i>>(k%11)&1 == 1 {
				note.WriteString(strings.ToUpper(string(c)))
			} else if note.WriteRune(c); k%11 > 6 && c != ' ' {
				note.WriteRune('\u0301')
			}
		}
		note.WriteByte('\n')
	}
	plant(t, w.dir, map[string]string{"s/memory/fix/b.md": note.String(), "s/memory/fix/c.md": "rain\n"})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "vault", Path: filepath.Join(w.dir, "s")}}
	w.open()
	aliases := -1
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", func(p gdpr.Plan) error {
		r, err := w.desk.Get(p.Request)
		aliases = len(r.Aliases)
		return err
	})
	if err != nil || len(problems) != 0 || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateComplete || aliases > 2 {
		t.Errorf("%+v, %q, %v, %d aliases", swept, problems, err, aliases)
	}
}

// TestSweepFindsWhateverCameBack restores one thing at a time, past every gate, as a backup or a sync
// peer does.
func TestSweepFindsWhateverCameBack(t *testing.T) {
	t.Parallel()
	tests := []struct{ what, file, body string }{
		{"a note", "vault/memory/idea/hers.md", "# Of " + name + "\n"},
		{"a note's name", "vault/memory/idea/ana-zxribeiro.md", "# Shoes\n\nred\n"},
		{"a conflict copy", "vault/memory/idea/list.sync-conflict-20260527-083015-K3ZQ7AB.md", "# A list\n\n- " + mail + "\n"},
		{"a backup", "vault/memory/idea/list.md.bak", "# A list\n\n- " + mail + "\n"},
		{"an old version that is no text", "vault/.stversions/memory/idea/list~20260101-101011.md", "\x00\nasks " + name + " for tea"},
		{"an old version", "vault/.stversions/memory/idea/list~20260101-101010.md", "once " + ana + "\n"},
		{"a temporary file", "vault/memory/idea/.agentmd-1.tmp", "half of " + name},
		{"a text in UTF-16", "vault/memory/idea/old.txt", utf16le("a text by " + name + ", old")},
		{"base64", "vault/memory/idea/code.md", "# Code\n\n" + base64.StdEncoding.EncodeToString([]byte("- "+mail+" wrote this")) + "\n"},
		{"an agent's snapshot", "a/.memory/.snapshots/r1/AGENT.md", "asks " + name + "\n"},
		{"an agent's temporary file", "a/.memory/AGENT.md.tmp.0123456789abcdef", "asks " + name + "\n"},
		{"a quarantined file", "a/.memory/.quarantine/" + strings.Repeat("ab", 32) + ".md", "---\ncategory: x\npattern: y\n---\nby " + name + "\n"},
		{"an agent's lock file", "a/.memory/topics/" + ana + ".md.lock", ""},
		{"a curated backup", "h/memories/MEMORY.md.bak.1", "knew " + name + "\n"},
		{"a proposal", "h/pending/memory/aa.json", `{"id":"x","subsystem":"memory","action":"add","payload":{"content":"of ` + name + `"}}`},
		{"a compressed backup", "vault/memory/idea/.list.md.bak.gz", gzipped(t, "asks "+name+"\n")},
		{"an archive of backups", "vault/memory/idea/.list.md.bak.zip", zipOf(t, map[string]string{"old/a.md.gz": gzipped(t, "asks "+mail+"\n")})},
		{"an archive among the notes", "vault/memory/idea/a.tar", tarOf(t, map[string]string{"a.md": "asks " + name + "\n"})},
		{"a document", "vault/memory/idea/a.docx", document(t, "by "+name)},
		{"a name in an archive", "a/.memory/.snapshots/r1/old.zip", zipOf(t, map[string]string{ana + ".md": "tea\n"})},
		{"a tracker's other file", "w/.beads/interactions.jsonl", `{"id":"i-1","prompt":"for ` + name + `"}` + "\n"},
		{"a tracker's memory", "w/.beads/issues.jsonl", `{"_type":"memory","key":"k","value":"` + mail + `"}` + "\n" + `{"id":"x-1","title":"tea","status":"open","issue_type":"task"}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			plant(t, w.dir, map[string]string{"h/memories/MEMORY.md": "tea\n", "a/.memory/AGENT.md": "tea\n", "vault/memory/idea/list.md": "# A list\n\n- tea\n",
				"w/.beads/issues.jsonl": `{"id":"x-1","title":"tea","status":"open","issue_type":"task"}` + "\n"})
			w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")}, {Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "a", ".memory")},
				{Name: "desk", Kind: "curated", Path: filepath.Join(w.dir, "h", "memories")}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
			w.open()
			r := w.file()
			w.complete(w.plan(r.ID))
			plant(t, w.dir, map[string]string{tt.file: tt.body})
			w.open()
			swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
			if err != nil || len(problems) > 0 || len(swept) != 1 || swept[0].Of != r.ID || swept[0].Outcome.Status != gdpr.StateComplete {
				t.Fatalf("Sweep = %+v, %q, %v", swept, problems, err)
			}
			for file, body := range tree(t, w.dir) {
				for _, word := range []string{ana, mail, name} {
					for form, needle := range needlesOf(word) {
						if strings.Contains(file+"\n"+body, string(needle)) {
							t.Errorf("%s still holds %s (%s)", file, word, form)
						}
					}
				}
			}
			if again, _, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(again) != 0 {
				t.Errorf("a second sweep finds %+v, %v", again, err)
			}
		})
	}
}

// TestSweepFindsATextPutAside: an editor that was open during the erasure leaves its text in memdesk's own state.
func TestSweepFindsATextPutAside(t *testing.T) {
	t.Parallel()
	for file, body := range map[string]string{"tea.md": "a draft for " + name + "\n", ana + ".md": "tea\n"} {
		w := newWorld(t)
		w.open()
		r := w.file()
		w.complete(w.plan(r.ID))
		at := filepath.Join("edit", "kept", "20260527-083015-"+file)
		plant(t, w.desk.State, map[string]string{at: body, filepath.Join("edit", "kept", "20260527-083015-shoes.md"): "red\n"})
		swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
		if err != nil || len(problems) > 0 || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateComplete {
			t.Fatalf("%s: Sweep = %+v, %q, %v", file, swept, problems, err)
		}
		if left := tree(t, filepath.Join(w.desk.State, "edit", "kept")); len(left) != 1 {
			t.Errorf("%s: put aside are %q", file, left)
		}
	}
}

// TestASweepOfADatabaseInAFile: its words are compared, and the sweep says that this is not all.
func TestASweepOfADatabaseInAFile(t *testing.T) {
	t.Parallel()
	database := "SQLite format 3\x00\x10\x00" + strings.Repeat("\x00", 100) + "\x01\x02" + name + "\x00\x03"
	for file, body := range map[string]string{"a.zip": zipOf(t, map[string]string{"old.db": database}), "old.db.gz": gzipped(t, database)} {
		w := newWorld(t)
		plant(t, w.dir, map[string]string{"vault/memory/idea/list.md": "# A list\n\n- tea\n"})
		w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
		w.open()
		w.complete(w.plan(w.file().ID))
		plant(t, w.dir, map[string]string{"vault/memory/idea/" + file: body})
		w.open()
		swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
		if err != nil || len(swept) != 1 || swept[0].Items != 1 || len(problems) != 1 || !strings.Contains(problems[0], "a database in a file") {
			t.Errorf("%s: %+v, %q, %v", file, swept, problems, err)
		}
	}
}

// TestSweepTellsWhatItCannotOpen: a restored archive that cannot be opened must be reported.
func TestSweepTellsWhatItCannotOpen(t *testing.T) {
	w := newWorld(t)
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
	plant(t, w.dir, map[string]string{"vault/memory/idea/list.md": "# A list of " + name + "\n"})
	w.open()
	r := w.file()
	w.complete(w.plan(r.ID))
	plant(t, w.dir, map[string]string{"vault/memory/idea/.list.md.bak": "\xfd7zXZ\x00\x00\x04"})
	w.open()
	_, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if want := "notes: not looked into: xz archive that cannot be read, or is encrypted: not opened; look inside by hand"; err != nil || len(problems) != 1 || problems[0] != want {
		t.Errorf("Sweep tells %q, %v; want %q", problems, err, want)
	}
}
