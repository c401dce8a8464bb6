package entity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/internal/entity"
)

// TestManyObservations: an agent's additions make an entity of many lines, and each further one is worked out under the
// store's lock. The time may grow with their number only.
func TestManyObservations(t *testing.T) {
	const n = 200_000
	var many []string
	for i := range n {
		many = append(many, fmt.Sprint("fact ", i))
	}
	long := []string{strings.Repeat("line\n", n) + "end"}
	for name, run := range map[string]func() bool{
		"added":  func() bool { return len(entity.Join(many, []string{"new", "fact 7", "new"})) == n+1 },
		"joined": func() bool { return slices.Equal(entity.Join(many, many), many) },
		"one of many rows": func() bool {
			got, err := entity.Decode(entity.Encode(long))
			return err == nil && slices.Equal(got, long)
		},
	} {
		done := make(chan bool, 1)
		go func() { done <- run() }()
		select {
		case ok := <-done:
			if !ok {
				t.Errorf("%s: it is another list", name)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: it takes more than 5 s", name)
		}
	}
}
