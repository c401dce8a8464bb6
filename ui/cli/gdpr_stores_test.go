package cli_test

import (
	"strings"
	"testing"
)

// An erasure must cover all stores: its receipt would not name those left out.
func TestAnErasureIsOverAllStores(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"gdpr", "plan", "er-20260101-00000000"}, {"gdpr", "sweep", "--yes"}, {"gdpr", "list"}} {
		out := d.run(append([]string{"--store", "any"}, args...)...).want(t, 2)
		if !strings.Contains(string(out.err), "leave --store out") {
			t.Errorf("%q: %s", args, out.err)
		}
	}
}
