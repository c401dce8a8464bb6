package paint

import (
	"testing"

	"memdesk/internal/safetext"
)

// TestCellPaintsItsParts: a part keeps its look where the cell fits, not in a cell that is cut, and the row under
// the cursor has one paint.
func TestCellPaintsItsParts(t *testing.T) {
	s := New(Looks{Colour: true}, true)
	parts := []Stretch{{Start: 2, End: 4, Look: LookWarn}}
	put := func(r *Row, width int) string { return r.Cell(Paint{}, safetext.Const("abcde"), width, parts...).End() }
	for _, c := range []struct{ name, got, want string }{
		{"fits", put(s.Row(6), 6), "ab" + s.Warn.On + "cd" + s.Warn.Off + "e "},
		{"cut", put(s.Row(4), 4), "abc…"},
		{"under the cursor", put(s.Row(5).paintOver(s.Selected), 5), s.Selected.On + "abcde" + s.Selected.Off},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}
