package tiers

import (
	"strings"
	"testing"

	"memdesk/model"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

// TestTitlesTakeTheRoomOfFlags: a title must not be cut beside flags that no row on the screen has.
func TestTitlesTakeTheRoomOfFlags(t *testing.T) {
	b := pane.NewBench(desktest.New())
	l := New(b, 0).Items
	row := func(flags ...model.Flag) ItemRow {
		return newItemRow(b.Esc, model.Header{ID: "a", Tier: "daily", Title: strings.Repeat("title ", 20), Bytes: 205, Flags: flags})
	}
	l.Window.Rows, l.Window.Height = []ItemRow{row(), row(), row(model.FlagReadOnly, model.FlagOverCap)}, 2
	l.fitted()
	off := l.widths(66)
	l.Window.Top = 1
	on := l.widths(66)
	if off[colFlags] != len("FLAGS") || off[colTitle]-on[colTitle] != on[colFlags]-off[colFlags] || on[colFlags] < len("readonly over-cap") {
		t.Errorf("flags and title have %d and %d columns, and %d and %d with a flag on the screen", off[colFlags], off[colTitle], on[colFlags], on[colTitle])
	}
}
