package tui_test

import "testing"

// Terms of fields narrow the items of a store and the hits of a recall; what cannot be read is said, in the place
// of hits that answer another question.
func TestTermsSelectByField(t *testing.T) {
	r := startRobot(t, start{scenario: "desk", width: 120, height: 40})
	r.see("[2 Tiers]", "48,210").press("3").press("/", "deploy store:crewship").see("1 of 1 store answered", "of 20+ hits")
	r.press("ctrl+u", "deploy since:soon").see(`"soon" is no time`).gone("of 20+ hits").press("ctrl+u", "deploy tier:nowhere").see("0 of 1 store answered")
	r.press("ctrl+u", "deploy store:nowhere").see(`there is no store "nowhere"`).press("ctrl+u", "store:crewship").see("write what to look for beside the terms")
	r.press("esc").press("2").press("enter").press("/", "since:soon", "enter").see(`"soon" is no time`).press("ctrl+u", "tier:nowhere", "enter").see(`Nothing matches "tier:nowhere"`).press("esc").press("q")
	raw, err := r.left()
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, raw)
}
