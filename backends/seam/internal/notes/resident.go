package notes

import (
	"context"
	"errors"
	"sync"
	"time"

	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// resident keeps the snapshot of a store that stays open, a console's or a server's: the system reports
// changed directories, and only those are read again. Where it cannot, the store is walked as before, and
// Health says why.
type resident struct {
	walking sync.Mutex // held over a walk, so that no caller gets the snapshot being replaced

	mu     sync.Mutex
	since  time.Time // first look at the store
	follow *walk.Follower
	snap   *snapshot
	why    string    // why it is not followed
	again  time.Time // time of the next try
	closed bool
}

const (
	// staysOpen is the time after which an open store's snapshot is kept: a command is done by then.
	staysOpen = time.Second
	// tryAgain is the pause before another try to follow a store.
	tryAgain = time.Minute
)

// begin reports whether the snapshot is kept from now on, or was already.
func (r *resident) begin(s *store) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case r.follow != nil:
		return true
	case r.closed || s.cfg.SearchOnly || now.Before(r.again):
		return false
	case r.since.IsZero():
		r.since = now
	}
	if now.Sub(r.since) < staysOpen {
		return false
	}
	follow, err := walk.Follow(s.cfg.Path)
	if err != nil {
		r.fail(err)
		return false
	}
	r.follow, r.why = follow, ""
	return true
}

// fail records why the store is walked. The caller holds mu.
func (r *resident) fail(err error) {
	if r.follow != nil {
		_ = r.follow.Close()
	}
	r.follow, r.snap, r.why, r.again = nil, nil, err.Error(), time.Now().Add(tryAgain)
	if errors.Is(err, errors.ErrUnsupported) { // permanent on this system
		r.why = ""
	}
}

// current is the snapshot while it is unchanged, else nil.
func (r *resident) current() *snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.follow == nil || r.snap == nil || !r.follow.Quiet() {
		return nil
	}
	return r.snap
}

// look reads the changes. Where the system no longer reports them, it walks.
func (r *resident) look(ctx context.Context, s *store) (*snapshot, error) {
	r.walking.Lock()
	defer r.walking.Unlock()
	if snap := r.current(); snap != nil {
		return snap, nil
	}
	r.mu.Lock()
	follow, old := r.follow, r.snap
	r.mu.Unlock()
	s.mu.Lock()
	last, changes := s.snap, s.changes
	s.mu.Unlock()
	if old == nil { // its knowledge of the notes is still valid
		old = last
	}
	if follow != nil {
		snap, err := s.walk(ctx, old, follow, nil)
		switch {
		case err == nil && snap.tree != nil:
			s.place(snap)
			snap.changes = changes
			s.mu.Lock()
			s.snap = snap
			s.mu.Unlock()
			r.mu.Lock()
			if r.follow == follow {
				r.snap = snap
			}
			r.mu.Unlock()
			return snap, nil
		case ctx.Err() != nil:
			return nil, err
		case err == nil: // the directory does not exist yet
			err = model.Errorf(model.Unavailable, "follow", "the store's directory is not there")
		}
		r.mu.Lock()
		if r.follow == follow {
			r.fail(err)
		}
		r.mu.Unlock()
	}
	return s.renew(ctx, last, changes, nil)
}

// reason says why the store is walked each time; empty where it is not, or before that is known.
func (r *resident) reason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// Close stops following.
func (r *resident) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.follow == nil {
		return nil
	}
	follow := r.follow
	r.follow, r.snap = nil, nil
	return follow.Close()
}
