package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"memdesk/backends/seam"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/model"
)

// The pauses between two tries. AgentM's own writers wait 10 to 200 ms, and two busy ones pass the lock to
// each other: a waiter with their pauses hardly gets it.
const (
	pauseFirst = time.Millisecond
	pauseMost  = 4 * time.Millisecond
	// confirmAfter is the time after a contended mkdir for which the directory must stay the same: two waiters
	// that saw one stale lock may both have removed and made it.
	confirmAfter = 5 * time.Millisecond
)

// pace is the timing of the shared lock.
type pace struct {
	stale    time.Duration // age on the wall clock from which a lock may be dead
	patience time.Duration // longest wait of one acquisition
	beat     time.Duration // period at which a holder touches its lock
	// watch is the time that a lock must stay untouched under observation until it counts as dead: a live
	// holder touches it within a beat, whatever age a clock jump gives it.
	watch time.Duration
}

// protocol is the pace of all AgentM programs.
var protocol = pace{
	stale: 10 * time.Second, patience: 10 * time.Second, beat: 5 * time.Second, watch: 5500 * time.Millisecond,
}

// mutex is AgentM's lock: an empty directory per key. It excludes only AgentM's writers: the daemon,
// editors and sync tools do not take it.
type mutex struct {
	base  string
	keys  []string // sorted, so that two holders of both never wait for each other
	clock clock.Clock
	pace  pace
}

// acquire takes every key in order and keeps them fresh until their release. Locked when a foreign hold
// outlasts the patience or the context.
func (m mutex) acquire(ctx context.Context) (seam.Held, error) {
	if m.base == "" {
		return nil, model.Errorf(model.Unavailable, "lock", "no place for AgentM's locks can be told; set lock_root, XDG_CACHE_HOME or HOME")
	}
	h := &holding{beat: m.pace.beat, stop: make(chan struct{}), done: make(chan struct{})}
	w := watcher{clock: m.clock, pace: m.pace, started: time.Now(), seen: map[string]sighting{}}
	for _, k := range m.keys { // watch all from the start, so that waits for stale ones overlap
		_, _ = w.observe(m.path(k))
	}
	for _, k := range m.keys {
		if err := os.MkdirAll(filepath.Join(m.base, k), 0o755); err != nil {
			h.drop()
			return nil, model.Errorf(model.PermissionDenied, "lock", "AgentM's lock directory cannot be made: %w", atomicfile.Pathless(err))
		}
		one, err := w.take(ctx, m.path(k))
		if err != nil {
			h.drop()
			return nil, err
		}
		h.locks = append(h.locks, one)
	}
	go h.keepFresh()
	return h, nil
}

func (m mutex) path(key string) string { return filepath.Join(m.base, key, "lock") }

// held is one lock directory of this process. The open handle keeps its inode from being reused, so that
// identity is certain.
type held struct {
	path string
	dir  *os.File
}

func (l held) ours() bool {
	mine, err := l.dir.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(l.path)
	return err == nil && os.SameFile(mine, now)
}

// release removes the directory if it is still this process's.
func (l held) release() {
	if l.ours() {
		_ = os.Remove(l.path) // errors are ignored by the protocol: it goes stale
	}
	_ = l.dir.Close()
}

// sighting is the first observation of a foreign lock.
type sighting struct {
	info  fs.FileInfo
	since time.Time // monotonic
}

// watcher waits for foreign locks.
type watcher struct {
	clock   clock.Clock
	pace    pace
	started time.Time
	seen    map[string]sighting
}

// observe looks at a lock and keeps the time of its last change.
func (w *watcher) observe(path string) (sighting, error) {
	now, err := os.Lstat(path)
	if err != nil {
		delete(w.seen, path)
		return sighting{}, err
	}
	s, ok := w.seen[path]
	if !ok || !os.SameFile(s.info, now) || !s.info.ModTime().Equal(now.ModTime()) {
		s = sighting{now, time.Now()}
		w.seen[path] = s
	}
	return s, nil
}

// stale reports whether the holder is dead: old on the wall clock, or dated in the future, and untouched
// for longer than a heartbeat by the monotonic clock.
func (w *watcher) stale(s sighting) bool {
	age := w.clock.Now().Sub(s.info.ModTime())
	watched := time.Since(s.since)
	if age < 0 { // the clock has jumped back
		return watched > w.pace.watch+w.pace.beat/2
	}
	return age > w.pace.stale && watched > w.pace.watch
}

var errInside = errors.New("something lies inside the lock directory")

