package list

import "testing"

func TestFit(t *testing.T) {
	var f Fit
	if got := f.Width(2, 14); got != 14 {
		t.Errorf("before any cell a column has %d, want all of its room", got)
	}
	f.See(2, 5)
	f.See(2, 3)
	for _, c := range []struct{ column, most, want int }{{2, 14, 6}, {2, 4, 4}, {0, 9, 1}, {3, 9, 9}} {
		if got := f.Width(c.column, c.most); got != c.want {
			t.Errorf("column %d of at most %d has %d, want %d", c.column, c.most, got, c.want)
		}
	}
}
