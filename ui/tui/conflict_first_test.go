package tui_test

import "testing"

// A conflict must open at its comparison, even at 80×24; i shows the reason. Where there is room, the question of
// an answer leaves both sides in sight.
func TestAConflictBeginsWithItsDifference(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		r := conflictsRobot(t, "desk,acts,conflicts", size[0], size[1])
		r.press("j", "j").see("3 of 5", "- status: open", "+ status: done", "▲ Sync may restore").gone("name pattern 8")
		r.press("i").see("name pattern 8", "K3ZQ7AB").press("i").see("+ status: done")
		if size[0] == 120 {
			r.asked("c", "Keep the copy of plan.md?").see("- status: open", "+ status: done").press("esc").see("cancelled")
		}
	}
}

// Where several answers act, y must say so and do nothing.
func TestYOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 100, 30)
	r.press("j", "j").see("3 of 5").asked("m", "Difference 1 of 3 in plan.md").press("y").see("y: there is more than one answer", "enter cancel").press("esc").see("cancelled")
}
