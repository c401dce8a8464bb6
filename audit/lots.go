package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/mod/sumdb/tlog"
)

// checked is a line whose own bytes were checked; its link to the line before is still to be compared.
type checked struct {
	line
	at     int64 // offset in the segment
	err    error // it is no record
	intact bool  // its hash fits its bytes
	leaf   tlog.Hash
}

// lot is a number of whole lines of a segment.
type lot struct {
	buf   []byte
	at    int64 // offset of buf in the segment
	lines []checked
	cut   bool // the segment ends with bytes without a newline
	ready chan struct{}
}

// lots reads a segment's lines ahead and has them parsed and hashed on every processor, because hashing is
// most of a verification.
type lots struct {
	f         io.ReaderAt
	at, limit int64
	leaves    bool
	ahead     []*lot
	spare     *lot // for reuse
}

func newLots(f io.ReaderAt, limit int64, leaves bool) *lots {
	return &lots{f: f, limit: limit, leaves: leaves}
}

// next returns the lots in order, nil at the end. A lot is valid until the next call.
func (s *lots) next() (*lot, error) {
	for len(s.ahead) < 2*runtime.GOMAXPROCS(0) && s.at < s.limit {
		l, err := s.read()
		if err != nil {
			return nil, err
		}
		s.ahead = append(s.ahead, l)
		go l.check(s.leaves)
	}
	if len(s.ahead) == 0 {
		return nil, nil
	}
	l := s.ahead[0]
	s.ahead, s.spare = s.ahead[1:], l
	<-l.ready
	return l, nil
}

// wait waits for the work begun ahead.
func (s *lots) wait() {
	for _, l := range s.ahead {
		<-l.ready
	}
}

// read takes the next whole lines. A line longer than a chunk is no record; its beginning is returned.
func (s *lots) read() (*lot, error) {
	l := s.spare
	s.spare = nil
	if l == nil {
		l = &lot{buf: make([]byte, chunk)}
	}
	l.at, l.lines, l.cut, l.ready = s.at, l.lines[:0], false, make(chan struct{})
	l.buf = l.buf[:min(chunk, s.limit-s.at)]
	n, err := s.f.ReadAt(l.buf, s.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read segment: %w", bare(err))
	}
	last := s.at+int64(n) == s.limit || n < len(l.buf)
	l.buf = l.buf[:n]
	end := bytes.LastIndexByte(l.buf, '\n') + 1
	switch {
	case last:
		l.cut = s.at+int64(end) < s.limit
		s.at = s.limit
	case end == 0: // of one line that continues
		end, l.buf[n-1] = n, '\n'
		s.at = s.limit
	default:
		s.at += int64(end)
	}
	l.buf = l.buf[:end]
	return l, nil
}

// check parses and hashes the lines, up to the first that is no record: after it nothing is compared.
func (l *lot) check(leaves bool) {
	defer close(l.ready)
	var scratch []byte
	for at := 0; at < len(l.buf); {
		n := bytes.IndexByte(l.buf[at:], '\n')
		l.lines = append(l.lines, checked{at: l.at + int64(at)})
		c := &l.lines[len(l.lines)-1]
		if c.err = parseLine(l.buf[at:at+n], &c.line); c.err != nil {
			return
		}
		var sum [2 * sha256.Size]byte
		sum, scratch = c.digest(scratch)
		c.intact = string(sum[:]) == string(c.value(fHash))
		if leaves {
			scratch = append(append(scratch[:0], 0), c.raw...)
			c.leaf = sha256.Sum256(scratch)
		}
		at += n + 1
	}
}
