package tui_test

import (
	"fmt"
	"testing"
)

// A conflict must open at its comparison, even at 80×24; i shows the reason. Below a short list of a wide terminal both
// sides stand beside each other, and the question of an answer leaves them in sight.
func TestAConflictBeginsWithItsDifference(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 80, 24)
	r.press("j", "j").see("3 of 5", "- status: open", "+ status: done", "▲ Sync may bring").gone("name pattern 8")
	r.press("i").see("name pattern 8", "K3ZQ7AB").press("i").see("+ status: done")
	// Without room for a warning, which the question has, the difference comes before it.
	r.resize(60, 16).see("3 of 5", "- status: open", "+ status: done").gone("Sync may").press("7").see("chain verified to record 244 at")
	r = conflictsRobot(t, "desk,acts,conflicts", 120, 40)
	r.see("── conflict ──")
	_, line := r.at("── conflict ──")
	for n := 2; n <= 5; n++ {
		r.press("j").see(fmt.Sprintf("%d of 5", n))
		if _, y := r.at("── conflict ──"); y != line {
			t.Errorf("at row %d the line above the detail is in line %d, not %d", n, y, line)
		}
	}
	r.press("k", "k").see("3 of 5", "|  3 status: done", "▲ Sync may bring")
	r.asked("c", "Keep the copy of plan.md?").see("|  3 status: done").press("esc").see("cancelled")
}

// Where several answers act, y must say so and do nothing.
func TestYOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 100, 30)
	r.press("j", "j").see("3 of 5").asked("m", "Difference 1 of 3 in plan.md").press("y").see("y: there is more than one answer", "enter cancel").press("esc").see("cancelled")
}
