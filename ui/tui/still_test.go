package tui_test

import (
	"bytes"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui"
)

// still sends a message and its consequences, and fails when any frame on the way differs from the one
// before: Bubble Tea sends nothing for an equal frame.
func (d *driver) still(t *testing.T, what string, msg tea.Msg) {
	t.Helper()
	want := d.m.View()
	same := func() {
		t.Helper()
		if got := d.m.View(); got.Content != want.Content || (got.Cursor == nil) != (want.Cursor == nil) {
			t.Fatalf("%s draws another frame:\n%s\nit was\n%s", what, got.Content, want.Content)
		}
	}
	d.send(msg)
	same()
	for d.asking.Load() > 0 || len(d.replies) > 0 {
		select {
		case m := <-d.replies:
			d.send(m)
			same()
		default:
		}
	}
}

// Nothing unchanged may be redrawn: a refresh with the same result, a key at the end of its range, the
// same size again.
func TestNothingIsDrawnThatDidNotChange(t *testing.T) {
	at := func(t *testing.T, keys ...string) *driver {
		d := atDesk(nil)
		d.settle("48,210")
		tui.Patient(d.m)
		d.keys(keys...)
		d.quiet()
		return d
	}
	refresh := tea.KeyPressMsg{Code: 'r', Mod: tea.ModCtrl}
	for _, place := range []struct {
		name, shows string
		keys        []string
	}{
		{"stores", "STORE, SCOPE, TIER", nil},
		{"items", "Thursday", []string{"j", "j", "j", "enter"}},
		{"item", "Mara is away", []string{"j", "j", "j", "enter", "enter"}},
		{"quarantine", "[4 Quarantine]", []string{"4"}},
		{"audit", "record 244", []string{"7"}},
		{"help", "Help: Tiers", []string{"?"}},
	} {
		t.Run(place.name, func(t *testing.T) {
			t.Parallel()
			d := at(t, place.keys...)
			d.await(place.shows)
			d.quiet()
			d.still(t, "a size that is the size", tea.WindowSizeMsg{Width: 100, Height: 30})
			if place.name != "help" { // the help has no refresh
				d.still(t, "a refresh", refresh)
				d.still(t, "a second refresh", refresh)
			}
			d.still(t, "up at the top", keyNamed("home"))
			d.still(t, "up at the top", keyNamed("up"))
			d.still(t, "an unknown message", struct{}{})
		})
	}
}

// The same through the terminal: a refresh before other keys must add no byte.
func TestRefreshSendsNothing(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk", width: 200, height: 50})
	r.see("48,210", " down").press("j", "j", "j").see("one note per day").press("enter").see("Thursday", "1 of 2", "# Wednesday")
	round := func(first string) []byte {
		from := len(r.written())
		r.press(first + ":").see("\n :   1 to ")
		r.press("esc").gone("\n :   1 to ").see("q leave")
		return bytes.Clone(r.written()[from:])
	}
	round("")
	want := string(round(""))
	for _, first := range []string{"ctrl+r", "", "", "home", "up", ""} {
		got := string(round(sequence(first)))
		for range 5 { // on a busy machine an answer may be so late that the frame says so
			if !strings.Contains(got, "loading") {
				break
			}
			round("")
			got = string(round(sequence(first)))
		}
		if got != want {
			t.Errorf("with %q in front %q is sent, without it %q", first, got, want)
		}
	}
	if n := strings.Count(want, "\x1b[?2026h"); n != 2 || strings.Count(want, "\x1b[?2026l") != n {
		t.Errorf("two frames, %d of them in synchronized output: %q", n, want)
	}
	r.press("ctrl+c")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

// Every frame must use synchronized output, with or without SSH, except where only text may be written.
func TestSynchronizedOutput(t *testing.T) {
	for _, tt := range []struct {
		name, scenario string
		env            []string
		want           bool
	}{
		{"here", "desk", nil, true},
		{"behind SSH", "desk", []string{"SSH_TTY=/dev/pts/1", "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22"}, true},
		{"plain", "desk,plain", []string{"SSH_TTY=/dev/pts/1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, start{scenario: tt.scenario, width: 80, height: 24, env: tt.env})
			r.see("48,210", " down")
			from := len(r.written())
			r.press("3").see("[3 Recall]").press("ctrl+c")
			raw, err := r.left()
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(raw[from:], []byte("\x1b[?2026h")); got != tt.want {
				t.Errorf("synchronized output: %v, want %v", got, tt.want)
			}
			if begin, end := bytes.Count(raw, []byte("\x1b[?2026h")), bytes.Count(raw, []byte("\x1b[?2026l")); begin != end {
				t.Errorf("%d frames begin, %d end", begin, end)
			}
		})
	}
}
