package gdpr

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// linesNaming returns the lines that name the subject, also where a name continues on the next line.
func linesNaming(m *subject.Matcher, body string) string {
	var b strings.Builder
	naming(m, body, 0, len(body), func(start, end int) { b.WriteString(body[start:end]) })
	return b.String()
}

// naming calls each with the stretches of lines that name the subject and begin before to; stretches that end
// before from were given already. It returns the end of the last one.
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

// Sizes for a file that is read once: a piece is searched at a time, and its end again with the next piece,
// because a name can cross the border.
const (
	pieceSize = 1 << 20
	pieceLap  = 64 << 10
)

// namingLines reads the lines of a text that name the subject.
type namingLines struct {
	m     *subject.Matcher
	in    io.Reader
	buf   []byte
	from  int // offset in buf: given up to here
	ready bytes.Buffer
	left  bool // a line that is not blank was left out
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

// next searches one piece.
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
	if !n.ended { // the last lines are searched with the next piece
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
