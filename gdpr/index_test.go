package gdpr_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// TestAnIndexOfFilesThatAreRenamed: a file named after the subject must get another name, and its index
// line must link there, in the same place; front matter must stay readable for its program. One run
// must do all of it.
func TestAnIndexOfFilesThatAreRenamed(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "claude")
	memory := filepath.Join(dir, "projects", "-home-dev", "memory")
	if err := os.MkdirAll(memory, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"MEMORY.md":                  "# Index\r\n\r\n- [Deploys](deploys.md) — Tuesdays\r\n- [" + name + " prefers mail](ana-zxribeiro-mail.md) — asked\r\n- [A note](A%20note%20of%20Ana%20Zxribeiro.md) — linked\r\n- [Other](mariana-zxribeiro-mail.md) — Mariana's\r\n- [Tabs](tabs.md) — says " + name + "\r\n- [More](more.md) — not indexed before\r\n",
		"deploys.md":                 "---\nname: Deploys\ndescription: Tuesdays\ntype: project\n---\nOn Tuesdays.\n",
		"ana-zxribeiro-mail.md":      "---\nname: " + name + " prefers mail\ndescription: asked\ntags:\n  - " + name + " and mail\nmetadata:\n  type: user\n---\nMail, never chat.\n" + name + ": yes.\nAnd so on.\nAnd on.\n",
		"tabs.md":                    "---\nname: Tabs\ndescription: says " + name + "\nmetadata:\n  type: feedback\n---\nUse tabs.\nThree lines.\nAnd more.\n",
		"A note of Ana Zxribeiro.md": "---\nname: A note\ndescription: linked\ntype: project\n---\nTea for " + name + ".\nAnd more.\nAnd more again.\nAnd on.\n",
		"mariana-zxribeiro-mail.md":  "---\nname: Other\ndescription: Mariana's\ntype: project\n---\nAnother person.\n",
		"more.md":                    "---\nname: More\ndescription: not indexed before\ntype: project\n---\nMore.\n",
	} {
		if err := os.WriteFile(filepath.Join(memory, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: dir}}
	w.open()
	p := w.plan(w.file().ID)
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StateComplete && out.Status != gdpr.StateInScope {
		t.Fatalf("%+v, %v", out, err)
	}
	read := func(file string) string {
		b, err := os.ReadFile(filepath.Join(memory, file))
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	if got, want := read("MEMORY.md"), "# Index\r\n\r\n- [Deploys](deploys.md) — Tuesdays\r\n- [[erased] prefers mail](erased-mail.md) — asked\r\n- [A note](A%20note%20of%20erased.md) — linked\r\n- [Other](mariana-zxribeiro-mail.md) — Mariana's\r\n- [Tabs](tabs.md) — says [erased]\r\n- [More](more.md) — not indexed before\r\n"; got != want {
		t.Errorf("the index is\n%q, want\n%q", got, want)
	}
	if got := read("erased-mail.md"); !strings.HasPrefix(got, "---\nname: erased prefers mail\ndescription: asked\ntags:\n  - erased and mail\n") || !strings.Contains(got, "---\nMail, never chat.\n[erased]: yes.\n") {
		t.Errorf("the renamed file is\n%s", got)
	}
	if got := read("tabs.md"); !strings.HasPrefix(got, "---\nname: Tabs\ndescription: says [erased]\n") {
		t.Errorf("tabs.md is\n%s", got)
	}
	s, err := w.fleet.Store("claude")
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Browser.Read(t.Context(), "projects/-home-dev/memory/erased-mail.md")
	if err != nil || it.Tier != "user" || it.Title != "erased prefers mail" {
		t.Errorf("the renamed file is of tier %q, %q, %v", it.Tier, it.Title, err)
	}
}

// TestIndexesOfFilesThatGo: an index must lose the lines of forgotten files, must be edited and not forgotten
// however much of it names the subject, may go with its last line, and must move with a directory that is
// named after the subject.
func TestIndexesOfFilesThatGo(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "claude")
	for file, text := range map[string]string{
		"agent-memory/a/MEMORY.md":                                    "# Index\n- [Mail](ana-zxribeiro.md) — prefers it\n- [Tea](tea.md)\n",
		"agent-memory/a/ana-zxribeiro.md":                             name + " prefers mail.\n",
		"agent-memory/a/tea.md":                                       "Tea.\n",
		"agent-memory/b/MEMORY.md":                                    "- [" + name + "](tea.md)\n",
		"agent-memory/b/tea.md":                                       "Tea.\n",
		"agent-memory/c/MEMORY.md":                                    "- [Mail](mail.md)\n",
		"agent-memory/c/mail.md":                                      name + " prefers mail.\n",
		"projects/-home-ana-zxribeiro-w/memory/MEMORY.md":             "# Index\n\n- [Tea](tea.md)\n- [Mail](mail.md)\n- [Chat](ana-zxribeiro-chat.md) and [Tea](tea.md)\n",
		"projects/-home-ana-zxribeiro-w/memory/tea.md":                "Tea.\n",
		"projects/-home-ana-zxribeiro-w/memory/mail.md":               name + " prefers mail.\n",
		"projects/-home-ana-zxribeiro-w/memory/ana-zxribeiro-chat.md": "Never.\n" + name + " said so.\nAnd on.\nAnd on.\n",
	} {
		at := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: dir}}
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	if err != nil || out.Status != gdpr.StateComplete && out.Status != gdpr.StateInScope {
		t.Fatalf("%+v, %v", out, err)
	}
	got := map[string]string{}
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, at)
			data, rerr := os.ReadFile(at)
			got[filepath.ToSlash(rel)], err = string(data), rerr
		}
		return err
	})
	want := map[string]string{
		"agent-memory/a/MEMORY.md":                      "# Index\n- [Tea](tea.md)\n",
		"agent-memory/a/tea.md":                         "Tea.\n",
		"agent-memory/b/MEMORY.md":                      "- [[erased]](tea.md)\n",
		"agent-memory/b/tea.md":                         "Tea.\n",
		"projects/-home-erased-w/memory/MEMORY.md":      "# Index\n\n- [Tea](tea.md)\n- [Chat](erased-chat.md) and [Tea](tea.md)\n",
		"projects/-home-erased-w/memory/tea.md":         "Tea.\n",
		"projects/-home-erased-w/memory/erased-chat.md": "Never.\n[erased] said so.\nAnd on.\nAnd on.\n",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, the files are (-want +got)\n%s", err, diff)
	}
}

