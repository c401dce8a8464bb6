package tracker_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memdesk/backends/tracker"
)

// TestRelatives: the ancestors and descendants of an item belong to it, also where the parents are a cycle.
func TestRelatives(t *testing.T) {
	for _, tt := range []struct{ parents, in, want string }{
		{"a b<a c<b d<b e<a f", "b", "a b c d"},
		{"a<c b<a c<b d<c e", "b", "a b c d"},
		{"a<gone b<a", "a", "a b gone"},
		{"a b<a", "", ""},
	} {
		var all []tracker.Bead
		for _, f := range strings.Fields(tt.parents) {
			id, parent, _ := strings.Cut(f, "<")
			all = append(all, tracker.Bead{ID: id, Parent: parent})
		}
		in := map[string]bool{}
		for _, id := range strings.Fields(tt.in) {
			in[id] = true
		}
		tracker.Relatives(all, in)
		if got := strings.Join(slices.Sorted(maps.Keys(in)), " "); got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.in, tt.parents, got, tt.want)
		}
	}
}

// TestRelativesOfAChain: each item costs a few steps, not a walk to the root.
func TestRelativesOfAChain(t *testing.T) {
	const n = 2000
	all := make([]tracker.Bead, n)
	for i := range all {
		all[i] = tracker.Bead{ID: strconv.Itoa(i + 1), Parent: strconv.Itoa(i)}
	}
	if allocs := testing.AllocsPerRun(1, func() { tracker.Relatives(all, map[string]bool{strconv.Itoa(n): true}) }); allocs > 5*n {
		t.Errorf("%v allocations for a chain of %d", allocs, n)
	}
}
