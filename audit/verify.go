package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"memdesk/internal/atomicfile"
)

// Report is the result of a verification. Not OK means tampering or damage.
type Report struct {
	OK       bool
	Events   uint64 // records read that continue the chain
	Head     string // hash of the last of them
	Seq      uint64 // its number
	Reason   string // the first break in words; when OK, a remark
	FirstBad uint64 // sequence of the first record that is wrong or missing
	Segments int
	Retired  uint64 // last record of the segments removed after their retention; 0: none
	// Acknowledged says that an operator has acknowledged every break.
	Acknowledged bool
	Torn         int64 // bytes of an append cut short; the next append sets them aside
	Names        Names // of the side table; only Verify looks at them
	// Tiles says what is wrong with the files of the tree, which are made from the records: no break of the log.
	// Empty where nothing is; only Verify looks.
	Tiles string
	// TilesLost: nothing can make them again.
	TilesLost bool
	// Proven says what each checkpoint outside the records proves about them.
	Proven      []Proven
	OpenIntents []Row

	sound bool // but for what was given, every break is acknowledged
}

// Verify walks every segment of the log in dir over its stored bytes and compares its end with the saved
// head. It only reads. A log that was never begun is OK with no events; one with only a head or a key left is
// not. An error means that the log could not be read, which is not OK either.
func Verify(ctx context.Context, dir string) (Report, error) {
	l, err := Open(Options{Dir: dir})
	if err != nil {
		return Report{Reason: err.Error()}, err
	}
	return l.verify(ctx)
}

// Verify is the function over this log; a break that nobody acknowledged stops
// further appends of this Log until one finds the log whole, or the break acknowledged.
// Appends go on during the walk.
//
// The checkpoints that are given, beside those of the anchors' files, must fit too.
func (l *Log) Verify(ctx context.Context, given ...Statement) (Report, error) {
	rep, err := l.verify(ctx, given...)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
	case rep.OK || rep.Acknowledged || rep.sound: // what is given may be another log's
		l.alarm, l.broken = "", verdict{}
	default:
		l.alarm = rep.Reason
	}
	return rep, err
}

func (l *Log) verify(ctx context.Context, given ...Statement) (Report, error) {
	names, err := l.checkNames()
	if err != nil {
		err = fmt.Errorf("verify audit log: %w", err)
		return Report{Reason: err.Error()}, err
	}
	defer names.close()
	w := walker{log: l, prev: genesis, names: names, full: true, given: given}
	rep, err := w.walk(ctx)
	if err == nil && !w.none {
		rep.OpenIntents, err = w.open.rows(l)
	}
	if err == nil && (rep.OK || rep.Acknowledged) && !w.none {
		rep.Tiles, rep.TilesLost, err = l.lookAtTiles(ctx)
	}
	if err == nil && names.file != nil && names.rows.err != nil {
		err = fmt.Errorf("read side table: %w", names.rows.err)
	}
	rep.Names = names.Names
	if err != nil {
		err = fmt.Errorf("verify audit log: %w", err)
		return Report{Reason: err.Error()}, err
	}
	return rep, nil
}

