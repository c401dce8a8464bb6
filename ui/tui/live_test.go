package tui_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A copy made by a tool must appear without a key: in the list, where the cursor stays on its row, and
// on the tab of every other pane. A frozen list must not change, and must say since when.
func TestConflictsAppearByThemselves(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fresh")
	r := startRobot(t, start{scenario: "desk,acts,conflicts,live", width: 120, height: 40, env: []string{goneEnv + "=" + file}})
	r.see("48,210", "5 Conflicts 5", "4 Quarantine 3").press("5").see("1 of 5").press("j").see("2 of 5", "orphan")
	touch := func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	touch()
	r.see("2 of 6", "fresh.md ", "finder", "[5 Conflicts 6]").press("b").see("it has no base")
	r.press("ctrl+s").see("frozen, as of 09:30:00Z", "stand still")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	r.press("1").see("[1 Health").press("5").see("2 of 6, frozen")
	r.press("ctrl+s").see("2 of 5").gone("frozen")
	r.press("1").see("5 Conflicts 5").press("q")
	touch() // the process that waits for the file continues
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}
