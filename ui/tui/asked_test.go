package tui_test

import (
	"memdesk/ui/tui"
	"memdesk/undo"
	"strings"
	"testing"
)

// Letters without a meaning for a question, and the Enter after them, must not answer it.
func TestStrayKeysAreNoAnswer(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		r := daily(t, "desk,acts,staging", max(size[0], 80), max(size[1], 24))
		r.resize(size[0], size[1]).see("1 of 2")
		r.asked("d", "Forget crews").press("right").see("[Forget]").press(":").see(": does nothing here: tab, enter, esc", "now on Cancel", "[Cancel]")
		r.press("right").see("[Forget]").press("?").see("? does nothing here: tab, enter, esc", "now on Cancel", "[Cancel]")
		r.press("right").see("[Forget]").press(":", "messages", "enter").see("cancelled: nothing was changed", "Wednesday").press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	}
}

// Keys typed before a question was readable must not count as half of an answer.
func TestKeysBeforeAQuestionIsRead(t *testing.T) {
	d := atDesk(nil)
	d.line("store crewship").await("Thursday")
	d.quiet()
	d.send(keyNamed("d"))
	d.await("a moment, then keys count")
	d.send(keyNamed("tab"))
	d.await("enter cancel")
	d.keys("enter").wants(t, "keys came too early: look, then answer", "[Cancel]").keys("enter").wants(t, "cancelled: nothing was changed")
	d.send(keyNamed("d"))
	d.await("a moment, then keys count")
	d.await("enter cancel")
	d.keys("enter").wants(t, "cancelled: nothing was changed")
}

// Words that are typed where no field has the keys must not answer by the way: a y right after a key
// without a meaning is not taken.
func TestWordsAreNoAnswer(t *testing.T) {
	d := atDesk(func(o *tui.Options) {
		acts := o.Acts.(*actsFake)
		acts.rows = append(acts.rows, undo.Entry{ID: "u-1", At: now, Store: "crewship", Side: undo.Side{Op: "forget", Item: "monday.md", Existed: true, After: "gone"}})
	})
	d.line("undo").keys("u").await("enter cancel")
	d.keys("b", "y").wants(t, "y was not taken after a stray key: look, then press y again", "[Cancel]", "Undo the forget of monday.md?")
	d.keys("y").await("put back: monday.md")
}

// through pages through a question until a text appears, and returns everything shown.
func (r *robot) through(last string) string {
	r.t.Helper()
	seen := r.frame()
	for range 90 {
		s := r.frame()
		if strings.Contains(s, last) {
			return seen
		}
		r.press("pgdown").until("another part of it", func(now string) bool { return now != s })
		seen += r.frame()
	}
	r.t.Fatalf("%q is on no page:\n%s", last, seen)
	return ""
}

// The smallest screen must say when it hides a part of an erasure, and never hide that it is for good.
func TestErasureQuestionOnTheSmallestScreen(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	o.planned("--subject", "usr_maren", "--alias", "Maren Holt")
	r := o.console(80, 24).see("planned").resize(60, 15)
	r.asked("E", "for good?").see("It cannot be undone", "question 1 to ", ", more: PgDn")
	seen := r.through("to 8 of 8, the end: PgUp")
	for _, part := range []string{"2 out of reach.", "It runs on its own", "harbor ", "graph ", "notes ", "desk ", "nothing in device, work, scratch"} {
		if !strings.Contains(seen, part) {
			t.Errorf("no page shows %q:\n%s", part, seen)
		}
	}
	r.see("It cannot be undone", "[Cancel]").press("esc").see("cancelled")
}

// With little room the rows must show the change itself; PgUp shows its headings.
func TestChangeOnTheSmallestScreen(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,acts", 80, 24)
	r.resize(60, 15).see("1 of 2")
	p.will(`printf 'other\nthings\n' > "$1"`)
	r.press("e").see("Save crews", "- # Wednesday", "more: PgDn", "PRODUCTION", "[Cancel]", "enter cancel").gone("+++ as you wrote it")
	r.press("pgup").see("@@").press("pgup").see("+++ as").press("pgup").see("--- as it is stored").press("esc").see("not saved")

	c := conflictsRobot(t, "desk,acts,conflicts", 80, 24)
	c.press("j", "j").see("3 of 5").resize(60, 15).asked("m", "Difference 1 of 3 in plan.md").see("- status: ", "+ status: done").press("esc").see("cancelled")
}
