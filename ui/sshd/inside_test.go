package sshd_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// inside is a network inside the process: on synthetic time, only what happens in the process counts. A pipe of package
// net will not do, since both sides of SSH write before they read.
type inside struct {
	dialed chan net.Conn
	closed chan struct{}
	end    func()
}

func newInside() *inside {
	closed := make(chan struct{})
	return &inside{make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) })}
}

func (l *inside) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *inside) Close() error {
	l.end()
	return nil
}

func (*inside) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 22} }

func (l *inside) dial() (net.Conn, error) {
	there, back := newStream(), newStream()
	select {
	case l.dialed <- insideConn{there, back}:
		return insideConn{back, there}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// insideConn is one side of a connection.
type insideConn struct{ in, out *stream }

func (c insideConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c insideConn) Write(p []byte) (int, error) { return c.out.write(p) }

func (c insideConn) Close() error {
	c.in.close()
	c.out.close()
	return nil
}

func (insideConn) LocalAddr() net.Addr              { return (*inside)(nil).Addr() }
func (insideConn) RemoteAddr() net.Addr             { return (*inside)(nil).Addr() }
func (insideConn) SetDeadline(time.Time) error      { return nil }
func (insideConn) SetReadDeadline(time.Time) error  { return nil }
func (insideConn) SetWriteDeadline(time.Time) error { return nil }

// stream is one direction, with room for whatever is written.
type stream struct {
	mu     sync.Mutex
	grown  *sync.Cond
	buf    bytes.Buffer
	closed bool
}

func newStream() *stream {
	s := &stream{}
	s.grown = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.buf.Len() == 0 {
		if s.closed {
			return 0, io.EOF
		}
		s.grown.Wait()
	}
	return s.buf.Read(p)
}

func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	s.grown.Broadcast()
	return s.buf.Write(p)
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.grown.Broadcast()
}
