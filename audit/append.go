package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"memdesk/internal/atomicfile"
)

// reserve is the space that an intent reserves, so that the outcome of a begun act can still be written when
// the disk fills up.
const reserve = 64 << 10

// noWait bounds a lock that nobody else can hold.
var noWait = context.Background()

// Intent makes the record of an act durable before the act. Its sequence links
// the outcome. On any error, which is an ErrNotWritable, the act must not begin.
func (l *Log) Intent(ctx context.Context, e Entry) (seq uint64, err error) {
	r, err := l.append(ctx, PhaseIntent, e, Result{}, 0)
	return r.Seq, err
}

// Outcome records how the act of an intent ended. The intent may be another process's, as when a recovery
// finds out later; a second outcome is added to the first. An error means that the act is done and its intent
// stays open.
func (l *Log) Outcome(ctx context.Context, intentSeq uint64, res Result) error {
	_, err := l.append(ctx, PhaseOutcome, Entry{Target: res.Target}, res, intentSeq)
	return err
}

// Note records an event without an intent: a read of content, an export, a refusal, a failed attempt that
// changed nothing.
func (l *Log) Note(ctx context.Context, e Entry, res Result) error {
	_, err := l.append(ctx, PhaseNote, e, res, 0)
	return err
}

// Acknowledge ends an alarm: the operator has seen it and gives a reason. The note starts a new segment; the
// damage stays, and Verify keeps reporting it as acknowledged.
func (l *Log) Acknowledge(ctx context.Context, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return errors.New("acknowledge: a reason is needed")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.acknowledge(ctx, reason); err != nil {
		return refuse(err)
	}
	return nil
}

// settle brings the log into order before a record: a head that lags is saved, a
// torn line or a distrusted page sealed, a full segment rotated, a step of the
// clock and a new key noted.
func (l *Log) settle(st state, mayRotate bool) (state, key, error) {
	k, fresh, err := l.currentKey()
	if err != nil {
		return st, k, err
	}
	if st, err = l.saveHead(st); err != nil {
		return st, k, err
	}
	action := ""
	switch {
	case len(st.torn) > 0:
		action = ActionTorn
	case l.group.distrusted().Segment == st.head.Segment, mayRotate && st.head.Size >= l.limit:
		action = ActionRotate
	}
	if action != "" {
		if st.head, err = l.rotate(st, k, action); err != nil {
			return st, k, err
		}
		st.torn = nil
	}
	now := l.clock.Now()
	if step := clockStep(st.last, l.last, now); step != 0 {
		e := Entry{Action: ActionClock, Counts: map[string]int64{"step_ns": int64(step)}}
		if st.head, err = l.event(st.head, k, e, mayRotate); err != nil {
			return st, k, err
		}
	}
	if fresh {
		st.head, err = l.event(st.head, k, Entry{Action: ActionKey}, mayRotate)
	}
	return st, k, err
}

// saveHead saves a head that lags behind the records.
func (l *Log) saveHead(st state) (state, error) {
	if st.saved {
		return st, nil
	}
	if err := l.writeHead(st.head); err != nil {
		return st, err
	}
	st.saved, l.seen = true, st.head
	return st, nil
}

// clockStep is how far the wall clock jumped: back from the last record, or either way from the monotonic
// clock since this process last wrote. The sequence gives the order, so a step is recorded and never
// corrected.
func clockStep(stored, mine, now time.Time) time.Duration {
	if back := now.Round(0).Sub(stored); !stored.IsZero() && back < 0 {
		return back
	}
	if mine.IsZero() {
		return 0
	}
	const tolerance = time.Second // bound of slewing and rounding together
	step := now.Round(0).Sub(mine.Round(0)) - now.Sub(mine)
	if step > tolerance || step < -tolerance {
		return step
	}
	return 0
}

// event appends a note about the log itself.
func (l *Log) event(h head, k key, e Entry, spare bool) (head, error) {
	r, err := l.compose(PhaseNote, e, Result{Verdict: OK, Counts: e.Counts}, 0, k)
	if err != nil {
		return h, err
	}
	if h, err = l.write(h, &r, spare); err == nil {
		l.wrote.Store(true)
	}
	return h, err
}

// rotate seals the newest segment and starts the next.
func (l *Log) rotate(st state, k key, action string) (head, error) {
	n, _ := segmentNumber(st.head.Segment)
	r := l.record(Entry{Action: action}, k)
	r.Phase, r.Result, r.Segment, r.Seal = PhaseNote, OK, st.head.Segment, sealOf(st.torn)
	r.Counts = map[string]int64{"bytes": st.head.Size, "seq": int64(st.head.Seq), "torn": int64(len(st.torn))}
	h, err := l.startSegment(n+1, &r, st.head)
	if err != nil {
		return st.head, err
	}
	if err := l.writeHead(h); err != nil {
		return st.head, err
	}
	l.group.distrust(head{})
	l.seen = h
	return h, nil
}

