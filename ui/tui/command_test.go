package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/clock"
	"memdesk/ui/tui"
)

// screen is the driver's screen without styles.
func (d *driver) screen() string { return ansi.Strip(d.m.View().Content) }

// keys presses keys and delivers the answers, except timers.
func (d *driver) keys(names ...string) *driver {
	for _, k := range names {
		d.send(keyNamed(k))
		d.quiet()
	}
	return d
}

// line types a whole command.
func (d *driver) line(s string) *driver {
	d.keys(":")
	for _, c := range s {
		d.send(keyNamed(string(c)))
	}
	return d.keys("enter")
}

func (d *driver) wants(t *testing.T, texts ...string) *driver {
	t.Helper()
	for _, w := range texts {
		if !strings.Contains(d.screen(), w) {
			t.Fatalf("the screen has no %q:\n%s", w, d.screen())
		}
	}
	return d
}

// await delivers answers, timers included, until the screen has the text.
func (d *driver) await(text string) *driver {
	limit := time.After(patience)
	for !strings.Contains(d.screen(), text) {
		d.send(d.next(text, limit))
	}
	return d
}

// seen awaits each of the texts.
func (d *driver) seen(t *testing.T, texts ...string) *driver {
	t.Helper()
	for _, w := range texts {
		d.await(w)
	}
	return d
}

func atDesk(change func(*tui.Options)) *driver {
	o, fakes := lightDesk()
	o.Acts = &actsFake{fakes: fakes}
	if change != nil {
		change(&o)
	}
	d := newDriver(o, 100, 30)
	d.settle("48,210")
	d.quiet()
	return d
}

func TestCommandLine(t *testing.T) {
	d := atDesk(nil)
	d.keys(":", "t").wants(t, ":t", "│ tier NAME", "│ tiers [WORDS]", "│ theme NAME")
	d.keys("i", "tab").wants(t, ":tier")
	d.keys("tab").wants(t, ":tiers", "▌tiers [WORDS]", "│ tier NAME")
	d.keys("esc", ":")
	for _, c := range "store gr" {
		d.keys(string(c))
	}
	d.wants(t, "[NAME [TIER [SCOPE]]]  the items of a store", "│ graph ") // what may follow, and what it does
	d.keys("tab").wants(t, ":store graph")
	d.keys("enter").wants(t, "Tiers › graph › all tiers")
	d.line("nonsense").wants(t, `no command "nonsense"`)
	d.line("recall deploy")
	d.settle("of 40+ hits")
	d.line("audit intent").wants(t, "[7 Audit]", "/intent")
	d.line("conflicts").wants(t, "no source of conflicts is attached")
	// On an empty line Up goes back through the commands that were run, and Down returns to the empty line.
	d.keys(":", "up").wants(t, ":conflicts")
	d.keys("up").wants(t, ":audit intent")
	d.keys("up", "up", "up", "up", "up", "up").wants(t, ":store graph")
	d.keys("down", "down", "down", "down", "down").wants(t, "\n :   1 to 8 of ")
	d.keys("down", "down").wants(t, "\n :tier", "▌tier").keys("up", "up").wants(t, "\n :   1 to 8 of ").keys("esc")
	d.line("theme pink").wants(t, "there are auto, dark, light, high-contrast, colour-blind")
	before := d.m.View().Content
	d.line("theme high-contrast").wants(t, "theme: high-contrast")
	if d.m.View().Content == before {
		t.Error("the theme changes nothing")
	}
	atDesk(func(o *tui.Options) { o.NoColor = true }).line("theme light").wants(t, "there are no colours")
	d.line("export").wants(t, "Export the table?")
}

func TestReadOnlyAtRunTime(t *testing.T) {
	t.Parallel()
	d := atDesk(nil)
	d.line("readonly maybe").wants(t, "takes on, off or nothing")
	d.line("readonly off").wants(t, "is not read-only")
	d.line("readonly").wants(t, "this session is read-only now", "READ-ONLY: by :readonly")
	d.line("readonly on").wants(t, "read-only already")
	d.line("store crewship")
	d.settle("Thursday")
	d.keys("d").wants(t, "you made this session read-only")
	d.line("readonly off")
	d.wants(t, "Make this session writable again?", "[Cancel]", "PRODUCTION")
	d.await("enter cancel")
	d.keys("enter").wants(t, "READ-ONLY: by :readonly", "cancelled")
	d.line("readonly off")
	d.await("enter cancel")
	d.keys("shift+tab").wants(t, "[Make writable]")
	d.keys("enter").wants(t, "this session is writable")
	if strings.Contains(d.screen(), "READ-ONLY: by") {
		t.Error("the frame says read-only still")
	}
	fixed := atDesk(func(o *tui.Options) { o.ReadOnlyReason = "the role is reader" })
	fixed.line("readonly off").wants(t, "this cannot be lifted here: the role is reader", "READ-ONLY: the role is reader")
}

