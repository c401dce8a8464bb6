package list_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/list"
)

func TestProblemsAreToldOnce(t *testing.T) {
	if first, more := list.Problems([]string{"a", "b", "a", "c", "b", "d", "e"}, 3); !slices.Equal(first, []string{"a", "b", "c"}) || more != 2 {
		t.Errorf("%q and %d more", first, more)
	}
	if first, more := list.Problems(nil, 3); len(first) != 0 || more != 0 {
		t.Errorf("%q and %d more", first, more)
	}
}

// TestEachRowTellsWhatIsMissing: whoever reads a whole list must learn that it is incomplete.
func TestEachRowTellsWhatIsMissing(t *testing.T) {
	esc := safetext.Escaper{}
	pages := map[string]list.Span[int]{
		"":  {Rows: []int{1}, Next: "2", Problems: []string{"line 9"}, Said: list.Said{Text: esc.Const("the log is damaged")}},
		"2": {Rows: []int{2}, Next: "3", Problems: []string{"line 9", "the attic"}},
		"3": {Rows: []int{3}, Said: list.Said{Text: esc.Const("all is well"), Calm: true}},
	}
	fetch := func(_ context.Context, at list.From, _ int) (list.Span[int], error) { return pages[at.Cursor], nil }
	n := 0
	missing, err := list.EachRow(t.Context(), esc, fetch, func(int) error { n++; return nil })
	if got := esc.Join(missing, "; ").String(); err != nil || n != 3 || got != "Notice: the log is damaged; not looked at: line 9; not looked at: the attic" {
		t.Errorf("%d rows, %q, %v", n, got, err)
	}
	full := errors.New("the disk is full")
	if _, err := list.EachRow(t.Context(), esc, fetch, func(int) error { return full }); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
