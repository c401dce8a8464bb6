package list

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFit(t *testing.T) {
	var f Fit
	if got := f.Width(2, 14); got != 14 {
		t.Errorf("before any cell a column has %d, want all of its room", got)
	}
	f.See(2, 5, 4)
	f.See(2, 3, 4)
	f.See(4, 1, 6)
	for _, c := range []struct{ column, most, want int }{{2, 14, 6}, {2, 4, 4}, {0, 9, 0}, {4, 9, 7}, {5, 9, 9}} {
		if got := f.Width(c.column, c.most); got != c.want {
			t.Errorf("column %d of at most %d has %d, want %d", c.column, c.most, got, c.want)
		}
	}
	if f.See(0, 0, 5); f.Width(0, 9) != 0 {
		t.Error("a column without a cell has room")
	}
}

// A column must have what its cells need, up to its width and beyond it where the last one has
// enough; without room the least important must go first.
func TestWidths(t *testing.T) {
	columns := []Column{{Most: 10, Least: 6}, {Most: 30}, {Most: 5, Least: 5, Support: true}, {Least: 12}}
	for _, c := range []struct {
		name  string
		cells [4]int
		room  int
		want  []int
	}{
		{"narrow cells", [4]int{3, 2, 0, 20}, 60, []int{4, 3, 0, 0}},
		{"wide cells, and a last column that wants the rest", [4]int{30, 2, 0, 60}, 60, []int{10, 3, 0, 0}},
		{"wide cells, and a short last column", [4]int{30, 2, 0, 9}, 60, []int{31, 3, 0, 0}},
		{"wide cells, and some room", [4]int{30, 2, 0, 29}, 50, []int{17, 3, 0, 0}},
		{"the second one shrinks", [4]int{9, 24, 0, 40}, 40, []int{10, 18, 0, 0}},
		{"the second one would be too short", [4]int{9, 24, 0, 40}, 38, []int{10, 0, 0, 0}},
		{"the second one goes", [4]int{9, 7, 0, 40}, 22, []int{10, 0, 0, 0}},
		{"the second one stays: the last one needs little", [4]int{9, 7, 0, 3}, 22, []int{10, 8, 0, 0}},
		{"the first one gives too", [4]int{9, 7, 4, 40}, 25, []int{8, 0, 5, 0}},
		{"down to its least", [4]int{9, 7, 4, 40}, 23, []int{6, 0, 5, 0}},
		{"the supporting one goes", [4]int{9, 7, 4, 40}, 22, []int{10, 0, 0, 0}},
		{"and the first one gives", [4]int{9, 7, 4, 40}, 19, []int{7, 0, 0, 0}},
	} {
		var fit Fit
		for i, w := range c.cells {
			fit.See(i, w, 0)
		}
		if got := fit.Widths(c.room, columns); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A cell that has less than its column's width is cut, a column that goes is not, and an endless last one with enough is not.
func TestCuts(t *testing.T) {
	columns := []Column{{Most: 10, Least: 6}, {Most: 30}, {Least: 12}}
	for _, c := range []struct {
		name  string
		cells [3]int
		room  int
		want  bool
	}{
		{"everything has room", [3]int{9, 9, 19}, 39, false},
		{"the last one is cut", [3]int{9, 0, 29}, 38, true},
		{"the last one fits to the letter", [3]int{9, 0, 29}, 39, false},
		{"the last one is endless and has enough", [3]int{9, 0, 300}, 50, false},
		{"the last one is endless and has less", [3]int{9, 0, 300}, 48, true},
		{"the second one goes", [3]int{9, 9, 20}, 31, false},
		{"the second one shrinks", [3]int{9, 29, 11}, 41, true},
		{"the first one is at its width", [3]int{50, 0, 39}, 49, false},
		{"the first one gives", [3]int{50, 0, 12}, 21, true},
	} {
		var fit Fit
		for i, w := range c.cells {
			fit.See(i, w, 0)
		}
		if got := fit.Cuts(c.room, columns); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A last column of endless texts must leave the others what they need once it has enough.
func TestTheLastColumnHasEnough(t *testing.T) {
	columns := []Column{{Most: 22, Least: 16}, {Most: 11, Least: 11}, {Most: 30, Least: 16}}
	for _, c := range []struct {
		room int
		want []int
	}{
		{43, []int{16, 11, 0}}, {50, []int{22, 11, 0}}, {63, []int{22, 11, 0}}, {70, []int{29, 11, 0}}, {95, []int{54, 11, 0}}, {120, []int{54, 11, 0}},
	} {
		var fit Fit
		for i, w := range []int{53, 10, 300} {
			fit.See(i, w, 0)
		}
		if got := fit.Widths(c.room, columns); !slices.Equal(got, c.want) {
			t.Errorf("in %d columns: %v, want %v", c.room, got, c.want)
		}
	}
}

// A last column that supports the others must go where it cannot be read, and its room go to the first.
func TestSupportingLastColumnGoes(t *testing.T) {
	columns := []Column{{Most: 20, Least: 8}, {Most: 10, Least: 6}, {Most: 9, Least: 5, Support: true}, {Least: 12, Support: true}}
	for _, c := range []struct {
		names, caps, room int
		want              []int
	}{
		{30, 0, 50, []int{20, 10, 0, 0}}, {30, 0, 40, []int{18, 10, 0, 0}}, {30, 0, 28, []int{8, 8, 0, 0}}, {30, 0, 25, []int{15, 10, 0, 0}}, {30, 0, 20, []int{10, 10, 0, 0}}, {30, 0, 15, []int{8, 7, 0, 0}},
		{30, 8, 40, []int{9, 10, 9, 0}}, {30, 8, 35, []int{8, 6, 9, 0}}, {30, 8, 30, []int{11, 10, 9, 0}}, {30, 8, 20, []int{8, 6, 6, 0}}, {30, 8, 18, []int{8, 10, 0, 0}},
		{10, 0, 25, []int{15, 10, 0, 0}},
	} {
		var fit Fit
		for i, w := range []int{c.names, 9, c.caps, 40} {
			fit.See(i, w, 0)
		}
		if got := fit.Widths(c.room, columns); !slices.Equal(got, c.want) {
			t.Errorf("names of %d in %d columns: %v, want %v", c.names, c.room, got, c.want)
		}
	}
}

// TestWidthsKeepTheLast: whatever the cells are, the last column keeps its least where the others leave it, or goes whole.
func TestWidthsKeepTheLast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		columns := make([]Column, 2+r.IntN(6))
		var fit Fit
		kept := 0
		for i := range columns {
			c := Column{Most: 5 + r.IntN(30), Support: r.IntN(2) == 0}
			if r.IntN(3) > 0 {
				c.Least = 5 + r.IntN(c.Most)
			}
			if i == len(columns)-1 {
				c.Least = 10 + r.IntN(20)
				kept += c.Least
			} else if !c.Support {
				kept += c.Least
			}
			columns[i] = c
			fit.See(i, r.IntN(50), 8)
		}
		room := kept + r.IntN(100)
		rest, last := room, len(columns)-1
		for _, w := range fit.Widths(room, columns) {
			rest -= w
			if w < 0 {
				t.Fatalf("a column of %d", w)
			}
		}
		if rest < fit.Width(last, columns[last].Least) && (rest > 0 || !columns[last].Support) {
			t.Fatalf("%+v %v in %d leave %d to the last column", columns, fit, room, rest)
		}
	}
}
