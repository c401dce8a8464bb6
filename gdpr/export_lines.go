package gdpr

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// linesNaming gives the lines in which the person is named, also where a name goes
// from one line on to the next.
func linesNaming(m *subject.Matcher, body string) string {
	var b strings.Builder
	naming(m, body, 0, len(body), func(start, end int) { b.WriteString(body[start:end]) })
	return b.String()
}

// naming calls each with the stretches of lines that name the person, as far as they
// begin before to; what ends before from was given already. It returns where the last
// one ended.
func naming(m *subject.Matcher, body string, from, to int, each func(start, end int)) (end int) {
	end = from
	for _, h := range m.Text(body) {
		if h.Start >= to {
			break
		}
		start := max(strings.LastIndexByte(body[:h.Start], '\n')+1, end)
		stop := len(body)
		if i := strings.IndexByte(body[max(h.End-1, h.Start):], '\n'); i >= 0 {
			stop = max(h.End-1, h.Start) + i + 1
		}
		if stop > start {
			each(start, stop)
			end = stop
		}
	}
	return end
}

// pieces of a file that is read once: as much is looked at together, and so much of its
// end again with what follows, because a name can go over it.
const (
	pieceSize = 1 << 20
	pieceLap  = 64 << 10
)

// namingLines reads the lines of a text in which the person is named.
type namingLines struct {
	m     *subject.Matcher
	in    io.Reader
	buf   []byte
	from  int // of buf: what was given already
	ready bytes.Buffer
	left  bool // something that is not blank was left out
	ended bool
}

func newNamingLines(m *subject.Matcher, in io.Reader) *namingLines { return &namingLines{m: m, in: in} }

func (n *namingLines) Read(p []byte) (int, error) {
	for n.ready.Len() == 0 {
		if n.ended {
			return 0, io.EOF
		}
		if err := n.next(); err != nil {
			return 0, err
		}
	}
	return n.ready.Read(p)
}

// next looks at one piece.
func (n *namingLines) next() error {
	had := len(n.buf)
	if cap(n.buf) == 0 {
		n.buf = make([]byte, 0, pieceSize+pieceLap)
	}
	n.buf = n.buf[:cap(n.buf)]
	k, err := io.ReadFull(n.in, n.buf[had:])
	n.buf = n.buf[:had+k]
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		n.ended = true
	case err != nil:
		return model.E(model.Unavailable, "gdpr-export", errors.New("a file could not be read to the end"))
	}
	to := len(n.buf)
	if !n.ended { // the last lines are looked at with what follows
		to = len(n.buf) - pieceLap
		if i := bytes.LastIndexByte(n.buf[:to], '\n'); i >= 0 {
			to = i + 1
		}
	}
	body, at := string(n.buf), n.from
	end := naming(n.m, body, n.from, to, func(start, stop int) {
		n.skipped(body[at:start])
		at = stop
		n.ready.WriteString(body[start:stop])
	})
	if to > at {
		n.skipped(body[at:to])
	}
	n.from = max(end-to, 0)
	n.buf = append(n.buf[:0], n.buf[to:]...)
	return nil
}

func (n *namingLines) skipped(text string) { n.left = n.left || strings.TrimSpace(text) != "" }
