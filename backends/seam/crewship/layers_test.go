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
