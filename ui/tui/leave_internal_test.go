package tui

import (
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/dialog"
)

// TestAnActUnderWayIsWork: ctrl+c must warn before it leaves in the middle of an act whose result nobody would hear.
func TestAnActUnderWayIsWork(t *testing.T) {
	a := New(Options{})
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 30})
	if a.leave.atWork() {
		t.Fatal("work in an idle console")
	}
	a.D.Modal.Dialog = &dialog.Dialog{}
	if a.leave.atWork() {
		t.Error("an open question is no work")
	}
	a.D.Modal.Dialog.Busy = true
	if a.leave.interrupt(); !a.leave.warned {
		t.Error("ctrl+c left in the middle of an act")
	}
}

// TestUnknownWorkIsAskedAbout: where the jobs cannot be listed, one may run that would stop.
func TestUnknownWorkIsAskedAbout(t *testing.T) {
	a := New(Options{})
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 30})
	a.leave.leaveNow(nil, nil, errors.New("the journal cannot be read"))
	if a.D.Modal.Dialog == nil {
		t.Error("the console left without a question")
	}
}
