package mcpclient

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestStepsOfALargeEntity: the time may grow with the number of observations only.
func TestStepsOfALargeEntity(t *testing.T) {
	var have []string
	for i := range 100_000 {
		have = append(have, fmt.Sprint("fact ", i))
	}
	want := append(slices.Clone(have[:50_000]), "new")
	done := make(chan bool, 1)
	go func() {
		gone, more := steps(have, want)
		done <- slices.Equal(gone, have[50_000:]) && slices.Equal(more, []string{"new"})
	}()
	select {
	case ok := <-done:
		if !ok {
			t.Error("these are other steps")
		}
	case <-time.After(5 * time.Second):
		t.Error("it takes more than 5 s")
	}
}
