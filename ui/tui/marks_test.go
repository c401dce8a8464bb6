package tui_test

import "testing"

func TestMarksAndBulkForget(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, _ := noted(t, "desk,acts", w, h)
		r.press("u").see("u: nothing is marked").press("v").see("v: mark the first row of the range")
		r.press(" ").see("1 marked", "*Wednesday", "2 of 2").press("v").see("2 marked", "*Thursday").press("u").gone("marked")
		r.press("*").see("2 marked")
		r.asked("d", "Forget 2 items?").see("This removes 2 items (178 B).", "▲ The environment: PRODUCTION", "type crewship to confirm")
		r.press("y").see("y: the name has to be typed first").press("esc").see("cancelled", "2 marked").asked("d", "Forget 2 items?")
		r.press("tab", "tab").press("crewship").press("tab").see("[Forget]").press("enter")
		r.see("[2 Tiers]", "2 items forgotten; z undoes it", "No items here").gone("OUTCOME")
		r.press("z").see("Undo the last act on 2 items?", "enter cancel").press("enter").see("cancelled")
		r.press("z").see("Undo the last act on 2 items?", "enter cancel").press("tab", "tab").see("[Undo]").press("enter").see("2 items put back", "Wednesday", "of 2").press("z").see("z: nothing of this session is left for z").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// An item that changed since it was marked must stay.
func TestBulkLeavesWhatHasChanged(t *testing.T) {
	t.Parallel()
	r, _ := noted(t, "desk,meddle,staging", 120, 30)
	r.press("*").see("2 marked").asked("d", "Forget 2 items?").press("tab", "tab").see("[Forget]").press("enter")
	r.see("2 items left", "WHY", "it has changed since it was marked").press("esc").see("written by somebody else")
}

// Marking all matches must include every page, and the walk can be stopped.
func TestMarkAllMatching(t *testing.T) {
	t.Parallel()
	r, _ := noted(t, "desk,acts,writable", 120, 30)
	r.press(":").press("store graph").press("enter").see("48,210").press("*").see("48,210 marked", "48,210 rows marked")
	r.asked("d", "Forget 48,210 items?").see("and 48,205 more", "type graph to confirm", "enter cancel").press("esc").see("48,210 marked")
	r.press("u").gone("marked").press(" ").see("1 marked").press("pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown").gone("Fact 0 ")
	r.press("G").see("48,210 of 48,210").press("v").see("48,210 marked").press("u").gone("marked").press(" ").see("1 marked").press("g").see("1 of 48,210").press("v").see("48,210 marked")
}
