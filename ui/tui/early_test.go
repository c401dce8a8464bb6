package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui"
	"memdesk/undo"
)

// Keys typed during the start must be obeyed: before the terminal is raw an Enter arrives as a line
// feed, and before the size is known there is no screen.
func TestKeysBeforeTheFirstFrame(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk", width: w, height: h})
		r.press(":store graph\rjj").see("graph › all tiers", "3 of 48,210")
		r.press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	})
}

// The same right after the first frame, while the terminal still answers queries and the stores still count.
func TestKeysRightAfterTheFirstFrame(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk,acts,writable", width: w, height: h})
		r.see("[2 Tiers]").press(":store crewship\r", "jj", "d").see("Forget crews")
		r.press("ctrl+c")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestKeysBeforeTheSize(t *testing.T) {
	o, _ := lightDesk()
	d := unsized(o)
	d.send(tea.KeyPressMsg{Code: ':', Text: ":"})
	d.send(tea.PasteMsg{Content: "store graph"})
	d.send(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}) // Enter on a terminal that is not raw
	d.send(keyNamed("j"))
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	d.settle("2 of 48,210")
}

// A key that acts on the cursor's row must wait for the list, so that it takes the row shown then and
// not the one before; escape cancels it.
func TestKeysWaitForTheList(t *testing.T) {
	d := atDesk(nil)
	d.line("store crewship")
	d.settle("Thursday")
	d.quiet()
	filter := func(words string) {
		d.send(keyNamed("/"))
		d.send(keyNamed("ctrl+u"))
		for _, c := range words {
			d.send(keyNamed(string(c)))
		}
		d.send(keyNamed("enter"))
	}
	filter("Wednesday")
	d.send(keyNamed("d"))
	d.wants(t, "the list is loading: d waits for it")
	d.send(keyNamed("Q"))
	d.wants(t, "d and 1 more key wait for it", "[2 Tiers]")
	d.await("Forget crews/eng/agents/bo/daily/2026-05-20.md")
	d.await("enter cancel")
	d.keys("enter")
	filter("Thursday")
	d.send(keyNamed("d"))
	d.send(keyNamed("esc"))
	d.wants(t, "are dropped")
	d.settle("1 of 1")
	d.quiet()
	if s := d.screen(); strings.Contains(s, "Forget") {
		t.Errorf("the key was obeyed:\n%s", s)
	}
}

// The same in a list beside a pane, here the undo list: enter opens the row that is found.
func TestKeysWaitForTheSideList(t *testing.T) {
	d := atDesk(func(o *tui.Options) {
		acts := o.Acts.(*actsFake)
		for _, item := range []string{"monday.md", "tuesday.md"} {
			acts.rows = append(acts.rows, undo.Entry{ID: "u-" + item, At: now, Store: "crewship", Side: undo.Side{Op: "forget", Item: item}})
		}
	})
	d.line("undo").wants(t, "1 of 2")
	for _, k := range append(append([]string{"/"}, strings.Split("tuesday", "")...), "enter", "y", "enter") {
		d.send(keyNamed(k))
	}
	d.wants(t, "the list is loading: y and 1 more key wait for it")
	d.quiet()
	d.wants(t, "Undo › /tuesday › tuesday.md", "u-tuesday.md")
}

// A key that comes before the first rows of a list waits for them too.
func TestKeysWaitForTheFirstRows(t *testing.T) {
	d := atDesk(nil)
	d.send(keyNamed("7"))
	d.send(keyNamed("enter"))
	d.wants(t, "the list is loading: enter waits for it")
	d.quiet()
	d.wants(t, "Audit ›")
}

// Keys that wait for one list are never obeyed in another one.
func TestWaitingKeysStayWithTheirList(t *testing.T) {
	d := atDesk(nil)
	d.line("store crewship")
	d.settle("Thursday")
	d.quiet()
	for _, k := range append(append([]string{"/"}, strings.Split("Thursday", "")...), "enter", "d", "y") {
		d.send(keyNamed(k))
	}
	d.wants(t, "d and 1 more key wait for it")
	d.send(tea.MouseClickMsg{X: strings.Index(strings.SplitN(d.screen(), "\n", 2)[0], "4 Quarantine"), Y: 0, Button: tea.MouseLeft})
	d.await("keys that were waiting for the other list are dropped")
	d.quiet()
	d.wants(t, "[4 Quarantine")
	if s := d.screen(); strings.Contains(s, "Delete") || strings.Contains(s, "Forget") {
		t.Errorf("the key was obeyed:\n%s", s)
	}
}

// Keys typed while rows are being marked wait for the marks. Those typed before a question is up never act on the pane.
func TestKeysWaitForMarksAndQuestions(t *testing.T) {
	d := atDesk(nil)
	d.line("store crewship")
	d.settle("Thursday")
	d.quiet()
	d.send(keyNamed("*"))
	d.send(keyNamed("d"))
	d.wants(t, "marking", "the list is loading: d waits for it")
	d.await("there is no journal for long work here") // the answer of d for many
	d.keys("u")
	d.send(keyNamed("d"))
	d.send(keyNamed("y"))
	d.wants(t, "y was not taken: a question is on its way, esc gives it up")
	d.await("Forget crews")
	d.await("enter cancel")
	d.keys("esc")
	d.send(keyNamed("d"))
	d.send(keyNamed("esc"))
	d.wants(t, "given up: nothing is asked")
	d.quiet()
	if s := d.screen(); strings.Contains(s, "Forget crews") || !strings.Contains(s, "nothing was asked") {
		t.Errorf("the question came:\n%s", s)
	}
}
