package record

import (
	"context"
	"slices"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
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
		page, _, err := p.sortedFetch(func(context.Context, operator.PageQuery) (list.Span[Row[string]], desk.Said, error) {
			return list.Span[Row[string]]{Rows: slices.Clone(found), Next: c.next}, desk.Said{}, nil
		})(context.Background(), operator.PageQuery{Limit: c.limit})
		if err != nil || page.Rows[0].Key != c.want {
			t.Errorf("%s: the first row is %q, want %q (%v)", c.name, page.Rows[0].Key, c.want, err)
		}
	}
}
