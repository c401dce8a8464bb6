package operator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/backends/backendtest"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/quarantine/review"
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
	if h := backendtest.Health(t, st); !h.OK {
		t.Errorf("%+v", h)
	}
}

// TestNoJudgementWithoutState: where nothing can be held or judged, a review of held texts must say so.
func TestNoJudgementWithoutState(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Env = func(string) string { return "" } })
	refs := []model.Ref{{Store: "inmem", ID: review.HeldPrefix + strings.Repeat("ab12", 8)}}
	if _, _, err := s.Family(t.Context(), refs, func(model.Ref, error) {}); !errors.Is(err, statedir.ErrNoHome) {
		t.Errorf("%v, want %v", err, statedir.ErrNoHome)
	}
}
