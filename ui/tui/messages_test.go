package tui_test

import (
	"strings"
	"testing"
)

// An answer too long for the status line must be readable in full at once, and a text that no store took must
// be found again.
func TestMessagesAndKeptTexts(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		r, p := noted(t, "desk,acts", max(size[0], 80), max(size[1], 24))
		r.resize(size[0], size[1]).see("1 of 2")
		p.will(`printf 'not lost\n' > "$1"`)
		r.press("e").see("Save crews", "enter cancel").press("esc").see("not saved; your text is kept for 30 days")
		r.see("-2026-05-20.md") // its end, on a line of its own where the screen is narrow
		r.press(":", "messages", "enter").see("Messages", "09:30:00Z", "not saved; your text is kept for 30 days")
		r.press("/", "2026-05-20.md").see("1/").press("esc").press("esc").gone("Messages")
		r.press(":", "kept", "enter").see("Kept texts", "1 of 1", "file         ~/state/edit/kept/")
		r.press("right").see("not lost", "enter edit").press("y").see("copied", "9 bytes").press("esc").see("1 of 1").press("esc").see("Wednesday").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	}
}

func TestNoMessageAndNoKeptText(t *testing.T) {
	t.Parallel()
	d := atDesk(nil)
	d.line("messages").wants(t, "Nothing was said yet").keys("esc")
	d.line("kept").wants(t, "there is no state directory")
	d.line("nonsense").line("messages").wants(t, `no command "nonsense"`, "there is no state directory")
	for range 501 {
		d.keys("F")
	}
	d.keys("esc").line("messages").keys("end").wants(t, "older messages are not kept any more")
}

// The command line must open over every page; a command that opens nothing must leave the page.
func TestCommandOverAPage(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.keys("?", "pgdown").line("theme dark").wants(t, "Help: Tiers").line("xyzzy").wants(t, "Help: Tiers", `no command "xyzzy"`)
		d.keys(":", "esc").wants(t, "Help: Tiers").line("store graph").await("Fact 0 ")
		d.lacks(t, "Help: Tiers")
		// A page that explains why a key does not work.
		d.line("store crewship").await("Thursday")
		d.keys("d")
		d.await("[Cancel]")
		d.await("enter cancel")
		d.keys(":").wants(t, ": does nothing here: tab, enter, esc", "[Cancel]").keys("esc")
	})
}

// On the smallest screen a question must show its target and its buttons; the rest scrolls, and the
// question says that there is more.
func TestQuestionOnTheSmallestScreen(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		r, p := noted(t, "desk,acts", max(size[0], 80), max(size[1], 24))
		r.resize(size[0], size[1]).see("1 of 2")
		p.will(`seq 60 > "$1"`)
		r.press("e").see("Save crews", "PRODUCTION", "[Cancel]", "enter cancel", "reason (optional)")
		if size[0] == 60 {
			r.see("more: PgDn")
		}
		for range 90 {
			s := r.frame()
			if strings.Contains(s, "+ 60") {
				break
			}
			r.press("pgdown").until("another part of it", func(now string) bool { return now != s })
		}
		r.see("+ 60", "PRODUCTION", "[Cancel]")
		for range 90 {
			s := r.frame()
			if strings.Contains(s, "Save crews") {
				break
			}
			r.press("pgup").until("another part of it", func(now string) bool { return now != s })
		}
		r.see("Save crews", "PRODUCTION").press("right").until("another button", func(s string) bool { return !strings.Contains(s, "[Cancel]") && !strings.Contains(s, "enter next") })
		r.press("left").see("[Cancel]").press("esc").see("not saved")
		r.asked("d", "Forget crews").see("PRODUCTION", "[Cancel]").press("right").see("[Forget]").press("right").see("[Cancel]").press("esc").see("cancelled").press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	}
}

// An act on marks must say how many the filter hides, and can be limited to the rest.
func TestMarksOutsideOfTheFilter(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk,acts,staging", width: w, height: h})
		r.see("STORE, SCOPE").press(":", "store crewship", "enter").see("1 of 6").press("*").see("6 marked")
		r.press("/", "mara", "enter").see("6 marked, 4 of them not in this filter", "of 2")
		r.asked("d", "Forget 6 items?").see("6 marked, 4 of them not in this filter (mara)", "Forget the 2 in the filter", "Forget all 6").press("esc").see("cancelled")
		r.press(" ").see("5 marked, 4 of them not").press("up", " ").see("6 marked, 4 of them not")
		r.asked("d", "Forget 6 items?").press("right").see("[Forget the 2 in the filter]").press("enter").see("2 items forgotten", "Nothing matches").press("esc").see("of 4").press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	})
}

// Quarantine rows that cannot be deleted must be left out, and the question must say so; Cancel keeps
// the marks, and a single store is named.
func TestQuarantineMarksAreKeptByCancel(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,acts,staging", width: 100, height: 30})
	r.see("STORE, SCOPE").press("4").see("1 of 3").press("*").see("3 marked")
	r.asked("d", "Delete 2 entries?").see("The store: crewship.", "1 marked row left out and marked still").press("esc").see("cancelled", "3 marked")
	r.press("u").gone("3 marked").press("g", " ").see("1 marked").asked("d", "Delete the quarantine entry").press("esc").see("cancelled", "1 marked")
	r.asked("d", "Delete the quarantine entry").press("right").see("[Delete]").press("enter").see("forgot q/1").gone("1 marked")
	r.press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

// A long answer covers the pane's last lines: the list must leave the selected row to see, even its last one, and stand
// as before once the answer has gone.
func TestALongAnswerCoversNoSelectedRow(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"store graph", "recall deploy"} {
		d := atDesk(nil).line(place).await("1 of ").keys("end")
		line := func() int { above, _, _ := strings.Cut(d.screen(), "▌"); return strings.Count(above, "\n") }
		was, at := d.underCursor(), line()
		d.line("go "+strings.Repeat("x", 400)).wants(t, "xxx…", ":messages")
		if got := d.underCursor(); got != was {
			t.Errorf("%s: the cursor is on %q, want %q", place, got, was)
		}
		if d.keys("#"); line() != at {
			t.Errorf("%s: without the answer the cursor is on line %d, want %d:\n%s", place, line(), at, d.screen())
		}
	}
}
