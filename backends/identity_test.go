package backends_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/internal/clock"
	"memdesk/model"
)

// TestOnePlaceHasOneIdentity: every path that opens the same files gives the same identity, since holds and undo
// entries are found by it. The identity of each path as typed, which earlier versions stored, is still the store's.
func TestOnePlaceHasOneIdentity(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	now := time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)
	must(t, demodata.Seed(t.Context(), dir, now))
	must(t, os.MkdirAll(filepath.Join(dir, ".recurse"), 0o700))
	must(t, os.Rename(filepath.Join(dir, "graph.db"), filepath.Join(dir, ".recurse", "rlm.db")))
	must(t, os.MkdirAll(filepath.Join(dir, "knots", ".knots"), 0o755))
	kno := filepath.Join(dir, "kno") // no work items
	must(t, os.WriteFile(kno, []byte("#!/bin/sh\necho '[]'\n"), 0o755))
	must(t, os.Symlink(dir, filepath.Join(dir, "link")))
	for kind, paths := range map[string][]string{
		"sqlite":  {".recurse/rlm.db", ".recurse", "link/.recurse", "link/.recurse/rlm.db"},
		"beads":   {"work/.beads", "work", "work/.beads/issues.jsonl", "link/work"},
		"knots":   {"knots/.knots", "knots", "link/knots"},
		"curated": {"desk/memories", "desk", "link/desk"},
		"mem0":    {"shop/vector_store.db", "shop", "link/shop"},
		"claude":  {"project/memory", "link/project/memory"},
	} {
		want := ""
		for _, path := range paths {
			c := backends.StoreConfig{Name: kind, Kind: kind, Path: filepath.Join(dir, path)}
			if kind == "knots" {
				c.Command = kno
			}
			fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{c}, backends.Env{Clock: clock.Fixed(now)}, backends.Policy{Audit: backends.Unrecorded})
			s, err := fleet.Store(kind)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if want == "" {
				want = s.Identity()
			}
			if s.Location != c.Path || s.Identity() != want {
				t.Errorf("%s %s: location %s, identity %s; want %s", kind, path, s.Location, s.Identity(), want)
			}
			if typed := (model.Store{Kind: kind, Location: c.Path}).Identity(); !slices.Contains(s.Identities(), typed) {
				t.Errorf("%s %s: %s, the identity of the typed path, is not among %q", kind, path, typed, s.Identities())
			}
			must(t, fleet.Close())
		}
	}
}
