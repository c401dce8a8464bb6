package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// broken is a pane with a bug.
type broken struct {
	*absent
	where string
}

func (p broken) Unavailable() string { return "" }

func (p broken) Enter() tea.Cmd {
	switch p.where {
	case "update":
		panic("s3cret of a store")
	case "command":
		return p.d.Asker(PaneConflicts)(func(context.Context) any { panic("s3cret of a store") })
	}
	return nil
}

func (p broken) Render(int, int) ([]string, *tea.Position) {
	if p.where == "view" {
		panic(errors.New("s3cret of a store"))
	}
	return nil, nil
}

// screen is an output that can be read while it is written.
type screen struct {
	mu    sync.Mutex
	grown *sync.Cond
	buf   bytes.Buffer
}

func newScreen() *screen {
	s := &screen{}
	s.grown = sync.NewCond(&s.mu)
	return s
}

func (s *screen) until(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.buf.String(), text) {
		s.grown.Wait()
	}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.grown.Broadcast()
	return s.buf.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// session runs the console in this process, over an input that the test writes.
func session(t *testing.T, change func(*App)) (in *io.PipeWriter, out *screen, cancel func(), ended chan error) {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	out = newScreen()
	sizes := make(chan Size, 1)
	sizes <- Size{80, 24}
	o := Options{Clock: clock.Fixed(time.Unix(0, 0)), Terminal: Terminal{Input: r, Output: out, Sizes: sizes, Gone: cancel}, Environ: []string{"TERM=xterm-256color"}}
	a := NewApp(ctx, o)
	change(a)
	ended = make(chan error, 1)
	go func() { ended <- run(ctx, a, o) }()
	out.until("Tiers")
	return w, out, cancel, ended
}

func wait(t *testing.T, ended chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(15 * time.Second):
		t.Fatal("the console does not end")
		return nil
	}
}

// TestGoneWithoutLeaving: a terminal that ends says that the operator has gone; leaving does not.
func TestGoneWithoutLeaving(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		gone := make(chan struct{})
		in, _, _, ended := session(t, func(a *App) {
			go func() { <-a.D.Ctx.Done(); close(gone) }()
		})
		if leaves {
			go func() { _, _ = in.Write([]byte("q")) }()
		} else if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, ended); err != nil {
			t.Error(err)
		}
		select {
		case <-gone:
			if leaves {
				t.Error("leaving counts as gone")
			}
		case <-time.After(map[bool]time.Duration{false: 15 * time.Second, true: 0}[leaves]):
			if !leaves {
				t.Error("nobody was told that the operator has gone")
			}
		}
	}
}

func TestPanicNamesThePlaceOnly(t *testing.T) {
	for _, where := range []string{"update", "view", "command"} {
		t.Run(where, func(t *testing.T) {
			in, out, _, ended := session(t, func(a *App) {
				a.Panes[PaneConflicts] = broken{newAbsent(a.D.Desk, ""), where}
			})
			if _, err := io.WriteString(in, "5"); err != nil {
				t.Fatal(err)
			}
			err := wait(t, ended)
			if err == nil || !strings.Contains(err.Error(), "internal error in tui.broken.") {
				t.Errorf("error %v does not name the place", err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") || strings.Contains(out.String(), "s3cret") {
				t.Error("the panic's value was printed")
			}
			if !strings.Contains(out.String(), "\x1b[?1049l") {
				t.Errorf("the terminal is not restored: %q", out.String())
			}
		})
	}
}

func TestEndsCleanly(t *testing.T) {
	for name, end := range map[string]func(in *io.PipeWriter, cancel func()){
		"the operator leaves":  func(in *io.PipeWriter, _ func()) { _, _ = io.WriteString(in, "q") },
		"ctrl+c":               func(in *io.PipeWriter, _ func()) { _, _ = io.WriteString(in, "\x03") },
		"the context ends":     func(_ *io.PipeWriter, cancel func()) { cancel() },
		"the terminal is gone": func(in *io.PipeWriter, _ func()) { _ = in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			in, out, cancel, ended := session(t, func(*App) {})
			end(in, cancel)
			if err := wait(t, ended); err != nil {
				t.Errorf("error %v", err)
			}
			if s := out.String(); strings.Contains(s, "\x1b[?1049h") && !strings.Contains(s, "\x1b[?1049l") {
				t.Errorf("the alternate screen was not left: %q", s)
			}
		})
	}
}

func TestLooks(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want paint.Looks
	}{
		{"nothing said", Options{}, paint.Looks{Colour: true}},
		{"utf-8", Options{Environ: []string{"LANG=de_DE.UTF-8"}}, paint.Looks{Colour: true}},
		{"another charset", Options{Environ: []string{"LANG=de_DE.ISO-8859-1"}}, paint.Looks{Colour: true, Ascii: true}},
		{"LC_ALL wins", Options{Environ: []string{"LANG=de_DE.ISO-8859-1", "LC_ALL=C.utf8"}}, paint.Looks{Colour: true}},
		{"no charset named", Options{Environ: []string{"LANG=C"}}, paint.Looks{Colour: true}},
		{"dumb", Options{Environ: []string{"TERM=dumb"}}, paint.Looks{Ascii: true}},
		{"NO_COLOR", Options{Environ: []string{"NO_COLOR=1"}}, paint.Looks{}},
		{"NO_COLOR empty", Options{Environ: []string{"NO_COLOR="}}, paint.Looks{Colour: true}},
		{"plain", Options{Plain: true}, paint.Looks{Ascii: true, Bare: true}},
		{"ascii", Options{ASCII: true}, paint.Looks{Colour: true, Ascii: true}},
	} {
		tt.want.Theme = paint.ThemeAuto
		if got := looksOf(tt.o); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// Rows must have their exact width and separately styled escapes, for any input.
func TestRow(t *testing.T) {
	st := paint.New(paint.Looks{Colour: true}, true)
	for _, s := range []string{"", "short", strings.Repeat("long", 30), "東京東京東京東京東京東京東京", "❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️", "👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽", "\x1b[31m\x1b[31m\x1b[31m\x1b[31m"} {
		text := safetext.Line(s)
		for _, line := range []string{
			st.Row(20).Put(st.Warn, text).End(), st.Row(20).Cell(st.Warn, text, 12).End(), st.Row(20).Number(st.Warn, text, 12).End(),
			st.Highlighted(20, true, true).Put(st.Warn, text).End(), st.Rule(text, 20),
			st.Row(20).Cell(paint.Paint{}, st.Tail(text, s, ":12", 14), 14).End(),
		} {
			if got := ansi.WcWidth.StringWidth(line); got != 20 {
				t.Errorf("%q: a row of %d columns: %q", s, got, line)
			}
		}
	}
	for width := range 24 { // a match at the cut must leave the ellipsis whole
		long := safetext.Line("an anaconda and ananas — an end")
		line := st.Row(width).Hits(paint.Paint{}, long, text.Matches(long, []string{"an", "d", "—"})).End()
		if !utf8.ValidString(line) || ansi.WcWidth.StringWidth(line) != width {
			t.Errorf("cut at %d: %q", width, line)
		}
		for i, seg := range strings.Split(line, "\x1b") {
			if !utf8.ValidString(seg) {
				t.Errorf("cut at %d: part %d is torn: %q", width, i, line)
			}
		}
	}
	marked := st.Row(20).Put(paint.Paint{}, safetext.Line("a\x1bb")).End()
	if want := "a" + st.Escape.On + "^[" + st.Escape.Off + "b"; !strings.HasPrefix(marked, want) {
		t.Errorf("escapes are not painted apart: %q", marked)
	}
}
