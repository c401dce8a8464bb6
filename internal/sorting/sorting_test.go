package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"memdesk/internal/sorting"
)

type thing struct {
	key, was int
	_        [6]string
}

func byKey(a, b thing) int { return cmp.Compare(a.key, b.key) }

// TestBy gives what the standard library's stable sort gives.
func TestBy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 200).Draw(t, "keys")
		have := make([]thing, len(keys))
		for i, k := range keys {
			have[i] = thing{key: k, was: i}
		}
		want := slices.Clone(have)
		slices.SortStableFunc(want, byKey)
		sorting.By(have, byKey)
		if diff := gocmp.Diff(want, have, gocmp.AllowUnexported(thing{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestByKeepsTheSlice(t *testing.T) {
	type names []string
	whole := names{"d", "c", "b", "a"}
	part := whole[1:3]
	sorting.By(part, func(a, b string) int { return strings.Compare(a, b) })
	if got := strings.Join(whole, ""); got != "dbca" {
		t.Errorf("sorting a part made %s of the whole", got)
	}
	sorting.By(names(nil), strings.Compare)
}

// BenchmarkBy sorts 50,000 things of 112 bytes, against the generic sort.
func BenchmarkBy(b *testing.B) {
	mixed := make([]thing, 50_000)
	for i := range mixed {
		mixed[i] = thing{key: rand.Int(), was: i}
	}
	s := make([]thing, len(mixed))
	for name, sort := range map[string]func(){
		"sorting.By":                 func() { sorting.By(s, byKey) },
		"peer=slices.SortFunc":       func() { slices.SortFunc(s, byKey) },
		"peer=slices.SortStableFunc": func() { slices.SortStableFunc(s, byKey) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				copy(s, mixed)
				sort()
			}
		})
	}
}
