package tui_test

import (
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/clock"
	"memdesk/internal/drafts"
)

// composing is a session whose terminal does not belong to this process.
func composing(t *testing.T, w, h int) *driver {
	o, fakes := lightDesk()
	o.Input, o.Acts = strings.NewReader(""), &actsFake{fakes: fakes}
	o.Drafts = drafts.New(filepath.Join(t.TempDir(), "edit"), clock.Fixed(now), func() error { return nil })
	d := newDriver(o, w, h)
	d.settle("2.8 KB")
	return d
}

// Without its own terminal a session must edit in the console, with the same comparison and question as
// after any editor.
func TestBuiltInEditor(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 15}, {200, 50}} {
		d := composing(t, size[0], size[1])
		d.line("store crewship").await("crewship › all tiers").keys("e").await("── Edit ›")
		d.typed("A new line").keys("enter").wants(t, "A new line", "esc done", "line 2 of ")
		d.send(tea.PasteMsg{Content: "pasted\r\n\x1b[31mred"})
		d.wants(t, "pasted", "‹U+1B›[31mred")
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1] + 3})
		d.wants(t, "pasted")
		d.keys("esc").await("enter cancel").wants(t, "Save ", "+ A new line")
		d.keys("y").await("saved")
	}
}

// An unchanged text must raise no question; ctrl+c ends the editor, not the console.
func TestBuiltInEditorUnchanged(t *testing.T) {
	d := composing(t, 100, 30)
	d.line("store crewship").await("crewship › all tiers").keys("e").await("── Edit ›").keys("ctrl+c").await("the text is as it was")
	d.keys("e").await("── Edit ›").typed("5").keys("ctrl+s").await("enter cancel").keys("esc").await("kept for 30 days: :kept has it")
	d.line("kept").await("Kept texts").wants(t, "put aside").lacks(t, "/edit/kept") // no path of the server
}

// The built-in editor lays out its whole text at each key, so a paste must not pass its bounds.
func TestBuiltInEditorBoundsAPaste(t *testing.T) {
	d := composing(t, 100, 30)
	d.line("store crewship").await("crewship › all tiers").keys("e").await("── Edit ›")
	d.send(tea.PasteMsg{Content: strings.Repeat("x", 70_000)})
	d.wants(t, "nothing was pasted").keys("esc").await("the text is as it was")
}
