package gdpr_test

import (
	"path/filepath"
	"testing"

	"memdesk/backends"
)

// TestTheSameMarkEverywhere: every removed identifier must leave the same mark, even in the lessons
// that only their own writer fills; where YAML forbids its brackets the mark has none.
func TestTheSameMarkEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const head = "# Lessons learned\n\nentries:\n"
	entry := func(id, rule string) string {
		return "    - id: " + id + "\n      kind: positive\n      captured_at: 2026-07-12T02:15:00Z\n      source: manual\n      rule: " + rule + "\n"
	}
	plant(t, w.dir, map[string]string{
		"a/.memory/lessons.md": head + entry("l-1", "ask "+name+" first") + entry("l-2", name+" likes tea") + entry("l-3", "'"+name+": never late'") + entry("l-4", mail) + entry("l-5", "of tea\n      context: with "+name+", "+mail),
		"a/.memory/AGENT.md":   "tea\nask " + name + " first\nrain\n",
	})
	w.more = []backends.StoreConfig{{Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "a", ".memory")}}
	w.open()
	w.complete(w.plan(w.file().ID))
	if got, want := text(t, filepath.Join(w.dir, "a/.memory/lessons.md")), head+entry("l-1", "ask [erased] first")+entry("l-2", "erased likes tea")+entry("l-3", "'[erased]: never late'")+entry("l-4", "erased")+entry("l-5", "of tea\n      context: with [erased], [erased]"); got != want {
		t.Errorf("lessons:\n%s want\n%s", got, want)
	}
	if got, want := text(t, filepath.Join(w.dir, "a/.memory/AGENT.md")), "tea\nask [erased] first\nrain\n"; got != want {
		t.Errorf("AGENT.md: %q", got)
	}
}
