package record

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
)

// A page that is short because the search took too long must begin with the worst row: else the list is
// sorted under the cursor when the rest has come. Only a full page keeps the order of its source.
func TestWorstFirst(t *testing.T) {
	row := func(key string, tone paint.Tone) Row[string] {
		return Row[string]{Key: key, Cells: []safetext.Text{safetext.Const(key)}, Tones: []paint.Tone{tone}}
	}
	found := []Row[string]{row("clean", paint.ToneGood), row("poisoned", paint.ToneBad)}
	for _, c := range []struct {
		name, next string
		limit      int
		want       string
	}{{"all", "", 2, "poisoned"}, {"short", "more", 50, "poisoned"}, {"full", "more", 2, "clean"}} {
		p := New(desktest.New(), Kind[string]{Columns: []Column{{Title: "TOY"}}, Traits: Traits[string]{Worst: true, Badge: 1}})
		page, err := p.sortedFetch(func(context.Context, operator.PageQuery) (list.Span[Row[string]], error) {
			return list.Span[Row[string]]{Rows: slices.Clone(found), Next: c.next}, nil
		})(context.Background(), operator.PageQuery{Limit: c.limit})
		if err != nil || page.Rows[0].Key != c.want {
			t.Errorf("%s: the first row is %q, want %q (%v)", c.name, page.Rows[0].Key, c.want, err)
		}
	}
}

// TestSortedListIsWhole: rows beyond those that are sorted follow, for an export and for marks too.
func TestSortedListIsWhole(t *testing.T) {
	const n = maxSorted + 700
	p := New(desktest.New(), Kind[int]{Columns: []Column{{Title: "TOY"}}})
	p.sorted = sorting{column: 1, down: true}
	fetch := p.sortedFetch(func(_ context.Context, q operator.PageQuery) (out list.Span[Row[int]], _ error) {
		from, _ := strconv.Atoi(q.Cursor)
		for i := from; i < min(from+q.Limit, n); i++ {
			word := strconv.Itoa(i)
			out.Rows = append(out.Rows, Row[int]{Key: word, Raw: i, Cells: []safetext.Text{safetext.Const(word)}})
		}
		if to := from + q.Limit; to < n {
			out.Next = strconv.Itoa(to)
		}
		return out, nil
	})
	var seen []int
	_, err := list.EachRow(t.Context(), safetext.Escaper{}, func(ctx context.Context, at list.From, limit int) (list.Span[Row[int]], error) {
		page, err := fetch(ctx, operator.PageQuery{Cursor: at.Cursor, Limit: limit})
		return page, err
	}, func(r Row[int]) error {
		seen = append(seen, r.Raw)
		return nil
	})
	if err != nil || len(seen) != n || seen[0] != maxSorted-1 || seen[n-1] != n-1 {
		t.Errorf("%d rows of %d, from %d to %d, %v", len(seen), n, seen[0], seen[len(seen)-1], err)
	}
}
