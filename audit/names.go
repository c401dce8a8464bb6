package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"memdesk/internal/atomicfile"
)

const (
	namesFile = "names.jsonl"
	maxClear  = 4096 // bytes of a name or a reason
)

// nameRow is the side table's row for one record, in clear. Rows ascend by sequence; the row of a failed
// append is recognised by its time.
type nameRow struct {
	Seq     uint64 `json:"seq"`
	TS      string `json:"ts"`
	Target  string `json:"target,omitempty"`
	Subject string `json:"subject,omitempty"` // the hash, by which an erasure finds the row
	Name    string `json:"name,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Origin  string `json:"origin,omitempty"`
}

func parseName(raw []byte) (nameRow, bool) {
	var n nameRow
	return n, json.Unmarshal(raw, &n) == nil && n.Seq > 0
}

func nameSeq(raw []byte) (uint64, bool) {
	n, ok := parseName(raw)
	return n.Seq, ok
}

// nameRowOf is the line of the side table for a record; nil when it has no clear form.
func nameRowOf(e Entry, r *Record, seq uint64) ([]byte, error) {
	if e.Target == "" && e.Reason == "" && e.Origin == "" {
		return nil, nil
	}
	row, err := json.Marshal(nameRow{
		Seq: seq, TS: r.TS.Format(tsLayout), Target: r.Target, Subject: r.Subject,
		Name: clip(e.Target, maxClear), Reason: clip(e.Reason, maxClear), Origin: clip(e.Origin, maxClear),
	})
	if err != nil {
		return nil, fmt.Errorf("encode name: %w", err)
	}
	return append(row, '\n'), nil
}

// namesErased reports whether an entry's clear texts name an erased person, or nobody can say.
func (l *Log) namesErased(e Entry) bool {
	if l.erased == nil || e.Target == "" && e.Reason == "" && e.Origin == "" {
		return false
	}
	named, err := l.erased(e.Target, e.Reason, e.Origin)
	return named || err != nil
}

// writeNames appends rows to the side table and flushes it once, before their records: the reason of an act
// must be kept, so an act whose reason cannot be written is refused.
func (l *Log) writeNames(rows []byte) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := l.fs.Lstat(l.path(namesFile))
	made := errors.Is(err, fs.ErrNotExist)
	f, err := l.fs.OpenFile(l.path(namesFile), os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("open side table: %w", bare(err))
	}
	if err = errors.Join(appendRow(f, rows), f.Close()); err == nil && made {
		err = l.fs.SyncDir(l.dir)
	}
	if err != nil {
		return fmt.Errorf("write side table: %w", bare(err))
	}
	return nil
}

// openNames opens the side table to read it; nil where there is none.
func (l *Log) openNames() (f atomicfile.File, size int64, err error) {
	f, err = l.fs.OpenFile(l.path(namesFile), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open side table: %w", bare(err))
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("look at side table: %w", bare(err))
	}
	return f, info.Size(), nil
}

// appendRow closes a row that an earlier crash cut short, then writes its own.
func appendRow(f atomicfile.File, row []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], info.Size()-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			row = append([]byte{'\n'}, row...)
		}
	}
	if _, err := f.Write(row); err != nil {
		return err
	}
	return f.Sync()
}

// join fills names and reasons into rows in ascending or descending order; a name whose keyed hash is not the
// record's is left out and marked.
func (l *Log) join(ctx context.Context, rows []Row) error {
	unlock, err := l.lock(ctx, false)
	if err != nil {
		return err
	}
	defer unlock()
	k, err := l.readKey()
	if err != nil {
		k = key{} // no name can be checked
	}
	for i := range rows {
		if rows[i].Damaged == "" && rows[i].Target != "" {
			rows[i].NameState = NameAbsent
		}
	}
	f, size, err := l.openNames()
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	var wanted []uint64
	for _, r := range rows {
		if r.Damaged == "" {
			wanted = append(wanted, r.Seq)
			if r.Phase == PhaseOutcome {
				wanted = append(wanted, r.Link)
			}
		}
	}
	slices.Sort(wanted)
	names, err := namesOf(f, size, slices.Compact(wanted))
	if err != nil {
		return fmt.Errorf("read side table: %w", err)
	}
	for i := range rows {
		if rows[i].Damaged == "" {
			joinRow(names, k, &rows[i])
		}
	}
	return nil
}

// far is the distance between two records from which their names are looked up one by one: to look one up reads about as much.
const far = 1000

// namesOf reads the rows of the side table for ascending sequences, in one pass where they are not far from each other.
func namesOf(f io.ReaderAt, size int64, wanted []uint64) (map[uint64][]nameRow, error) {
	out := map[uint64][]nameRow{}
	for len(wanted) > 0 {
		from, err := seek(f, size, wanted[0], nameSeq)
		if err != nil {
			return nil, err
		}
		s := newForward(f, from, size)
		for last := uint64(0); len(wanted) > 0 && (last == 0 || wanted[0]-last < far); {
			raw, _, ok := s.next()
			if !ok {
				return out, s.err
			}
			n, ok := parseName(raw)
			if !ok || n.Seq < last {
				continue
			}
			at, found := slices.BinarySearch(wanted, n.Seq)
			if found {
				out[n.Seq] = append(out[n.Seq], n)
			}
			last, wanted = n.Seq, wanted[at:]
		}
	}
	return out, nil
}

// joinRow takes the clear form of an outcome from its intent's row, and from its own where the act made the
// item that it names.
func joinRow(names map[uint64][]nameRow, k key, r *Row) {
	if r.Phase == PhaseOutcome {
		if joinFrom(names[r.Link], k, r, r.Link, ""); r.NameState != NameAbsent {
			return
		}
	}
	joinFrom(names[r.Seq], k, r, r.Seq, r.TS.Format(tsLayout))
}

func joinFrom(names []nameRow, k key, r *Row, seq uint64, ts string) {
	for _, n := range names {
		if n.Target == r.Target && (ts == "" || n.TS == ts) || ts == "" && n.Target == "" {
			if r.Phase != PhaseOutcome || seq == r.Link {
				r.Reason, r.Origin = n.Reason, n.Origin
			}
			r.Name = ""
			if r.NameState = n.state(k, r.Target); r.NameState == NameOK {
				r.Name = n.Name
			}
		}
	}
}

// state compares the clear name with the keyed hash in the chain.
func (n nameRow) state(k key, target string) NameState {
	switch {
	case target == "" && n.Name == "":
		return ""
	case n.Name == "":
		return NameAbsent
	case target != "" && !strings.HasPrefix(target, "hmac:"+k.id+":"), len(n.Name) >= maxClear:
		return NameUnchecked
	case k.target(n.Name) != target:
		return NameForged
	}
	return NameOK
}

// Names counts the clear names beside the log by their state.
type Names struct {
	OK, Absent, Forged, Unchecked int64
	FirstForged                   uint64 // sequence of the first record with another name
}

// nameCheck compares every clear name with its record during a walk. Records and rows both ascend, so one
// pass over each is enough.
type nameCheck struct {
	Names
	key  key
	file atomicfile.File // nil: there is no side table
	rows *forward
	row  nameRow
	more bool
}

func (l *Log) checkNames() (*nameCheck, error) {
	c := &nameCheck{}
	if k, err := l.readKey(); err == nil {
		c.key = k // without the key no name can be checked
	}
	f, size, err := l.openNames()
	if err != nil || f == nil {
		return c, err
	}
	c.file, c.rows = f, newForward(f, 0, size)
	c.next()
	return c, nil
}

func (c *nameCheck) close() {
	if c.file != nil {
		c.file.Close()
	}
}

func (c *nameCheck) next() {
	for {
		raw, _, ok := c.rows.next()
		if !ok {
			c.more = false
			return
		}
		if n, ok := parseName(raw); ok {
			c.row, c.more = n, true
			return
		}
	}
}

// take finds the row of one record.
func (c *nameCheck) take(r *line) {
	target := r.value(fTarget)
	outcome := string(r.value(fPhase)) == string(PhaseOutcome)
	if len(target) == 0 {
		return
	}
	state := NameAbsent
	for ; c.more && c.row.Seq <= r.seq; c.next() {
		if c.row.Seq == r.seq && c.row.Target == string(target) && c.row.TS == string(r.value(fTS)) {
			state = c.row.state(c.key, c.row.Target)
		}
	}
	if outcome && state == NameAbsent {
		return // its intent has the name
	}
	c.count(state, r.seq)
}

func (n *Names) count(state NameState, seq uint64) {
	switch state {
	case NameOK:
		n.OK++
	case NameAbsent:
		n.Absent++
	case NameUnchecked:
		n.Unchecked++
	case NameForged:
		if n.Forged++; n.FirstForged == 0 {
			n.FirstForged = seq
		}
	}
}

// EraseNames removes every clear name and reason about a person, who has these terms: of records whose subject
// is one of them, and those in which names finds the person. It returns the number of removed rows. The chain
// does not change. The old file's bytes are overwritten before they are freed, as far as the file system overwrites
// in place.
func (l *Log) EraseNames(ctx context.Context, terms []string, names func(text string) bool) (int, error) {
	k, err := l.readKey()
	if err != nil && !errors.Is(err, ErrNoKey) {
		return 0, fmt.Errorf("erase names: %w", err)
	}
	var hashes []string
	for _, t := range terms {
		if normalSubject(t) != "" {
			hashes = append(hashes, k.subject(t))
		}
	}
	return l.eraseRows(ctx, func(n nameRow) bool {
		return slices.Contains(hashes, n.Subject) || names(n.Name) || names(n.Reason) || names(n.Origin)
	})
}

func (l *Log) eraseRows(ctx context.Context, gone func(nameRow) bool) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.eraseLocked(ctx, gone)
	if err != nil {
		return n, fmt.Errorf("erase names: %w", err)
	}
	if n == 0 {
		return 0, nil
	}
	e := Entry{Action: ActionErase}
	note := &waiting{log: l, ctx: ctx, phase: PhaseNote, entry: e, res: Result{Verdict: OK, Counts: map[string]int64{"rows": int64(n)}}}
	if l.commit(ctx, []*waiting{note}); note.err != nil {
		err := note.err
		return n, fmt.Errorf("the names are erased, but not the note of it: %w", refuse(err))
	}
	return n, nil
}

// eraseLocked rewrites the side table; an unreadable row goes too, since nobody can say whom it names.
func (l *Log) eraseLocked(ctx context.Context, gone func(nameRow) bool) (int, error) {
	if _, err := l.fs.Lstat(l.path(namesFile)); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	unlock, err := l.lock(ctx, true)
	if err != nil {
		return 0, err
	}
	defer unlock()
	l.swept = false
	l.sweep() // temporary copies of a killed erasure
	old, err := l.fs.OpenFile(l.path(namesFile), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return 0, bare(err)
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return 0, bare(err)
	}
	kept, erased, err := filterRows(old, info.Size(), gone)
	if err != nil || erased == 0 {
		return 0, err
	}
	if err := atomicfile.WriteFS(l.fs, l.path(namesFile), kept, atomicfile.Options{}); err != nil {
		return 0, bare(err)
	}
	if err := overwrite(old, info.Size()); err != nil {
		return erased, fmt.Errorf("overwrite the old side table: %w", bare(err))
	}
	return erased, nil
}

func filterRows(f atomicfile.File, size int64, gone func(nameRow) bool) (kept []byte, erased int, err error) {
	s := newForward(f, 0, size)
	for {
		raw, at, ok := s.next()
		if !ok {
			if at < size {
				erased++ // a truncated row
			}
			return kept, erased, s.err
		}
		if n, ok := parseName(raw); !ok || gone(n) {
			erased++
			continue
		}
		kept = append(append(kept, raw...), '\n')
	}
}

// overwrite zeroes an unlinked file.
func overwrite(f atomicfile.File, size int64) error {
	zeros := make([]byte, chunk)
	for off := int64(0); off < size; off += chunk {
		if _, err := f.WriteAt(zeros[:min(chunk, size-off)], off); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Truncate(0)
}
