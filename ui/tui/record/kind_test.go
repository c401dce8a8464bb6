package record

import (
	"errors"
	"testing"

	"memdesk/model"
	"memdesk/operator"
)

// TestCutGoesOnWhereItStopped: the pages of a list in memory join to the rows that pass the filter. A cursor of other
// rows is refused; where rows have gone since, the page is empty, so that the window reads those before it.
func TestCutGoesOnWhereItStopped(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6}
	odd := func(_, v int) (Row[int], bool) { return Row[int]{Raw: v}, v%2 == 1 }
	var seen []int
	q, last := operator.PageQuery{Limit: 2}, ""
	for range all {
		page, err := Cut(all, "one", q, odd)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Rows {
			seen = append(seen, r.Raw)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
		last = q.Cursor
	}
	if len(seen) != 3 || seen[0] != 1 || seen[2] != 5 {
		t.Errorf("the pages have %v, want 1, 3 and 5", seen)
	}
	for _, cursor := range []string{"one:x", "one:-1", "1", "two:1"} {
		if _, err := Cut(all, "one", operator.PageQuery{Limit: 2, Cursor: cursor}, odd); !errors.Is(err, model.InvalidInput) {
			t.Errorf("cursor %q: %v, want a refusal", cursor, err)
		}
	}
	if page, err := Cut(all[:1], "one", operator.PageQuery{Limit: 2, Cursor: last}, odd); err != nil || len(page.Rows) > 0 || page.Next != "" {
		t.Errorf("%s with one row left: %v, %v", last, page, err)
	}
}