// TestInstructionsAreLeftToPeople: what only people edit, in another program, must be planned as out of scope,
// named, and left byte for byte; the rest of the request must end.
func TestInstructionsAreLeftToPeople(t *testing.T) {
	w := newWorld(t)
	files := map[string]string{
		"claude/CLAUDE.md":                   "Ask " + name + ".\n",
		"claude/rules/ana-zxribeiro.md":      "Be brief.\n",
		"claude/agent-memory/a/mail.md":      name + " prefers mail.\n",
		"openclaw/openclaw.json":             "{}",
		"openclaw/workspace/SOUL.md":         "Serve " + name + ".\n",
		"openclaw/workspace/memory/mail.md":  name + " prefers mail.\n",
		"openclaw/workspace/memory/other.md": "Tea.\n",
	}
	for file, text := range files {
		at := filepath.Join(w.dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: filepath.Join(w.dir, "claude")}, {Name: "claw", Kind: "openclaw", Path: filepath.Join(w.dir, "openclaw")}}
	w.open()
	p := w.plan(w.file().ID)
	for _, sp := range p.Stores {
		for _, st := range sp.Steps {
			if people := st.ID == "CLAUDE.md" || st.ID == "rules/ana-zxribeiro.md" || st.ID == "workspace/SOUL.md"; people && st.Action != gdpr.OutOfScope {
				t.Errorf("%s is planned as %s", st.ID, st.Action)
			}
		}
	}
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StateInScope {
		t.Fatalf("%+v, %v", out, err)
	}
	for file, text := range files {
		data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(file)))
		if gone := strings.HasSuffix(file, "mail.md"); gone != (err != nil) || !gone && string(data) != text {
			t.Errorf("%s is %q, %v", file, data, err)
		}
	}
	for _, id := range []string{"CLAUDE.md", "workspace/SOUL.md", "names"} {
		if !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
			return l.Layer == id && l.Verdict == model.VerdictOutOfScope && l.Hits == 1
		}) {
			t.Errorf("no layer names %s: %+v", id, out.Layers)
		}
	}
}

