package desk_test

import (
	"testing"

	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
)

// A detail of one text must not take more than the text needs; a terminal of 200 columns must show both sides of a
// conflict beside each other, and no list may get too narrow for that.
func TestSplit(t *testing.T) {
	d := desktest.New()
	for _, c := range []struct{ width, one, two int }{{100, 54, 54}, {120, 65, 65}, {160, 87, 87}, {192, 108, 104}, {193, 109, 89}, {200, 116, 96}, {300, 216, 164}} {
		asks := desk.Asks{Width: c.width, Height: 40}
		one := d.Split(desk.Halves{}, asks)
		asks.Two = true
		two := d.Split(desk.Halves{}, asks)
		if one.ListWidth != c.one || one.ListWidth+one.DetailWidth+4 != c.width {
			t.Errorf("at %d columns the list has %d and the detail %d, want a list of %d", c.width, one.ListWidth, one.DetailWidth, c.one)
		}
		if two.ListWidth != c.two || two.ListWidth+two.DetailWidth+4 != c.width {
			t.Errorf("at %d columns the list has %d and the detail of two texts %d, want a list of %d", c.width, two.ListWidth, two.DetailWidth, c.two)
		}
		if c.width >= 193 && two.DetailWidth < desk.WideDetail {
			t.Errorf("at %d columns the detail of two texts has %d", c.width, two.DetailWidth)
		}
	}
}

// TestAShortListLeavesItsRoom to the detail below it.
func TestAShortListLeavesItsRoom(t *testing.T) {
	d := desktest.New()
	for rows, want := range map[int]int{0: 11, 1: 4, 3: 4, 6: 7, 10: 11, 1000: 11} {
		if f := d.Split(desk.Halves{}, desk.Asks{Width: 80, Height: 20, Rows: rows}); f.ListHeight != want || f.ListHeight+f.DetailHeight+1 != 20 {
			t.Errorf("with %d rows the list has %d lines and the detail %d, want a list of %d", rows, f.ListHeight, f.DetailHeight, want)
		}
	}
}

// TestAShortListStandsAbove its detail where that shows more; nothing but another list, another visit and the
// width may change where it stands.
func TestAShortListStandsAbove(t *testing.T) {
	d := desktest.New()
	var f desk.Halves
	split := func(a desk.Asks) string {
		f = d.Split(f, a)
		switch {
		case f.Beside:
			return "beside"
		case f.ListWidth == a.Width && f.ListHeight == 36:
			return "alone"
		}
		return "above"
	}
	cuts, fits := func(int) bool { return true }, func(int) bool { return false }
	for i, c := range []struct {
		why        string
		width      int
		rows       int
		two        bool
		cuts       func(int) bool
		moved      int // thousandths, by the mouse
		wide       bool
		want       string
		begin      bool // another list
		visit      bool
		listHeight int
	}{
		{why: "no rows yet", width: 120, cuts: cuts, want: "beside"},
		{why: "the first rows", width: 120, rows: 8, cuts: cuts, want: "above", listHeight: 9},
		{why: "no cell is cut any more", width: 120, rows: 8, cuts: fits, want: "above", listHeight: 9},
		{why: "a filter", width: 120, cuts: fits, want: "above", listHeight: 9},
		{why: "ctrl+w", width: 120, cuts: fits, wide: true, want: "alone"},
		{why: "the end of the filter", width: 120, rows: 8, cuts: fits, want: "beside"},
		{why: "a wider cell", width: 120, rows: 8, cuts: cuts, want: "beside"},
		{why: "another width", width: 119, rows: 8, cuts: cuts, want: "above", listHeight: 9},
		{why: "ctrl+w", width: 119, rows: 8, cuts: fits, wide: true, want: "alone"},
		{why: "ctrl+w again", width: 119, rows: 8, cuts: fits, want: "above", listHeight: 9},
		{why: "a line that was moved", width: 119, rows: 8, cuts: cuts, moved: 500, want: "beside"},
		{why: "the last short one", width: 119, rows: 12, cuts: cuts, want: "above", listHeight: 13},
		{why: "over the limit", width: 119, rows: 13, cuts: cuts, want: "above", listHeight: 14},
		{why: "another visit", width: 119, rows: 13, cuts: cuts, visit: true, want: "beside"},
		{why: "back under the limit", width: 119, rows: 12, cuts: cuts, want: "beside"},
		{why: "another visit", width: 119, rows: 12, cuts: cuts, visit: true, want: "above", listHeight: 13},
		{why: "a list that fits", width: 120, rows: 3, cuts: fits, begin: true, want: "beside"},
		{why: "two texts", width: 120, rows: 3, two: true, cuts: fits, begin: true, want: "above", listHeight: 4},
		{why: "two texts without room", width: 101, rows: 3, two: true, cuts: fits, begin: true, want: "beside"},
		{why: "two texts with room beside the list", width: 200, rows: 3, two: true, cuts: fits, begin: true, want: "beside"},
		{why: "a list that folds", width: 120, rows: 3, begin: true, want: "beside"},
	} {
		if c.visit {
			f.Anew()
		}
		if c.begin {
			f = desk.Halves{}
		}
		d.Share, d.Wide = c.moved, c.wide
		if got := split(desk.Asks{Width: c.width, Height: 36, Rows: c.rows, Two: c.two, Cuts: c.cuts}); got != c.want || c.listHeight > 0 && f.ListHeight != c.listHeight {
			t.Errorf("%d, %s: the list stands %s with %d lines, want %s with %d", i, c.why, got, f.ListHeight, c.want, c.listHeight)
		}
	}
}
