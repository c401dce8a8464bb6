// Package counts keeps counts in one small file that several processes add to: of events, never of people.
// Counts only grow.
package counts

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
)

// Counts are kept in memory and added to their file by Save. They are safe for concurrent use.
type Counts struct {
	path  string
	ready func() error

	mu    sync.Mutex
	fresh map[string]int64 // since the last Save
}

// Open names the file; ready makes its directory before the first Save. Open touches nothing.
func Open(path string, ready func() error) *Counts {
	return &Counts{path: path, ready: ready, fresh: map[string]int64{}}
}

// Add counts one.
func (c *Counts) Add(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh[key]++
}

// Save adds the new counts to the file. After an error they are kept for the next Save.
func (c *Counts) Save() error {
	fresh := c.take()
	if len(fresh) == 0 {
		return nil
	}
	err := c.save(fresh)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		for key, n := range fresh {
			c.fresh[key] += n
		}
	}
	return err
}

func (c *Counts) take() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := c.fresh
	c.fresh = map[string]int64{}
	return fresh
}

// save may wait for another process, so it does without mu: an Add must not.
func (c *Counts) save(fresh map[string]int64) error {
	if err := c.ready(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	release, err := filelock.Hold(context.Background(), c.path+".lock", true)
	if err != nil {
		return err
	}
	defer release()
	all, err := Read(c.path)
	if err != nil {
		return err
	}
	for key, n := range fresh {
		all[key] += n
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return atomicfile.Write(c.path, append(text, '\n'), 0o600)
}

// Read returns the counts in a file; an absent file has none.
func Read(path string) (map[string]int64, error) {
	all := map[string]int64{}
	text, err := atomicfile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}
