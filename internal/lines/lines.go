// Package lines writes standard output in whole lines, so that no diagnostic splits a line of data where
// standard error is the same file.
package lines

import (
	"bytes"
	"io"
	"sync"
)

// lineBuffer is the number of bytes kept before whole lines are written.
const lineBuffer = 64 << 10

// Writer buffers an output and writes whole lines only.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
	err error // the first failure; nothing is written after it
}

// Write keeps p, and writes the lines that are whole when there are many.
func (l *Writer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if len(l.buf) >= lineBuffer {
		l.flush(bytes.LastIndexByte(l.buf, '\n') + 1)
	}
	if l.err != nil {
		return 0, l.err
	}
	return len(p), nil
}

// WriteString is Write.
func (l *Writer) WriteString(s string) (int, error) { return l.Write([]byte(s)) }

// WriteByte is Write of one byte.
func (l *Writer) WriteByte(c byte) error {
	_, err := l.Write([]byte{c})
	return err
}

// Fail keeps the first error of the output.
func (l *Writer) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// Err is the first error of the output.
func (l *Writer) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Flush writes everything.
func (l *Writer) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush(len(l.buf))
	return l.err
}

// flush writes the first n bytes. The caller holds mu.
func (l *Writer) flush(n int) {
	if n == 0 || l.err != nil {
		return
	}
	_, l.err = l.w.Write(l.buf[:n])
	l.buf = append(l.buf[:0], l.buf[n:]...)
}

// New returns a writer to out, and one to talk, which writes at once, after the whole lines of data that came
// before.
func New(out, talk io.Writer) (*Writer, io.Writer) {
	data := &Writer{w: out}
	return data, after{data, talk}
}

// after is talk that waits for data.
type after struct {
	data *Writer
	w    io.Writer
}

// Write is one write.
func (t after) Write(p []byte) (int, error) {
	t.data.mu.Lock()
	defer t.data.mu.Unlock()
	t.data.flush(bytes.LastIndexByte(t.data.buf, '\n') + 1)
	return t.w.Write(p)
}
