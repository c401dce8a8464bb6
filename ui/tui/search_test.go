package tui_test

import (
	"strings"
	"testing"
)

// A search must find words while they are typed, in every full-screen text, and keep the operator's place.
func TestSearchInATextRobot(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, _ := noted(t, "desk,acts,history", w, h)
		// An item: head, body, escapes, wide characters.
		r.press("j").see("2 of 2").press("enter").see("/ search", "deploy window moved")
		r.press("/", "DEP").see("1/1", "▌", "enter stay here").press("enter").see("n next match", "1/1").press("n").see("1/1, on from the start").press("N").see("1/1, on from the end")
		r.press("/", "ctrl+u").gone("1/1").press("から").see("1/1").press("down").see("on from the start").press("up").see("on from the end").press("esc").gone("1/1").see("n next")
		r.press("/", "nowhere").see("not found").press("enter").see("not found: nowhere", "n next").press("esc").see("2 of 2")
		// A list of records: the detail on the whole screen.
		r.press("7").see("record 244").press("enter").see("n next").press("/", "mara").see("1/1").press("esc").gone("1/1").press("esc").see("1 of ")
		// Versions, and what has changed between two.
		r.press("2").see("2 of 2").press("H").see("History", "1 of 2").press("enter").see("n next").press("/", "As it").see("1/").press("enter", "esc", "esc").see("WHEN").press("esc").see("2 of 2")
		// Help.
		r.press("?").see("Help: Tiers").press("/", "history").see("1/").press("enter", "esc").see("Help: Tiers").press("esc").gone("Help:").press("q")
		if raw, err := r.left(); err != nil {
			t.Fatal(err)
		} else {
			checkOutput(t, raw)
		}
	})
}

// Without colour and without attributes, the match's row must have a sign.
func TestSearchHasASign(t *testing.T) {
	t.Parallel()
	for scenario, sign := range map[string]string{"desk,plain": ">", "desk,nocolor": "▌"} {
		r := startRobot(t, start{scenario: scenario, width: 60, height: 15})
		r.see("STORE, SCOPE").press(":", "go crewship:crews/eng/shared/pins.md", "enter").see("/ search").press("/", "checklist").see("1/45", "\n"+sign).press("enter").press("n").see("2/45")
		s := r.until("a sign", func(s string) bool { return strings.Contains(s, "\n"+sign) && strings.Contains(s, "\n:") })
		if n := strings.Count(s, "\n"+sign); n != 1 {
			t.Errorf("%d rows have the sign of the match:\n%s", n, s)
		}
		r.press("esc").gone("2/45")
		r.until("no signs", func(s string) bool { return !strings.Contains(s, "\n"+sign) && !strings.Contains(s, "\n:") })
		r.press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	}
}

// Esc while typing must return to where the search began; esc after enter must keep the match's place.
func TestSearchKeepsThePlace(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.line("go hostile:many-lines").await("line of text")
		d.keys("pgdown", "pgdown", "pgdown")
		was := d.screen()
		d.keys("/").typed("line of text").seen(t, "/2,000").keys("esc")
		if got := d.screen(); got != was {
			t.Fatalf("another place after the search:\n%s\nit was\n%s", got, was)
		}
		d.keys("/").typed("reference").seen(t, "1/1").keys("enter").keys("esc")
		d.keys("/").typed("f text").keys("enter")
		for range 60 {
			d.keys("n")
		}
		d.seen(t, "/2,000").keys("esc").lacks(t, "/2,000")
		at := d.screen()
		d.keys("n") // the next item again
		if d.screen() == at {
			t.Error("n does not go to the next item")
		}
		// A line of ten thousand characters or more: the match must be on the screen.
		d.line("go hostile:long-line").await("0123456789")
		d.keys("/").typed("789012").seen(t, "1/")
		d.keys("enter", "N").seen(t, "on from the end", "▌")
		d.keys("esc", "home")
	})
}

// An item opened from Recall must have the same keys as one opened from Tiers.
func TestRecalledItemHasAllKeys(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		p := newPen(t)
		r := startRobot(t, start{scenario: "desk,acts,history,staging", width: w, height: h, env: []string{p.env(), "HOME=" + p.dir}})
		r.see("[2 Tiers]", "48,210").press("3", "/", "mara").see("2 hits").press("enter").gone("to the hits").press("enter").see("Ask Mara before")
		r.press("n").see("Mara is away", "Wednesday").press("n").see("this is the last hit").press("p").see("Ask Mara before").press("p").see("this is the first hit")
		r.press("m").see("markdown is rendered").press("m").see("as it is stored").press("y").see("copied crews/eng/agents/bo/AGENT.md", "bytes").press("Y").see("copied the row as JSON")
		r.press("H").see("History").press("esc").see("Ask Mara before")
		r.asked("d", "Forget crews/eng/agents/bo/AGENT.md?").press("esc").see("cancelled")
		p.will(`echo more >> "$1"`)
		r.press("A").see("Append to crews", "enter cancel").press("esc").see("not saved")
		r.press("e").see("Save crews", "enter cancel").press("esc").see("not saved")
		r.asked("x", "Export").press("esc").see("cancelled").press("left").see("1 of 2 hits")
	})
}
