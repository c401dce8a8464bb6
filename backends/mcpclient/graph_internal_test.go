package mcpclient

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"memdesk/internal/testcpu"
)

// TestStepsOfALargeEntity: the time may grow with the number of observations only.
func TestStepsOfALargeEntity(t *testing.T) {
	var have []string
	for i := range 100_000 {
		have = append(have, fmt.Sprint("fact ", i))
	}
	want := append(slices.Clone(have[:50_000]), "new")
	var gone, more []string
	if took := testcpu.Spent(func() { gone, more = steps(have, want) }); took > 5*time.Second {
		t.Errorf("it takes %v", took)
	}
	if !slices.Equal(gone, have[50_000:]) || !slices.Equal(more, []string{"new"}) {
		t.Error("these are other steps")
	}
}
