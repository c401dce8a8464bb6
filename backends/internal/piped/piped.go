// Package piped makes a reader of a function that writes.
package piped

import (
	"context"
	"io"
)

// Reader reads what write writes. Closing it ends write's context and waits for write's return, so that nothing
// that write holds (a connection, a snapshot) outlives the reader. An error of write is the reader's.
func Reader(ctx context.Context, write func(ctx context.Context, w io.Writer) error) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	p := &reader{PipeReader: r, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = w.CloseWithError(write(ctx, w)) // never fails
	}()
	return p
}

type reader struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close ends the writer.
func (r *reader) Close() error {
	r.cancel()
	err := r.PipeReader.Close()
	<-r.done
	return err
}
