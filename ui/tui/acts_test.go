package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// daily starts the console on the two daily notes of an agent.
func daily(t *testing.T, scenario string, w, h int) *robot {
	r := startRobot(t, start{scenario: scenario, width: w, height: h})
	return r.unfolded().press("j", "j", "j").see("one note per day").press("enter").see("Thursday", "1 of 2", "# Wednesday")
}

// asked opens a key's dialog and waits until it takes keys.
func (r *robot) asked(key, question string) *robot {
	r.t.Helper()
	return r.press(key).see(question, "[Cancel]", "enter cancel")
}

func TestForgetStartsOnCancel(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := daily(t, "desk,acts", w, h)
		r.asked("d", "Forget crews/eng/agents/bo/daily/2026-05-20.md?").see("This removes 1 item", "▲ The environment: PRODUCTION", "type 2026-05-20.md to confirm")
		r.press("enter").see("cancelled: nothing was changed", "1 of 2")
		r.asked("d", "Forget crews").press("esc").see("cancelled", "1 of 2")
		r.press("enter").see("went out at 14:02", "forget").asked("d", "Forget crews").press("esc").see("cancelled", "went out at 14:02")
		r.press("esc").see("1 of 2").press("z").see("z: nothing was done here yet")
	})
}

func TestForgetAndUndo(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := daily(t, "desk,acts", w, h)
		r.asked("d", "Forget crews")
		r.press("tab").see("enter next").press("asked by Mara").see("(optional): asked by Mara")
		r.press("tab", "tab").see("[Forget]").press("enter").see("type the name first: 2026-05-20.md")
		r.press("2026-05-20.md").press("enter").see("[Forget]").press("enter")
		r.see("forgot crews/eng/agents/bo/daily/2026-05-20.md; z undoes", "1 of 1").gone("Wednesday")
		r.press("z").see("Undo the forget of", "[Cancel]", "enter cancel").press("enter").see("cancelled", "1 of 1")
		r.asked("z", "Undo the forget of").press("up").see("[Undo]").press("enter")
		r.see("put back: crews/eng/agents/bo/daily/2026-05-20.md", "Wednesday")
		r.press("z").see("z: nothing of this session is left for z").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

func TestForgetConflict(t *testing.T) {
	t.Parallel()
	r := daily(t, "desk,acts,meddle", 100, 30)
	r.asked("d", "Forget crews").press("tab", "tab").press("2026-05-20.md").press("enter").press("enter")
	r.see("Conflict", "has changed since it was shown", "written by somebody else", "nothing was forgotten")
	r.press("esc").see("of 2", "written by somebody else")
}

func TestForgetWarns(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,acts", width: 100, height: 30})
	r.see("[2 Tiers]", "48,210").press(":").press("tier pins").press("enter").see("1 of 1", "pinned: the deploy")
	r.asked("d", "Forget crews").see("undo cannot restore it")
}

func TestUndoList(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := daily(t, "desk,acts", w, h)
		r.press(":").press("undo").press("enter").see("Nothing is kept", "1 damaged entry").press("u").see("u: the list is empty").press("esc").see("1 of 2")
		r.asked("d", "Forget crews").press("tab", "tab").press("2026-05-20.md").press("enter").press("enter").see("z undoes")
		r.press(":").press("undo").press("enter").see("Undo", "forget", "kept until", "undo-1")
		r.asked("u", "Undo the forget of").press("esc").see("cancelled", "undo-1")
		r.asked("u", "Undo the forget of").press("tab", "tab").see("[Undo]").press("enter").see("put back", "Nothing is kept")
		r.press("esc").see("Wednesday", "of 2")
	})
}

func TestActsSayWhyNot(t *testing.T) {
	t.Parallel()
	for scenario, why := range map[string]string{
		"desk":               "d: this console only shows",
		"desk,acts,readonly": "the audit log cannot be written",
	} {
		r := daily(t, scenario, 100, 30)
		r.press("d").see(why).press("z").see("z: ")
	}
	r := startRobot(t, start{scenario: "desk,acts", width: 100, height: 30})
	r.see("[2 Tiers]", "48,210").press(":").press("store graph").press("enter").see("Fact 0").press("d").see("the store is read-only: the file belongs to another user")
}

// Keys pressed before the dialog was shown must not answer it.
func TestDialogIgnoresKeysInFlight(t *testing.T) {
	o, fakes := lightDesk()
	o.Acts = &actsFake{fakes: fakes}
	d := newDriver(o, 100, 30)
	d.settle("48,210")
	for _, k := range []string{"down", "down", "down", "enter"} {
		d.send(keyNamed(k))
		d.quiet()
	}
	d.send(keyNamed("d"))
	d.settle("[Cancel]")
	shown := func() string { return ansi.Strip(d.m.View().Content) }
	before := shown()
	for _, k := range []string{"enter", "esc", "tab", "x", "q"} {
		d.send(keyNamed(k))
	}
	d.send(tea.PasteMsg{Content: "x"})
	if got := shown(); got != before {
		t.Errorf("a key in flight has changed the dialog:\n%s", got)
	}
	d.settle("cancel")
	d.send(keyNamed("esc"))
	if strings.Contains(shown(), "[Cancel]") {
		t.Errorf("the dialog takes no keys:\n%s", shown())
	}
}

func TestDeleteQuarantineEntry(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk,acts", width: w, height: h})
		r.see("[2 Tiers]", "48,210").press("4").see("1 of 3", "still poisoned")
		r.asked("d", "Delete the quarantine entry of crews/eng/shared/CREW.md?").see("undo cannot restore it", "still poisoned", "type CREW.md")
		r.press("esc").see("cancelled", "1 of 3")
		r.asked("d", "Delete the quarantine").press("tab", "tab").press("CREW.md").press("enter").see("[Delete]").press("enter")
		r.see("forgot q/1; it cannot be undone: ", "kept as undo-1", "1 of 2").press("z").see("z: the last act cannot be put back: only the store")
		r.press(":").press("undo").press("enter").see("── Undo", "1 of 1").press("u").see("only the store's own scanner").press("esc").press("esc")
		r.see("1 of 2").press("d").see("only the live item")
	})
}

func TestHistory(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := daily(t, "desk,history,acts", w, h)
		r.press("H").see("History", " TEXT ", "As it was at 2026-05-21 08:30:00Z", "kept", "gone")
		r.press("enter").see("as it was before").press("n").see("its bytes are gone").press("esc").see("2 of 2").press("d").see("d does nothing here")
		r.press("esc").see("Thursday", "1 of 2").press("enter").see("went out at 14:02").press("H").see("History", "kept")
		r.press("esc").see("went out at 14:02").press("esc").see("1 of 2")
		r.press(":").press("tier pins").press("enter").see("1 of 1").press("H").see("the history is unrecorded: only daily notes are recorded^[[31m")
	})
	r := daily(t, "desk", 100, 30)
	r.press("H").see("H: this store keeps no earlier versions")
}
