package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
	"memdesk/internal/atomicfile"
)

// checkEvery is how long one check of the whole chain covers the acts of a process.
const checkEvery = time.Minute

// Mark is a statement outside the log about its length: the receipt of an erasure. It reveals the loss of the
// records up to it.
type Mark struct {
	What string // "the receipt of request …"; names no person
	Seq  uint64 // of the newest record at that time
	Hash string // of that record
	At   time.Time
}

// sound refuses to continue a chain that does not verify, until somebody acknowledges it. Sealed segments
// that were intact before, and whose file has not changed since according to the system, are not read again.
func (l *Log) sound(ctx context.Context) error {
	if l.alarm != "" {
		return tampered("%s", l.alarm)
	}
	if !l.checked.IsZero() && time.Since(l.checked) < checkEvery {
		return nil
	}
	parts, perr := l.listParts()
	h, herr := l.readHead()
	if b := l.broken; b.reason != "" && time.Since(b.at) < checkEvery && perr == nil && herr == nil && h == b.head && slices.Equal(b.parts, parts) {
		return tampered("%s", b.reason)
	}
	w := walker{log: l, prev: genesis, known: l.readKnown()}
	rep, err := w.walk(ctx)
	if err != nil {
		return err
	}
	if !rep.OK && !rep.Acknowledged {
		l.broken = verdict{rep.Reason, time.Now(), h, parts}
		return tampered("%s", rep.Reason)
	}
	l.broken, l.checked, l.whole = verdict{}, time.Now(), w.whole
	return nil
}

// verdict is the break that a check found. It holds as long as a sound one, while neither head nor segments change:
// an acknowledgement starts a new segment.
type verdict struct {
	reason string
	at     time.Time
	head   head // before the check
	parts  []part
}

// trace says what proves that there was a log, where there is none; empty for nothing. The mark of its
// beginning is beside the directory; the log's owner knows of traces that changes leave.
func (l *Log) trace() string {
	if _, err := l.fs.Lstat(l.begunFile()); err == nil {
		return filepath.Base(l.begunFile()) + " says that it was begun"
	}
	for _, a := range l.anchors {
		if a.Kind != "file" {
			continue
		}
		if b, err := readTail(l.fs, a.Path, newestClaims); err == nil && len(checkpoint.Split(b)) > 0 {
			return a.Name() + " holds checkpoints"
		}
	}
	if l.traces == nil {
		return ""
	}
	return l.traces()
}

func (l *Log) begunFile() string { return l.dir + ".begun" }

// markBegun makes the mark that there is a log, unless it exists.
func (l *Log) markBegun() error {
	if l.marked {
		return nil
	}
	_, err := l.fs.Lstat(l.begunFile())
	if errors.Is(err, fs.ErrNotExist) {
		err = l.makeBegun()
	}
	if err != nil {
		return fmt.Errorf("mark the beginning of the log: %w", bare(err))
	}
	l.marked = true
	return nil
}

// makeBegun makes the empty file in one step: its existence is all that it says.
func (l *Log) makeBegun() error {
	f, err := l.fs.OpenFile(l.begunFile(), os.O_WRONLY|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return l.fs.SyncDir(filepath.Dir(l.dir))
}

// absent reports whether there is no log: no directory, or an empty one.
func (l *Log) absent() (bool, error) {
	info, err := l.fs.Lstat(l.dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the audit directory: %w", bare(err))
	}
	if !info.IsDir() {
		return false, nil
	}
	return l.isEmpty()
}

// errGone is the alarm for a missing log.
func errGone(why string) error { return tampered("the audit log is gone: %s", why) }

// knownFile lists the sealed segments that were intact. It only saves time: Verify never reads it, and a file
// that differs in any way is read again.
const knownFile = "known.json"

// known is a sealed segment that was intact.
type known struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	Inode   uint64 `json:"inode"`
	Changed int64  `json:"changed"` // the file's change time, in nanoseconds
	First   uint64 `json:"first"`   // sequence before its first record
	From    string `json:"from"`    // hash before its first record
	Seq     uint64 `json:"seq"`     // of its last record
	Hash    string `json:"hash"`    // of that record
	// Noted is the time of the last acknowledgement up to its end.
	Noted time.Time `json:"noted,omitzero"`
	// Origin is the tree of Roots: the complete subtrees over its leaves up to the segment's end, the largest
	// first. Ended are the trees that records up to there end.
	Origin string      `json:"origin,omitempty"`
	Roots  []tlog.Hash `json:"roots,omitempty"`
	Ended  []string    `json:"ended,omitempty"`
	// Retires are the last records of removed segments, according to the records up to this segment's end.
	Retires []uint64 `json:"retires,omitempty"`
}