// TestAnIndexOfBytesThatAreNoText: an index is redacted even where its bytes cannot be decoded: files stay that
// it lists.
func TestAnIndexOfBytesThatAreNoText(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "claude")
	plant(t, dir, map[string]string{
		"projects/-home-dev/memory/MEMORY.md":  "# Index \x00\x81\xff\n\n- [Deploys](deploys.md) — Tuesdays\n- [Tea](tea.md) — of " + name + "\n",
		"projects/-home-dev/memory/deploys.md": "---\nname: Deploys\ndescription: Tuesdays\ntype: project\n---\nOn Tuesdays.\n",
		"projects/-home-dev/memory/tea.md":     "---\nname: Tea\ndescription: green\ntype: project\n---\nGreen tea.\n",
	})
	w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: dir}}
	w.open()
	w.complete(w.plan(w.file().ID))
	if got, want := tree(t, dir)["projects/-home-dev/memory/MEMORY.md"], "# Index \x00\x81\xff\n\n- [Deploys](deploys.md) — Tuesdays\n- [Tea](tea.md) — of [erased]\n"; got != want {
		t.Errorf("the index is %q; want %q", got, want)
	}
}

// TestFrontMatterStaysReadable: a mark inside a list or map in brackets, or in a key, must not begin a list of its own.
func TestFrontMatterStaysReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const front = "--- \npeople: [" + name + ", Brin]\nages: {" + name + ": 41, Brin: 7}\n? " + name + "\ntitle: a call with " + name + "\n---\n"
	plant(t, w.dir, map[string]string{"s/memory/idea/list.md": front + "Rain.\nWind.\nSnow [of " + name + "].\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "devicelocal", Path: filepath.Join(w.dir, "s")}}
	w.open()
	out, err := w.erase(w.plan(w.file().ID))
	got, rerr := os.ReadFile(filepath.Join(w.dir, "s", "memory", "idea", "list.md"))
	want := "--- \npeople: [erased, Brin]\nages: {erased: 41, Brin: 7}\n? erased\ntitle: a call with [erased]\n---\nRain.\nWind.\nSnow [of [erased]].\n"
	if err != nil || rerr != nil || string(got) != want {
		t.Errorf("%s, %v, %v: %q", out.Status, err, rerr, got)
	}
}

// TestAnIndexOnHold: no change of a memory may edit the index that is on hold, neither an operator's nor an erasure's.
func TestAnIndexOnHold(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "claude")
	memory := filepath.Join(dir, "projects", "-home-dev", "memory")
	if err := os.MkdirAll(memory, 0o700); err != nil {
		t.Fatal(err)
	}
	const index = "- [Deploys](deploys.md) — Tuesdays\n- [Tea](tea.md) — for " + name + "\n- [Rye](rye.md) — d\n"
	deploys := "---\nname: Deploys\ndescription: Tuesdays\ntype: project\n---\nOn Tuesdays.\n"
	for file, text := range map[string]string{
		"MEMORY.md": index, "deploys.md": deploys, "tea.md": "---\nname: Tea\ndescription: for " + name + "\ntype: user\n---\n" + name + ".\n", "rye.md": name + " likes rye.\n"} {
		if err := os.WriteFile(filepath.Join(memory, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: dir}}
	w.open()
	r := w.file()
	const below = "projects/-home-dev/memory/"
	w.hold(r.ID, "claude", below+"MEMORY.md")
	s, err := w.fleet.Store("claude")
	if err != nil {
		t.Fatal(err)
	}
	retain := func(file, text string) error {
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: below + file, Mode: model.Replace, Content: text})
		return err
	}
	for what, err := range map[string]error{
		"a new memory": retain("new.md", deploys), "a new description": retain("deploys.md", strings.Replace(deploys, "Tuesdays", "Fridays", 1)),
		"forget": func() error {
			_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: below + "deploys.md"})
			return err
		}()} {
		if !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), r.ID) {
			t.Errorf("%s: %v; want a refusal", what, err)
		}
	}
	if err := retain("deploys.md", deploys+"And on Fridays.\n"); err != nil {
		t.Errorf("a change that the index does not show: %v", err)
	}
	p := w.plan(r.ID)
	if st := actions(p)["claude:"+below+"rye.md"]; st.Action != gdpr.Redact || !strings.Contains(st.Reason, "on hold") {
		t.Errorf("rye.md: %+v", st)
	}
	w.inScope(p)
	if b, err := os.ReadFile(filepath.Join(memory, "MEMORY.md")); err != nil || string(b) != index {
		t.Errorf("the index on hold is now\n%s, %v", b, err)
	}
	for _, file := range []string{"tea.md", "rye.md"} {
		if b, err := os.ReadFile(filepath.Join(memory, file)); err != nil || strings.Contains(string(b), name) {
			t.Errorf("%s is now\n%s, %v", file, b, err)
		}
	}
}

