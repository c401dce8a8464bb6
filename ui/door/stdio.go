package door

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// process names the session of a caller over standard input, which has no session id.
var process = rand.Text()[:16]

const (
	// farewell bounds the wait for calls in flight at the end of a server.
	farewell = 10 * time.Second
	// lastWrite bounds one write at that end, to a client that may read no more.
	lastWrite = 3 * time.Second
	// unanswered is how many calls over stdio may wait for their answers before no more is read.
	unanswered = 5 * callsAtOnce
)

// Stdio serves the desk over a reader and a writer until ctx ends or the reader, which is no error: the calls
// that came before its end are still answered. It writes nothing but the protocol.
func (d *Desk) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ended, end := context.WithCancel(ctx)
	defer end()
	lines := &lineWriter{w: out, ended: ended.Done()}
	open := &asked{freed: make(chan struct{}, 1)}
	sound := &soundLines{in: bufio.NewReader(in), out: lines, asked: open, ended: ended.Done(), end: end}
	err := d.Server().Run(ctx, patient{&mcp.IOTransport{Reader: io.NopCloser(sound), Writer: lines, MaxLineLength: MaxRequest}, open})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// lineWriter writes the lines of the server and of soundLines one at a time. The writer's owner closes it.
type lineWriter struct {
	mu    sync.Mutex
	w     io.Writer
	ended <-chan struct{} // closed at the end of the context or of the input
	dead  bool            // given up
}

var errUnread = errors.New("the client does not read its answers")

// Write gives up at the end, where the client does not read. A write to a pipe cannot be interrupted, so its
// goroutine then ends with the process or with the pipe.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return 0, errUnread
	}
	done := make(chan error, 1)
	own := bytes.Clone(p) // the caller may use p again after a write that was given up
	go func() {
		_, err := l.w.Write(own)
		done <- err
	}()
	select {
	case err := <-done:
		return len(p), err
	case <-l.ended:
	}
	select {
	case err := <-done:
		return len(p), err
	case <-time.After(lastWrite):
		l.dead = true
		return 0, errUnread
	}
}

func (*lineWriter) Close() error { return nil }

// soundLines passes on the lines that hold a message. It answers others by itself, where the library would
// end the session, and with it the calls of everybody who shares it.
type soundLines struct {
	in    *bufio.Reader
	out   io.Writer
	asked *asked
	ended <-chan struct{}
	end   func()
	rest  []byte // of the line that is passed on
}

func (s *soundLines) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		for s.asked.waiting() >= unanswered { // the pipe then holds up a client that does not read
			select {
			case <-s.asked.freed:
			case <-s.ended:
				return 0, io.EOF
			}
		}
		line, long, err := s.line()
		if err != nil {
			s.end()
		}
		all, answer := messages(line)
		switch {
		case long:
			answer = s.asked.longAnswer(line)
		case answer == noJSON: // a part of a message that was written over several lines
			answer = noLine
		case answer == "" && !s.asked.add(all):
			answer = sameID
		}
		if answer != "" {
			line = nil
			if _, err := io.WriteString(s.out, answer+"\n"); err != nil {
				return 0, err
			}
		}
		if s.rest = line; len(line) == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// line is the next line. One that is longer than the library takes is read to its end, and only its head is kept.
func (s *soundLines) line() (line []byte, long bool, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxRequest; long {
			line = line[:min(len(line), maxHead)]
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// patient is a transport that answers the calls that came before the end of its input. The library cancels
// them there, perhaps in the middle of a write.
type patient struct {
	mcp.Transport
	asked *asked
}

func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &patientConn{Connection: c, asked: p.asked, closed: make(chan struct{})}, err
}

type patientConn struct {
	mcp.Connection
	asked  *asked
	closed chan struct{}
	once   sync.Once
}

// Read holds its error back until the calls are answered.
func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err == nil {
		return msg, nil
	}
	limit := time.NewTimer(farewell)
	defer limit.Stop()
	for c.asked.waiting() > 0 {
		select {
		case <-c.asked.freed:
		case <-ctx.Done():
			return msg, err
		case <-c.closed:
			return msg, err
		case <-limit.C:
			return msg, err
		}
	}
	return msg, err
}

// Write notes an answer.
func (c *patientConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if r, ok := msg.(*jsonrpc.Response); ok {
		c.asked.answered(r.ID)
	}
	return err
}

// Close ends the wait too.
func (c *patientConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
