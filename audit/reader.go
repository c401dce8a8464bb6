package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
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
	slices.SortFunc(out, func(a, b part) int { return cmp.Compare(a.number, b.number) })
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
func (l *Log) firstRecord(p part) (Record, error) { return l.recordFrom(logOffset{p.name, 0}, 0) }

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
	off int64 // behind the line of the last call
	err error // of reading; nil at the end
}

func newForward(f io.ReaderAt, from, to int64) *forward {
	n := max(0, to-from)
	return &forward{r: bufio.NewReaderSize(io.NewSectionReader(f, from, n), int(min(n, chunk))), off: from}
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
	cut := raw[:min(len(raw), maxLine+1)]
	if errors.Is(err, bufio.ErrBufferFull) {
		cut = bytes.Clone(cut)
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		raw, err = s.r.ReadSlice('\n')
		s.off += int64(len(raw))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = bare(err)
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
		s.err = bare(err)
		return false
	}
	s.buf, s.off = append(bigger, s.buf...), s.off-n
	return true
}

// seek finds the first line with at least the given sequence in a file of ascending sequences; seqOf returns
// a line's, false when damaged.
func seek(f io.ReaderAt, size int64, seq uint64, seqOf func([]byte) (uint64, bool)) (int64, error) {
	// first is the offset and the sequence of the next readable line with at least least.
	first := func(s *forward, least uint64) (int64, uint64) {
		for {
			raw, at, ok := s.next()
			if !ok {
				return size, math.MaxUint64
			}
			if n, ok := seqOf(raw); ok && n >= least {
				return at, n
			}
		}
	}
	lo, hi := int64(0), size
	for hi-lo > chunk {
		mid := lo + (hi-lo)/2
		s := newForward(f, mid, hi)
		s.next() // the rest of a line that began before mid
		at, n := first(s, 0)
		if s.err != nil {
			return 0, s.err
		}
		if n >= seq {
			hi = mid
		} else {
			lo = at
		}
	}
	s := newForward(f, lo, size)
	at, _ := first(s, seq)
	return at, s.err
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
	found, err := l.find(parts, seq)
	if err != nil {
		return Record{}, err
	}
	r, err := found.record()
	if err == nil && r.Phase != PhaseIntent {
		err = fmt.Errorf("record %d is no intent", seq)
	}
	return r, err
}

// partOf is the newest segment that begins with a record or before it; the first one if none does.
func (l *Log) partOf(parts []part, seq uint64) int {
	for i := len(parts) - 1; i > 0; i-- {
		if first, err := l.firstRecord(parts[i]); err == nil && first.Seq <= seq {
			return i
		}
	}
	return 0
}

// find reads a record by its sequence.
func (l *Log) find(parts []part, seq uint64) (*line, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("there is no record %d", seq)
	}
	i := l.partOf(parts, seq)
	f, err := l.open(parts[i].name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	off, err := seek(f, l.sealed(parts, i), seq, recordSeq)
	if err != nil {
		return nil, fmt.Errorf("read segment: %w", err)
	}
	return readLine(f, off, seq)
}

// recordFrom reads the record at a known offset; seq is its number, 0 for any.
func (l *Log) recordFrom(p logOffset, seq uint64) (Record, error) {
	f, err := l.open(p.segment)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	found, err := readLine(f, p.off, seq)
	if err != nil {
		return Record{}, err
	}
	return found.record()
}

func readLine(f io.ReaderAt, off int64, seq uint64) (*line, error) {
	s := newForward(f, off, off+maxLine+1)
	raw, _, ok := s.next()
	if s.err != nil {
		return nil, fmt.Errorf("read segment: %w", s.err)
	}
	var found line
	err := errors.New("there is none")
	if ok {
		err = parseLine(raw, &found)
	}
	switch {
	case seq == 0 && err != nil:
		return nil, fmt.Errorf("first record of a segment: %w", err)
	case err != nil || seq != 0 && found.seq != seq:
		return nil, fmt.Errorf("there is no record %d", seq)
	}
	return &found, nil
}
