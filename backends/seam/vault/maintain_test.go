package vault_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/seam/internal/notes"
	"memdesk/backends/seam/vault"
	"memdesk/model"
)

// withHome gives a configuration its own home and state directory.
func withHome(t *testing.T, cfg vault.Config) (vault.Config, string) {
	t.Helper()
	home := t.TempDir()
	cfg.Env = func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}
	return cfg, home
}

func layers(t *testing.T, s model.Store) map[string]model.Layer {
	t.Helper()
	list, err := s.Maintainer.Layers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]model.Layer{}
	for _, l := range list {
		if _, twice := out[l.ID]; twice || l.ID == "" || strings.HasPrefix(l.ID, "/") {
			t.Errorf("layer %q stands twice, or has no name of its own", l.ID)
		}
		out[l.ID] = l
	}
	return out
}

// residue are leftovers beside a note that name the subject.
func residue() map[string]string {
	return map[string]string{
		"memory/idea/maren.md": "maren's note",
		"memory/idea/maren.md.77.0123456789abcdef0123456789abcdef.tmp": "unfinished",
		"memory/idea/.agentmd-1.tmp":                                   "about maren",
		"memory/idea/.agentmd-2.tmp":                                   "about otto",
		"memory/idea/otto.md":                                          "otto's note",
		".stversions/memory/idea/maren~20260101-101010.md":             "an old one",
		".stversions/memory/idea/otto~20260101-101010.md":              "an old one of otto",
		".obsidian/workspace.json":                                     `{"open": "maren.md"}`,
		".lifecycle.json":                                              "{\n \"entries\": {\n  \"maren\": {},\n  \"otto\": {}\n }\n}\n",
		"plain.bin":                                                    "\xff\x00",
	}
}

func TestLayersNameEverything(t *testing.T) {
	cfg, home := withHome(t, fresh(t))
	for name, text := range residue() {
		plant(t, cfg.Path, name, text)
	}
	plant(t, cfg.Path, ".git/config", "x")
	plant(t, cfg.Path, ".agentm-config.json", "{}")
	plant(t, home, ".local/state/agentm/index.db", "x")
	plant(t, home, ".local/state/agentm/enrichment-journal.jsonl", "{}\n")
	plant(t, home, ".cache/agentm/dream/revert-log/a.jsonl", "{}\n")
	plant(t, home, ".cache/agentm/telemetry/recall-history.jsonl", "{}\n")
	if err := os.Symlink("plain.bin", filepath.Join(cfg.Path, "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(cfg.Path, "memory/empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(cfg.Path, "plain.bin"), filepath.Join(home, "second")); err != nil {
		t.Fatal(err)
	}
	s := open(t, cfg)
	got := layers(t, s)
	for id, want := range map[string]model.LayerKind{
		"memory/idea/maren.md": model.LayerItem, "memory/idea/.agentmd-1.tmp": model.LayerDerived, "plain.bin": model.LayerItem,
		".stversions/memory/idea/maren~20260101-101010.md": model.LayerDerived, ".obsidian/workspace.json": model.LayerExternal,
		".lifecycle.json": model.LayerDerived, "memory/empty/": model.LayerDerived, ".git": model.LayerExternal, ".agentm-config.json": model.LayerExternal, "link.md": model.LayerExternal,
		"(state)/index.db": model.LayerExternal, "(state)/enrichment-journal.jsonl": model.LayerExternal,
		"(cache)/dream/revert-log/a.jsonl": model.LayerDerived, "(cache)/telemetry/recall-history.jsonl": model.LayerDerived,
	} {
		l, ok := got[id]
		if !ok || l.Kind != want || (l.ItemID != "") != (want == model.LayerItem) || want == model.LayerExternal && l.Reason == "" {
			t.Errorf("layer %s: %+v, %v; want %s", id, l, ok, want)
		}
	}
	if l := got["memory/empty/"]; l.Reason != "" || l.Bytes != 0 {
		t.Errorf("an empty directory: %+v", l)
	}
	if !strings.Contains(got["plain.bin"].Reason, "second name") {
		t.Errorf("a hard link is not told: %+v", got["plain.bin"])
	}
	for id, l := range got {
		r, err := s.Maintainer.OpenLayer(t.Context(), id)
		if (err == nil) != l.Readable {
			t.Errorf("opening %s: %v, readable %v", id, err, l.Readable)
		}
		if err == nil {
			data, err := io.ReadAll(r)
			if err != nil || int64(len(data)) != l.Bytes {
				t.Errorf("%s gives %d of %d bytes, %v", id, len(data), l.Bytes, err)
			}
			_ = r.Close()
		}
	}
	if _, err := s.Maintainer.OpenLayer(t.Context(), "../x"); err == nil {
		t.Error("a layer outside is opened")
	}
}

// The books keep the slugs of notes that went before, by other hands: an erasure that left them could never end.
func TestScrubTakesTheSubjectOutOfTheBooks(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "memory/idea/otto.md", "otto's note")
	plant(t, cfg.Path, ".lifecycle.json", `{"version": 1, "entries": {"maren-boat": {"n": 1}, "otto": {"near": "maren-boat", "n": 1.50}}}`)
	plant(t, cfg.Path, ".heat.json", `{"maren": 3, "otto": 4}`)
	s := open(t, cfg)
	req := model.ScrubRequest{
		Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("maren")) },
		Redact:   func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("maren"), []byte("[erased]")) },
	}
	if _, err := s.Maintainer.Scrub(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		".lifecycle.json": `{"version": 1, "entries": {"otto": {"near": "[erased]-boat", "n": 1.50}}}`,
		".heat.json":      `{"otto": 4}`,
	} {
		if data, err := os.ReadFile(filepath.Join(cfg.Path, name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v; want %q", name, data, err, want)
		}
	}
}

