package origin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/exactjson"
	"memdesk/internal/filelock"
	"memdesk/model"
)

// Ledger is a file of rows, oldest first, one JSON object per line, in the state directory. It is safe for
// concurrent use, also by several processes: a row is one write at the end of the file, and an erasure
// replaces the file under a lock.
//
// A row lost in a crash makes its writer unknown, and unknown is untrusted; so rows are not flushed one by
// one.
type Ledger struct {
	path  string
	ready func() error

	mu     sync.Mutex
	latest map[string]Row // by store and id
	newest []Row          // the last rows, oldest first, at most 2*newestRows
	read   int64          // size of the file that latest covers
	file   os.FileInfo    // the file that latest covers
}

// OpenLedger keeps rows in dir, which ready makes; reading makes nothing.
func OpenLedger(dir string, ready func() error) *Ledger {
	return &Ledger{path: filepath.Join(dir, "ledger.jsonl"), ready: ready}
}

// Append adds one row.
func (l *Ledger) Append(r Row) error {
	line, err := exactjson.Marshal(r)
	if err != nil {
		return err
	}
	return l.add(append(line, '\n'), 0)
}

// add adds lines to the file. When the file has more than most bytes it is renamed, replacing the earlier
// one, and a new one begins. most 0 means no bound.
func (l *Ledger) add(line []byte, most int64) error {
	if err := l.begin(); err != nil {
		return err
	}
	unlock, err := filelock.Hold(l.path+".lock", false)
	if err != nil {
		return err
	}
	defer func() { unlock() }()
	full := func() bool {
		info, err := os.Stat(l.path)
		return most > 0 && err == nil && info.Size() > most
	}
	if full() {
		unlock()
		if unlock, err = filelock.Hold(l.path+".lock", true); err != nil {
			unlock = func() {}
			return err
		}
		if full() { // no other process began a new one meanwhile
			if err := os.Rename(l.path, l.path+".1"); err != nil {
				return err
			}
		}
	}
	f, err := atomicfile.Open(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if torn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// begin makes the directory of the file.
func (l *Ledger) begin() error {
	if err := l.ready(); err != nil {
		return err
	}
	return atomicfile.MakeDirs(atomicfile.OS{}, filepath.Dir(l.path))
}

// torn reports whether the file ends inside a line cut by a crash.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// All yields every row, oldest first. Unreadable lines are left out.
func (l *Ledger) All(yield func(Row) bool) error { return l.holding(nil, yield, func() {}) }

// naming is All for the rows that hold a value. Other lines are not decoded.
func (l *Ledger) naming(value string, yield func(Row) bool) error {
	form, err := exactjson.Marshal(value)
	if err != nil {
		return err
	}
	return l.holding(form, yield, func() {})
}

func (l *Ledger) holding(form []byte, yield func(Row) bool, damaged func()) error {
	f, err := atomicfile.Open(l.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the notes on writers cannot be read: %w", atomicfile.Pathless(err))
	}
	defer f.Close()
	_, err = rows(f, form, yield, damaged)
	return err
}

// rows reads whole lines and returns their size in bytes. It decodes those that hold form, and calls damaged for each
// that cannot be decoded.
func rows(in io.Reader, form []byte, yield func(Row) bool, damaged func()) (int64, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	read := int64(0)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return read, nil // the last line is not complete yet
		}
		if err != nil {
			return read, err
		}
		read += int64(len(line))
		if line = bytes.TrimSpace(line); len(line) == 0 || !bytes.Contains(line, form) {
			continue
		}
		var row Row
		if exactjson.Unmarshal(line, &row) != nil || row.ID == "" {
			damaged()
		} else if !yield(row) {
			return read, nil
		}
	}
}

// Unread is how many lines of the ledger cannot be read.
type Unread int

// Error implements error.
func (n Unread) Error() string {
	lines := "lines"
	if n == 1 {
		lines = "line"
	}
	return fmt.Sprintf("%d %s of the notes on writers cannot be read: what they are about is not known", n, lines)
}

// Of returns the rows of one item, newest first. The error is Unread, beside the rows, where a line may be about it too.
func (l *Ledger) Of(store, id string) (out []Row, err error) {
	var unread Unread
	err = l.holding(nil, func(r Row) bool {
		if r.Store == store && r.ID == id {
			out = append(out, r)
		}
		return true
	}, func() { unread++ })
	slices.Reverse(out)
	if err == nil && unread > 0 {
		err = unread
	}
	return out, err
}

// Latest is the newest row of an item, of a change that was made. It reads only the lines added since the last call.
func (l *Ledger) Latest(store, id string) (Row, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.catchUp(); err != nil {
		return Row{}, false, err
	}
	r, ok := l.latest[store+"\x00"+id]
	return r, ok, nil
}

