package tui_test

import (
	"testing"
)

// All keys that arrive in one read must be obeyed in order: a slow line or a fast typist may send
// several at once.
func TestNoKeyIsLost(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk", width: w, height: h})
		r.see("48,210", " down")
		r.press(":store graph\r").see("graph › all tiers", "1 of 48,210")
		r.press("jjjjjjjjjj").see("11 of 48,210")
		r.press("jjjjjkkkkk", "jjjjjjjjjj").see("21 of 48,210")
		r.press(":tier longterm\rjjj").see("› longterm", "4 of 48,210")
		r.press("down", "down", "down", "down", "down", "up", "up", "up", "down", "down").see("8 of 48,210")
		r.press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	})
}
