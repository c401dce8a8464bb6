package tui

import (
	"bytes"
	"io"
	"os"

	"github.com/charmbracelet/x/ansi"
)

// marginless resets the scroll margins before each redraw of the whole screen. Bubble Tea's renderer (ultraviolet,
// scrolln) resets them to the height that it knows. While a terminal is being resized, that height is the old one: a
// larger terminal keeps it as a margin, and a smaller one may ignore it and keep the margins of the last scroll.
type marginless struct{ io.Writer }

const (
	noMargins = "\x1b[r"
	redraw    = ansi.CursorHomePosition + ansi.EraseEntireScreen // as the renderer begins one, in a single write
)

func (m marginless) Write(p []byte) (int, error) {
	if _, err := m.Writer.Write(bytes.ReplaceAll(p, []byte(redraw), []byte(noMargins+redraw))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// marginlessFile is marginless for a file, which Bubble Tea recognizes as a terminal.
type marginlessFile struct{ *os.File }

func (m marginlessFile) Write(p []byte) (int, error) { return marginless{m.File}.Write(p) }

// Under is the file itself, for an editor.
func (m marginlessFile) Under() *os.File { return m.File }