// startSegment makes segment n with r as its first record, whole or not at all.
func (l *Log) startSegment(n uint64, r *Record, after head) (head, error) {
	r.Seq, r.Prev = after.Seq+1, after.Hash
	raw, err := r.encode()
	if err != nil {
		return head{}, err
	}
	raw = append(raw, '\n')
	path := l.path(segment(n))
	if _, err := l.fs.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return head{}, tampered("segment %s is there already", segment(n))
	}
	if err := atomicfile.WriteFS(l.fs, path, raw, atomicfile.Options{}); err != nil {
		return head{}, fmt.Errorf("start segment: %w", bare(err))
	}
	info, err := l.fs.Lstat(path)
	if err != nil {
		return head{}, fmt.Errorf("start segment: %w", bare(err))
	}
	device, inode := identity(info)
	return head{
		Boot: l.base.Boot, Device: device, Inode: inode, Hash: r.Hash, Segment: segment(n), Seq: r.Seq, Size: int64(len(raw)), V: version,
	}, nil
}

// write appends r after h with one write between two flushes and saves the head.
func (l *Log) write(h head, r *Record, spare bool) (head, error) {
	raw, next, err := chain(nil, h, r)
	if err != nil {
		return h, err
	}
	return l.writeLines(h, next, raw, spare)
}

// chain appends r to the lines to be written, and returns the new head.
func chain(lines []byte, h head, r *Record) ([]byte, head, error) {
	r.Seq, r.Prev = h.Seq+1, h.Hash
	raw, err := r.encode()
	if err != nil {
		return lines, h, err
	}
	h.Hash, h.Seq = r.Hash, r.Seq
	h.Tail, h.Size = h.Size, h.Size+int64(len(raw))+1
	return append(append(lines, raw...), '\n'), h, nil
}

// writeLines appends the records between two heads.
func (l *Log) writeLines(h, next head, raw []byte, spare bool) (head, error) {
	f, err := l.fs.OpenFile(l.path(h.Segment), os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return h, fmt.Errorf("open segment: %w", bare(err))
	}
	err = l.put(f, h, raw, spare)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close segment: %w", bare(cerr))
	}
	if err != nil {
		return h, err
	}
	next.Boot = l.base.Boot
	if err := l.writeHead(next); err != nil {
		return h, err
	}
	l.seen, l.last = next, l.clock.Now()
	return next, nil
}

// put reserves, flushes, writes once and flushes again. After a failed flush the state of the pages is
// unknown, so a new segment is started.
func (l *Log) put(f atomicfile.File, h head, raw []byte, spare bool) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at segment: %w", bare(err))
	}
	if device, inode := identity(info); inode != h.Inode || info.Size() != h.Size || (h.Boot == l.base.Boot && device != h.Device) {
		return tampered("segment %s was replaced while it was opened", h.Segment)
	}
	if spare {
		if err := f.Allocate(h.Size, int64(len(raw))+reserve); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("reserve space for the outcome: %w", bare(err))
		}
	}
	if err := f.Sync(); err != nil {
		l.group.distrust(h)
		return fmt.Errorf("flush: %w", bare(err))
	}
	if _, err := f.Write(raw); err != nil {
		return fmt.Errorf("write record: %w", bare(err))
	}
	if err := f.Sync(); err != nil {
		l.group.distrust(h)
		return fmt.Errorf("flush: %w", bare(err))
	}
	return nil
}

// compose builds a record; an outcome copies what it concerns from its intent.
func (l *Log) compose(phase Phase, e Entry, res Result, link uint64, k key) (Record, error) {
	r := l.record(e, k)
	counts := e.Counts
	if phase == PhaseOutcome {
		intent, err := l.intent(link)
		if err != nil {
			return Record{}, err
		}
		r.Action, r.Store, r.Scope, r.Tier = intent.Action, intent.Store, intent.Scope, intent.Tier
		if intent.Target != "" {
			r.Target = intent.Target
		}
		r.Subject, r.Plan = intent.Subject, intent.Plan
	}
	if phase != PhaseIntent {
		counts = res.Counts
		if res.Verdict == "" {
			return Record{}, errors.New("a record of how an act ended needs a verdict")
		}
	}
	r.Phase, r.Link, r.Result, r.Class = phase, link, Verdict(token(string(res.Verdict))), token(res.Class)
	var err error
	r.Counts, err = storedCounts(counts)
	return r, err
}

// record fills the fields that need no context: identity, time and the stored forms of e.
func (l *Log) record(e Entry, k key) Record {
	now := l.clock.Now()
	r := l.base
	r.TS, r.Mono, r.Key = now.UTC(), max(0, now.Sub(l.start)), k.id
	r.Action, r.Store, r.Scope, r.Tier, r.Plan = token(e.Action), token(e.Store), token(e.Scope), token(e.Tier), token(e.Plan)
	if e.Target != "" {
		r.Target = k.target(e.Target)
	}
	if e.Subject != "" {
		r.Subject = k.subject(e.Subject)
	}
	return r
}

// currentKey reads the key, or begins a new epoch when the old one was destroyed.
func (l *Log) currentKey() (k key, fresh bool, err error) {
	k, err = l.readKey()
	if !errors.Is(err, ErrNoKey) {
		return k, false, err
	}
	k = newKey()
	if err := atomicfile.WriteFS(l.fs, l.path(keyFile), k.encode(), atomicfile.Options{}); err != nil {
		return key{}, false, fmt.Errorf("make a key: %w", bare(err))
	}
	return k, true, nil
}

// sweep removes, once per Log, the temporary files of a killed process; the lock
// is held, so none is in use.
func (l *Log) sweep() {
	if l.swept {
		return
	}
	l.sweepBegun(filepath.Dir(l.dir))
	l.swept = atomicfile.Sweep(l.fs, l.dir, "") == nil && atomicfile.Sweep(l.fs, l.inTree(""), "") == nil
}
