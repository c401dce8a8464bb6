package gdpr

import (
	"fmt"
	"testing"
	"time"

	"memdesk/internal/testcpu"
)

// TestIncludingManyProblems: a store with many lines that are no items names all of them, page by page.
func TestIncludingManyProblems(t *testing.T) {
	const pages, each = 60, 1000 // compared pair by pair they take 26 seconds
	var list []string
	spent := testcpu.Spent(func() {
		for page := range pages {
			var more []string
			for i := range each {
				more = append(more, fmt.Sprintf("line %07d of issues.jsonl: it has no id", (page*each+i)*99991%9999991))
			}
			list = including(list, append(more, more...)...)
		}
	})
	if len(list) != pages*each {
		t.Errorf("%d problems, want %d", len(list), pages*each)
	}
	if spent > 10*time.Second {
		t.Errorf("%d problems took %v", len(list), spent)
	}
}
