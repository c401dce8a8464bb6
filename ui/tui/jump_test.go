package tui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// typed types letters one by one.
func (d *driver) typed(s string) *driver {
	for _, c := range s {
		d.keys(string(c))
	}
	return d
}

// sized is the desk at the given size.
func sized(t *testing.T, w, h int) *driver {
	t.Helper()
	o, fakes := lightDesk()
	o.Acts = &actsFake{fakes: fakes}
	d := newDriver(o, w, h)
	d.settle("48,210")
	d.quiet()
	return d.unfolded()
}

// unfolded unfolds the tree: with little room its stores begin folded.
func (d *driver) unfolded() *driver {
	if strings.Contains(d.screen(), "▸ crewship") {
		d.keys("F")
	}
	return d
}

func (d *driver) lacks(t *testing.T, text string) *driver {
	t.Helper()
	if strings.Contains(d.screen(), text) {
		t.Fatalf("the screen has %q:\n%s", text, d.screen())
	}
	return d
}

// underCursor is the row at the cursor.
func (d *driver) underCursor() string {
	for _, l := range strings.Split(d.screen(), "\n") {
		if _, row, ok := strings.Cut(l, "▌"); ok {
			return row
		}
	}
	return ""
}

func (d *driver) at(t *testing.T, text string) *driver {
	t.Helper()
	if !strings.HasPrefix(strings.TrimLeft(d.underCursor(), " *│├└▾▸"), text) {
		t.Fatalf("the cursor is at %q, not at %q:\n%s", d.underCursor(), text, d.screen())
	}
	return d
}

func bothSizes(t *testing.T, f func(t *testing.T, d *driver)) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			f(t, sized(t, size[0], size[1]))
		})
	}
}

func TestGoToAReference(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.line("go crewship:crews/eng/shared/pins.md").await("the deploy checklist")
		d.wants(t, "› pins › crews/eng/shared/pins.md", "the deploy checklist")
		d.keys("esc").at(t, "pins").wants(t, "1 of 1").keys("esc").wants(t, "STORE, SCOPE, TIER")
		d.line("go graph:node-4711").await("Service 55 was deployed")
		d.keys("esc").await("▌ Fact 4711 ")
		d.wants(t, "4,712 of 48,210").keys("enter")
		d.keys("n").wants(t, "Service 56 was").keys("esc").at(t, "Fact 4712 ")
		// Without a store, the id belongs to the store at the cursor, however far away the item is.
		d.line("go node-48000").found().wants(t, "Service 82 was deployed")
		d.keys("esc").await("▌ Fact 48000 ").keys("j").at(t, "Fact 48001 ")
		d.line("go crewship:nope.md").await("crewship has no item nope.md")
		d.line("go nowhere:x").wants(t, "nowhere")
		d.line("go").wants(t, "give a reference, store:id")
		d.line("go vault:x").await("the directory does not exist")
	})
}

func TestGoCompletes(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.keys(":").typed("go cr").keys("tab").wants(t, ":go crewship:")
		d.keys("tab").wants(t, ":go crewship:crews/eng/", "│ agents/bo/AGENT.md ", "│ shared/CREW.md ")
		d.typed("s").keys("tab").wants(t, ":go crewship:crews/eng/shared/", "CREW.md")
		d.typed("p").keys("tab").wants(t, ":go crewship:crews/eng/shared/pins.md").keys("enter").wants(t, "the deploy checklist")
	})
}

func TestUnknownCommandSuggests(t *testing.T) {
	d := atDesk(nil)
	for typed, want := range map[string]string{
		"stroe graph": "did you mean :store?", "jbos": "did you mean :jobs?", "thme": "did you mean :theme?",
		"reca x": "did you mean :recall?", "expotr": "did you mean :export?", "zzzzzzzzzzzzzzzzzzzzzzzzzz": ":help lists them all",
	} {
		d.line(typed).wants(t, "no command", want)
	}
	if d.line("zzz"); strings.Contains(d.screen(), "did you mean") {
		t.Errorf("a command is suggested:\n%s", d.screen())
	}
}

