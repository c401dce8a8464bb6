package pane_test

import (
	"testing"

	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/pane"
)

// TestOriginShrinks: one long name must not take the column away from all the others.
func TestOriginShrinks(t *testing.T) {
	var fit list.Fit
	columns := []list.Column{{Most: 11, Least: 9}, pane.Origin, {Most: 10, Least: 8}, {Least: 26}}
	for i, width := range []int{9, 25, 8, 60} {
		fit.See(i, width, 0)
	}
	if got := fit.Widths(54, columns); got[1] != 10 {
		t.Errorf("%d, want an origin of 10", got)
	}
	if got := fit.Widths(40, columns); got[1] != 0 {
		t.Errorf("%d, want no origin: the others need the room", got)
	}
}
