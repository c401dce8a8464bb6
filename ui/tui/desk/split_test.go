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
		f := d.Split(width, 40)
		if f.ListWidth != want || f.ListWidth+f.DetailWidth+4 != width {
			t.Errorf("at %d columns the list has %d and the detail %d, want a list of %d", width, f.ListWidth, f.DetailWidth, want)
		}
		if width >= 193 && f.DetailWidth < desk.WideDetail {
			t.Errorf("at %d columns the detail has %d", width, f.DetailWidth)
		}
	}
}
