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
		one, two := d.Split(c.width, 40, 0), d.SplitTexts(true, c.width, 40, 0)
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
		if f := d.Split(80, 20, rows); f.ListHeight != want || f.ListHeight+f.DetailHeight+1 != 20 {
			t.Errorf("with %d rows the list has %d lines and the detail %d, want a list of %d", rows, f.ListHeight, f.DetailHeight, want)
		}
	}
}
