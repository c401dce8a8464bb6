package tour

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"memdesk/ui/tui"
)

// captionLines are the lines at the bottom of the terminal kept from the console.
const captionLines = 2

// The smallest terminal for the tour: a caption has up to 76 columns, and the console needs 15 lines of its own.
const leastWidth, leastHeight = 78, 15 + captionLines

// small says why a terminal has no room for the tour; empty where it has.
func small(w, h int) string {
	if w >= leastWidth && h >= leastHeight {
		return ""
	}
	return fmt.Sprintf("the tour needs %dx%d, this is %dx%d: enlarge it", leastWidth, leastHeight, w, h)
}

// Room is an error where a terminal has no room for the tour.
func Room(out *os.File) error {
	w, h, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return fmt.Errorf("the size of the terminal: %w", err)
	}
	if why := small(w, h); why != "" {
		return errors.New(why)
	}
	return nil
}

const (
	betweenKeys = 180 * time.Millisecond // so that the typing is visible
	quietFor    = 400 * time.Millisecond // the screen is at rest
	sizeEvery   = 250 * time.Millisecond
)

// Play runs the console in this terminal and types the tour into it. Any key ends the tour; the
// console goes on.
func Play(ctx context.Context, in, out *os.File, console func(tui.Terminal) error) error {
	w, h, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return fmt.Errorf("the size of the terminal: %w", err)
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(in.Fd()), was) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := newPlayer(out)
	p.resize(ctx, w, h)
	go p.listen(in, stop)
	go p.play(ctx, Steps)
	go func() {
		for tick := time.NewTicker(sizeEvery); ; {
			select {
			case <-tick.C:
				if w, h, err := term.GetSize(int(out.Fd())); err == nil {
					p.resize(ctx, w, h)
				}
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	}()
	return console(tui.Terminal{Input: p.keys, Output: p, Sizes: p.sizes})
}

// player sits between a terminal and the console.
type player struct {
	keys  *io.PipeReader // the console's input
	typed *io.PipeWriter
	sizes chan tui.Size
	over  chan struct{} // closed when the operator has taken the console
	once  sync.Once

	mu            sync.Mutex
	out           io.Writer
	width, height int // of the terminal
	at            int
	caption       string // empty: the console has the whole screen
	ended         bool   // every step was played
	wrote         time.Time
	again         bool // the console needs its size again
}

func newPlayer(out io.Writer) *player {
	p := &player{out: out, sizes: make(chan tui.Size, 1), over: make(chan struct{}), caption: " "}
	p.keys, p.typed = io.Pipe()
	return p
}

// Write passes on the console's output, and draws the caption again: the console may have moved lines of the
// screen. A terminal in raw mode needs its carriage returns spelled out.
func (p *player) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrote = time.Now()
	if _, err := p.out.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	p.draw()
	return len(b), nil
}

// draw writes the caption and leaves the cursor where it is. The lock is held.
func (p *player) draw() {
	if p.caption == "" || p.at == 0 && !p.ended { // before the first step the console may not have its own screen yet
		return
	}
	head := fmt.Sprintf("── tour, %d of %d; any key ends it ", p.at, len(Steps))
	if p.ended {
		head = "── tour "
	}
	rule := []rune(head + strings.Repeat("─", max(p.width-len([]rune(head)), 0)))
	caption := p.caption
	if why := small(p.width, p.height); why != "" { // the terminal was made smaller
		caption = why
	}
	text := []rune(" " + caption)
	fmt.Fprintf(p.out, "\x1b7\x1b[%d;1H\x1b[0;2m%s\x1b[0K\x1b[%d;1H\x1b[0;1m%s\x1b[0m\x1b[0K\x1b8",
		p.height-1, string(rule[:min(len(rule), p.width)]), p.height, string(text[:min(len(text), p.width-1)]))
}

// resize gives the console the terminal without the caption.
func (p *player) resize(ctx context.Context, w, h int) {
	p.mu.Lock()
	same := p.width == w && p.height == h && !p.again
	p.width, p.height, p.again = w, h, false
	room := p.room()
	p.mu.Unlock()
	if same {
		return
	}
	select {
	case p.sizes <- room:
	case <-ctx.Done():
	}
}

// room is the size of the console. The lock is held.
func (p *player) room() tui.Size {
	if p.caption == "" {
		return tui.Size{Width: p.width, Height: p.height}
	}
	return tui.Size{Width: p.width, Height: p.height - captionLines}
}

// say shows a caption.
func (p *player) say(at int, caption string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.over: // the operator has the console
		return
	default:
	}
	p.at, p.caption = at, caption
	p.draw()
}

// play types the script, each step once the screen is at rest.
func (p *player) play(ctx context.Context, steps []Step) {
	pause := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			select {
			case <-p.over: // both were ready
				return false
			default:
			}
			return true
		case <-p.over:
		case <-ctx.Done():
		}
		return false
	}
	for i, s := range steps {
		for !p.still() {
			if !pause(quietFor / 4) {
				return
			}
		}
		p.say(i+1, s.Caption)
		for _, k := range s.Keys {
			if !pause(betweenKeys) {
				return
			}
			if _, err := io.WriteString(p.typed, k); err != nil {
				return
			}
		}
		if !pause(s.Read) {
			return
		}
	}
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.say(len(steps), End)
}

// still reports whether the console has drawn something and rests now.
func (p *player) still() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.wrote.IsZero() && time.Since(p.wrote) >= quietFor
}

// listen reads the terminal. Its answers to questions go on to the console; the first key ends the tour and
// is not passed on, since it was pressed for the tour, unless that has played all its steps.
func (p *player) listen(in io.Reader, hangUp func()) {
	defer hangUp()
	defer p.typed.Close()
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		if n > 0 && !p.takes(buf[:n]) {
			if _, err := p.typed.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// takes reports whether the input has just ended the tour under way.
func (p *player) takes(b []byte) (taken bool) {
	if len(b) > 1 && b[0] == '\x1b' && strings.ContainsRune("]P?[_", rune(b[1])) && !isKey(b) {
		return false
	}
	p.once.Do(func() {
		close(p.over)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.caption = ""
		select {
		case p.sizes <- p.room():
		default: // another size is pending: this one follows with the next look at the terminal
			p.again = true
		}
		taken = !p.ended
	})
	return taken
}

// isKey tells keys from a terminal's answers and from the mouse; u ends keys of the kitty protocol, Escape too.
func isKey(b []byte) bool {
	return len(b) >= 3 && b[1] == '[' && b[2] != '?' && b[2] != '<' && strings.ContainsRune("ABCDHFPQSZ~u", rune(b[len(b)-1]))
}
