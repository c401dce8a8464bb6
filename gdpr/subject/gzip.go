package subject

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"memdesk/model"
)

// maxNested is how deep compressed files may stand inside one another, and
// maxExpanded, in bytes, how much may come out of one: more is an error, never a
// clean medium.
const (
	maxNested   = 3
	maxExpanded = 16 << 30
)

// gzipHead is the shortest head of a gzip file (RFC 1952, 2.3).
const gzipHead = 10

// compressed reports whether bytes begin as those of gzip do.
func compressed(head []byte) bool {
	return len(head) >= gzipHead && bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}) && head[3]&0xe0 == 0
}

// scanNested scans a medium, or what comes out of it where it is compressed. Its
// memory does not grow with either.
func (m *Matcher) scanNested(ctx context.Context, r io.Reader, friends *Friends, depth int) (Report, error) {
	b := bufio.NewReaderSize(r, 64)
	head, err := b.Peek(gzipHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return Report{First: -1, By: map[Method]int64{}}, unread()
	}
	if !compressed(head) {
		return m.scanBare(ctx, b, friends)
	}
	broken := model.E(model.Internal, "scan", errors.New("what is compressed could not be read to the end"))
	if depth == 0 {
		return Report{First: -1, By: map[Method]int64{}}, model.E(model.Internal, "scan", errors.New("too many compressed files stand inside one another"))
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return Report{First: -1, By: map[Method]int64{}}, broken
	}
	named := m.Names(z.Name) || m.Names(z.Comment)
	limited := &io.LimitedReader{R: strictly{z}, N: maxExpanded}
	rep, err := m.scanNested(ctx, limited, friends, depth-1)
	if named {
		rep.add(Exact, 0)
	}
	switch {
	case err != nil && ctx.Err() == nil:
		return rep, broken
	case err == nil && limited.N <= 0:
		return rep, model.E(model.Internal, "scan", errors.New("more than 16 GiB come out of it"))
	}
	return rep, err
}

// strictly tells the end of what was compressed from an end too soon.
type strictly struct{ r io.Reader }

func (s strictly) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF { // io.EOF itself is the end
		err = errBroken
	}
	return n, err
}

var errBroken = errors.New("it is broken")
