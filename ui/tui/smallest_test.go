package tui_test

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// smallest is the desk on the smallest screen.
func smallest(t *testing.T) *driver {
	t.Helper()
	o, fakes := lightDesk()
	o.Acts = &actsFake{fakes: fakes}
	d := newDriver(o, 60, 15)
	d.settle("2.8 KB")
	d.quiet()
	return d.unfolded()
}

// lineOf is the screen line that contains a text.
func (d *driver) lineOf(text string) string {
	for _, l := range strings.Split(d.screen(), "\n") {
		if strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

// An item must open at its title, even from a preview that had no room for it.
func TestSmallestItemOpensAtItsTitle(t *testing.T) {
	d := smallest(t)
	d.keys("down", "down", "down", "enter").await("1 of 2").await("more: J K").keys("enter").await("daily, 79 B, 05-20").wants(t, "1 # Wednesday", "line 4 of 4")
	// A place that is too long must keep its last name whole.
	if line := d.lineOf("Tiers › …"); !strings.Contains(line, "…/2026-05-20.md") {
		t.Errorf("the breadcrumbs are %q", line)
	}
	// Keys of the list must say so.
	d.keys("*").await("* is a key of the list: left goes back there")
	d.keys("X").await("X does nothing here; ? lists the keys")
}

// The most important columns must have room.
func TestSmallestColumns(t *testing.T) {
	d := smallest(t)
	d.keys("7").await("record 244").wants(t, "WHEN, UTC", "ACTOR", "ACTION", "OUTCOME", "TARGET", "pins.md")
	if strings.Contains(d.screen(), "SEQ") {
		t.Errorf("the number of the record has room, which the detail tells:\n%s", d.screen())
	}
	d = sized(t, 80, 24)
	d.keys("7").await("record 244").wants(t, "SEQ", "TARGET", "pins.md")
}

// The list above the command line must be small, and say how much of it is in sight.
func TestSmallestPalette(t *testing.T) {
	d := smallest(t)
	d.keys(":").typed("theme ").wants(t, "│ auto ", "│ colour-blind ").lacks(t, "1 to ").keys("esc")
	d.keys(":").wants(t, ":   1 to 6 of ")
	// At 80 columns commands without keys have the room of the keys for their sentences.
	o, _ := lightDesk()
	console := newDriver(o, 80, 24).keys(":").wants(t, "what scanners blocked, filtered by these words")
	// Once a row with a key was shown, the columns stay where they are.
	console.keys(slices.Repeat([]string{"tab"}, 36)...).wants(t, "36 of 36").keys("tab", "tab").wants(t, "quarantine [WORDS]").lacks(t, "what scanners blocked, filtered by these words")
}

// A reason that does not fit in the frame must be at the top of the help.
func TestSmallestReadOnlyReason(t *testing.T) {
	o, fakes := lightDesk()
	o.Acts, o.ReadOnlyReason = &actsFake{fakes: fakes}, "the audit log cannot be written: no space left on the device"
	d := newDriver(o, 66, 15)
	d.settle("2.8 KB")
	d.wants(t, "READ-ONLY, ? says why").lacks(t, "audit log")
	d.send(tea.WindowSizeMsg{Width: 75, Height: 15})
	d.wants(t, "READ-ONLY, ? says why")
	d.send(tea.WindowSizeMsg{Width: 60, Height: 15})
	d.wants(t, "READ-ONLY  ").lacks(t, "READ-ONLY…")
	o.Operator = "root@pts/0.example"
	for _, width := range []int{60, 80} {
		long := newDriver(o, width, 15)
		long.settle("2.8 KB")
		long.wants(t, "READ-ONLY").lacks(t, "READ-ONLY…")
	}
	d.keys("?").await("what cannot be changed now").wants(t, "READ-ONLY: the audit log cannot be written: no space left", "on the device", "1 to 10 of")
	wide := newDriver(o, 200, 50)
	wide.settle("48,210")
	wide.wants(t, "READ-ONLY: the audit log cannot be written: no space left on the device")
}

// The list must name the items that the tree counts and it leaves out.
func TestListSaysWhatItLeavesOut(t *testing.T) {
	o, fakes := lightDesk()
	fakes["graph"].archived = 3
	d := newDriver(o, 80, 24)
	d.settle("48,213")
	d.keys(":").typed("store graph").keys("enter").await("1 of 48,210, a shows 3 more")
}
