package tui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var sizes = []struct{ width, height int }{{80, 24}, {200, 50}}

func eachSize(t *testing.T, f func(t *testing.T, w, h int)) {
	t.Parallel()
	for _, s := range sizes {
		t.Run(fmt.Sprintf("%dx%d", s.width, s.height), func(t *testing.T) {
			t.Parallel()
			f(t, s.width, s.height)
		})
	}
}

func TestPanes(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		frame := func(name string) string { return fmt.Sprintf("%s-%dx%d", name, w, h) }
		r := startRobot(t, start{scenario: "desk", width: w, height: h})
		r.see("[2 Tiers]", "48,210", "unauthenticated", " down").golden(frame("tiers"))
		r.press(":", "s").see("│ stories", "in 4 Quarantine").press("down").see("▌store").golden(frame("palette")).press("esc").gone("▌store")
		r.unfolded().press("j", "j", "j").see("one note per day").press("enter").see("Thursday", "1 of 2").golden(frame("items"))
		r.press("down").see("2 of 2").press("enter").see("› crews/eng/agents/bo/daily/2026-05-21.md", "deploy window moved").golden(frame("item"))
		r.press("esc").see("2 of 2").press("esc").see("STORE, SCOPE, TIER")
		r.press("1").see("[1 Health", "1 of 4").gone("checking").press("j").see("~/.crewship").golden(frame("health"))
		r.press("3").see("press / and type").golden(frame("recall-empty"))
		r.press("/").press("deploy").see("1 of 40+ hits").press("enter").gone("to the hits").golden(frame("recall"))
		r.press("enter").see("keep the deploy calendar", "all of 4 lines").press("esc").see("1 of 40+ hits")
		r.press("4").see("[4 Quarantine]", "still poisoned").golden(frame("quarantine"))
		r.press("7").see("[7 Audit]", "record 244").golden(frame("audit"))
		r.press("?").see("Help: Audit", "Audit, here").golden(frame("help"))
		r.press("esc").gone("Help: Audit")
		r.press("5").see("no source of conflicts is attached")
		r.press("6").see("no erasure desk is attached")
		r.press("esc").gone("no erasure desk").press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEmptyConsole(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "empty", width: 80, height: 24})
	r.see("No store is open", "0/0 stores up").golden("empty-80x24")
	r.press("enter").see("no store is open").press("a").see("are shown").press("1").see("none").press("r").see("r: the list is empty")
	r.press("4").see("no quarantine source is attached").press("7").see("no audit log is attached").press("2").see("No store is open")
	r.press("?").see("Help: Tiers").press("esc").gone("Help").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

func TestNoticesAndReadOnly(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ width, height int }{{60, 15}, {80, 24}} {
		r := startRobot(t, start{scenario: "desk,notices,readonly", width: s.width, height: s.height})
		r.see("Notices", "2 acts were begun", "rotated", "READ-ONLY", " down").golden(fmt.Sprintf("notices-%dx%d", s.width, s.height))
		r.press("esc").see("[2 Tiers]", "crewship").press(":").press("notices").press("enter").see("rotated").press("?").see("Help: Notices", "search this text").press("?").gone("Help: Notices").see("rotated").press("esc").see("[2 Tiers]", "crewship").press("?").see("Help: Tiers").gone("search this text").press("?").gone("Help: Tiers").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	}
}

func TestWithoutColour(t *testing.T) {
	for _, tt := range []struct {
		name, scenario string
		env            []string
		bad, warn      string // the signs
	}{
		{"NO_COLOR", "desk,acts,conflicts", []string{"NO_COLOR=1"}, "✖", "▲"},
		{"option", "desk,acts,conflicts,nocolor", nil, "✖", "▲"},
		{"plain", "desk,acts,conflicts,plain", nil, "x", "!"},
		{"dumb", "desk,acts,conflicts", []string{"TERM=dumb"}, "x", "!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachSize(t, func(t *testing.T, w, h int) {
				r := console(t, tt.scenario, w, h, tt.env...)
				r.press("1").see("[1 Health", "OK ", " down")
				r.press("3", "/", "deploy").see("1 of 40+ hits", tt.bad+" no answer").press("enter").gone("to the hits")
				r.press("4").see("[4 Quarantine]", "still poisoned", "poisoned   3h").press(" ").see("1 marked", "*")
				r.press("5").see("[5 Conflicts]", "1 of 5", "differs", tt.warn+" the vendor warns").press("s").see("BASE", "COPY")
				r.press("7").see("[7 Audit]", "record 244", "chain verified").press("?").see("Help: Audit").press("esc").gone("Help: Audit")
				r.press("2").see("[2 Tiers]", "PRODUCTION").press(":", "tier daily", "enter").see("Thursday", "1 of 2")
				r.asked("d", "Forget crews").see("This removes 1 item").press("tab", "tab").see("[Forget]").press("esc").see("cancelled", "1 of 2")
				r.press("enter").see("went out at 14:02").press(":", "lock", "enter").see("memdesk is locked").press("U").see("went out at 14:02")
				r.press("q")
				raw, err := r.left()
				if err != nil {
					t.Fatal(err)
				}
				for _, seq := range checkOutput(t, raw) {
					if colours(seq) {
						t.Errorf("colour sequence %q", seq)
					}
				}
			})
		})
	}
}

