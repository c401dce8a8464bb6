package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"memdesk/internal/atomicfile"
)

// chunk is the read size for segments.
const chunk = 256 << 10

// part is one segment in a reader's snapshot.
type part struct {
	name   string
	number uint64
	size   int64

	inode   uint64
	changed int64 // changeTime
}

// parts lists the segments in order, under a shared lock; nil when there is no log.
func (l *Log) parts(ctx context.Context) ([]part, error) {
	unlock, err := l.lock(ctx, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return l.listParts()
}

func (l *Log) listParts() ([]part, error) {
	entries, err := l.fs.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the audit directory: %w", bare(err))
	}
	gone, _ := l.readRetired() // a damaged file hides nothing, and Verify reports it
	var out []part
	for _, e := range entries {
		n, ok := segmentNumber(e.Name())
		if !ok || n <= gone.Segment { // left by a process that was killed while removing retired segments
			continue
		}
		info, err := l.fs.Lstat(l.path(e.Name()))
		if err != nil {
			return nil, fmt.Errorf("look at segment: %w", bare(err))
		}
		if !info.Mode().IsRegular() {
			return nil, tampered("segment %s is not a file", e.Name())
		}
		_, inode := identity(info)
		out = append(out, part{name: e.Name(), number: n, size: info.Size(), inode: inode, changed: changeTime(info)})
	}
	slices.SortStableFunc(out, func(a, b part) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	return out, nil
}

// open opens a segment for reading.
func (l *Log) open(name string) (atomicfile.File, error) {
	f, err := l.fs.OpenFile(l.path(name), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", bare(err))
	}
	return f, nil
}

// firstRecord decodes a segment's first record.
func (l *Log) firstRecord(p part) (Record, error) {
	f, err := l.open(p.name)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	raw, _, ok := newForward(f, 0, p.size).next()
	if !ok {
		return Record{}, errors.New("segment has no first record")
	}
	var first line
	if err := parseLine(raw, &first); err != nil {
		return Record{}, err
	}
	return first.record()
}

// sealed is the size of the records in segment i, from its seal where there is one, so that bytes set aside
// after them are not shown as records.
func (l *Log) sealed(parts []part, i int) int64 {
	if i+1 < len(parts) {
		if r, err := l.firstRecord(parts[i+1]); err == nil && r.Segment == parts[i].name && r.Counts["bytes"] <= parts[i].size {
			return max(0, r.Counts["bytes"])
		}
	}
	return parts[i].size
}

// forward reads whole lines from an offset on; the slice is valid until the next call.
type forward struct {
	r   *bufio.Reader
	off int64
}

func newForward(f io.ReaderAt, from, to int64) *forward {
	return &forward{r: bufio.NewReaderSize(io.NewSectionReader(f, from, max(0, to-from)), chunk), off: from}
}

// next returns a line without its newline, and its offset; a piece without a newline at the end is no line.
// An over-long line is truncated, and so unparseable.
func (s *forward) next() (raw []byte, at int64, ok bool) {
	at = s.off
	raw, err := s.r.ReadSlice('\n')
	s.off += int64(len(raw))
	if err == nil {
		return raw[:len(raw)-1], at, true
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return nil, at, false
	}
	cut := bytes.Clone(raw[:maxLine+1])
	for errors.Is(err, bufio.ErrBufferFull) {
		raw, err = s.r.ReadSlice('\n')
		s.off += int64(len(raw))
	}
	return cut, at, err == nil
}

// backward reads whole lines from an offset towards the start.
type backward struct {
	f   io.ReaderAt
	buf []byte // the bytes [off, off+len(buf)), ending behind a newline
	off int64
	err error
}

func newBackward(f io.ReaderAt, to int64) *backward { return &backward{f: f, off: to} }

// next returns the previous line, without its newline; bytes after the last newline are no line.
func (s *backward) next() (raw []byte, at int64, ok bool) {
	for {
		body := bytes.TrimSuffix(s.buf, []byte{'\n'})
		if len(body) < len(s.buf) {
			if i := bytes.LastIndexByte(body, '\n'); i >= 0 || s.off == 0 {
				raw, s.buf = body[i+1:], s.buf[:i+1]
				return raw, s.off + int64(i) + 1, true
			}
		} else if i := bytes.LastIndexByte(s.buf, '\n'); i >= 0 {
			s.buf = s.buf[:i+1]
			continue
		}
		if s.off == 0 || !s.grow() {
			return nil, 0, false
		}
	}
}

// grow reads the previous chunk.
func (s *backward) grow() bool {
	n := min(s.off, chunk)
	bigger := make([]byte, n, int(n)+len(s.buf))
	if _, err := s.f.ReadAt(bigger, s.off-n); err != nil && !errors.Is(err, io.EOF) {
		s.err = fmt.Errorf("read segment: %w", bare(err))
		return false
	}
	s.buf, s.off = append(bigger, s.buf...), s.off-n
	return true
}

// seek finds the first line with at least the given sequence in a file of ascending sequences; seqOf returns
// a line's, false when damaged.
func seek(f io.ReaderAt, size int64, seq uint64, seqOf func([]byte) (uint64, bool)) int64 {
	lo, hi := int64(0), size
	for hi-lo > chunk {
		mid := lo + (hi-lo)/2
		s := newForward(f, mid, hi)
		s.next() // the rest of a line that began before mid
		at, behind, found := firstReadable(s, seq, seqOf)
		switch {
		case !found:
			hi = mid
		case behind:
			hi = mid
		default:
			lo = at
		}
	}
	s := newForward(f, lo, size)
	for {
		raw, at, ok := s.next()
		if !ok {
			return size
		}
		if n, ok := seqOf(raw); ok && n >= seq {
			return at
		}
	}
}

// firstReadable finds the next line with a sequence, and reports whether that is seq or more.
func firstReadable(s *forward, seq uint64, seqOf func([]byte) (uint64, bool)) (at int64, behind, found bool) {
	for {
		raw, at, ok := s.next()
		if !ok {
			return 0, false, false
		}
		if n, ok := seqOf(raw); ok {
			return at, n >= seq, true
		}
	}
}

func recordSeq(raw []byte) (uint64, bool) {
	var l line
	if parseLine(raw, &l) != nil {
		return 0, false
	}
	return l.seq, true
}

// intent reads the record of an intent, for an outcome that links to it.
func (l *Log) intent(seq uint64) (Record, error) {
	if r, ok := l.intents.get(seq); ok {
		return r, nil
	}
	parts, err := l.listParts()
	if err != nil {
		return Record{}, err
	}
	for i := len(parts) - 1; i >= 0; i-- {
		first, err := l.firstRecord(parts[i])
		if err != nil || first.Seq > seq {
			continue
		}
		r, err := l.recordAt(parts[i].name, l.sealed(parts, i), seq)
		if err != nil {
			return Record{}, err
		}
		if r.Phase != PhaseIntent {
			return Record{}, fmt.Errorf("record %d is no intent", seq)
		}
		return r, nil
	}
	return Record{}, fmt.Errorf("there is no record %d", seq)
}

// recordAt finds a record by its sequence in one segment.
func (l *Log) recordAt(name string, size int64, seq uint64) (Record, error) {
	f, err := l.open(name)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	return readRecord(f, seek(f, size, seq, recordSeq), seq)
}

// recordFrom reads the record at a known offset.
func (l *Log) recordFrom(p logOffset, seq uint64) (Record, error) {
	f, err := l.open(p.segment)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	return readRecord(f, p.off, seq)
}

func readRecord(f io.ReaderAt, off int64, seq uint64) (Record, error) {
	raw, _, ok := newForward(f, off, off+maxLine+1).next()
	var found line
	if !ok || parseLine(raw, &found) != nil || found.seq != seq {
		return Record{}, fmt.Errorf("there is no record %d", seq)
	}
	return found.record()
}
