package tui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sorting, the wide list, the whole row, and saved views.
func TestColumnsAndViews(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,acts,conflicts", width: 120, height: 40})
	r.see("48,210").press("5").see("1 of 5", "garden.md", "| 1 tulips", "── conflict ──")
	r.press(">").see("STORE↑", "1 of 5").press("-").see("STORE↓")
	r.press(">").see("BASE↑").press("<").see("STORE↑")
	r.press("home").see("garden.md").press("i").see("ancestor").press("i").gone("ancestor")
	r.press("}").press("{")
	r.press("/", "plan|half", "enter").see("1 of 3").gone("garden.md")
	r.press("ctrl+w").gone("── conflict ──").see("….sync-conflict-20260520-083015-K3ZQ7AB.md")
	r.press(":", "save mine", "enter").see("Kept as mine", "[ui.views.mine]", `pane = "conflicts"`, `filter = "plan|half"`, `order = "STORE"`, "wide = true", "y copy text")
	r.press("y").see("copied the lines (").press("esc").see("STORE↑")
	r.press("ctrl+w").see("── conflict ──").press("esc").see("of 5").press("1").see("[1 Health")
	r.press(":", "view mine", "enter").see("[5 Conflicts]", "1 of 3", "STORE↑").gone("── conflict ──")
	r.press("ctrl+w", "/", "ctrl+u", "-f gdn", "enter").see("garden.md", "1 of 1")
	r.press("esc", "4").see("[4 Quarantine]", "Its rule: ").press("i").see("sha256").press("i").see("Its rule: ").press(">").see("STORE↑")
	r.press(">", ">").see("NOW↑").press("home").see("▌ crewship CREW.md  crews/eng/shared/ ✖ poisoned") // the worst state first
	r.press("-", "<", "<", "<")
	r.press(":", "view none", "enter").see("there is no view")
	r.press(":", "view", "enter").see("say which view")
}

// TestAViewLooksOnce: entering the pane of a view must not begin a look that ends the view's own.
func TestAViewLooksOnce(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "fresh")
	r := startRobot(t, start{scenario: "desk,acts,conflicts,live,one walk", width: 120, height: 40, env: []string{goneEnv + "=" + gone}})
	r.see("48,210").press("5").see("1 of 5").press(":", "save mine", "enter").see("Kept as mine").press("1").see("[1 Health")
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.press(":", "view mine", "enter").see("[5 Conflicts 6]", "of 6", "fresh.md")
}

// TestCommandsWhileTyping: a list above the line shows what it may become: commands and the acts of the pane, then
// acts of other panes with their place, else what is called so or does so.
func TestCommandsWhileTyping(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk", width: 100, height: 24})
	r.see("[2 Tiers]", "crewship").press(":").see("│ store [NAME", "│ recall WORDS").press("co").see("│ conflicts [WORDS] ", "│ compare ", "in Versions of an item (H): ").gone("│ recall")
	r.press("zz").see("no command is called so").press("ctrl+u", "planted").see("│ stories", "in 4 Quarantine: what is blocked and what").press("ctrl+u", "guides").see("no command").press("esc").gone("no command")
	r.press(":", "ke").see("│ keep base", "b in 5 Conflicts: resolve").press("down").see(":kept", "▌kept").press("down").see(":keep base", "▌keep base").press("enter").see(":keep base (b) works in 5 Conflicts")
	r.press(":", "tak", "enter").see(`no command "tak"; did you mean :takeback?`).press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

// TestColumnsAtEveryWidth: the headings show which columns went for lack of room. The last one is whole, so that its
// column is too.
func TestColumnsAtEveryWidth(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "golden", "columns.txt")
	stored, _ := os.ReadFile(file)
	want := strings.SplitAfter(string(stored), "\n")
	var all strings.Builder
	r := startRobot(t, start{scenario: "desk,acts,conflicts,origins", width: 80, height: 30})
	r.unfolded().press("down", "down", "down").see("one note per day").press("enter").see("Thursday", "1 of 2")
	r.press("3", "/").press("deploy").see("1 of 40+ hits").press("enter").gone("to the hits")
	for _, width := range []int{80, 100, 112, 120, 160, 200} {
		r.resize(width, 30)
		for _, p := range []struct{ key, first, last string }{
			{"1", "STORE", "MESSAGE"}, {"2", "TITLE", "AGE"}, {"3", "STORE", "SNIPPET"}, {"4", "STORE", "RULE, MATCH"}, {"5", "STORE", "TOOL"}, {"7", "ACTOR", "TARGET"},
		} {
			if r.press(p.key).see("["+p.key, p.last); *update {
				r.quiet()
			}
			r.until(fmt.Sprintf("the headings of pane %s at %d columns", p.key, width), func(s string) bool {
				for _, line := range strings.Split(s, "\n") {
					head, _, _ := strings.Cut(line, "│")
					if strings.Contains(head, p.first+" ") && strings.Contains(head, p.last) {
						line := fmt.Sprintf("%3d %s %s\n", width, p.key, strings.TrimRight(head, " "))
						if *update || len(want) > 0 && line == want[0] {
							all.WriteString(line)
							return true
						}
					}
				}
				return false
			})
			want = want[min(len(want), 1):]
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
