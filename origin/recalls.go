package origin

import (
	"encoding/json"
	"path/filepath"
	"time"

	"memdesk/internal/linefile"
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
	file linefile.File

	// Names reports whether texts name an erased person, for whom no recall is kept. Nil: nobody is erased.
	// On an error nothing is recorded.
	Names func(texts ...string) (bool, error)
}

// maxTrace is the size in bytes at which a trace begins a new file; the previous one is kept.
const maxTrace = 64 << 20

// OpenTrace keeps recalls in dir, which ready makes; reading makes nothing.
func OpenTrace(dir string, ready func() error) *Trace {
	return &Trace{file: linefile.File{Path: filepath.Join(dir, "recalls.jsonl"), Most: maxTrace, Ready: ready}}
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
	return t.file.Add(out)
}

// All passes every kept recall to yield, oldest first.
func (t *Trace) All(yield func(Recall)) error {
	return t.file.Each(func(line []byte) {
		var r Recall
		if json.Unmarshal(line, &r) == nil {
			yield(r)
		}
	})
}

// Erase removes the recalls that match and reports how many.
func (t *Trace) Erase(match func(line []byte) bool) (int, error) { return t.file.Erase(match) }