// The entries of a note on hold stay as they are, and those of others lose the subject.
func TestBooksOfAHeldNote(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "memory/idea/maren-boat.md", "a boat\n")
	const of = `"maren-boat": {"by":  "maren", "n": 1.50}`
	plant(t, cfg.Path, ".lifecycle.json", `{"version": 1, "entries": {"otto": {"near": "maren-boat"}, `+of+`, "ida": {"n": 2}}}`)
	plant(t, cfg.Path, ".heat.json", `{"maren-boat": 3, "otto": "maren"}`)
	s := open(t, cfg)
	req := model.ScrubRequest{Held: []string{"memory/idea/maren-boat.md"}, Concerns: func(b []byte) bool { return strings.Contains(string(b), "maren") },
		Redact: func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "maren", "[erased]")) }}
	var rows []string
	list := req
	list.Dry, list.Concerns, list.SideRows = true, nil, func(row model.SideRow) {
		rows = append(rows, strings.Join(row.Of, "")+": "+row.Cells[len(row.Cells)-1].Words)
	}
	if _, err := s.Maintainer.Scrub(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	if want := []string{`memory/idea/maren-boat.md: "maren-boat": 3`, "memory/idea/maren-boat.md: " + of}; !slices.Equal(rows, want) {
		t.Errorf("listed: %q; want %q", rows, want)
	}
	listed := len(rows)
	list.Concerns = req.Concerns
	if _, err := s.Maintainer.Scrub(t.Context(), list); err != nil || len(rows) != 2*listed+2 || !slices.ContainsFunc(rows[listed:], func(row string) bool { return row == `: {"otto": "maren"}` }) {
		t.Errorf("with the books: %q, %v", rows[listed:], err)
	}
	if _, err := s.Maintainer.Scrub(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		".lifecycle.json": `{"version": 1, "entries": {"otto": {"near": "[erased]-boat"}, ` + of + `, "ida": {"n": 2}}}`,
		".heat.json":      `{"maren-boat": 3, "otto": "[erased]"}`,
	} {
		if got, err := os.ReadFile(filepath.Join(cfg.Path, file)); err != nil || string(got) != want {
			t.Errorf("%s: %s; want %s (%v)", file, got, want, err)
		}
	}
}

// A removed note may be called as a key of a book's own form: the entries of other notes stay.
func TestScrubKeepsTheFormOfTheBooks(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "memory/idea/otto.md", "otto's note")
	book := func(slugs string) string {
		return `{"version": 1, "entries": {` + slugs + `"otto": {"last_access": "2026-06-01"}}}`
	}
	plant(t, cfg.Path, ".lifecycle.json", book(`"entries": {"last_access": "2026-06-02"}, `))
	s := open(t, cfg)
	if _, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"memory/idea/entries.md", "memory/idea/version.md", "memory/idea/last_access.md"}}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(cfg.Path, ".lifecycle.json")); err != nil || string(data) != book("") {
		t.Errorf("the book holds %s, %v", data, err)
	}
}

