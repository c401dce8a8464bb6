// Command shots writes the screenshots of the README and of the design. It runs the console on the demo in
// a pseudo-terminal, presses keys, reads the screen through a terminal emulator and writes it as SVG. Time,
// names and paths are fixed, so that two runs write the same bytes.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// size is a terminal in cells.
type size struct{ width, height int }

var (
	readme = size{112, 30}
	design = []size{{80, 24}, {120, 40}, {200, 50}}
)

const (
	playEnv = "MEMDESK_SHOTS_PLAY"
	home    = "/tmp/memdesk-tour" // the same everywhere, because the screen shows it
)

var today = clock.Fixed(time.Date(2026, 5, 21, 9, 30, 0, 0, time.UTC))

// shot is one picture: its keys, each with the text that must then be on the screen.
type shot struct {
	name string
	keys []step
}

type step struct{ press, see string }

var shots = []shot{
	{"tiers", []step{{"", "of "}}},
	{"items", []step{{":tier daily", ":tier daily"}, {"\r", "› daily"}, {"jj", "3 of "}, {"", "reference"}}},
	{"recall", []step{{"3", "press / and type"}, {"/", ""}, {"rye bread", " hits"}, {"\r", "enter read"}}},
	{"quarantine", []step{{"4", "1 of "}, {"", "Its rule"}}},
	{"forget", []step{{":store graph\r", "1 of "}, {"d", "enter cancel"}}},
	{"conflicts", []step{{"5", "[5 Conf"}, {"", "SURE"}, {"jj", "3 of "}, {"", "Rye is baked"}}},
	{"erasure", []step{
		{"6", "due tomorrow"}, {"j", "2 of 3"}, {"\r", "The plan of"},
	}},
	{"health", []step{{"1", "[1 Health"}}},
	{"help", []step{{"?", "Help: Tiers"}}},
}

// anatomy are the pictures of docs/design: a list, a detail, a comparison, a board and a
// dialog, each in three sizes.
var anatomy = []shot{
	{"list", []step{{"", "of "}}},
	{"detail", []step{{"4", "1 of "}, {"", "Its rule"}}},
	{"comparison", []step{{"5", "[5 Conf"}, {"jj", "3 of "}, {"\r", "Conflicts › "}, {"", "Rye is baked"}}},
	{"board", []step{{"6", "[6 Eras"}, {"j", "2 of 3"}, {"\r", "The plan of"}}},
	{"dialog", []step{{":store graph\r", "1 of "}, {"d", "enter cancel"}}},
	{"empty", []step{{"4", "1 of "}, {"/zzz\r", "Nothing matches"}}},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "shots:", err)
		os.Exit(1)
	}
}

func run() error {
	if os.Getenv(playEnv) != "" {
		return play()
	}
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: shots README-DIRECTORY DESIGN-DIRECTORY")
	}
	write := func(s shot, at size, file string) error {
		svg, err := take(s, at)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return os.WriteFile(file, []byte(svg), 0o644)
	}
	for _, s := range shots {
		if err := write(s, readme, filepath.Join(os.Args[1], s.name+".svg")); err != nil {
			return err
		}
	}
	if err := record(filepath.Join(os.Args[1], "tour")); err != nil {
		return fmt.Errorf("tour: %w", err)
	}
	for _, s := range anatomy {
		for _, at := range design {
			if err := write(s, at, filepath.Join(os.Args[2], fmt.Sprintf("%s-%dx%d.svg", s.name, at.width, at.height))); err != nil {
				return err
			}
		}
	}
	return nil
}

// play runs the program itself, at a fixed time.
func play() error {
	code := cli.Program{
		Args: []string{"demo", "--dir", filepath.Join(home, "demo")}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: os.Getenv, Dir: home, Clock: today, Version: "demo", Kinds: backends.Builtin(), User: "ana", TTY: "pts/1",
		Terminal: func(any) bool { return true },
	}.Run(context.Background())
	if code != 0 {
		return fmt.Errorf("the console ended with %d", code)
	}
	return nil
}

// patience is how long a screen may take; only a failure waits that long.
const patience = 2 * time.Minute

// camera reads a console's screen.
type camera struct {
	mu     sync.Mutex
	drawn  *sync.Cond
	screen *vt.Emulator
	ended  bool
}

func take(s shot, at size) (string, error) {
	last := ""
	err := film(at, s.keys, func(c *camera, _ int) { last = c.still() })
	return last, err
}

// film runs the program and calls look after each step.
func film(at size, steps []step, look func(c *camera, step int)) error {
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(home)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + home, "PATH=/usr/bin:/bin", "EDITOR=vi", playEnv + "=1"}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(at.width), Rows: uint16(at.height)})
	if err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
	}()
	c := &camera{screen: vt.NewEmulator(at.width, at.height)}
	c.drawn = sync.NewCond(&c.mu)
	go c.watch(tty)
	go func() { _, _ = io.Copy(tty, c.screen) }() // the terminal's answers to queries
	if err := c.see("harbor"); err != nil {
		return err
	}
	for i, st := range append([]step{{"", " of "}}, steps...) {
		c.still()
		if _, err := io.WriteString(tty, st.press); err != nil {
			return err
		}
		if err := c.see(st.see); err != nil {
			return err
		}
		if i > 0 || len(steps) == 0 {
			look(c, i-1)
		}
	}
	return nil
}

func (c *camera) watch(tty io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := tty.Read(buf)
		c.mu.Lock()
		_, _ = c.screen.Write(buf[:n])
		c.ended = err != nil
		c.drawn.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// unread tells a screen on which something is still read or counted.
var unread = regexp.MustCompile(`loading|counting|(Quarantine|Quar|Conflicts|Conf) \?`)

// see waits for a text, and until nothing is loading.
func (c *camera) see(text string) error {
	timer := time.AfterFunc(patience, c.drawn.Broadcast)
	defer timer.Stop()
	until := time.Now().Add(patience)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		s := c.screen.String()
		if strings.Contains(s, text) && !unread.MatchString(s) {
			return nil
		}
		if c.ended || !time.Now().Before(until) {
			return fmt.Errorf("the screen never showed %q; it shows\n%s", text, s)
		}
		c.drawn.Wait()
	}
}

// still waits until nothing was drawn for half a second, and returns the picture.
func (c *camera) still() string {
	for last := ""; ; {
		c.mu.Lock()
		now := draw(c.screen)
		c.mu.Unlock()
		if now == last {
			return now
		}
		last = now
		time.Sleep(500 * time.Millisecond)
	}
}
