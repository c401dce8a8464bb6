package tui_test

import "testing"

// The question must name the relations that go with an item, the answer must count them, and undo must
// restore them with it; for several marked items they are counted together.
func TestForgetSaysWhatGoesWithIt(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	for _, size := range [][2]int{{100, 30}, {80, 24}} {
		r := o.console(size[0], size[1])
		r.press("2", ":").press("go graph:fact-0117").press("enter").see("oven telemetry")
		r.asked("d", "Forget fact-0117?").see("1 relation goes with it", "edge/relation-0118")
		r.press("tab", "tab").see("[Forget]").press("enter").see("and 1 relation with it; z undoes")
		r.press("z").see("Undo the forget of", "enter cancel").press("tab", "tab").see("[Undo]").press("enter").see("put back with 1 relation")
		r.press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	}
	r := o.console(100, 30)
	r.press("2", ":").press("store graph").press("enter").see("of 155").press("/", "oven telemetry", "enter").see("/oven telemetry").press("*").see("marked")
	r.asked("d", "Forget 10 items?").see("- oven telemetry was moved", "▲ With them ", " of graph, left with", "fewer than two members: edge/relation-").press("esc").see("cancelled")
}
