package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"memdesk/internal/atomicfile"
)

// state is the result of an inspection under the lock.
type state struct {
	head  head
	saved bool      // head equals head.json; false when a later record was adopted
	last  time.Time // time of the last record; zero when unknown
	torn  []byte    // bytes behind the last record that no finished append explains
}

// inspect compares the saved head with the files: identity, size and last record, then possible leftovers of
// a killed append behind them. Anything else is an alarm. It changes nothing, and its cost does not grow with
// the log.
func (l *Log) inspect() (state, error) {
	if l.alarm != "" {
		return state{}, tampered("%s", l.alarm)
	}
	info, err := l.fs.Lstat(l.dir)
	if err != nil {
		return state{}, fmt.Errorf("look at the audit directory: %w", bare(err))
	}
	if err := private(info); err != nil {
		return state{}, err
	}
	h, err := l.readHead()
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, tampered("head.json is gone")
	}
	if err != nil {
		return state{}, tampered("%w", err)
	}
	if h.Seq < l.seen.Seq || (h.Seq == l.seen.Seq && h.Hash != l.seen.Hash) {
		return state{}, tampered("the log went back from record %d to %d", l.seen.Seq, h.Seq)
	}
	st, err := l.compare(h)
	if err != nil {
		return state{}, err
	}
	if st.saved {
		l.seen = st.head
	}
	return st, nil
}

// compare checks the newest segment against h.
func (l *Log) compare(h head) (state, error) {
	f, size, err := l.openHead(h)
	if err != nil {
		return state{}, err
	}
	defer f.Close()
	return l.leftovers(f, h, size)
}

// leftovers compares the end of the head's segment with h, and what a killed append may have left behind it.
func (l *Log) leftovers(f atomicfile.File, h head, size int64) (st state, err error) {
	st = state{head: h, saved: true}
	if st.last, err = checkLast(f, h); err != nil {
		return state{}, err
	}
	next, err := l.adoptSegment(h)
	if err != nil || next != nil {
		if next != nil {
			return *next, nil
		}
		return state{}, err
	}
	rest, err := readRest(f, h.Size, size)
	if err != nil || len(rest) == 0 {
		return st, err
	}
	if l.group.distrusted() == h {
		st.torn = rest // its flush failed: it counts as unwritten even if it can be read
		return st, nil
	}
	err = st.adopt(rest)
	return st, err
}

// openHead opens the head's segment and checks that it is the same file.
func (l *Log) openHead(h head) (atomicfile.File, int64, error) {
	there, err := l.fs.Lstat(l.path(h.Segment))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, tampered("segment %s is gone", h.Segment)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("look at segment: %w", bare(err))
	}
	device, inode := identity(there)
	if !there.Mode().IsRegular() || inode != h.Inode || (h.Boot == l.base.Boot && device != h.Device) {
		return nil, 0, tampered("segment %s is another file than the one that was written (replaced, or restored from a copy)", h.Segment)
	}
	if there.Size() < h.Size {
		return nil, 0, tampered("segment %s was cut from %d to %d bytes", h.Segment, h.Size, there.Size())
	}
	f, err := l.fs.OpenFile(l.path(h.Segment), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("open segment: %w", bare(err))
	}
	mine, err := f.Stat()
	if err != nil || !os.SameFile(mine, there) {
		f.Close()
		return nil, 0, tampered("segment %s was replaced while it was opened", h.Segment)
	}
	return f, mine.Size(), nil
}

// checkLast recomputes the last record's hash.
func checkLast(f io.ReaderAt, h head) (time.Time, error) {
	if h.Size-h.Tail > maxLine+1 {
		return time.Time{}, tampered("head.json is damaged")
	}
	raw := make([]byte, h.Size-h.Tail)
	if _, err := f.ReadAt(raw, h.Tail); err != nil {
		return time.Time{}, fmt.Errorf("read the last record: %w", bare(err))
	}
	var last line
	body, ended := bytes.CutSuffix(raw, []byte{'\n'})
	if err := parseLine(body, &last); !ended || err != nil || last.seq != h.Seq || string(last.value(fHash)) != h.Hash || !last.intact() {
		return time.Time{}, tampered("the last record, %d, was changed", h.Seq)
	}
	r, err := last.record()
	if err != nil {
		return time.Time{}, tampered("the last record, %d, was changed", h.Seq)
	}
	return r.TS, nil
}

// readRest reads the bytes behind the head, at most as many as one append can write.
func readRest(f io.ReaderAt, from, to int64) ([]byte, error) {
	if to-from > maxBatch*(maxLine+1) {
		return nil, tampered("%d bytes stand behind the last record, more than one append can leave", to-from)
	}
	rest := make([]byte, to-from)
	if _, err := f.ReadAt(rest, from); err != nil {
		return nil, fmt.Errorf("read behind the last record: %w", bare(err))
	}
	return rest, nil
}

// adopt takes the whole records that a killed process wrote without saving the head, and marks the rest as
// torn. A whole record that does not continue the chain was written by somebody else.
func (st *state) adopt(rest []byte) error {
	for n := 0; len(rest) > 0; n++ {
		body, behind, ended := bytes.Cut(rest, []byte{'\n'})
		var l line
		if err := parseLine(body, &l); !ended || err != nil && len(behind) == 0 {
			st.torn = rest
			return nil
		} else if err != nil || n == maxBatch {
			return tampered("lines stand behind the last record that no append leaves")
		}
		if l.seq != st.head.Seq+1 || string(l.value(fPrev)) != st.head.Hash || !l.intact() {
			return tampered("a record stands behind the last one that does not continue it")
		}
		r, err := l.record()
		if err != nil {
			return tampered("a record stands behind the last one that does not continue it")
		}
		st.head.Seq, st.head.Hash = l.seq, string(l.value(fHash))
		st.head.Tail, st.head.Size = st.head.Size, st.head.Size+int64(len(body))+1
		st.saved, st.last = false, r.TS
		rest = behind
	}
	return nil
}

// adoptSegment takes the next segment, made by a process killed before it saved
// the head: it holds exactly the record that seals this one.
func (l *Log) adoptSegment(h head) (*state, error) {
	n, _ := segmentNumber(h.Segment)
	name := segment(n + 1)
	info, err := l.fs.Lstat(l.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at segment: %w", bare(err))
	}
	foreign := tampered("segment %s does not continue the log", name)
	raw, err := readFile(l.fs, l.path(name), maxLine+1)
	if err != nil || !info.Mode().IsRegular() {
		return nil, foreign
	}
	var first line
	body, ended := bytes.CutSuffix(raw, []byte{'\n'})
	if err := parseLine(body, &first); !ended || err != nil || !first.intact() {
		return nil, foreign
	}
	r, err := first.record()
	if err != nil || r.Seq != h.Seq+1 || r.Prev != h.Hash || r.Segment != h.Segment || r.Counts["bytes"] != h.Size {
		return nil, foreign
	}
	device, inode := identity(info)
	return &state{last: r.TS, head: head{
		Boot: l.base.Boot, Device: device, Inode: inode, Hash: r.Hash, Segment: name, Seq: r.Seq, Size: int64(len(raw)), V: version,
	}}, nil
}

// sealOf is the digest of the bytes that stay after the end of a sealed segment.
func sealOf(torn []byte) string {
	if len(torn) == 0 {
		return ""
	}
	sum := sha256.Sum256(torn)
	return hex.EncodeToString(sum[:])
}
