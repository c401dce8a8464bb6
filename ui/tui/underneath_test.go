package tui_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"memdesk/ui/tui"
)

// Of the screen under a question only the row in question may stay bright, not the line of the detail beside
// it, which is about something else.
func TestTheDetailBesideTheRowIsShaded(t *testing.T) {
	o, _ := lightDesk()
	d := newDriver(o, 120, 30)
	d.settle("48,210")
	d.await("location")
	a := d.m.(*tui.App)
	list, ok := a.Tiers.Listed()
	lines, row, _ := a.Underneath(120, 27)
	line := lines[row.Min.Y]
	aside := ansi.TruncateLeft(ansi.Strip(line), list.Width, "")
	if !ok || !strings.HasPrefix(aside, " │") || !strings.HasSuffix(line, a.D.St.Shaded(aside)) {
		t.Errorf("the detail is not shaded:\n%q", line)
	}
	if before := strings.TrimSuffix(line, a.D.St.Shaded(aside)); ansi.StringWidth(before) != list.Width {
		t.Errorf("the row has %d columns, want %d", ansi.StringWidth(before), list.Width)
	}
}
