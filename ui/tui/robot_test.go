package tui_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// patience is how long the robot watches a screen before it gives up. Only a failure waits that long:
// the expected text ends the wait.
const patience = time.Minute

// robot is an operator: it starts the console in a pseudo-terminal, presses keys and reads the screen
// through a terminal emulator. It waits for texts on the screen, never for time to pass.
type robot struct {
	t    testing.TB
	tty  *os.File
	cmd  *exec.Cmd
	done chan error
	mask *regexp.Regexp // what golden frames mask besides times; nil: nothing

	mu     sync.Mutex
	drawn  *sync.Cond
	screen *vt.Emulator
	raw    bytes.Buffer // everything the program wrote
	ended  bool
}

type start struct {
	scenario      string
	width, height int
	env           []string
}

func startRobot(t testing.TB, s start) *robot {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + t.TempDir(), playEnv + "=" + s.scenario, pressesEnv + "=" + os.Getenv(pressesEnv), logEnv + "=" + logState()}, s.env...)
	return robotOf(t, cmd, s.width, s.height)
}

// robotOf is a robot at any program's terminal.
func robotOf(t testing.TB, cmd *exec.Cmd, width, height int) *robot {
	t.Helper()
	r := &robot{t: t, cmd: cmd, screen: terminal(width, height), done: make(chan error, 1)}
	r.drawn = sync.NewCond(&r.mu)
	var err error
	r.tty, err = pty.StartWithSize(r.cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	if err != nil {
		t.Fatal(err)
	}
	go r.watch()
	go answer(r.tty, r.screen)
	t.Cleanup(r.stop)
	return r
}

// terminal is an emulator that ignores margins below its last row, as Windows Terminal does: a frame of the size before a
// resize may set them. The emulator alone scrolls outside its rows and panics.
func terminal(width, height int) *vt.Emulator {
	screen := vt.NewEmulator(width, height)
	screen.RegisterCsiHandler('r', func(params ansi.Params) bool {
		bottom, _, _ := params.Param(1, 0)
		return bottom > screen.Height()
	})
	return screen
}

// TestAFrameOfTheSizeBefore: what a program drew for more rows may reach the terminal after it has shrunk.
func TestAFrameOfTheSizeBefore(t *testing.T) {
	screen := terminal(80, 24)
	screen.Resize(60, 15)
	if _, err := screen.WriteString("\x1b[2;23r\x1b[2;1H\x1b[M\x1b[L\x1b[S\x1b[T\x1b[r\x1b[Hdrawn"); err != nil {
		t.Fatal(err)
	}
	if got := screen.String(); !strings.HasPrefix(got, "drawn") {
		t.Errorf("the screen is %q", got)
	}
}

// answer passes on the terminal's answers to queries. It continues after the program has ended: the
// emulator waits for its reader with the screen locked.
func answer(tty io.Writer, screen io.Reader) {
	buf := make([]byte, 4<<10)
	for {
		n, err := screen.Read(buf)
		if err != nil {
			return
		}
		_, _ = tty.Write(buf[:n])
	}
}

// watch feeds the screen until the program ends.
func (r *robot) watch() {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.tty.Read(buf)
		r.mu.Lock()
		r.raw.Write(buf[:n])
		_, _ = r.screen.Write(buf[:n])
		r.ended = err != nil
		r.drawn.Broadcast()
		r.mu.Unlock()
		if err != nil {
			r.done <- r.cmd.Wait()
			return
		}
	}
}

func (r *robot) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.tty.Close()
	// Closing the emulator itself races with its Read; closing the source of that Read does not.
	if c, ok := r.screen.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
}

// text is the screen as lines without trailing blanks. The caller holds mu.
func (r *robot) text() string {
	lines := strings.Split(r.screen.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// until waits for the screen to satisfy ok.
func (r *robot) until(what string, ok func(screen string) bool) string {
	r.t.Helper()
	deadline := time.Now().Add(patience) // before the timer, whose one call must find it passed
	timer := time.AfterFunc(patience, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.drawn.Broadcast()
	})
	defer timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		s := r.text()
		if ok(s) {
			return s
		}
		if r.ended || !time.Now().Before(deadline) {
			if strings.TrimSpace(s) == "" { // no hint in the output
				r.mu.Unlock()
				words := r.lastWords()
				r.mu.Lock()
				r.t.Fatalf("the screen never showed %s; it is empty; its last words:\n%s", what, words)
			}
			r.t.Fatalf("the screen never showed %s; it shows\n%s", what, s)
		}
		r.drawn.Wait()
	}
}

// see waits until all of the texts are on the screen.
func (r *robot) see(texts ...string) *robot {
	r.t.Helper()
	r.until(fmt.Sprintf("%q", texts), func(s string) bool {
		for _, t := range texts {
			if !strings.Contains(s, t) {
				return false
			}
		}
		return true
	})
	return r
}

