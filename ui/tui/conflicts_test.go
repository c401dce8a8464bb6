package tui_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// conflictsRobot opens pane 5 on one copy of each sort.
func conflictsRobot(t *testing.T, scenario string, w, h int) *robot {
	return startRobot(t, start{scenario: scenario, width: w, height: h}).see("[2 Tiers]", "48,210").press("5").see("[5 Conflicts]", "1 of 5", "garden.md")
}

func TestConflictsPane(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		frame := func(name string) string { return fmt.Sprintf("%s-%dx%d", name, w, h) }
		r := conflictsRobot(t, "desk,acts,conflicts", w, h)
		r.see("deleting a .Conflict").golden(frame("conflicts"))
		r.press("j").see("2 of 5", "orphan").press("b").see("it has no base")
		if r.press("j").see("3 of 5"); w >= 200 { // a wide screen shows both sides without a key
			r.see("BASE", "status: open").press("enter").see("Conflicts › crewship", "status: done").golden(frame("conflict")).press("G").see("is late.")
			r.see("BASE", "COPY").press("s").see("@@").press("s")
		} else {
			r.see("▲ syncthing, +", "- status: open").press("enter").see("▲ syncthing, +", "status: done").golden(frame("conflict")).press("G").see("is late.")
			r.see("+ Everybody is late.").press("s")
		}
		r.see("BASE", "COPY", "---").golden(frame("conflict-sides"))
		r.press("esc").see("3 of 5").press("j").see("4 of 5", "markers", "--- HEAD", "- a", "+ b").press("b").see("e edits it").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// TestARedundantCopyTakesThreePresses: the key, the move to the button, and enter.
func TestARedundantCopyTakesThreePresses(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := conflictsRobot(t, "desk,acts,conflicts", w, h)
		r.press("G").see("5 of 5", "pattern 1:", "byte")
		r.asked("b", "Keep plan.md and remove its copy?").see("may bring").press("tab").see("[Keep base]").press("enter").see("kept the base of plan.md; z undoes", "of 4")
	})
}

func TestConflictIsMergedHunkByHunk(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := conflictsRobot(t, "desk,acts,conflicts", w, h)
		r.press("j", "j").see("3 of 5", "syncthing", "status: ")
		r.asked("m", "Difference 1 of 3 in plan.md").see("status: done").press("tab", "tab").see("[Copy]").press("enter")
		r.see("Difference 2 of 3", "@@ line 7", "Ship on Monday.", "enter cancel", "b base").press("b")
		r.see("Difference 3 of 3", "Everybody is late", "enter cancel").press("B")
		r.see("Write the result to plan.md?", "2 lines added, 1 line removed", "▲ Sync may bring", "it becomes a conflict. D first removes it", "enter cancel").press("tab", "tab").see("[Write]").press("enter")
		r.see("plan.sync-conflict-20260520-083015-K3ZQ7AB.md has come back", "returned")
	})
}

func TestAChangedSideIsShown(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,moved", 100, 30)
	r.press("j", "j").see("3 of 5", "▲ syncthing, +", "- status: open")
	r.asked("c", "Keep the copy of plan.md?").press("tab", "tab").see("[Keep copy]").press("enter")
	r.see("Conflict", "has changed since it was shown", "not resolved").press("G").see("written by somebody else").press("esc").see("of 5")
}

func TestRedundantCopiesGoAfterAQuestion(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 100, 30)
	r.see("1 redundant: D removes them").asked("D", "Remove 1 redundant copy?").see("plan (Mira's conflicted copy 2026-05-19).md", "Resilio").press("tab").see("[Remove]").press("enter")
	r.see("[5 Conflicts", "1 conflict resolved", "of 4").gone("D removes them")
}

func TestConflictsAreHandedOut(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.jsonl")
	r := conflictsRobot(t, "desk,acts,conflicts", 100, 30)
	r.press("y").see("copied ").press("Y").see("copied the row as JSON")
	r.asked("x", "Export the table?").press("tab", "ctrl+u", file, "tab", "enter").see("wrote 5 rows").press(":", "conflicts sync-conflict", "enter").see("/sync-conflict", "1 of 1").press("q")
	raw, err := r.left()
	if err != nil {
		t.Fatal(err)
	}
	var ref string
	for i, c := range osc52.FindAllSubmatch(raw, -1) {
		b, _ := base64.StdEncoding.DecodeString(string(c[1]))
		var row map[string]any
		switch i {
		case 0:
			ref = string(b)
		case 1:
			if err := json.Unmarshal(b, &row); err != nil || ref != fmt.Sprint(row["store"], ":", row["copy"]) {
				t.Errorf("%s is not of %s: %v", b, ref, err)
			}
		}
	}
	lines, err := os.ReadFile(file)
	if err != nil || strings.Count(string(lines), "\n") != 5 {
		t.Errorf("%s %v", lines, err)
	}
}

// One question resolves many; conflicts that cannot be resolved that way must stay and be counted.
func TestMarkedConflictsAreResolvedAtOnce(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := conflictsRobot(t, "desk,acts,conflicts", w, h)
		r.press("*").see("5 marked").asked("b", "Keep the base of 3 conflicts?").see("▲ 2 more of the marked ones cannot", "▲ syncthing, dropbox: Sync may bring", "1 garden.Conflict.md  crewship, resilio")
		r.press("esc").see("cancelled", "5 marked").asked("b", "Keep the base of 3 conflicts?").press("y")
		r.see("[5 Conflicts", "3 conflicts resolved", "z undoes it", "1 of 2").gone("marked")
	})
}

// TestAnItemShowsItsConflict: its row and its text must tell of it once the conflicts were looked through, and the number
// of the pane must lead from there to that conflict, past the filter that was left there.
func TestAnItemShowsItsConflict(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk,acts,conflicts,copies", width: w, height: h}).see("48,210").press(":", "store crewship", "enter").see("1 of 6", "near-cap")
		r.press("G").see("6 of 6", "pins").gone("conflict near")
		r.press("5").see("1 of 6", "garden.md").press("/", "plan", "enter").see("/plan", "1 of 2")
		r.press("2").see("[2 Tiers]", "6 of 6", "conflict").press("ctrl+r").golden(fmt.Sprintf("conflict-flag-%dx%d", w, h))
		r.press("5").see("[5 Conflicts]", "5 of 6", "pins.md", "finder").gone("/plan")
		r.press("k").see("4 of 6").press("2").see("6 of 6").press("enter").see("it has a conflict: 5 Conflicts shows it").press("5").see("5 of 6", "finder").press("q")
	})
}