// TestTheLineOfAHeldFile: the index's line of a file on hold stays with it, and the other lines lose the subject. An index
// that says nothing else of the subject is left as it is.
func TestTheLineOfAHeldFile(t *testing.T) {
	const line = "- [Ana Zxribeiro](ana-zxribeiro.md) — her " + mail + "\n"
	for more, want := range map[string][2]string{
		"- [Tea](tea.md) — for " + name + "\n": {"- [Tea](tea.md) — for " + gdpr.Erased + "\n", "redact"},
		"- [Rye](rye.md) — bread\n":            {"- [Rye](rye.md) — bread\n", ""},
	} {
		w := newWorld(t)
		const below = "projects/-a/memory/"
		dir := filepath.Join(w.dir, "claude")
		plant(t, dir, map[string]string{below + "MEMORY.md": line + more, below + "ana-zxribeiro.md": "likes rye", below + "tea.md": "is hot", below + "rye.md": "is bread"})
		w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: dir}}
		w.open()
		r := w.file()
		w.hold(r.ID, "claude", below+"ana-zxribeiro.md")
		p := w.plan(r.ID)
		if st := actions(p)["claude:"+below+"MEMORY.md"]; string(st.Action) != want[1] {
			t.Errorf("the plan says %q of the index: %s; want %q", st.Action, st.Reason, want[1])
		}
		w.inScope(p)
		if got := tree(t, dir)[below+"MEMORY.md"]; got != line+want[0] {
			t.Errorf("the index is %q; want %q", got, line+want[0])
		}
		if got := tree(t, dir)[below+"ana-zxribeiro.md"]; got != "likes rye" {
			t.Errorf("the file on hold is %q", got)
		}
	}
}

// TestTheLineOfAHeldFileAmongBytes: the line of a file on hold also stays in an index whose bytes are no UTF-8.
func TestTheLineOfAHeldFileAmongBytes(t *testing.T) {
	for _, begin := range []string{"# Index \x00\x81\xff\n\n", "# Caf\xe9\n\n"} {
		w := newWorld(t)
		const below, line = "projects/-a/memory/", "- [Ana Zxribeiro](ana-zxribeiro.md) \x97 her " + mail + "\n"
		dir := filepath.Join(w.dir, "claude")
		plant(t, dir, map[string]string{below + "MEMORY.md": begin + line + "- [Tea](tea.md) \x97 for " + name + "\n", below + "ana-zxribeiro.md": "likes rye", below + "tea.md": "is hot"})
		w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: dir}}
		w.open()
		r := w.file()
		w.hold(r.ID, "claude", below+"ana-zxribeiro.md")
		w.inScope(w.plan(r.ID))
		if got, want := tree(t, dir)[below+"MEMORY.md"], begin+line+"- [Tea](tea.md) \x97 for "+gdpr.Erased+"\n"; got != want {
			t.Errorf("the index is %q; want %q", got, want)
		}
	}
}

// TestAHeldLineWhoseNumberNamesThePerson: an identifier may be the number of the line that stays.
func TestAHeldLineWhoseNumberNamesThePerson(t *testing.T) {
	w := newWorld(t)
	const below, line = "projects/-a/memory/", "- [Ana Zxribeiro](ana-zxribeiro.md) — hers\n"
	begin := "# Index" + strings.Repeat("\n", 100042) // in no time of day
	dir := filepath.Join(w.dir, "claude")
	plant(t, dir, map[string]string{below + "MEMORY.md": begin + line + "- [Tea](tea.md) — for " + name + "\n", below + "ana-zxribeiro.md": "likes rye", below + "tea.md": "is hot"})
	w.more = []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: dir}}
	w.open()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{name, "100042"}, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		t.Fatal(err)
	}
	w.hold(r.ID, "claude", below+"ana-zxribeiro.md")
	w.inScope(w.plan(r.ID))
	if got, want := tree(t, dir)[below+"MEMORY.md"], begin+line+"- [Tea](tea.md) — for "+gdpr.Erased+"\n"; got != want {
		t.Errorf("the index is %q; want %q", got, want)
	}
}
