package walk

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Resident keeps the trees of a store that stays open, a console's or a server's: the system reports changed
// directories, and only those are read again. Where it cannot, a tree is walked as before, and Walked says
// why. The zero value is ready. It is safe for concurrent use.
type Resident struct {
	queue queue

	mu     sync.Mutex
	turn   chan struct{}
	since  time.Time // first look at the store
	roots  map[string]*resident
	closed bool
}

// resident is one tree.
type resident struct {
	follow *Follower // nil where it is not followed
	tree   *Tree     // of its last walk
	busy   bool      // a walk goes on
	why    string    // why it is not followed
	again  time.Time // time of the next try
}

// StaysOpen is the time after which an open store is followed: a command is done by then. A test shortens it.
var StaysOpen = time.Second

// tryAgain is the pause before another try to follow a tree.
const tryAgain = time.Minute

// Begin reports whether the tree below root, a path, is followed from now on, or already was.
func (r *Resident) Begin(root string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.since.IsZero() {
		r.since, r.roots = now, map[string]*resident{}
	}
	at := r.roots[root]
	switch {
	case r.closed || now.Sub(r.since) < StaysOpen:
		return false
	case at == nil:
		at = &resident{}
		r.roots[root] = at
	case at.follow != nil:
		return true
	}
	if now.Before(at.again) {
		return false
	}
	var err error
	if at.follow, err = r.queue.follow(root); err != nil {
		at.fail(err)
		return false
	}
	at.why = ""
	return true
}

// fail records why the tree is walked. The caller holds mu.
func (at *resident) fail(err error) {
	at.leave()
	if at.why, at.again = err.Error(), time.Now().Add(tryAgain); errors.Is(err, errors.ErrUnsupported) { // permanent on this system
		at.why = ""
	}
}

func (at *resident) leave() {
	if at.follow != nil {
		_ = at.follow.Close()
	}
	at.follow, at.tree = nil, nil
}

// Turn waits for the walks of others, so that no caller gets what is being replaced. The caller ends its
// turn with the function.
func (r *Resident) Turn(ctx context.Context, op string) (end func(), err error) {
	r.mu.Lock()
	if r.turn == nil {
		r.turn = make(chan struct{}, 1)
	}
	turn := r.turn
	r.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, model.FromContext(ctx, op)
	}
}

// Scan is Scan with the follower of the tree, where there is one, in its caller's turn. Where the system no
// longer reports the changes, it walks. old gives its knowledge of the files to the first walk.
func (r *Resident) Scan(ctx context.Context, op, path string, root *rootdir.Dir, rules Rules, old *Tree, look Look) (*Tree, error) {
	r.mu.Lock()
	at := r.roots[path]
	if at == nil || at.follow == nil {
		r.mu.Unlock()
		return Scan(ctx, op, root, rules, old, nil, look)
	}
	follow, was := at.follow, at.tree
	at.busy = true
	r.mu.Unlock()
	if was == nil {
		was = old
	}
	tree, err := Scan(ctx, op, root, rules, was, follow, look)
	r.mu.Lock()
	at.busy = false
	switch {
	case at.follow != follow: // closed meanwhile
	case err == nil:
		at.tree = tree
	case ctx.Err() == nil:
		at.fail(err)
	}
	r.mu.Unlock()
	if err == nil || ctx.Err() != nil {
		return tree, err
	}
	return Scan(ctx, op, root, rules, was, nil, look)
}

// Current reports whether nothing has changed since the walk that made the tree.
func (r *Resident) Current(path string, tree *Tree) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.roots[path]
	return at != nil && at.follow != nil && !at.busy && tree != nil && at.tree == tree && at.follow.Quiet()
}

// Changed reports whether a change was heard of that no walk has seen.
func (r *Resident) Changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.roots {
		if at.follow != nil && at.follow.changed() {
			return true
		}
	}
	return false
}

// Keep stops following all trees but these.
func (r *Resident) Keep(trees map[string]*Tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, at := range r.roots {
		if trees[path] == nil {
			at.leave()
			delete(r.roots, path)
		}
	}
}

// Walked is the finding that a tree is walked on every look, and why; empty where none is, or before that is
// known.
func (r *Resident) Walked() []model.HealthFinding {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(r.roots)) {
		if why := r.roots[path].why; why != "" {
			return []model.HealthFinding{{Kind: "walked", State: model.HealthOK, Message: "every look walks over the store: " + why}}
		}
	}
	return nil
}

// Close stops following.
func (r *Resident) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, at := range r.roots {
		at.leave()
	}
	return nil
}
