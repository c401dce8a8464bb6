package crewship_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/model"
)

// TestARepositoryBelowVersions: git is asked about each repository, also about one among the version blobs.
func TestARepositoryBelowVersions(t *testing.T) {
	s, _ := openData(t, map[string]string{"memory/versions/aa/.git/HEAD": "ref: refs/heads/main\n"})
	layers, err := s.Maintainer.Layers(t.Context())
	i := slices.IndexFunc(layers, func(l model.Layer) bool { return l.ID == "versions/aa/.git" })
	if err != nil || i < 0 || !layers[i].Repository || layers[i].File == "" {
		t.Errorf("%+v, %v; want versions/aa/.git as a repository", layers, err)
	}
}

// TestPathOf: the path that an id gives is that of the item's own layer.
func TestPathOf(t *testing.T) {
	data, _ := openData(t, map[string]string{"output/workspace/shared/.memory/users/u.md": "x", "memory/w1/plan.md": "x"})
	single, _ := openMemory(t, map[string]string{"AGENT.md": "x", "daily/2026-05-20.md": "x"})
	for _, s := range []model.Store{data, single} {
		layers, err := s.Maintainer.Layers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]bool{}
		for _, l := range layers {
			if l.ItemID == "" || l.File == "" {
				continue
			}
			kind, _, _ := strings.Cut(l.ItemID, "/")
			kinds[kind] = true
			if dir, file := s.PathOf(l.ItemID); filepath.Join(dir, file) != l.File {
				t.Errorf("%s: %s in %s; want %s", l.ItemID, file, dir, l.File)
			}
		}
		for _, kind := range []string{"crews", "solo", "workspace", "workspace-shared"} {
			if s.Name == data.Name && !kinds[kind] {
				t.Errorf("no item in %s", kind)
			}
		}
	}
}

// TestScrubLeavesARepository: the file that leads to a worktree's repository stays, whatever its path names.
func TestScrubLeavesARepository(t *testing.T) {
	leads := "gitdir: /x/" + hers + "/.git/worktrees/t\n"
	s, dir := openData(t, map[string]string{redAda + "topics/t/.git": leads, "memory/versions/aa/.git": leads})
	if _, err := s.Maintainer.Scrub(t.Context(), naming()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{redAda + "topics/t/.git", "memory/versions/aa/.git"} {
		if got := onDisk(t, dir, name); got != leads {
			t.Errorf("%s: %q", name, got)
		}
	}
}
