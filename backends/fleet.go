package backends

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/model"
)

// Member is one store that was asked for, open or not.
type Member struct {
	Name        string
	Kind        string
	Location    string // for people, never a secret
	Environment string
	Origin      string // why it is here: "configured", "--open", or what discovery found
	// Store is valid when Err is nil.
	Store model.Store
	Err   error
}

// Fleet is every store of one session, in the order it was asked for. Its
// methods are safe for concurrent use; members do not change, except that Reopen
// replaces one that is not well.
type Fleet struct {
	mu      sync.RWMutex
	members []Member
	reopen  func(ctx context.Context, name string) Member
	placed  map[string]int // how often Reopen placed a store, by name
	tried   time.Time      // when ReopenSoon last tried
	trying  bool           // a try of ReopenSoon has not ended
	closed  bool
}

// NewFleet holds members. reopen, when not nil, tries a failed member again.
func NewFleet(members []Member, reopen func(ctx context.Context, name string) Member) *Fleet {
	return &Fleet{members: members, reopen: reopen, placed: map[string]int{}}
}

// Members are all, open and failed.
func (f *Fleet) Members() []Member {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.members)
}

// Open are the members that opened.
func (f *Fleet) Open() []Member {
	all := f.Members()
	return slices.DeleteFunc(all, func(m Member) bool { return m.Err != nil })
}

// Store finds an open store by name: NotFound for a name nobody has, the opening
// error for one that failed.
func (f *Fleet) Store(name string) (model.Store, error) {
	var names []string
	for _, m := range f.Members() {
		if m.Name == name {
			return m.Store, m.Err
		}
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return model.Store{}, model.Errorf(model.NotFound, "store", "no store is open: give --open KIND=LOCATION or a configuration")
	}
	return model.Store{}, model.Errorf(model.NotFound, "store", "no store is named %q; there are %s", name, strings.Join(names, ", "))
}

// Reopen tries a member again that did not open, or that is open and down: a
// file that went and came back is another file. A store that is late stays: it may be busy, and
// calls under way on a store that is replaced fail. Reopen reports whether the member is
// open and well now. The old store is closed when a new one takes its place.
func (f *Fleet) Reopen(ctx context.Context, name string) bool {
	f.mu.RLock()
	i := slices.IndexFunc(f.members, func(m Member) bool { return m.Name == name })
	var old Member
	if i >= 0 {
		old = f.members[i]
	}
	placed := f.placed[name]
	f.mu.RUnlock()
	if i < 0 {
		return false
	}
	if state := stateOf(ctx, old); state != model.HealthDown || f.reopen == nil {
		return state.Serves()
	}
	m := f.reopen(ctx, name)
	if m.Err == nil && !stateOf(ctx, m).Serves() {
		_ = m.Store.Close()
		return false
	}
	f.mu.Lock()
	if f.closed { // nobody would close it
		f.mu.Unlock()
		if m.Err == nil {
			_ = m.Store.Close()
		}
		return false
	}
	if other := f.placed[name] != placed; f.members[i].Err == nil && (other || m.Err != nil) { // another call placed it, or it may come back by itself
		f.mu.Unlock()
		if m.Err == nil {
			_ = m.Store.Close()
		}
		return other
	}
	if m.Err == nil {
		f.placed[name]++
	}
	f.members[i], old = m, f.members[i]
	f.mu.Unlock()
	if old.Err == nil {
		_ = old.Store.Close()
	}
	return m.Err == nil
}

// ReopenClosed tries every member again that is not open, side by side: one that does not answer delays no other.
func (f *Fleet) ReopenClosed(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range f.Members() {
		if m.Err != nil {
			all.Go(func() { f.Reopen(ctx, m.Name) })
		}
	}
	all.Wait()
}

// reopenWait is how long a call of a server waits for a store that is opened again.
const reopenWait = time.Second

// ReopenSoon is ReopenClosed for the calls of a server: it tries once per interval, one try at a time, and waits for at
// most reopenWait; a slower store opens later.
func (f *Fleet) ReopenSoon(every time.Duration) {
	f.mu.Lock()
	due := !f.trying && !f.closed && time.Since(f.tried) >= every && slices.ContainsFunc(f.members, func(m Member) bool { return m.Err != nil })
	if due {
		f.trying, f.tried = true, time.Now()
	}
	f.mu.Unlock()
	if !due {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.ReopenClosed(context.Background())
		f.mu.Lock()
		f.trying, f.tried = false, time.Now()
		f.mu.Unlock()
	}()
	select {
	case <-done:
	case <-time.After(reopenWait):
	}
}

func stateOf(ctx context.Context, m Member) model.HealthState {
	if m.Err != nil {
		return model.HealthDown
	}
	return m.Store.Provider.Health(ctx).Whole().State
}

// Close closes every open store and joins their errors. A store that opens afterwards is closed at once.
func (f *Fleet) Close() error {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	var errs []error
	for _, m := range f.Open() {
		errs = append(errs, m.Store.Close())
	}
	return errors.Join(errs...)
}