func TestPlainIsASCII(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,plain", width: 120, height: 30})
	r.see("48,210", " down").press("G").press("k").press("enter").see("<U+202E>").golden("plain-120x30")
	r.press("q")
	raw, err := r.left()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range raw {
		if b >= 0x80 {
			t.Fatalf("byte %#x in plain output", b)
		}
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk", width: 80, height: 24})
	r.unfolded().press("j", "j", "j", "enter").see("Thursday")
	r.resize(200, 50).see("│").golden("resized-200x50")
	r.resize(20, 5).see("memdesk needs 60x15").golden("small-20x5")
	r.resize(60, 15).see("[2 Tiers]").golden("smallest-60x15")
	r.resize(1, 1).resize(80, 24).see("Thursday", "1 of 2")
	r.press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

// A store's data must reach the terminal only as escaped text, wherever it is shown: names, titles,
// bodies, errors, snippets, clipboard.
func TestHostileStores(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk", width: w, height: h})
		r.unfolded().press("G").see("does not exist^[[31m").press("k").press("enter").see("^[[2J^[[Hcleared", "of 10")
		for range 9 {
			r.press("y").see("copied").press("enter").see("copy text").press("G").press("g").press("left").see("of 10")
			r.press("j")
		}
		r.press("g").press("/").press("cleared").press("enter").see("/cleared", "1 of 1").golden(fmt.Sprintf("hostile-%dx%d", w, h))
		r.press("/").press("ctrl+u").press("!text").press("enter").see("/!text", "of 10")
		r.press("/").press("ctrl+u").press("!li").press("enter").see("/!li", "1 of 6").gone("ten megabytes")
		r.press("esc").see("1 of 10").press("3").press("/").press("raw").see("1 hit")
		r.press("enter").gone("to the hits").press("enter").see("raw")
		r.press("1").see("does not exist^[[31m").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// The robot presses ten keys in one write, repeatedly; the program must keep up and exit cleanly.
func TestTenKeysAtOnce(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk", width: 80, height: 24})
	r.see("48,210", " down")
	for _, keys := range []string{"jjjjjkkkkk", "2G1j7j4j3j", "?q?q:x\r2ja", "3/deploy\rjj", "2jjjjj\rGgG", "///\x15xxxx\r\r", ":store gra"} {
		r.press(keys)
	}
	r.press("\tp\r").press("\r").see("store")
	r.press("esc").press("ctrl+c")
	raw, err := r.left()
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, raw)
}

func TestStoreVanishes(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "gone")
	vanish := func() {
		if err := os.WriteFile(gone, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := startRobot(t, start{scenario: "desk,vanish", width: 120, height: 30, env: []string{goneEnv + "=" + gone}})
	r.see("48,210", " down").press("j", "j", "j", "enter").see("Thursday", "1 of 2")
	vanish()
	r.press("ctrl+r").see("the list is as it was", "the directory is gone", "Thursday")
	r.press("down").see("2 of 2").press("enter").see("cannot be shown: the directory is gone", "n next")
	r.press("esc").see("2 of 2").press("left").see("✖ the directory is gone;")
	r.press("1").press("ctrl+r").see("2/4 stores up")
	r.press("3").press("/").press("deploy").see("no answer: the directory is gone").press("enter")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	r.press("1").press("ctrl+r").see("3/4 stores up")
	r.press("2").press("ctrl+r").gone("✖ the directory is gone;").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

func TestStoreReturns(t *testing.T) {
	t.Parallel()
	back := filepath.Join(t.TempDir(), "back")
	r := startRobot(t, start{scenario: "desk,returns", width: 120, height: 30, env: []string{goneEnv + "=" + back}})
	r.see("48,210", "down: vault", "✖ not open").press("G").press("enter").see("the store is not open")
	r.press("1").see("3/4 stores up", "It could not be opened").press("enter").see("r tries again")
	if err := os.WriteFile(back, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.press("r").see("4/4 stores up").gone(" down")
	r.press("enter").see("› vault › all tiers", "Wednesday").press("left").gone("✖ not open").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

// A panic in the console must restore the terminal and print where it happened, but no store's data.
func TestPanicPrintsNoContent(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,panic", width: 80, height: 24})
	r.see("48,210", " down").press("enter")
	raw, err := r.left()
	if err == nil {
		t.Error("the program ended as if nothing had happened")
	}
	if s := string(raw); strings.Contains(s, "s3cret") || !strings.Contains(s, "internal error in") {
		t.Errorf("output ends %q", s[max(len(s)-400, 0):])
	}
	if !strings.Contains(string(raw), "\x1b[?1049l") {
		t.Error("the alternate screen was not left")
	}
}
