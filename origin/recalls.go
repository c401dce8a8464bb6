package origin

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Recall is one item that was given to a caller.
type Recall struct {
	Store   string    `json:"store"`
	ID      string    `json:"id"`
	Verb    string    `json:"verb"` // recall, get, view, hook
	Actor   string    `json:"actor"`
	Client  string    `json:"client,omitempty"`
	Session string    `json:"session,omitempty"`
	At      time.Time `json:"at"`
}

// Trace keeps what was given to whom, so that an operator sees who was told a
// poisoned item. It is a file beside the ledger and erased like it.
type Trace struct{ file *Ledger }

// maxTrace is where a trace begins anew, in bytes; the part before is kept once.
const maxTrace = 64 << 20

// OpenTrace keeps recalls in dir, which ready makes; reading makes nothing.
func OpenTrace(dir string, ready func() error) *Trace {
	return &Trace{&Ledger{path: filepath.Join(dir, "recalls.jsonl"), ready: ready}}
}

// Note adds what one call gave.
func (t *Trace) Note(given []Recall) error {
	if len(given) == 0 {
		return nil
	}
	var out []byte
	for _, r := range given {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	if info, err := os.Stat(t.file.path); err == nil && info.Size() > maxTrace {
		if err := os.Rename(t.file.path, t.file.path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return t.file.add(out)
}

// All yields every recall that is kept, oldest first.
func (t *Trace) All(yield func(Recall) bool) error {
	for _, path := range []string{t.file.path + ".1", t.file.path} {
		f, err := os.Open(path)
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
	old, err := eraseLines(t.file.path+".1", match)
	if err != nil {
		return old, err
	}
	n, err := eraseLines(t.file.path, match)
	return old + n, err
}
