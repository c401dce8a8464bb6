package crewship_test

import "testing"

// TestScrubOfAnIndexAmongVersions: a file of that name in no memory directory is no index of one.
func TestScrubOfAnIndexAmongVersions(t *testing.T) {
	s, _ := openData(t, map[string]string{"memory/versions/aa/index.sqlite": "x"})
	if _, err := s.Maintainer.Scrub(t.Context(), naming()); err != nil {
		t.Error(err)
	}
}
