package tui_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"memdesk/ui/tui"
)

// keyNamed is the message of a keystroke by its name in bindings.
func keyNamed(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	rest := name
	for _, m := range []struct {
		prefix string
		mod    tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if r, ok := strings.CutPrefix(rest, m.prefix); ok {
			k.Mod |= m.mod
			rest = r
		}
	}
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
		"space": tea.KeySpace, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace,
	}
	if c, ok := special[rest]; ok {
		k.Code = c
		return k
	}
	k.Code, _ = utf8.DecodeRuneInString(rest)
	if k.Mod == 0 {
		k.Text = rest
	}
	return k
}

func TestKeyNames(t *testing.T) {
	for _, name := range []string{"enter", "ctrl+r", "shift+tab", "G", "?", "alt+esc", "shift+down", "pgup", "/"} {
		if got := keyNamed(name).String(); got != name {
			t.Errorf("%q is sent as %q", name, got)
		}
	}
}

// checkFrame fails unless the frame fills the screen exactly: an extra line or column scrolls the terminal.
func checkFrame(t interface {
	Helper()
	Fatalf(string, ...any)
}, d *driver, w, h int) {
	t.Helper()
	lines := strings.Split(d.m.View().Content, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines on a screen of %d: %s", len(lines), h, tui.CrashOf(d.m))
	}
	for i, l := range lines {
		for _, part := range strings.Split(l, "\x1b") {
			if !utf8.ValidString(part) {
				t.Fatalf("line %d tears a character: %q", i, l)
			}
		}
		if got := ansi.WcWidth.StringWidth(l); got != w {
			t.Fatalf("line %d takes %d of %d columns: %q", i, got, w, ansi.Strip(l))
		}
	}
}

// places are key sequences to every place of the console.
var places = map[string][]string{
	"tiers":       {},
	"items":       {"enter"},
	"item":        {"enter", "enter"},
	"item filter": {"enter", "/"},
	"hostile":     {"end", "k", "enter", "enter"},
	"failed":      {"end"},
	"health":      {"1"},
	"recall":      {"3"},
	"query":       {"3", "/", "d", "e", "p"},
	"hits":        {"3", "/", "d", "e", "p", "enter"},
	"quarantine":  {"4"},
	"entry":       {"4", "enter"},
	"audit":       {"7"},
	"record":      {"7", "enter"},
	"help":        {"?"},
	"command":     {":"},
	"search":      {"?", "/"},
}

// Every key must act in every place or say why not, and the frame must keep its size.
func TestEveryKeyOfTheTable(t *testing.T) {
	for name, way := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := func() *driver {
				o, _ := lightDesk()
				d := newDriver(o, 100, 30)
				d.settle("48,210")
				for _, k := range way {
					d.send(keyNamed(k))
					d.quiet()
				}
				return d
			}
			keys := there().m.(*tui.App).Keys()
			if len(keys) == 0 {
				t.Fatal("no keys")
			}
			for _, b := range keys {
				if b.Doc == "" || b.Do == nil {
					t.Errorf("key %q has no description or does nothing", b.Keys)
				}
				for _, key := range b.Keys {
					d := there()
					d.send(keyNamed(key))
					if b.Why != nil && b.Why() != "" && name != "help" {
						if shown := ansi.Strip(d.m.View().Content); !strings.Contains(shown, b.Keys[0]+": ") && !strings.Contains(shown, b.Show+": ") {
							t.Errorf("%s is disabled (%s) and does not say so:\n%s", key, b.Why(), shown)
						}
					}
					d.quiet()
					checkFrame(t, d, 100, 30)
				}
			}
		})
	}
}

// quiet delivers the answers of running commands, except timers.
func (d *driver) quiet() {
	for limit := time.Now().Add(patience); d.asking.Load() > 0 || len(d.replies) > 0; runtime.Gosched() {
		d.deliver()
		if time.Now().After(limit) {
			panic("commands that do not end; the screen shows\n" + ansi.Strip(d.m.View().Content))
		}
	}
}

