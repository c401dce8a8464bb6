package backends_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// longest is the most lines of a kind, without its tests: a longer kind shows that its base lacks
// something that other kinds need too.
const longest = 1200

// larger are the kinds that contain a database, a file format or a locking protocol.
var larger = []string{"hypergraph/postgres", "hypergraph/sqlite", "seam/crewship", "seam/curated", "tracker/beads"}

// TestKindsAreSmall counts the lines of every kind's folder in a family.
func TestKindsAreSmall(t *testing.T) {
	seen := 0
	for _, family := range []string{"seam", "records", "hypergraph", "tracker"} {
		dirs, err := os.ReadDir(family)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			kind := family + "/" + d.Name()
			if !d.IsDir() || d.Name() == "internal" || strings.HasSuffix(d.Name(), "test") {
				continue
			}
			n := lines(t, kind)
			t.Logf("%5d %s", n, kind)
			seen++
			if big := slices.Contains(larger, kind); n > longest && !big {
				t.Errorf("%s has %d lines, %d are allowed: move to %s what other kinds need too", kind, n, longest, family)
			} else if n <= longest && big {
				t.Errorf("%s has %d lines: take it off the list of larger kinds", kind, n)
			}
		}
	}
	if seen < 15 { // the folders were renamed
		t.Errorf("%d kinds were counted", seen)
	}
}

func lines(t *testing.T, dir string) (n int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(text, []byte("\n"))
	}
	return n
}