// take makes one lock directory.
func (w *watcher) take(ctx context.Context, path string) (held, error) {
	pause, met := pauseFirst, false
	for {
		l, err := grab(path, met)
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, errTaken) && !errors.Is(err, fs.ErrPermission) {
			return held{}, model.Errorf(model.Unavailable, "lock", "AgentM's lock cannot be taken: %w", atomicfile.Pathless(err))
		}
		met = true
		s, serr := w.observe(path)
		var cause error // what keeps this process from the lock, other than a live holder
		switch {
		case serr == nil && !s.info.IsDir():
			return held{}, model.Errorf(model.Locked, "lock", "a file stands where AgentM's lock directory should be; remove it when no agent is writing")
		case serr == nil && w.stale(s):
			if cause = remove(path, s.info); cause == nil {
				continue
			}
		case errors.Is(serr, fs.ErrNotExist) && errors.Is(err, fs.ErrPermission): // on Windows for a moment too
			cause = err
		}
		if err := w.wait(ctx, pause, late(path, cause)); err != nil {
			return held{}, err
		}
		pause = min(2*pause, pauseMost)
	}
}

// late says why a lock was not taken in time.
func late(path string, cause error) error {
	switch {
	case cause == nil:
		return model.Errorf(model.Locked, "lock", "the vault is locked by another writer; try again")
	case errors.Is(cause, errInside):
		return model.Errorf(model.Locked, "lock", "the vault's lock was left by a dead writer and cannot be taken over: %w; empty and remove it when no agent is writing", errInside)
	}
	where := filepath.Join("locks", filepath.Base(filepath.Dir(path)))
	return model.Errorf(model.PermissionDenied, "lock", "AgentM's lock cannot be made or removed in its directory %s: %w; give the directory to this user", where, atomicfile.Pathless(cause))
}

// wait sleeps, or returns late where it no longer does.
func (w *watcher) wait(ctx context.Context, pause time.Duration, late error) error {
	if time.Since(w.started) > w.pace.patience {
		return late
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return model.FromContext(ctx, "lock")
		}
		return late
	}
}

// remove removes a stale lock if it is still the one observed; nil: it is gone or another.
func remove(path string, seen fs.FileInfo) error {
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(now, seen) || !now.ModTime().Equal(seen.ModTime()) {
		return nil
	}
	err = os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if f, oerr := os.Open(path); oerr == nil {
		defer f.Close()
		if names, _ := f.Readdirnames(1); len(names) > 0 {
			return errInside
		}
	}
	return err
}

// errTaken: another waiter has replaced the new directory.
var errTaken = errors.New("taken over while it was made")

// grab makes the directory, dates it and confirms that it is still the same. After a contended wait it
// pauses before that: a waiter that saw the same stale lock may be about to remove this one. Check confirms
// once more before the change.
func grab(path string, met bool) (held, error) {
	if err := os.Mkdir(path, 0o755); err != nil {
		return held{}, err
	}
	dir, err := os.Open(path)
	if err != nil {
		return held{}, errTaken
	}
	l := held{path, dir}
	if met {
		time.Sleep(confirmAfter)
	}
	if !l.ours() {
		_ = dir.Close()
		return held{}, errTaken
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now)
	return l, nil
}

// holding is all locks of one change.
type holding struct {
	beat  time.Duration
	locks []held
	once  sync.Once
	stop  chan struct{}
	done  chan struct{}
}

var _ seam.Held = (*holding)(nil)

// Check is Conflict when a lock was lost: this process was stopped for so long that another took it over.
func (h *holding) Check() error {
	for _, l := range h.locks {
		if !l.ours() {
			return model.Errorf(model.Locked, "lock", "another writer took the vault's lock over while this one was held up; nothing was written, try again")
		}
	}
	return nil
}

// Release ends the heartbeat and removes the locks, the last first.
func (h *holding) Release() {
	h.once.Do(func() {
		close(h.stop)
		<-h.done
		h.drop()
	})
}

func (h *holding) drop() {
	for i := len(h.locks) - 1; i >= 0; i-- {
		h.locks[i].release()
	}
	h.locks = nil
}

// keepFresh touches the locks until they are released or one is lost.
func (h *holding) keepFresh() {
	defer close(h.done)
	t := time.NewTicker(h.beat)
	defer t.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-t.C:
		}
		for _, l := range h.locks {
			now := time.Now()
			if !l.ours() || os.Chtimes(l.path, now, now) != nil {
				return
			}
		}
	}
}
