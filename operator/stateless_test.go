package operator

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends"
)

// TestReadsNeedNoState: where there is no place for memdesk's own files, every store opens all the same.
func TestReadsNeedNoState(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Env = func(string) string { return "" } })
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("# Memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Open(t.Context(), []backends.StoreConfig{{Name: "project", Kind: "claude", Path: dir}}, time.Second)
	t.Cleanup(func() { _ = s.Fleet.Close() })
	st, err := s.Fleet.Store("project")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Browser.Tiers(t.Context()); err != nil {
		t.Error(err)
	}
	for h := range s.Fleet.Health(t.Context()) {
		if !h.Status.OK {
			t.Errorf("%+v", h.Status)
		}
	}
}
