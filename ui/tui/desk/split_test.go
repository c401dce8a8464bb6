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
	for width, want := range map[int]int{100: 55, 120: 66, 192: 105, 193: 90, 200: 97, 300: 165} {
		f := d.Split(width, 40)
		if f.ListWidth != want || f.ListWidth+f.DetailWidth+3 != width {
			t.Errorf("at %d columns the list has %d and the detail %d, want a list of %d", width, f.ListWidth, f.DetailWidth, want)
		}
		if width >= 193 && f.DetailWidth < desk.WideDetail {
			t.Errorf("at %d columns the detail has %d", width, f.DetailWidth)
		}
	}
}
