package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
)

const retiredFile = "retired.json"

// retired is where the kept part of the log begins. It is no proof: a record of the log names the same end,
// and the checkpoints fit only when the roots are those of the removed records.
type retired struct {
	Segment uint64      `json:"segment"` // the last one that was removed
	Seq     uint64      `json:"seq"`     // of the segment's last record
	Hash    string      `json:"hash"`    // of that record
	Origin  string      `json:"origin"`
	Size    int64       `json:"size"` // leaves of the tree up to Seq
	Roots   []tlog.Hash `json:"roots"`
}

// readRetired returns zero when nothing was retired.
func (l *Log) readRetired() (retired, error) {
	var r retired
	b, err := readFile(l.fs, l.path(retiredFile), maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if json.Unmarshal(b, &r) != nil || r.Segment == 0 || r.Seq == 0 || !isDigest([]byte(r.Hash)) {
		return retired{}, tampered("retired.json is damaged")
	}
	f := checkpoint.Frontier{Size: r.Size, Roots: r.Roots}
	if !f.Whole() {
		return retired{}, tampered("retired.json is damaged")
	}
	return r, nil
}

// Retire removes the sealed segments whose records are all older than a moment, and the clear names of their
// records. A record under a checkpoint lists them; the tree's hashes stay, so every proof and every anchored
// checkpoint still holds. Records that an anchor's checkpoint does not cover, and acts without an outcome,
// stay. It returns the number of removed records.
func (l *Log) Retire(ctx context.Context, before time.Time) (records int64, err error) {
	anchored, err := l.anchoredSeq(ctx)
	if err != nil {
		return 0, err
	}
	open, err := l.OpenIntents(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range open {
		anchored = min(anchored, r.Seq-1)
	}
	l.mu.Lock()
	last, seq, err := l.retire(ctx, before, anchored)
	l.mu.Unlock()
	if err != nil {
		return 0, fmt.Errorf("retire segments: %w", refuse(err))
	}
	if _, err := l.Checkpoint(ctx); err != nil {
		return 0, err
	}
	// Also those of a retirement that was killed before it came to them.
	if _, err := l.eraseRows(ctx, func(n nameRow) bool { return n.Seq <= seq }); err != nil {
		return 0, err
	}
	return int64(seq - last), nil
}

// anchoredSeq is the last record that the log's own checkpoint and those of all anchors cover.
func (l *Log) anchoredSeq(ctx context.Context) (uint64, error) {
	if _, err := l.Checkpoint(ctx); err != nil {
		return 0, err
	}
	if err := l.Push(ctx, true); err != nil {
		return 0, fmt.Errorf("an anchor has not got the newest checkpoint: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t, h, err := l.signedTree()
	if err != nil {
		return 0, err
	}
	return t.seq(h.Size), nil
}

// retire returns the last retired record of before and of now.
func (l *Log) retire(ctx context.Context, before time.Time, until uint64) (last, seq uint64, err error) {
	l.checked = time.Time{} // check the chain again before a removal
	if err := l.sound(ctx); err != nil {
		return 0, 0, err
	}
	st, unlock, err := l.hold(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	was, err := l.readRetired()
	if err != nil {
		return 0, 0, err
	}
	parts, err := l.listParts()
	if err != nil {
		return 0, 0, err
	}
	r := was
	for i := 0; i+1 < len(parts); i++ {
		next, err := l.firstRecord(parts[i+1])
		if err != nil {
			return 0, 0, err
		}
		if !next.TS.Before(before) || next.Seq-1 > until {
			break
		}
		r.Segment, r.Seq, r.Hash = parts[i].number, next.Seq-1, next.Prev
	}
	if r.Seq > was.Seq {
		if err := l.noteRetired(st, &r, was.Seq); err != nil {
			return 0, 0, err
		}
	}
	return was.Seq, r.Seq, l.removeRetired(r.Segment)
}

// noteRetired records a retirement before its segments go.
func (l *Log) noteRetired(st state, r *retired, last uint64) error {
	if err := l.rootsOf(r); err != nil {
		return err
	}
	st, k, err := l.settle(st, true)
	if err != nil {
		return err
	}
	e := Entry{Action: ActionRetire, Plan: r.Hash, Counts: map[string]int64{"seq": int64(r.Seq), "records": int64(r.Seq - last)}}
	if _, err := l.event(st.head, k, e, true); err != nil {
		return err
	}
	return l.writeJSON(l.path(retiredFile), r)
}

// removeRetired removes the segments up to a number, and so those that a killed retirement left.
func (l *Log) removeRetired(segment uint64) error {
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return bare(err)
	}
	for _, e := range entries {
		if n, ok := segmentNumber(e.Name()); ok && n <= segment {
			if err := l.fs.Remove(l.path(e.Name())); err != nil {
				return bare(err)
			}
		}
	}
	return l.fs.SyncDir(l.dir)
}

// rootsOf reads the roots of the complete subtrees over the removed records, the largest first.
func (l *Log) rootsOf(r *retired) error {
	t, h, err := l.signedTree()
	if err != nil {
		return err
	}
	r.Origin, r.Size, r.Roots = t.Origin, 0, nil
	if r.Seq < t.First {
		return nil
	}
	r.Size = int64(r.Seq - t.First + 1)
	var at []int64
	done := int64(0)
	for left := uint64(r.Size); left > 0; {
		level := bits.Len64(left) - 1
		at = append(at, tlog.StoredHashIndex(level, done>>level))
		done += 1 << level
		left -= 1 << level
	}
	r.Roots, err = l.hashes(h.tree()).ReadHashes(at)
	return err
}

// begin starts the walk after the retired records.
func (w *walker) begin() {
	r := w.gone
	if w.goneErr != nil {
		w.bad("%s", words(w.goneErr))
		return
	}
	if r.Seq == 0 {
		return
	}
	w.seq, w.prev, w.rep.Retired = r.Seq, r.Hash, r.Seq
	w.tree.begin(w.log, r)
}

// retiredBy looks for the record of the retirement.
func (w *walker) retiredBy() {
	if w.gone.Seq > 0 && !slices.Contains(w.retires, w.gone.Seq) {
		w.bad("the records up to %d are gone, and no record says that they were retired", w.gone.Seq)
	}
}

// begin takes the removed leaves, and compares older claims with the tree's own hashes below them.
func (w *treeWalk) begin(l *Log, r retired) {
	w.all = false
	if r.Origin != "" {
		w.trees[r.Origin] = true
	}
	if w.state.Origin == "" || r.Origin != w.state.Origin {
		return
	}
	w.front = checkpoint.Frontier{Size: r.Size, Roots: slices.Clone(r.Roots)}
	read := l.hashes(tlog.Tree{N: r.Size, Hash: w.front.Root()})
	for size, claims := range w.claims {
		if size > r.Size {
			continue
		}
		root, err := tlog.TreeHash(size, read)
		for _, c := range claims {
			switch seq := w.state.seq(size); {
			case err != nil:
				c.from.fail(seq, "the tree's hashes of retired records cannot be read")
			case root != c.Root:
				c.from.fail(seq, "records were changed: the first %d are not those that it signed", size)
			default:
				c.from.Seq = max(c.from.Seq, seq)
			}
		}
	}
}