// settled is the age from which a change time is unique to one change.
const settled = time.Second

func (l *Log) readKnown() map[string]known {
	b, err := readFile(l.fs, l.path(knownFile), 1<<20)
	if err != nil {
		return nil
	}
	var all []known
	if json.Unmarshal(b, &all) != nil {
		return nil
	}
	out := map[string]known{}
	for _, k := range all {
		out[k.Name] = k
	}
	return out
}

// saveKnown saves the result of the last check; the log is locked. It only saves time, so a failure has no
// consequence.
func (l *Log) saveKnown() {
	if len(l.whole) == 0 {
		return
	}
	if b, err := json.Marshal(l.whole); err == nil {
		_ = atomicfile.WriteFS(l.fs, l.path(knownFile), b, atomicfile.Options{})
	}
	l.whole = nil
}

// skip takes a known segment without reading it; false when it must be read.
func (w *walker) skip(i int) bool {
	k, ok := w.known[w.parts[i].name]
	p := w.parts[i]
	if !ok || i == len(w.parts)-1 || w.rep.Reason != "" || p.size != k.Size || p.changed != k.Changed || p.inode != k.Inode ||
		k.First != w.seq || k.From != w.prev || w.wants(k.First, k.Seq) || !w.tree.skip(k) {
		return false
	}
	w.rep.Events += k.Seq - k.First
	w.seq, w.prev, w.noted, w.retires = k.Seq, k.Hash, k.Noted, k.Retires
	w.whole = append(w.whole, k)
	return true
}

// wants reports whether a mark names one of these records: then they must be read.
func (w *walker) wants(after, last uint64) bool {
	i := w.firstMark(after + 1)
	return i < len(w.marks) && w.marks[i].Seq <= last
}

// firstMark is the place of the first mark that names this record or a later one; the marks are in their order.
func (w *walker) firstMark(seq uint64) int {
	i, _ := slices.BinarySearchFunc(w.marks, seq, func(m Mark, seq uint64) int { return cmp.Compare(m.Seq, seq) })
	return i
}

// keep remembers a sealed segment that was read to its end without a break.
func (w *walker) keep(i int, first uint64, from string) {
	p := w.parts[i]
	if i == len(w.parts)-1 || w.rep.Reason != "" || p.changed == 0 || time.Since(time.Unix(0, p.changed)) < settled {
		return
	}
	k := known{Name: p.name, Size: p.size, Inode: p.inode, Changed: p.changed, First: first, From: from, Seq: w.seq, Hash: w.prev, Noted: w.noted, Retires: slices.Clone(w.retires)}
	w.tree.keep(&k)
	w.whole = append(w.whole, k)
	w.fresh = true
}

// marked compares one record with the marks outside the log. A mark older than an acknowledgement before the
// record belongs to a log that is gone.
func (w *walker) marked(seq uint64, hash string) {
	for i := w.firstMark(seq); i < len(w.marks) && w.marks[i].Seq == seq; i++ {
		if m := &w.marks[i]; m.Hash != hash && m.At.After(w.noted) {
			w.bad("record %d is another one than %s names", seq, m.What)
			m.At = time.Time{} // reported once
		}
	}
}

// behindMarks looks for marks beyond the end of the log. A mark older than the last acknowledgement was
// covered by it.
func (w *walker) behindMarks() {
	for _, m := range w.marks {
		if m.Seq > w.seq && m.At.After(w.noted) {
			w.bad("the log ends with record %d, %s was made at record %d", w.seq, m.What, m.Seq)
		}
	}
}

// Head returns the newest record's sequence and hash, for a file outside the log that must prove the log's
// length. Zero before the first record.
func (l *Log) Head(ctx context.Context) (uint64, string, error) {
	if none, err := l.absent(); err != nil || none {
		return 0, "", err
	}
	unlock, err := l.lock(ctx, false)
	if err != nil {
		return 0, "", err
	}
	defer unlock()
	h, err := l.readHead()
	if errors.Is(err, os.ErrNotExist) {
		return 0, "", nil
	}
	return h.Seq, h.Hash, err
}
