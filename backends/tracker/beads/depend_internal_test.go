package beads

import (
	"fmt"
	"testing"

	"memdesk/backends/tracker"
)

// TestReadingAllPairs: whoever reads every item with its pairs must not go over all pairs for each. The first item
// makes the indexes; the lists that they were made from are then taken away, so that a second pass finds nothing.
func TestReadingAllPairs(t *testing.T) {
	const n = 1000
	var issues, deps []byte
	for i := range n {
		issues = fmt.Appendf(issues, `{"id":"p-%d"}`+"\n", i)
		deps = fmt.Appendf(deps, `{"blockerId":"p-%d","blockedId":"p-%d"}`+"\n", i, (i+1)%n)
	}
	s := parse(issues, deps)
	for i := range s.Len() {
		pairs, err := s.Of(t.Context(), s.ID(i))
		if want := fmt.Sprintf("p-%d", (i+n-1)%n); err != nil || len(pairs) != 2 || s.Record(i).Field(tracker.FieldDepends) != want {
			t.Fatalf("%s: %v, blocked by %q, %v", s.ID(i), pairs, s.Record(i).Field(tracker.FieldDepends), err)
		}
		s.pairs = nil
	}
}
