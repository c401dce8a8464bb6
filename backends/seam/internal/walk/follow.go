package walk

import (
	"errors"
	"maps"
	"slices"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Follower learns from the system which directories of one tree have changed, so that a walk reads only
// those. The caller closes it. It is safe for concurrent use; one walk at a time uses it.
type Follower struct {
	queue *queue // its lock guards the fields
	at    anchor
	heard changes
	lost  error
	// closed: the queue no longer has it.
	closed bool
	full   time.Time // last complete walk
	// restless: the last walk met a directory whose changes are not all reported.
	restless bool
}

// changes are the directories to read again, by their paths; those in below with everything under them.
type changes struct{ dirs, below map[string]bool }

func newChanges() changes { return changes{map[string]bool{}, map[string]bool{}} }

// MostFollowed bounds the directories of the trees that a store follows: a user has a limited number of
// watches for all programs together. A test lowers it.
var MostFollowed = 16 << 10

// fullEvery bounds the time that unreported changes stay unseen: writes through a memory mapping, or
// through a name given to a file later outside the tree.
const fullEvery = time.Minute

// errLost says that changes were missed.
var errLost = errors.New("the system lost count of the changes")

// follow begins to follow the directories below root, by its path; a walk names them. Unsupported where the
// system or the file system does not report every change.
func (q *queue) follow(root string) (*Follower, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, err := anchored(root)
	if err == nil {
		err = q.open()
	}
	if err != nil {
		return nil, model.Errorf(model.Unsupported, "follow", "changes of the directory cannot be followed: %w", atomicfile.Pathless(err))
	}
	return &Follower{queue: q, at: at, heard: newChanges()}, nil
}

// Close stops following.
func (f *Follower) Close() error {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	if f.lost = errLost; f.closed {
		return nil
	}
	f.closed = true
	return f.queue.leave(f)
}

// Quiet reports whether nothing has changed since the last walk with the follower.
func (f *Follower) Quiet() bool {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	f.drain()
	return f.lost == nil && !f.restless && len(f.heard.dirs)+len(f.heard.below) == 0 && time.Since(f.full) < fullEvery
}

// changed reports whether anything was heard since the last walk.
func (f *Follower) changed() bool {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	f.drain()
	return f.lost != nil || len(f.heard.dirs)+len(f.heard.below) > 0
}

// take hands the changes to a walk, which returns them when it fails. full: it reads everything.
func (f *Follower) take() (c changes, full bool, err error) {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	f.drain()
	if f.lost != nil {
		return changes{}, false, model.E(model.Unavailable, "follow", f.lost)
	}
	c, f.heard = f.heard, newChanges()
	return c, time.Since(f.full) >= fullEvery, nil
}

// done ends a walk.
func (f *Follower) done(s *scan, failed bool) {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	if failed {
		maps.Copy(f.heard.dirs, s.heard.dirs)
		maps.Copy(f.heard.below, s.heard.below)
		return
	}
	f.restless = slices.ContainsFunc(s.met, func(m met) bool { return m.now.again })
	switch {
	case s.linked.Load(): // writes through another name are not reported, and may show in two directories
		f.full = time.Time{}
	case s.full:
		f.full = s.Began
	}
}

// watch follows a directory from now on. unheard: its changes are not reported, so each walk reads it.
func (f *Follower) watch(dir string) (unheard bool, err error) {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	if unheard, err = f.queue.watch(f, dir); err != nil {
		f.lost = err
		return false, model.Errorf(model.Unavailable, "follow", "a directory cannot be followed: %w", atomicfile.Pathless(err))
	}
	return unheard, nil
}

// drain reads the reported changes, of the other trees of its queue too.
func (f *Follower) drain() {
	if f.lost == nil && !f.at.same() { // changes of the directories above are not reported
		f.lost = errLost
	}
	if f.lost == nil {
		f.queue.read()
	}
}

// hear keeps one change until a walk; made: name is new in the directory.
func (f *Follower) hear(dir, name string, isDir, made bool) {
	f.heard.dirs[dir] = true
	if isDir && made { // perhaps another directory of this name
		f.heard.below[rootdir.Place{Dir: dir, Name: name}.Path()] = true
	}
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
