package tui_test

import "testing"

// A conflict begins with its comparison, at the smallest usual size too; i has the reason.
func TestAConflictBeginsWithItsDifference(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		r := conflictsRobot(t, "desk,acts,conflicts", size[0], size[1])
		r.press("j", "j", "j").see("4 of 5", "-status: open", "+status: done", "!! Sync may restore").gone("name pattern 8")
		r.press("i").see("name pattern 8", "K3ZQ7AB").press("i").see("+status: done")
	}
}

// Where several answers act, y says so and does nothing.
func TestYOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 100, 30)
	r.press("j", "j", "j").see("4 of 5").asked("m", "Difference 1 of 3 in plan.md").press("y").see("y: there is more than one answer", "enter cancel").press("esc").see("cancelled")
}
