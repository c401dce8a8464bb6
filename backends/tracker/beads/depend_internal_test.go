package beads

import (
	"fmt"
	"testing"
	"time"

	"memdesk/backends/tracker"
)

// TestReadingAllPairs: whoever reads every item with its pairs must not go over all pairs for each.
func TestReadingAllPairs(t *testing.T) {
	took := func(n int) time.Duration {
		var issues, deps []byte
		for i := range n {
			issues = fmt.Appendf(issues, `{"id":"p-%d"}`+"\n", i)
			deps = fmt.Appendf(deps, `{"blockerId":"p-%d","blockedId":"p-%d"}`+"\n", i, (i+1)%n)
		}
		s := parse(issues, deps)
		began := time.Now()
		for i := range s.Len() {
			pairs, err := tracker.PairsOf(t.Context(), s, s.ID(i))
			if want := fmt.Sprintf("p-%d", (i+n-1)%n); err != nil || len(pairs) != 2 || s.Record(i).Field(tracker.FieldDepends) != want {
				t.Fatalf("%s: %v, blocked by %q, %v", s.ID(i), pairs, s.Record(i).Field(tracker.FieldDepends), err)
			}
		}
		return time.Since(began)
	}
	took(100)
	if small, large := took(1000), took(16000); large > 80*small { // sixteen times as many; by pairs it would be 256
		t.Errorf("%v for 1,000 items, %v for 16,000", small, large)
	}
}
