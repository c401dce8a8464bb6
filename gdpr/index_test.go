package gdpr_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
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