func TestHelpIsSearched(t *testing.T) {
	t.Parallel()
	d := atDesk(nil)
	d.keys("?").seen(t, "Help: Tiers", "Tiers, here")
	d.keys("G").seen(t, ":quit ", "leave memdesk")
	d.keys("/").typed("and archived").seen(t, "/and archived", "1/1", "show or leave out hidden tiers and archived items")
	d.keys("ctrl+u").typed("LEAVE MEMDESK").seen(t, "/3", "leave memdesk").keys("home", "enter", "n").seen(t, "/3").keys("esc").lacks(t, "/LEAVE").seen(t, "Help: Tiers")
	d.keys("/").typed("xyzzy").seen(t, "not found").keys("enter").seen(t, "not found: xyzzy", "Help: Tiers").keys("esc")
	d.line("help curtain").seen(t, "/curtain", "Nothing here has these words").keys("esc")
	d.line("help merge").seen(t, "/merge", "elsewhere", ":merge m", "in 5 Conflicts").keys("esc")
	d.line("help hidden arch").seen(t, "/hidden arch", "show or leave out hidden tiers and archived items", "Tiers, here").lacks(t, "leave memdesk")
	d.keys("/")
	d.send(tea.PasteMsg{Content: "hidden\x1b[31m"})
	d.quiet()
	d.seen(t, "inserted as text").keys("ctrl+u").typed("hidden").seen(t, "1/1")
	d.keys("esc", "esc").seen(t, "STORE, SCOPE, TIER")
}

// An idle console must show no content of a store, keys meant for something else must do nothing, and U
// must bring everything back.
func TestIdleLock(t *testing.T) {
	t.Parallel()
	time0 := clock.NewFake(now)
	d := atDesk(func(o *tui.Options) { o.Clock, o.IdleLock = time0, 30*time.Millisecond })
	d.line("store crewship")
	d.settle("Thursday")
	d.keys("d")
	d.await("enter cancel")
	before := d.screen()
	time0.Advance(time.Hour)
	d.await("memdesk is locked")
	for _, w := range []string{"crewship", "Thursday", "Forget", "ann", "PRODUCTION"} {
		if strings.Contains(d.screen(), w) {
			t.Errorf("the locked screen shows %q:\n%s", w, d.screen())
		}
	}
	checkFrame(t, d, 100, 30)
	d.keys("enter", "y", "q", "esc", "u", "tab", "enter").wants(t, "memdesk is locked")
	d.send(tea.PasteMsg{Content: "U"})
	d.wants(t, "memdesk is locked")
	d.send(keyNamed("U"))
	d.wants(t, "Forget", "a moment, then keys count")
	d.await("enter cancel")
	if got := box(d.screen()); got != box(before) { // the ages beside the box have grown
		t.Errorf("it comes back as\n%s", got)
	}
	for _, key := range []tea.KeyPressMsg{keyNamed("U"), keyNamed("alt+U"), {Code: 'u', Mod: tea.ModAlt | tea.ModShift}} {
		other := atDesk(nil)
		other.line("lock").wants(t, "memdesk is locked").keys("alt+u", "alt+x").wants(t, "memdesk is locked")
		other.send(key)
		other.wants(t, "48,210")
	}
}

// The way back must keep the row, the filter and the scroll position.
func TestPlaceIsKept(t *testing.T) {
	d := atDesk(nil)
	d.line("store graph")
	d.settle("Fact 10 ")
	d.keys("pgdown", "pgdown", "j").await("reference    graph:node-47")
	at := d.screen()
	d.keys("enter")
	d.await("copy text")
	d.keys("esc")
	d.quiet()
	if got := d.screen(); got != at {
		t.Errorf("the list is another:\n%s\nit was\n%s", got, at)
	}
	d.keys("7", "j", "j", "1", "2")
	if got := d.screen(); got != at {
		t.Errorf("after another pane the list is another:\n%s\nit was\n%s", got, at)
	}
}

