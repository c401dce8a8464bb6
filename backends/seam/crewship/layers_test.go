package crewship_test

import (
	"slices"
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
