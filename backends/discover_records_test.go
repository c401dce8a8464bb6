package backends_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
)

// TestDiscoverOtherPrograms: files of other programs are found where these put them, for reading only.
func TestDiscoverOtherPrograms(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{".npm/_npx/0123abcd/node_modules/@modelcontextprotocol/server-memory/dist/memory.jsonl", ".mem0/vector_store.db"} {
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, nil, 0o600))
	}
	got := map[string]backends.StoreConfig{}
	for _, c := range backends.Discover(t.TempDir(), func(name string) string { return map[string]string{"HOME": home}[name] }) {
		got[c.Kind] = c
	}
	for _, kind := range []string{"mcpgraph", "mem0"} {
		if c := got[kind]; c.Path == "" || !c.ReadOnly || c.ReadOnlyReason == "" {
			t.Errorf("%s is found as %+v", kind, c)
		}
	}
}