// walk reads the chain from its first record to the saved head.
func (w *walker) walk(ctx context.Context) (Report, error) {
	if w.log.marks != nil {
		w.marks = slices.Clone(w.log.marks())
		slices.SortStableFunc(w.marks, func(a, b Mark) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	if err := w.snapshot(ctx); err != nil {
		return Report{}, err
	}
	if w.none {
		if why := w.log.trace(); why != "" {
			w.bad("the audit log is gone: %s", why)
		}
		w.proven()
		w.rep.OK = w.rep.Reason == ""
		return w.rep, nil
	}
	w.begin()
	for i := range w.parts {
		if w.skip(i) {
			continue
		}
		first, from := w.seq, w.prev
		if err := w.segment(ctx, i); err != nil {
			return Report{}, err
		}
		w.keep(i, first, from)
	}
	w.retiredBy()
	w.inside = w.breaks
	w.end()
	w.behindMarks()
	w.proven()
	if !w.fresh {
		w.whole = nil // as saved before
	}
	w.rep.OK = w.rep.Reason == ""
	w.rep.Head, w.rep.Seq, w.rep.Segments = w.prev, w.seq, len(w.parts)
	w.remark()
	return w.rep, nil
}

// walker follows the chain through the segments.
type walker struct {
	log   *Log
	none  bool // there is no log
	parts []part
	st    state  // the end, according to the saved head
	alarm error  // what is wrong with the end
	key   error  // what is wrong with the key
	seq   uint64 // sequence of the last record that fits
	prev  string // its hash
	rep   Report
	open  openSet

	gone    retired // segments removed after their retention
	goneErr error
	retires []uint64 // last records of removed segments, according to the records

	names  *nameCheck       // nil: the side table is not looked at
	known  map[string]known // sealed segments that need not be read; nil: all must be
	whole  []known          // intact sealed segments
	fresh  bool             // some of them were read in this walk
	marks  []Mark
	noted  time.Time // time of the last acknowledgement
	breaks int64
	inside int64 // breaks inside segments; the others concern the head

	full  bool // every checkpoint of every anchor is compared
	given []Statement
	tree  *treeWalk // what the checkpoints outside the records claim; snapshot sets it
}

// snapshot reads, under the shared lock, the files that an append would change.
func (w *walker) snapshot(ctx context.Context) error {
	l := w.log
	if info, err := l.fs.Lstat(l.dir); errors.Is(err, fs.ErrNotExist) {
		w.none = true
		w.tree, err = l.newTreeWalk(w.full, w.given)
		return err
	} else if err != nil {
		return bare(err)
	} else if !info.IsDir() {
		return errors.New("a file stands where the audit directory should be")
	}
	unlock, err := l.lock(ctx, false)
	if err != nil {
		return err
	}
	defer unlock()
	if w.parts, err = l.listParts(); err != nil {
		return err
	}
	w.gone, w.goneErr = l.readRetired()
	if w.tree, err = l.newTreeWalk(w.full, w.given); err != nil {
		return err
	}
	_, w.key = l.readKey()
	h, err := l.readHead()
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(w.parts) == 0 && errors.Is(w.key, ErrNoKey):
		w.none = true
	case errors.Is(err, fs.ErrNotExist):
		w.alarm = tampered("head.json is gone")
	case err != nil:
		w.alarm = tampered("%w", err)
	case len(w.parts) == 0:
		w.alarm = tampered("the segments are gone, head.json is left")
	default:
		w.st, w.alarm = l.compare(h)
	}
	if w.alarm != nil && !errors.Is(w.alarm, ErrTampered) {
		return w.alarm
	}
	return nil
}

// bad records a break; the report gives the first one.
func (w *walker) bad(format string, args ...any) {
	w.rep.Acknowledged = false
	w.breaks++
	if w.rep.Reason == "" {
		w.rep.Reason, w.rep.FirstBad = fmt.Sprintf(format, args...), w.seq+1
	}
}

// segment walks parts[i]; an error is one of reading, not of the chain.
func (w *walker) segment(ctx context.Context, i int) error {
	p := w.parts[i]
	expected := w.gone.Segment + 1
	if i > 0 {
		expected = w.parts[i-1].number + 1
	}
	if p.number != expected {
		w.bad("segment %s is gone", segment(expected))
	}
	f, err := w.log.open(p.name)
	if err != nil {
		return err
	}
	defer f.Close()
	limit, torn, seal := w.bounds(i)
	if err := w.lines(ctx, f, p.name, min(limit, p.size)); err != nil {
		return err
	}
	if limit > p.size {
		w.bad("segment %s was cut from %d to %d bytes", p.name, limit, p.size)
		return nil
	}
	if p.size-limit != torn {
		w.bad("segment %s has %d bytes behind its last record, %d were set aside", p.name, p.size-limit, torn)
		return nil
	}
	return w.behind(f, p, limit, seal)
}

// bounds returns the size of a segment's records, and the bytes after them.
func (w *walker) bounds(i int) (limit, torn int64, seal string) {
	p := w.parts[i]
	if i+1 < len(w.parts) {
		r, err := w.log.firstRecord(w.parts[i+1])
		if err != nil || r.Segment != p.name || r.Counts["bytes"] < 0 || r.Counts["torn"] < 0 {
			return p.size, 0, ""
		}
		return r.Counts["bytes"], r.Counts["torn"], r.Seal
	}
	if w.alarm == nil && w.st.head.Segment == p.name {
		w.rep.Torn = int64(len(w.st.torn))
		// Later appends are not part of this verification.
		w.parts[i].size = w.st.head.Size + w.rep.Torn
		return w.st.head.Size, w.rep.Torn, sealOf(w.st.torn)
	}
	return p.size, 0, ""
}

// behind compares the bytes set aside with their seal.
func (w *walker) behind(f io.ReaderAt, p part, from int64, seal string) error {
	if p.size == from {
		if seal != "" {
			w.bad("segment %s has lost the bytes that were set aside", p.name)
		}
		return nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, from, p.size-from)); err != nil {
		return fmt.Errorf("read segment: %w", bare(err))
	}
	if hex.EncodeToString(h.Sum(nil)) != seal {
		w.bad("the bytes set aside behind segment %s were changed", p.name)
	}
	return nil
}

