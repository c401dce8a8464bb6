package origin

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/exactjson"
	"memdesk/internal/linefile"
	"memdesk/model"
)

// Ledger is a file of rows, oldest first, one JSON object per line, in the state directory. It is safe for
// concurrent use, also by several processes.
//
// A row lost in a crash makes its writer unknown, and unknown is untrusted; so rows are not flushed one by
// one.
type Ledger struct {
	file linefile.File

	mu     sync.Mutex
	seen   linefile.Follower
	latest map[string]Row // by store and id, of the lines that were seen
	newest []Row          // the last of these, oldest first, at most 2*newestRows
}

// OpenLedger keeps rows in dir, which ready makes; reading makes nothing.
func OpenLedger(dir string, ready func() error) *Ledger {
	return &Ledger{file: linefile.File{Path: filepath.Join(dir, "ledger.jsonl"), Ready: ready}}
}

// Append adds one row.
func (l *Ledger) Append(r Row) error {
	line, err := exactjson.Marshal(r)
	if err != nil {
		return err
	}
	return l.file.Add(append(line, '\n'))
}

// All passes every row to yield, oldest first. Unreadable lines are left out.
func (l *Ledger) All(yield func(Row)) error { return l.holding(nil, yield, func() {}) }

// naming is All for the rows that hold a value. Other lines are not decoded.
func (l *Ledger) naming(value string, yield func(Row)) error {
	form, err := exactjson.Marshal(value)
	if err != nil {
		return err
	}
	return l.holding(form, yield, func() {})
}

// holding passes on the rows of the lines that hold form, and calls damaged for each that cannot be decoded.
func (l *Ledger) holding(form []byte, yield func(Row), damaged func()) error {
	err := l.file.Each(func(line []byte) {
		if bytes.Contains(line, form) {
			decode(line, yield, damaged)
		}
	})
	if err != nil {
		return fmt.Errorf("the notes on writers cannot be read: %w", atomicfile.Pathless(err))
	}
	return nil
}

func decode(line []byte, yield func(Row), damaged func()) {
	var row Row
	switch {
	case len(bytes.TrimSpace(line)) == 0:
	case exactjson.Unmarshal(line, &row) != nil || row.ID == "":
		damaged()
	default:
		yield(row)
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
	err = l.holding(nil, func(r Row) {
		if r.Store == store && r.ID == id {
			out = append(out, r)
		}
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
	err = l.naming(string(revision), func(r Row) {
		if r.Store == store && r.ID == id && r.Revision == revision {
			row, ok = r, true
		}
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
	return l.seen.Look(l.file.Path, func() { l.latest, l.newest = map[string]Row{}, nil }, func(line []byte) {
		decode(line, func(r Row) {
			if r.Revision != "" { // a change that may not have been made is not the writer of the text
				l.latest[r.Store+"\x00"+r.ID] = r
			}
			if l.newest = append(l.newest, r); len(l.newest) == 2*newestRows {
				l.newest = slices.Clone(l.newest[newestRows:])
			}
		}, func() {})
	})
}

// Current is the row that wrote the text at revision; false when somebody else has written since, or the
// writer was not recorded.
func (l *Ledger) Current(store, id string, revision model.Revision) (Row, bool) {
	r, ok, err := l.Latest(store, id)
	return r, err == nil && ok && r.Revision == revision && revision != ""
}

// Erase removes the rows that match and reports how many.
func (l *Ledger) Erase(match func(line []byte) bool) (int, error) { return l.file.Erase(match) }