// Escape and a key in one read must count as two keys.
func TestEscapeAndKeyInOnePiece(t *testing.T) {
	o, _ := lightDesk()
	d := newDriver(o, 80, 24)
	d.settle("48,210")
	d.send(keyNamed("enter"))
	d.quiet()
	d.send(keyNamed("alt+1"))
	if s := ansi.Strip(d.m.View().Content); !strings.Contains(s, "[1 Health") {
		t.Fatalf("the pane is another:\n%s", s)
	}
	d.send(keyNamed("2"))
	if s := ansi.Strip(d.m.View().Content); !strings.Contains(s, "STORE, SCOPE, TIER") {
		t.Errorf("escape did not go back:\n%s", s)
	}
}

// The same over pages, input lines and dialogs: the escape closes the top one, and the key after it
// must not be lost. Keys that edit a line go to that line.
func TestEscapeAndKeyInOnePieceAnywhere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		open, shows string
	}{
		"help":        {"?", "Help: Tiers"},
		"search":      {"? /", "Help: Tiers"},
		"command":     {": x", ":x"},
		"filter":      {"/ x", "/x"},
		"dialog":      {"x", "[Cancel]"},
		"dialog line": {"x tab", "to: memdesk"},
	} {
		d := atDesk(func(o *tui.Options) { o.Jobs = jobsFake{} })
		d.keys(strings.Fields(tt.open)...).wants(t, tt.shows)
		if strings.HasPrefix(name, "dialog") {
			d.await("cancel")
			d.keys(strings.Fields(tt.open)[1:]...)
		}
		d.send(keyNamed("alt+b"))
		d.send(keyNamed("alt+7"))
		d.quiet()
		if strings.Contains(d.screen(), tt.shows) || !strings.Contains(d.screen(), "[7 Audit]") {
			t.Errorf("%s: escape and 7 lead to\n%s", name, d.screen())
		}
	}
}

// With random keys, random sizes, and stores that come and go, the program must neither panic nor draw
// outside the screen.
func TestMonkey(t *testing.T) {
	keys := []string{
		"1", "2", "3", "4", "5", "6", "7", "down", "up", "pgdown", "pgup", "home", "end", "enter", "esc", "/", "?", ":", "a", "o", "n", "p",
		"J", "K", "y", "r", "tab", "shift+tab", "ctrl+r", "ctrl+d", "ctrl+u", "left", "right", "d", "e", "x", "z", "H", "u", "!", "backspace", "ctrl+w", "alt+b", "é",
	}
	rapid.Check(t, func(t *rapid.T) {
		var gone atomic.Bool
		o, fakes := lightDesk()
		fakes["crewship"].gone = gone.Load
		o.Acts = &actsFake{fakes: fakes}
		w, h := 80, 24
		d := newDriver(o, w, h)
		t.Repeat(map[string]func(*rapid.T){
			"key": func(t *rapid.T) {
				for _, k := range rapid.SliceOfN(rapid.SampledFrom(keys), 1, 6).Draw(t, "keys") {
					d.send(keyNamed(k))
				}
			},
			"paste":   func(t *rapid.T) { d.send(tea.PasteMsg{Content: rapid.String().Draw(t, "paste") + "\x1b[31m\u202e"}) },
			"deliver": func(*rapid.T) { d.deliver() },
			"gone":    func(*rapid.T) { gone.Store(!gone.Load()) },
			"resize": func(t *rapid.T) {
				w, h = rapid.IntRange(1, 220).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
				d.send(tea.WindowSizeMsg{Width: w, Height: h})
			},
			"": func(t *rapid.T) { checkFrame(t, d, w, h) },
		})
	})
}

// Below the smallest size keys must only leave.
func TestTooSmallTakesNoKeys(t *testing.T) {
	o, _ := lightDesk()
	d := newDriver(o, 80, 24)
	d.settle("48,210")
	d.quiet()
	before := d.m.View().Content
	d.send(tea.WindowSizeMsg{Width: 20, Height: 5})
	for _, k := range []string{"j", "/", "1", "enter", ":"} {
		d.send(keyNamed(k))
	}
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.quiet()
	if got := d.m.View().Content; got != before {
		t.Errorf("the screen has changed:\n%s", ansi.Strip(got))
	}
	if fmt.Sprint(d.m.View().Cursor) != "<nil>" {
		t.Error("an input has the focus")
	}
}
