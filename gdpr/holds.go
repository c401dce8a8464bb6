package gdpr

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// holdCache remembers what is on hold, so that a copy of a hundred thousand items
// does not read every request as often. Each save replaces a file in the
// directory of requests, which changes the directory's own time.
type holdCache struct {
	mu    sync.Mutex
	stamp time.Time // of the directory when it was read; zero: it must be read
	// items are requests by store and id, or by the hash of both where the request
	// is done and the id is gone.
	items  map[model.Ref]string
	hashes map[string]string
	stores map[string]string // a request that holds something back in the store
	key    suppress.Key
}

// settled is the age from which a directory's time can be trusted: what is saved
// within one tick of the file system's clock may bear the same time.
const settled = 2 * time.Second

// held is the request that holds an item back; empty for none.
func (d *Desk) held(store, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	return d.onHold(func(c *holdCache) string {
		if r := c.items[model.Ref{Store: store, ID: id}]; r != "" || len(c.hashes) == 0 {
			return r
		}
		return c.hashes[c.key.Item(store, id)]
	})
}

// heldIn is a request that holds something back in a store; empty for none. A
// cascade names no item, so nobody could say that it spares that one.
func (d *Desk) heldIn(store string) (string, error) {
	return d.onHold(func(c *holdCache) string { return c.stores[store] })
}

// onHold asks what is on hold now.
func (d *Desk) onHold(ask func(*holdCache) string) (string, error) {
	info, err := os.Stat(d.dir("requests"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", pathless(err)
	}
	c := &d.holds
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := info.ModTime(); c.stamp.IsZero() || !c.stamp.Equal(at) {
		c.stamp = time.Time{}
		if err := c.read(d); err != nil {
			return "", err
		}
		if d.Clock.Now().Sub(at) > settled {
			c.stamp = at
		}
	}
	return ask(c), nil
}

func (c *holdCache) read(d *Desk) error {
	all, err := d.List()
	if err != nil {
		return err
	}
	c.items, c.hashes, c.stores = map[model.Ref]string{}, map[string]string{}, map[string]string{}
	for _, r := range all {
		for _, h := range r.Holds {
			c.stores[h.Store] = r.ID
			if r.Done() {
				c.hashes[h.ID] = r.ID
			} else {
				c.items[model.Ref{Store: h.Store, ID: h.ID}] = r.ID
			}
		}
	}
	if len(c.hashes) > 0 {
		if c.key, err = suppress.ReadKey(d.dir("keys", "pseudonym")); err != nil {
			return pathless(err)
		}
	}
	return nil
}
