package tui_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// at is the line and column of a text on the screen.
func (r *robot) at(text string) (x, y int) {
	r.t.Helper()
	s := r.see(text).until(text, func(string) bool { return true })
	for y, line := range strings.Split(s, "\n") {
		if before, _, ok := strings.Cut(line, text); ok {
			return len([]rune(before)), y
		}
	}
	r.t.Fatalf("%q is not on the screen", text)
	return 0, 0
}

// click presses and releases the left button on a text.
func (r *robot) click(text string) *robot {
	r.t.Helper()
	x, y := r.at(text)
	return r.press(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
}

func (r *robot) wheel(text string, down bool) *robot {
	r.t.Helper()
	x, y := r.at(text)
	button := 64
	if down {
		button = 65
	}
	return r.press(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x+1, y+1))
}

func TestTheMouse(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ width, height int }{{80, 24}, {120, 40}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", s.width, s.height), func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, "")
			r := o.console(s.width, s.height)
			r.click("2 Tiers").see("[2 Tiers]", "▸ harbor").press("F").see("├ AGENT").click("├ AGENT").see("3 of ", "holds ").wheel("lessons", true).see("6 of ").wheel("lessons", false).see("3 of ")
			r.click("├ AGENT").see("› AGENT", "enter read") // the second click on a row is enter
			r.click("5 Conflicts").see("[5 Conflicts]", "1 of 8").press("b").see("[Cancel]", "enter cancel").click("Keep base").see("[Cancel]").press("esc").see("[5 Conflicts]")
			r.click("1 Health").see("[1 Health", "1 of ").click(" graph ").see("2 of ")
		})
	}
}

// TestTheWheelAnswersNoQuestion: it scrolls, and leaves the focus on Cancel.
func TestTheWheelAnswersNoQuestion(t *testing.T) {
	t.Parallel()
	r := newOffice(t, "").console(80, 24).press(":readonly on\r").see("read-only").press(":readonly off").asked("enter", "Make this session writable again?")
	r.wheel("Make writable", true).press("enter").see("cancelled")
}

func TestTheLineBetweenIsDragged(t *testing.T) {
	t.Parallel()
	r := newOffice(t, "").console(120, 30).press("2").see("[2 Tiers]")
	was, y := r.at("│")
	r.press(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<32;%d;%dM\x1b[<0;%d;%dm", was+1, y+1, was-9, y+1, was-9, y+1))
	r.until("the line ten columns to the left", func(s string) bool {
		before, _, _ := strings.Cut(strings.Split(s, "\n")[y], "│")
		return len([]rune(before)) == was-10
	})
}

func TestTheMouseIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newOffice(t, "[ui]\nmouse = false\n").console(80, 24)
	r.press("q")
	raw, err := r.left()
	if err != nil || strings.Contains(string(raw), "\x1b[?1002h") {
		t.Errorf("the console takes the mouse, which [ui] mouse = false forbids: %v", err)
	}
}

// TestTheSelectionIsTheWholeRow, from its first column to the blank before the divider.
func TestTheSelectionIsTheWholeRow(t *testing.T) {
	t.Parallel()
	r := newOffice(t, "").console(120, 30).press("2").see("[2 Tiers]", "1 of ")
	wide, _ := r.at("│")
	_, y := r.at("▌")
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.screen.CellAt(0, y).Style.Bg
	for x := range wide - 1 {
		if bg := r.screen.CellAt(x, y).Style.Bg; bg == nil || bg != first {
			t.Fatalf("column %d of the selected row has the background %v, its first column %v", x, bg, first)
		}
	}
}

// TestListsFilterWhileOneTypes: the list filters before enter, and esc restores it.
func TestListsFilterWhileOneTypes(t *testing.T) {
	t.Parallel()
	r := newOffice(t, "").console(120, 30)
	r.press("2").see("▸ harbor").press("F").see("├ PERSONA").press("/", "peers").see("/peers", "enter keep").gone("├ PERSONA").press("esc").see("├ PERSONA")
	r.press(":store notes\r").see("› notes", "1 of ").press("j", "j").see("3 of ").press("/", "rye").see("/rye", "of 3", "enter keep").gone("Soggy").press("esc").see("Soggy")
	r.press("5").see("[5 Conflicts]", "harbour-fees").press("/", "boat").see("enter keep").gone("harbour-fees").press("enter").see("› /boat").press("esc").see("harbour-fees")
}

// TestAQuestionIsABoxOverItsList: the row in question must stay visible, below the headings of its columns.
func TestAQuestionIsABoxOverItsList(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ width, height int }{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", s.width, s.height), func(t *testing.T) {
			t.Parallel()
			r := newOffice(t, "").console(s.width, s.height)
			r.press(":store notes\r").see("› notes", "1 of ").press("d").see("╭", "[Cancel]", "▌", "TITLE", "enter cancel").press("esc").gone("╭")
			// Which rows are the first and the last depends on what the stores had found when the list began.
			r.press("5").see("[5 Conflicts]", "1 of 8").press("/", "boat").see("enter keep").gone("harbour-fees").press("enter").see("› /boat", "1 of 3")
			r.press("b").see("╭", "[Cancel]", "▌", "STORE  BASE", "enter cancel").press("esc").gone("╭")
		})
	}
}

// TestSuspend: without a shell behind it the console must stay and say why; as a shell's job it must
// stop and return unchanged.
func TestSuspend(t *testing.T) {
	t.Parallel()
	newOffice(t, "").console(80, 24).press("ctrl+z").see("there is no shell behind this session").press("q")
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here to suspend to")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell, "--norc", "-c", `set -m; "$0" -test.run='^$'; echo the shell has it; sleep 0.2; fg >/dev/null`, self)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + t.TempDir(), playEnv + "=desk", pressesEnv + "=" + os.Getenv(pressesEnv), logEnv + "=" + logState()}
	robotOf(t, cmd, 80, 24).see("[2 Tiers]").press("ctrl+z").see("the shell has it").see("[2 Tiers]").press("q")
}
