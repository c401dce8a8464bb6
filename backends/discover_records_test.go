package backends_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
)

// TestDiscoverOtherPrograms: other programs' files must be found in their usual places, read-only.
func TestDiscoverOtherPrograms(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{".npm/_npx/0123abcd/node_modules/@modelcontextprotocol/server-memory/dist/memory.jsonl", ".mem0/vector_store.db", ".engram/engram.db"} {
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, nil, 0o600))
	}
	got := map[string]backends.StoreConfig{}
	for _, c := range backends.Discover(t.TempDir(), func(name string) string { return map[string]string{"HOME": home}[name] }) {
		got[c.Kind] = c
	}
	for _, kind := range []string{"mcpgraph", "mem0", "engram"} {
		if c := got[kind]; c.Path == "" || !c.ReadOnly || c.ReadOnlyReason == "" {
			t.Errorf("%s is found as %+v", kind, c)
		}
	}
}

// TestAnotherProgramsEngram: the directory alone does not make an Engram of coding agents.
func TestAnotherProgramsEngram(t *testing.T) {
	home, data := t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(home, ".engram"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".engram", "memory.db"), nil, 0o600))
	env := map[string]string{"HOME": home}
	discover := func() (path string) {
		for _, c := range backends.Discover(t.TempDir(), func(name string) string { return env[name] }) {
			if c.Kind == "engram" {
				path = c.Path
			}
		}
		return path
	}
	if path := discover(); path != "" {
		t.Errorf("found %s", path)
	}
	env["ENGRAM_DATA_DIR"] = data
	must(t, os.WriteFile(filepath.Join(data, "engram.db"), nil, 0o600))
	if path := discover(); path != filepath.Join(data, "engram.db") {
		t.Errorf("ENGRAM_DATA_DIR gives %q", path)
	}
}
