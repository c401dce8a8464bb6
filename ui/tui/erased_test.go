package tui_test

import (
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/demodata"
)

// No edit and no append may write an erased subject back, and the refused text must not be lost.
func TestAnErasedPersonIsNotWrittenBack(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		o, p := newOffice(t, ""), newPen(t)
		id := o.planned("--subject", "usr_teo")
		r := startRobot(t, start{scenario: programScenario, width: w, height: h, env: []string{
			argsEnv + "=" + strings.Join([]string{"--config", filepath.Join(o.dir, demodata.ConfigFile)}, "\n"), "XDG_STATE_HOME=" + filepath.Join(o.dir, "state"), p.env(),
		}})
		r.see("2 Tiers").press("6").see("planned").press("E").begin(id, "Erase").see("No layer that can be reached holds the person").press(":", "store notes", "enter").see("Tiers › notes", "1 of ")
		p.will(`echo "usr_teo prefers tea" >> "$1"`)
		for _, key := range []string{"e", "A"} {
			r.press(key).see("[Cancel]", "+ usr_teo prefers tea", "enter cancel").press("left", "left", "left").gone("[Cancel]").press("enter")
			r.see("Not saved", "it names a person who was erased", id, "nothing was written", "[Cancel]", "enter cancel")
			r.press("esc").see("not saved; your text is kept for 30 days")
		}
		// A second copy brought by a sync must not write the subject back either.
		copies, err := filepath.Glob(filepath.Join(o.dir, "vault", "memory", "convention", "boat-before-six (*).md"))
		if err != nil || len(copies) != 1 {
			t.Fatalf("copies: %q, %v", copies, err)
		}
		write(t, copies[0], "usr_teo prefers tea\n")
		r.press(":", "conflicts boat-before-six", "enter").see("/boat-before-six", "1 of 1", "differs")
		r.asked("c", "Keep the copy of boat-before-six.md?").press("left").see("[Keep copy]").press("enter").see("not resolved: refused: it names a person").press("q")
	})
}
