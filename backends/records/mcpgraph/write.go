package mcpgraph

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// attempts bounds how often a change starts over because the file changed under it.
const attempts = 20

// A server that had read the file before a write of memdesk's may write what it had read after it
// (MG10). Settle is how long that is waited for where a server is at work, calm where none is seen.
const (
	settle = 200 * time.Millisecond
	calm   = 20 * time.Millisecond
	// lively is how long after a foreign write a server counts as at work.
	lively = 10 * time.Second
)

// Change implements records.DB (MG9, MG10). Where the system can, the new file is exchanged with
// the old one and what comes out is looked at: a write of the server's that came between is the
// base of the change then, never lost.
func (f *file) Change(ctx context.Context, op string, fn func(records.Tx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	unlock, err := f.lock(ctx, op)
	if err != nil {
		return err
	}
	live := f.foreign()
	before, after, err := f.change(ctx, op, fn)
	unlock() // what follows only looks
	f.read = false
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return f.readBack(ctx, op, before, after, live)
}

// foreign reports whether somebody else wrote the file a moment ago.
func (f *file) foreign() bool {
	now, err := stampOf(f.path)
	return err != nil || !now.same(f.ours) && now.info != nil && time.Since(now.changed) < lively
}

// change makes the change on what stands there until what it displaces is what it was made of, and
// returns both.
func (f *file) change(ctx context.Context, op string, fn func(records.Tx) error) (before, after []byte, err error) {
	var seen []byte // what the next exchange has to bring out; nil: the file itself is the base
	for range attempts {
		if seen == nil {
			f.read = false
			if err := f.refresh(ctx); err != nil {
				return nil, nil, err
			}
		}
		before = f.data
		if err := fn(f.tx(ctx)); err != nil {
			return nil, nil, f.abandon(err, seen, before)
		}
		after = f.data
		if seen == nil && bytes.Equal(before, after) {
			return before, after, nil
		}
		want := before
		if seen != nil {
			want = seen
		}
		came, err := f.swap(want, after)
		switch {
		case errors.Is(err, atomicfile.ErrMoved):
			seen = nil
			continue
		case err != nil:
			return nil, nil, err
		case bytes.Equal(came, want):
			f.ours, err = stampOf(f.path)
			return before, after, err
		}
		seen = after
		if err := f.load(ctx, came); err != nil {
			return nil, nil, f.abandon(err, seen, came)
		}
	}
	err = model.Errorf(model.Locked, op, "the memory server writes all the time: nothing was changed, try again")
	return nil, nil, f.abandon(err, seen, f.data)
}

// abandon gives up a change for an error, and undoes what was written of it.
func (f *file) abandon(err error, wrote, base []byte) error {
	if back := f.putBack(wrote, base); back != nil {
		return errors.Join(err, back)
	}
	return err
}

// putBack undoes a write that came over the server's: base, which it displaced, stands again, or
// what the server wrote since. Nothing is done where nothing was written.
func (f *file) putBack(wrote, base []byte) error {
	for range attempts {
		if wrote == nil {
			return nil
		}
		came, err := f.swap(wrote, base)
		switch {
		case errors.Is(err, atomicfile.ErrMoved): // the server's own word stands
			return nil
		case err != nil || bytes.Equal(came, wrote):
			return err
		}
		wrote, base = base, came
	}
	return model.Errorf(model.Locked, "retain", "the memory server writes all the time: look at the item")
}

// swap puts data in the place of the file and returns what stood there: atomicfile.ErrMoved where that was
// seen not to be what is wanted before anything was done.
func (f *file) swap(want, data []byte) (came []byte, err error) {
	came, err = atomicfile.Swap(f.path, want, data)
	if err != nil && !errors.Is(err, atomicfile.ErrMoved) {
		err = litefile.Worded("retain", err)
	}
	return came, err
}

// readBack looks whether a write stands. A server that had read the file before it and renames its
// own after it undoes it without a word. The lock is free meanwhile.
func (f *file) readBack(ctx context.Context, op string, before, wrote []byte, live bool) error {
	wait := calm
	for {
		if live || f.writing() {
			wait = settle
		}
		f.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		f.mu.Lock()
		f.read = false
		if err := f.refresh(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		if wait == settle || bytes.Equal(f.data, wrote) && !f.writing() {
			break
		}
		live = true
	}
	if !undone(before, wrote, f.data) {
		return nil
	}
	return model.Errorf(model.Conflict, op, "the memory server wrote over the change with what it had read before: look at the item and do it again")
}

// writing reports whether a temporary file of the server's lies beside the store.
func (f *file) writing() bool {
	all, err := f.kept()
	return err != nil || slices.ContainsFunc(all, func(k kept) bool { return k.why == "" && strings.HasSuffix(k.id, ".tmp") })
}

// undone reports whether a change is not in what stands now: something that it added is missing, or
// something that it took out is there again.
func undone(before, wrote, now []byte) bool {
	if bytes.Equal(wrote, now) {
		return false
	}
	was, ours, is := meanings(before), meanings(wrote), meanings(now)
	for l := range ours {
		if !was[l] && !is[l] {
			return true
		}
	}
	for l := range was {
		if !ours[l] && is[l] {
			return true
		}
	}
	return false
}

// meanings are what the lines of a file say, however they are spelled: the server writes every line
// anew.
func meanings(data []byte) map[string]bool {
	out := map[string]bool{}
	for _, l := range parse(data) {
		if l.tier != "" {
			out[l.id+"\x00"+l.entityType+"\x00"+l.body] = true
		}
	}
	return out
}
