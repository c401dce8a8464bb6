package gdpr_test

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// TestSecondNames erases a subject from files with a second name outside their store: the receipt must
// not claim that the bytes there are gone.
func TestSecondNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, body string
		config           backends.StoreConfig
	}{
		{"a note that goes", "vault/memory/idea/hers.md", "# Of " + name + "\n", backends.StoreConfig{Kind: "vault", Path: "vault"}},
		{"a note that is redacted", "vault/memory/idea/list.md", "# A list\n\n- " + name + "\n- bob\n- tea\n", backends.StoreConfig{Kind: "vault", Path: "vault"}},
		{"an agent's file", "a/.memory/AGENT.md", "asks " + name + "\n", backends.StoreConfig{Kind: "crewship", Path: "a/.memory"}},
		{"an agent's shared file", "a/.memory/AGENT.md", "asks " + name + "\nand bob\nand tea\n", backends.StoreConfig{Kind: "crewship", Path: "a/.memory"}},
		{"a temporary file", "a/.memory/AGENT.md.tmp.0123456789abcdef", "asks " + name + "\n", backends.StoreConfig{Kind: "crewship", Path: "a/.memory"}},
		{"a quarantined file", "a/.memory/.quarantine/" + strings.Repeat("ab", 32) + ".md", "---\ncategory: x\npattern: y\n---\n" + name + "\n", backends.StoreConfig{Kind: "crewship", Path: "a/.memory"}},
		{"a curated file", "h/memories/MEMORY.md", "knows " + name + "\n§\nknows bob\n", backends.StoreConfig{Kind: "curated", Path: "h/memories"}},
		{"a proposal", "h/pending/memory/aa.json", `{"id":"x","subsystem":"memory","action":"add","payload":{"content":"` + name + `"}}`, backends.StoreConfig{Kind: "curated", Path: "h/memories"}},
		{"a tracker's file", "w/.beads/issues.jsonl", `{"id":"x-1","title":"` + name + `","status":"open","issue_type":"task"}` + "\n", backends.StoreConfig{Kind: "beads", Path: "w"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			plant(t, w.dir, map[string]string{tt.file: tt.body, "h/memories/USER.md": "tea\n", "a/.memory/daily/2026-02-01.md": "- tea\n"})
			second := filepath.Join(w.dir, "elsewhere")
			if err := os.Link(filepath.Join(w.dir, tt.file), second); err != nil {
				t.Fatal(err)
			}
			tt.config.Name, tt.config.Path = "s", filepath.Join(w.dir, tt.config.Path)
			w.more = []backends.StoreConfig{tt.config}
			w.open()
			r := w.file()
			p := w.plan(r.ID)
			told := false
			for _, s := range p.Stores {
				for _, st := range s.Steps {
					told = told || strings.Contains(st.Reason, "second name")
				}
			}
			if !told {
				t.Errorf("the plan says nothing of the second name: %+v", p.Stores)
			}
			out, err := w.erase(p)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(second); err != nil || !strings.Contains(string(b), name) {
				return // written in place: the second name has the new text
			}
			if out.Status == gdpr.StateComplete && !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
				return l.Verdict == model.VerdictOutOfScope && strings.Contains(l.Reason, "second name")
			}) {
				t.Errorf("complete, and nothing says that the text stands under another name: %+v", out.Layers)
			}
		})
	}
}

// TestOpenHandles erases a subject from files that a process holds open: the request waits until they are
// closed.
func TestOpenHandles(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not show open files")
	}
	for _, file := range []string{"daily/2026-02-01.md", "AGENT.md", ".snapshots/r1/AGENT.md"} { // forgotten, redacted, scrubbed
		t.Run(file, func(t *testing.T) {
			w := newWorld(t)
			w.fill()
			r := w.file()
			p := w.plan(r.ID)
			f, err := os.Open(filepath.Join(w.path("agent"), file))
			if err != nil {
				t.Fatal(err)
			}
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StatePending {
				t.Errorf("while it is open: %s, %v; want pending", out.Status, err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			w.complete(p)
		})
	}
}

// TestDirtyIndex erases a subject from a search index from which Crewship already deleted the subject's
// rows, as it does on reindexing: the words are still in it.
func TestDirtyIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	index := filepath.Join(w.path("agent"), "index.sqlite")
	makeChunks(t, index, "met "+name+" at the pier", "about tea", "asked "+ana+" again", "about rain")
	db, err := sql.Open("sqlite3", index)
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, db, "DELETE FROM memory_chunks WHERE rowid IN (1, 3)", "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := w.file()
	w.complete(w.plan(r.ID))
	if left := w.traces(w.dir, w.desk.State); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
}

// TestGitHistoryIsNamed erases a subject whom commits name: plan and receipt must list the commits, for
// every kind of store.
func TestGitHistoryIsNamed(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	w := newWorld(t)
	w.fill()
	plant(t, w.dir, map[string]string{"notes/memory/idea/list.md": "# A list\n\n- " + name + "\n- bob\n- tea\n", "work/.beads/issues.jsonl": `{"id":"x-1","title":"of ` + name + `","status":"open","issue_type":"task"}` + "\n",
		"h/memories/MEMORY.md": "knows " + name + "\n§\nknows bob\n", "quiet/memory/idea/x.md": "# Tea\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "notes")}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "work")},
		{Name: "desk", Kind: "curated", Path: filepath.Join(w.dir, "h", "memories")}, {Name: "quiet", Kind: "vault", Path: filepath.Join(w.dir, "quiet")}}
	w.open()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", w.dir, "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "as it was")
	commit := git("rev-parse", "--short=12", "HEAD")
	r := w.file()
	p := w.plan(r.ID)
	out := w.inScope(p)
	_, rec, _, err := w.desk.Receipt(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{"db", "agent", "notes", "work", "desk"} {
		planned := false
		for _, s := range p.Stores {
			for _, st := range s.Steps {
				planned = planned || s.Store == store && st.Action == gdpr.OutOfScope && strings.Contains(st.Reason, commit)
			}
		}
		named := func(l receipt.Layer) bool {
			return l.Store == store && (l.Verdict == model.VerdictOutOfScope || l.Verdict == model.VerdictAttested) && strings.Contains(l.Reason, commit)
		}
		if !planned || !slices.ContainsFunc(out.Layers, named) || !slices.ContainsFunc(rec.Layers, named) {
			t.Errorf("%s: the commit is not named: in the plan %v, in the receipt %v", store, planned, slices.ContainsFunc(rec.Layers, named))
		}
	}
	if slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool { return l.Store == "quiet" && strings.Contains(l.Reason, commit) }) {
		t.Error("a commit is named for a store of which it holds nothing of her")
	}
}

