package linear

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"memdesk/internal/safetext"
	"memdesk/ui/tui"
)

// heardLine is a line of the operator, or the error that ends the input.
type heardLine struct {
	text string
	err  error
}

// ear reads lines, one at a time. A read that nobody waits for any more answers the next question.
type ear struct {
	read   func() (string, error)
	resize func(width, height int) // sets the terminal's width for the line mode; nil: not needed
	prompt func(prompt string)     // shows a question; only the goroutine that asks calls it
	cut    func(line string) bool  // reports that the terminal may have dropped the line's end
	lines  chan heardLine
	busy   bool        // a read is running
	ahead  []heardLine // typed during other work
}

// The longest lines that a terminal passes on: the rest of a longer one is dropped without a word.
var (
	ttyLine = cmp.Or(map[string]int{"darwin": 1024}[runtime.GOOS], 4095) // bytes
	sshLine = 4096                                                       // characters, of x/term
)

// newEar chooses how lines are read: by a terminal's own line mode, else, as over SSH, by x/term.
func newEar(in io.Reader, out io.Writer, w *bufio.Writer) (tty *os.File, over *bufio.Writer, e *ear) {
	e = &ear{lines: make(chan heardLine, 1), cut: func(string) bool { return false }}
	if f, file := in.(*os.File); file {
		r := bufio.NewReader(in)
		e.prompt = func(prompt string) {
			_, _ = w.WriteString(safetext.Const(prompt).String())
			_ = w.Flush()
		}
		e.read = func() (string, error) {
			line, err := r.ReadString('\n')
			if err != nil && line != "" {
				err = nil // the last line has no newline
			}
			return strings.TrimRight(line, "\r\n"), err
		}
		if term.IsTerminal(int(f.Fd())) {
			tty = f
			e.cut = func(line string) bool { return len(line) >= ttyLine }
		}
		return tty, w, e
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "")
	t.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) { // a tab is text, which x/term would drop
		if key != '\t' {
			return "", 0, false
		}
		return line[:at] + "\t" + line[at:], at + 1, true
	}
	e.cut = func(line string) bool { return utf8.RuneCountInString(line) >= sshLine }
	e.prompt = func(prompt string) {
		t.SetPrompt(cmp.Or(prompt, "working> "))
		if e.busy {
			_, _ = t.Write(nil) // redraws the line being typed
		}
	}
	e.resize = func(width, height int) { _ = t.SetSize(width, height) }
	e.read = func() (string, error) {
		line, err := t.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) {
			err = nil
		}
		return line, err
	}
	return nil, bufio.NewWriter(t), e
}

// columns returns the width of a file's terminal, else the last of sizes, which go to resize too. It ends with ctx.
func columns(ctx context.Context, out io.Writer, sizes <-chan tui.Size, resize func(width, height int)) func() int {
	if f, file := out.(*os.File); file && sizes == nil {
		return func() int {
			w, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return w
		}
	}
	var width atomic.Int64
	if sizes != nil {
		go tui.ForwardSizes(ctx, sizes, func(m tea.Msg) {
			s := m.(tea.WindowSizeMsg)
			width.Store(int64(s.Width))
			if resize != nil {
				resize(s.Width, s.Height)
			}
		})
	}
	return func() int { return int(width.Load()) }
}

// ask waits for a line, at most until the session ends.
func (e *ear) ask(ctx context.Context, prompt string) (string, error) {
	if len(e.ahead) > 0 {
		h := e.ahead[0]
		e.ahead = e.ahead[1:]
		return h.text, h.err
	}
	if e.busy {
		e.prompt(prompt)
	}
	select {
	case h := <-e.listen(prompt):
		e.busy = false
		return h.text, h.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (e *ear) listen(prompt string) <-chan heardLine {
	if !e.busy {
		e.prompt(prompt)
		e.busy = true
		go func() { // it ends with the input
			line, err := e.read()
			e.lines <- heardLine{line, err}
		}()
	}
	return e.lines
}
