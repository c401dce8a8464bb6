package safetext

import (
	"bytes"
	"io"
)

// maxPending bounds the memory of a Writer for a line without an end.
const maxPending = 64 << 10

// Writer escapes its input line by line, for programs and libraries that print by themselves. It is not safe
// for concurrent use; the owner calls Flush at the end.
type Writer struct {
	w       io.Writer
	e       Escaper
	pending []byte
}

// NewWriter returns a Writer to w, which it does not close.
func (e Escaper) NewWriter(w io.Writer) *Writer { return &Writer{w: w, e: e} }

// Write escapes the complete lines in p and keeps the rest for later. It
// reports all of p as written unless the underlying writer fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.pending = append(w.pending, p...)
	done := 0
	for {
		n := bytes.IndexByte(w.pending[done:], '\n')
		if n < 0 {
			break
		}
		line := bytes.TrimSuffix(w.pending[done:done+n], []byte("\r"))
		done += n + 1
		if err := w.emit(string(line), "\n", false); err != nil {
			return 0, err
		}
	}
	for len(w.pending)-done > maxPending {
		n := runeStart(string(w.pending[done:done+maxPending+1]), maxPending)
		if err := w.emit(string(w.pending[done:done+n]), "", true); err != nil {
			return 0, err
		}
		done += n
	}
	w.pending = append(w.pending[:0], w.pending[done:]...)
	return len(p), nil
}

// Flush writes the rest, a line without an end.
func (w *Writer) Flush() error {
	if len(w.pending) == 0 {
		return nil
	}
	line := string(w.pending)
	w.pending = w.pending[:0]
	return w.emit(line, "", false)
}

func (w *Writer) emit(line, end string, open bool) error {
	c := encoder{ascii: w.e.ASCII, quote: true, open: open, tab: w.e.tabStop()}
	_, err := io.WriteString(w.w, c.run(line)+end)
	return err
}
