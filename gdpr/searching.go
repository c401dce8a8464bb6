package gdpr

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"memdesk/model"
)

// Searching is the progress of the search for a plan. It names no person.
type Searching struct {
	Store      string
	At, Stores int    // the current store, from 1
	Part       string // "items", "listing" of the layers, then their "bytes"
	Done       int64
	Total      int64         // 0: not known
	Bytes      int64         // read in this store
	Left       time.Duration // of this part; 0: not known
}

// String is a line for people.
func (s Searching) String() string {
	of := ""
	if s.Total > 0 {
		of = fmt.Sprintf(" of %d", s.Total)
	}
	words := fmt.Sprintf("store %d of %d: ", s.At, s.Stores)
	switch s.Part {
	case "listing":
		words += "listing its files and indexes"
	case "bytes":
		words += fmt.Sprintf("%d%s bytes of its files and indexes", s.Done, of)
	default:
		words += fmt.Sprintf("%d%s items, %d bytes", s.Done, of, s.Bytes)
	}
	if s.Left > 0 {
		words += fmt.Sprintf(", about %s left in this step", max(s.Left, time.Second).Round(time.Second))
	}
	return words
}

// teller reports the progress of one part of the search in one store. A nil step reports nothing.
type teller struct {
	step  func(Searching)
	now   func() time.Time
	at    Searching
	begun time.Time
}

func (t *teller) part(part string, total int64) {
	t.at.Part, t.at.Done, t.at.Total, t.at.Left, t.begun = part, 0, total, 0, t.now()
	t.tell(0, t.at.Bytes)
}

// tell reports how many are done. It is not safe for concurrent use.
func (t *teller) tell(done, bytes int64) {
	if t.step == nil {
		return
	}
	s := t.at
	s.Done, s.Bytes = done, bytes
	if s.Total > 0 { // items came, or the store counts others than it lists
		s.Total = max(s.Total, done)
	}
	if spent := t.now().Sub(t.begun); done > 0 && s.Total > done && spent > 0 {
		s.Left = time.Duration(float64(spent) * float64(s.Total-done) / float64(done))
	}
	t.step(s)
}

// layer returns a function that counts bytes from several goroutines; nil where nobody listens.
func (t *teller) layer() func(int64) {
	if t.step == nil {
		return nil
	}
	var mu sync.Mutex
	return func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		t.tell(n, n)
	}
}

// total adds up the items of all tiers.
func total(sizes map[string]int64) (n int64) {
	for _, items := range sizes {
		n += items
	}
	return n
}

// bytesIn is the size of the layers that which selects.
func bytesIn(layers []model.Layer, which func(model.Layer) bool) (n int64) {
	for _, l := range layers {
		if l.Readable && which(l) {
			n += l.Bytes
		}
	}
	return n
}

// toldBytes is how many bytes are read between two progress reports.
const toldBytes = 16 << 20

// counted reports the bytes that are read through it, added to those of other readers with the same counter.
type counted struct {
	io.Reader
	all   *atomic.Int64
	told  func(int64)
	since int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.since += int64(n)
	if c.since >= toldBytes || err != nil {
		c.told(c.all.Add(c.since))
		c.since = 0
	}
	return n, err
}
