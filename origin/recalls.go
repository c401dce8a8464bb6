package origin

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memdesk/internal/atomicfile"
)

// Recall is one item given to a caller.
type Recall struct {
	Store   string    `json:"store"`
	ID      string    `json:"id"`
	Verb    string    `json:"verb"` // recall, get, view, hook
	Actor   string    `json:"actor"`
	Client  string    `json:"client,omitempty"`
	Session string    `json:"session,omitempty"`
	At      time.Time `json:"at"`
}

// Trace keeps which items were given to whom, so that an operator sees who received a poisoned item. It is a
// file beside the ledger and erased like it.
type Trace struct {
	file *Ledger
	most int64 // bytes

	// Names reports whether texts name an erased person, for whom no recall is kept. Nil: nobody is erased.
	// On an error nothing is recorded.
	Names func(texts ...string) (bool, error)
}

// maxTrace is the size in bytes at which a trace begins a new file; the previous one is kept.
const maxTrace = 64 << 20

// OpenTrace keeps recalls in dir, which ready makes; reading makes nothing.
func OpenTrace(dir string, ready func() error) *Trace {
	return &Trace{file: &Ledger{path: filepath.Join(dir, "recalls.jsonl"), ready: ready}, most: maxTrace}
}

// Note adds the items that one call gave, except those that name an erased person.
func (t *Trace) Note(given []Recall) error {
	var out []byte
	for _, r := range given {
		if t.Names != nil {
			if erased, err := t.Names(r.ID, r.Actor, r.Client, r.Session); err != nil {
				return err
			} else if erased {
				continue
			}
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	if len(out) == 0 {
		return nil
	}
	return t.file.add(out, t.most)
}

// All yields every kept recall, oldest first.
func (t *Trace) All(yield func(Recall) bool) error {
	for _, path := range []string{t.file.path + ".1", t.file.path} {
		f, err := atomicfile.Open(path, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var r Recall
			if json.Unmarshal(in.Bytes(), &r) == nil && !yield(r) {
				return f.Close()
			}
		}
		if err := errors.Join(in.Err(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Erase removes the recalls that match and reports how many.
func (t *Trace) Erase(match func(line []byte) bool) (int, error) {
	return eraseLines(match, t.file.path, t.file.path+".1")
}
