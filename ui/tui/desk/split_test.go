package desk_test

import (
	"testing"

	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
)

// A terminal of 200 columns must show both sides of a conflict beside each other, and no list may get
// too narrow for that.
func TestSplit(t *testing.T) {
	d := desktest.New()
	for width, want := range map[int]int{100: 54, 120: 65, 192: 104, 193: 89, 200: 96, 300: 164} {
		f := d.Split(width, 40, 0)
		if f.ListWidth != want || f.ListWidth+f.DetailWidth+4 != width {
			t.Errorf("at %d columns the list has %d and the detail %d, want a list of %d", width, f.ListWidth, f.DetailWidth, want)
		}
		if width >= 193 && f.DetailWidth < desk.WideDetail {
			t.Errorf("at %d columns the detail has %d", width, f.DetailWidth)
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
