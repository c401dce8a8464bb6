package tour

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"memdesk/ui/tui"
)

type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *screen) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.buf.String(), text)
}

func read(t *testing.T, r io.Reader, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(r, b); err != nil || string(b) != want {
		t.Fatalf("the console reads %q, %v; want %q", b, err, want)
	}
}

func size(t *testing.T, p *player, want tui.Size) {
	t.Helper()
	select {
	case s := <-p.sizes:
		if s != want {
			t.Fatalf("the console has %v, want %v", s, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the console is told no size")
	}
}

// The script must be typed, captions must be below the console, and the terminal's answers must reach it.
func TestTheTourTypesItsScript(t *testing.T) {
	out := &screen{}
	p := newPlayer(out)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	p.resize(ctx, 80, 26)
	size(t, p, tui.Size{Width: 80, Height: 24})
	if _, err := p.Write([]byte("drawn")); err != nil {
		t.Fatal(err)
	}
	in, keyboard := io.Pipe()
	go p.listen(in, stop)
	go p.play(ctx, []Step{{Caption: "first things", Keys: []string{"3", "/"}}, {Caption: "then these", Keys: []string{"\x1b"}}})
	read(t, p.keys, "3/")
	if !out.has("first things") || !out.has("\x1b[26;1H") {
		t.Errorf("no caption: %q", out.buf.String())
	}
	read(t, p.keys, "\x1b")
	for _, answer := range []string{"\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b[?2026;2$y", "\x1b[<35;1;1M"} {
		go func() { _, _ = io.WriteString(keyboard, answer) }()
		read(t, p.keys, answer)
	}
}

// A terminal without room for the captions must be told so, before the tour and while it is resized.
func TestTheTourNeedsRoom(t *testing.T) {
	for size, fits := range map[[2]int]bool{{60, 15}: false, {78, 16}: false, {77, 17}: false, {78, 17}: true, {300, 80}: true} {
		if why := small(size[0], size[1]); (why == "") != fits {
			t.Errorf("%v: %q", size, why)
		}
	}
	out := &screen{}
	p := newPlayer(out)
	p.resize(t.Context(), 60, 15)
	p.say(1, "first things")
	if out.has("first things") || !out.has("the tour needs 78x17, this is 60x15: enlarge it") {
		t.Errorf("in a small terminal: %q", out.buf.String())
	}
}

// The first key must end the tour and have no other effect; then the console gets keys and screen.
func TestAKeyEndsTheTour(t *testing.T) {
	for _, key := range []string{"x", "\x1b", "\x1b[A", "\x1b[27u", "\x1b[1;2P", "q"} {
		p := newPlayer(&screen{})
		ctx, stop := context.WithCancel(context.Background())
		p.resize(ctx, 100, 32)
		size(t, p, tui.Size{Width: 100, Height: 30})
		in, keyboard := io.Pipe()
		go p.listen(in, stop)
		done := make(chan struct{})
		go func() { defer close(done); p.play(ctx, Steps) }()
		_, _ = io.WriteString(keyboard, key)
		size(t, p, tui.Size{Width: 100, Height: 32})
		<-done
		go func() { _, _ = io.WriteString(keyboard, "j") }()
		read(t, p.keys, "j")
		stop()
	}
}

// Once every step was played, the first key must do what it does in the console, and no caption may lie over it. Before the
// first step the console may not have its own screen yet: what is drawn then stays in the shell's.
func TestAKeyAfterTheTour(t *testing.T) {
	out := &screen{}
	p := newPlayer(out)
	p.resize(t.Context(), 100, 32)
	size(t, p, tui.Size{Width: 100, Height: 30})
	if _, err := p.Write([]byte("drawn")); err != nil {
		t.Fatal(err)
	}
	if out.has("tour") {
		t.Errorf("a caption before the first step: %q", out.buf.String())
	}
	p.play(t.Context(), nil)
	if !out.has(End) || out.has("any key ends it") {
		t.Errorf("the end: %q", out.buf.String())
	}
	in, keyboard := io.Pipe()
	go p.listen(in, func() {})
	go func() {
		for _, key := range []string{"q", "j"} {
			_, _ = io.WriteString(keyboard, key)
		}
	}()
	size(t, p, tui.Size{Width: 100, Height: 32})
	read(t, p.keys, "q")
}

func TestStepsFit(t *testing.T) {
	var all time.Duration
	for i, s := range append(append([]Step{}, Steps...), Step{Caption: End, See: "-"}) {
		if w := ansi.StringWidth(s.Caption); w > 76 || w == 0 || s.See == "" {
			t.Errorf("step %d has a caption of %d columns", i+1, w)
		}
		all += s.Read + time.Duration(len(s.Keys))*betweenKeys
	}
	if all < 80*time.Second || all > 105*time.Second {
		t.Errorf("the tour takes %s", all)
	}
}

// TestNoCaptionAfterAKey: once the operator has the console, the script must not draw over it.
func TestNoCaptionAfterAKey(t *testing.T) {
	p := newPlayer(&screen{})
	if !p.takes([]byte("x")) {
		t.Fatal("the key did not end the tour")
	}
	if p.say(3, "a caption"); p.caption != "" {
		t.Errorf("the caption %q is back", p.caption)
	}
}
