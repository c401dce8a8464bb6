package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"memdesk/internal/atomicfile"
)

func (l *Log) acknowledge(ctx context.Context, reason string) error {
	counts := map[string]int64{}
	gone, err := l.absent()
	if err != nil {
		return err
	}
	if gone {
		if l.trace() == "" {
			return errors.New("there is no log to acknowledge")
		}
		if err := l.make(); err != nil {
			return err
		}
		counts["gone"] = 1
	}
	w := walker{log: l, prev: genesis, full: true}
	if _, err := w.walk(ctx); err != nil {
		return err // the breaks that the operator acknowledges cannot be counted
	}
	if err := l.markBegun(); err != nil {
		return err
	}
	unlock, err := l.lock(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	k, err := l.anyKey()
	if err != nil {
		return err
	}
	st, last, err := l.foothold()
	if err != nil {
		return err
	}
	counts["breaks"] = w.inside + w.gap(st.head, last+1)
	r := l.record(Entry{Action: ActionAcknowledge}, k)
	r.Phase, r.Result, r.Segment, r.Seal = PhaseNote, OK, st.head.Segment, sealOf(st.torn)
	r.Counts = counts
	counts["bytes"], counts["seq"], counts["torn"] = st.head.Size, int64(st.head.Seq), int64(len(st.torn))
	names, err := nameRowOf(Entry{Reason: reason}, &r, st.head.Seq+1)
	if err != nil {
		return err
	}
	if err := l.writeNames(names); err != nil {
		return err
	}
	h, err := l.startSegment(last+1, &r, st.head)
	if err != nil {
		return err
	}
	if err := l.replaceHead(h); err != nil {
		return err
	}
	origins, err := l.endedBy(ctx, w.tree, h)
	if err != nil {
		return err
	}
	if len(origins) > 0 {
		if h, err = l.endTree(h, k, origins); err != nil {
			return err
		}
	}
	l.group.distrust(head{})
	l.seen, l.alarm, l.checked = h, "", time.Time{}
	return nil
}

// endedBy are the trees that an acknowledgement up to h ends: those with broken checkpoints, and one that the
// records no longer continue, or whose tiles nothing can make again.
func (l *Log) endedBy(ctx context.Context, w *treeWalk, h head) ([]string, error) {
	origins := w.origins()
	t, err := l.readTree()
	if err != nil || slices.Contains(origins, t.Origin) {
		return origins, nil
	}
	old, err := l.readCheckpoint(t)
	if err == nil {
		_, err = l.mendTiles(ctx, h, t, old)
	}
	if err == nil || errors.Is(err, ErrNoCheckpoint) {
		_, err = l.grow(ctx, h, t, old)
	}
	if errors.Is(err, ErrTampered) {
		return append(origins, t.Origin), nil
	}
	return origins, err
}

// gap counts the breaks that a new segment with this number adds after h: lost records and segments stay
// lost.
func (w *walker) gap(h head, number uint64) (n int64) {
	after := uint64(1)
	if len(w.parts) > 0 {
		after = w.parts[len(w.parts)-1].number + 1
	}
	if number != after {
		n++
	}
	if h.Seq != w.seq || h.Hash != w.prev {
		n++
	}
	return n
}

// foothold finds where the log can continue, and the highest segment number in use: its regular end when that
// is in order or the files are a sound copy, else the saved head over the files as they are, else the last readable record.
func (l *Log) foothold() (state, uint64, error) {
	parts, err := l.listParts()
	if err != nil {
		return state{}, 0, err
	}
	h, herr := l.readHead()
	var newest part
	if len(parts) > 0 {
		newest = parts[len(parts)-1]
	}
	if herr == nil {
		st, err := l.compare(h)
		if err != nil {
			st, err = l.copied(h)
		}
		if n, _ := segmentNumber(st.head.Segment); err == nil && n >= newest.number { // else segments stand behind
			return st, n, nil
		}
	}
	if herr != nil {
		h = l.lastReadable(parts)
	}
	last, _ := segmentNumber(h.Segment)
	h.Segment, h.Size = newest.name, newest.size
	return state{head: h}, max(last, newest.number), nil
}

// copied is compare without the check that the segment is the same file, for a log that was copied. A copy of a running desk may
// have an older head than its records, and a part of a record at its end.
func (l *Log) copied(h head) (state, error) {
	f, err := l.open(h.Segment)
	if err != nil {
		return state{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return state{}, bare(err)
	}
	return l.leftovers(f, h, info.Size())
}

// lastReadable is the newest record that can be read, as a head.
func (l *Log) lastReadable(parts []part) head {
	for i := len(parts) - 1; i >= 0; i-- {
		f, err := l.open(parts[i].name)
		if err != nil {
			continue
		}
		s := newBackward(f, parts[i].size)
		for {
			raw, _, ok := s.next()
			if !ok {
				break
			}
			var found line
			if parseLine(raw, &found) == nil {
				f.Close()
				return head{Seq: found.seq, Hash: string(found.value(fHash)), Segment: parts[i].name}
			}
		}
		f.Close()
	}
	return head{Hash: genesis}
}

// anyKey moves a damaged key out of the way, so that a new epoch can begin.
func (l *Log) anyKey() (key, error) {
	k, _, err := l.currentKey()
	if err == nil {
		return k, nil
	}
	if _, serr := l.fs.Lstat(l.path(keyFile)); errors.Is(serr, fs.ErrNotExist) {
		return key{}, err
	}
	if rerr := l.fs.Rename(l.path(keyFile), l.path("key.damaged."+atomicfile.Suffix())); rerr != nil {
		return key{}, fmt.Errorf("set the damaged key aside: %w", bare(rerr))
	}
	k, _, err = l.currentKey()
	return k, err
}