// TestARepositoryInAStore erases a subject whom the history of a repository below the store's directory names: the commits
// are named, and the repository stays whole.
func TestARepositoryInAStore(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"notes/tide.md": "high\n", "notes/sub/her.md": "of " + name + "\n", "ship/crews/c1/agents/a/.memory/daily/2026-02-01.md": "rain\n",
		"ship/crews/c1/agents/a/.memory/topics/her.md": "of " + name + "\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "notes")}, {Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "ship"), BasePath: filepath.Join(w.dir, "ship")}}
	dirs := []string{filepath.Join(w.dir, "notes/sub"), filepath.Join(w.dir, "ship/crews/c1/agents/a/.memory")}
	git := func(dir string, args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	for _, dir := range dirs {
		git(dir, "init", "-q")
		git(dir, "add", "-A")
		git(dir, "commit", "-qm", "as it was")
		git(dir, "rm", "-qr", "--cached", ".")
		git(dir, "gc", "-q")
	}
	for _, mirror := range []string{"notes/mirror", "ship/crews/c1/agents/a/.memory/topics/mirror"} { // bare ones
		mirror = filepath.Join(w.dir, mirror)
		git(w.dir, "clone", "-q", "--bare", dirs[0], mirror)
		git(mirror, "repack", "-adq")
		dirs = append(dirs, mirror)
	}
	w.open()
	for id := range w.contents() {
		if strings.Contains(id, "mirror") {
			t.Errorf("%s of a repository is an item", id)
		}
	}
	out := w.inScope(w.plan(w.file().ID)) // each layer that holds her is attested
	for _, store := range []string{"notes", "ship"} {
		for _, end := range []string{"/.git", "mirror"} {
			if !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
				return l.Store == store && strings.HasSuffix(l.Layer, end) && l.HoldsPerson()
			}) {
				t.Errorf("%s: the repository %s is not named: %+v", store, end, out.Layers)
			}
		}
	}
	for _, dir := range dirs {
		git(dir, "fsck", "--full")
	}
}

// TestAFileOfTwoStores: each of two stores counts its item, and plan and receipt say that it is one file.
func TestAFileOfTwoStores(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/sub/hers.md": name + " likes rye\n", "v/tide.md": "high\n", "v/sub/tide.md": "high\n"})
	w.more = []backends.StoreConfig{{Name: "v", Kind: "vault", Path: filepath.Join(w.dir, "v")}, {Name: "part", Kind: "vault", Path: filepath.Join(w.dir, "v", "sub")}}
	w.open()
	p := w.plan(w.file().ID)
	const words = "1 of its items are files that v shows too"
	if i := slices.IndexFunc(p.Stores, func(sp gdpr.StorePlan) bool { return sp.Store == "part" }); !strings.Contains(strings.Join(p.Stores[i].Notes, "; "), words) {
		t.Errorf("the plan says %q", p.Stores[i].Notes)
	}
	w.complete(p)
	if _, rec, _, err := w.desk.Receipt(p.Request); err != nil || rec.Forgotten != 2 || !strings.Contains(strings.Join(rec.Notes, "; "), "part: "+words) {
		t.Errorf("the receipt counts %d and says %q, %v", rec.Forgotten, rec.Notes, err)
	}
}

// TestAFileOfTwoStoresIsNotMissing: what a run removed through one of two stores over a directory is missing from neither.
func TestAFileOfTwoStoresIsNotMissing(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/sub/hers.md": name + " likes rye\n", "v/sub/hers2.md": name + " likes tea\n", "v/sub/map.zst": shut, "v/tide.md": "high\n", "v/sub/tide.md": "high\n", "v/sub/ebb.md": "low\n"})
	w.more = []backends.StoreConfig{{Name: "v", Kind: "vault", Path: filepath.Join(w.dir, "v")}, {Name: "part", Kind: "vault", Path: filepath.Join(w.dir, "v", "sub")}}
	w.open()
	r := w.file()
	if out, err := w.erase(w.planned(r.ID)); err != nil || out.Status != gdpr.StatePartial || out.Forgotten != 4 {
		t.Fatalf("%s, %d forgotten, %v", out.Status, out.Forgotten, err)
	}
	if err := os.Remove(filepath.Join(w.dir, "v/sub/ebb.md")); err != nil {
		t.Fatal(err)
	}
	w.open()
	p := w.planned(r.ID)
	for _, sp := range p.Stores {
		if len(sp.Missing) > 0 {
			t.Errorf("%s: missing %q, %q", sp.Store, sp.Missing, sp.Notes)
		}
	}
	if out, err := w.erase(p); err != nil || out.Forgotten != 4 {
		t.Errorf("%d forgotten, %v; want the sum of both runs", out.Forgotten, err)
	}
}
