package operator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"memdesk/model"
)

// Changes tells whether a store has changed, without a question to the store. It is safe for
// concurrent use.
type Changes struct {
	ctx context.Context // watching ends with it
	mu  sync.Mutex
	by  map[string]*watched // by store; nil for one that cannot be watched
}

// watched is what a store's watcher has told.
type watched struct {
	told  int64 // changes
	hears []func(c model.Change, last bool)
}

// NewChanges watches stores until ctx ends, each from the first time that it is asked about.
func NewChanges(ctx context.Context) *Changes {
	return &Changes{ctx: ctx, by: map[string]*watched{}}
}

// Stamp differs from the one before when the store may have changed in between; empty: the store
// cannot tell, and has to be asked.
func (c *Changes) Stamp(st model.Store) string {
	c.mu.Lock()
	if w := c.watch(st); w != nil {
		defer c.mu.Unlock()
		return fmt.Sprintf("told %d", w.told)
	}
	c.mu.Unlock()
	return fileStamp(st.Location)
}

// fileStamp is the state of a store in one file: of SQLite with its write-ahead log.
func fileStamp(location string) string {
	if !filepath.IsAbs(location) {
		return ""
	}
	out := ""
	for _, end := range []string{"", "-wal"} {
		switch info, err := os.Stat(location + end); {
		case err == nil && info.Mode().IsRegular():
			out += fmt.Sprintf("%d %d;", info.ModTime().UnixNano(), info.Size())
		case end == "": // a directory tells nothing of what lies deeper
			return ""
		}
	}
	return out
}

// hear calls f for each change of a store; last says that no more is told, and that some may
// have been missed. It reports false where the store tells nothing.
func (c *Changes) hear(st model.Store, f func(ch model.Change, last bool)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.watch(st)
	if w != nil {
		w.hears = append(w.hears, f)
	}
	return w != nil
}

// watch begins to watch a store. The caller holds c.mu.
func (c *Changes) watch(st model.Store) *watched {
	if w, ok := c.by[st.Name]; ok || st.Watcher == nil {
		return w
	}
	c.by[st.Name] = nil // a store that cannot be watched now is asked each time
	changes, err := st.Watcher.Watch(c.ctx)
	if err != nil {
		return nil
	}
	w := &watched{}
	c.by[st.Name] = w
	go func() { // ends with ctx, or when the store is closed
		for ch := range changes {
			c.tell(w, ch, false)
		}
		c.mu.Lock()
		delete(c.by, st.Name)
		c.mu.Unlock()
		c.tell(w, model.Change{Lost: true}, true)
	}()
	return w
}

func (c *Changes) tell(w *watched, ch model.Change, last bool) {
	c.mu.Lock()
	w.told++
	hears := w.hears[:len(w.hears):len(w.hears)]
	c.mu.Unlock()
	for _, f := range hears {
		f(ch, last)
	}
}