// A daemon that has its log open goes on writing into the text that the scrub moved aside: the log is not clean.
func TestScrubOfALogThatIsOpen(t *testing.T) {
	cfg, home := withHome(t, fresh(t))
	const name = ".cache/agentm/telemetry/recall-history.jsonl"
	plant(t, home, name, `{"hit":"maren"}`+"\n"+`{"hit":"otto"}`+"\n")
	s := open(t, cfg)
	f, err := os.OpenFile(filepath.Join(home, name), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("maren")) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res {
		if r.Layer == "(cache)/telemetry/recall-history.jsonl" && r.Verdict == model.VerdictPending && strings.Contains(r.Reason, "conflict") {
			return
		}
	}
	t.Errorf("%+v", res)
}

func TestScrub(t *testing.T) {
	cfg, home := withHome(t, fresh(t))
	for name, text := range residue() {
		plant(t, cfg.Path, name, text)
	}
	plant(t, home, ".local/state/agentm/index.db", "binary maren binary")
	encoded := base64.StdEncoding.EncodeToString([]byte("a text about maren in full"))
	plant(t, home, ".cache/agentm/dream/revert-log/a.jsonl", `{"pre":"`+encoded+`"}`+"\n"+`{"pre":"b3R0bydzIG5vdGU="}`+"\n")
	plant(t, home, ".cache/agentm/telemetry/recall-history.jsonl", `{"hit":"memory/idea/maren.md"}`+"\n"+`{"hit":"otto"}`+"\n")
	s := open(t, cfg)
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "memory/idea/maren.md"}); err != nil {
		t.Fatal(err)
	}
	req := model.ScrubRequest{
		Removed:  []string{"memory/idea/maren.md"},
		Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("maren")) },
	}
	results, err := s.Maintainer.Scrub(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]model.Verdict{}
	for _, r := range results {
		verdicts[r.Layer] = r.Verdict
		if r.Verdict != model.VerdictClean && r.Reason == "" {
			t.Errorf("%+v has no reason", r)
		}
	}
	for layer, want := range map[string]model.Verdict{
		"memory/idea/.agentmd-1.tmp": model.VerdictClean, ".lifecycle.json": model.VerdictClean,
		"(state)/index.db": model.VerdictOutOfScope, ".obsidian/workspace.json": model.VerdictOutOfScope,
		"(cache)/dream/revert-log/a.jsonl": model.VerdictClean, "(cache)/telemetry/recall-history.jsonl": model.VerdictClean,
	} {
		if verdicts[layer] != want {
			t.Errorf("%s: %q, want %q", layer, verdicts[layer], want)
		}
	}
	gone := []string{"memory/idea/maren.md.77.0123456789abcdef0123456789abcdef.tmp", "memory/idea/.agentmd-1.tmp", ".stversions/memory/idea/maren~20260101-101010.md"}
	for name, text := range residue() {
		data, err := os.ReadFile(filepath.Join(cfg.Path, name))
		switch {
		case slices.Contains(gone, name) || name == "memory/idea/maren.md":
			if err == nil {
				t.Errorf("%s is still there", name)
			}
		case name == ".lifecycle.json":
			if want := "{\n \"entries\": {\n  \"otto\": {}\n }\n}\n"; string(data) != want {
				t.Errorf("the books hold %q", data)
			}
		case string(data) != text:
			t.Errorf("the bystander %s holds %q, %v", name, data, err)
		}
	}
	for name, want := range map[string]string{
		".cache/agentm/dream/revert-log/a.jsonl":       `{"pre":"b3R0bydzIG5vdGU="}` + "\n",
		".cache/agentm/telemetry/recall-history.jsonl": `{"hit":"otto"}` + "\n",
		".local/state/agentm/index.db":                 "binary maren binary",
	} {
		if data, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
	again, err := s.Maintainer.Scrub(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range again {
		if r.Verdict == model.VerdictClean && !strings.HasPrefix(r.Layer, "(memdesk)") {
			t.Errorf("the second run finds something to do: %+v", r)
		}
	}
}

func TestWatch(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "a/n.md", "x")
	s := open(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes, err := s.Watcher.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"a/n.md": true, "new/deep/m.md": true}
	plant(t, cfg.Path, "a/n.md", "y")
	plant(t, cfg.Path, "new/deep/m.md", "z")
	plant(t, cfg.Path, ".git/x", "z")
	plant(t, cfg.Path, "a/n.md.tmp.0123456789abcdef", "z")
	timeout := time.After(20 * time.Second)
	for len(want) > 0 {
		select {
		case c := <-changes:
			if c.Lost {
				t.Fatal("a small burst is told as lost")
			}
			if strings.Contains(c.ID, "git") || strings.Contains(c.ID, "tmp") {
				t.Errorf("machinery is told: %q", c.ID)
			}
			delete(want, c.ID)
		case <-timeout:
			t.Fatalf("never told: %v", want)
		}
	}
	many := map[string]bool{} // each is reported, or that some were lost
	for n := range 400 {
		many[fmt.Sprintf("many/n%d.md", n)] = true
	}
	for id := range maps.Clone(many) {
		plant(t, cfg.Path, id, "x")
	}
	for timeout = time.After(60 * time.Second); len(many) > 0; {
		select {
		case c := <-changes:
			if c.Lost {
				clear(many)
			}
			delete(many, c.ID)
		case <-timeout:
			t.Fatalf("%d of a large burst are never told", len(many))
		}
	}
	cancel()
	for range changes { // until it is closed
	}
}

