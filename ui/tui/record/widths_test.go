package record

import (
	"slices"
	"testing"

	"memdesk/ui/tui/kit/list"
)

// A column must have what its cells need, up to its width and beyond it where the last one has
// enough; without room the least important must go first.
func TestWidths(t *testing.T) {
	k := Kind[int]{Columns: []Column{{Title: "A", Width: 10}, {Title: "B", Width: 30}, {Title: "C"}}, Least: []int{6, 0, 12}}
	for _, c := range []struct {
		name  string
		cells [3]int
		room  int
		want  []int
	}{
		{"narrow cells", [3]int{3, 2, 20}, 60, []int{4, 3, 0}},
		{"wide cells, and a last column that wants the rest", [3]int{30, 2, 60}, 60, []int{10, 3, 0}},
		{"wide cells, and a short last column", [3]int{30, 2, 9}, 60, []int{31, 3, 0}},
		{"wide cells, and some room", [3]int{30, 2, 29}, 50, []int{17, 3, 0}},
		{"the second one shrinks", [3]int{9, 24, 40}, 40, []int{10, 18, 0}},
		{"the second one would be too short", [3]int{9, 24, 40}, 35, []int{10, 0, 0}},
		{"the second one goes", [3]int{9, 7, 40}, 22, []int{10, 0, 0}},
		{"the first one gives too", [3]int{9, 7, 40}, 20, []int{8, 0, 0}},
		{"down to its least", [3]int{9, 7, 40}, 10, []int{6, 0, 0}},
	} {
		var fit list.Fit
		for i, w := range c.cells {
			fit.See(i, w)
		}
		if got := k.widths(c.room, fit); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