func TestTreeIsFilteredAndSorted(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.keys("/").typed("eng/shared").keys("enter").wants(t, "Tiers › /eng/shared", "crewship", "pins").lacks(t, "sqlite").lacks(t, "└ lessons")
		d.keys("esc").wants(t, "graph", "lessons")
		d.keys("/").typed("!crewship").keys("enter").wants(t, "/!crewship", "graph", "hostile").lacks(t, "└ lessons")
		d.keys("/", "ctrl+u").typed("nothing of this").keys("enter").wants(t, `has "nothing of this"`).keys("enter").wants(t, "the filter leaves nothing")
		d.keys("esc")
		d.keys("o").wants(t, "order: most items first", "Tiers › most items first").keys("home").at(t, "graph")
		d.keys("o", "o").wants(t, "by name").keys("home").at(t, "crewship")
		d.keys("o").wants(t, "as the stores have it").lacks(t, "Tiers ›")
	})
}

func TestTreeIsFolded(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.keys("j", "j", "space").at(t, "crews/eng/agents/bo").wants(t, "▸ crews/eng/agents/bo", "pins").lacks(t, "└ lessons")
		d.keys("k", "space").at(t, "crewship").wants(t, "▸ crewship").lacks(t, "└ pins")
		d.keys("/").typed("lessons").keys("enter").wants(t, "lessons").keys("esc").at(t, "crewship").lacks(t, "└ lessons")
		d.keys("space").wants(t, "pins", "▸ crews/eng/agents/bo").lacks(t, "└ lessons")
		d.keys("F").wants(t, "lessons").lacks(t, "▸").keys("F").lacks(t, "└ lessons").lacks(t, "▾")
		d.line("store crewship").line("tier lessons").keys("esc").at(t, "lessons") // leaving a list must show where it is
	})
}

// TestTreeIsFoldedAtTheCursor: a fold of everything must leave the cursor on the store of its row, and a filter that
// goes to a name must show what is known of that store.
func TestTreeIsFoldedAtTheCursor(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.keys("home", "j", "j", "j").at(t, "daily").keys("F").at(t, "crewship").wants(t, "1 of 4").keys("F").at(t, "crewship").wants(t, "1 of 13")
		d.keys("j", "j").at(t, "agent").keys("/").typed("vault").keys("enter").at(t, "vault").wants(t, "Health tries it again")
		d.keys("F").at(t, "vault").keys("F", "esc").at(t, "agent")
	})
}

// TestTreeWithoutRows: no key of the tree may end the console while the filter leaves nothing.
func TestTreeWithoutRows(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.keys("/").typed("nosuchtier").keys("enter")
		for _, key := range []string{"space", "F", "o", "a", "j", "G", "enter", "}", "ctrl+w"} {
			d.keys(key)
		}
		d.keys("space").wants(t, "the filter leaves nothing").keys("esc").wants(t, "crewship")
	})
}

func TestTreeIsExported(t *testing.T) {
	r, p := noted(t, "desk,acts", 80, 24)
	file := filepath.Join(p.dir, "t.csv")
	r.press("esc").see("STORE, SCOPE").press(" ").see("▸").press(" ").gone("▸").press("F").see("▸").press("F").gone("▸").asked("x", "Export the table?").press("tab").press("ctrl+u").press(file).press("tab").press("enter").see("wrote 13 rows to")
	r.press("1").see("[1 Health", "1 of 4").gone("checking").asked("x", "Export the table?").press("tab").press("ctrl+u").press(file + "-health.csv").press("tab").press("enter").see("wrote 4 rows to")
	r.press("2")
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), "crewship,crews/eng/agents/bo,agent,1,84,8000,bytes,false,") {
		t.Errorf("%v\n%s", err, b)
	}
}