// wrote is the newest row of an item at a revision. It reads the whole file, once for each item of a takeback.
func (l *Ledger) wrote(store, id string, revision model.Revision) (row Row, ok bool, err error) {
	if revision == "" {
		return Row{}, false, nil
	}
	err = l.naming(string(revision), func(r Row) bool {
		if r.Store == store && r.ID == id && r.Revision == revision {
			row, ok = r, true
		}
		return true
	})
	return row, ok, err
}

// newestRows is the least number of rows that lately searches.
const newestRows = 256

// lately counts the newest rows of one writer's session since a time; 0 where the ledger cannot be read.
func (l *Ledger) lately(w Writer, since time.Time) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.catchUp() != nil {
		return 0
	}
	for _, r := range l.newest {
		if r.Actor == w.Actor && r.Session == w.Session && !r.At.Before(since) {
			n++
		}
	}
	return n
}

// catchUp reads added lines. The caller holds mu.
func (l *Ledger) catchUp() error {
	f, err := atomicfile.Open(l.path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		l.latest, l.newest, l.read, l.file = nil, nil, 0, nil
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if l.file == nil || !os.SameFile(l.file, info) || info.Size() < l.read {
		l.latest, l.newest, l.read = map[string]Row{}, nil, 0
	}
	l.file = info
	if _, err := f.Seek(l.read, io.SeekStart); err != nil {
		return err
	}
	n, err := rows(f, nil, func(r Row) bool {
		if r.Revision != "" { // a change that may not have been made is not the writer of the text
			l.latest[r.Store+"\x00"+r.ID] = r
		}
		if l.newest = append(l.newest, r); len(l.newest) == 2*newestRows {
			l.newest = slices.Clone(l.newest[newestRows:])
		}
		return true
	}, func() {})
	l.read += n
	return err
}

// Current is the row that wrote the text at revision; false when somebody else has written since, or the
// writer was not recorded.
func (l *Ledger) Current(store, id string, revision model.Revision) (Row, bool) {
	r, ok, err := l.Latest(store, id)
	return r, err == nil && ok && r.Revision == revision && revision != ""
}

// Erase removes the rows that match and reports how many.
func (l *Ledger) Erase(match func(line []byte) bool) (int, error) { return eraseLines(match, l.path) }

// eraseLines removes matching lines from a file and its predecessors. It locks out additions and new files only for what
// was added since it began: a match may take a minute, and every write of every program adds a line.
func eraseLines(match func([]byte) bool, path string, before ...string) (gone int, err error) {
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	paths := append(before, path)
	looked := make([]matched, len(paths))
	for i, p := range paths {
		defer looked[i].close()
		if err := looked[i].look(match, p, false); err != nil {
			return 0, err
		}
	}
	unlock, err := filelock.Hold(path+".lock", true)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for i, p := range paths {
		n, err := eraseIn(match, p, &looked[i])
		if gone += n; err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// matched is a file whose first size bytes were looked at. It stays open, so that no other file gets its inode.
type matched struct {
	file *os.File
	size int64
	kept []byte
	gone int
}

func (m *matched) close() {
	if m.file != nil {
		_ = m.file.Close()
	}
	*m = matched{}
}

// look matches the lines behind those that were looked at, or all of them where the path has another file by now. torn
// says that nobody is writing a last line without its end.
func (m *matched) look(match func([]byte) bool, path string, torn bool) error {
	now, err := os.Stat(path)
	if err != nil || m.file == nil || !isFile(m.file, now) {
		m.close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if m.file, err = atomicfile.Open(path, os.O_RDONLY, 0); err != nil {
			return err
		}
	}
	data, err := io.ReadAll(io.NewSectionReader(m.file, m.size, math.MaxInt64-m.size))
	if err != nil {
		return err
	}
	if !torn {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	for line := range bytes.Lines(data) {
		m.size += int64(len(line))
		if match(line) || !json.Valid(line) { // a torn line may name anybody
			m.gone++
			continue
		}
		m.kept = append(m.kept, line...)
	}
	return nil
}

func isFile(f *os.File, info os.FileInfo) bool {
	mine, err := f.Stat()
	return err == nil && os.SameFile(mine, info)
}

// eraseIn cleans one file. The caller holds the lock.
func eraseIn(match func([]byte) bool, path string, m *matched) (int, error) {
	if err := sweepTemps(path); err != nil {
		return 0, err
	}
	if err := m.look(match, path, true); err != nil || m.gone == 0 {
		return 0, err
	}
	return m.gone, atomicfile.Write(path, m.kept, 0o600)
}

// sweepTemps removes temporary copies of a killed erasure. The caller holds the lock alone, so none is in
// use.
func sweepTemps(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "."+filepath.Base(path)+".tmp.") {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(path), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