// Tab must cycle through the candidates, treat blanks as part of a name, and complete words of a filter
// and of earlier queries.
func TestCompletionGoesRound(t *testing.T) {
	t.Parallel()
	d := atDesk(nil)
	d.keys(":").typed("theme ").wants(t, "│ auto ", "│ colour-blind ")
	d.keys("tab").wants(t, ":theme auto", "▌auto").keys("tab").wants(t, ":theme dark", "▌dark").keys("tab", "tab", "tab", "tab", "tab").wants(t, ":theme auto", "▌auto").keys("esc")
	d.keys(":").typed("store crewship da").keys("tab").wants(t, ":store crewship daily").typed(" c").keys("tab").wants(t, ":store crewship daily crews/eng/agents/bo").keys("esc")
	d.line("theme auto").keys(":", "up").wants(t, ":theme auto").keys("backspace", "backspace", "backspace", "backspace", "tab").wants(t, ":theme auto").keys("down").wants(t, ":theme dark").keys("esc")
	d.line("theme").keys(":", "up", "tab").wants(t, ":theme ").keys("down").wants(t, ":theme auto").keys("esc")
	d.line("go crewship:nope")
	d.await("crewship has no item nope")
	d.keys(":").typed("store  gr").keys("tab").wants(t, ":store graph").keys("esc")
	d.keys(":").typed("go graph:node-1").keys("tab")
	d.await("node-10")
	d.keys("tab").wants(t, "▌node-1").keys("esc")
	d.line("recall deploy window")
	d.keys(":").typed("recall win").keys("tab").wants(t, ":recall window").keys("esc")
	d.keys(":").typed("audit actor:ann st").keys("tab").wants(t, ":audit actor:ann store:", "│ graph ").keys("tab").wants(t, ":audit actor:ann store:crewship", "▌crewship").keys("esc")
}

// A command must name the argument it refuses and the arguments it takes.
func TestCommandsRefuse(t *testing.T) {
	t.Parallel()
	d := atDesk(nil)
	d.line("theme nope").wants(t, `there is no theme "nope"; there are auto, dark, light`)
	d.line("theme").wants(t, "the theme is auto; there are")
	d.line("store").wants(t, "say which store; there are crewship, graph")
	d.line("store nope").wants(t, `no store is named "nope"`)
	d.line("tier").wants(t, "say which tier of crewship; there are agent")
	d.line("health junk").wants(t, ":health takes nothing after it", "[2 Tiers]")
}

// box is the question's box on a screen.
func box(screen string) string {
	var out []string
	for _, line := range strings.Split(screen, "\n") {
		if at := strings.IndexAny(line, "╭│╰"); at >= 0 && (len(out) > 0 || strings.Contains(line, "╭")) && !(len(out) > 0 && strings.Contains(out[len(out)-1], "╯")) {
			out = append(out, strings.TrimRight(line[at:], " "))
		}
	}
	return strings.Join(out, "\n")
}

// The words of a list's acts must work after the colon too.
func TestWordsOfAList(t *testing.T) {
	d := atDesk(nil)
	d.line("store crewship nope").wants(t, `crewship has no tier "nope"`)
	d.line("store crewship daily").wants(t, "Wednesday", "Thursday")
	d.line("order").wants(t, "the orders of this store: newest, id, oldest")
	d.line("order id").wants(t, "order: id")
	d.line("hidden").wants(t, "are shown")
	d.line("mark all").wants(t, "2 rows marked")
	d.line("filter Thursday").wants(t, "/Thursday")
}

// TestTheOnlyItemHasNoNeighbour: the keys to neighbours stay away, and say why.
func TestTheOnlyItemHasNoNeighbour(t *testing.T) {
	t.Parallel()
	d := atDesk(nil)
	d.line("tier pins").seen(t, "1 of 1").keys("enter").seen(t, "pins, 2.4 KB").lacks(t, "n next").lacks(t, "p previous")
	d.keys("n").seen(t, "n: there is only this one")
	d.keys("esc").line("tier daily").seen(t, "1 of 2").keys("enter").seen(t, "n next")
}
