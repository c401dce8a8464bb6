package tui_test

import "testing"

// Sorting, the wide list, the whole row, and saved views.
func TestColumnsAndViews(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,acts,conflicts", width: 120, height: 40})
	r.see("48,210").press("5").see("1 of 5", "garden.md", "lacks")
	r.press(">").see("STORE↑", "1 of 5").press("-").see("STORE↓")
	r.press(">").see("BASE↑").press("<").see("STORE↑")
	r.press("home").see("garden.md").press("i").see("ancestor").press("i").gone("ancestor")
	r.press("}").press("{")
	r.press("/", "plan|half", "enter").see("1 of 3").gone("garden.md")
	r.press("ctrl+w").gone("│").see("….sync-conflict-20260520-083015-K3ZQ7AB.md")
	r.press(":", "save mine", "enter").see("kept as mine")
	r.press("ctrl+w").see("│").press("esc").see("of 5").press("1").see("[1 Health")
	r.press(":", "view mine", "enter").see("[5 Conflicts]", "1 of 3", "STORE↑").gone("│")
	r.press("ctrl+w", "/", "ctrl+u", "-f gdn", "enter").see("garden.md", "1 of 1")
	r.press("esc", "4").see("[4 Quarantine]", "highlighted").press("i").see("sha256").press("i").see("highlighted").press(">").see("STORE↑")
	r.press(">", ">", ">").see("NOW↑").press("home").see("▌ crewship CREW.md  crews/eng/s… ✖ poisoned") // the worst state first
	r.press("-", "<", "<", "<", "<")
	r.press(":", "view none", "enter").see("there is no view")
	r.press(":", "view", "enter").see("say which view")
}

// TestCommandsWhileTyping: the line shows what a command may become, and that nothing begins so.
func TestCommandsWhileTyping(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk", width: 100, height: 24})
	r.see("[2 Tiers]", "crewship").press(":").see("store  tier  go  recall").press("co").see("conflicts").gone("store  tier")
	r.press("zz").see("no command begins so").press("esc").gone("no command").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}