// TestScrubRemovesAnOldIndex of all notes' words, built by an earlier memdesk, and leaves what stands beside it.
func TestScrubRemovesAnOldIndex(t *testing.T) {
	cfg, home := withHome(t, fresh(t))
	plant(t, cfg.Path, "memory/idea/otto.md", "otto's note")
	dir := filepath.Join(home, ".local/state/memdesk/index")
	known := filepath.Base(notes.KnownFile(cfg.Path, cfg.Env))
	own := strings.TrimSuffix(known, ".known") + ".db"
	for _, name := range []string{own, "building-77.db", known, "0123456789abcdef.db"} {
		plant(t, dir, name, "maren")
	}
	results, err := open(t, cfg).Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"memory/idea/maren.md"}})
	if err != nil || len(results) != 2 || results[0].Verdict != model.VerdictClean {
		t.Errorf("%+v, %v", results, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name() != min(known, "0123456789abcdef.db") {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestScrubLeavesBystanders whose names end as a removed note's do.
func TestScrubLeavesBystanders(t *testing.T) {
	cfg, home := withHome(t, fresh(t))
	kept := map[string]string{
		".stversions/desk/ai~20260101-101010.md":              "an old one of desk/ai.md",
		".stversions/memory/ideas/ai~20260101-101010.md":      "an old one of memory/ideas/ai.md",
		".stversions/x/memory/idea/ai~20260101-101010.md":     "an old one of x/memory/idea/ai.md",
		".stversions/other-memory/idea/ai~20260101-101010.md": "an old one of other-memory/idea/ai.md",
		"desk/.trash/other-memory/idea/ai.md":                 "of the desk's other-memory/idea/ai.md",
		".stversions/memory/idea/ai~light~20260101-101010.md": "an old one of memory/idea/ai~light.md",
	}
	gone := map[string]string{
		".stversions/ai~20260101-101010.md":             "an old one of ai.md",
		".stversions/memory/idea/ai~20260101-101010.md": "an old one of memory/idea/ai.md",
		"memory/.trash/idea/ai.md":                      "in the trash of memory",
		".trash/ai.md":                                  "in the trash, from anywhere",
		"ai.md~":                                        "a backup",
	}
	for _, files := range []map[string]string{kept, gone} {
		for name, text := range files {
			plant(t, cfg.Path, name, text)
		}
	}
	log := `{"hit":"desk/kai.md"}` + "\n" + `{"hit":"memory/idea/ai.md.old"}` + "\n" + `{"hit":"x/memory/idea/ai.md"}` + "\n" + `{"hit":"elsewhere/ai.md"}` + "\n"
	plant(t, home, ".cache/agentm/telemetry/recall-history.jsonl", log+`{"hit":"ai.md"}`+"\n"+`{"hits":["memory/idea/ai.md","b.md"]}`+"\n"+`{"hit":"`+cfg.Path+`/ai.md"}`+"\n"+`{"note":"see ai.md."}`+"\n"+`{"hit":"\u00e9\ud83d\ude00.md"}`+"\n")
	s := open(t, cfg)
	if _, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: []string{"ai.md", "memory/idea/ai.md", "é😀.md"}}); err != nil {
		t.Fatal(err)
	}
	for name := range kept {
		if _, err := os.Lstat(filepath.Join(cfg.Path, name)); err != nil {
			t.Errorf("the bystander %s: %v", name, err)
		}
	}
	for name := range gone {
		if _, err := os.Lstat(filepath.Join(cfg.Path, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if data, err := os.ReadFile(filepath.Join(home, ".cache/agentm/telemetry/recall-history.jsonl")); err != nil || string(data) != log {
		t.Errorf("the log holds %q, %v", data, err)
	}
}
