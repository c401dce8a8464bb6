package langgraph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memdesk/internal/testcpu"
)

// TestHeadingOfManyMembers: one value with many members must not take the store away.
func TestHeadingOfManyMembers(t *testing.T) {
	var value strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&value, `,"k%06d":1`, i)
	}
	got := ""
	took := testcpu.Spent(func() { got = heading("{"+value.String()[1:]+`,"last":"x"}`, "key") })
	if got != "x" {
		t.Errorf("the heading is %q", got)
	}
	if took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
}