// lines walks the records of one segment, in order, while later ones are hashed in parallel. After a break
// the rest of the segment proves nothing; the next segment's first record is the next foothold.
func (w *walker) lines(ctx context.Context, f atomicfile.File, name string, limit int64) error {
	lots := newLots(f, limit, w.tree.hashes())
	defer lots.wait()
	first := true
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		lot, err := lots.next()
		if err != nil {
			return err
		}
		if lot == nil {
			return nil
		}
		for i := range lot.lines {
			c := &lot.lines[i]
			if c.err != nil {
				w.bad("the line behind record %d is unreadable: %v", w.seq, c.err)
				return nil
			}
			if !w.follows(c) && !first {
				return nil
			}
			first = false
			w.accept(c, name)
		}
		if lot.cut {
			w.bad("segment %s ends inside a record behind record %d", name, w.seq)
			return nil
		}
	}
}

// follows checks one record against the chain.
func (w *walker) follows(c *checked) bool {
	switch {
	case !c.intact:
		w.bad("record %d was changed", c.seq)
	case c.seq != w.seq+1:
		w.bad("record %d follows record %d", c.seq, w.seq)
	case string(c.value(fPrev)) != w.prev:
		w.bad("record %d does not continue record %d", c.seq, w.seq)
	default:
		return true
	}
	return false
}

func (w *walker) accept(c *checked, name string) {
	l := &c.line
	w.seq, w.prev = l.seq, string(l.value(fHash))
	w.rep.Events++
	w.open.take(l, name, c.at)
	if w.names != nil {
		w.names.take(l)
	}
	w.tree.record(l, c.leaf)
	w.marked(w.seq, w.prev)
	switch string(l.value(fAction)) {
	case ActionAcknowledge:
		w.acknowledged(l)
	case ActionRetire:
		if r, err := l.record(); err == nil { // the record after the gap proves its hash
			w.retires = append(w.retires, uint64(r.Counts["seq"]))
		}
	}
}

// acknowledged applies an operator's acknowledgement to the breaks before it: as many as there were at that
// time. A later change to earlier records is a new break.
func (w *walker) acknowledged(l *line) {
	r, err := l.record()
	if err != nil {
		return
	}
	w.noted = r.TS
	if r.Counts["gone"] > 0 {
		w.bad("the log before record %d is gone, as an operator has noted", r.Seq)
		w.breaks = 0
	}
	seen, counted := r.Counts["breaks"]
	w.rep.Acknowledged = w.rep.Reason != "" && (!counted || w.breaks <= seen || r.Counts["gone"] > 0)
}

// proven compares the walk with the checkpoints outside the records. An acknowledged break stays a break, and
// stays acknowledged.
func (w *walker) proven() {
	w.tree.end(w.seq)
	w.rep.sound = w.rep.Reason == "" || w.rep.Acknowledged
	for _, s := range w.tree.sources {
		w.rep.Proven = append(w.rep.Proven, s.Proven)
		if s.State == ProvenBroken {
			w.rep.sound = w.rep.sound && s.Kind == "given"
			first := w.rep.FirstBad
			w.bad("%s: %s", s.By, s.Why)
			if first == 0 {
				w.rep.FirstBad = s.broken
			}
		}
	}
	for _, s := range w.tree.sources {
		if s.State == ProvenEnded && w.rep.Reason == "" {
			w.rep.Reason, w.rep.Acknowledged = s.By+": "+s.Why, true
		}
	}
}

// end compares the walk with the saved head.
func (w *walker) end() {
	switch {
	case w.alarm != nil:
		w.bad("%s", words(w.alarm))
	case w.seq != w.st.head.Seq || w.prev != w.st.head.Hash:
		w.bad("the log ends with record %d, the saved head is record %d", w.seq, w.st.head.Seq)
	}
	if w.key != nil && !errors.Is(w.key, ErrNoKey) {
		w.bad("%v", w.key)
	}
}

// remark reports findings that are no break.
func (w *walker) remark() {
	switch {
	case !w.rep.OK:
	case w.rep.Torn > 0:
		w.rep.Reason = fmt.Sprintf("the last append was cut short: %d bytes stand behind record %d and will be set aside", w.rep.Torn, w.seq)
	case errors.Is(w.key, ErrNoKey):
		w.rep.Reason = "the key is gone: records cannot be looked up by a name typed in clear"
	}
}
