package sqlite

import (
	"strings"
	"testing"
)

// TestTotalsSortNoTexts: a query that groups rows must take the length of a text before it sorts them, or it copies every text
// of the store into a temporary file.
func TestTotalsSortNoTexts(t *testing.T) {
	s, err := Memory(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recurse, _ := dialect{&Store{layout: recurseLayout(false)}}.TierTotals()
	for what, text := range map[string]string{"the tiers of a recurse file": recurse, "the rows behind the counters": countedRows} {
		length, sorter := -1, -1
		at := 0
		err := s.view(t.Context(), "test", func(q *query) error {
			return q.Each(`EXPLAIN `+text, nil, func(scan func(...any) error) error {
				var cells [8]any
				dest := make([]any, len(cells))
				for i := range cells {
					dest[i] = &cells[i]
				}
				if err := scan(dest...); err != nil {
					return err
				}
				opcode, _ := cells[1].(string)
				p4, _ := cells[5].(string)
				if length < 0 && strings.HasPrefix(p4, "octet_length") {
					length = at
				}
				if sorter < 0 && opcode == "SorterInsert" {
					sorter = at
				}
				at++
				return nil
			})
		})
		if err != nil || length < 0 || sorter < 0 || length > sorter {
			t.Errorf("%s: the length is taken at step %d, rows go to the sorter at %d, %v", what, length, sorter, err)
		}
	}
}
