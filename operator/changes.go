package operator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"memdesk/model"
)

// Changes reports changes of stores from watchers, without asking the store. It is safe for concurrent use.
type Changes struct {
	ctx  context.Context // watching ends with it
	mu   sync.Mutex
	by   map[string]*watched // by store
	told int64               // changes of all stores, so that a store watched anew has a new stamp
}

// watched is the state of a store's watcher.
type watched struct {
	on    bool  // the watcher is running: before that, and without one, the store must be read
	told  int64 // the newest change, on the count of Changes.told
	hears []func(c model.Change, last bool)
}

// NewChanges watches stores until ctx ends, each from its first use on.
func NewChanges(ctx context.Context) *Changes {
	return &Changes{ctx: ctx, by: map[string]*watched{}}
}

// Stamp differs from the one before when the store may have changed; empty: the store cannot tell and must be
// read. It waits for no watcher.
func (c *Changes) Stamp(st model.Store) string {
	c.mu.Lock()
	w := c.watch(st)
	on, told := w.on, w.told
	c.mu.Unlock()
	if on {
		return fmt.Sprintf("told %d", told)
	}
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
		case end == "": // a directory's time does not show deeper changes
			return ""
		}
	}
	return out
}

// hear calls f for each change of a store; last: no more changes follow, and some may have been missed. It
// returns false where the store reports no changes, or not yet.
func (c *Changes) hear(st model.Store, f func(ch model.Change, last bool)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.watch(st)
	if w.on {
		w.hears = append(w.hears, f)
	}
	return w.on
}

// watch starts to watch a store, which takes longer with more directories. The caller holds c.mu.
func (c *Changes) watch(st model.Store) *watched {
	w := c.by[st.Name]
	if w == nil {
		w = &watched{}
		c.by[st.Name] = w
		if st.Watcher != nil {
			go c.begin(st, w)
		}
	}
	return w
}

// begin watches a store until ctx ends or the store is closed. A store that cannot be watched is polled from
// then on.
func (c *Changes) begin(st model.Store, w *watched) {
	changes, err := st.Watcher.Watch(c.ctx)
	if err != nil {
		return
	}
	c.mu.Lock()
	w.on = true
	c.newest(w)
	c.mu.Unlock()
	for ch := range changes {
		c.tell(w, ch, false)
	}
	c.mu.Lock()
	delete(c.by, st.Name)
	c.mu.Unlock()
	c.tell(w, model.Change{Lost: true}, true)
}

// newest records a change. The caller holds c.mu.
func (c *Changes) newest(w *watched) {
	c.told++
	w.told = c.told
}

func (c *Changes) tell(w *watched, ch model.Change, last bool) {
	c.mu.Lock()
	c.newest(w)
	hears := w.hears[:len(w.hears):len(w.hears)]
	c.mu.Unlock()
	for _, f := range hears {
		f(ch, last)
	}
}
