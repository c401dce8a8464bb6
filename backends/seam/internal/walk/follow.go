package walk

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Follower hears from the system in which directories of one tree something changed, so that a walk
// reads those alone. The caller closes it. It is safe for concurrent use; one walk at a time uses it.
type Follower struct {
	mu    sync.Mutex
	queue queue
	heard changes
	lost  error
	full  time.Time // when a walk last read everything
	// restless: the last walk met a directory of which not every change is told.
	restless bool
}

// changes are the directories to read again, by their paths; of those in below all that is in them too.
type changes struct{ dirs, below map[string]bool }

func newChanges() changes { return changes{map[string]bool{}, map[string]bool{}} }

// mostFollowed bounds the directories of a tree that is followed: a user has a limited number of
// watches for all programs together.
const mostFollowed = 16 << 10

// fullEvery is how long changes that the system does not tell can stay unseen: writes through a
// mapping of memory, or through a name that a file was given later outside of the tree.
const fullEvery = time.Minute

// errLost says that not every change was told.
var errLost = errors.New("the system lost count of the changes")

// Follow begins to hear of the directories below root, by its path; a walk names them. Unsupported
// where the system or the file system does not tell every change.
func Follow(root string) (*Follower, error) {
	q, err := newQueue(root)
	if err != nil {
		return nil, model.Errorf(model.Unsupported, "follow", "changes of the directory cannot be followed: %w", rootdir.Pathless(err))
	}
	return &Follower{queue: q, heard: newChanges()}, nil
}

// Close ends it.
func (f *Follower) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = errLost
	return f.queue.close()
}

// Quiet reports whether nothing has changed since the last walk with the follower.
func (f *Follower) Quiet() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	return f.lost == nil && !f.restless && len(f.heard.dirs)+len(f.heard.below) == 0 && time.Since(f.full) < fullEvery
}

// take gives the changes to a walk, which puts them back when it fails. full: it reads everything.
func (f *Follower) take() (c changes, full bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	if f.lost != nil {
		return changes{}, false, model.E(model.Unavailable, "follow", f.lost)
	}
	c, f.heard = f.heard, newChanges()
	return c, time.Since(f.full) >= fullEvery, nil
}

// done is the end of a walk.
func (f *Follower) done(s *scan, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if failed {
		maps.Copy(f.heard.dirs, s.heard.dirs)
		maps.Copy(f.heard.below, s.heard.below)
		return
	}
	f.restless = slices.ContainsFunc(s.met, func(d *folder) bool { return d.again })
	switch {
	case s.linked: // written through another name, it changes unheard, and perhaps in two directories
		f.full = time.Time{}
	case s.full:
		f.full = s.Began
	}
}

// watch hears of a directory from now on. unheard: of this one nothing is told, so each walk reads it.
func (f *Follower) watch(dir string) (unheard bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if unheard, err = f.queue.watch(dir); err != nil {
		f.lost = err
		return false, model.Errorf(model.Unavailable, "follow", "a directory cannot be followed: %w", rootdir.Pathless(err))
	}
	return unheard, nil
}

// drain takes up what was told.
func (f *Follower) drain() {
	if f.lost != nil {
		return
	}
	f.lost = f.queue.each(func(dir, name string, isDir, made bool) {
		f.heard.dirs[dir] = true
		if isDir && made { // another directory of this name, perhaps
			f.heard.below[rootdir.Place{Dir: dir, Name: name}.Path()] = true
		}
	})
}

func (c changes) has(dir string) bool {
	if c.dirs[dir] || c.below[dir] {
		return true
	}
	if len(c.below) > 0 {
		for i := range len(dir) {
			if dir[i] == '/' && c.below[dir[:i]] {
				return true
			}
		}
	}
	return false
}