// gone waits until a text has left the screen.
func (r *robot) gone(text string) *robot {
	r.t.Helper()
	r.until(fmt.Sprintf("the end of %q", text), func(s string) bool { return !strings.Contains(s, text) })
	return r
}

var sequences = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "backspace": "\x7f",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdown": "\x1b[6~",
	"shift+up": "\x1b[1;2A", "shift+down": "\x1b[1;2B",
}

func sequence(key string) string {
	if s, ok := sequences[key]; ok {
		return s
	}
	if c, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return string(rune(c[0] & 0x1f))
	}
	return key
}

// press sends all keys in one write.
func (r *robot) press(keys ...string) *robot {
	r.t.Helper()
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(sequence(k))
	}
	if _, err := io.WriteString(r.tty, b.String()); err != nil {
		r.t.Fatal(err)
	}
	return r
}

// resize leaves margins in a terminal of another height, as a late frame of the height before would.
func (r *robot) resize(width, height int) *robot {
	r.t.Helper()
	r.mu.Lock()
	was := r.screen.Height()
	if r.screen.Resize(width, height); height != was {
		_, _ = r.screen.WriteString(ansi.SetTopBottomMargins(6, 10))
	}
	r.mu.Unlock()
	if err := pty.Setsize(r.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		r.t.Fatal(err)
	}
	return r
}

// left waits for the program to end and returns everything it wrote.
func (r *robot) left() (raw []byte, err error) {
	r.t.Helper()
	select {
	case err = <-r.done:
	case <-time.After(patience):
		words := r.lastWords()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.t.Fatalf("the program did not end; the screen:\n%s\nits last words:\n%s", r.text(), words)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.raw.Bytes()), err
}

// lastWords ends a hanging program with a dump of its goroutines, which shows where it hangs.
func (r *robot) lastWords() []byte {
	_ = r.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-r.done:
	case <-time.After(time.Second):
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.ReplaceAll(r.raw.Bytes()[max(0, r.raw.Len()-20000):], []byte{0x1b}, []byte("^["))
}

func (r *robot) written() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.raw.Bytes())
}

// took hides a difference between two runs: the time a store took.
var took = regexp.MustCompile(`(slowest was \w+,)? *<?(\d+\.)?\d+ ms`)

// course hides how often and how fast stores were queried.
var course = regexp.MustCompile(`checks {7}[^│\n]*`)

// keyed hides what the log's random key makes.
var keyed = regexp.MustCompile(`(prev|hash|\(keyed\)) +[0-9a-z:]{32,}`)

func timeless(s string) string {
	s = keyed.ReplaceAllString(s, "$1 #")
	s = course.ReplaceAllString(s, "checks #")
	lines := strings.Split(took.ReplaceAllString(s, " # ms"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// freeSpace hides the free space of the machine that runs the test.
var freeSpace = regexp.MustCompile(`(free space) +[0-9.]+ [KMG]?B`)

// timeless replaces what differs between two runs by text of the same width.
func (r *robot) timeless(s string) string {
	if r.mask != nil {
		s = freeSpace.ReplaceAllString(s, "$1 #")
		s = r.mask.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat("#", utf8.RuneCountInString(m)) })
	}
	return timeless(s)
}

// golden waits until the screen equals the stored frame.
func (r *robot) golden(name string) *robot {
	r.t.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		r.quiet()
		r.mu.Lock()
		frame := r.timeless(r.text()) + "\n"
		r.mu.Unlock()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(frame), 0o644); err != nil {
			r.t.Fatal(err)
		}
		return r
	}
	want, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	last := ""
	defer func() {
		if r.t.Failed() {
			r.t.Logf("%s (-want +got):\n%s", file, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(last, "\n")))
		}
	}()
	r.until("the frame "+name, func(s string) bool {
		last = r.timeless(s) + "\n"
		return last == string(want)
	})
	return r
}

// unfolded waits for the counts of all stores and unfolds the tree: with little room its stores begin folded.
func (r *robot) unfolded() *robot {
	r.t.Helper()
	r.see("[2 Tiers]", "48,210").until("the rows of every store", func(s string) bool {
		return strings.Contains(s, "1 of 13") || strings.Contains(s, "▸ crewship")
	})
	if strings.Contains(r.frame(), "▸ crewship") {
		r.press("F").see("1 of 13")
	}
	return r
}

// quiet waits until the output pauses; only for -update.
func (r *robot) quiet() {
	for n := -1; ; {
		now := len(r.written())
		if now == n {
			return
		}
		n = now
		time.Sleep(400 * time.Millisecond)
	}
}
