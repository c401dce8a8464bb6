package gdpr

import (
	"strings"
	"testing"
	"time"
)

// TestProgressDoesNotPassItsTotal: a store may list more items than it has counted.
func TestProgressDoesNotPassItsTotal(t *testing.T) {
	var said []string
	teller := &teller{step: func(s Searching) { said = append(said, s.String()) }, now: time.Now}
	teller.part("items", 2)
	teller.tell(2, 10)
	teller.tell(3, 15)
	if got := strings.Join(said[1:], "\n"); !strings.Contains(got, "2 of 2 items") || !strings.Contains(got, "3 of 3 items") {
		t.Errorf("the progress says\n%s", got)
	}
}
